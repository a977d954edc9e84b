"""How large the values are that operations compute with."""

from __future__ import annotations

from math import prod

from affdsl.ir.types import ComplexType, FloatType, IntegerType, MemRefType, Type, VectorType
from affdsl.optimize.machine import Machine


def element_of(type: Type) -> Type:
    """What lanes are, or elements."""
    return type.element if isinstance(type, VectorType | MemRefType) else type


def lanes_of(type: Type) -> int:
    """How many numbers a value is."""
    return prod(type.shape) if isinstance(type, VectorType) else 1


def bits_of(type: Type) -> int:
    """How many bits each of them has; those that count have 64."""
    element = element_of(type)
    if isinstance(element, ComplexType):
        return 2 * element.part.width
    return element.width if isinstance(element, FloatType | IntegerType) else 64


def registers_of(type: Type, machine: Machine) -> float:
    """How many registers a value takes."""
    if not isinstance(type, VectorType):
        return 1.0
    return float(-(-lanes_of(type) * bits_of(type) // machine.target.width))
