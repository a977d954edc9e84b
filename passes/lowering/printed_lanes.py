"""Turns prints of vectors into prints of their numbers."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.ir.attributes import OpaqueAttr
from affdsl.ir.core import Op
from affdsl.ir.debugging import MARKS, printed
from affdsl.ir.dialects import vector
from affdsl.ir.dialects.func import Module
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Value
from affdsl.ir.location import Location
from affdsl.ir.traverse import rewrite
from affdsl.ir.types import VectorType


def printed_lanes(module: Module) -> Module:
    """The same program, which prints vectors number by number, as mlir-opt lowers it: `( ( 1, 2 ), ( 3, 4 ) )`.

    >>> from affdsl.mlir.readers import parse
    >>> print(printed_lanes(parse('''func.func @f(%v: vector<2xf32>) {
    ...     vector.print %v : vector<2xf32>
    ...     return
    ... }''')).functions[0])
    func.func @f(%v: vector<2xf32>) {
      "vector.print"() <{punctuation = #vector.punctuation<open>}> : () -> ()
      %0 = vector.extract %v[0] : f32 from vector<2xf32>
      "vector.print"(%0) <{punctuation = #vector.punctuation<comma>}> : (f32) -> ()
      %1 = vector.extract %v[1] : f32 from vector<2xf32>
      "vector.print"(%1) <{punctuation = #vector.punctuation<no_punctuation>}> : (f32) -> ()
      "vector.print"() <{punctuation = #vector.punctuation<close>}> : () -> ()
      "vector.print"() <{punctuation = #vector.punctuation<newline>}> : () -> ()
      return
    }
    """
    return rewrite(module, _numbers)


def _numbers(op: Op) -> tuple[Op, ...] | None:
    says = printed(op)
    if says is None or says.value is None or not isinstance(says.value.type, VectorType):
        return None
    if any(says.value.type.scalable):
        return None
    end = next(mark for mark, text in MARKS.items() if text == says.text)
    return *_rows(says.value, (), "no_punctuation", op.location), _print((), end, op.location)


def _rows(source: Value, position: tuple[int, ...], end: str, at: Location | None) -> Iterator[Op]:
    """What prints the part of a vector that begins with a position, and a mark behind it."""
    type = source.type
    assert isinstance(type, VectorType), "what has lanes is a vector"
    shape = type.shape or (1,)
    if len(position) == len(shape):
        lane = Value(type.element)
        yield vector.Extract(lane, source, (), position[: len(type.shape)], location=at)
        yield _print((lane,), end, at)
        return
    yield _print((), "open", at)
    size = shape[len(position)]
    for k in range(size):
        yield from _rows(source, (*position, k), "comma" if k < size - 1 else "no_punctuation", at)
    yield _print((), "close", at)
    if end != "no_punctuation":
        yield _print((), end, at)


def _print(operands: tuple[Value, ...], mark: str, at: Location | None) -> Opaque:
    said = (("punctuation", OpaqueAttr(f"#vector.punctuation<{mark}>")),)
    return Opaque("vector.print", operands, (), said, location=at)
