"""Candidates of a nest: loops stay as they are written where the model expects nothing better."""

from copy import copy

import numpy as np
import pytest

import affdsl as af
from affdsl.optimize.machine import usual
from affdsl.optimize.model.schedules import SIZE, cycles_of, sizes_that_run, standing_in
from affdsl.optimize.options import Options, targets
from affdsl.optimize.search import FURTHER, Candidate, best_that_pays
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import outer_loops
from benchmarks.idioms import IDIOMS

N, M = af.symbols("N M")
AVX2 = usual(targets()["avx2"])


@af.kernel
def colours(photo: af.u8[N, 3], out: af.u8[N, 3]):
    with af.for_(N) as i:
        r, g, b = (af.cast(photo[i, k], af.i32) for k in range(3))
        out[i, 0] = af.cast((77 * r + 150 * g + 29 * b + 128) >> 8, af.u8)
        out[i, 1] = af.cast((128 * r - 107 * g - 21 * b + 128) >> 8, af.u8)
        out[i, 2] = af.cast((85 * g + 128 * b - 43 * r + 128) >> 8, af.u8)


@af.kernel
def plain(a: af.f32[N], b: af.f32[N]):
    with af.for_(N) as i:
        a[i] = b[i] * 0.5 + 1.0


@af.kernel
def both(photo: af.u8[N, 3], out: af.u8[N, 3], b: af.f32[N]):
    colours(photo, out)
    with af.for_(N) as j:
        b[j] = b[j] * 0.5 + 1.0


@af.kernel
def few_terms(x: af.f64[N, 4], y: af.f64[N]):
    with af.for_(N) as i, af.for_(4) as k:
        y[i] += x[i, k]


@af.kernel
def gather(place: af.i32[N], start: af.i32[N], x: af.f64[M], y: af.f64[N]):
    with af.for_(N - 1) as i, af.for_(start[i], start[i + 1]) as k:
        y[i] += x[k]


def candidate(kernel, steps) -> Candidate:
    s = af.Schedule(kernel)
    steps(s)
    return Candidate("steps", s, af.Schedule(kernel), ("done",), AVX2)


def test_what_is_slower_is_told_and_is_not_done():
    kernel = colours.optimize("avx2", threads=1)
    assert "vector<" not in kernel.mlir()
    assert "by the model, all else that was tried is slower" in kernel.explain()
    assert "vectors: " in kernel.explain()


def test_only_the_nest_that_would_be_slower_stays():
    kernel = both.optimize("avx2", threads=1)
    assert kernel.explain().count("by the model, all else that was tried is slower") == 1
    assert "vector<8xf32>" in kernel.mlir()
    random = np.random.default_rng(0)
    given = random.integers(0, 256, (70, 3)).astype("u1"), np.zeros((70, 3), "u1"), np.arange(70, dtype="f4")
    wanted, found = ([x.copy() for x in given] for _ in range(2))
    both.interpret(*wanted)
    kernel(*found)
    assert [x.tobytes() for x in found] == [x.tobytes() for x in wanted]


def test_the_ratio_is_one_for_the_same_loops_and_less_for_better_ones():
    same = candidate(plain, lambda s: None)
    assert same.ratio == 0 or same.ratio == pytest.approx(1)
    assert candidate(plain, lambda s: s.vectorize("i", 8, tail="overlapped")).ratio < 1
    slow = candidate(colours, lambda s: s.vectorize("i", 32))
    assert slow.ratio > 1
    assert slow.is_slower
    assert str(slow).endswith("times as long as the loops as written")


