"""What kernel.profile() measures and says: nests, runs, copies of arrays, the table, and what it refuses."""

import re

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen import roofline as roofs
from affdsl.codegen.cache import default_cache
from affdsl.codegen.roofline import Level, Roofline, roofline
from affdsl.errors import ProgramTypeError
from affdsl.seeing import profile as module
from affdsl.seeing.copies import copies
from affdsl.seeing.counting import while_running
from affdsl.seeing.nests import nests_of
from affdsl.seeing.profile import Call, _Runner
from benchmarks.polybench.suite import SUITE
from examples.spmv import spmv
from examples.unsharp_sobel import unsharp_sobel
from tests.seeing.tracing import elements, found_in, traced

M, N = af.symbols("M N")


@af.kernel
def scale(x: af.f64[N], by: af.f64):
    with af.for_(N) as i:
        x[i] *= by


@af.kernel
def scale_by(x: af.i64[N], n: af.index):
    with af.for_(n) as i:
        x[i] *= 2


@af.kernel
def steps(A: af.f64[M, N], x: af.f64[N], times: af.index = 3):
    scale(x, 2.0)
    with af.for_(times), af.for_(M) as i, af.for_(N) as j:
        A[i, j] += x[j]
    with af.if_(times >= 100), af.for_(N) as k:
        x[k] = 0.0
    scale(x, 0.5)


@pytest.fixture(autouse=True)
def measured(monkeypatch):
    """A machine that is always the same, and is not measured."""
    levels = (Level("L1", 1 << 15, 100e9), Level("L2", 1 << 20, 50e9), Level("memory", None, 10e9))
    monkeypatch.setattr(
        module, "roofline", lambda threads, again=False: Roofline(threads, {"f32": 2e11, "f64": 1e11}, levels)
    )
    monkeypatch.setattr(module, "most_threads", lambda: 2)


def test_each_nest_of_a_call_is_measured():
    A, x = np.ones((20, 30)), np.arange(30.0)
    found = steps.profile(A, x, repeats=3)
    assert [nest.name for nest in found.nests] == ["scale: i", "i#1, i#2, j", "k", "scale: i"]
    assert [nest.runs for nest in found.nests] == [1, 1, 0, 1]
    assert [nest.flops for nest in found.nests] == [30, 3 * 600, 0, 30]
    assert [nest.bytes_moved for nest in found.nests] == [480, 2 * 4800 + 240, 0, 480]
    assert found.whole.flops == 60 + 1800
    assert found.whole.bytes_touched == 4800 + 240
    assert found.whole.runs == 1
    assert all(nest.fastest <= nest.seconds for nest in found.nests)
    assert found.sizes == {"M": 20, "N": 30, "times": 3}
    assert (found.repeats, found.kernel) == (3, "steps")
    assert re.fullmatch(r"<k at tests/seeing/test_profile.py:\d+: 0 ns, 0 % of the roof>", repr(found.nests[2]))
    assert (A == 1).all()
    assert (x == np.arange(30.0)).all()


def test_arrays_are_copies_unless_they_are_wanted_in_place():
    x = np.ones(5)
    scale.profile(x, 2.0, repeats=2)
    assert x.tolist() == [1.0] * 5
    scale.profile(x, 2.0, repeats=2, in_place=True)
    assert x.tolist() == [8.0] * 5  # one more comes first, to be warm and to know how long it takes
    place = np.array([1, 0])

    @af.kernel
    def data(x: af.f64[N], place: af.i64[2]):
        with af.for_(place[0]) as i:
            x[i] *= 2.0

    data.profile(x, place, repeats=1, in_place=True)
    assert x.tolist() == [64.0] + [8.0] * 4  # and one in which it is counted


