"""Arguments on which a function is tried: small sizes that keep its contract, and random elements."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from random import Random
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from affdsl.errors import AffdslError
from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Call, Func
from affdsl.ir.expr import Value
from affdsl.ir.interpreter import Argument
from affdsl.ir.layouts import row_major
from affdsl.ir.numeric import dtype, number_of, to_bits
from affdsl.ir.spelling import hint
from affdsl.ir.traverse import walk
from affdsl.ir.types import (
    ComplexType,
    FloatType,
    IndexType,
    IntegerType,
    MemRefType,
    NumberType,
    StridedLayout,
)

Array: TypeAlias = NDArray[Any]
Elements: TypeAlias = Literal["plain", "whole", "special"]
"""Which floats: any; small whole numbers, whose sums have no rounding; or zeros of both signs, infinities and NaN."""

SIZES = (3, 1, 0, 2, 5, 7, 8, 4, -1, -3, -6, -8, -7, 13, 17, 33, -2)
"""Sizes that find most mistakes: 0, 1, primes, and neighbours of the numbers by which loops are tiled and unrolled.

Below zero are those on which rounding down, up and toward zero differ; see `_below_zero` for who gets them.
"""
MOST = 70
"""No size is larger than this, unless the contract asks for it."""
MOST_ELEMENTS = 10_000_000
"""No array has more elements."""
SPECIAL = (0.0, -0.0, 1.0, -2.5, float("inf"), float("-inf"), float("nan"))
_TRIES = 60


class NoArgumentsError(AffdslError):
    """Nothing can be passed to a function: which argument, and why."""


class Recipe(FrozenValue):
    """How arguments are made.

    Attributes
    ----------
    size
        Every index argument, and every unknown size; a negative one is given to some of the arguments only.
    slack
        How much larger unknown sizes are that no contract ties to arguments: for accesses beyond the counters.
    mixed
        Whether each index argument has a size of its own, up to `size`; and with every second seed, unknown sizes along
        different axes differ.
    elements
        Which floats.
    seed
        Of everything random.
    given
        Numbers that come before the others: of index arguments (arg2), and of unknown sizes along an axis (size0_1).
    """

    size: int
    slack: int = 0
    mixed: bool = False
    elements: Elements = "plain"
    seed: int = 0
    given: tuple[tuple[str, int], ...] = ()


def sizes_for(*roots: Op) -> tuple[int, ...]:
    """The sizes on which to try functions: those that always help, and those around the steps of their loops.

    >>> sizes_for() == SIZES
    True
    """
    steps: set[int] = set()
    for root in roots:
        for op in walk(root):
            match op:
                case affine.For(step=step):
                    steps.add(step)
                case affine.Parallel():
                    steps.update(op.steps)
    around = [n for step in sorted(steps) if step > 1 for n in (step + 1, 2 * step + 1, step - 1, step)]
    return tuple(dict.fromkeys((*SIZES[:4], *(n for n in around if n <= MOST), *SIZES[4:])))


def depends_on_sizes(function: Func) -> bool:
    """Whether a function does different things for different sizes."""
    return any(
        isinstance(a.type, IndexType | IntegerType) or (isinstance(a.type, MemRefType) and None in a.type.shape)
        for a in function.args
    )


def symbols_of(function: Func) -> tuple[str, ...]:
    """The index arguments of a function and the sizes that no contract says, as recipes call them."""
    found: list[str] = []
    for position, value in enumerate(function.args):
        if isinstance(value.type, IndexType):
            found.append(f"arg{position}")
        elif isinstance(value.type, MemRefType) and not (function.shapes and function.shapes[position]):
            found += [f"size{position}_{axis}" for axis, size in enumerate(value.type.shape) if size is None]
    return tuple(found)


def only_sizes(function: Func, functions: Mapping[str, Func]) -> frozenset[Value]:
    """The index arguments that only contracts read, its own and those of the functions that it calls.

    They are sizes of arrays, which may be larger than any counter.
    """
    return _only_sizes(function, functions, frozenset())


def _only_sizes(function: Func, functions: Mapping[str, Func], around: frozenset[str]) -> frozenset[Value]:
    read = {value for fact in function.assumes for value in fact.values()}
    for op in (inner for outer in function.body for inner in walk(outer)):
        callee = functions.get(op.callee) if isinstance(op, Call) else None
        if not isinstance(op, Call) or callee is None or callee.symbol in around:
            read.update(op.reads())
        else:
            sizes = _only_sizes(callee, functions, around | {callee.symbol})
            read.update(given for given, arg in zip(op.args, callee.args, strict=True) if arg not in sizes)
    return frozenset(a for a in function.args if isinstance(a.type, IndexType) and a not in read)


def names_of(function: Func) -> tuple[str, ...]:
    """What the arguments are called: as the text does, or arg0, arg1, ...; each name once."""
    names: list[str] = []
    for position, value in enumerate(function.args):
        name = hint(value).removeprefix("%") if value.hint else f"arg{position}"
        names.append(name if name not in names else f"{name}_{position}")
    return tuple(names)


def arguments(function: Func, recipe: Recipe, roomy: frozenset[Value]) -> tuple[Argument, ...] | None:
    """New arguments for a function by a recipe; None where its contract has none of this size.

    `roomy` are those of `only_sizes`, which get the slack of the recipe.

    Raises NoArgumentsError for a function that the interpreter can be given nothing for.
    """
    random = Random(f"{recipe}")
    numbers = _numbers(function, recipe, roomy, random)
    if numbers is None:
        return None
    given: list[Argument] = []
    own = dict(recipe.given)
    for position, value in enumerate(function.args):
        if not isinstance(value.type, MemRefType):
            given.append(numbers[value])
            continue
        promised = function.shapes[position] if function.shapes else None
        unknown = max(0, recipe.size + recipe.slack)
        is_square = not recipe.mixed or recipe.seed % 2 == 0
        shape = (
            tuple(
                max(0, own.get(f"size{position}_{axis}", unknown if is_square else unknown + axis)) if n is None else n
                for axis, n in enumerate(value.type.shape)
            )
            if promised is None
            else tuple(e.evaluate(numbers) for e in promised)
        )
        if any(n < 0 for n in shape) or math.prod(shape) > MOST_ELEMENTS:
            return None
        limit = max(1, min((n for n in shape if n), default=1), min(max(recipe.size, 1), max(shape, default=1)))
        given.append(_array(value, shape, recipe, limit, random, unsigned=position in function.unsigned))
    return tuple(given)


def _numbers(function: Func, recipe: Recipe, roomy: frozenset[Value], random: Random) -> dict[Value, Any] | None:
    """The scalars, such that all facts that the function assumes hold; None if none were found."""
    asked = sorted({abs(fact.expr.constant) + more for fact in function.assumes for more in (-1, 0, 1)})
    pool = [n for n in (*SIZES, *asked) if 0 <= n <= max(recipe.size, *asked, 3)]
    below_zero = [n for n in SIZES if n < 0]
    lengths = {value for shape in function.shapes for expr in shape or () for value in expr.values()}
    negative = _below_zero(function, recipe.size, lengths | roomy, random)
    for k in range(_TRIES if function.assumes else 1):
        found: dict[Value, Any] = {}
        for position, value in enumerate(function.args):
            if isinstance(value.type, MemRefType):
                continue
            one_size = not recipe.mixed and k == 0
            may_be_negative = value not in lengths and random.random() < 0.25
            number = random.choice(below_zero if may_be_negative else pool)
            if one_size:
                number = recipe.size if recipe.size >= 0 or value in negative else 2 - recipe.size
            if value in roomy:
                number = max(0, recipe.size + recipe.slack)
            if k == 0:
                number = dict(recipe.given).get(f"arg{position}", number)
            unsigned = position in function.unsigned
            found[value] = _scalar(value, number, recipe, random, position, unsigned=unsigned)
        if all(fact.holds(found) for fact in function.assumes):
            return found
    return None


def _below_zero(function: Func, size: int, lengths: Set[Value], random: Random) -> frozenset[Value]:
    """Which arguments get a size below zero: not those that arrays are as long as, where there are others.

    The others stay positive, so that their loops run: where -1 and -6 are given to every second one, -3 and -8 are to
    the rest. The last of SIZES is given to all.
    """
    free = [a for a in function.args if isinstance(a.type, IndexType | IntegerType) and a not in lengths]
    if size == SIZES[-1] or not free:
        return frozenset(function.args)
    in_turn = {-1: free[::2], -3: free[1::2], -6: free[::2], -8: free[1::2]}
    chosen = in_turn.get(size) or [a for a in free if random.random() < 0.5]
    return frozenset(chosen or free)


def _scalar(of: Value, number: int, recipe: Recipe, random: Random, position: int, *, unsigned: bool) -> Any:  # noqa: ANN401
    match of.type:
        case IndexType():
            return number
        case IntegerType(1):
            return random.random() < 0.5
        case IntegerType(width, sign):
            low, high = (0, 2**width - 1) if unsigned or sign == "u" else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)
            choices = (number, number, random.randint(-9, 9), random.randint(low, high))
            return min(max(random.choice(choices), low), high)
        case FloatType() as type:
            return number_of(_floats(1, recipe, random, start=recipe.seed // 3 + 3 * position)[0], type)
        case ComplexType() as type:
            return number_of(complex(*_floats(2, recipe, random, start=recipe.seed // 3 + 3 * position)), type)
    raise NoArgumentsError(f"{hint(of)} has type {of.type}, which the interpreter cannot be given")


def _array(
    value: Value, shape: tuple[int, ...], recipe: Recipe, limit: int, random: Random, *, unsigned: bool
) -> Array:
    type = value.type
    assert isinstance(type, MemRefType)
    element = type.element
    if not isinstance(element, NumberType):
        raise NoArgumentsError(f"{hint(value)} has type {type}, which the interpreter cannot be given")
    unsigned |= isinstance(element, IntegerType) and element.sign == "u"
    array = _placed(shape, type, dtype(element, unsigned=unsigned))
    array[...] = _elements(element, array, recipe, limit, random)
    return array


def _placed(shape: tuple[int, ...], type: MemRefType, of: np.dtype[Any]) -> Array:
    """A new array whose strides are those of its type, where it has some."""
    if not isinstance(type.layout, StridedLayout) or 0 in shape:
        return np.zeros(shape, of)
    packed = row_major(shape)
    strides = [(p if s is None else s) or 0 for s, p in zip(type.layout.strides, packed, strict=True)]
    ends = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
    first = -sum(e for e in ends if e < 0)
    cells = np.zeros(first + sum(e for e in ends if e > 0) + 1, of)
    return np.lib.stride_tricks.as_strided(cells[first:], shape, [s * of.itemsize for s in strides])


def _elements(element: NumberType, array: Array, recipe: Recipe, limit: int, random: Random) -> Array:
    count = array.size
    numbers: Sequence[Any]
    match element:
        case FloatType("bf16"):
            numbers = [to_bits(number_of(x, element), element) for x in _floats(count, recipe, random)]
        case FloatType():
            numbers = _floats(count, recipe, random)
        case ComplexType():
            parts = _floats(2 * count, recipe, random)
            numbers = list(map(complex, parts[::2], parts[1::2]))
        case IndexType():
            numbers = [random.randrange(limit) for _ in range(count)]
        case IntegerType(1):
            numbers = [random.random() < 0.5 for _ in range(count)]
        case _:
            low, high = int(np.iinfo(array.dtype).min), int(np.iinfo(array.dtype).max)
            spans = ((0, limit - 1), (-9, 9), (low, high))
            start, end = spans[recipe.seed % len(spans)]
            numbers = [random.randint(max(start, low), min(end, high)) for _ in range(count)]
    with np.errstate(all="ignore"):
        return np.array(numbers, array.dtype).reshape(array.shape)


def _floats(count: int, recipe: Recipe, random: Random, start: int | None = None) -> list[float]:
    """Some floats; `start` says with which of the special ones a list of these begins."""
    match recipe.elements:
        case "plain":
            return [random.gauss(0.0, 2.0) for _ in range(count)]
        case "whole":
            return [float(random.choice((-3, -2, -1, 1, 2, 3))) for _ in range(count)]
        case "special":
            start = random.randrange(len(SPECIAL)) if start is None else start
            cycle = (SPECIAL[(start + k) % len(SPECIAL)] for k in range(count))
            return [x if k % 3 == 0 else random.gauss(0.0, 2.0) for k, x in enumerate(cycle)]
