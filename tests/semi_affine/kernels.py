"""Random kernels whose subscripts, bounds and divisors have products and quotients of sizes and index arguments."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

import affdsl as af

N, M = af.symbols("N M")
SIZES = (0, 1, 1, 2, 3, 3, 4, 5, 7, 8)
SMALL = (-7, -3, -2, -1, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 12, 16)
HUGE = (2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1, -(2**31), -(2**40), -(2**63))
CALLS = 6


@dataclass(frozen=True)
class Call:
    """The sizes of the arrays, and the index arguments."""

    n: int
    m: int
    p: int
    q: int

    def arrays(self) -> list[np.ndarray]:
        """What the kernel changes."""
        shapes = ((self.n,), (self.n, self.m), (self.n * self.m,))
        return [np.arange(1.0, 1.0 + int(np.prod(shape))).reshape(shape) for shape in shapes]


def calls(seed: int, count: int = CALLS) -> list[Call]:
    """Calls of the kernel of a seed: most numbers are small, some negative or zero, a few huge."""
    rng = Random(f"calls {seed}")
    found = []
    for _ in range(count):
        p, q = (rng.choice(HUGE) if rng.random() < 0.08 else rng.choice(SMALL) for _ in range(2))
        found.append(Call(rng.choice(SIZES), rng.choice(SIZES), p, q))
    return found


def build(seed: int) -> af.Kernel:
    """The kernel of a seed. Raises ProgramError where the language has no such kernel, or one is certainly wrong."""

    def random(A, B, C, p, q):  # type: ignore[no-untyped-def]
        _Writer(Random(f"kernel {seed}"), (A, B, C), (p, q)).kernel()

    random.__annotations__ = {"A": af.f64[N], "B": af.f64[N, M], "C": af.f64[N * M], "p": af.index, "q": af.index}
    return af.kernel(random)


@af.kernel
def put(x: af.f64[M], k: af.index, s: af.index):
    """An element at a remainder."""
    x[k % s] += 3.0


@af.kernel
def spread(x: af.f64[M], k: af.index, s: af.index):
    """As many elements as a product."""
    with af.for_(k * s) as t:
        x[t] += 5.0


@af.kernel
def at(x: af.f64[M], k: af.index, s: af.index):
    """An element at a product, through another kernel."""
    with af.if_(k >= 0):
        x[k * s + 1] = 7.0
    put(x, k, s + 1)


class _Writer:
    """Writes one kernel as its body is traced."""

    def __init__(self, rng: Random, arrays: tuple[Any, ...], arguments: tuple[Any, ...]) -> None:
        self.rng = rng
        self.arrays = arrays
        self.symbols = (N, M, *arguments)
        self.loops: list[Any] = []

    def kernel(self) -> None:
        if self.rng.random() < 0.08:
            af.assume(self.symbols[2] * self.symbols[3] <= N * M)
        if self.rng.random() < 0.1:
            af.assume(self.symbols[3] >= 1)
        for _ in range(self.rng.choice((1, 1, 2))):
            self.statement(0)

    def symbol(self) -> Any:
        return self.rng.choice(self.symbols)

    def divisor(self) -> Any:
        rng = self.rng
        match rng.randrange(6):
            case 0:
                return self.symbol() + rng.choice((-1, 1, 1, 2))
            case 1:
                return self.symbol() * self.symbol()
            case 2:
                return self.symbol() - self.symbol()
            case _:
                return self.symbol()

    def whole(self, depth: int = 0) -> Any:
        """What does not change in loops."""
        rng = self.rng
        match rng.randrange(8 if depth < 2 else 3):
            case 0 | 1:
                return self.symbol()
            case 2:
                return self.symbol() + rng.choice((-2, -1, 1, 2))
            case 3 | 4:
                return self.whole(depth + 1) * self.symbol()
            case 5:
                return self.whole(depth + 1) // self.divisor()
            case 6:
                return self.whole(depth + 1) % self.divisor()
            case _:
                return self.whole(depth + 1).ceildiv(self.divisor())

    def index(self) -> Any:
        """What may change in loops."""
        rng = self.rng
        if not self.loops or rng.random() < 0.1:
            return self.whole()
        i, j = rng.choice(self.loops), rng.choice(self.loops)
        match rng.randrange(8):
            case 0:
                return i
            case 1:
                return i + rng.choice((-1, 1, 2)) * self.symbol()
            case 2:
                return i * self.symbol() + j
            case 3:
                return i * self.symbol() + rng.choice((0, 1))
            case 4:
                return (i + rng.choice((-1, 0, 1))) % self.divisor()
            case 5:
                return (i + j) // self.divisor()
            case 6:
                return i.ceildiv(self.divisor()) + j % self.divisor()
            case _:
                return (i * self.symbol() + j) % self.divisor() - rng.choice((0, 1))

    def condition(self) -> Any:
        """A condition, or one of several of which it is enough that one holds."""
        rng = self.rng
        found = self.comparison()
        while rng.random() < 0.25:
            found = found | (self.comparison() & self.comparison() if rng.random() < 0.3 else self.comparison())
        return found

    def comparison(self) -> Any:
        rng = self.rng
        left, right = self.index(), self.whole()
        match rng.randrange(6):
            case 0:
                return left < right
            case 4:
                return self.whole() >= self.whole()
            case 1:
                return left % self.divisor() == rng.choice((0, 1))
            case 2:
                return left >= right
            case 3:
                divisor = self.divisor()
                return (divisor >= 1) & (left % divisor == 0)
            case _:
                return self.symbol() >= rng.choice((0, 1))

    def statement(self, depth: int) -> None:
        match self.rng.randrange(7 if depth < 3 else 2):
            case 0 | 1:
                self.access()
            case 2 | 3 | 4:
                self.loop(depth)
            case 5:
                self.branch(depth)
            case _:
                self.callee()

    def block(self, depth: int) -> None:
        for _ in range(self.rng.choice((1, 1, 2))):
            self.statement(depth + 1)

    def loop(self, depth: int) -> None:
        rng = self.rng
        low = rng.choice((0, 0, 0, 1)) if rng.random() < 0.9 else self.whole(1)
        high = self.symbol() if rng.random() < 0.5 else self.whole()
        if rng.random() < 0.15:
            with af.parallel((af.max(low, -50), af.min(high, 50))) as i:  # the interpreter makes a list of a band
                self.loops.append(i)
                where = self.place(self.arrays[0].shape)
                if len(where) == 1 and where[0] is i:
                    self.arrays[0][i] = 2.0  # the iterations touch elements of their own
            self.loops.pop()
            return
        with af.for_(low, high, rng.choice((1, 1, 1, 2))) as i:
            self.loops.append(i)
            self.block(depth)
        self.loops.pop()

    def branch(self, depth: int) -> None:
        with af.if_(self.condition()):
            self.block(depth)
        if self.rng.random() < 0.4:
            with af.else_():
                self.block(depth)

    def place(self, shape: tuple[Any, ...]) -> tuple[Any, ...]:
        found = []
        for size in shape:
            if self.rng.random() < 0.25:
                found.append(self.index() % size)
            elif self.loops and self.rng.random() < 0.3:
                found.append(self.rng.choice(self.loops))
            else:
                found.append(self.index())
        return tuple(found)

    def access(self) -> None:
        rng = self.rng
        array = rng.choice(self.arrays)
        place = self.place(array.shape)
        if rng.random() < 0.45:
            inside = None
            for k, (index, size) in enumerate(zip(place, array.shape, strict=True)):
                here = (index >= 0) & (index < size)
                inside = here if k == 0 else inside & here
            with af.if_(inside):
                self.store(array, place)
        else:
            self.store(array, place)

    def store(self, array: Any, place: tuple[Any, ...]) -> None:
        if self.rng.random() < 0.5:
            array[place] = float(self.rng.randrange(9))
        elif self.rng.random() < 0.5:
            array[place] += 1.0
        else:
            array[place] = array[place] * 2.0 + af.f64(af.i64(self.index()))

    def callee(self) -> None:
        called = self.rng.choice((put, spread, at))
        array = self.arrays[self.rng.choice((0, 2))]
        called(array, self.whole() if self.rng.random() < 0.6 else self.index(), self.whole())
