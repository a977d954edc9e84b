"""Which loops run as vectors, which may, and what is in the way of the others: each is tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref, vector
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.spelling import calling
from affdsl.ir.traverse import holders, walk
from affdsl.ir.types import VectorType
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.vectorize import vectorize
from affdsl.schedule.loops import tree_of
from affdsl.schedule.words import called

LANES = 4
"""So many lanes each loop is tried with."""
_SLOW = ": one lane after the other"
_ACCESS = affine.Load | affine.Store | memref.Load | memref.Store


def vectors(function: Func, names: Mapping[Value, str], module: Module) -> Iterator[str]:
    """For each loop, whether it runs as vectors, may, or why not, with what is accessed one lane after the other."""
    loops = {op.iv: op for op in holders(function) if isinstance(op, affine.For)}
    for row in tree_of(function, names):
        if (loop := loops.get(row.iv)) is not None:
            first, *rest = _of_loop(function, loop, names, module)
            yield f"{', '.join(row.names)}: {first}"
            yield from (f"    {line}" for line in rest)


def _of_loop(function: Func, loop: affine.For, names: Mapping[Value, str], module: Module) -> Iterator[str]:
    lanes = max((_lanes(op) for op in loop.body), default=0)
    inside = [op for op in holders(loop) if isinstance(op, affine.For) and op is not loop and any(map(_lanes, op.body))]
    inner = [names.get(op.iv, "") for op in inside]
    if lanes and not inner:
        yield f"{lanes} lanes at once"
        yield from dict.fromkeys(_one_by_one(loop))
    elif inner:
        yield f"{', '.join(inner)} inside of it {'is' if len(inner) == 1 else 'are'}"
    else:
        yield from _tried(function, loop, names, module)


def _tried(function: Func, loop: affine.For, names: Mapping[Value, str], module: Module) -> Iterator[str]:
    with calling(called(function, names)):
        try:
            made = vectorize(function, loop.iv, LANES, module=module)
        except IllegalTransform as refusal:
            first, *rest = refusal.reason.text.splitlines()
            yield f"no: {first}"
            yield from rest
            return
    yield "may be vectorized"
    more = _counted(made) - _counted(function)
    yield from (f"{array} at line {line}{_SLOW}" for (array, line), count in more.items() if count >= LANES - 1)


def _lanes(op: Op) -> int:
    """The lanes of the vectors that an operation defines or stores; 0 without any."""
    types = [v.type for v in (*op.defines(), *op.reads())]
    return max((type.shape[-1] for type in types if isinstance(type, VectorType) and type.shape), default=0)


def _counted(of: Op) -> Counter[tuple[str, int]]:
    """How many operations access each array in each line of the text."""
    accesses = (op for op in walk(of) if isinstance(op, _ACCESS))
    return Counter((op.memref.hint or "a buffer", op.location.line) for op in accesses if op.location is not None)


def _one_by_one(loop: affine.For) -> Iterator[str]:
    """What is loaded to be the lanes of vectors, or stored from them, one after the other."""
    made = [op for op in loop.body if isinstance(op, vector.FromElements | vector.Extract)]
    lanes = {v for op in made for v in (op.elements if isinstance(op, vector.FromElements) else (op.result,))}
    for op in loop.body:
        if isinstance(op, _ACCESS) and op.location is not None and lanes.intersection((*op.defines(), *op.reads())):
            yield f"{op.memref.hint or 'a buffer'} at line {op.location.line}{_SLOW}"
