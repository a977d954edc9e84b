"""Random kernels as a user would have written them: by with-blocks and operators of the language."""

from __future__ import annotations

from collections.abc import Sequence

import affdsl as af
from tests.differential.generator import Program
from tests.differential.language import COMPARISONS, Kernel, Tree, index_of

N, M = af.symbols("N M")


def build(kernel: Kernel) -> af.Kernel:
    """The kernel, as a user would have written it with the language."""

    def random(A, B, C, D):  # type: ignore[no-untyped-def]
        _Builder(kernel, (A, B, C, D), (N, M)).block(kernel.body, [], [])

    dtype = getattr(af, kernel.dtype)
    random.__annotations__ = {"A": dtype[N], "B": dtype[N, M + 1], "C": dtype[M + N + 2], "D": dtype[4]}
    return af.kernel(random)


def as_program(kernel: Kernel) -> Program:
    """The kernel's IR, with arguments for its calls."""
    built = build(kernel)
    calls = tuple((n, m, *kernel.arguments(n, m)) for n, m in kernel.sizes)
    return Program(kernel.seed, built.module, built.func.symbol, 2, calls, True)


class _Builder:
    def __init__(self, kernel: Kernel, arrays: Sequence[af.Array], sizes: Sequence[af.Index]) -> None:
        self.dtype = getattr(af, kernel.dtype)
        self.arrays = arrays
        self.sizes = sizes

    def index(self, tree: Tree, loops: list):
        return index_of(tree, loops, self.sizes)

    def data(self, tree: Tree, loops: list):
        """An index as a number that is computed."""
        return af.cast(af.index(self.index(tree, loops)), self.dtype if self.dtype.kind != "float" else af.i32)

    def block(self, body: Sequence[Tree], loops: list, values: list) -> None:
        loops, values = list(loops), list(values)
        for tree in body:
            self.statement(tree, loops, values)

    def place(self, array: int, tree: Sequence[Tree], loops: list) -> tuple:
        """A subscript that is always in bounds: data, since a modulo by a size that may be zero is none."""
        shape = self.arrays[array].shape
        return tuple(af.index(self.index(t, loops)) % af.index(s) for t, s in zip(tree, shape, strict=True))

    def guarded(self, array: int):
        """The branch in which an array is not empty."""
        return af.if_(self._is_there(array))

    def statement(self, tree: Tree, loops: list, values: list) -> None:
        match tree:
            case ("store", array, place, number):
                shown = self.number(number, loops, values)
                with self.guarded(array):
                    self.arrays[array][self.place(array, place, loops)] = shown
            case ("add", kind, array, place, number):
                shown = self.number(number, loops, values)
                with self.guarded(array):
                    where = self.place(array, place, loops)
                    if kind == "+":
                        self.arrays[array][where] += shown
                    elif kind == "-":
                        self.arrays[array][where] -= shown
                    else:
                        self.arrays[array][where] *= shown
            case ("let", number):
                values.append(self.number(number, loops, values))
            case ("for", (low, high, step), body):
                with af.for_(self.index(low, loops), self.index(high, loops), step) as i:
                    self.block(body, [*loops, i], values)
            case ("carry", (low, high, step), starts, body, ends):
                first = [self.number(s, loops, values) for s in starts]
                with af.for_(self.index(low, loops), self.index(high, loops), step, iter_args=first) as both:
                    i, *carried = both
                    self.block(body, [*loops, i], [*values, *carried])
                    af.yield_(*(self.number(e, [*loops, i], [*values, *carried]) for e in ends))
                values += carried
            case ("parallel", number):
                with af.parallel(N, M) as (i, j):
                    self.arrays[1][i, j] = self.number(number, [*loops, i, j], values)
            case ("reduce", kind, (low, high, step), number):
                bound = (self.index(low, loops), self.index(high, loops), step)
                with af.parallel(bound, reduce=[(kind, self.dtype)]) as (i, total):
                    af.yield_(self.number(number, [*loops, i], values))
                values.append(total)
            case ("if", condition, then, orelse):
                with af.if_(self.condition(condition, loops, values)):
                    self.block(then, loops, values)
                if orelse is not None:
                    with af.else_():
                        self.block(orelse, loops, values)
            case ("choose", condition, left, right):
                with af.if_(self.condition(condition, loops, values), self.dtype) as chosen:
                    af.yield_(self.number(left, loops, values))
                with af.else_():
                    af.yield_(self.number(right, loops, values))
                values.append(chosen)
            case _:
                raise AssertionError(tree)

    def condition(self, tree: Tree, loops: list, values: list):
        match tree:
            case ("and", left, right):
                return self.condition(left, loops, values) & self.condition(right, loops, values)
            case ("or", left, right):
                return self.condition(left, loops, values) | self.condition(right, loops, values)
            case ("not", inner):
                return ~self.condition(inner, loops, values)
            case ("icompare", comparison, left, right):
                a, b = self.index(left, loops), self.index(right, loops)
                return COMPARISONS[comparison](af.index(a) if isinstance(a, int) and isinstance(b, int) else a, b)
            case (_, comparison, left, right):
                return COMPARISONS[comparison](self.number(left, loops, values), self.number(right, loops, values))
        raise AssertionError(tree)

    def number(self, tree: Tree, loops: list, values: list):
        match tree:
            case ("value", k):
                return values[k]
            case ("load", array, place):
                with af.if_(self._is_there(array), self.dtype) as loaded:
                    af.yield_(self.arrays[array][self.place(array, place, loops)])
                with af.else_():
                    af.yield_(self.dtype(0))
                return loaded
            case ("cast", index):
                return af.cast(self.data(index, loops), self.dtype)
            case ("literal", number):
                return self.dtype(number)
            case ("?", condition, left, right):
                chosen = self.condition(condition, loops, values)
                return af.select(chosen, self.number(left, loops, values), self.number(right, loops, values))
            case ("<", left, amount):
                return self.number(left, loops, values) << amount
            case (">", left, amount):
                return self.number(left, loops, values) >> amount
            case ("n", left):
                return -self.number(left, loops, values)
            case ("f" | "c" as kind, left):
                return (af.floor if kind == "f" else af.ceil)(self.number(left, loops, values))
            case (kind, left, right):
                a, b = self.number(left, loops, values), self.number(right, loops, values)
                return {
                    "+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a // b, "d": lambda: a / b,
                    "%": lambda: a % b, "&": lambda: a & b, "|": lambda: a | b, "^": lambda: a ^ b,
                    "m": lambda: af.min(a, b), "M": lambda: af.max(a, b),
                }[kind]()  # fmt: skip
        raise AssertionError(tree)

    def _is_there(self, array: int):
        shape = self.arrays[array].shape
        condition = shape[0] >= 1
        for size in shape[1:]:
            condition = condition & (size >= 1)
        return condition
