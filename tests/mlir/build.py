"""Short ways to write IR by hand, for the tests of its text."""

from collections.abc import Sequence

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, func
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.types import F32, INDEX, MemRefType, ScalarType, Type

Bound = Term | Sequence[Term]


def index(hint: str = "") -> Value:
    return Value(INDEX, hint)


def buffer(hint: str, *shape: int | None, element: ScalarType = F32) -> Value:
    return Value(MemRefType(shape, element), hint)


def exprs(terms: Bound) -> tuple[Affine, ...]:
    return tuple(map(Affine.of, terms if isinstance(terms, Sequence) else (terms,)))


def loop(iv: Value, lower: Bound, upper: Bound, *body: Op, step: int = 1) -> affine.For:
    return affine.For(iv, exprs(lower), exprs(upper), body, step)


def load(memref: Value, *subscripts: Term, hint: str = "") -> affine.Load:
    assert isinstance(memref.type, MemRefType)
    return affine.Load(Value(memref.type.element, hint), memref, exprs(subscripts))


def store(value: Value, memref: Value, *subscripts: Term) -> affine.Store:
    return affine.Store(value, memref, exprs(subscripts))


def constant(value: float, type: Type = F32, hint: str = "") -> arith.Constant:
    return arith.Constant(Value(type, hint), value)


def binary(kind: str, left: Value, right: Value, hint: str = "") -> arith.Binary:
    return arith.Binary(Value(left.type, hint), kind, left, right)


def function(args: Sequence[Value], *body: Op, symbol: str = "f", returns: Sequence[Value] = ()) -> func.Func:
    """A function that returns some values at its end."""
    end: Block = (func.Return(tuple(returns)),) if returns else ()
    return func.Func(symbol, tuple(args), (*body, *end), tuple(v.type for v in returns))
