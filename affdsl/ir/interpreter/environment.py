"""What the steps of a running function share: the environment, its types, and its errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any, TypeAlias

from affdsl.errors import AffdslError, public
from affdsl.ir.core import Op
from affdsl.ir.expr import Value
from affdsl.ir.messages import shown, where
from affdsl.ir.types import (
    ComplexType,
    FloatType,
    IndexType,
    IntegerType,
    MemRefType,
    NumberType,
    ScalarType,
    Type,
    VectorType,
)

Env: TypeAlias = dict[Value, Any]
"""What each value is at the moment: a number or a Buffer."""
Step: TypeAlias = Callable[[Env], None]
Steps: TypeAlias = tuple[Step, ...]
Take: TypeAlias = Callable[[Env], tuple[Any, ...]]


@public
class InterpreterError(AffdslError):
    """The function did what has no meaning: where, and with which numbers.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def scatter(x: af.f64[N], at: af.i64[N]):
    ...     with af.for_(N) as i:
    ...         x[at[i]] = 1.0
    >>> try:
    ...     scatter.interpret(np.zeros(2), np.array([1, 5]))
    ... except af.InterpreterError as error:
    ...     print("%x[5] is out of bounds" in str(error))
    True
    """


def taker(values: tuple[Value, ...]) -> Take:
    """What gives the present meaning of values as a tuple."""
    match values:
        case ():
            return lambda env: ()
        case (v,):
            return lambda env: (env[v],)
        case _:
            return itemgetter(*values)


def scalar_type(type: Type, op: Op) -> ScalarType:
    """type, which must be a scalar for op to be run."""
    if isinstance(type, IndexType | IntegerType | FloatType):
        return type
    raise error(op, f"the interpreter computes with scalars only, not with {type}")


def number_type(type: Type, op: Op) -> NumberType:
    """type, which must be that of a number, for op to be run."""
    return type if isinstance(type, ComplexType) else scalar_type(type, op)


def complex_type(value: Value, op: Op) -> ComplexType:
    """The type of a complex number."""
    if isinstance(value.type, ComplexType):
        return value.type
    raise error(op, f"needs a complex number, got {value.type}")


def memref_type(value: Value, op: Op) -> MemRefType:
    """The type of a memref."""
    if isinstance(value.type, MemRefType):
        return value.type
    raise error(op, f"{shown(value)} is no memref but has type {value.type}")


def element_type(value: Value, op: Op) -> NumberType:
    """The type of the elements of a memref, which must be numbers."""
    return number_type(memref_type(value, op).element, op)


def held_type(value: Value, op: Op) -> NumberType | VectorType:
    """The type of the elements of a memref, which may be vectors of a known number of lanes."""
    element = memref_type(value, op).element
    if isinstance(element, VectorType) and not any(element.scalable):
        return element
    return element_type(value, op)


def error(op: Op, text: str) -> InterpreterError:
    """What is raised where an operation goes wrong."""
    return InterpreterError(f"{where(op)}: {text}")


def listed(numbers: Iterable[int]) -> str:
    """Numbers as a message shows them."""
    return ", ".join(map(str, numbers))