def test_the_roof_is_that_of_the_level_which_holds_the_data():
    found = scale.profile(np.ones(1000), 2.0, repeats=1).nests[0]
    assert (found.level, found.bound, found.threads) == ("L1", "memory", 1)
    assert found.seconds_at_best == pytest.approx(16000 / 100e9)
    assert found.share == pytest.approx(found.seconds_at_best / found.seconds)
    assert found.intensity == pytest.approx(1 / 16)
    assert found.flops_per_second == pytest.approx(1000 / found.seconds)
    assert found.bytes_per_second == pytest.approx(16000 / found.seconds)
    assert scale.profile(np.ones(10_000), 2.0, repeats=1).nests[0].level == "L2"
    assert scale.profile(np.ones(200_000), 2.0, repeats=1).nests[0].level == "memory"

    @af.kernel
    def powers(x: af.f32[N], n: af.index):
        with af.for_(N) as i, af.for_(n):
            x[i] = x[i] * x[i] + 1.0

    found = powers.profile(np.ones(50, "f4"), 500, repeats=1).nests[0]
    assert (found.bound, found.flops) == ("compute", 50_000)
    assert found.seconds_at_best == pytest.approx(50_000 / 2e11)


def test_data_that_decides_is_counted_by_a_run():
    rows = np.array([0, 2, 2, 5, 6])
    columns, values = np.array([0, 3, 1, 2, 3, 0]), np.ones(6)
    given = dict(
        zip([p.name for p in spmv.program.parameters], [rows, columns, values, np.ones(4), np.ones(4)], strict=True)
    )
    given = {
        name: x.astype(p.type.dtype.numpy) for (name, x), p in zip(given.items(), spmv.program.parameters, strict=True)
    }
    found = spmv.profile(**given, repeats=1)
    assert found.nests[0].is_counted_by_run
    assert found.nests[0].flops == 12
    assert {"x", "values"} <= {*found.nests[0].at_most}
    assert "Counted while it ran, as data decides how often something is done: i, p." in str(found)


def test_threads_share_a_parallel_nest():
    @af.kernel
    def both(x: af.f64[N], y: af.f64[N]):
        with af.parallel(N) as i:
            x[i] = x[i] * 2.0
        with af.for_(1, N) as j:
            y[j] = y[j - 1] + x[j]
            with af.while_(lambda v: v > 10.0, iter_args=y[j]) as v:
                af.yield_(v * 0.5)

    x, y = np.arange(100.0), np.ones(100)
    found = both.profile(x, y, repeats=1)
    assert [nest.threads for nest in found.nests] == [2, 1]
    assert found.whole.threads == 2
    assert [nest.is_counted_by_run for nest in found.nests] == [False, True]
    y = np.ones(100)
    halvings, last = 0, 1.0
    for j in range(1, 100):
        last += 2 * x[j]
        v = last
        while v > 10:
            v, halvings = v / 2, halvings + 1
    assert found.nests[1].flops == 99 + halvings


def test_the_same_is_counted_by_loops_and_by_a_run():
    for benchmark in [b for b in SUITE if b.name in ("cholesky", "deriche")]:
        sizes = {name: min(number, 7) for name, number in benchmark.sizes["MINI"].items()}
        given = tuple(benchmark.arrays(sizes).values())
        same_counts(benchmark.kernel, given)
    same_counts(unsharp_sobel, (np.random.default_rng(0).integers(0, 255, (11, 13, 3)).astype("u1"),))


def same_counts(kernel, given):
    """Counted without a run, and by counters in C: for each nest the same."""
    nests, found = found_in(kernel, given)
    call = Call(kernel.program, kernel.check(), given, {})
    everywhere = nests_of(kernel.module, everywhere=True)

    def run(counters, count):
        return _Runner(call, everywhere.module, module.Instruments(counters=counters), is_serial=True).run()[
            2 : 2 + count
        ]

    by_run, whole = while_running(everywhere, run)
    for nest, work in zip(nests.found, by_run, strict=True):
        if found.work[nest.op] is not None:
            assert +found.work[nest.op] == +work, nest.name
    if not found.why:
        assert +whole == sum(found.work.values(), found.beside)


