"""What an instruction set is to the C writer."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.frozen import FrozenValue

Row = tuple[str, str, int]
"""An operation of `codegen/c/vector_helpers.py`, the type of its lanes and their number: ("masked_load", "f32", 16)."""
LANE_BITS = {"f32": 32, "f64": 64, "i8": 8, "i16": 16, "i32": 32, "i64": 64}

SIGNS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
"""Comparisons by which lanes are counted or chosen without a mask between; with a u behind, integers have no sign."""


class Target(FrozenValue):
    """An instruction set, and what of it C has only as functions of compilers."""

    name: str
    macros: tuple[str, ...]
    """What compilers define where the instructions may be used."""
    header: str
    """The header that declares the functions."""
    width: int
    """Bits of a register."""
    registers: int
    """How many vector registers there are."""
    has_fma: bool
    """Whether a product and a sum are one instruction, rounded once."""
    has_masks: bool
    """Whether every instruction takes a mask."""
    rows: Mapping[Row, str]
    """The C statements of an operation in terms of its parameters, which mean what its portable form means."""
    streams: bool = False
    """Whether stores that go past the caches pay for arrays that are larger than these; False where nobody measured."""
    caches: tuple[int, ...] = ()
    """Bytes of the caches that a core has or shares, the nearest first; none where nobody asked the machine."""
    repeats_operands: bool = False
    """Whether an operation takes one number of memory for all lanes, where an instruction of its own would cost."""
    has_tables: bool = False
    """Whether it has bytes of a table of 256 in all lanes at once."""
    has_gathers: bool = False
    """Whether it has elements of any array, by their numbers, in all lanes faster than one by one."""
    core: str = ""
    """The core of this machine where its figures differ from those of others: "zen4"; empty where nobody asked."""
    flags: tuple[str, ...] = ()
    """What tells gcc and clang that the instructions may be used; nothing more on processors that all have them."""
    machine: str = ""
    """What compilers define for the only machines that may have it; empty where that is any."""
    is_scalable: bool = False
    """Whether registers may be wider, by how much is asked where rows run: they take vectors of any width."""

    def lanes(self, bits: int) -> int:
        """How many numbers of so many bits a register has."""
        return self.width // bits

    @property
    def condition(self) -> str:
        """The condition of the preprocessor for which the rows are compiled."""
        return " && ".join(f"defined({macro})" for macro in self.macros)
