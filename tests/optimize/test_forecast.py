"""What `explain(sizes)` counts and expects: work and bytes beside those by hand, on a machine of round numbers."""

import re
from functools import cache

import pytest

import affdsl as af
from affdsl.codegen.roofline import Level, Roofline
from affdsl.optimize import forecast
from affdsl.optimize.machine import usual
from affdsl.optimize.model.moving import Moving
from affdsl.optimize.model.schedules import cycles_of, standing_in
from affdsl.optimize.options import targets
from affdsl.passes.analysis.iterations import Iterations
from benchmarks.polybench.suite import named

M, N, K = af.symbols("M N K")
AVX2 = targets()["avx2"]
CORE, CLOCK = usual(AVX2), 4e9
LEVELS = Level("L1", 32 << 10, 4e11), Level("L2", 1 << 20, 1e11), Level("memory", None, 1e10)


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    """4 GHz with two operations a cycle on registers of 256 bits; a second thread doubles that."""
    rates = {"f32": 2 * 2 * 8 * 4e9, "f64": 2 * 2 * 4 * 4e9}
    monkeypatch.setattr(forecast, "most_threads", lambda: 2)
    monkeypatch.setattr(forecast, "roofline", lambda n: Roofline(n, {k: n * rate for k, rate in rates.items()}, LEVELS))
    monkeypatch.setattr(forecast, "native_target", lambda: AVX2)


