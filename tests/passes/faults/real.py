"""Whether a fault changes what a program does: both are run on all small sizes, chosen without the validator."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from affdsl.ir.dialects import affine, scf
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.interpreter import Argument, InterpreterError, Order, run
from affdsl.ir.numeric import dtype
from affdsl.ir.traverse import walk
from affdsl.ir.types import IndexType, MemRefType

LARGEST = {1: 14, 2: 6, 3: 4}
"""For so many sizes, the largest number that each has."""
ORDERS: tuple[Order, ...] = ("forward", "reverse", "shuffled")


def changes(before: Module, after: Module, seed: int = 0) -> bool:
    """Whether some call of the first public function leaves something else, or fails after and not before."""
    function = next(f for f in before.functions if not (f.private or f.external))
    other = next(f for f in after.functions if f.symbol == function.symbol)
    for given in _calls(function, seed):
        expected = [_left(function, before, given, order) for order in _orders(before)]
        if None in expected or expected != expected[:1] * len(expected):
            continue  # it has no meaning
        if any(_left(other, after, given, order) != expected[0] for order in _orders(after)):
            return True
    return False


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


def _left(function: Func, module: Module, given: list[Argument], order: Order) -> list[object] | None:
    """What a call leaves, to the last bit; None where it fails."""
    passed = [a.copy() if isinstance(a, np.ndarray) else a for a in given]
    outside = {f.symbol: _change for f in module.functions if f.external}
    try:
        results = run(function, *passed, module=module, order=order, externals=outside, uninitialised="poison")
    except InterpreterError:
        return None
    shown = (*passed, *results)
    return [a.tobytes() if isinstance(a, np.ndarray) else a for a in shown]


def _change(array: np.ndarray) -> None:
    array += 1
