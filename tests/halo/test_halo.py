"""`kernel.halo`: kernels run part by part with it do what they do on the whole, and with less around they do not."""

from __future__ import annotations

import re
from random import Random

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.errors import SizeError
from tests.effort import TRIES_ALL
from tests.halo.parts import arguments, in_parts, whole

M, N, K = af.symbols("M N K")

HALOS: list[tuple[af.Kernel, str, str, tuple[tuple[int, int], ...]]] = []


def halo(array: str, of: str, *wanted: tuple[int, int]):
    """Says what the halo of a kernel is."""

    def made(function):
        kernel = af.kernel(function)
        HALOS.append((kernel, array, of, wanted))
        return kernel

    return made


@halo("A", "B", (1, 1), (1, 1))
def heat(A: af.f64[M, N], B: af.f64[M, N], k: af.f64):
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        B[i, j] = A[i, j] + k * (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1])


@halo("A", "B", (3, 0), (0, 2))
def one_sided(A: af.f64[M, N], B: af.f64[M, N]):
    with af.for_(3, M) as i, af.for_(N - 2) as j:
        B[i, j] = A[i - 3, j] + A[i, j + 2]


@halo("A", "B", (3, 2))
def wider_edges(A: af.f64[N], B: af.f64[N]):
    """It leaves out more than it reads: that differs between the whole and a part."""
    with af.for_(3, N - 2) as i:
        B[i] = A[i - 1]


@halo("A", "B", (2, 2))
def by_way_of_an_array(A: af.f64[N], B: af.f64[N]):
    T = af.alloc(af.f64[N])
    with af.for_(N) as i:
        T[i] = 0.0
    with af.for_(1, N - 1) as i:
        T[i] = A[i - 1] + A[i + 1]
    with af.for_(1, N - 1) as i:
        B[i] = T[i - 1] * T[i + 1]


@halo("A", "B", (1, 1), (1, 1))
def by_way_of_a_row(A: af.f64[M, N], B: af.f64[M, N]):
    t = af.alloc(af.f64[N])
    with af.for_(1, M - 1) as i:
        with af.for_(N) as j:
            t[j] = A[i - 1, j] + A[i + 1, j]
        with af.for_(1, N - 1) as j:
            B[i, j] = t[j - 1] + t[j + 1]


@halo("A", "B", (4, 4))
def four_steps(A: af.f64[N], B: af.f64[N]):
    with af.for_(4):
        with af.for_(1, N - 1) as i:
            B[i] = A[i - 1] + A[i + 1]
        with af.for_(1, N - 1) as i:
            A[i] = B[i]


@halo("A", "A", (4, 4), (4, 4))
def two_steps_of_two(A: af.f64[M, N], B: af.f64[M, N]):
    with af.for_(2):
        for old, new in ((A, B), (B, A)):
            with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
                new[i, j] = old[i - 1, j] + old[i + 1, j] + old[i, j - 1] - old[i, j + 1]


@halo("A", "B", (0, 4))
def longer_input(A: af.f64[N + 4], B: af.f64[N], w: af.f64[5]):
    with af.for_(N) as i, af.for_(5) as q:
        B[i] += A[i + q] * w[q]


@halo("A", "B", (0, 2))
def carried(A: af.f64[N + 2], B: af.f64[N]):
    with af.for_(N) as i:
        with af.for_(3, iter_args=af.f64(0)) as (q, s):
            af.yield_(s + A[i + q])
        B[i] = s


@halo("A", "B", (2, 2), (2, 2))
def in_a_variable(A: af.f64[M, N], B: af.f64[M, N]):
    with af.for_(2, M - 2) as i, af.for_(2, N - 2) as j:
        s = af.var(af.f64(0))
        with af.for_(-2, 3) as y, af.for_(-2, 2) as x:
            s += A[i + y, j + x]
        B[i, j] = s


@halo("A", "B", (1, 2))
def clamped(A: af.f64[N], B: af.f64[N]):
    with af.for_(N) as i:
        B[i] = A[af.max(i - 1, 0)] + A[af.min(i + 2, N - 1)]


