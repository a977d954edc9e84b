"""Long loops that sum up, count or look for the best, on threads: what one thread finds, to the bit, for all sizes."""

import numpy as np
import pytest

import affdsl as af
from affdsl.optimize.threads.long_sums import LEAST
from tests.schedule.test_chosen_in_parts import last_of_the_least, place_of_greatest
from tests.schedule.test_parallel import subtracted, updated_in_both_branches

N = af.symbols("N")


@af.kernel
def greatest(x: af.f64[N], out: af.f64[1]):
    with af.for_(N) as i:
        out[0] = af.max(out[0], x[i])


@af.kernel
def least_of_integers(x: af.i32[N], out: af.i32[1]):
    with af.for_(N) as i:
        out[0] = af.min(out[0], x[i])


@af.kernel
def total(x: af.f32[N], out: af.f32[1]):
    with af.for_(N) as i:
        out[0] += x[i]


SIZES = (0, 1, 7, LEAST - 1, LEAST, LEAST + 1000, 4 * LEAST + 77)
GIVEN = {
    subtracted: (np.int64, 1), updated_in_both_branches: (np.int8, 1), greatest: (np.float64, 1),
    least_of_integers: (np.int32, 1), place_of_greatest: (np.float64, 2), last_of_the_least: (np.float64, 2),
}  # fmt: skip


def arguments(kernel, n):
    type, count = GIVEN[kernel]
    random = np.random.default_rng(n)
    x = random.integers(-100, 100, n).astype(type)
    if np.issubdtype(type, np.floating):
        x[random.random(n) < 0.1] = -0.0
        x[random.random(n) < 0.001] = np.nan
    return [x, np.zeros(1, np.int64), np.array([-0.0])] if count == 2 else [x, np.array([-7], type)]


@pytest.mark.parametrize("kernel", GIVEN, ids=lambda kernel: kernel.name)
def test_threads_share_a_long_loop(kernel):
    for threads in (2, 3) if kernel in (subtracted, place_of_greatest) else (2,):
        made = kernel.optimize(threads=threads)
        assert "#pragma omp parallel for" in made.c()
        assert f"for N of {LEAST} and more: its iterations run on threads" in made.explain()
        assert 'vectorize("i_row"' not in str(made.schedule)  # rows of parts lie far apart
        for n in SIZES:
            wanted, found = arguments(kernel, n), arguments(kernel, n)
            kernel(*wanted)
            made(*found)
            assert [a.tobytes() for a in wanted] == [a.tobytes() for a in found], n


def test_sums_of_floats_are_shared_where_they_may_be_rounded_in_another_order():
    assert "#pragma omp" not in total.optimize(threads=2).c()
    made = total.optimize(threads=2, reassociate=True)
    assert "#pragma omp parallel for" in made.c()
    for n in SIZES:
        x, out = (np.arange(n) % 16).astype(np.float32), np.array([3.0], np.float32)
        made(x, out)
        assert out[0] == 3 + x.sum(dtype=np.float64)  # exact in any order


def test_short_loops_and_one_thread_have_no_threads():
    @af.kernel
    def short(x: af.i64[1000], out: af.i64[1]):
        with af.for_(1000) as i:
            out[0] += x[i]

    assert "#pragma omp" not in short.optimize(threads=2).c()
    assert "#pragma omp" not in subtracted.optimize(threads=1).c()


def test_a_loop_of_known_length_is_shared_for_all_calls():
    @af.kernel
    def long(x: af.i64[LEAST * 8], out: af.i64[1]):
        with af.for_(LEAST * 8) as i:
            out[0] += x[i]

    made, x, out = long.optimize(threads=2), np.arange(LEAST * 8), np.zeros(1, np.int64)
    made(x, out)
    assert "#pragma omp parallel for reduction" in made.c()
    assert out[0] == x.sum()


M = af.symbols("M")


@af.kernel
def tally(x: af.i32[N], counts: af.i64[M]):
    with af.for_(N) as i:
        counts[x[i]] += 1


@af.kernel
def weighed(x: af.u8[N], w: af.f64[N], sums: af.f64[2, 256]):
    """Beside each other, under a condition, and a difference."""
    with af.for_(N) as i:
        with af.if_(w[i] > 0.0):
            sums[0, x[i]] += w[i]
        with af.else_():
            sums[1, x[i]] -= w[i]


def test_threads_have_copies_of_a_histogram_while_these_are_short():
    made = tally.optimize(threads=2)
    assert f"for N of {LEAST} and more, N of at least 16 * M" in made.explain()
    assert "copies=2" in str(made.schedule)
    for n, m in ((0, 3), (1, 1), (LEAST - 1, 9), (LEAST, 9), (LEAST + 5, LEAST // 16 + 1), (3 * LEAST + 77, 1000)):
        x = np.random.default_rng(n).integers(0, m, n).astype(np.int32)
        counts = np.arange(m)
        made(x, counts)
        assert (counts == np.arange(m) + np.bincount(x, minlength=m)).all(), (n, m)


def test_sums_of_floats_in_a_histogram_are_in_order_or_in_copies():
    assert "#pragma omp" not in weighed.optimize(threads=2).c()
    made = weighed.optimize(threads=2, reassociate=True)
    assert "#pragma omp parallel for" in made.c()
    for n in (0, 100, 2 * LEAST):
        random = np.random.default_rng(n)
        x, w = random.integers(0, 256, n).astype(np.uint8), random.integers(-9, 10, n).astype(float)
        wanted, found = np.ones((2, 256)), np.ones((2, 256))
        weighed(x, w, wanted)
        made(x, w, found)
        assert (wanted == found).all()  # exact in any order


def test_loops_that_store_and_sum_up_beside_are_left_to_others():
    @af.kernel
    def thirds(x: af.f64[N], y: af.f64[N], out: af.f64[1]):
        with af.for_(N) as i:
            y[i] = x[i] / 3.0
            out[0] += y[i]

    made = thirds.optimize(threads=2, reassociate=True)
    for n in (0, 5, 300_000):
        x, y, out = np.full(n, 1.5), np.zeros(n), np.zeros(1)
        made(x, y, out)
        assert (y == 0.5).all()
        assert out[0] == n / 2
