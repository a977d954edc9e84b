"""What a call of a random program gives, in a form in which the outcomes of different ways to run it compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from affdsl.ir.dialects import func
from affdsl.ir.interpreter import Order, run
from affdsl.ir.types import BF16, MemRefType, Type
from tests.differential.generator import Program
from tests.harness.judges import copied


@dataclass(frozen=True)
class Outcome:
    """The array arguments after the call, and the results; every NaN is the same."""

    arrays: tuple[np.ndarray, ...]
    results: tuple[np.ndarray, ...]


def difference(expected: Outcome, got: Outcome) -> str:
    """Where two outcomes differ, or an empty text."""
    for what, left, right in (
        ("array argument", expected.arrays, got.arrays), ("result", expected.results, got.results)
    ):  # fmt: skip
        if len(left) != len(right):
            return f"{len(right)} {what}s instead of {len(left)}"
        for k, (a, b) in enumerate(zip(left, right, strict=True)):
            if a.shape != b.shape or a.dtype != b.dtype:
                return f"{what} {k} is {b.dtype}{list(b.shape)} instead of {a.dtype}{list(a.shape)}"
            if a.tobytes() != b.tobytes():
                places = np.argwhere(a.view(f"u{a.itemsize}") != b.view(f"u{b.itemsize}"))
                at = tuple(int(n) for n in places[0])
                return f"{what} {k} at {list(at)}: expected {a[at]!r}, got {b[at]!r} ({len(places)} of {a.size} differ)"
    return ""


def interpret(program: Program, call: Sequence[object], order: Order = "forward") -> Outcome:
    """The outcome of a call, by the interpreter."""
    given = copied(call)
    results = run(program.function, *given, module=program.module, order=order, seed=program.seed)  # type: ignore[arg-type]
    return outcome(program.function, given, results)


def outcome(function: func.Func, given: Sequence[object], results: Sequence[object]) -> Outcome:
    """The outcome of a call from its arguments, changed in place, and its results."""
    arrays = tuple(
        canonical(x, a.type) for x, a in zip(given, function.args, strict=True) if isinstance(a.type, MemRefType)
    )
    types = function.result_types
    return Outcome(arrays, tuple(canonical(x, t) for x, t in zip(results, types, strict=True)))


def canonical(value: object, type: Type) -> np.ndarray:
    """A result or array, contiguous and signed, with one NaN."""
    array = np.array(value, order="C")
    if isinstance(type, MemRefType):
        if type.element == BF16:
            is_nan = (array & 0x7FFF) > 0x7F80
            return np.where(is_nan, np.uint16(0x7FC0), array)
    elif array.dtype.kind in "iu" and array.dtype != np.int64:
        array = array.astype(np.int64)  # the interpreter has Python's integers, others have narrow ones
    if array.dtype.kind == "f":
        return np.where(np.isnan(array), array.dtype.type(np.nan), array)
    if array.dtype.kind == "u" and not (isinstance(type, MemRefType) and array.itemsize == 8):
        return array.view(f"i{array.itemsize}")
    return array.view(f"i{array.itemsize}") if array.dtype.kind == "u" else array
