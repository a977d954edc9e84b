"""The least and the greatest that integers can be which are computed of bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from math import prod
from typing import TypeAlias

from affdsl.ir.core import Op
from affdsl.ir.dialects import arith, math
from affdsl.ir.expr import Value
from affdsl.ir.types import IntegerType, Type

BYTE, WIDE = IntegerType(8), (IntegerType(32), IntegerType(64))
MOST_BITS, MOST_FACTORS = 16, 6
"""Shifts by so many bits and more are not looked at, nor polynomials of more numbers: these have 2 ** 6 corners."""
Ends: TypeAlias = tuple[int, int]
"""The least and the greatest that a number can be."""
Polynomial: TypeAlias = Mapping[tuple[Value, ...], int]
"""Products of numbers, in an order of their own, with a factor each."""


def ends_of_bytes(body: Iterable[Op]) -> dict[Value, Ends]:
    """What is known of the integers of 32 and 64 bits in a body, if some are made of bytes; else of none.

    Sums and products in which each product has a number once are the least and the greatest where all numbers are: so
    `a * x + (255 - a) * y` of bytes is known to be at most 255 * 255.
    """
    ends, polynomials = dict[Value, Ends](), dict[Value, Polynomial]()
    has_bytes = False
    for op in body:
        match op:
            case arith.Constant(result=result, value=int() as number) if result.type in WIDE:
                ends[result], polynomials[result] = (number, number), {(): number}
            case arith.Cast(kind="extui" | "extsi" as kind, operand=operand, result=result):
                if operand.type == BYTE and result.type in WIDE:
                    ends[result] = (0, 255) if kind == "extui" else (-128, 127)
                    has_bytes = True
            case arith.Binary(kind=kind, left=left, right=right, result=result) if left in ends and right in ends:
                made = _polynomial(kind, *(polynomials.get(v, {(v,): 1}) for v in (left, right)))
                found = _at_corners(made, ends) if made is not None else _computed(kind, ends[left], ends[right])
                if found is not None and fits(found, result.type):
                    ends[result] = found
                    if made is not None:
                        polynomials[result] = made
            case math.Unary(kind="absi", operand=operand, result=result) if operand in ends:
                low, high = ends[operand]
                ends[result] = max(0, low, -high), max(-low, high)
            case arith.Select(if_true=yes, if_false=no, result=result) if yes in ends and no in ends:
                ends[result] = min(ends[yes][0], ends[no][0]), max(ends[yes][1], ends[no][1])
    return ends if has_bytes else {}


def fits(ends: Ends, type: Type) -> bool:
    """Whether a number is one of an integer type, with its sign.

    >>> fits((-128, 127), BYTE), fits((0, 128), BYTE)
    (True, False)
    """
    return isinstance(type, IntegerType) and -(2 ** (type.width - 1)) <= ends[0] and ends[1] < 2 ** (type.width - 1)


def _polynomial(kind: str, left: Polynomial, right: Polynomial) -> Polynomial | None:
    """What two polynomials make; None where a product has a number twice, or there are too many numbers."""
    found: dict[tuple[Value, ...], int] = {}
    match kind:
        case "addi" | "subi":
            found |= left
            for factors, number in right.items():
                found[factors] = found.get(factors, 0) + (number if kind == "addi" else -number)
        case "muli":
            for (some, a), (others, b) in product(left.items(), right.items()):
                if not set(some).isdisjoint(others):
                    return None
                factors = tuple(sorted((*some, *others), key=id))
                found[factors] = found.get(factors, 0) + a * b
        case _:
            return None
    return found if len({v for factors in found for v in factors}) <= MOST_FACTORS else None


def _at_corners(of: Polynomial, ends: Mapping[Value, Ends]) -> Ends:
    """The least and the greatest of a polynomial that is linear in each of its numbers: where each is at an end."""
    numbers = [*dict.fromkeys(v for factors in of for v in factors)]
    found: list[int] = []
    for corner in product(*(ends[v] for v in numbers)):
        at = dict(zip(numbers, corner, strict=True))
        found.append(sum(number * prod(at[v] for v in factors) for factors, number in of.items()))
    return min(found), max(found)


def _computed(kind: str, a: Ends, b: Ends) -> Ends | None:
    """What two numbers make, in as many bits as it takes; None where nothing is known of it."""
    match kind:
        case "addi":
            return a[0] + b[0], a[1] + b[1]
        case "subi":
            return a[0] - b[1], a[1] - b[0]
        case "muli":
            products = [x * y for x in a for y in b]
            return min(products), max(products)
        case "minsi":
            return min(a[0], b[0]), min(a[1], b[1])
        case "maxsi":
            return max(a[0], b[0]), max(a[1], b[1])
        case "andi" if max(a[0], b[0]) >= 0:
            return 0, min(high for low, high in (a, b) if low >= 0)
        case "divsi" | "floordivsi" | "divui" if a[0] >= 0 and b[0] == b[1] > 0:
            return a[0] // b[0], a[1] // b[0]
        case "remsi" | "remui" if a[0] >= 0 and b[0] == b[1] > 0:
            return 0, min(a[1], b[0] - 1)
        case "shrsi" | "shrui" if (kind == "shrsi" or a[0] >= 0) and 0 <= b[0] == b[1] < MOST_BITS:
            return a[0] >> b[0], a[1] >> b[0]
    return None
