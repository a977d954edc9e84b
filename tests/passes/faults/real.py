"""Whether a fault changes what a program does: both are run on all small sizes, chosen without the validator."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from affdsl.ir.dialects import affine, scf
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.interpreter import Argument, InterpreterError, Order
from affdsl.ir.numeric import dtype
from affdsl.ir.traverse import walk
from affdsl.ir.types import IndexType, MemRefType
from tests.harness.judges import externals, left

LARGEST = {1: 14, 2: 6, 3: 4}
"""For so many sizes, the largest number that each has."""
Left: TypeAlias = tuple[str, bytes]
"""An array, or a number: its type and its bytes."""
ORDERS: tuple[Order, ...] = ("forward", "reverse", "shuffled")


def changes(before: Module, after: Module, seed: int = 0) -> bool:
    """Whether some call of the first public function leaves something else, or fails after and not before."""
    function = next(f for f in before.functions if not (f.private or f.external))
    other = next(f for f in after.functions if f.symbol == function.symbol)
    for given in _calls(function, seed):
        expected = _left(function, before, given, "forward")
        if expected is None or any(_left(function, before, given, o) != expected for o in _orders(before)[1:]):
            continue  # it has no meaning
        reads_new = _left(function, before, given, "forward", uninitialised="error") is None
        for order in _orders(after):
            found = _left(other, after, given, order)
            if found is None or any(map(partial(_differ, reads_new=reads_new), expected, found)):
                return True
    return False


def _differ(expected: Left, found: Left, *, reads_new: bool) -> bool:
    """Whether something differs that has a meaning: not where what was in a new buffer may have come.

    There, floats are NaN. Integers may be anything, in every element.
    """
    if expected == found:
        return False
    if not reads_new:
        return True
    dtype = np.dtype(expected[0])
    if not np.issubdtype(dtype, np.floating):
        return False
    a, b = (np.frombuffer(left[1], dtype) for left in (expected, found))
    return a.shape != b.shape or any(not np.isnan(x) and x.tobytes() != y.tobytes() for x, y in zip(a, b, strict=True))


def _orders(module: Module) -> tuple[Order, ...]:
    has_bands = any(isinstance(op, affine.Parallel | scf.Parallel) for op in walk(module))
    return ORDERS if has_bands else ORDERS[:1]


def _calls(function: Func, seed: int) -> Iterator[list[Argument]]:
    counters = [a for a in function.args if isinstance(a.type, IndexType)]
    largest = LARGEST.get(len(counters), 3)
    random = np.random.default_rng(seed)
    for sizes in itertools.product(range(largest + 1), repeat=len(counters)):
        numbers = dict(zip(counters, sizes, strict=True))
        given: list[Argument] = []
        for position, a in enumerate(function.args):
            if not isinstance(a.type, MemRefType):
                given.append(numbers.get(a, 3))
                continue
            promised = function.shapes[position] if function.shapes else None
            free = max((*sizes, 4)) + 1
            shape = [free if n is None else n for n in a.type.shape]
            if promised is not None:
                shape = [e.evaluate(numbers) for e in promised]
            given.append(random.integers(0, 7, shape).astype(dtype(a.type.element)))
        yield given


def _left(
    function: Func,
    module: Module,
    given: list[Argument],
    order: Order,
    uninitialised: Literal["error", "poison"] = "poison",
) -> list[Left] | None:
    """What a call leaves, to the last bit; None where it fails."""
    options = {"order": order, "externals": externals(module), "uninitialised": uninitialised}
    try:
        arrays = map(np.asarray, left(function, given, module, **options))
    except InterpreterError:
        return None
    return [(a.dtype.str, a.tobytes()) for a in arrays]
