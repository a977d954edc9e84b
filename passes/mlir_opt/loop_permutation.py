"""Permutes every perfect nest of a depth where that is legal: mlir-opt's --test-loop-permutation."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.errors import AffdslError
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.traverse import rewrite, walk
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.polyhedral import UnknownError
from affdsl.passes.transforms.interchange import is_permutable, reordered


def loop_permutation(
    module: Module,
    *,
    permutation_map: tuple[str, ...] = (),
    check_validity: bool = False,
    context: Module | None = None,
) -> Module:
    """The same program, the loops of each perfect nest of this depth in another order wherever that is legal.

        affine.for %i { affine.for %j { S } }      ->      affine.for %j { affine.for %i { S } }

    A nest is perfect as far down as each loop holds another one and nothing else. A loop that carries values
    (iter_args) stays.

    Parameters
    ----------
    permutation_map
        For each loop of a nest, outermost first, the position that it gets, from 0 on. Without it nothing is permuted.
    check_validity
        mlir-opt asks only if this is set. Here a nest is always left as it is where another order is not legal.
    context
        The module around, whose calls show which arguments are one buffer; the same one if it is not given.

    Raises
    ------
    AffdslError
        If `permutation_map` is no permutation.

    >>> from affdsl.mlir.readers import parse
    >>> print(loop_permutation(parse('''func.func @f(%A: memref<9x8xf32>, %x: f32) {
    ...     affine.for %i = 0 to 9 { affine.for %j = 0 to 8 { affine.store %x, %A[%i, %j] : memref<9x8xf32> } }
    ...     return
    ... }'''), permutation_map=("1", "0")).functions[0])
    func.func @f(%A: memref<9x8xf32>, %x: f32) {
      affine.for %j = 0 to 8 {
        affine.for %i = 0 to 9 {
          affine.store %x, %A[%i, %j] : memref<9x8xf32>
        }
      }
      return
    }
    """
    positions = _positions(permutation_map)
    if len(positions) < 2:
        return module
    around = module if context is None else context

    def rule(op: Op) -> Op | None:
        return _permuted(op, positions, around) if isinstance(op, Func) and not op.external else None

    return rewrite(module, rule)


def _positions(permutation_map: tuple[str, ...]) -> tuple[int, ...]:
    shown = ",".join(permutation_map)
    try:
        positions = tuple(map(int, permutation_map))
    except ValueError:
        raise AffdslError(f"permutation-map={shown}: these are not numbers; write a position for each loop") from None
    if sorted(positions) != list(range(len(positions))):
        expected = ", ".join(map(str, range(len(positions))))
        raise AffdslError(f"permutation-map={shown} is no permutation: it must have each of {expected} once")
    return positions


def _permuted(function: Func, positions: tuple[int, ...], module: Module) -> Func:
    nests = {loop.iv: _perfect(loop) for loop in walk(function) if isinstance(loop, affine.For)}
    bands = [b for b in nests.values() if len(b) == len(positions) and not any(loop.results for loop in b)]
    if not bands:
        return function
    dependences = Dependences(function, module)
    orders: dict[Value, tuple[Value, ...]] = {}
    for band in bands:
        order = _order(band, positions)
        if is_permutable(dependences, band, order):
            orders[band[0].iv] = order

    def rule(op: Op) -> tuple[Op, ...] | None:
        if not isinstance(op, affine.For) or op.iv not in orders:
            return None
        try:
            return reordered(_perfect(op), orders[op.iv])
        except UnknownError:  # affine.for cannot say the bounds
            return None

    return rewrite(function, rule)


def _order(band: Sequence[affine.For], positions: Sequence[int]) -> tuple[Value, ...]:
    """The induction variables of a nest, outermost first, as they shall be."""
    loop_at = dict(zip(positions, band, strict=True))
    return tuple(loop_at[k].iv for k in range(len(band)))


def _perfect(loop: affine.For) -> tuple[affine.For, ...]:
    """A loop and those that it holds, each alone."""
    if len(loop.body) == 1 and isinstance(loop.body[0], affine.For):
        return (loop, *_perfect(loop.body[0]))
    return (loop,)
