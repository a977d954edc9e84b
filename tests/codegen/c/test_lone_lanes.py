"""Extremes that one iteration hands to the next stay in vectors, with the same numbers, also where they wrap."""

import random
from functools import reduce

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.interpreter import run
from tests.effort import some

N = af.symbols("N")
LANES = "i32x4"
EDGES = (-(2**31), 2**31 - 1, -1, 0, 1)


@af.kernel
def shortest(x: af.i32[N], out: af.i32[N]):
    best = af.var(af.i32(7))
    with af.for_(N) as i:
        best.set(af.min(x[i], best) + 1)
        out[i] = best


@af.kernel
def largest(x: af.i32[N], out: af.i32[N]):
    best = af.var(af.i32(7))
    with af.for_(N) as i:
        best.set(af.max(best, x[i]))
    with af.for_(N) as i:
        out[i] = best


@af.kernel
def decides(x: af.i32[N], out: af.i32[N]):
    best = af.var(af.i32(7))
    with af.for_(N) as i:
        best.set(af.min(x[i], best) + 1)
        with af.if_(best > 3):
            out[i] = best


@af.kernel
def counted(x: af.i32[N], out: af.i32[N]):
    total = af.var(af.i32(7))
    with af.for_(N) as i:
        total.set(total + af.max(x[i], 0))
        out[i] = total


@af.kernel
def in_branches(x: af.i32[N], y: af.i32[N], out: af.i32[N]):
    best = af.var(af.i32(7))
    with af.for_(N) as i:
        with af.if_(x[i] == y[i]):
            best.set(y[i])
        with af.else_():
            best.set(af.min(x[i], best) + af.select(x[i] < y[i], af.i32(3), -3))
        out[i] = best


CASES = [(shortest, True), (largest, False), (decides, False), (counted, False)]


def in_values(kernel: af.Kernel) -> af.Kernel:
    """What the first loop hands on is carried in values."""
    return af.Schedule(kernel).scalar_replace(next(iter(af.Schedule(kernel).loops())).names[0]).kernel()


def agree(kernel: af.Kernel, arrays: int = 1) -> None:
    """C leaves what the interpreter leaves."""
    numbers = np.random.default_rng(len(kernel.c()))
    for n in (0, 1, 2, 9, 40):
        x = [np.where(numbers.random(n) < 0.2, numbers.choice(EDGES, n), numbers.integers(-9, 9, n)).astype("i4")
             for _ in range(arrays)]  # fmt: skip
        found, wanted = np.zeros(n, "i4"), np.zeros(n, "i4")
        kernel(*x, found)
        run(kernel.func, n, *x, wanted)
        assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize(
    ("kernel", "is_taken"), [(shortest, True), (largest, False), (decides, False), (counted, False)]
)
def test_what_waits_for_an_extreme_is_in_a_vector(kernel, is_taken):
    made = in_values(kernel)
    assert (LANES in made.c()) == is_taken
    agree(made)


def test_a_branch_may_make_it_and_no_choice_beside_it_becomes_one():
    made = in_values(in_branches)
    assert LANES in made.c()
    assert "chosen_i32(x[i] < y[i], 3, -3)" in made.c()
    agree(made, 2)


def test_what_is_late_is_the_last_operand():
    @af.kernel
    def rows(x: af.i32[N], y: af.i32[N], out: af.i32[N]):
        late = af.var(af.i32(0))
        with af.for_(N) as i:
            late.set(af.max(af.max(late, x[i]), y[i]) - 1)
            out[i] = late

    made = in_values(rows)
    first, second = [
        line.split("maxs_i32x4(")[1] for line in made.c().split("void rows")[1].splitlines() if "maxs_" in line
    ]
    assert "late" not in first
    assert "&late)" in second
    agree(made, 2)


@pytest.mark.parametrize("seed", some(range(40), 4))
def test_random_recurrences(seed):
    choose = random.Random(seed)
    starts = [choose.choice(EDGES) for _ in range(choose.randint(1, 3))]
    is_extreme = [choose.random() < 0.7 for _ in starts]
    is_plain = choose.random() < 0.5
    branched = choose.randrange(6)

    def expression(operands, depth):
        if not depth:
            return choose.choice(operands)()
        left, right = (expression(operands, depth - 1) for _ in range(2))
        kinds = [af.min, af.max, lambda a, b: a + b, lambda a, b: a - b - 5]
        return choose.choice([*kinds, lambda a, b: a + af.select(b > 0, af.i32(7), -2)])(left, right)

    @af.kernel
    def recurrence(x: af.i32[N], y: af.i32[N], out: af.i32[N]):
        held = [af.var(af.i32(start)) for start in starts]
        with af.for_(N) as i:
            operands = [
                lambda: x[i],
                lambda: y[i],
                lambda: x[i] + (2**31 - 1),
                *(lambda v=v: v + 0 for v in held),
            ]
            for k, (variable, has_extreme) in enumerate(zip(held, is_extreme, strict=True)):
                if k == branched:
                    with af.if_(x[i] == y[i]):
                        variable.set(expression(operands, 1))
                    with af.else_():
                        variable.set(af.max(expression(operands, 1), variable))
                variable.set(af.min(expression(operands, 2), variable) if has_extreme else x[i] + 1)
            if is_plain:
                out[i] = reduce(af.max, held)
            else:
                with af.if_(x[i] > y[i]):
                    out[i] = held[0]
                out[i] += held[-1]

    agree(recurrence, 2)
    agree(in_values(recurrence), 2)


def test_the_loop_is_found_in_profiles():
    kernel = in_values(shortest)
    (nest,) = kernel.profile(np.arange(2000, dtype="i4"), np.zeros(2000, "i4")).nests
    assert nest.runs == 1
