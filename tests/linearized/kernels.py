"""Random kernels, each of which can be written twice: with linearized subscripts, and with dimensions.

All inner subscripts lie in their dimensions by the way in which they are made; rows may leave the array.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from random import Random

import affdsl as af
from affdsl.lang.trace import Program, parameters_of, trace

N, M, K, L, STEPS = af.symbols("N M K L T")
SYMBOLS = (N, M, K)


@dataclass(frozen=True)
class Loop:
    """The loop, or loops, that make a subscript of one dimension: of `kind`, `low` and `high` away from its ends."""

    axis: int
    kind: str
    low: int = 0
    high: int = 0
    amount: int = 1
    """The size of a tile, or a step, or a factor."""


@dataclass(frozen=True)
class Statement:
    """A store and some loads, each with offsets to the subscripts; `guard` is the axis that has one more at its end."""

    store: tuple[int, ...]
    loads: tuple[tuple[int, ...], ...]
    guard: int | None = None


@dataclass(frozen=True)
class Recipe:
    """A kernel: the sizes of its array, and loop nests with statements in them."""

    seed: int
    halos: tuple[int, ...]
    factors: tuple[int, ...]
    nests: tuple[tuple[bool, tuple[Loop, ...], tuple[Statement, ...]], ...]
    shape: str
    """How the array is declared: by its product, by a symbol that is assumed to be that, or no smaller."""

    def __str__(self) -> str:
        lines = [f"seed {self.seed}: halos {self.halos}, factors {self.factors}, {self.shape}"]
        for is_repeated, loops, statements in self.nests:
            lines += [f"  {'repeated ' if is_repeated else ''}{loops}", *(f"    {s}" for s in statements)]
        return "\n".join(lines)


def recipe(seed: int) -> Recipe:
    """The recipe of a seed."""
    random = Random(seed)
    rank = random.choice((2, 2, 3))
    halos = tuple(random.choice((0, 0, 0, 1, 2)) for _ in range(rank))
    factors = tuple(random.choice((1, 1, 1, 1, 2)) for _ in range(rank))
    nests = tuple(_nest(random, rank) for _ in range(random.choice((1, 1, 2))))
    shape = random.choice(("product", "product", "equal", "larger"))
    return Recipe(seed, halos, factors, nests, shape)


def changed(of: Recipe) -> Recipe:
    """A recipe whose last statement loads another row."""
    *nests, (is_repeated, loops, (*statements, last)) = of.nests
    (row, *others), *loads = last.loads
    last = replace(last, loads=((row - 1, *others), *loads))
    return replace(of, nests=(*nests, (is_repeated, loops, (*statements, last))))


def _nest(random: Random, rank: int) -> tuple[bool, tuple[Loop, ...], tuple[Statement, ...]]:
    axes = list(range(rank))
    if random.random() < 0.3:
        random.shuffle(axes)
    loops = [_loop(random, axis, is_first=not k) for k, axis in enumerate(axes)]
    offsets: list[list[int]] = [[] for _ in range(rank)]
    for loop in loops:
        offsets[loop.axis] = list(range(-loop.low, loop.high + 1)) if loop.axis else [-1, 0, 0, 1]
    statements = []
    for _ in range(random.choice((1, 1, 2))):
        store = tuple(random.choice(o) for o in offsets)
        loads = tuple(tuple(random.choice(o) for o in offsets) for _ in range(random.choice((1, 2, 3))))
        guard = random.choice([None, None, None, *range(rank)])
        statements.append(Statement(store, loads, guard))
    return random.random() < 0.3, tuple(loops), tuple(statements)


def _loop(random: Random, axis: int, *, is_first: bool) -> Loop:
    kind = random.choice(
        ("plain", "plain", "plain", "tiles", "parts", "strided", "reversed", "steps", "triangle", "above")
    )
    if is_first and kind in ("triangle", "above"):
        kind = "plain"
    low, high = random.choice(((0, 0), (1, 1), (0, 1), (1, 0), (2, 1)))
    match kind:
        case "strided":
            return Loop(axis, kind, 0, 0, 2)
        case "tiles" | "parts":
            return Loop(axis, kind, 0, 0, random.choice((2, 4)))
        case "steps":
            return Loop(axis, kind, low, high, random.choice((2, 3)))
        case "reversed" | "triangle" | "above":
            return Loop(axis, kind)
    return Loop(axis, kind, low, high)


def build(of: Recipe, *, linear: bool) -> tuple[Program, Callable[..., None]]:
    """The kernel that a recipe is, with linearized subscripts or with dimensions."""
    sizes = [factor * s + halo for s, factor, halo in zip(SYMBOLS, of.factors, of.halos, strict=False)]
    whole = sizes[0]
    for size in sizes[1:]:
        whole = whole * size

    def body(A, n, m, k, steps):
        if linear and of.shape == "equal":
            af.assume(whole == L)
        if linear and of.shape == "larger":
            af.assume(whole <= L)

        def element(subscripts):
            if not linear:
                return tuple(subscripts)
            found = subscripts[0]
            for subscript, size in zip(subscripts[1:], sizes[1:], strict=True):
                found = found * size + subscript
            return (found,)

        for is_repeated, loops, statements in of.nests:
            with ExitStack() as stack:
                if is_repeated:
                    stack.enter_context(af.for_(steps))
                at: dict[int, object] = {}
                last: object = None
                for loop in loops:
                    at[loop.axis], last = _entered(stack, loop, sizes[loop.axis], last)
                for statement in statements:
                    with ExitStack() as inside:
                        subscripts = [at[axis] for axis in range(len(sizes))]
                        if statement.guard is not None:
                            axis = statement.guard
                            inside.enter_context(af.if_(subscripts[axis] + statement.store[axis] + 2 <= sizes[axis]))
                            subscripts[axis] = subscripts[axis] + 1
                        stored = [s + o for s, o in zip(subscripts, statement.store, strict=True)]
                        value = 0.5
                        for load in statement.loads:
                            value = A[element([at[axis] + o for axis, o in enumerate(load)])] * 0.5 + value
                        A[element(stored)] = value

    shape = tuple(sizes) if not linear else (whole,) if of.shape == "product" else (L,)
    kinds: Mapping[str, object] = {"A": af.f64[shape], "n": N, "m": M, "k": K, "steps": STEPS}
    body.__annotations__ = dict(kinds)
    body.__name__ = body.__qualname__ = "linear" if linear else "dimensions"
    return trace(body, parameters_of(body, {})), body


def _entered(stack: ExitStack, loop: Loop, size, last):
    """Enter the loops for a subscript; the subscript, and the innermost induction variable."""
    match loop.kind:
        case "tiles":
            outer = stack.enter_context(af.for_(0, size, loop.amount))
            inner = stack.enter_context(af.for_(outer, af.min(outer + loop.amount, size)))
            return inner, inner
        case "parts":
            outer = stack.enter_context(af.for_(0, (size + loop.amount - 1) // loop.amount))
            inner = stack.enter_context(af.for_(loop.amount))
            found = outer * loop.amount + inner
            stack.enter_context(af.if_(found < size))
            return found, found
        case "strided":
            iv = stack.enter_context(af.for_(size // loop.amount))
            return iv * loop.amount + loop.amount - 1, iv
        case "reversed":
            iv = stack.enter_context(af.for_(size))
            return size - 1 - iv, iv
        case "triangle":
            iv = stack.enter_context(af.for_(0, af.min(last + 1, size)))
            return iv, iv
        case "above":
            iv = stack.enter_context(af.for_(af.max(last, 0), size))
            return iv, iv
    iv = stack.enter_context(af.for_(loop.low, size - loop.high, loop.amount))
    return iv, iv
