"""Lets each row of a buffer lie some elements behind the one before it, as loops that are skewed go over them."""

from __future__ import annotations

from affdsl.ir.dialects import func
from affdsl.ir.expr import Affine, Value
from affdsl.ir.types import MemRefType
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.fold import own_allocation
from affdsl.passes.transforms.pad import resized


def skew_array(
    function: func.Func, buffer: Value, dim: int, along: int, factor: int, *, module: func.Module | None = None
) -> func.Func:
    """Move the elements of a buffer along one dimension by a multiple of their index along another one.

        t = alloc [n][4]; .. t[i][j] ..   ->   t = alloc [n + 2 * 3][4]; .. t[i + 2 * j][j] ..

    What lay on a diagonal lies in a row then: iterations of skewed loops that may run at once, each of another column
    and each some elements behind the one before it, access elements beside each other, as vectors need. Nobody touches
    the two triangles that are added.

    Parameters
    ----------
    buffer
        The memref that memref.alloc or memref.alloca gives. It becomes one of another type.
    dim
        The dimension along which elements move, from 0.
    along
        The other dimension.
    factor
        How far they move for each element along the other dimension: 1 at least.
    module
        What the function stands in.

    Raises
    ------
    IllegalTransform
        If the buffer is no local one, or is used otherwise than by affine loads and stores; or if these are of vectors
        along one of the two dimensions.

    References
    ----------
    O'Boyle and Knijnenburg, "Nonsingular data transformations: definition, validity, and applications", IJPP 1999.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%x: f32) {
    ...   %t = memref.alloc() : memref<9x4xf32>
    ...   affine.for %i = 3 to 9 {
    ...     affine.for %j = 0 to 4 {
    ...       affine.store %x, %t[%i - %j, %j] : memref<9x4xf32>
    ...     }
    ...   }
    ...   return
    ... }''').functions[0]
    >>> print(skew_array(f, f.body[0].result, 0, 1, 1).body[1].body[0])
    affine.for %j = 0 to 4 {
      affine.store %x, %t[%i, %j] : memref<12x4xf32>
    }
    """
    if min(dim, along) < 0 or dim == along or factor < 1:
        raise ValueError(f"two dimensions from 0, and a factor of 1 and more: got {dim}, {along} and {factor}")
    what = f"move elements of {name(buffer)} along dimension {dim} by {factor} times the index along {along}"
    made = own_allocation(function, buffer, max(dim, along), what)
    assert isinstance(buffer.type, MemRefType)
    across = buffer.type.shape[along]
    at = sum(each is None for each in buffer.type.shape[:along])
    rows = Affine.of(made.sizes[at]) if across is None else Affine.of(max(across - 1, 0))
    return resized(
        function, made, dim, lambda size: size + rows * factor, lambda index: index[dim] + index[along] * factor
    )
