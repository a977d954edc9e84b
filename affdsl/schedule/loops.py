"""What the loops of a function are called, from one step of a schedule to the next, and the tree that they form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property, partial
from itertools import count
from typing import TypeAlias

from affdsl.errors import ProgramError, public
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, scf
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Term, Value
from affdsl.ir.location import Location
from affdsl.ir.python_expressions import Name
from affdsl.ir.traverse import gathered, holders, rewrite, substitute, walk, with_fields
from affdsl.ir.types import INDEX, MemRefType
from affdsl.lang.source import problem
from affdsl.mlir.naming import numbered
from affdsl.schedule.spelling import bound

Loop: TypeAlias = affine.For | affine.Parallel | scf.For | scf.Parallel
UNNAMED = "loop"
"""What a loop is called that the user gave no name."""


@public
class ScheduleError(ProgramError):
    """The schedule as written is wrong: a name, a number or a place; names the user's file and line.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def chain(x: af.f64[N]):
    ...     with af.for_(1, N) as i:
    ...         x[i] = x[i - 1]
    >>> try:
    ...     af.Schedule(chain).unroll("k", 2)
    ... except af.ScheduleError as error:
    ...     print("k" in str(error))
    True
    """


@dataclass(frozen=True, eq=False, repr=False)
class LoopRow:
    """One loop of a tree.

    Attributes
    ----------
    names
        What its counters are called: one, or several of a parallel loop.
    iv
        The first of these counters.
    depth
        How many loops stand around it.
    is_parallel
        Whether its iterations run in any order.
    location
        Where the user wrote the loop of which it was made.
    """

    names: tuple[str, ...]
    iv: Value
    depth: int
    is_parallel: bool
    location: Location | None
    _spelled: Callable[[], tuple[str, ...]]

    @cached_property
    def bounds(self) -> tuple[str, ...]:
        """Where each counter begins, ends, and in which steps."""
        return self._spelled()

    def __repr__(self) -> str:
        return f"<LoopRow {self.text}>"

    @property
    def text(self) -> str:
        """The loop in words."""
        counters = ", ".join(f"{name} = {each}" for name, each in zip(self.names, self.bounds, strict=True))
        return f"parallel {counters}" if self.is_parallel else counters


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """The loops of a function in the order of the text; printed a line for each, those inside of it below."""

    rows: tuple[LoopRow, ...]

    def __iter__(self) -> Iterator[LoopRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        lines = [f"{'  ' * row.depth}{row.text}" for row in self.rows]
        width = max(map(len, lines), default=0)
        places = [str(row.location) if row.location is not None else "" for row in self.rows]
        return "\n".join(f"{line:<{width}}  {place}".rstrip() for line, place in zip(lines, places, strict=True))

    def __repr__(self) -> str:
        return str(self)


def named(function: Func) -> Func:
    """The function where each loop without a name has one of its own."""
    taken = {value.hint for value in counters(function)}
    new: dict[Value, Term] = {}
    for value in counters(function):
        if not value.hint:
            new[value] = Value(INDEX, unused(UNNAMED, taken), value.location)
            taken.add(unused(UNNAMED, taken))

    def rule(op: Op) -> Op | None:
        match op:
            case affine.For() | scf.For() if op.iv in new:
                return with_fields(op, iv=new[op.iv])
            case affine.Parallel() | scf.Parallel() if not new.keys().isdisjoint(op.ivs):
                return with_fields(op, ivs=tuple(new.get(iv, iv) for iv in op.ivs))
        return None

    return substitute(rewrite(function, rule), new) if new else function


def names_of(function: Func, before: Mapping[Value, str] | None = None) -> dict[Value, str]:
    """What each counter of a function is called: what it was called before, and a name of its own if it is new.

    Without `before`, loops that the user called the same are numbered in the order of the text: `i#1`, `i#2`. Later, a
    copy of a loop has its name if that one is gone, and else the name with a number: `i_2`. No new one has the name of
    an argument or of an array. New counters get their name as their hint, so that texts call them so, too.
    """
    present = counters(function)
    if before is None:
        return dict(zip(present, numbered([value.hint for value in present]), strict=True))
    found = {value: before[value] for value in present if value in before}
    taken = set(found.values()) | {name.partition("#")[0] for name in before.values() if "#" in name}
    taken |= {value.hint for value in (*function.args, *arrays_made(function))}
    for value in present:
        if value not in found:
            name = unused(value.hint or UNNAMED, taken)
            if value.hint != name:
                value.hint = name  # the step made it, and nobody else has read it yet
            taken.add(name)
            found[value] = name
    return {value: found[value] for value in present}


def unused(base: str, taken: set[str]) -> str:
    """base, or with the smallest number behind it that makes it new.

    >>> unused("i", {"j"}), unused("i", {"i"}), unused("i_2", {"i", "i_2"})
    ('i', 'i_2', 'i_3')
    """
    if base not in taken:
        return base
    stem, _, number = base.rpartition("_")
    if number.isdecimal() and stem in taken:
        base = stem
    return next(name for k in count(2) if (name := f"{base}_{k}") not in taken)


def counters(function: Func) -> tuple[Value, ...]:
    """The induction variables of all loops, in the order of the text."""
    return gathered(function, _counters)


def _counters(op: Op) -> tuple[Value, ...]:
    return _ivs(op) if isinstance(op, Loop) else ()


def arrays_made(function: Func) -> tuple[Value, ...]:
    """The arrays that a function makes, or gets from calls, in the order of the text."""
    return gathered(function, _arrays)


def _arrays(op: Op) -> list[Value]:
    return [value for value in op.defines() if isinstance(value.type, MemRefType)]


def loop_by(function: Func, iv: Value) -> Loop:
    """The loop that a counter belongs to."""
    return next(op for op in holders(function) if isinstance(op, Loop) and iv in _ivs(op))


def tree_of(function: Func, names: Mapping[Value, str]) -> Tree:
    """The loops of a function by their names."""

    @cache
    def computed() -> dict[Value, Term]:
        found: dict[Value, Term] = {}
        for op in walk(function):
            if isinstance(op, affine.Apply) and not op.result.hint:
                found[op.result] = op.expr.substitute(found)
        return found

    def name(value: Value) -> str:
        return names.get(value, value.hint or "?")

    def spelled(op: Loop) -> tuple[str, ...]:
        return tuple(_bounds(op, k, name, computed()) for k in range(len(_ivs(op))))

    def rows(op: Op, depth: int) -> Iterator[LoopRow]:
        for block in op.blocks():
            for inner in block:
                if not inner.block_fields:
                    continue
                if isinstance(inner, Loop):
                    ivs = _ivs(inner)
                    parallel, bounds = isinstance(inner, affine.Parallel | scf.Parallel), partial(spelled, inner)
                    yield LoopRow(tuple(map(name, ivs)), ivs[0], depth, parallel, inner.location, bounds)
                yield from rows(inner, depth + isinstance(inner, Loop))

    return Tree(tuple(rows(function, 0)))


def find(
    function: Func, names: Mapping[Value, str], wanted: object, what: str, gone: Mapping[str, str] | None = None
) -> Value:
    """The counter that a text names; `gone` says of names what became of their loops.

    Raises
    ------
    ScheduleError
        If there is none, or several: with all loops and the closest name.
    """
    if not isinstance(wanted, str):
        raise problem(
            ScheduleError, f"cannot {what}: a loop is given by its name, got {wanted!r}", _listed(function, names)
        )
    known = {names[value]: value for value in counters(function)}
    if wanted in known:
        return known[wanted]
    several = [name for name in known if name.startswith(f"{wanted}#")]
    if several:
        choice = " or ".join(f'"{name}"' for name in several)
        raise problem(
            ScheduleError,
            f"cannot {what}: {len(several)} loops of {function.symbol} are called {wanted}",
            f"write {choice}; the loops are",
            *_lines(function, names),
        )
    raise problem(
        ScheduleError,
        f"cannot {what}: {function.symbol} has no loop {wanted}"
        f"{f' any more: {gone[wanted]}' if gone and wanted in gone else _closest(wanted, known)}",
        _listed(function, names),
    )


def _listed(function: Func, names: Mapping[Value, str]) -> str:
    lines = _lines(function, names)
    return "\n    ".join(("its loops are", *lines)) if lines else f"{function.symbol} has no loops"


def _lines(function: Func, names: Mapping[Value, str]) -> list[str]:
    return [f"    {line}" for line in str(tree_of(function, names)).splitlines()]


def _closest(wanted: str, names: Iterable[str]) -> str:
    close = get_close_matches(wanted, names, 1, 0.6)
    return f"; did you mean {close[0]}?" if close else ""


def _ivs(op: Loop) -> tuple[Value, ...]:
    return (op.iv,) if isinstance(op, affine.For | scf.For) else op.ivs


def _bounds(op: Loop, number: int, name: Name, computed: Mapping[Value, Term]) -> str:
    match op:
        case affine.For():
            lower, upper, step = op.lower, op.upper, op.step
        case affine.Parallel():
            lower, upper, step = op.lower[number], op.upper[number], op.steps[number]
        case scf.For() | scf.Parallel():
            return "data"
    first, last = ([expr.substitute(computed) for expr in exprs] for exprs in (lower, upper))
    ends = f"{bound(first, name, 'max')} to {bound(last, name, 'min')}"
    return f"{ends} step {step}" if step != 1 else ends
