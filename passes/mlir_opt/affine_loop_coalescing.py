"""mlir-opt's choice of what to coalesce: all perfect nests of loops that count from 0 in steps of 1."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import rewrite, walk
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.coalesce import Band, Plan, Planner, applied


def affine_loop_coalescing(module: Module) -> Module:
    """The same program with one loop for each perfect nest of affine loops that all count from 0 in steps of 1.

        affine.for %i = 0 to 5 {          ->   affine.for %i_j = 0 to 35 {
          affine.for %j = 0 to 7 {               %j = affine.apply (%i_j mod 7)
            S(%i, %j)                            %i = affine.apply (%i_j floordiv 7)
          }                                      S(%i, %j)
        }                                      }

    A nest is taken apart where the bounds of an inner loop depend on an outer one, and at loops that count in another
    way: parts of two loops and more become one loop each. Loops that carry values stay.

    >>> from affdsl.mlir.readers import parse
    >>> print(affine_loop_coalescing(parse('''func.func @f(%A: memref<5x7xf32>, %x: f32) {
    ...     affine.for %i = 0 to 5 {
    ...       affine.for %j = 0 to 7 { affine.store %x, %A[%i, %j] : memref<5x7xf32> }
    ...     }
    ...     return
    ... }''')).functions[0])
    func.func @f(%A: memref<5x7xf32>, %x: f32) {
      affine.for %i_j = 0 to 35 {
        %j = affine.apply affine_map<(d0) -> (d0 mod 7)>(%i_j)
        %i = affine.apply affine_map<(d0) -> (d0 floordiv 7)>(%i_j)
        affine.store %x, %A[%i, %j] : memref<5x7xf32>
      }
      return
    }
    """

    def of_function(op: Op) -> Func | None:
        return None if not isinstance(op, Func) or op.external else _in_function(op)

    return rewrite(module, of_function)


def _in_function(func: Func) -> Func:
    bands = [band for nest in _nests(func) for part in _normal_parts(nest) for band in _bands(part)]
    planner, plans = Planner(func), dict[Value, tuple[Plan, Value]]()
    for band in bands:
        try:
            plans[band[0].iv] = planner.plan(band, "coalesce loops"), band[-1].iv
        except IllegalTransform:  # what is not possible stays
            continue

    def rule(op: Op) -> Iterable[Op] | None:
        if not isinstance(op, affine.For) or op.iv not in plans:
            return None
        plan, last = plans[op.iv]
        band = [op]  # what is inside may be new
        while band[-1].iv is not last:
            inner = band[-1].body[0]
            assert isinstance(inner, affine.For), "a nest stays a nest"
            band.append(inner)
        return applied(plan, band)

    return rewrite(func, rule) if plans else func


def _nests(func: Func) -> list[Band]:
    """The perfect nests of loops that carry nothing, each as deep as it goes."""
    found: dict[affine.For, Band] = {}
    for op in walk(func):
        if isinstance(op, affine.For) and not any(op in nest for nest in found.values()):
            nest = [op]
            while len(nest[-1].body) == 1 and isinstance(inner := nest[-1].body[0], affine.For) and not inner.results:
                nest.append(inner)
            found[op] = tuple(nest) if not op.results else (op,)
    return [nest for nest in found.values() if len(nest) > 1]


def _normal_parts(nest: Band) -> list[Band]:
    """The parts of a nest all of whose loops count from 0 in steps of 1, each as long as possible."""
    return [tuple(loops) for is_normal, loops in groupby(nest, _is_normal) if is_normal]


def _bands(nest: Band) -> list[Band]:
    """The parts of a nest where no bound depends on a loop of the part: inner ones first, each as long as possible."""
    places = {loop.iv: k for k, loop in enumerate(nest)}
    first = [max((places[v] + 1 for b in (*loop.lower, *loop.upper) for v in b.values() if v in places), default=0)
             for loop in nest]  # fmt: skip
    found: list[Band] = []
    end = len(nest)
    while end > 1:
        start = next(k for k in range(end) if max(first[k:end]) <= k)
        if start < end - 1:
            found.append(nest[start:end])
            end = start
        else:
            end -= 1
    return found


def _is_normal(loop: affine.For) -> bool:
    return loop.lower == (Affine(),) and loop.step == 1
