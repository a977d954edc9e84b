"""What `optimize()` makes does the same as the loops as written, says what it did, and replays."""

import re
from dataclasses import replace

import numpy as np
import pytest

import affdsl as af
from affdsl.optimize import recipes
from affdsl.optimize.fuse import chains
from affdsl.optimize.optimizer import decided
from affdsl.optimize.options import Options, targets
from affdsl.optimize.order import time_tiles
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.versions import larger_than
from affdsl.schedule.spelling import literal
from benchmarks.polybench.suite import SUITE, named
from tests.effort import TRIES_ALL, some
from tests.optimize.check import WAYS, wrong

M, N, K = af.symbols("M N K")
LARGE_CACHES = (48 << 10, 2 << 20, 260 << 20)


@af.kernel
def matmul(A: af.f32[M, K], B: af.f32[K, N], C: af.f32[M, N]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += A[i, k] * B[k, j]


@af.kernel
def running(x: af.f64[N]):
    with af.for_(1, N) as i:
        x[i] = x[i - 1] * 0.5 + x[i]


@af.kernel
def turned_round(x: af.f32[N], y: af.f32[N], z: af.f32[N]):
    with af.for_(N - 1, -1, -1) as i:
        y[i] = x[i] * 2.0
        z[N - 1 - i] = x[i]


@af.kernel
def sum_from_the_end(x: af.f32[N], y: af.f32[1]):
    with af.for_(N - 1, -1, -1) as i:
        y[0] += x[i]


def test_a_loop_runs_the_other_way_where_more_moves_forwards_then():
    assert 'reverse("i")' in str(turned_round.optimize("avx512", threads=1).schedule)
    assert "reverse" not in str(sum_from_the_end.optimize("avx512", threads=1).schedule)
    for n in (0, 1, 15, 16, 17, 40):
        x = np.random.default_rng(n).random(n, np.float32)
        y, z, wanted, turned = np.zeros((4, n), np.float32)
        turned_round.interpret(x, wanted, turned)
        turned_round.optimize(threads=1)(x, y, z)
        assert (y.tobytes(), z.tobytes()) == (wanted.tobytes(), turned.tobytes())


@af.kernel
def down_the_columns(old: af.f64[M, N], new: af.f64[M, N]):
    with af.for_(3):
        with af.for_(1, N - 1) as x, af.for_(1, M - 1) as y:
            new[y, x] = 0.25 * (old[y - 1, x] + old[y + 1, x] + old[y, x - 1] + old[y, x + 1])
        with af.for_(1, N - 1) as x, af.for_(1, M - 1) as y:
            old[y, x] = new[y, x]


def test_sweeps_down_the_columns_run_along_rows_in_time_tiles():
    made = down_the_columns.optimize("avx512", threads=1)
    assert 'permute(("y#1", "x#1"))' in str(made.schedule)
    assert "its sweeps run as one, in tiles of time steps and rows" in made.explain()
    for shape in ((2, 5), (101, 97)):
        found, wanted = (list(np.random.default_rng(0).random((2, *shape))) for _ in range(2))
        down_the_columns(*wanted)
        down_the_columns.optimize(threads=1)(*found)
        assert np.asarray(found).tobytes() == np.asarray(wanted).tobytes()


@af.kernel
def row_sums(A: af.f64[M, N], sums: af.f64[M]):
    with af.for_(M) as i, af.for_(N) as j:
        sums[i] += A[i, j]


FEW = ("gemm", "atax", "trmm", "seidel-2d", "jacobi-2d")


@pytest.mark.parametrize("name", [each.name for each in SUITE] if TRIES_ALL else FEW)
def test_polybench_does_the_same(name):
    """Unless all is tried, kernels take turns at the ways."""
    ways = WAYS if TRIES_ALL else (WAYS[FEW.index(name)],)
    assert list(wrong([named(name)], ways)) == []


def test_a_product_is_tiled_in_registers():
    fast = matmul.optimize(threads=1)
    assert "product of matrices" in fast.explain()
    random = np.random.default_rng(0)
    for m, n, k in ((0, 3, 2), (3, 0, 2), (3, 2, 0), (1, 1, 1), (9, 33, 7), (130, 40, 390)):
        a, b, c = (random.integers(-9, 9, shape).astype(np.float32) for shape in ((m, k), (k, n), (m, n)))
        wanted = a @ b + c  # small whole numbers: exact in every order
        fast(a, b, c)
        np.testing.assert_array_equal(c, wanted, err_msg=f"{m} x {n} x {k}")


@pytest.mark.parametrize("threads", [1, 2])
def test_a_product_of_one_size_is_tiled_in_registers_too(threads):
    """Tiles that are as large as their loops run once, and have no loop; narrow products need none of them."""
    random = np.random.default_rng(0)
    shapes = ((64, 56, 70), (130, 40, 390), (40, 5000, 10), (130, 56, 390))
    for m, n, k in shapes if TRIES_ALL else shapes[threads - 1 :: 2]:
        fast = matmul.specialize(M=m, N=n, K=k).optimize("avx2", threads=threads)
        assert ("a product of matrices" if n > 40 else "a product of small matrices") in fast.explain()
        a, b, c = (random.integers(-9, 9, shape).astype(np.float32) for shape in ((m, k), (k, n), (m, n)))
        wanted = a @ b + c
        fast(a, b, c)
        np.testing.assert_array_equal(c, wanted)


def test_the_schedule_replays():
    fast = row_sums.optimize(threads=2)
    s = af.Schedule(row_sums)
    for step in fast.schedule.steps:
        exec(f"s.{step}", {"s": s, "M": M, "N": N})
    assert s.kernel().mlir() == fast.mlir()
    assert str(fast.schedule).startswith("import affdsl as af")
    assert row_sums.schedule is None
    with pytest.raises(af.ProgramError, match="no schedule made the kernel row_sums"):
        row_sums.explain()


def test_what_no_recipe_improves_stays_and_says_why():
    same = running.optimize(threads=1)
    assert same.mlir() == running.mlir()
    assert "i (" in same.explain()
    (note,) = same.explain().notes
    assert note.why == ("an iteration reads x[i - 1] (line 35), which one before it stores as x[i] (line 35)",)
    assert (note.done, [loop.name for loop in note.loops]) == ("", ["i"])
    assert str(note) in same.explain()
    assert same.schedule.steps == ()


def test_loops_of_kernels_that_are_called_are_optimized_as_if_they_stood_there():
    @af.kernel
    def caller(A: af.f64[M, N], sums: af.f64[M]):
        row_sums(A, sums)

    said = caller.optimize("avx2", threads=1).explain().splitlines()
    assert said[1:] == row_sums.optimize("avx2", threads=1).explain().splitlines()[1:]


def test_nothing_rounds_in_another_way_unless_it_may():
    strict, free = row_sums.optimize(threads=1), row_sums.optimize(threads=1, reassociate=True)
    assert "in the order of the text" in strict.explain()
    assert "each sums up in" in free.explain()
    a = np.random.default_rng(0).uniform(-1, 1, (37, 1001))
    results = [np.zeros(37) for _ in range(3)]
    for kernel, result in zip((row_sums, strict, free), results, strict=True):
        kernel(a, result)
    assert results[0].tobytes() == results[1].tobytes()
    np.testing.assert_allclose(results[2], results[0], rtol=1e-12, atol=1e-12)


def test_it_can_be_validated_and_threads_are_asked_for():
    fast = row_sums.optimize(threads=2, validate=True)
    assert "on threads" in fast.explain()
    assert "parallel" in fast.c()
    assert "parallel" not in row_sums.optimize(threads=1).c()


def test_an_unknown_target_is_refused():
    with pytest.raises(af.ScheduleError, match=r"no target 'z80'[\s\S]*avx2"):
        row_sums.optimize("z80")


def test_what_fits_into_a_cache_is_not_tiled_in_time():
    jacobi = named("jacobi-2d").kernel
    s = af.Schedule(jacobi)
    sizes = larger_than(s, "t", 2**20)
    assert sizes is not None
    assert literal(sizes) == "N >= 257", "two arrays of doubles"
    tiled = jacobi.optimize("avx2", threads=1).explain()
    assert "its sweeps run as one, in tiles of time steps and rows" in tiled
    assert "for N of" not in tiled, "nobody knows the caches of another machine"
    known = Options(replace(targets()["avx2"], caches=(32 << 10, 512 << 10, 16 << 20)))
    first, *others = decided(jacobi, known).notes
    assert re.fullmatch(r"N of \d+ and more", first.sizes)
    assert first.done.startswith("its sweeps run as one, in tiles of time steps")
    assert first.why == ("smaller arrays stay in a cache anyway",)
    assert others[0].sizes == "smaller sizes"
    assert others[0].done.startswith("j runs on vectors")


@pytest.mark.parametrize(
    ("caches", "tiles", "words"), [((), 0, "row by row"), (LARGE_CACHES, 1, "2 rows in 4 time steps at once")]
)
def test_sweeps_that_fit_into_a_cache_are_one(caches, tiles, words):
    """In one pass, where no rows are shared; to the bit what three passes leave, also without any rows."""
    fdtd = named("fdtd-2d")
    on_one = Options(replace(targets()["avx512"], caches=caches))
    made, said = time_tiles.take_near(af.Schedule(fdtd.kernel), "t", on_one)
    assert said == f"its sweeps are one, {words}"
    verbs = [step.call.verb for step in made.steps]
    assert verbs[:2] == ["fuse", "fuse"]
    assert verbs.count("vectorize") == 4
    assert verbs.count("tile") == tiles
    assert ('tail="masked"' in str(made)) == bool(tiles)
    fast = made.kernel()
    for steps, rows, columns in ((3, 1, 1), (2, 2, 9), (3, 7, 1), (9, 12, 29)):
        wanted, found = (fdtd.arrays({"TMAX": steps, "NX": rows, "NY": columns}) for _ in range(2))
        fdtd.kernel(*wanted.values())
        fast(*found.values())
        for name in fdtd.live_out:
            np.testing.assert_array_equal(found[name], wanted[name])
    for name, loop, reason in (("jacobi-2d", "t", "load the same rows"), ("gemm", "i", "no two sweeps over rows")):
        with pytest.raises(UnfitError, match=reason):
            time_tiles.take_near(af.Schedule(named(name).kernel), loop, on_one)


def test_threads_share_sweeps_that_fit_into_a_cache_only_where_they_are_large():
    fdtd = named("fdtd-2d")
    machine = replace(targets()["avx512"], caches=(2**15, 2**20))
    both, notes = recipes.FOR_LOOPS["sweeps"](af.Schedule(fdtd.kernel), "t", Options(machine, threads=2))
    said = "\n".join(map(str, notes))
    assert "its sweeps are one, row by row" in said
    assert "for NY + NX of 512 and more: threads share chunks of" in said
    fast = both.kernel()
    for steps, rows, columns in ((3, 1, 1), (2, 2, 9), (3, 7, 1), (4, 12, 29), (2, 200, 400), (2, 280, 290)):
        wanted, found = (fdtd.arrays({"TMAX": steps, "NX": rows, "NY": columns}) for _ in range(2))
        fdtd.kernel(*wanted.values())
        fast(*found.values())
        for name in fdtd.live_out:
            np.testing.assert_array_equal(found[name], wanted[name])


def test_factorizations_and_triangles_are_products_in_blocks():
    for name, least in some([("cholesky", 1), ("symm", 2)], 1):
        fast = named(name).kernel.optimize("avx2", threads=1)
        assert fast.explain().count("a product of matrices") >= least, name
        assert 'strip_mine("' in str(fast.schedule), name


def test_a_nest_behind_sweeps_without_iterations_is_not_theirs():
    @af.kernel
    def f(A: af.i64[N], C: af.i64[14]):
        with af.for_(2, 0) as i, af.for_(0) as j, af.for_(4) as k:
            A[j + 2] = af.min(A[k], af.cast(i, af.i64))
        with af.for_(11) as i:
            A[i] = C[i]

    fast = f.optimize("native", threads=3)
    found = np.zeros(14, np.int64)
    fast(found, np.arange(14))
    assert found.tolist() == [*range(11), 0, 0, 0]
    assert "i runs on vectors" in fast.explain()


@af.kernel
def product(A: af.f64[N, N], B: af.f64[N, N], C: af.f64[N, N]):
    with af.for_(N) as i, af.for_(N) as j, af.for_(N) as k:
        C[i, j] += A[i, k] * B[k, j]


@pytest.mark.parametrize("broken", ["product", "chains"])
def test_a_recipe_of_which_a_step_is_refused_is_left_out(broken, monkeypatch):
    """It is a fault of the recipe, which costs speed and nothing else; the next one that fits is taken."""

    def refused(s, *_):
        s.scalar_replace("k").parallel("k")
        raise AssertionError("no sum may run in parallel")

    if broken == "product":
        monkeypatch.setitem(recipes.FOR_LOOPS, "products", refused)
    else:
        monkeypatch.setattr(chains, "take", refused)
    with pytest.warns(af.RecipeWarning, match="left out, since a step of this recipe was refused: cannot make k par"):
        fast = product.optimize("avx2", threads=1)
    assert "left out, since a step of this recipe was refused" in fast.explain()
    assert ("a product of matrices" in fast.explain()) == (broken == "chains")
    a, b = (np.random.default_rng(k).normal(size=(31, 31)) for k in (1, 2))
    wanted, found = np.zeros((2, 31, 31))
    product(a, b, wanted)
    fast(a, b, found)
    np.testing.assert_array_equal(wanted, found)
