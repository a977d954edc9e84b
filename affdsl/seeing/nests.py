"""The loop nests of a call: what is timed, each with how often it runs and what it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count

from affdsl.codegen.c.emit import in_registers
from affdsl.codegen.c.globals import with_constants
from affdsl.codegen.c.lone_lanes import lone_lanes
from affdsl.errors import ProgramError
from affdsl.frozen import Frozen, FrozenValue
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func, memref, scf
from affdsl.ir.expr import Value
from affdsl.ir.traverse import clone, map_blocks, walk, ways, with_fields
from affdsl.lang.source import problem
from affdsl.seeing.loop_names import UNNAMED, chosen, counters, names_of, plain

TIMED = (affine.For, affine.Parallel, scf.For, scf.Parallel, scf.While, memref.Copy)
"""What is a nest where no loop is around it."""
MOST_NAMES = 4
"""So many loops of a nest are named."""


class Nest(Frozen):
    """A loop nest, or a copy of an array, outside of all loops.

    Attributes
    ----------
    op
        The outermost loop.
    names
        What the loops of its function are called.
    callees
        The functions whose calls lead to it.
    """

    op: Op
    names: Mapping[Value, str]
    callees: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its loops, behind the function that it is in if that was called."""
        names = [self.names.get(iv, plain(iv)) for op in walk(self.op) for iv in counters(op)]
        names = names or [f"copy to {plain(self.op.target)}" if isinstance(self.op, memref.Copy) else UNNAMED]
        shown = ", ".join(names[:MOST_NAMES]) + (", ..." if len(names) > MOST_NAMES else "")
        return ": ".join((*self.callees, shown))

    @property
    def is_parallel(self) -> bool:
        """Whether threads share some of it."""
        return any(isinstance(op, affine.Parallel | scf.Parallel) for op in walk(self.op))


@dataclass
class Nests:
    """A module whose function has a copy of its own for each call, so that no two calls share a nest.

    Attributes
    ----------
    module
        The copies first, and the function last.
    found
        The nests, in the order of the text.
    """

    module: func.Module
    found: list[Nest] = field(default_factory=list)


def nests_of(
    module: func.Module, *, width: int | None = None, everywhere: bool = False, inside: str | None = None
) -> Nests:
    """The nests of the last function of a module, and the module as C is written of it.

    Parameters
    ----------
    width
        The bits of vector registers, into which vectors are split.
    everywhere
        Whether calls inside of loops get copies of their own, too: those outside do in any case.
    inside
        The name of a loop that is looked into: the nests right inside of it stand for it, and for those around it.

    Raises
    ------
    ProgramError
        If there is no such loop, or it, or one around it, is parallel.
    """
    if width is not None:
        module = in_registers(module, width)
    # What C has in another form has it before loops are noted: an operation that is made anew later is found no more.
    body = tuple(lone_lanes(with_constants(op, module)) if isinstance(op, func.Func) else op for op in module.body)
    *rest, entry = body
    assert isinstance(entry, func.Func), "the function is the last of the module"
    opened = () if inside is None else _way_to(entry, inside)
    copies = _Copies({f.symbol: f for f in body if isinstance(f, func.Func)}, everywhere, frozenset(opened))
    made = with_fields(entry, body=copies.block(entry.body, _Inside(names_of(entry))))
    return Nests(with_fields(module, body=(*rest, *copies.made, made)), copies.found)


def _way_to(entry: func.Func, name: str) -> tuple[Op, ...]:
    """The loop of that name with those around it, outermost first. Raises ProgramError as `nests_of`."""
    names = names_of(entry)
    wanted = chosen(name, names, entry.symbol)
    iv = next(iv for iv, each in names.items() if each == wanted)
    way = next(tuple(op for op in way if isinstance(op, TIMED)) for way in ways(entry) if iv in counters(way[-1]))
    for op in way:
        if not isinstance(op, affine.For | scf.For):
            shown = ", ".join(names[iv] for iv in counters(op)) or UNNAMED
            raise problem(
                ProgramError,
                f"cannot look into loop {wanted}: {shown} is no loop whose iterations run one after the other",
                "ask for a loop outside of it, or leave inside= out",
            )
    return way


class _Inside(FrozenValue):
    """Where a block is: in which function, what its loops are called, and whether a nest is around."""

    names: Mapping[Value, str]
    callees: tuple[str, ...] = ()
    of_nest: bool = False


class _Copies:
    """Makes a copy of each function that is called, callees first."""

    def __init__(self, functions: Mapping[str, func.Func], everywhere: bool, opened: frozenset[Op]) -> None:
        self._functions, self._everywhere, self._opened = functions, everywhere, opened
        self._taken = {*functions}
        self.made: list[func.Func] = []
        self.found: list[Nest] = []

    def block(self, block: Block, at: _Inside) -> Block:
        """A block whose calls are calls of copies: in a nest only if that is wanted everywhere."""
        return tuple(self._op(op, at) for op in block)

    def _op(self, op: Op, at: _Inside) -> Op:
        if at.of_nest and not self._everywhere:
            return op
        if isinstance(op, func.Call):
            return self._call(op, at)
        if at.of_nest or op in self._opened or not isinstance(op, TIMED):
            return map_blocks(op, lambda block: self.block(block, at))
        within = map_blocks(op, lambda block: self.block(block, replace(at, of_nest=True)))
        self.found.append(Nest(within, at.names, at.callees))
        return within

    def _call(self, op: func.Call, at: _Inside) -> func.Call:
        callee = self._functions[op.callee]
        if callee.external:
            return op
        copied = clone(callee, {})
        body = self.block(copied.body, _Inside(names_of(copied), (*at.callees, callee.symbol), at.of_nest))
        symbol = next(name for k in count(1) if (name := f"{callee.symbol}_of_call_{k}") not in self._taken)
        self._taken.add(symbol)
        self.made.append(with_fields(copied, symbol=symbol, private=True, body=body))
        return with_fields(op, callee=symbol)


def blocks_of(module: func.Module) -> Iterator[Block]:
    """All blocks of all functions, with something in them."""
    for f in module.functions:
        for op in walk(f):
            yield from (block for block in op.blocks() if block)
