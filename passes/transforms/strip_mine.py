"""Makes two loops of one: over strips of its iterations, and over the iterations of a strip."""

from __future__ import annotations

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, scf
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.messages import shown
from affdsl.ir.traverse import likes, with_fields
from affdsl.ir.types import INDEX
from affdsl.passes.affine.arithmetic import MOST
from affdsl.passes.analysis.access import accesses_of
from affdsl.passes.analysis.trip_count import trip_count
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.transforms.loops.data_bounds import in_strips
from affdsl.passes.transforms.loops.nests import any_loop_of
from affdsl.passes.transforms.loops.pieces import as_it_is, bounded, ended, with_loop


def strip_mine(function: Func, iv: Value, size: int, *, name: str = "", module: Module | None = None) -> Func:
    """Run a loop strip by strip, in the same order.

        for i = 0 to n: S(i)   ->   for i_strip = 0 to n step 32:
                                        for i = i_strip to min(n, i_strip + 32): S(i)

    Any bounds will do, also those that come from data. Where the size divides the trip count, each strip has all of its
    iterations and needs no min.

    Parameters
    ----------
    iv
        The induction variable of the loop, afterwards that of the inner one.
    size
        How many iterations a strip has, at least 1.
    name
        What the new induction variable is called; by default as the old one with `_strip` behind it.

    Raises
    ------
    IllegalTransform
        The size is no such number.

    References
    ----------
    Wolfe, "High Performance Compilers for Parallel Computing", ch. 9.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<?xf32>, %x: f32, %n: index) {
    ...     affine.for %i = 0 to %n { affine.store %x, %A[%i] : memref<?xf32> }
    ...     return
    ... }''').functions[0]
    >>> print(strip_mine(f, f.body[0].iv, 32, name="ii"))
    func.func @f(%A: memref<?xf32>, %x: f32, %n: index) {
      affine.for %ii = 0 to %n step 32 {
        affine.for %i = affine_map<(d0) -> (d0)>(%ii) to min affine_map<(d0)[s0] -> (s0, d0 + 32)>(%ii)[%n] {
          affine.store %x, %A[%i] : memref<?xf32>
        }
      }
      return
    }
    """
    what = f"strip-mine loop {shown(iv)} by {size}"
    loop = any_loop_of(function, iv, what)
    if isinstance(loop, scf.For):
        return in_strips(function, loop, size, name, what)
    if size < 1 or size * loop.step > MOST:
        raise refusal(loop, what, "a strip has at least 1 iteration, and its length must fit into 64 bits")
    whole = not trip_count(loop, iv, accesses_of(function, module)).divisor % size
    strip = Value(INDEX, name or (f"{iv.hint}_strip" if iv.hint else ""))
    end = strip + size * loop.step
    uppers = (end,) if whole else (*loop.upper, end)
    inner = bounded(loop, (Affine.of(strip),), uppers, loop.step)
    carried, results = likes(loop.carried), likes(loop.results)
    inner = with_fields(inner, inits=carried, results=results)
    body: tuple[Op, ...] = ended([inner], results, loop)
    outer = affine.For(
        strip, loop.lower, loop.upper, body, loop.step * size, loop.inits, carried, loop.results,
        location=loop.location,
    )  # fmt: skip
    outer = bounded(outer, as_it_is(loop, "lower"), as_it_is(loop, "upper"), outer.step)
    return with_loop(function, loop, [outer])
