"""Which operations can fail where accesses are checked, and by which divisors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref, vector
from affdsl.ir.expr import Affine, Atom, FloorDiv, Product, Value

READS = (
    affine.Load, memref.Load, affine.VectorLoad, vector.TransferRead, vector.Load, vector.MaskedLoad, vector.Gather,
    vector.ExpandLoad, memref.SubView, memref.ReinterpretCast, memref.View, memref.Reshape, memref.ExpandShape,
    memref.CollapseShape, memref.Cast,
)  # fmt: skip
"""What can fail though it has no effect."""


def may_fail(op: Op) -> bool:
    """Whether an operation without an effect can fail: then it stays, though nobody reads its result."""
    match op:
        case affine.Apply(expr=expr):
            return any(divisors(expr))
        case affine.Min(exprs=exprs) | affine.Max(exprs=exprs):
            return any(d for e in exprs for d in divisors(e))
        case affine.DelinearizeIndex() | affine.LinearizeIndex():
            return any(isinstance(radix, Value) for radix in op.radices)
    return isinstance(op, READS)


def divisors(expr: Affine) -> Iterator[Affine]:
    """The divisors of expr that are no numbers, the innermost first; those of a quotient that is used again once."""
    return _divisors(expr, set())


def _divisors(expr: Affine, seen: set[Atom]) -> Iterator[Affine]:
    for atom, _ in expr.terms:
        if atom not in seen:
            seen.add(atom)
            yield from _divisors_of(atom, seen)


def symbolic(exprs: Sequence[Affine]) -> list[Affine]:
    """The divisors of some expressions that are no numbers, each once."""
    return list(dict.fromkeys(d for e in exprs for d in divisors(e)))


def _divisors_of(atom: Atom, seen: set[Atom]) -> Iterator[Affine]:
    match atom:
        case FloorDiv(dividend, divisor):
            yield from _divisors(dividend, seen)
            if not isinstance(divisor, int):
                yield from _divisors(Affine.of(divisor), seen)
                yield Affine.of(divisor)
        case Product(factors):
            for factor in factors:
                yield from _divisors(Affine.of(factor), seen)
