"""Constants in folds: read as numbers of their type, computed lane by lane, and held again as constants hold them."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from affdsl.ir import semantics
from affdsl.ir.expr import Value
from affdsl.ir.numeric import Number, number_of, quiet
from affdsl.ir.types import FloatType, IndexType, IntegerType, ScalarType, Type, VectorType
from affdsl.later import Later
from affdsl.passes.cleanup.canonicalize.graph import Graph
from affdsl.passes.cleanup.canonicalize.rules import Known

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

Numbers: TypeAlias = "Number | tuple[Number, ...]"
"""One number, for all lanes, or one for each."""


def element_of(type: Type) -> ScalarType | None:
    """The scalar type of a number or of the lanes of a vector; None for anything else."""
    match type:
        case IndexType() | IntegerType() | FloatType():
            return type
        case VectorType(element=element):
            return element
    return None


def numbers(graph: Graph, value: Value) -> Numbers | None:
    """The constant that a value is, lanes as `affdsl.ir.numeric` holds them."""
    payload = graph.payload(value)
    element = element_of(value.type)
    if payload is None or element is None:
        return None
    if isinstance(payload, tuple):
        lanes = tuple([number_of(x, element) for x in payload])
        return lanes[0] if lanes and all(_same(x, lanes[0]) for x in lanes) else lanes
    return number_of(payload, element)


def integer(graph: Graph, value: Value) -> int | None:
    """The one integer, for all lanes, that a value is."""
    found = numbers(graph, value)
    return found if isinstance(found, int) else None


def is_float(number: object) -> TypeGuard[np.floating]:
    """Whether a constant is one float, for all lanes."""
    return not isinstance(number, int | tuple | None) and isinstance(number, np.floating)


def index_number(graph: Graph, value: Value) -> int | None:
    """The integer that a scalar is."""
    return None if isinstance(value.type, VectorType) else integer(graph, value)


def known(found: Numbers, type: Type) -> Known:
    """Numbers as a constant of a type."""
    element = element_of(type)
    assert element is not None
    if isinstance(found, tuple):
        return Known(tuple([_held(x, element) for x in found]))
    return Known(_held(found, element))


def lanes(function: Callable[..., Number], *operands: Numbers) -> Numbers:
    """function of the operands, lane by lane."""
    width = max((len(x) for x in operands if isinstance(x, tuple)), default=0)
    rows = [x if isinstance(x, tuple) else (x,) * max(1, width) for x in operands]
    with nullcontext() if all(isinstance(x, int) for row in rows for x in row) else quiet():
        found = tuple([function(*lane) for lane in zip(*rows, strict=True)])
    return found if width else found[0]


def all_lanes(test: Callable[..., bool], *operands: Numbers) -> bool:
    """Whether a test holds in every lane."""
    found = lanes(lambda *lane: int(test(*lane)), *operands)
    return all(found) if isinstance(found, tuple) else bool(found)


def extremes(type: IntegerType | IndexType) -> tuple[int, int, int]:
    """The least and the greatest signed number of a type, and the one with all bits set, as they are held."""
    width = 64 if isinstance(type, IndexType) else type.width
    if width == 1:
        return 1, 0, 1
    return -(1 << (width - 1)), (1 << (width - 1)) - 1, -1


def binary(kind: str, type: Type) -> Callable[..., Number]:
    """What a binary kind of arith or math does to two lanes."""
    element = element_of(type)
    assert element is not None
    return semantics.binary(kind, element)


def _held(number: Number, element: ScalarType) -> int | float | bool:
    if isinstance(element, FloatType):
        return float(number)
    return bool(number) if element == IntegerType(1) else int(number)


def _same(a: Number, b: Number) -> bool:
    return a == b and (a != 0 or isinstance(a, int) or math.copysign(1, a) == math.copysign(1, b))
