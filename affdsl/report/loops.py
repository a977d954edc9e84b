"""The loops of the source, and those that a kernel runs in their place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from affdsl.frozen import Frozen
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, scf
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.location import Location
from affdsl.ir.traverse import walk
from affdsl.seeing.loop_names import UNNAMED, Loop, counters, names_in, plain


class SourceLoop(Frozen):
    """A loop as the user wrote it.

    Attributes
    ----------
    key
        What it is called on the page.
    name
        Its variable: `i`, or `i#1` and `i#2` where two have one name.
    op, iv
        The operation, and its counter; None of a loop that has none.
    around
        The loops around it, outermost first.
    """

    key: str
    name: str
    op: Op = field(repr=False)
    iv: Value | None = field(repr=False)
    function: Func = field(repr=False)
    around: tuple[SourceLoop, ...] = field(default=(), repr=False)

    @property
    def location(self) -> Location | None:
        """Where it was written."""
        return self.op.location or self.function.location

    @property
    def plain(self) -> str:
        """Its variable, as the user wrote it."""
        return UNNAMED if self.iv is None else plain(self.iv)

    @property
    def is_innermost(self) -> bool:
        """Whether it holds no other loop."""
        return not any(isinstance(op, Loop) for block in self.op.blocks() for each in block for op in walk(each))


def source_loops(module: Module) -> tuple[SourceLoop, ...]:
    """The loops of a module as it was written, in the order of the text; those of kernels that it calls come first."""
    names, found = names_in(module), list[SourceLoop]()

    def visit(op: Op, function: Func, around: tuple[SourceLoop, ...]) -> None:
        for block in op.blocks():
            for inner in block:
                within = around
                if isinstance(inner, Loop):
                    for iv in counters(inner) or (None,):
                        name = UNNAMED if iv is None else names[iv]
                        made = SourceLoop(f"loop-{len(found) + 1}", name, inner, iv, function, within)
                        found.append(made)
                        within = (*within, made)
                visit(inner, function, within)

    for function in module.functions:
        visit(function, function, ())
    return tuple(found)


class Origin:
    """Of which loop of the source a loop is."""

    def __init__(self, sources: Sequence[SourceLoop]) -> None:
        self._sources = sources

    def of(self, op: Op, iv: Value | None) -> SourceLoop | None:
        """The loop of the source of which a loop was made: by its place, and where several stand there by its name."""
        where = op.location
        if where is None:
            return None
        here = [
            s
            for s in self._sources
            if s.location is not None and (s.location.file, s.location.line) == (where.file, where.line)
        ]
        name = UNNAMED if iv is None else plain(iv)
        named = [s for s in here if name == s.plain or name.startswith(f"{s.plain}_")]
        if named:
            return max(named, key=lambda s: len(s.plain))
        return None

    def all(self, op: Op) -> list[SourceLoop]:
        """The loops of the source that an operation runs, as a parallel one may be several."""
        if not isinstance(op, Loop):
            return []
        found = (self.of(op, iv) for iv in counters(op) or (None,))
        return [each for each in found if each is not None]


def loops_of(module: Module) -> Iterator[Op]:
    """All loops of all functions."""
    for function in module.functions:
        yield from (op for op in walk(function) if isinstance(op, Loop))


def own_ops(loop: Op) -> Iterator[Op]:
    """What stands in a loop and in no loop inside of it."""
    for block in loop.blocks():
        for op in block:
            yield op
            if not isinstance(op, Loop):
                yield from own_ops(op)


def is_parallel(op: Op) -> bool:
    """Whether threads may share the iterations."""
    return isinstance(op, affine.Parallel | scf.Parallel)
