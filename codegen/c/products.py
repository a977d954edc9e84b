"""Differences that begin with a product, which gcc 12 fuses where there is a sum of a product beside them.

It makes one instruction (`vfmaddsub`) of a * b - c in one lane and d * e + f in the next, and so rounds once where the
program says twice; `-ffp-contract=off` does not keep it from that. A product in `ROUNDED` is not fused. The quirk is
called `products_beside_sums`.
"""

from __future__ import annotations

from functools import lru_cache

from affdsl.codegen.c.expressions import Code, call
from affdsl.codegen.c.unit import Unit
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, memref
from affdsl.ir.dialects import complex as complex_
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import F32, F64, element_of


@lru_cache(maxsize=4)
def fusible(functions: tuple[Func, ...]) -> frozenset[Op]:
    """The differences in some functions whose first operand may be a product, if there are sums of such, too."""
    ops = [op for function in functions for op in walk(function)]
    products = {op.result for op in ops if isinstance(op, arith.Binary) and op.kind == "mulf" and _is_plain(op.result)}
    kept = {op.memref for op in ops if isinstance(op, affine.Store | memref.Store) and op.value in products}
    products |= {op.result for op in ops if isinstance(op, affine.Load | memref.Load) and op.memref in kept}
    negated = {op.result for op in ops if isinstance(op, arith.Negate)}
    sums = [op for op in ops if isinstance(op, arith.Binary) and op.kind == "addf" and {op.left, op.right} & products]
    has_sums = bool(sums) or any(isinstance(op, complex_.Binary) and op.kind in ("mul", "div") for op in ops)
    differences = [op for op in ops if isinstance(op, arith.Binary) and op.kind == "subf" and op.left in products]
    differences += [op for op in sums if {op.left, op.right} & negated]
    return frozenset(differences) if has_sums else frozenset()


def rounded_apart(operand: Code, unit: Unit) -> Code:
    """A product, rounded before anything is subtracted from it."""
    return call(unit.helper("ROUNDED"), operand)


def _is_plain(value: Value) -> bool:
    """Whether C computes a number in its type: narrower floats are rounded by functions."""
    type = element_of(value.type)
    return type in (F32, F64)