def test_a_loop_over_time_is_looked_into():
    @af.kernel
    def heat(A: af.f64[N], B: af.f64[N], n: af.index):
        with af.for_(n) as t:
            with af.for_(1, N - 1) as i:
                B[i] = (A[i - 1] + A[i + 1]) * 0.5
            with af.if_(t % 2 == 0):
                scale(B, 2.0)
            B[0] = A[0] + 1.0
            with af.for_(t, N) as i:
                A[i] = B[i]

    A, B = np.arange(12.0), np.zeros(12)
    found = heat.profile(A, B, 6, repeats=1, inside="t")
    assert [(nest.name, nest.runs) for nest in found.nests] == [("i#1", 6), ("scale: i", 3), ("i#2", 6)]
    assert [nest.flops for nest in found.nests] == [6 * 10 * 2, 3 * 12, 0]
    assert [nest.bytes_moved for nest in found.nests] == [(12 + 10) * 8, 2 * 12 * 8, 2 * 12 * 8]
    assert found.whole.flops == 6 * 21 + 3 * 12
    trace = traced(heat, (A, B, 6))
    assert found.whole.bytes_read == len(trace.read)
    assert found.whole.bytes_written == len(trace.written)
    assert heat.profile(A, B, 6, repeats=1).whole.flops == found.whole.flops

    @af.kernel
    def rows(A: af.f64[M, N], ends: af.i64[M]):
        with af.for_(M) as m, af.for_(ends[m]) as k:
            A[m, k] *= 2.0

    found = rows.profile(np.ones((3, 4)), np.array([1, 0, 4]), repeats=1, inside="m")
    assert [(nest.name, nest.runs, nest.flops) for nest in found.nests] == [("k", 3, 5)]
    assert found.whole.flops == 5


def test_what_cannot_be_looked_into_is_refused():
    @af.kernel
    def both(A: af.f64[M, N]):
        with af.parallel(M) as i, af.for_(N) as j:
            A[i, j] = 0.0

    says = "cannot look into loop j: i is no loop whose iterations run one after the other\n    ask for a loop outside"
    with pytest.raises(af.ProgramError, match=says):
        both.profile(np.ones((2, 2)), inside="j")
    with pytest.raises(af.ProgramError, match="both has no loop q\n    its loops are i, j"):
        both.profile(np.ones((2, 2)), inside="q")


