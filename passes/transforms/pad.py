"""Makes the rows of a buffer longer, so that the same columns of several rows do not share one set of a cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import rewrite, walk, with_fields
from affdsl.ir.types import INDEX, MemRefType
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.fold import own_allocation


def pad(
    function: func.Func, buffer: Value, dim: int, factor: int, offset: int = 0, *, module: func.Module | None = None
) -> func.Func:
    """Make a dimension of a buffer as long as the least multiple of a number, plus another one, that is enough.

        t = alloc [8][n]; .. t[i][j] ..   ->   t = alloc [8][ceil((n - 16) / 32) * 32 + 16]; .. t[i][j] ..

    Nobody touches what is added. A cache has few places for addresses that lie a power of two apart, as those of a
    column do in rows of 1024 elements: with a factor of 32 and an offset of 16, rows of f32 begin an odd number of
    cache lines of 64 bytes apart.

    Parameters
    ----------
    buffer
        The memref that memref.alloc or memref.alloca gives. It becomes one of another type.
    dim
        The dimension, from 0.
    factor, offset
        The new size less the offset is a multiple of the factor; the offset is from 0 to factor - 1.
    module
        What the function stands in.

    Raises
    ------
    IllegalTransform
        If the buffer is no local one, or is used otherwise than by affine loads and stores, of elements.

    References
    ----------
    Bailey, "Unfavorable strides in cache memory systems", Scientific Programming 4 (1995).

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%x: f32) {
    ...   %t = memref.alloc() : memref<3x9xf32>
    ...   affine.for %i = 0 to 9 {
    ...     affine.store %x, %t[2, %i] : memref<3x9xf32>
    ...   }
    ...   return
    ... }''').functions[0]
    >>> print(pad(f, f.body[0].result, 1, 8, 4).body[1])
    affine.for %i = 0 to 9 {
      affine.store %x, %t[2, %i] : memref<3x12xf32>
    }
    """
    if dim < 0 or factor < 1 or not 0 <= offset < factor:
        raise ValueError(f"a dimension is at least 0, a factor 1, an offset less: got {dim}, {factor} and {offset}")
    what = f"pad dimension {dim} of {name(buffer)} to a multiple of {factor}" + (f" and {offset}" if offset else "")
    made = own_allocation(function, buffer, dim, what)
    for op in walk(function):
        if isinstance(op, affine.VectorLoad | affine.VectorStore) and op.memref is buffer:
            raise refusal(op, what, f"a vector may go on behind a row of {name(buffer)}: pad before you vectorize")
    return resized(function, made, dim, lambda size: (size - offset).ceildiv(factor) * factor + offset)


def resized(
    function: func.Func,
    made: memref.Allocation,
    dim: int,
    longer: Callable[[Affine], Affine],
    at: Callable[[tuple[Affine, ...]], Affine] | None = None,
) -> func.Func:
    """The function with a dimension of a buffer as long as `longer` says of its size, and elements where `at` says.

    All accesses must be affine; `at` gives the index along the dimension for the indices that an access has.
    """
    buffer = made.result
    type = buffer.type
    assert isinstance(type, MemRefType)
    whole, before = type.shape[dim], sum(each is None for each in type.shape[:dim])
    size = longer(Affine.of(made.sizes[before] if whole is None else whole))
    is_known = size.is_constant
    new = Value(
        replace(type, shape=(*type.shape[:dim], size.constant if is_known else None, *type.shape[dim + 1 :])),
        buffer.hint,
    )
    count = affine.Apply(Value(INDEX, "size"), size, location=made.location)
    sizes = (*made.sizes[:before], *(() if is_known else (count.result,)), *made.sizes[before + (whole is None) :])

    def rule(op: Op) -> Op | tuple[Op, ...] | None:
        if op is made:
            allocated = with_fields(made, result=new, sizes=sizes)
            return allocated if is_known else (count, allocated)
        if isinstance(op, affine.Access) and op.memref is buffer and at is not None:
            index = (*op.index[:dim], at(op.index), *op.index[dim + 1 :])
            return with_fields(op, memref=new, index=index, written=None)
        uses = isinstance(op, affine.Access | memref.Dealloc) and op.memref is buffer
        return with_fields(op, memref=new) if uses else None

    return rewrite(function, rule)
