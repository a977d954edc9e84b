"""Short ways to write IR by hand, for the tests of its rules and of what it computes."""

from affdsl.ir.dialects import func
from affdsl.ir.expr import Affine, Value
from affdsl.ir.types import F32, INDEX, MemRefType


def index(name):
    return Value(INDEX, name)


def value(name, type=F32):
    return Value(type, name)


def array(name, *shape, element=F32, **more):
    return Value(MemRefType(shape, element, **more), name)


def exprs(*terms):
    return tuple(Affine.of(t) for t in terms)


def function(args, *body, **more):
    """A function with the results of its last operation, if that returns."""
    results = tuple(v.type for v in body[-1].values) if body and isinstance(body[-1], func.Return) else ()
    return func.Func("f", tuple(args), tuple(body), results, **more)
