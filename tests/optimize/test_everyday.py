"""The loops of `benchmarks.everyday` do, optimized, what they do in Python; and which recipes they have shown."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.targets.avx2 import AVX2
from affdsl.ir.dialects import affine, arith
from affdsl.ir.traverse import walk
from affdsl.ir.types import VectorType
from affdsl.optimize.nests import nests
from affdsl.optimize.options import Options
from affdsl.optimize.registers import unrolling
from affdsl.optimize.repeated import share_done_again
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import outer_loops
from affdsl.schedule.schedule import Schedule
from benchmarks.everyday import LOOPS
from tests.effort import TRIES_ALL

K, M, N = af.symbols("K M N")
ALL = dict.fromkeys(("contract", "reassociate", "reciprocal", "approximate"), True)
FEW = ("fir filter", "standardized columns", "tridiagonal systems", "julia set")
SIZE = 41


def loop_of(name):
    """The loop of the benchmark of that name."""
    return next(each for each in LOOPS if each.name == name)


@pytest.mark.parametrize("name", [each.name for each in LOOPS] if TRIES_ALL else FEW)
def test_it_does_what_python_does(name):
    """Unless all is tried, loops take turns at what may be rounded in another way: nothing, or all that there is."""
    loop = loop_of(name)
    given = loop.arguments(np.random.default_rng(0), SIZE)
    results = []
    allowed = [{}, ALL] if TRIES_ALL else [ALL if FEW.index(name) % 2 else {}]
    with np.errstate(all="ignore"):
        for call in (loop.function, *(loop.kernel.optimize(threads=1, **each) for each in allowed)):
            results.append([np.copy(a) if isinstance(a, np.ndarray) else a for a in given])
            call(*results[-1])
    for found in results[1:]:
        for a, b in zip(found, results[0], strict=True):
            far = 1e-5 if np.asarray(b).dtype == np.float32 else 1e-9
            np.testing.assert_allclose(a, b, rtol=far, atol=far * float(np.max(np.abs(b), initial=0)), err_msg=name)


@af.kernel
def means(x: af.f64[M, N], mean: af.f64[N]):
    with af.for_(N) as j:
        total = af.var(af.f64(0))
        with af.for_(M) as i:
            total += x[i, j]
        mean[j] = total / af.f64(M)


@af.kernel
def forgetting(x: af.f64[M, N], y: af.f64[M, N]):
    with af.for_(M) as i, af.for_(1, N) as j:
        y[i, j] = x[i, j] - 0.25 * y[i, j - 1]


def same_to_the_bit(kernel: af.Kernel, fast: af.Kernel, arguments) -> None:
    """Both kernels leave the same in their arguments."""
    results = [[np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2)]
    kernel.interpret(*results[0])
    fast(*results[1])
    for a, b in zip(*results, strict=True):
        assert a.tobytes() == b.tobytes()


def test_a_loop_around_sums_runs_on_vectors_where_it_runs_along_rows():
    fast = means.optimize("avx2", threads=1)
    assert "j runs on vectors of 4, each lane with the loops inside of it; 4 vectors at once" in fast.explain()
    assert str(fast.module).count("alloca") == 1, "of the loops as written, for small sizes"
    for m, n in ((0, 3), (1, 1), (5, 3), (4, 16), (3, 37)):
        same_to_the_bit(means, fast, (np.random.default_rng(1).normal(size=(m, n)), np.zeros(n)))


def test_recurrences_along_rows_run_several_rows_at_once():
    fast = forgetting.optimize("avx2", threads=1)
    assert "8 iterations of i run at once, a recurrence each" in fast.explain()
    for m, n in ((0, 3), (3, 0), (1, 1), (8, 2), (19, 7)):
        same_to_the_bit(forgetting, fast, np.random.default_rng(1).normal(size=(2, m, n)))


def test_a_loop_without_a_name_over_time_is_tiled_too():
    @af.kernel
    def smoothed(A: af.f64[N, N], B: af.f64[N, N], steps: af.index):
        with af.for_(steps):
            with af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:
                B[i, j] = 0.25 * (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1])
            with af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:
                A[i, j] = B[i, j]

    assert "its sweeps run as one, in tiles of time steps and rows" in smoothed.optimize("avx2", threads=1).explain()


def test_exponentials_are_approximated_where_that_is_allowed():
    @af.kernel
    def decay(x: af.f64[N], y: af.f64[N]):
        with af.for_(N) as i:
            y[i] = af.exp(-x[i])

    strict, free = decay.optimize("avx2", threads=1), decay.optimize("avx2", threads=1, approximate=True)
    assert "math.exp" in strict.mlir()
    assert "math.exp" not in free.mlir()
    assert 'approximate("i' in str(free.schedule)
    x, y = np.linspace(0, 50, 101), np.zeros(101)
    free(x, y)
    np.testing.assert_array_max_ulp(y, np.exp(-x), 3)


def test_variables_of_a_loop_that_stays_are_in_registers():
    @af.kernel
    def highest(x: af.f32[N], y: af.f32[N]):
        top = af.var(af.f32(0))
        with af.for_(N) as i:
            top.set(af.max(top, x[i]))
            y[i] = top

    fast = highest.optimize("avx2", threads=1)
    assert "one iteration after the other, variables in registers" in fast.explain()
    for n in (0, 1, 9):
        same_to_the_bit(highest, fast, (np.random.default_rng(n).normal(size=n).astype("f4"), np.zeros(n, "f4")))


@af.kernel
def nearest(x: af.f64[N, 2], centers: af.f64[K, 2], label: af.i64[N], sums: af.f64[K], count: af.i64[K]):
    af.assume(K >= 1)
    with af.for_(N) as i:
        found = af.var(af.i64(0))
        least = af.var(af.f64(np.inf))
        with af.for_(K) as k:
            total = af.var(af.f64(0))
            with af.for_(2) as d:
                total += (x[i, d] - centers[k, d]) * (x[i, d] - centers[k, d])
            with af.if_(total < least):
                least.set(total)
                found.set(af.i64(k))
        label[i] = found
        count[found] += 1
        sums[found] += x[i, 0]


def test_a_search_runs_on_vectors_and_what_it_finds_is_updated_behind_it():
    fast = nearest.optimize("avx2", threads=1)
    assert "in strips of 512 iterations, for each of which i runs on vectors of 4, and then the rest" in fast.explain()
    rng = np.random.default_rng(3)
    for n, k in ((0, 1), (1, 1), (7, 2), (515, 3)):
        points = rng.integers(0, 5, (n, 2)).astype("f8")  # many are equally near: the first is found
        arrays = (points, rng.integers(0, 5, (k, 2)).astype("f8"), np.zeros(n, "i8"), np.zeros(k), np.zeros(k, "i8"))
        same_to_the_bit(nearest, fast, arrays)


@af.kernel
def middle(x: af.u8[M, N], out: af.u8[M, N]):
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        rows = [af.max(x[i + p, j], x[i + p, j + 1]) for p in (-1, 0, 1)]
        out[i, j] = af.min(af.min(rows[0], rows[1]), rows[2])


def test_rows_run_at_once_where_each_does_again_what_another_one_has_done():
    nest = nests(af.Schedule(middle))[0]
    assert share_done_again(nest, nest.band[0]) == 2 / 5
    fast = middle.optimize("avx2", threads=1)
    assert "4 iterations of i run at once" in fast.explain()
    for m, n in ((2, 2), (3, 3), (9, 40)):
        x = np.random.default_rng(m).integers(0, 256, (m, n)).astype("u1")
        same_to_the_bit(middle, fast, (x, np.zeros((m, n), "u1")))


@af.kernel
def bases(text: af.u8[N], counts: af.i64[2]):
    g, c = af.var(af.i64(0)), af.var(af.i64(0))
    with af.for_(N) as i:
        with af.if_(text[i] == 71):
            g += 1
        with af.elif_(text[i] == 67):
            c += 1
    counts[0] = g
    counts[1] = c


def test_integers_are_counted_in_lanes_whatever_is_allowed():
    fast = bases.optimize("avx512", threads=1)
    assert "i sums up in 64 lanes" in fast.explain()
    assert "count_i8x64" in fast.c()
    main = fast.mlir().split("affine.for")[2]  # behind what comes before the first line
    assert main.count("vector_load") == 1  # not once more, with a mask, under the second condition
    fast = bases.optimize("avx2", threads=1)
    for n in (0, 1, 16, 77):
        text = np.random.default_rng(n).choice(np.array([65, 67, 71, 84], "u1"), n)
        same_to_the_bit(bases, fast, (text, np.zeros(2, "i8")))


def test_what_chooses_elements_to_update_runs_on_vectors_before_the_updates():
    words = loop_of("words of six")
    fast = words.kernel.optimize("avx512", threads=1)
    assert "in strips of 512 iterations, for each of which i runs on vectors of 16, and then the rest" in fast.explain()
    given = words.arguments(np.random.default_rng(0), 99)
    same_to_the_bit(words.kernel, words.kernel.optimize("avx2", threads=1), given)


@af.kernel
def weights_below(x: af.f64[N], edge: af.f64[K], weight: af.f64[K]):
    with af.for_(N) as i, af.for_(K) as k, af.if_(x[i] < edge[k]):
        weight[k] += x[i]


def test_rows_that_data_goes_through_in_its_own_way_do_not_run_at_once():
    loop = loop_of("edit distances")
    fast = loop.kernel.optimize("avx512", threads=1)
    said = "data decides which way an iteration goes, which is foreseen wrongly more often for several"
    assert said in fast.explain()
    same_to_the_bit(loop.kernel, fast, loop.arguments(np.random.default_rng(0), SIZE))


def test_sums_of_floats_under_conditions_do_not_wait_for_lanes_of_the_iteration_before():
    fast = weights_below.optimize("avx512", threads=1)
    said = "conditions decide which elements an iteration of i updates, and the next one waits for these"
    assert said in fast.explain()
    given = (np.random.default_rng(0).normal(size=SIZE), np.linspace(-2, 2, 20), np.zeros(20))
    same_to_the_bit(weights_below, fast, given)


def test_numbers_are_counted_for_several_conditions_at_once_each_in_lanes():
    below = loop_of("numbers below").kernel
    fast = below.optimize("avx512", threads=1)
    assert "i runs innermost; 8 iterations of k run at once, and each sums up in 8 lanes" in fast.explain()
    for n, k in ((0, 40), (40, 0), (7, 30), (33, 9), (65, 16)):
        x = np.random.default_rng(n).normal(size=n)
        same_to_the_bit(below, fast, (x, np.linspace(-2, 2, k), np.arange(k)))


def test_what_is_looked_up_by_floats_runs_on_vectors_since_these_become_integers_at_once():
    loop = loop_of("tone curve")
    fast = loop.kernel.optimize("avx512", threads=1)
    assert "i runs on vectors of 32" in fast.explain()
    same_to_the_bit(loop.kernel, fast, loop.arguments(np.random.default_rng(0), 77))


def test_straight_code_of_short_loops_stays_where_nothing_else_comes_of_it():
    assert (
        "inside of it as straight code" in loop_of("solve many of four").kernel.optimize("avx512", threads=1).explain()
    )


@af.kernel
def tally(x: af.u8[N], counts: af.i32[256]):
    with af.for_(N) as i:
        counts[x[i]] += 1


def test_updates_that_data_chooses_are_straight_code_and_not_lanes():
    fast = tally.optimize("avx2", threads=1)
    (note,) = fast.explain().notes
    assert note.done == "one iteration after the other, 4 of them as straight code"
    assert note.why == ("data decides which elements it updates: one lane would wait for the other",)
    for n in (0, 1, 4, 31):
        x = np.random.default_rng(n).integers(0, 3, n).astype("u1")
        same_to_the_bit(tally, fast, (x, np.zeros(256, "i4")))


def test_two_rows_run_at_once_where_each_is_added_to_the_one_before_it():
    integral = loop_of("integral of a picture").kernel
    fast = integral.optimize("avx2", threads=1)
    assert "2 iterations of i at once, and 2 of j as straight code" in fast.explain()
    for m, n in ((0, 40), (40, 0), (1, 33), (33, 7), (30, 4)):
        image = np.random.default_rng(m).integers(0, 256, (m, n)).astype("u1")
        same_to_the_bit(integral, fast, (image, np.random.default_rng(n).integers(0, 9, (m + 1, n + 1))))


def test_two_rows_do_not_take_turns_where_the_second_cache_is_large():
    nest = next(iter(nests(Schedule(loop_of("integral of a picture").kernel))))
    for second, fits in ((1 << 20, True), (2 << 20, False)):
        options = Options(replace(AVX2, caches=(48 << 10, second, 32 << 20)))
        with nullcontext() if fits else pytest.raises(UnfitError):
            unrolling.take_rows(Schedule(loop_of("integral of a picture").kernel), nest, options)


def test_what_both_branches_store_is_one_store_beside_a_count():
    bright = loop_of("threshold and count").kernel
    fast = bright.optimize("avx512", threads=1)
    assert "j sums up and runs on vectors of 16" in fast.explain()
    assert fast.mlir().count("vector.maskedstore") == 1  # that of the tail
    for m, n in ((0, 5), (3, 40), (33, 16)):
        image = np.random.default_rng(n).random((m, n)).astype("f4")
        same_to_the_bit(bright, fast, (image, np.float32(0.5), np.zeros((m, n), "u1"), np.array([7])))


@af.kernel
def shares(x: af.f64[M, N]):
    with af.for_(M) as i:
        total = af.var(af.f64(0))
        with af.for_(N) as j:
            total += x[i, j]
        with af.for_(N) as j:
            x[i, j] /= total


def constants(kernel: af.Kernel) -> set:
    return {op.result for op in walk(kernel.func) if isinstance(op, arith.Constant)}


def test_what_a_row_is_divided_by_is_divided_by_once():
    strict, free = shares.optimize("avx512", threads=1), shares.optimize("avx512", threads=1, reciprocal=True)
    for fast, divides in ((strict, True), (free, False)):
        loops = [op for op in walk(fast.func) if isinstance(op, affine.For)]
        divided = [op for loop in loops for op in loop.body if isinstance(op, arith.Binary) and op.kind == "divf"]
        on_rows = [op for op in divided if isinstance(op.left.type, VectorType) and op.left not in constants(fast)]
        assert bool(on_rows) == divides
    for m, n in ((0, 9), (5, 0), (3, 41)):
        given = np.random.default_rng(n).random((m, n)) + 1
        wanted, found = given.copy(), given.copy()
        shares(wanted)
        free(found)
        np.testing.assert_allclose(found, wanted, rtol=4e-16)


@pytest.mark.parametrize("name", ["running mean", "prefix sum"])
def test_sums_that_are_seen_on_their_way_run_on_vectors_where_their_order_is_free(name):
    loop = loop_of(name)
    strict = loop.kernel.optimize("avx512", threads=1)
    free = loop.kernel.optimize("avx512", threads=1, reassociate=True, reciprocal=True)
    assert "vector.shuffle" not in strict.mlir()
    assert "vector.shuffle" in free.mlir()
    for n in (0, 1, 8, 333):
        given = loop.arguments(np.random.default_rng(n), n)
        wanted, found = ([np.copy(a) if isinstance(a, np.ndarray) else a for a in given] for _ in "wf")
        loop.kernel(*wanted)
        free(*found)
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * (1 + n))


@af.kernel
def halves(x: af.f64[N], y: af.f64[N]):
    with af.for_(1, N) as i:
        y[i] = 0.5 * y[i - 1] + x[i]


def test_sums_of_floats_are_no_straight_code_since_they_wait_all_the_same():
    assert "straight code" not in halves.optimize("avx2", threads=1).explain()


@af.kernel
def mapped(x: af.u8[M, N, 3], table: af.u8[256], out: af.u8[M, N, 3]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(3) as c:
        out[i, j, c] = table[x[i, j, c]]


def test_bytes_are_indices_without_a_sign_in_lanes_too():
    fast = mapped.optimize("avx512", threads=1)
    rng = np.random.default_rng(0)
    x, table = rng.integers(0, 256, (3, 70, 3)).astype("u1"), rng.integers(0, 256, 256).astype("u1")
    wide = af.Schedule(mapped).vectorize("c", 16, tail="masked").kernel()
    for kernel in (fast, wide):
        same_to_the_bit(mapped, kernel, (x, table, np.zeros((3, 70, 3), "u1")))


@pytest.mark.parametrize("threads", [1, 2])
def test_small_elements_are_looked_up_in_straight_code_and_not_in_lanes(threads):
    rng = np.random.default_rng(threads)
    table = rng.integers(0, 256, 256).astype("u1")
    for target in ("avx2", "avx512", "neon"):
        fast = mapped.optimize(target, threads=threads)
        assert "4 of them as straight code" in fast.explain()
        assert "why: j does nothing but look up small elements, one by one" in fast.explain()
        assert "vector<" not in fast.mlir()
    fast = mapped.optimize(threads=threads)
    for m, n in ((0, 300), (300, 0), (1, 300), (300, 1), (260, 3), (19, 258)):
        x = rng.integers(0, 256, (m, n, 3)).astype("u1")
        same_to_the_bit(mapped, fast, (x, table, np.zeros((m, n, 3), "u1")))


@af.kernel
def divided(x: af.i32[N], floor: af.i32[N], unsigned: af.u32[N]):
    with af.for_(N) as i:
        floor[i] = x[i] // 255
        unsigned[i] = af.cast(x[i], af.u32) // 7


def test_lanes_are_divided_by_a_number_as_numbers_are():
    fast = divided.optimize("avx2", threads=1)
    assert "divfloor_i32x8" in fast.c()
    edges = [-(2**31), -(2**31) + 1, -256, -255, -254, -1, 0, 1, 254, 255, 256, 2**31 - 1]
    x = np.array(edges * 2, "i4")
    same_to_the_bit(divided, fast, (x, np.zeros(len(x), "i4"), np.zeros(len(x), "u4")))


@af.kernel
def crossings(x: af.f64[N], y: af.f64[M], found: af.i64[N]):
    with af.for_(N) as i:
        count = af.var(af.i64(0))
        with af.for_(M) as e, af.if_(y[e] > x[i]):
            with af.if_(1 / (y[e] - x[i]) > 2):
                count.set(1 - count)
        found[i] = count


def test_lanes_make_no_divisions_that_conditions_spare_most_iterations():
    options = Options(AVX2, 1, contract=False, reassociate=False, reciprocal=False, approximate=False)
    with pytest.raises(UnfitError, match="conditions spare most iterations a division, which all lanes would make"):
        outer_loops.take(af.Schedule(crossings), "i", options)


def test_lookups_of_several_rows_run_in_lanes_though_their_code_is_long():
    said = loop_of("bilinear resize").kernel.optimize("avx512", threads=1).explain()
    assert "j runs on vectors of 16; 4 iterations of i run at once" in said
