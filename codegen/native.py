"""The vector registers of this machine, as the compiler at hand knows them, and its caches."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cache
from pathlib import Path

from affdsl.codegen.background import Lock, interruptible
from affdsl.codegen.c.vector_helpers import TARGETS
from affdsl.codegen.cache import default_cache
from affdsl.codegen.errors import ToolchainError
from affdsl.codegen.targets.baseline import BASELINE
from affdsl.codegen.targets.target import Target
from affdsl.codegen.toolchain import macros

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
"""Where Linux says which caches a core has."""
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def native_target() -> Target:
    """The best instruction set that kernels compiled here may use: its registers, and the caches of this machine.

    The baseline of 128 bits where none is known, or where there is no compiler to ask.

    >>> import affdsl as af
    >>> af.native_target().lanes(32) >= 4
    True
    """
    known = _macros()
    if known is None:
        return BASELINE
    found = next((target for target in TARGETS if known.issuperset(target.macros)), BASELINE)
    return replace(found, caches=caches(CACHES), core=core_of(known))


def core_of(known: AbstractSet[str]) -> str:
    """The core of a machine by what compilers define for it, where the figures of its vectors are others.

    Zen 4 alone has BF16 beside VBMI, and neither FP16 nor VNNI in registers of AVX; gcc 12 has no name for it.

    >>> core_of({"__AVX512VBMI__", "__AVX512BF16__"})
    'zen4'
    >>> core_of({"__AVX512VBMI__", "__AVX512BF16__", "__AVX512FP16__", "__AVXVNNI__"})
    ''
    """
    has = {"__AVX512VBMI__", "__AVX512BF16__"} <= known
    return "zen4" if has and known.isdisjoint({"__AVX512FP16__", "__AVXVNNI__"}) else ""


def runs_here(target: Target) -> bool:
    """Whether this machine has the instructions of a target.

    >>> runs_here(native_target())
    True
    """
    return (_macros() or frozenset()).issuperset(target.macros)


_asking = Lock()
"""Held while the compiler is asked: who comes second takes the answer of the first."""


def _macros() -> frozenset[str] | None:
    """What the compiler defines for this machine; None where there is no compiler."""
    try:
        compiler = default_cache().compiler()
        with interruptible(), _asking:
            return macros(compiler, ("-march=native",)) if compiler.has_native else frozenset()
    except ToolchainError:
        return None


@cache
def caches(folder: Path) -> tuple[int, ...]:
    """Bytes of the caches for data that a folder of Linux describes, the nearest first: as many as it describes."""
    levels: dict[int, int] = {}
    for index in folder.glob("index*"):
        try:
            level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
            if kind in ("Data", "Unified"):
                levels[int(level)] = int(size.rstrip("KMG")) * _UNITS.get(size[-1], 1)
        except (OSError, ValueError, IndexError):
            continue
    return tuple(size for _, size in sorted(levels.items()))
