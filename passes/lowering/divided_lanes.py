"""Quotients and remainders of integers in the lanes of vectors, for which processors have no instruction, by floats."""

from __future__ import annotations

from affdsl.ir.core import Op
from affdsl.ir.dialects import arith, vector
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.formats import F32, F64
from affdsl.ir.traverse import definitions, rewrite, walk, with_fields
from affdsl.ir.types import IntegerType, VectorType
from affdsl.passes.lowering.maker import Maker

_KINDS = {"divsi": False, "floordivsi": False, "remsi": False, "divui": True, "remui": True}
"""Of integers without a sign."""
_FORMATS = {8: F32, 16: F32, 32: F64}
"""In which floats the quotient of so many bits never rounds to a whole number that it is not."""
LEAST = 4
"""How many lanes a vector has that is worth it."""


def divided_lanes(module: Module) -> Module:
    """module with vectors of integers of up to 32 bits divided as floats, where the divisor is no constant.

    A quotient of integers of n bits that is no whole number is at least 2**-n of it away from one, and floats with
    more than n bits round it by less: cut off, it is that of the integers. What is divided by 0 gives
    0, and leaves 0; the least number divided by -1 is itself.

    >>> from affdsl.mlir.readers import parse
    >>> module = parse('''
    ... func.func @f(%a: vector<8xi16>, %b: vector<8xi16>) -> vector<8xi16> {
    ...   %q = arith.divui %a, %b : vector<8xi16>
    ...   return %q : vector<8xi16>
    ... }''')
    >>> print(divided_lanes(module).functions[0])
    func.func @f(%a: vector<8xi16>, %b: vector<8xi16>) -> vector<8xi16> {
      %cst = arith.constant dense<0> : vector<8xi16>
      %cst_0 = arith.constant dense<1> : vector<8xi16>
      %0 = arith.cmpi eq, %b, %cst : vector<8xi16>
      %1 = arith.select %0, %cst_0, %b : vector<8xi1>, vector<8xi16>
      %2 = arith.uitofp %a : vector<8xi16> to vector<8xf32>
      %3 = arith.uitofp %1 : vector<8xi16> to vector<8xf32>
      %4 = arith.divf %2, %3 : vector<8xf32>
      %5 = arith.fptoui %4 : vector<8xf32> to vector<8xi16>
      %q = arith.select %0, %cst, %5 : vector<8xi1>, vector<8xi16>
      return %q : vector<8xi16>
    }
    """
    return with_fields(module, body=tuple(_divided(op) if isinstance(op, Func) else op for op in module.body))


def _divided(function: Func) -> Func:
    if not any(isinstance(op, arith.Binary) and op.kind in _KINDS for op in walk(function)):
        return function
    made = definitions(function)

    def replaced(op: Op) -> tuple[Op, ...] | None:
        if isinstance(op, arith.Binary) and op.kind in _KINDS and _is_taken(op.result) and not _is_known(op.right):
            return _as_floats(op)
        return None

    def _is_known(value: Value) -> bool:
        maker = made.get(value)
        return isinstance(maker, arith.Constant) or (isinstance(maker, vector.Broadcast) and _is_known(maker.source))

    return rewrite(function, replaced)


def _is_taken(value: Value) -> bool:
    type = value.type
    if not isinstance(type, VectorType) or type.rank != 1 or any(type.scalable) or type.shape[0] < LEAST:
        return False
    return isinstance(type.element, IntegerType) and type.element.width in _FORMATS


def _as_floats(op: arith.Binary) -> tuple[Op, ...]:
    """The operations that make what one makes, lane by lane."""
    type, (a, b) = op.result.type, (op.left, op.right)
    assert isinstance(type, VectorType)
    assert isinstance(type.element, IntegerType)
    format, is_unsigned = _FORMATS[type.element.width], _KINDS[op.kind]
    m = Maker(VectorType(type.shape, format.type), format, op.location)
    zero, one = m.constant(type, 0), m.constant(type, 1)
    by_zero = m.equals(b, zero)
    no_float = by_zero
    if not is_unsigned:
        by_minus_one = m.equals(b, m.constant(type, -1))
        no_float = m.of_integers("ori", by_zero, by_minus_one)
    divisor = m.select(no_float, one, b)
    into, back = ("uitofp", "fptoui") if is_unsigned else ("sitofp", "fptosi")
    quotient = m.divide(*(m.cast(into, v, format.type) for v in (a, divisor)))
    found = m.cast(back, quotient, type.element)
    if op.kind == "floordivsi":
        found = m.choose("ogt", m.cast(into, found, format.type), quotient, m.of_integers("subi", found, one), found)
    if op.kind in ("remsi", "remui"):  # of 1, in the place of 0 and -1, nothing is left
        found = m.of_integers("subi", a, m.of_integers("muli", found, divisor))
        return m.giving(found, op.result)
    if not is_unsigned:
        found = m.select(by_minus_one, m.of_integers("subi", zero, a), found)
    return m.giving(m.select(by_zero, zero, found), op.result)
