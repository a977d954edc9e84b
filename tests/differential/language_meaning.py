"""What random kernels should compute: their trees, run by plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from affdsl.ir.numeric import quiet
from tests.differential.generator import Program
from tests.differential.language import COMPARISONS, DTYPES, Kernel, Tree, index_of
from tests.differential.outcome import Outcome, outcome
from tests.harness.judges import copied


def as_executed(kernel: Kernel, program: Program) -> list[Outcome]:
    """What the kernel's calls should give, by Python."""
    found = []
    for call in program.calls:
        n, m, *arrays = copied(call)
        execute(kernel, arrays, n, m)
        found.append(outcome(program.function, [n, m, *arrays], ()))
    return found


def execute(kernel: Kernel, arrays: Sequence[np.ndarray], n: int, m: int) -> None:
    """Run the program on arrays, in place."""
    with quiet():
        _Runner(kernel.dtype, arrays, (n, m)).block(kernel.body, [], [])


class _Runner:
    def __init__(self, dtype: str, arrays: Sequence[np.ndarray], sizes: tuple[int, int]) -> None:
        self.type = DTYPES[dtype]
        self.is_float = dtype[0] == "f"
        self.arrays = arrays
        self.sizes = sizes

    def wrap(self, number):
        """A number as the kernel's type holds it."""
        if self.is_float:
            return self.type(number)
        info = np.iinfo(self.type)
        return (int(number) - info.min) % (1 << info.bits) + info.min

    def block(self, body: Sequence[Tree], loops: list, values: list) -> None:
        values = list(values)
        for tree in body:
            self.statement(tree, loops, values)

    def place(self, array: int, trees: Sequence[Tree], loops: list) -> tuple[int, ...] | None:
        shape = self.arrays[array].shape
        if 0 in shape:
            return None
        return tuple(index_of(t, loops, self.sizes) % s for t, s in zip(trees, shape, strict=True))

    def read(self, array: int, place: tuple[int, ...]):
        found = self.arrays[array][place]
        return found if self.is_float else int(found)

    def write(self, array: int, place: tuple[int, ...], number) -> None:
        self.arrays[array][place] = self.wrap(number)

    def range(self, bounds: Tree, loops: list) -> range:
        low, high, step = bounds
        return range(index_of(low, loops, self.sizes), index_of(high, loops, self.sizes), step)

    def statement(self, tree: Tree, loops: list, values: list) -> None:
        match tree:
            case ("store", array, trees, number):
                shown, place = self.number(number, loops, values), self.place(array, trees, loops)
                if place is not None:
                    self.write(array, place, shown)
            case ("add", kind, array, trees, number):
                shown, place = self.number(number, loops, values), self.place(array, trees, loops)
                if place is not None:
                    self.write(array, place, self.operation(kind, self.read(array, place), shown))
            case ("let", number):
                values.append(self.number(number, loops, values))
            case ("for", bounds, body):
                for i in self.range(bounds, loops):
                    self.block(body, [*loops, i], values)
            case ("carry", bounds, starts, body, ends):
                carried = [self.number(s, loops, values) for s in starts]
                for i in self.range(bounds, loops):
                    self.block(body, [*loops, i], [*values, *carried])
                    carried = [self.number(e, [*loops, i], [*values, *carried]) for e in ends]
                values += carried
            case ("parallel", number):
                for i in range(self.sizes[0]):
                    for j in range(self.sizes[1]):
                        self.write(1, (i, j), self.number(number, [*loops, i, j], values))
            case ("reduce", kind, bounds, number):
                start = {"addi": 0, "muli": 1, "andi": -1, "ori": 0, "maximumf": -math.inf, "minimumf": math.inf}[kind]
                total, symbol = self.wrap(start), {"addi": "+", "muli": "*", "andi": "&", "ori": "|", "maximumf": "M", "minimumf": "m"}[kind]  # fmt: skip  # noqa: E501
                for i in self.range(bounds, loops):
                    total = self.operation(symbol, total, self.number(number, [*loops, i], values))
                values.append(total)
            case ("if", condition, then, orelse):
                if self.condition(condition, loops, values):
                    self.block(then, loops, values)
                elif orelse is not None:
                    self.block(orelse, loops, values)
            case ("choose", condition, left, right):
                chosen = left if self.condition(condition, loops, values) else right
                values.append(self.number(chosen, loops, values))
            case _:
                raise AssertionError(tree)

    def condition(self, tree: Tree, loops: list, values: list) -> bool:
        match tree:
            case ("and", left, right):
                return self.condition(left, loops, values) and self.condition(right, loops, values)
            case ("or", left, right):
                return self.condition(left, loops, values) or self.condition(right, loops, values)
            case ("not", inner):
                return not self.condition(inner, loops, values)
            case ("icompare", comparison, left, right):
                return COMPARISONS[comparison](index_of(left, loops, self.sizes), index_of(right, loops, self.sizes))
            case (_, comparison, left, right):
                return bool(
                    COMPARISONS[comparison](self.number(left, loops, values), self.number(right, loops, values))
                )
        raise AssertionError(tree)

    def number(self, tree: Tree, loops: list, values: list):
        match tree:
            case ("value", k):
                return values[k]
            case ("load", array, trees):
                place = self.place(array, trees, loops)
                return self.wrap(0) if place is None else self.read(array, place)
            case ("cast", index):
                return self.wrap(index_of(index, loops, self.sizes))
            case ("literal", number):
                return self.wrap(number)
            case ("?", condition, left, right):
                return self.number(left if self.condition(condition, loops, values) else right, loops, values)
            case ("<" | ">" as kind, left, amount):
                number = self.number(left, loops, values)
                if kind == "<":
                    return self.wrap(number << amount)
                return self.wrap(number >> amount)
            case ("n", left):
                return self.wrap(-self.number(left, loops, values))
            case ("f" | "c" as kind, left):
                return self.wrap((np.floor if kind == "f" else np.ceil)(self.number(left, loops, values)))
            case (kind, left, right):
                return self.operation(kind, self.number(left, loops, values), self.number(right, loops, values))
        raise AssertionError(tree)

    def operation(self, kind: str, a, b):
        """A binary operator on numbers of the kernel's type."""
        if kind in "mM":
            if self.is_float:
                return _extreme(a, b, largest=kind == "M")
            return max(a, b) if kind == "M" else min(a, b)
        if kind in "/%" and b == 0:
            return 0
        return self.wrap({
            "+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a // b, "%": lambda: a % b,
            "&": lambda: a & b, "|": lambda: a | b, "^": lambda: a ^ b, "d": lambda: a / b,
        }[kind]())  # fmt: skip


def _extreme(a, b, *, largest: bool):
    if math.isnan(a) or math.isnan(b):
        return a if math.isnan(a) else b
    if a == b:
        return (b if np.signbit(a) else a) if largest else (a if np.signbit(a) else b)
    return max(a, b) if largest else min(a, b)
