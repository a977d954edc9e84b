"""Operations that may fail by a rule of their own, about numbers or buffers that are known only at run time."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.ir.core import Op
from affdsl.ir.dialects import arith, memref, scf
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Affine, Value
from affdsl.ir.messages import op_name
from affdsl.ir.traverse import walk
from affdsl.ir.types import MemRefType
from affdsl.passes.analysis.access import Accesses
from affdsl.passes.analysis.certain import divisors, holds
from affdsl.passes.analysis.scope import Scope


def new_failures(before: Func, after: Accesses) -> Iterator[str]:
    """What may fail in a function after, in words, and does not stand in the same place before.

    What stands in an operation of the function's body that is the very same before is taken to fail as it did there.
    Accesses, races, divisions of elements and uses of buffers that were given back are not looked at: they have proofs
    of their own.
    """
    same = set(before.body)
    for top in after.function.body:
        for op in walk(top) if top not in same else ():
            if not _never_fails(op, after.scope) or not all(_is_above_zero(d, op, after) for d in divisors(op)):
                place = f" at {op.location}" if op.location is not None else ""
                yield f"{op_name(op)}{place} may fail"


def _is_above_zero(divisor: Affine, op: Op, of: Accesses) -> bool:
    if op not in of.domains:
        return False
    expr, inside = of.scope.expr(divisor, of.domains[op])
    return holds(expr - 1, inside)


def _never_fails(op: Op, scope: Scope) -> bool:
    match op:
        case scf.For(step=step):
            return _is_positive(step, scope)
        case scf.Parallel(steps=steps):
            return all(_is_positive(step, scope) for step in steps)
        case memref.Dealloc(memref=buffer):
            return isinstance(scope.makers.get(buffer), memref.Alloc)
        case memref.Dim(memref=buffer, index=index):
            number = _number(index, scope)
            return number is not None and isinstance(buffer.type, MemRefType) and 0 <= number < buffer.type.rank
        case memref.Cast(source=source, result=result):
            return _says_no_more(source.type, result.type)
        case memref.SubView():
            return _is_inside(op)
        case memref.ReinterpretCast() | memref.ExpandShape() | memref.View() | memref.Reshape():
            return False
    return True


def _number(value: Value, scope: Scope) -> int | None:
    maker = scope.makers.get(value)
    return maker.value if isinstance(maker, arith.Constant) and isinstance(maker.value, int) else None


def _is_positive(step: Value, scope: Scope) -> bool:
    number = _number(step, scope)
    return number is not None and number > 0


def _says_no_more(source: object, result: object) -> bool:
    """Whether a cast to a type asks nothing that the type before does not say."""
    if not isinstance(source, MemRefType) or not isinstance(result, MemRefType):
        return False
    sizes = zip(source.shape, result.shape, strict=True)
    return source.layout == result.layout and all(to is None or to == size for size, to in sizes)


def _is_inside(op: memref.SubView) -> bool:
    """Whether a part lies in its source, whatever the numbers are that only runs know."""
    if not isinstance(op.source.type, MemRefType):
        return False
    along = zip(op.source.type.shape, op.static_offsets, op.static_sizes, op.static_strides, strict=True)
    return all(_fits(*numbers) for numbers in along)


def _fits(size: int | None, *part: int | None) -> bool:
    known = [number for number in part if number is not None]
    if size is None or len(known) < len(part):
        return False
    offset, count, stride = known
    return count == 0 or all(0 <= end < size for end in (offset, offset + (count - 1) * stride))
