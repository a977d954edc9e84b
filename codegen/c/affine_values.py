"""Index values as C: affine expressions, sizes, and digits by a basis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from affdsl.codegen.c.checks import check_divisors, stop_if
from affdsl.codegen.c.context import Context
from affdsl.codegen.c.expressions import PRIMARY, Code, call, cast, choose, combined, infix, number, times
from affdsl.codegen.c.sites import Divisor
from affdsl.errors import UnsupportedError
from affdsl.ir.dialects import affine, memref
from affdsl.ir.expr import Affine


def apply(c: Context, op: affine.Apply) -> None:
    """An affine expression, folded into what reads it where it is short or read once."""
    check_divisors(c, op, [op.expr])
    expr = c.values.resolve(op.expr)
    low, high = c.ranges.of(expr)
    c.ranges.know(op.result, low, high)
    pending = any(v in c.values.pending for v in expr.values())
    simple = len(expr.terms) + bool(expr.constant) <= 2 or c.values.uses[op.result] == 1
    if simple and not op.result.hint and not pending:
        c.values.affine[op.result] = expr
    else:
        c.values.define(op.result, c.values.expression(expr))


def smallest_or_largest(c: Context, op: affine.Min | affine.Max) -> None:
    """The smallest or largest of some affine expressions."""
    check_divisors(c, op, op.exprs)
    is_min = isinstance(op, affine.Min)
    lows, highs = zip(*(c.ranges.of(c.values.resolve(e)) for e in op.exprs), strict=True)
    c.values.define(op.result, extreme(c, op.exprs, "min" if is_min else "max"))
    if is_min:
        c.ranges.know(op.result, _end(min, lows, of_all=True), _end(min, highs, of_all=False))
    else:
        c.ranges.know(op.result, _end(max, lows, of_all=False), _end(max, highs, of_all=True))


def extreme(c: Context, exprs: Sequence[Affine], stem: str) -> Code:
    """The smallest or largest of some expressions, as the stem of a helper says."""
    shown = [c.values.expression(expr) for expr in exprs]
    return shown[0] if len(shown) == 1 else combined(shown, partial(call, c.unit.helper(f"{stem}_i64")))


def dim(c: Context, op: memref.Dim) -> None:
    """The size of a dimension, chosen among all if the dimension is not known."""
    buffer = c.buffers[op.memref]
    position = c.values.resolve(op.index)
    sizes = c.buffers.sizes(buffer)
    if position.is_constant and 0 <= position.constant < len(sizes):
        c.values.affine[op.result] = c.values.resolve(sizes[position.constant])
        return
    chosen = c.values.stable(op.index) if not position.is_constant else number(position.constant)
    shown = c.values.expression(sizes[-1])
    for k in range(len(sizes) - 2, -1, -1):
        shown = choose(infix("==", chosen, number(k)), c.values.expression(sizes[k]), shown)
    c.ranges.know(op.result, 0)
    c.values.name(op.result, shown)


def rank(c: Context, op: memref.Rank) -> None:
    """The number of dimensions."""
    c.values.affine[op.result] = Affine.of(c.buffers[op.memref].type.rank)


def address(c: Context, op: memref.ExtractAlignedPointerAsIndex) -> None:
    """Where a buffer begins."""
    buffer = c.buffers[op.source]
    if buffer.offset:
        raise UnsupportedError(f"C output does not know where the buffer begins of which {buffer.type} is a part")
    c.ranges.know(op.result, 0)
    c.values.name(op.result, cast("intptr_t", Code(buffer.base or buffer.name, PRIMARY)))


def digits(c: Context, op: affine.DelinearizeIndex | affine.LinearizeIndex) -> None:
    """A number from its digits by a basis, or the digits of a number."""
    radices = [c.values.resolve(r) for r in op.radices]
    _check_radices(c, op, radices)
    if isinstance(op, affine.LinearizeIndex):
        indices = [c.values.resolve(v) for v in op.indices]
        basis = radices[1:] if len(radices) == len(indices) else radices
        total = indices[0] if indices else Affine.of(0)
        for index, radix in zip(indices[1:], basis, strict=True):
            total = product(c, total, radix) + index
        c.values.define(op.result, c.values.expression(total))
        return
    basis = radices[1:] if len(radices) == len(op.results) else radices
    rest = c.values.resolve(op.linear_index)
    found = []
    for radix in reversed(basis):
        found.append(rest % radix)
        rest = rest // radix
    for result, digit in zip(op.results, [rest, *reversed(found)], strict=True):
        if c.values.uses[result]:
            c.values.name(result, c.values.expression(digit))


def _check_radices(c: Context, op: affine.DelinearizeIndex | affine.LinearizeIndex, radices: Sequence[Affine]) -> None:
    """What delinearize_index divides by is positive."""
    if not c.is_checked or isinstance(op, affine.LinearizeIndex):
        return
    c.values.steady_all(radices)
    for radix in radices:
        if not radix.is_constant:
            shown = c.values.steady(c.values.expression(radix))
            site = Divisor(c.words.where(op), c.words.expression(radix))
            stop_if(c, [f"{shown} <= 0"], site, [shown])


def product(c: Context, left: Affine, right: Affine) -> Affine:
    """left * right, under a name where that is no affine expression."""
    if left.is_constant or right.is_constant:
        return left * right
    return c.values.named(times(c.values.expression(left), c.values.expression(right)), "stride")


def _end(pick: Callable[[Sequence[int]], int], ends: Sequence[int | None], *, of_all: bool) -> int | None:
    """The smallest or largest of the ends that are known; None if it must be that of all, and some are not known."""
    known = [e for e in ends if e is not None]
    return pick(known) if known and (len(known) == len(ends) or not of_all) else None