@af.kernel
def product(A: af.f64[M, K], B: af.f64[K, N], C: af.f64[M, N]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += A[i, k] * B[k, j]


@af.kernel
def scale(x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as i:
        y[i] = x[i] * 2.0


@af.kernel
def total(x: af.f64[N], sum: af.f64[1]):
    with af.for_(N) as i:
        sum[0] += x[i]


@cache
def tiled(threads=1):
    return product.optimize("avx2", threads=threads)


def of(kernel, **sizes):
    return forecast.forecast(kernel, sizes)


def test_work_and_bytes_are_those_of_the_kernel_as_written():
    for kernel in (product, tiled()):
        found = of(kernel, M=30, N=40, K=50)
        assert (found.flops, found.functions) == (2 * 30 * 40 * 50, 0)
        assert found.bytes_moved == 8 * (30 * 50 + 50 * 40 + 2 * 30 * 40)
    large = of(product, M=1000, N=1000, K=1000)
    assert (large.bound, large.at_best) == ("computing", pytest.approx(2e9 / 6.4e10))
    small = of(scale, N=10_000_000)
    assert (small.bound, small.at_best) == (
        "memory",
        pytest.approx(2 * (8e7 - sum(each.bytes or 0 for each in LEVELS)) / 1e10),
    )


def test_what_moves_at_the_speed_of_memory_is_expected_to():
    *_, nest = of(scale.optimize("avx2", threads=1), N=10_000_000).nests
    assert nest.moving == pytest.approx(16e7 / 1e10, rel=0.01)
    assert str(nest).endswith(": 16 ms, by what moves to and from memory")
    *_, inside = of(scale.optimize("avx2", threads=1), N=1000).nests
    cycles_by_hand = 250 * CORE.turn + CORE.entry
    assert inside.computing == pytest.approx(cycles_by_hand / CLOCK), "a load, a product and a store are less than that"


def test_sums_wait_for_the_sum_before():
    *_, nest = of(total.optimize("avx2", threads=1), N=100_000).nests
    strict, free = (of(total.optimize("avx2", threads=1, reassociate=free), N=100_000) for free in (False, True))
    assert strict.seconds > 2 * free.seconds
    assert nest.computing >= free.nests[0].computing


def test_compilers_make_vectors_of_rows_and_not_of_recurrences():
    @af.kernel
    def running(x: af.f64[N]):
        with af.for_(1, N) as i:
            x[i] = x[i - 1] * 2.0

    @af.kernel
    def columns(A: af.f64[N, N]):
        with af.for_(N) as i, af.for_(N) as j:
            A[j, i] = A[j, i] * 2.0

    rows, scalars = (of(kernel, N=1000).nests[0].computing for kernel in (scale, running))
    assert rows == pytest.approx((250 * CORE.turn + 2 * CORE.entry) / CLOCK), "four elements at once"
    assert scalars == pytest.approx((999 * CORE.product + CORE.entry) / CLOCK), "from one product to the next"
    by_hand = 1e6 * (CORE.lookup + 4 / CORE.issue) + 1001 * CORE.entry  # each element is in another page
    assert of(columns, N=1000).nests[0].computing == pytest.approx(by_hand / CLOCK, rel=0.01)


def test_a_product_in_panels_is_expected_to_be_faster():
    plain, fast = (of(kernel, M=500, N=500, K=500) for kernel in (product, tiled()))
    assert fast.at_best == plain.at_best <= fast.seconds < plain.seconds / 3


def test_only_the_version_for_these_sizes_counts():
    jacobi = named("jacobi-2d").kernel
    s = af.Schedule(jacobi).specialize("t", af.symbols("N") >= 200)
    both = s.kernel()
    assert len(of(both, N=100, TSTEPS=2).nests) == len(of(both, N=300, TSTEPS=2).nests) == 1


def test_threads_share_what_is_parallel():
    one, two = (of(tiled(n), M=500, N=500, K=500) for n in (1, 2))
    assert (one.threads, two.threads) == (1, 2)
    assert two.at_best == one.at_best / 2
    assert two.seconds < one.seconds


def test_reuse_depends_on_what_stays_between_two_uses():
    """By hand: rows of B come again for each row of A, and all of B is kept only by a cache that has room for it."""
    function = product.func
    sizes = dict(zip(function.args, (50, 60, 70), strict=False))  # M, K, N
    shapes = dict(zip(function.args[3:], ((50, 60), (60, 70), (50, 70)), strict=True))
    named = {v.hint: n for v, n in sizes.items()}
    m, n, k = named["M"], named["N"], named["K"]
    shapes = dict(zip(function.args[3:], ((m, k), (k, n), (m, n)), strict=True))
    moving = Moving(Iterations(product.module, sizes, shapes))
    caches = [10, 8 * (k * n + n + k) + 4 * 64, 8 * m * k * n]  # the lines at the ends are counted as a whole
    found = moving.moved(function.body[0], {}, {v: v for v in shapes}, caches)
    once = 8 * (m * k + k * n + 2 * m * n)
    assert found[2] == pytest.approx(once, rel=0.01), "all stays"
    assert found[1] == pytest.approx(once, rel=0.05), "B stays from one row of A to the next"
    assert found[0] == 64 * 4 * m * n * k, "nothing stays: a line for each access"


def test_it_is_said_beside_what_was_done():
    said = tiled().explain({"M": 500, "N": 500, "K": 500})
    assert "a product of matrices" in said
    assert "    with M = 500, K = 500, N = 500: 250 Mflop, and 8 MB that must move\n" in said
    assert re.search(
        r"\n        at best on this machine: 3.91 ms, by computing\n        expected: [\d.]+ ms, \d+ % of the roof",
        said,
    )
    fused = scale.fuse().explain({"N": 1000})
    assert fused.startswith("scale: 0 steps")
    assert "with N = 1000: 1 kflop, and 16 kB that must move" in fused


def test_what_depends_on_data_is_not_guessed():
    @af.kernel
    def sparse(start: af.i32[N], x: af.f64[M], y: af.f64[N]):
        with af.for_(N - 1) as i, af.for_(start[i], start[i + 1]) as k:
            y[i] += x[k]

    said = sparse.optimize(threads=1).explain({"N": 9, "M": 9})
    assert "how much it does is not known without its data: " in said
    assert "profile() counts it while it runs" in said


def test_loops_that_begin_with_a_line_of_an_array_are_counted():
    s = af.Schedule(scale).vectorize("i", 4)
    aligned = af.Schedule(scale).align("y", "i", 4)
    first, rest = (row.names[0] for row in aligned.loops())
    aligned.vectorize(rest, 4)
    assert first != rest
    assert of(aligned.kernel(), N=4000).seconds == pytest.approx(of(s.kernel(), N=4000).seconds, rel=0.01)
    assert cycles_of(aligned, standing_in(aligned), CORE) > 0


def test_sizes_are_asked_for():
    fast = scale.optimize(threads=1)
    with pytest.raises(
        af.ProgramError, match=r'cannot explain scale: the size N is missing\n    the sizes are \{"N": \.\.\.\}'
    ):
        fast.explain({})
    with pytest.raises(af.ProgramError, match="cannot explain scale: it has no size M"):
        fast.explain({"M": 3})
    with pytest.raises(af.ProgramError, match="no schedule made the kernel scale"):
        scale.explain({"N": 3})
    assert "that must move" not in fast.explain()


def test_nothing_to_do_is_no_share():
    assert "nothing to do" in scale.optimize(threads=1).explain({"N": 0})
