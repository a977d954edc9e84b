"""Random kernels for several types that give parts of arrays to others, search, sum up and end loops early.

The same stands beside them in plain Python, with strict arrays.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from random import Random

import numpy as np

import affdsl as af
from tests.parts.strict import Strict, apart

M, N, K = af.symbols("M N K")
DTYPES = {"f64": af.f64, "f32": af.f32, "i32": af.i32}
T = af.dtypes("T", *DTYPES.values())
SHAPES = {"A": ("M", "N"), "B": ("M", "N"), "C": ("3", "M", "N"), "x": ("N",)}


@af.kernel
def turned(x: T[N]):
    with af.for_(N) as i:
        x[i] = 3 - x[i]


@af.kernel
def any_turned(x: af.strided(T[...])):
    with af.elements(x) as e:
        x[e] = 4 - x[e]


@af.kernel
def plane_turned(A: T[M, N]):
    with af.for_(M) as i:
        turned(A[i])
        any_turned(A[i, ::2])


@af.kernel
def raised(x: T[N], y: T[N]):
    with af.for_(N) as i:
        y[i] = af.max(x[i], 3 - y[i])


@af.kernel
def any_raised(x: af.strided(T[...]), y: af.strided(T[...])):
    with af.elements(x) as e:
        y[e] = af.max(x[e], 3 - y[e])


CALLED = {"turned": turned, "any_turned": any_turned, "plane_turned": plane_turned, "raised": raised,
          "any_raised": any_raised}  # fmt: skip


@apart(True)
def _turned(x: np.ndarray) -> None:
    x[...] = 3 - x


@apart(True)
def _any_turned(x: np.ndarray) -> None:
    x[...] = 4 - x


@apart(True)
def _plane_turned(x: np.ndarray) -> None:
    x[...] = 3 - x
    x[:, ::2] = 4 - x[:, ::2]


@apart(False, True)
def _raised(x: np.ndarray, y: np.ndarray) -> None:
    y[...] = np.maximum(x, 3 - y)


PLAIN = {"turned": _turned, "any_turned": _any_turned, "plane_turned": _plane_turned, "raised": _raised,
         "any_raised": _raised}  # fmt: skip


_OF_ONE = (
    ("turned", 1),
    ("any_turned", 1),
    ("any_turned", 1),
    ("any_turned", 2),
    ("any_turned", 2),
    ("plane_turned", 2),
)


class Plain:
    """What the text has of the language, in plain Python."""

    min, max = min, max


ON_ELEMENTS = (
    ("{v}[{e}] = 2 - {v}[{e}]",),
    ("af.if_({v}[{e}] > 1): | if {v}[{e}] > 1:", "    {v}[{e}] = 1 - {v}[{e}]", "    af.break_() | break"),
    ("af.if_({v}[{e}] < 0): | if {v}[{e}] < 0:", "    af.continue_() | continue", "{v}[{e}] = 2 - {v}[{e}]"),
    ("af.if_({v}[{e}] == 2): | if {v}[{e}] == 2:", "    af.break_() | break", "{v}[{e}] = 1 - {v}[{e}]"),
)
"""What is done to an element of a part; behind a bar how that is written in Python."""
SUMMED = ("{s} += {v}[{e}]", "{v}[{e}] = {s}")
"""Sums so far: not in many loops, or they grow."""
MOST_LOOPS = 1


class Writer:
    """Writes statements, each for both languages."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.lines: list[tuple[int, str, str]] = []
        self.count = 0

    def name(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def add(self, depth: int, kernel: str, plain: str = "") -> None:
        self.lines.append((depth, kernel, plain or kernel))

    def place(self, size: str, counters: list[tuple[str, str]]) -> str:
        """An index along a dimension: mostly one that is inside."""
        fitting = [name for name, bound in counters if bound == size]
        chosen = [*fitting, *fitting, *fitting, *(f"{size} - 1 - {i}" for i in fitting), "0", f"{size} // 2"]
        if self.random.random() < 0.1:
            chosen += [f"{i} + 1" for i, _ in counters] + [i for i, _ in counters] + [f"{size} - 1", "1"]
        return self.random.choice(chosen)

    def slice(self, size: str, counters: list[tuple[str, str]]) -> str:
        """A slice along a dimension."""
        at = self.place(size, counters)
        return self.random.choice([
            ":", ":", "::2", f"{at}:", f":{at}", f"{at}:{size}", f"{at}:{at} + 1", f"{at}:af.min({at} + 2, {size})",
            "1:" if self.random.random() < 0.3 else ":", f"{at}::3",
        ])  # fmt: skip

    def part(self, rank: int, known: dict[str, tuple[str, ...]], counters: list[tuple[str, str]]) -> str:
        """A part of so many dimensions of an array that has as many or more."""
        name = self.random.choice([a for a, shape in known.items() if len(shape) >= rank])
        shape = known[name]
        kept = set(self.random.sample(range(len(shape)), rank))
        if self.random.random() < 0.5:
            kept = set(range(len(shape) - rank, len(shape)))
        whole = self.random.random() < 0.4
        items = [
            self.place(size, counters) if k not in kept else ":" if whole else self.slice(size, counters)
            for k, size in enumerate(shape)
        ]
        if all(item == ":" for item in items):
            return name
        while items[-1] == ":" and self.random.random() < 0.5:
            items.pop()
        return f"{name}[{', '.join(items)}]"

    def block(
        self, depth: int, known: dict[str, tuple[str, ...]], counters: list[tuple[str, str]], length: int
    ) -> None:
        known = dict(known)
        for _ in range(length):
            kind = self.random.choice(("loop", "call", "call", "call", "two", "two", "name", "elements", "if"))
            if kind == "loop" and depth < 4:
                i, size = self.name("i"), self.random.choice("MNMN3")
                low = self.random.choice(["0", "0", "0", "1", *(n for n, bound in counters if bound == size)])
                step = self.random.choice(("", "", "", ", 2"))
                self.add(depth, f"with af.for_({low}, {size}{step}) as {i}:", f"for {i} in range({low}, {size}{step}):")
                self.block(depth + 1, known, [*counters, (i, size)], self.random.randint(1, 2))
            elif kind == "if" and counters and depth < 4:
                i, size = self.random.choice(counters)
                condition = self.random.choice((f"{i} + 1 < {size}", f"{i} >= 1", f"{i} < 2"))
                self.add(depth, f"with af.if_({condition}):", f"if {condition}:")
                self.block(depth + 1, known, counters, 1)
            elif kind == "two":
                rank = self.random.choice((1, 1, 2))
                function = self.random.choice(("raised", *["any_raised"] * 3)) if rank == 1 else "any_raised"
                self.add(depth, f"{function}({self.part(rank, known, counters)}, {self.part(rank, known, counters)})")
            elif kind == "name":
                v, rank = self.name("v"), self.random.choice((1, 2))
                made = self.part(rank, known, counters)
                self.add(depth, f"{v} = {made}")
                known[v] = tuple(f"{v}.shape[{k}]" for k in range(rank))
            elif kind == "elements":
                self.elements(depth, known, counters)
            else:
                function, rank = self.random.choice(_OF_ONE)
                self.add(depth, f"{function}({self.part(rank, known, counters)})")

    def elements(self, depth: int, known: dict[str, tuple[str, ...]], counters: list[tuple[str, str]]) -> None:
        """A loop over the elements of a part, which may end early, or sum them up."""
        v, e, s = self.name("v"), self.name("e"), self.name("s")
        self.add(depth, f"{v} = {self.part(1, known, counters)}")
        lines = self.random.choice(ON_ELEMENTS)
        if len(counters) <= MOST_LOOPS and self.random.random() < 0.4:
            lines = SUMMED
            self.add(depth, f"{s} = af.var(T(0))", f"{s} = 0")
        self.add(depth, f"with af.for_({v}.shape[0]) as {e}:", f"for {e} in range({v}.shape[0]):")
        for line in lines:
            kernel, _, plain = line.strip().format(v=v, e=e, s=s).partition(" | ")
            inside = depth + 1 + line.startswith(" ")
            self.add(inside, f"with {kernel}" if kernel.endswith(":") else kernel, plain)


class Drawn:
    """A random program: as a kernel, which may be refused when it is built, and in plain Python."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        writer = Writer(random)
        strided = random.random() < 0.3
        writer.block(1, dict(SHAPES), [], random.randint(1, 4))
        matrix = "af.strided(T[M, N])" if strided else "T[M, N]"
        head = f"def f(A: {matrix}, B: T[M, N], C: T[3, M, N], x: T[N]):"
        self.type = random.choice([*DTYPES])
        self.text = "\n".join(["@af.kernel", head, *("    " * d + k for d, k, _ in writer.lines)]) + "\n"
        self._plain = "\n".join(["def f(M, N, A, B, C, x):", *("    " * d + p for d, _, p in writer.lines)])

    def kernel(self) -> af.Kernel:
        file = "<random part>"
        linecache.cache[file] = (len(self.text), None, self.text.splitlines(keepends=True), file)
        found = {"af": af, "M": M, "N": N, "T": T, **CALLED}
        exec(compile(self.text, file, "exec"), found)
        made: af.Kernel = found["f"]
        return made[self.type]

    def plain(self) -> Callable[..., None]:
        """The same on NumPy's arrays, which are changed; raises WrongError where a call must be refused."""
        found: dict[str, object] = {"af": Plain, **PLAIN}
        exec(compile(self._plain, "<plain part>", "exec"), found)

        def run(*arrays: np.ndarray) -> None:
            found["f"](*arrays[0].shape, *map(Strict, arrays))

        return run


def arguments(type: str, m: int, n: int, seed: int = 1) -> list[np.ndarray]:
    """Small whole numbers, which all types have exactly."""
    rng = np.random.default_rng(seed)
    return [rng.integers(-3, 4, shape).astype(DTYPES[type].numpy) for shape in ((m, n), (m, n), (3, m, n), (n,))]
