"""Turns affine.delinearize_index and affine.linearize_index into arithmetic."""

from __future__ import annotations

from collections.abc import Iterable

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Module
from affdsl.ir.expr import Value
from affdsl.ir.mixed import Mixed
from affdsl.ir.renaming import renamed
from affdsl.ir.traverse import rewrite
from affdsl.passes.affine.arithmetic import MACHINE, Arithmetic


def expand_index_ops(module: Module) -> Module:
    """The same program with affine.delinearize_index and affine.linearize_index as operations of arith.

        %d:2 = affine.delinearize_index %i into (3, 4)      ->  arith.floordivsi %i, 4
                                                                arith.remsi %i, 4, plus 4 where that is negative
        %l = affine.linearize_index [%i, %j] by (3, 4)      ->  arith.addi (arith.muli %i, 4), %j

    >>> from affdsl.mlir.readers import parse
    >>> print(expand_index_ops(parse("func.func @f() { return }")))
    module {
      func.func @f() {
        return
      }
    }
    """
    replaced: dict[Value, Value] = {}

    def rule(op: Op) -> Iterable[Op] | None:
        arithmetic = Arithmetic(lambda value: MACHINE, op.location)
        match op:
            case affine.DelinearizeIndex():
                replaced.update(zip(op.results, digits(op, arithmetic), strict=True))
            case affine.LinearizeIndex():
                replaced[op.result] = sum_of_digits(op, arithmetic)
            case _:
                return None
        return arithmetic.ops

    return renamed(rewrite(module, rule), replaced)


def digits(op: affine.DelinearizeIndex, arithmetic: Arithmetic) -> list[Value]:
    """The results of op, computed by `arithmetic`."""
    sizes = op.radices[1:] if len(op.radices) == len(op.results) else op.radices
    strides = _strides(sizes, arithmetic)
    if not strides:
        return [op.linear_index]
    zero = arithmetic.number(0)
    found = [arithmetic.binary("floordivsi", op.linear_index, strides[0])]
    for k, stride in enumerate(strides):
        rest = arithmetic.remainder(op.linear_index, stride, zero)
        found.append(arithmetic.binary("divsi", rest, strides[k + 1]) if k + 1 < len(strides) else rest)
    return found


def sum_of_digits(op: affine.LinearizeIndex, arithmetic: Arithmetic) -> Value:
    """The result of op, computed by `arithmetic`."""
    sizes = op.radices[1:] if op.radices and len(op.radices) == len(op.indices) else op.radices
    if not op.indices:
        return arithmetic.number(0)
    *upper, last = op.indices
    strides = _strides(sizes, arithmetic)
    parts = [arithmetic.binary("muli", digit, stride) for digit, stride in zip(upper, strides, strict=True)]
    result, *others = [*parts, last]
    for other in others:
        result = arithmetic.binary("addi", result, other)
    return result


def _strides(sizes: Mixed, arithmetic: Arithmetic) -> list[Value]:
    """What each digit but the last counts: the products of the last numbers of the basis."""
    strides: list[Value] = []
    known: int | None = 1
    product: Value | None = None
    for size in reversed(sizes):
        if isinstance(size, int) and known is not None:
            known *= size
            product = arithmetic.number(known)
        elif product is None or known == 1:
            known, product = None, size if isinstance(size, Value) else arithmetic.number(size)
        else:
            known = None
            product = arithmetic.binary("muli", product, size if isinstance(size, Value) else arithmetic.number(size))
        strides.append(product)
    return strides[::-1]