@halo("A", "B", (1, 1))
def decided_by_data(A: af.f64[N], B: af.f64[N]):
    with af.for_(1, N - 1) as i:
        with af.if_(A[i - 1] > 0):
            B[i] = A[i]
        with af.else_():
            B[i] = A[i + 1]


@halo("A", "B", (1, 0))
def until_it_is_done(A: af.f64[N], B: af.f64[N]):
    with af.for_(1, N) as i:
        with af.while_(lambda x: x * x > af.abs(A[i - 1]) + 0.1, iter_args=A[i]) as x:
            af.yield_(x / 2)
        B[i] = x


@halo("A", "B", (5, 1))
def another_start(A: af.f64[N], B: af.f64[N]):
    with af.for_(N - 1) as i:
        with af.if_(i < 5):
            B[i] = A[i + 1]
        with af.else_():
            B[i] = 2 * A[i + 1]


@halo("A", "B", (1, 0))
def copied(A: af.f64[N], B: af.f64[N]):
    T = af.alloc(af.f64[N])
    af.copy(A, T)
    with af.for_(1, N) as i:
        B[i] = T[i - 1]


@halo("A", "A", (0, 0), (0, 0))
def in_place(A: af.f64[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        A[i, j] = af.sqrt(af.abs(A[i, j]))


@halo("A", "A", (0, 0), (1, 0))
def rows_alone(A: af.f64[M, N], B: af.f64[M, N]):
    with af.parallel(M) as i:
        with af.for_(1, N) as j:
            A[i, j] = B[i, j] - A[i, j]


@halo("A", "B", (1, 1), (1, 1), (1, 1))
def in_three_dimensions(A: af.f64[M, N, K], B: af.f64[M, N, K]):
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j, af.for_(1, K - 1) as k:
        B[i, j, k] = A[i - 1, j, k] + A[i + 1, j, k] + A[i, j - 1, k] + A[i, j + 1, k] + A[i, j, k - 1] + A[i, j, k + 1]


@af.kernel
def shift(x: af.f64[K], y: af.f64[K]):
    with af.for_(2, K) as i:
        y[i] = x[i - 2]


@halo("A", "B", (4, 0))
def by_kernels_that_it_calls(A: af.f64[N], B: af.f64[N]):
    T = af.alloc(af.f64[N])
    af.copy(A, T)
    shift(A, T)
    shift(T, B)


@pytest.mark.parametrize(("kernel", "array", "of", "wanted"), HALOS, ids=[kernel.name for kernel, *_ in HALOS])
def test_it_is_enough_and_not_too_much(kernel, array, of, wanted):
    assert kernel.halo(array, of=of) == wanted
    size = 11 if len(wanted) < 3 else 5
    given = arguments(kernel, size, 1)
    expected = whole(kernel, given, of)
    cuts = [[size // 2] for _ in wanted] if len(wanted) == 3 else [[2, 6, 7] for _ in wanted]
    assert (in_parts(kernel, given, of, wanted, cuts) == expected).all()
    for axis, side in np.ndindex(len(wanted), 2):
        if wanted[axis][side]:
            less = [list(each) for each in wanted]
            less[axis][side] -= 1
            try:
                assert (in_parts(kernel, given, of, less, cuts) != expected).any(), (axis, side)
            except SizeError:  # of an input that is longer than the output
                assert given[0].shape != expected.shape


@pytest.mark.parametrize("seed", range(40 if TRIES_ALL else 3))
def test_random_stencils_in_several_stages(seed):
    """What is read is known from how the kernel is drawn; the edges are as wide as all that is read."""
    random, stages = Random(seed), Random(seed).randint(1, 3)
    offsets = [[(random.randint(-2, 2), random.randint(-1, 2)) for _ in range(3)] for _ in range(stages)]

    @af.kernel
    def stencil(A: af.f64[M, N], B: af.f64[M, N]):
        arrays = [A, *(af.alloc(af.f64[M, N]) for _ in range(stages - 1)), B]
        for made in arrays[1:-1]:
            with af.for_(M) as i, af.for_(N) as j:
                made[i, j] = 0.0
        for old, new, of in zip(arrays, arrays[1:], offsets, strict=False):
            with af.for_(2, M - 2) as i, af.for_(1, N - 2) as j:
                new[i, j] = sum(old[i + y, j + x] for y, x in of[1:]) + 2 * old[i + of[0][0], j + of[0][1]]

    found = stencil.halo("A")
    given = arguments(stencil, 13, seed)
    expected = whole(stencil, given, "B")
    cuts = [[3, 8], [6]]
    assert (in_parts(stencil, given, "B", found, cuts) == expected).all()
    reach = [[sum(f(0, *(s * o[axis] for o in of)) for of in offsets) for s, f in ((-1, max), (1, max))]
             for axis in (0, 1)]  # fmt: skip
    for of_axis, most, edges in zip(found, reach, ((2, 2), (1, 2)), strict=True):
        for side, (number, limit, edge) in enumerate(zip(of_axis, most, edges, strict=True)):
            assert edge <= number <= max(limit, 0) + edge, (found, reach, side)


def test_of_several_arrays_it_is_what_each_needs_and_of_an_output_what_is_said():
    @af.kernel
    def both(A: af.f64[N], c: af.f64[N], B: af.f64[N], C: af.f64[N]):
        made = af.alloc(af.f64[N])
        with af.for_(2, N - 3) as i:
            B[i] = A[i - 1] * c[i + 3]
            C[i] = A[i + 1]
            made[i] = A[i - 2]
        return made

    assert both.halo("A", of="B") == ((2, 3),)
    assert both.halo("A", "c", of="B") == ((2, 3),)
    assert both.halo("A", of="made") == ((2, 3),)
    assert both.halo("c", of="C") == ((2, 3),)
    for names, of, message in (
        (("A",), None, "both writes made and B and C\n    say which, as in of=\"made\""),
        (("A",), "c", "both writes no array 'c'\n    it writes made, B, C"),
        (("A", "a"), "B", "both has no array 'a'\n    its arrays are A, c, B, C"),
        (("c", "mad"), "B", "both has no array 'mad'\n"),
        ((), "B", "halo takes an array\n    its arrays are A, c, B, C"),
        (("A",), "mad", "both writes no array 'mad'; did you mean 'made'?\n"),
    ):  # fmt: skip
        with pytest.raises(af.ProgramError) as caught:
            both.halo(*names, of=of)
        assert message in str(caught.value)


def test_what_steps_and_passes_made_has_the_halo_of_what_was_written():
    wanted = ((1, 1), (1, 1))
    assert heat.halo("A") == heat.optimize("avx2").halo("A") == heat.specialize(N=50).halo("A") == wanted
    assert heat.apply("affine-loop-tile").halo("A") == wanted
    assert by_way_of_an_array.fuse().halo("A") == ((2, 2),)
    steps = next(kernel for kernel, _ in REFUSED if kernel.name == "any_number_of_steps")
    assert steps.specialize(steps=3).halo("A", of="A") == ((3, 3),)


REFUSED: list[tuple[af.Kernel, str]] = []


def refused(message: str):
    """Says why a kernel has no halo of A; L is the line of its def."""

    def made(function):
        REFUSED.append((af.kernel(function), message))
        return function

    return made


@refused("the load A[i, j] at line L+2 has no limit to how far away it reads: B[0, 9] is made of A[9, 0] (for N = 10)")
def transposed(A: af.f64[N, N], B: af.f64[N, N]):
    with af.for_(N) as i, af.for_(N) as j:
        B[j, i] = A[i, j]


@refused("the load A[...] at line L+2 is of an element that data decides, so it may be any")
def gathered(A: af.f64[N], B: af.f64[N], at: af.i32[N]):
    with af.for_(N) as i:
        B[i] = A[at[i]]


@refused("the store B[...] at line L+2 is of an element that data decides, so it may be any")
def scattered(A: af.f64[N], B: af.f64[N], at: af.i32[N]):
    with af.for_(N) as i:
        B[at[i]] += A[i]


@refused("the store B[i, j] at line L+2 depends on where its element lies or on the sizes, also far from the edges")
def triangular(A: af.f64[N, N], B: af.f64[N, N]):
    with af.for_(N) as i, af.for_(i) as j:
        B[i, j] = A[i, j]


@refused("the store B[i] at line L+2 depends on where its element lies or on the sizes, also far from the edges")
def every_other(A: af.f64[N], B: af.f64[N]):
    with af.for_(0, N, 2) as i:
        B[i] = A[i]


@refused("the store B[i] at line L+3 depends on where its element lies or on the sizes, also far from the edges")
def for_large_arrays(A: af.f64[N], B: af.f64[N]):
    with af.for_(N) as i:
        with af.if_(N > 100):
            B[i] = A[i]


@refused("the store B[i] at line L+2 is computed from the number i, which is another one in a part of the array")
def weighted_by_place(A: af.f64[N], B: af.f64[N]):
    with af.for_(N) as i:
        B[i] = A[i] * af.f64(i)


@refused("the store B[i] at line L+2 is computed from the size N, which is another one in a part of the array")
def divided_by_the_size(A: af.f64[N], B: af.f64[N]):
    with af.for_(N) as i:
        B[i] = A[i] / af.f64(N)


@refused("has no limit to how far away it reads: A[")
def in_place_sweep(A: af.f64[N], B: af.f64[N]):
    with af.for_(1, N - 1) as i:
        A[i] = A[i - 1] + A[i + 1]
    with af.for_(N) as i:
        B[i] = 0.0


@refused("has no limit to how far away it reads: A[1] is made of A[10] (for N = 11, steps = 9)")
def any_number_of_steps(A: af.f64[N], B: af.f64[N], steps: af.index):
    with af.for_(steps):
        with af.for_(1, N - 1) as i:
            B[i] = A[i - 1] + A[i + 1]
        with af.for_(1, N - 1) as i:
            A[i] = B[i]


@refused("the load A[i, k] at line L+2 has no limit to how far away it reads: B[0, 0] is made of A[0, 9]")
def product_of_rows(A: af.f64[N, N], B: af.f64[N, N]):
    with af.for_(N) as i, af.for_(N) as j, af.for_(N) as k:
        B[i, j] += A[i, k]


@refused("A has 2 dimensions, and B has 1")
def sums_of_rows(A: af.f64[M, N], B: af.f64[M]):
    with af.for_(M) as i, af.for_(N) as j:
        B[i] += A[i, j]


@refused("subscripts of A are linearized by hand: write one for each dimension")
def by_hand(A: af.f64[M * N], B: af.f64[M * N], m: M, n: N):
    with af.for_(M) as i, af.for_(N) as j:
        B[i * N + j] = A[i * N + j]


@refused("the vector store B[i] at line L+2 writes in a way that is not followed")
def on_vectors(A: af.f64[N], B: af.f64[N]):
    with af.for_(0, N - 3, 4) as i:
        af.vector_store(af.vector_load(A, i, 4), B, i)


@pytest.mark.parametrize(("kernel", "message"), REFUSED, ids=[kernel.name for kernel, _ in REFUSED])
def test_what_has_none_is_refused_with_the_reason_and_the_line(kernel, message):
    of = "A" if kernel.name in ("in_place_sweep", "any_number_of_steps") else "B"
    first = kernel._function.__code__.co_firstlineno + 1
    with pytest.raises(af.ProgramError) as caught:
        kernel.halo("A", of=of)
    text = str(caught.value)
    assert f": {kernel.name} has no halo of A around {of}\n" in text
    assert re.sub(r"line L\+(\d)", lambda m: f"line {first + int(m[1])}", message) in text
    assert text.endswith("\n    give each part the whole array, or run the kernel on the whole")
    if "line L" in message:
        line = first + int(re.search(r"L\+(\d)", message)[1])
        assert re.match(rf"\S*test_halo.py:{line}: ", text)
