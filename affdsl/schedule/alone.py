"""A step that changes one nest is taken in a function without the nests beside it: these cannot matter there.

Whether the iterations of a nest may run in another order depends on what they do themselves, on the loops around, and
on the values that these use. A function with many nests, or with bodies that are unrolled, is looked at much faster
without the others. Two kinds of them do matter, and stay: those that begin a copy for which the nest may wait, and
those by which a buffer may become one that the nest knows under another name.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from functools import lru_cache

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, memref, scf
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Value
from affdsl.ir.traverse import gathered, with_fields
from affdsl.passes.analysis.effects import is_pure
from affdsl.passes.analysis.storage import handed_on
from affdsl.passes.legality.proposals import Step

LOCAL = frozenset({
    "approximate", "contract", "distribute", "extremes", "index_set_split", "interchange", "locate", "map_gpu",
    "normalize", "parallelize", "peel", "permute", "reciprocal", "reroll", "reverse", "scalar_replace", "shift", "skew",
    "slp", "splice", "strip_mine", "tile", "unroll", "unroll_full", "unroll_jam", "vectorize",
})  # fmt: skip
"""The steps that look at one nest, and change nothing but that."""

Path = tuple[Op, ...]


def path_to(function: Func, step: Step) -> Path:
    """The operations from a function down to the nest of a step that changes nothing but that; none for other steps.

    A nest that gives values to what stands behind it counts as part of the one around. A step that names loops of
    several nests is refused, in words that need all of them: it is taken in the whole function.
    """
    if step.verb not in LOCAL:
        return ()
    ivs = {v for each in step.arguments for v in (each if isinstance(each, tuple) else (each,)) if isinstance(v, Value)}
    path = way_to(function, ivs)
    return path if len(path) > 1 and ivs.issubset(gathered(path[-1], Op.binds)) else ()


def way_to(function: Func, ivs: Set[Value]) -> Path:
    """The operations from a function down to the first of some loops; no more than the function where it is not seen.

    A loop that gives values to what stands behind it counts as part of the one around.
    """
    path = next(_to_loop((function,), ivs), (function,))
    while [*path[-1].defines()]:
        path = path[:-1]
    return path


@lru_cache(maxsize=16)
def alone(path: Path) -> Func:
    """The function with the nest at the end of a path, the loops around it, and all that is no nest.

    Copies of a body need not compute what was computed before them. So where something in the block of the nest touches
    memory, all of that block stays. Of a condition around, nothing stays that runs where the nest does not, unless it
    matters.
    """
    small = path[-1]
    for around, inner in zip(path[-2::-1], path[:0:-1], strict=True):
        name = _region(around, inner)
        block: Block = getattr(around, name)
        kept = tuple(op for op in block if op is inner or not _is_nest(op))
        if inner is path[-1] and not all(op is inner or op.is_terminator or is_pure(op) for op in kept):
            kept = block
        fields = {name: tuple(small if op is inner else op for op in kept)}
        if isinstance(around, affine.If | scf.If) and not around.results:
            others = {*around.block_fields} - {name}
            fields |= {other: () for other in others if not any(map(_matters, getattr(around, other)))}
        small = with_fields(around, **fields)
    assert isinstance(small, Func)
    return small


def restored(path: Path, small: Op, made: Op) -> Func | None:
    """The function with what a step has made of the nest at the end of a path; None if it has changed more.

    `small` is what `alone` has made of it, and `made` what the step has made of that.
    """
    whole = _restored(path, small, made)
    assert isinstance(whole, Func | None)
    return whole


def _restored(path: Path, small: Op, made: Op) -> Op | None:
    op, inner = path[:2]
    name = _region(op, inner)
    if type(made) is not type(op) or any(made.__dict__[key] is not small.__dict__[key] for key in _others(small, name)):
        return None
    block: Block = getattr(op, name)
    before: Block = getattr(small, name)
    after: Block = getattr(made, name)
    kept = {*block}
    at = next(k for k, each in enumerate(before) if each is inner or each not in kept)
    behind = len(before) - at - 1
    if after[:at] != before[:at] or after[len(after) - behind :] != before[at + 1 :] or len(after) < len(before) - 1:
        return None
    new = after[at : len(after) - behind]
    if len(path) > 2:
        if len(new) != 1:
            return None
        deeper = _restored(path[1:], before[at], new[0])
        if deeper is None:
            return None
        new = (deeper,)
    return with_fields(op, **{name: tuple(each for old in block for each in (new if old is inner else (old,)))})


def _others(op: Op, name: str) -> Iterator[str]:
    return (field for field in op._all if field != name)


def _to_loop(path: Path, ivs: Set[Value]) -> Iterator[Path]:
    """The way to the first of some loops, where only loops and conditions stand around it."""
    for block in path[-1].blocks():
        for op in block:
            if not op.block_fields:
                continue
            if not ivs.isdisjoint(op.binds()):
                yield (*path, op)
            elif isinstance(op, affine.For | affine.Parallel | affine.If | scf.For | scf.If):
                yield from _to_loop((*path, op), ivs)


def _region(op: Op, inner: Op) -> str:
    """The field whose block holds an operation."""
    return next(name for name in op.block_fields if inner in (getattr(op, name) or ()))


def _is_nest(op: Op) -> bool:
    """Whether an operation is a nest that cannot matter for the others."""
    return isinstance(op, affine.For | affine.Parallel | affine.If) and not [*op.defines()] and not _matters(op)


def _matters(op: Op) -> bool:
    """Whether something begins a copy, which a wait elsewhere ends, or hands on a buffer, which may come back."""
    return bool(gathered(op, handed_on) or gathered(op, _begins))


def _begins(op: Op) -> tuple[bool, ...]:
    return (True,) if isinstance(op, affine.DmaStart | memref.DmaStart) else ()
