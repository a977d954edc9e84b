"""Vectors while the interpreter runs: NumPy arrays of objects, each lane a number as `affdsl.ir.numeric` holds it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from affdsl.ir import semantics
from affdsl.ir.core import Lanewise, Op, roles
from affdsl.ir.dialects import arith
from affdsl.ir.expr import Value
from affdsl.ir.interpreter.environment import Env, Step, error
from affdsl.ir.messages import shown
from affdsl.ir.numeric import Number, number_of
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import ComplexType, FloatType, NumberType, Type, VectorType

Lanes: TypeAlias = NDArray[np.object_]
Item: TypeAlias = "Number | Lanes"
"""A number or a vector."""


def vector_of(shape: Sequence[int], numbers: Iterable[Any]) -> Lanes:
    """A vector of a shape with these numbers, in row-major order."""
    listed = list(numbers)
    array = np.empty(len(listed), object)
    for k, number in enumerate(listed):
        array[k] = number
    return array.reshape(tuple(shape))


def vector_type(value: Value, op: Op) -> VectorType:
    """The type of a vector, whose number of lanes must be known."""
    return known_lanes(value.type, op, shown(value))


def known_lanes(type: Type, op: Op, what: str) -> VectorType:
    """type, which must be a vector of a known number of lanes."""
    if not isinstance(type, VectorType):
        raise error(op, f"{what} is no vector but has type {type}")
    if any(type.scalable):
        raise error(op, f"{what} is scalable, so the interpreter does not know how many lanes it has: {type}")
    return type


def has_vectors(op: Op) -> bool:
    """Whether an operation on scalars is given vectors."""
    return isinstance(op, Lanewise) and any(isinstance(v.type, VectorType) for v in (*op.defines(), *op.reads()))


def lanewise(op: Op, step_of: Callable[[Op], Step]) -> Step:
    """An operation on scalars, for each lane; `step_of` makes a step of the same operation on scalars."""
    values = dict.fromkeys((*op.defines(), *op.reads()))
    twins = {v: Value(v.type.element, v.hint) for v in values if isinstance(v.type, VectorType)}
    shape = vector_type(next(iter(twins)), op).shape
    names = (*roles(type(op)).operands, *roles(type(op)).results)
    scalar = step_of(with_fields(op, **{name: twins.get(v := getattr(op, name), v) for name in names}))
    read = [(v, twins[v]) for v in dict.fromkeys(op.reads()) if v in twins]
    single = [v for v in dict.fromkeys(op.reads()) if v not in twins]
    defined = [(v, twins[v]) for v in op.defines()]

    def step(env: Env) -> None:
        inner: Env = {v: env[v] for v in single}
        sources = [(twin, env[v].flat) for v, twin in read]
        found: list[list[Any]] = [[] for _ in defined]
        for k in range(int(np.prod(shape, dtype=np.int64))):
            for twin, source in sources:
                inner[twin] = source[k]
            scalar(inner)
            for results, (_, twin) in zip(found, defined, strict=True):
                results.append(inner[twin])
        for (v, _), results in zip(defined, found, strict=True):
            env[v] = vector_of(shape, results)

    return step


def constant(op: arith.Constant) -> Step:
    """result = the numbers of a constant vector"""
    type = vector_type(op.result, op)
    count = int(np.prod(type.shape, dtype=np.int64))
    numbers = op.value if isinstance(op.value, tuple) else (op.value,) * count
    vector = vector_of(type.shape, [semantics.constant(n, type.element) for n in numbers])
    return lambda env: env.__setitem__(op.result, vector)


def poison(type: NumberType) -> Number:
    """A number that shows where something without a particular value is used: NaN, or the bits 0xA5A5..."""
    return number_of(float("nan") if isinstance(type, FloatType | ComplexType) else 0xA5A5A5A5A5A5A5A5, type)


def put(vector: Lanes, lane: tuple[int, ...], item: Item) -> None:
    """vector[lane] = item, a number or, along the dimensions that lane lacks, a vector"""
    vector[lane] = item[()] if isinstance(item, np.ndarray) and item.ndim == 0 else item
