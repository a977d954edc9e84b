"""What reductions give, in NumPy: for one iteration after the other, and in the order that `vectorize` states.

A state is what a loop carries, as a tuple of arrays, one number for each lane; a step takes the state and what the
iterations of the lanes read to the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Lanes: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Type:
    """A type of numbers: how they are stored, and how they are computed with."""

    name: str
    stored: np.dtype[Any]
    computed: np.dtype[Any]

    @property
    def is_float(self) -> bool:
        return "f" in self.name

    def load(self, stored: Lanes) -> Lanes:
        """Numbers of what is stored."""
        if self.name == "bf16":
            return (stored.astype(np.uint32) << 16).view(np.float32)
        return stored

    def store(self, numbers: Lanes) -> Lanes:
        """Numbers as they are stored: those of bf16 are the upper half of an f32, rounded to the nearest, to even."""
        if self.name == "bf16":
            bits = np.ascontiguousarray(numbers, np.float32).view(np.uint32)
            rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
            return np.where(np.isnan(numbers), np.uint16(0x7FC0), rounded)
        return np.asarray(numbers, self.stored)

    def rounded(self, numbers: Lanes) -> Lanes:
        """Numbers that have the type after an operation."""
        return self.load(self.store(numbers))


def _type(name: str, stored: str, computed: str = "") -> Type:
    return Type(name, np.dtype(stored), np.dtype(computed or stored))


INTEGERS = tuple(
    _type(*names) for names in (("i8", "i1"), ("i16", "i2"), ("i32", "i4"), ("i64", "i8"), ("index", "i8"))
)
FLOATS = (_type("f16", "f2"), _type("bf16", "u2", "f4"), _type("f32", "f4"), _type("f64", "f8"))
TYPES = {each.name: each for each in (*INTEGERS, *FLOATS)}


def _extreme(better: Callable[[Any, Any], Any], *, skips_nan: bool) -> Callable[[Lanes, Lanes], Lanes]:
    """The least or the largest of two floats, where 0 is more than -0."""

    def combine(a: Lanes, b: Lanes) -> Lanes:
        zeros = (a == 0) & (b == 0)
        signs = better(np.where(np.signbit(a), -1, 1), np.where(np.signbit(b), -1, 1))
        found = np.where(better(a, b) | (zeros & signs), a, b)
        nans = (np.where(np.isnan(a), b, a), np.where(np.isnan(b), a, b)) if skips_nan else (np.nan, np.nan)
        return np.where(np.isnan(a), nans[0], np.where(np.isnan(b), nans[1], found)).astype(a.dtype)

    return combine


def _unsigned(combine: Callable[..., Lanes]) -> Callable[[Lanes, Lanes], Lanes]:
    def combined(a: Lanes, b: Lanes) -> Lanes:
        unsigned = np.dtype(f"u{a.dtype.itemsize}")
        return combine(a.view(unsigned), b.view(unsigned)).view(a.dtype)

    return combined


COMBINE: dict[str, Callable[[Lanes, Lanes], Lanes]] = {
    "addi": np.add, "muli": np.multiply, "andi": np.bitwise_and, "ori": np.bitwise_or, "xori": np.bitwise_xor,
    "maxsi": np.maximum, "minsi": np.minimum, "maxui": _unsigned(np.maximum), "minui": _unsigned(np.minimum),
    "addf": np.add, "mulf": np.multiply,
    "maximumf": _extreme(np.greater, skips_nan=False), "minimumf": _extreme(np.less, skips_nan=False),
    "maxnumf": _extreme(np.greater, skips_nan=True), "minnumf": _extreme(np.less, skips_nan=True),
}  # fmt: skip
"""What the kinds of arith are."""


def neutral(kind: str, type: Type) -> Any:
    """A number that changes no other; for extremes of floats none of those that are tried is worse."""
    if type.is_float:
        return {"addf": -0.0, "mulf": 1.0, "max": -np.inf, "min": np.inf}[
            kind if kind in ("addf", "mulf") else kind[:3]
        ]
    info = np.iinfo(type.stored)
    return {
        "addi": 0, "muli": 1, "andi": -1, "ori": 0, "xori": 0,
        "maxsi": info.min, "minsi": info.max, "maxui": 0, "minui": -1,
    }[kind]  # fmt: skip


Step: TypeAlias = Callable[[Lanes, Lanes, Lanes], Lanes]
"""What is carried by each lane, what its iteration reads of both arrays, and what it carries then."""


def in_order(step: Step, start: Lanes, a: Lanes, b: Lanes) -> Iterator[Lanes]:
    """What is carried after each iteration, one after the other."""
    for k in range(len(a)):
        start = step(start, a[k : k + 1], b[k : k + 1])
        yield start


def in_lanes(
    step: Step, combine: Callable[[Lanes, Lanes], Lanes], none: Any, start: Lanes, a: Lanes, b: Lanes,
    width: int, tail: str,
) -> Lanes:  # fmt: skip
    """The order that `vectorize` states for sums and products of floats if `reassociate`."""

    def grouped(start: Lanes, first: int, end: int) -> Lanes:
        lanes = np.full(width, none, start.dtype)
        for k in range(first, end, width):
            n = min(width, end - k)
            lanes[:n] = step(lanes[:n], a[k : k + n], b[k : k + n])
        return _from_lanes(combine, start, lanes) if first < end else start

    if tail in ("folded", "masked"):
        return grouped(start, 0, len(a))
    whole = len(a) // width * width
    total = grouped(start, 0, whole)
    return [total, *in_order(step, total, a[whole:], b[whole:])][-1]


def _from_lanes(combine: Callable[[Lanes, Lanes], Lanes], start: Lanes, lanes: Lanes) -> Lanes:
    """Halves while there are more than 4 and an even number of them; then from the first lane on, behind the start."""
    while len(lanes) > 4 and len(lanes) % 2 == 0:
        lanes = combine(lanes[: len(lanes) // 2], lanes[len(lanes) // 2 :])
    for k in range(len(lanes)):
        start = combine(start, lanes[k : k + 1])
    return start


def best(a: Lanes, predicate: str, start: Any) -> tuple[Any, int]:
    """The best of numbers, and where it is: the first or the last of those that are as good; -1 if the start is."""
    found, place = start, -1
    for k, number in enumerate(a):
        x, y = (number, found)
        if predicate[0] == "u":
            x, y = (np.asarray(z).view(f"u{np.asarray(z).dtype.itemsize}") for z in (x, y))
        is_better = {"gt": x > y, "ge": x >= y, "lt": x < y, "le": x <= y}[predicate[1:]]
        if is_better:
            found, place = number, k
    return found, place