def test_a_version_for_large_sizes_is_judged_where_it_runs():
    """At 300, the size of all others, none of it would run, so that nothing in it would ever be slower."""

    @af.kernel
    def with_table(photo: af.u8[N, 3], out: af.u8[N, 3], table: af.f32[M]):
        colours(photo, out)

    def judged(condition, steps) -> Candidate:
        before = af.Schedule(with_table, inline=True).specialize("i", condition)
        after = copy(before)
        steps(after)
        return Candidate("steps", after, before, ("done",), AVX2)

    for condition in (N >= 100_000, N >= 16 * M, (N >= 1000) & (M >= 2000)):
        assert judged(condition, lambda s: s.vectorize("i", 32)).is_slower, condition
    assert judged(N >= 100_000, lambda s: s.vectorize("i_else", 32)).is_slower


def test_strips_are_no_lanes():
    """Lanes with a strip each would go over them one after the other."""

    @af.kernel
    def in_strips(x: af.i32[N], out: af.i32[1]):
        with af.for_(0, N, 64) as first, af.for_(first, af.min(N, first + 64)) as i:
            out[0] = af.max(out[0], x[i])

    s = af.Schedule(in_strips).scalar_replace("i").scalar_replace("first")
    with pytest.raises(UnfitError, match="each its own strip"):
        outer_loops.take(s, "first", Options(targets()["avx2"], 1))


def test_nothing_is_guessed_where_data_decide():
    unknown = candidate(gather, lambda s: s.unroll("k", 2))
    assert unknown.ratio == 0
    assert str(unknown) == "steps: data decides how long"


class Expected(Candidate):
    """A candidate of which the share is known, and how long it takes where the arrays are large."""

    share = property(lambda self: float(self.name.split()[0]))
    ratio = property(lambda self: float(self.name.split()[-1]))


def test_the_first_that_is_not_slower_is_taken_or_one_behind_it_that_is_clearly_better():
    made = candidate(plain, lambda s: s.vectorize("i", 8))

    def taken(*shares):
        best, slower = best_that_pays(Expected(str(share), *(made.schedule, made.before, (), AVX2)) for share in shares)
        return best and best.share, [each.share for each in slower]

    assert taken() == (None, [])
    assert taken(1.2) == (None, [1.2])
    assert taken(1.2, 0.3, 0.01) == (0.3, [1.2])
    assert taken(0.9, 0.6, 1.2) == (0.9, [1.2])
    assert taken(0.9, 0.5, 0.25, 0.01) == (0.25, [])
    assert taken(0, 0.1) == (0, [])  # nobody knows how long the first one takes
    assert taken("0.54 0.53", "0.18 0.67") == (0.54, [])  # moving takes longer than computing


def test_few_terms_are_not_summed_in_more_lanes_than_there_are_terms():
    """With more permissions it is no slower than with fewer, by the model."""
    strict = few_terms.optimize("avx2", threads=1)
    free = few_terms.optimize("avx2", threads=1, reassociate=True)
    before = af.Schedule(few_terms)

    def ratio(kernel):
        return Candidate("", kernel.schedule, before, (), AVX2).ratio

    assert ratio(free) <= 1.12 * ratio(strict)


@pytest.mark.parametrize("target", ["sse4.2", "avx2", "avx512"])
def test_what_one_nest_leaves_in_lanes_is_no_part_of_another(target):
    @af.kernel
    def total_and_row(x: af.i64[N], y: af.f32[N]):
        total = af.var(af.i64(0))
        with af.for_(N) as i:
            total += x[i]
        with af.for_(N) as j:
            y[j] = y[j] * af.f32(total)

    found = total_and_row.optimize(target, threads=1)
    before = af.Schedule(total_and_row).scalar_replace("i").vectorize("i", 64)
    after = af.Schedule(total_and_row).scalar_replace("i").vectorize("i", 64).vectorize("j", 8)
    machine = usual(targets()[target])
    assert Candidate("steps", after, before, ("done",), machine).ratio > 0, "it is known"
    x, y, expected = np.arange(77), np.ones(77, "f4"), np.ones(77, "f4")
    found.interpret(x, y)
    total_and_row.interpret(x, expected)
    np.testing.assert_array_equal(y, expected)