def test_what_a_run_counts_is_what_the_interpreter_does():
    @af.kernel
    def digits(x: af.i64[N], least: af.i64[N], sums: af.i64[N]):
        with af.for_(N) as i:
            with af.if_(x[i] > least[i]):
                with af.while_(lambda n: n > 0, iter_args=x[i]) as n:
                    sums[i] += n % 10
                    with af.for_(i, N) as j:
                        with af.if_(x[j] == n):
                            least[j] = n
                    af.yield_(n // 10)
            with af.else_():
                scale_by(sums, i)

    rng = np.random.default_rng(3)
    given = (rng.integers(0, 999, 9), rng.integers(0, 999, 9), np.zeros(9, "i8"))
    trace = traced(digits, given)
    (nest,) = digits.profile(*given, repeats=1).nests
    assert nest.is_counted_by_run
    assert (elements(nest.work, "load"), elements(nest.work, "store")) == (trace.loads, trace.stores)


def test_calls_in_loops_are_part_of_the_nest_and_those_outside_are_nests():
    @af.kernel
    def rows(A: af.f64[M, N], x: af.f64[N]):
        scale(x, 3.0)
        with af.for_(M) as m:
            scale(x, 2.0)
            A[m, 0] = x[0]

    found = rows.profile(np.ones((4, 5)), np.ones(5), repeats=1)
    assert [(nest.name, nest.flops, nest.runs) for nest in found.nests] == [("scale: i", 5, 1), ("m", 20, 1)]
    assert found.nests[1].bytes_moved == 2 * 40 + 32
    same_counts(rows, (np.ones((4, 5)), np.ones(5)))


def test_the_table():
    text = str(steps.profile(np.ones((20, 30)), np.ones(30), repeats=2))
    lines = text.split("\n")
    assert re.fullmatch(r"steps with M = 20, N = 30, times = 3: [\d.]+ (ns|us|ms|s), the median of 2 runs", lines[0])
    assert lines[1].split() == ["nest", "line", "time", "share", "runs", "flop", "GFLOP/s", "moved", "GB/s", "flop/B",
                                "of", "the", "roof", "bound"]  # fmt: skip
    assert lines[3].startswith("i#1, i#2, j       tests/seeing/test_profile.py:")
    assert re.search(r" 1\.80 k +[\d.]+ +9\.84 kB ", lines[3])
    assert [line.split("  ")[0] for line in lines[2:8]] == [
        "scale: i", "i#1, i#2, j", "k", "scale: i", "beside the nests", "whole call",
    ]  # fmt: skip
    assert lines[8] == "The roof of 1 thread: 100 GFLOP/s of f64, L1 100 GB/s, L2 50 GB/s, memory 10 GB/s."


def test_a_roof_that_is_too_low_is_said(monkeypatch):
    def slow(threads, again=False):
        return Roofline(1, {"f32": 1.0, "f64": 1.0}, (Level("memory", None, 1e12 if again else 1.0),), others=1.5)

    monkeypatch.setattr(module, "roofline", slow)
    found = scale.profile(np.ones(10), 2.0, repeats=1)
    assert found.rooflines[1].levels[0].bandwidth == 1e12  # it was measured again
    text = str(found)
    assert "The roof is doubtful: others used 1.5 cores while it was measured." in text
    assert "Above the roof, which was measured again for that: i; whole call." in text


def test_a_roof_that_was_measured_again_is_no_lower(monkeypatch):
    rates = iter([100.0, 50.0, 70.0])
    loads = iter([2.0, 0.0, 3.0])
    kept = {}

    def kept_or_made(*key, make, again):
        if again or key not in kept:
            kept[key] = make()
        return kept[key]

    class Kept:
        compiler = staticmethod(default_cache().compiler)
        library = staticmethod(lambda *of: None)
        record = staticmethod(kept_or_made)

    monkeypatch.setattr(roofs, "default_cache", Kept)
    monkeypatch.setattr(roofs, "_measured", lambda *of: ({"f32": next(rates)}, [("memory", None, 9.0)]))
    monkeypatch.setattr(roofs.Watch, "others", lambda _: next(loads))
    assert (roofline(1).flops, roofline(1).is_doubtful) == ({"f32": 100.0}, True)
    again = roofline(1, again=True)
    assert (again.flops, again.is_doubtful) == ({"f32": 100.0}, False)
    assert roofline(1, again=True) == roofline(1) == again


def test_what_near_caches_hold_need_not_move():
    levels = Level("L1", 100, 50.0), Level("L2", 1000, 10.0), Level("memory", None, 1.0)
    roof = Roofline(1, {}, levels)
    assert roof.moving(80, 20) == (2.0, "L1")
    assert roof.moving(300, 100) == (20.0, "L2")  # 200 more than L1 holds before it begins; what is stored may stay
    assert roof.moving(2000, 1500) == (900.0 + 400.0, "memory")
    assert roof.moving(0, 0) == (0.0, "L1")


def test_what_the_numbers_need_is_said():
    @af.kernel
    def curves(x: af.f32[N], k: af.i32[N]):
        with af.for_(N) as i:
            x[i] = af.exp(x[i]) * x[i] + af.sin(x[i])

    assert "20 functions as exp and pow are computed, which count as no flop." in str(
        curves.profile(np.ones(10, "f4"), np.ones(10, "i4"), repeats=1)
    )

    @af.kernel
    def count(k: af.i32[N]):
        with af.for_(N) as i:
            k[i] = k[i] * 2 + 1

    assert "20 operations on integers." in str(count.profile(np.ones(10, "i4"), repeats=1))

    @af.kernel
    def squares(x: af.f32[N], n: af.index):
        with af.for_(N) as i, af.for_(n):
            x[i] = x[i] * x[i] + 1.0

    text = str(squares.profile(np.ones(50, "f4"), 500, repeats=1))
    assert "Products and sums are apart, as they round: contract=True may make one operation of both." in text


def test_arguments_are_checked_as_those_of_a_call():
    with pytest.raises(af.SizeError, match="dimension 0 of argument 'x' must be N"):
        steps.profile(np.ones((2, 3)), np.ones(4))
    with pytest.raises(TypeError, match="must be a NumPy array of float64"):
        scale.profile(3, 2.0)
    with pytest.raises(TypeError, match="takes 2 arguments"):
        scale.profile(np.ones(3))
    for wrong in (0, -1, 2.5, True):
        with pytest.raises(
            ProgramTypeError, match=r"repeats is .*\n    it is how often the call is measured: 1 or more"
        ):
            scale.profile(np.ones(3), 2.0, repeats=wrong)


def test_names_defaults_and_arrays_of_others():
    assert steps.profile(x=np.ones(3), A=np.ones((2, 3)), repeats=1).sizes["times"] == 3
    x = np.ones(4)
    assert scale.profile(memoryview(x), 2.0, repeats=1).nests[0].flops == 4
    assert x.tolist() == [1.0] * 4


def test_a_failed_assertion_is_raised():
    @af.kernel
    def positive(x: af.f64[N]):
        with af.for_(N) as i:
            af.assert_(x[i] > 0.0, "positive", i)  # noqa: PT009 - it is none of unittest

    assert positive.profile(np.ones(3), repeats=1).nests[0].runs == 1
    with pytest.raises(af.FailedAssertionError, match="positive"):
        positive.profile(-np.ones(3), repeats=1)


def test_copies_have_the_layout_of_the_arrays():
    base = np.arange(200.0).reshape(10, 20)
    views = [base[1:9, 3:15:2], base[::-1, ::-3], np.asfortranarray(base), base[:0], base.T]
    made = copies(views, [True, False, True, True, False])
    for given, copied in zip(views, made.arrays, strict=True):
        assert (copied.shape, copied.strides, copied.dtype) == (given.shape, given.strides, given.dtype)
    made.refresh()
    for given, copied in zip(views, made.arrays, strict=True):
        assert (given == copied).all()
        assert not given.size or not np.shares_memory(given, copied)
    made.arrays[0][:] = -1.0
    assert (made.arrays[4] == -1).any()  # as they share memory, so do the copies
    assert (base >= 0).all()
    made.refresh()
    assert (made.arrays[4] == base.T).all()
    read = np.ones(3)
    assert copies([read], [False]).arrays[0] is read


def test_a_strided_argument_is_profiled_as_it_lies():
    @af.kernel
    def columns(x: af.strided(af.f64[M, N])):
        with af.for_(M) as i, af.for_(N) as j:
            x[i, j] += 1.0

    a = np.zeros((6, 8))
    found = columns.profile(a[:, ::2], repeats=1)
    assert found.nests[0].bytes_moved == 2 * 6 * 4 * 8
    assert not a.any()


def test_this_machine_is_measured_once(monkeypatch):
    once = roofline(1)
    assert once.threads == 1
    assert once.flops.keys() == {"f32", "f64"}
    assert all(rate > 1e7 for rate in once.flops.values())
    assert once.levels[-1].bytes is None
    assert all(level.bandwidth > 1e7 for level in once.levels)
    monkeypatch.setattr("affdsl.codegen.roofline._measured", None)  # what is kept is not measured again
    assert roofline(1) == once
