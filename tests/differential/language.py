"""Random kernels of the language, as trees.

A kernel is a tree of tuples. `language_builder` walks it once and calls affdsl.for_, affdsl.if_ and operators as a
user's code would; `language_meaning` walks it again for every iteration, on Python's numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

Tree = tuple
"""A statement or expression: its kind and its parts."""

DTYPES = {
    "f64": np.float64, "f32": np.float32, "i64": np.int64, "i32": np.int32, "i8": np.int8, "u8": np.uint8,
    "u32": np.uint32,
}  # fmt: skip
COMPARISONS: dict[str, Callable] = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
}  # fmt: skip


@dataclass(frozen=True)
class Kernel:
    """A random kernel: its type, its statements and the sizes for its calls."""

    seed: int
    dtype: str
    body: tuple[Tree, ...]
    sizes: tuple[tuple[int, int], ...]

    def arguments(self, n: int, m: int) -> tuple[np.ndarray, ...]:
        """A[N], B[N, M + 1], C[M + N + 2], D[4]"""
        random = np.random.default_rng(self.seed)
        dtype = DTYPES[self.dtype]
        shapes = (n,), (n, m + 1), (m + n + 2,), (4,)
        if np.dtype(dtype).kind == "f":
            return tuple((random.integers(-20, 20, s) / 4).astype(dtype) for s in shapes)
        return tuple(random.integers(-9, 10, s).astype(np.int64).astype(dtype) for s in shapes)


RANKS = (1, 2, 1, 1)


def generate(seed: int) -> Kernel:
    """The random kernel of a seed."""
    rng = Random(seed)
    writer = _Writer(rng, rng.choice(list(DTYPES)))
    body = tuple(writer.statement(0, 1) for _ in range(rng.choice([2, 3, 4])))
    sizes = tuple((rng.choice([0, 1, 2, 3, 5]), rng.choice([0, 1, 2, 4])) for _ in range(2))
    return Kernel(seed, writer.dtype, body, sizes)


class _Writer:
    """Writes trees. `loops` and `values` count what is visible: the loop variables and the numbers with a name."""

    def __init__(self, rng: Random, dtype: str) -> None:
        self.rng = rng
        self.dtype = dtype
        self.loops = 0
        self.values = 0

    def statement(self, depth: int, runs: int) -> Tree:
        kinds = ["store", "store", "add", "let", "if"]
        if depth < 4:
            kinds += ["for", "for", "for", "carry", "parallel", "choose", "reduce"]
        kind = self.rng.choice(kinds)
        if runs > 60 and kind in ("for", "carry", "parallel", "reduce"):
            kind = "store"
        return getattr(self, f"_{kind}")(depth, runs)

    def _block(self, depth: int, runs: int) -> tuple[Tree, ...]:
        loops, values = self.loops, self.values
        found = tuple(self.statement(depth + 1, runs) for _ in range(self.rng.choice([1, 1, 2])))
        self.loops, self.values = loops, values
        return found

    def _store(self, depth: int, runs: int) -> Tree:
        return "store", *self._element(), self.number(2)

    def _add(self, depth: int, runs: int) -> Tree:
        return "add", self.rng.choice("+-*"), *self._element(), self.number(2)

    def _let(self, depth: int, runs: int) -> Tree:
        made = "let", self.number(3)
        self.values += 1
        return made

    def _range(self) -> tuple[Tree, Tree, int]:
        low = ("n", 0) if self.rng.random() < 0.6 else self.index(1)
        return (
            low,
            self.rng.choice([("size", 0), ("size", 1), self.index(1), ("n", 3)]),
            self.rng.choice([1, 1, 1, 2, 3]),
        )

    def _for(self, depth: int, runs: int) -> Tree:
        bounds = self._range()
        loops, self.loops = self.loops, self.loops + 1
        body = self._block(depth, runs * 4)
        self.loops = loops
        return "for", bounds, body

    def _carry(self, depth: int, runs: int) -> Tree:
        bounds, count = self._range(), self.rng.choice([1, 1, 2])
        starts = tuple(self.number(1) for _ in range(count))
        loops, values = self.loops, self.values
        self.loops, self.values = loops + 1, values + count
        body = self._block(depth, runs * 4) if self.rng.random() < 0.5 else ()
        ends = tuple(self.number(2) for _ in range(count))
        self.loops, self.values = loops, values + count  # the results are visible after the loop
        return "carry", bounds, starts, body, ends

    def _parallel(self, depth: int, runs: int) -> Tree:
        loops, values = self.loops, self.values
        self.loops += 2
        value = self.number(2, loads=False)
        self.loops, self.values = loops, values
        return "parallel", value

    def _reduce(self, depth: int, runs: int) -> Tree:
        kinds = ["addi", "muli", "andi", "ori"] if self.dtype[0] in "iu" else ["maximumf", "minimumf"]
        loops = self.loops
        self.loops += 1
        value = self.number(2)
        self.loops = loops
        self.values += 1
        return "reduce", self.rng.choice(kinds), self._range(), value

    def _if(self, depth: int, runs: int) -> Tree:
        return (
            "if",
            self.condition(),
            self._block(depth, runs),
            self._block(depth, runs) if self.rng.random() < 0.5 else None,
        )

    def _choose(self, depth: int, runs: int) -> Tree:
        made = "choose", self.condition(), self.number(2), self.number(2)
        self.values += 1
        return made

    def condition(self) -> Tree:
        """A condition on indices or on numbers, or two of them."""
        pick = self.rng.random()
        if pick < 0.15:
            return self.rng.choice(["and", "or"]), self.condition(), self.condition()
        if pick < 0.2:
            return "not", self.condition()
        comparison = self.rng.choice(list(COMPARISONS))
        if pick < 0.7:
            return "icompare", comparison, self.index(2), self.index(1)
        return "compare", comparison, self.number(1), self.number(1)

    def _element(self) -> tuple[int, tuple[Tree, ...]]:
        array = self.rng.randrange(4)
        return array, tuple(self.index(2) for _ in range(RANKS[array]))

    def index(self, depth: int) -> Tree:
        """An affine index."""
        if depth == 0 or self.rng.random() < 0.3:
            if self.loops and self.rng.random() < 0.7:
                return "iv", self.rng.randrange(self.loops)
            return self.rng.choice([("n", self.rng.randint(0, 4)), ("size", 0), ("size", 1)])
        kind = self.rng.choice("++-*/%c")
        if kind in "+-":
            return kind, self.index(depth - 1), self.index(depth - 1)
        by = self.rng.choice([2, 3, 4] if kind in "/%c" else [-1, 2, 3])
        return kind, self.index(depth - 1), ("n", by)

    def number(self, depth: int, *, loads: bool = True) -> Tree:
        """A number of the kernel's type."""
        if depth == 0 or self.rng.random() < 0.2:
            pick = self.rng.random()
            if self.values and pick < 0.4:
                return "value", self.rng.randrange(self.values)
            if loads and pick < 0.8:
                return "load", *self._element()
            if pick < 0.9:
                return "cast", self.index(1)
            return "literal", self.rng.choice([0, 1, 2, 3, 5, 100])
        whole = self.dtype[0] in "iu"
        kind = self.rng.choice("+-*mM?n" + ("/%&|^<>" if whole else "dfc"))
        parts = {"?": 2, "n": 1, "f": 1, "c": 1, "<": 1, ">": 1}.get(kind, 2)
        numbers = tuple(self.number(depth - 1, loads=loads) for _ in range(parts))
        if kind == "?":
            return kind, ("compare", self.rng.choice(list(COMPARISONS)), *numbers), *numbers
        if kind in "<>":
            return kind, *numbers, self.rng.randrange(8)
        return kind, *numbers


def index_of(tree: Tree, loops: Sequence, sizes: Sequence):
    """An index, on integers or on indices of the language."""
    match tree:
        case ("n", number):
            return number
        case ("size", k):
            return sizes[k]
        case ("iv", k):
            return loops[k]
        case (kind, left, right):
            a, b = index_of(left, loops, sizes), index_of(right, loops, sizes)
            if kind == "c":
                return -(-a // b) if isinstance(a, int) else a.ceildiv(b)
            return {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a // b, "%": lambda: a % b}[kind]()  # fmt: skip  # noqa: E501
    raise AssertionError(tree)