def test_each_nest_is_asked_about_alone():
    """Also one that reads the lanes that another one has left, which are those of several registers."""

    @af.kernel
    def lanes(x: af.f32[16], y: af.f32[N]):
        with af.for_(N, iter_args=af.vector_load(x, 0, 16)) as (_, found):
            af.yield_(found + found)
        with af.for_(N) as j:
            af.vector_store(found, x, 0)
            y[j] = y[j] * x[3]

    steps = af.Schedule(lanes)
    first, second = standing_in(steps)
    alone = [cycles_of(steps, [nest], AVX2) for nest in (first, second)]
    assert all(cycles > 0 for cycles in alone)
    assert sum(alone) == pytest.approx(cycles_of(steps, [first, second], AVX2))


def test_fewer_permissions_are_a_candidate_where_the_model_doubts_what_more_allow():
    """Vectors of outer loops fit where sums may be in any order, and take longer than the loops as written."""
    kernel = next(each.kernel for each in IDIOMS if each.name == "convolution of full length")
    strict, fast = (kernel.optimize("avx2", threads=1, reassociate=r).explain().notes[0] for r in (False, True))
    assert fast.gain >= strict.gain > 1
    assert "split where a condition" in fast.done


class Growing(Candidate):
    """A candidate of which it is known how long it takes with usual sizes, and with larger ones."""

    def _ratio(self, *, near: bool, times: int = 1) -> float:
        usual, larger = map(float, self.name.split())
        return {1: usual, FURTHER: larger}[times]


def test_what_is_alike_with_usual_sizes_is_compared_with_larger_ones():
    """Where one takes a tenth longer, no size decides else; where nobody knows, nothing is as fast as another one."""
    made = candidate(plain, lambda s: s.vectorize("i", 8))

    def is_as_fast(strict: str, free: str) -> bool:
        one, other = (Growing(each, made.schedule, made.before, (), AVX2) for each in (strict, free))
        return one.is_as_fast_as(other)

    assert is_as_fast("0.1 1", "0.1 0.1")
    assert is_as_fast("0.106 0.08", "0.1 0.1")
    assert not is_as_fast("0.106 0.1", "0.1 0.1")
    assert not is_as_fast("0.12 0.01", "0.1 0.1")
    assert not is_as_fast("0 0", "0.1 0.1")


@pytest.mark.parametrize("reassociate", [False, True])
def test_what_is_as_fast_in_the_order_of_the_text_stays_in_it(reassociate):
    """Integers are summed up in any order anyway, so permissions change nothing; sums of floats are faster."""

    @af.kernel
    def whole(x: af.i32[N], out: af.i32[1]):
        with af.for_(N) as i:
            out[0] += x[i]

    @af.kernel
    def total(x: af.f32[N], out: af.f32[1]):
        with af.for_(N) as i:
            out[0] += x[i]

    steps = [[*each.optimize("avx2", threads=1, reassociate=reassociate).schedule.steps] for each in (whole, total)]
    rounding = [any(dict(step.call.options).get("reassociate") for step in each) for each in steps]
    assert all(steps[:1])
    assert rounding == [False, reassociate]


def test_bytes_are_asked_about_in_rows_of_as_many_bytes():
    """With 300 rows, all lines of a column of bytes stay in the nearest cache, as they do in no picture."""
    kernel = next(each.kernel for each in IDIOMS if each.name == "transposed bytes")
    written = af.Schedule(kernel)
    blocks = copy(written).tile(["i", "j"], [64, 64])
    sizes = sizes_that_run(written, but_not_in=blocks)
    assert {*sizes.values()} == {4 * SIZE}
    assert "in blocks of 64 x 64" in kernel.optimize("avx512", threads=1).explain()


def test_vectors_that_would_be_nearly_empty_are_not_made():
    kernel = next(each.kernel for each in IDIOMS if each.name == "picture turned by a quarter")
    assert "c runs on vectors" not in kernel.optimize("avx512", threads=1).explain()
