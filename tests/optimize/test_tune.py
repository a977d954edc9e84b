"""What `optimize(tune=True)` times, keeps, remembers, and says; the times themselves are made up here."""

import re
import sys

import numpy as np
import pytest

import affdsl as af
from affdsl import progress
from affdsl.codegen.cache import default_cache
from affdsl.codegen.native import runs_here
from affdsl.codegen.roofline import Level, Roofline
from affdsl.optimize import forecast, optimizer, tuning
from affdsl.optimize import trial as timing
from affdsl.optimize.optimizer import chosen
from affdsl.optimize.options import (
    AS_IT_WAS,
    NUMBERS,
    RECIPES,
    USUAL,
    VARIATIONS,
    Choices,
    Options,
    targets,
    to_be_timed,
    together,
    varied,
    with_other_numbers,
)
from affdsl.optimize.recipes import FOR_KERNELS, FOR_LOOPS
from affdsl.optimize.trial import growing, trial
from affdsl.optimize.tuning import KIND, Outcome, key_of, recall, remember
from benchmarks.fusion import CHAINS
from tests.effort import TRIES_ALL
from tests.test_progress import Terminal

M, N, K = af.symbols("M N K")


@af.kernel
def row_sums(A: af.f64[M, N], sums: af.f64[M]):
    with af.for_(M) as i, af.for_(N) as j:
        sums[i] += A[i, j]


@af.kernel
def product(A: af.f32[M, K], B: af.f32[K, N], C: af.f32[M, N]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += A[i, k] * B[k, j]


@af.kernel
def sweeps(steps: af.index, A: af.f64[N, N], B: af.f64[N, N]):
    with af.for_(steps):
        with af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:
            B[i, j] = (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1]) * 0.25
        with af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:
            A[i, j] = (B[i - 1, j] + B[i + 1, j] + B[i, j - 1] + B[i, j + 1]) * 0.25


@af.kernel
def factors(A: af.f64[N, N]):
    with af.for_(N) as i:
        with af.for_(i) as j:
            with af.for_(j) as k:
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] = A[i, j] / A[j, j]
        with af.for_(i) as k:
            A[i, i] -= A[i, k] * A[i, k]


@af.kernel
def gather(place: af.i32[N], x: af.f64[M], y: af.f64[N]):
    with af.for_(N) as i:
        y[i] += x[place[i]]


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch, tmp_path):
    """A cache that remembers nothing."""
    monkeypatch.setenv("AFFDSL_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def clock(monkeypatch):
    """What decides how long a kernel takes, from its schedule; it counts what was timed."""

    class Clock:
        def __init__(self):
            self.fast, self.timed, self.fails_at = 'unroll_jam("i", 16)', 0, {}

        def __call__(self, kernel, trial, calls=1):
            self.timed += 1
            if self.timed in self.fails_at:
                raise self.fails_at[self.timed]
            return 0.001 if self.fast in str(kernel.schedule) else 0.002

    made = Clock()
    monkeypatch.setattr(timing, "seconds", made)
    return made


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    """Rates that nobody has to measure, and which are the same everywhere."""
    levels = Level("L1", 32 << 10, 4e11), Level("L2", 1 << 20, 2e11), Level("memory", None, 1e10)
    monkeypatch.setattr(forecast, "roofline", lambda threads: Roofline(threads, {"f32": 6.4e10, "f64": 3.2e10}, levels))
    monkeypatch.setattr(forecast, "most_threads", lambda: 2)
    monkeypatch.setattr(forecast, "native_target", lambda: targets()["avx2"])


def tuned(kernel=row_sums, tune=None, **options):
    sizes = {"M": 20, "N": 30} if tune is None else tune
    return kernel.optimize("baseline", **{"threads": 1, **options}, tune=sizes)


# Candidates -----------------------------------------------------------------------------------------------------------

SMALL = {"M": 19, "N": 21, "K": 7, "steps": 5}


def wrong(kernel, numbers, target="avx2"):
    """The other numbers of those that a kernel is asked for with which it does something else, in the interpreter."""
    rows = [row for row in VARIATIONS if not row.keys().isdisjoint(numbers)]
    small = [{name: max(2, number // 8) for name, number in row.items()} for row in rows]  # tiles end, too
    sizes = {each.hint: SMALL[each.hint] for each in kernel.func.args if each.hint in SMALL}
    wanted = trial(kernel, sizes).arguments()
    kernel.interpret(*wanted)
    tried = [*map(varied, [*small, *rows]), AS_IT_WAS]
    for choices in tried if TRIES_ALL else tried[:: max(1, len(tried) // 2)]:
        made, _ = chosen(af.Schedule(kernel), Options(targets()[target], threads=2, choices=choices))
        found = trial(kernel, sizes).arguments()
        made.kernel().interpret(*found)
        if any(np.asarray(x).tobytes() != np.asarray(y).tobytes() for x, y in zip(wanted, found, strict=True)):
            yield str(choices)


OF_KERNEL = [(row_sums, ("sums", "sum_vectors", "shared_rows")), (product, ("product_terms", "register_rows")),
             (sweeps, ("sweep_steps", "sweep_planes"))]  # fmt: skip
OF_FACTORS = [(factors, ("block_rows", "block_columns"))]


@pytest.mark.parametrize(
    ("kernel", "numbers"), OF_KERNEL + OF_FACTORS * TRIES_ALL, ids=lambda each: getattr(each, "name", "")
)
def test_kernels_do_the_same_whatever_is_chosen(kernel, numbers):
    assert list(wrong(kernel, numbers)) == []


def test_only_what_recipes_asked_for_is_varied():
    asked = {"sums", "outer_vectors"}
    found = to_be_timed(asked, 2)
    assert found == [AS_IT_WAS, Choices(most_threads=1), Choices(left_out=("outer",))]
    assert {name for each in with_other_numbers(asked) for name in each.numbers()} == asked
    assert set().union(*(row.keys() for row in VARIATIONS)) <= set(NUMBERS)


def test_two_numbers_that_are_better_are_tried_together():
    a, b, c = varied({"sums": 16}), varied({"sums": 4, "shared_rows": 8}), varied({"product_terms": 256})
    assert together({USUAL: 9.0, a: 2.0, b: 3.0, c: 4.0}) == Choices(sums=16, product_terms=256)
    assert together({USUAL: 9.0, a: 2.0, b: 3.0, c: 10.0}) is None, "they change one number"
    assert together({USUAL: 1.0, a: 2.0}) is together({USUAL: 1.0}) is None
    assert together({USUAL: 9.0, AS_IT_WAS: 1.0, Choices(left_out=("outer",)): 1.0, a: 2.0}) is None


# What is kept ---------------------------------------------------------------------------------------------------------


def test_the_fastest_is_kept_and_all_times_are_said(clock):
    fast = tuned()
    assert 'unroll_jam("i", 16)' in str(fast.schedule)
    said = fast.explain()
    assert "16 iterations of i run at once" in said
    assert "tuned for M = 20, N = 30: sums = 16, 1 ms a call\n" in said
    assert "    2 ms: what recipes choose by themselves\n" in said
    assert "    2 ms: as it was\n" in said
    assert "timed now, and remembered for other processes" in said
    assert "with M = 20, N = 30: 600 flop, and 5.12 kB that must move\n" in said
    assert re.search(r"        measured: 1 ms, \d+ % of the roof", said)


def test_what_is_hardly_faster_is_not_worth_another_choice(clock, monkeypatch):
    monkeypatch.setattr(timing, "seconds", lambda kernel, *_: 0.00099 if clock.fast in str(kernel.schedule) else 0.001)
    assert "tuned for M = 20, N = 30: what recipes choose by themselves, 1 ms a call" in tuned().explain()


def test_another_time_nothing_is_timed(clock):
    first = tuned()
    timed = clock.timed
    again = tuned(tune={"M": 17, "N": 31})  # as many digits
    assert clock.timed == timed > 0
    assert again.mlir() == first.mlir()
    assert "tuned for M = 20, N = 30: sums = 16" in again.explain()
    assert "timed before, and remembered: nothing was timed now" in again.explain()


def test_what_it_holds_for_is_one_kernel_one_way_and_one_class_of_sizes():
    @af.kernel
    def other(A: af.f64[M, N], sums: af.f64[M]):
        with af.for_(M) as i, af.for_(N) as j:
            sums[i] += A[i, j] * 2.0

    options, sizes = Options(targets()["baseline"]), {"M": 20, "N": 30}
    remember(Outcome(sizes, {USUAL: 1.0}, {}), key_of(row_sums, options, sizes))
    assert recall(row_sums, key_of(row_sums, options, {"M": 31, "N": 16})) == Outcome(sizes, {USUAL: 1.0}, {})
    elsewhere = [
        key_of(other, options, sizes),
        key_of(row_sums, options, None),
        key_of(row_sums, options, {"M": 20, "N": 32}),
    ]
    for change in ({"target": targets()["avx2"]}, {"threads": 2}, {"contract": True}, {"reassociate": True}):
        elsewhere.append(key_of(row_sums, Options(**{"target": options.target, **change}), sizes))
    assert [recall(row_sums, key) for key in elsewhere] == [None] * 7


def test_a_damaged_file_is_reported_and_not_taken(clock, empty_cache):
    tuned()
    (file,) = empty_cache.glob(f"*.{KIND}")
    file.write_bytes(file.read_bytes().replace(b"0.001", b"0.009"))
    with pytest.warns(UserWarning, match=r"unusable \(its content does not have the recorded SHA-256\)"):
        assert "timed now" in tuned().explain()
    assert "timed before" in tuned().explain()


NO_RECORDS = ["", "[]", "{}", *(f'{{"sizes": {{}}, "times": [{each}], "refused": []}}' for each in (
    "7", "[7, 1.0]", '[{"x": 1}, 1.0]', "[{}]",
))]  # fmt: skip


@pytest.mark.parametrize("content", NO_RECORDS)
def test_what_is_no_record_is_reported_and_not_taken(content):
    key = key_of(row_sums, Options(targets()["baseline"]), None)
    default_cache().keep(content.encode(), KIND, *key)
    with pytest.warns(UserWarning, match="of tuning row_sums is no record of it, so it is tuned again"):
        assert recall(row_sums, key) is None


@pytest.mark.parametrize("call", [1, 3, 6, 12])
def test_an_interrupt_keeps_the_best_so_far(clock, empty_cache, call):
    clock.fails_at = {call: KeyboardInterrupt()}
    fast = tuned()
    assert "interrupted, so that the rest was not timed, and nothing is remembered" in fast.explain()
    assert "at best on this machine" not in fast.explain()
    assert list(empty_cache.glob(f"*.{KIND}")) == []
    x, y = (np.zeros(3) for _ in range(2))
    fast.interpret(np.ones((3, 4)), x)
    row_sums.interpret(np.ones((3, 4)), y)
    assert x.tobytes() == y.tobytes()
    if call == 1:
        assert "tuned for M = 20, N = 30: what recipes choose by themselves\n" in fast.explain()


def test_an_interrupt_while_the_machine_is_measured_loses_nothing(clock, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(forecast, "roofline", interrupted)
    said = tuned().explain()
    assert "sums = 16, 1 ms a call" in said
    assert "timed now, and remembered for other processes" in said
    assert "at best on this machine" not in said


@pytest.mark.parametrize("name", ["blur", "unsharp"])
def test_a_chain_as_it_was_has_no_steps(name):
    options = Options(targets()["avx2"], choices=AS_IT_WAS)
    made, _ = chosen(af.Schedule(CHAINS[name].kernel), options)
    assert made.steps == ()


def test_what_the_compiler_refuses_is_left_out(clock):
    clock.fails_at = {5: af.ToolchainError("the compiler crashed\nand says more")}
    said = tuned().explain()
    assert "    not timed: as it was; the compiler crashed\n" in said
    assert "and says more" not in said
    assert "not timed" in tuned().explain(), "that is remembered, too"


def test_the_kernel_as_it_was_may_take_too_long(clock, monkeypatch):
    monkeypatch.setattr(timing, "seconds", lambda kernel, *_: 0.5)
    assert "not timed: as it was; a call that is optimized takes 500 ms already" in tuned().explain()


def test_no_candidate_is_begun_when_the_time_is_over(clock, monkeypatch):
    monkeypatch.setattr(tuning, "monotonic", iter([0.0, 0.0, *[1e9] * 9]).__next__)
    said = tuned().explain()
    assert "tuned for M = 20, N = 30: what recipes choose by themselves" in said
    assert "as it was" not in said


def test_threads_are_tried_and_left(clock):
    clock.fast = "nothing is"
    said = tuned(threads=2).explain()
    assert "2 ms: on one thread" in said
    clock.fast = 'unroll_jam("i", 8)'  # which both have
    assert "i (" in tuned(threads=2, tune={"M": 99, "N": 99}).explain()


def test_really_timed():
    """The clock on the wall; whatever wins is right."""
    fast = gather.optimize(threads=1, tune={"M": 5, "N": 2000})
    assert re.search(r"tuned for N = 2000, M = 5: .*, [\d.]+ (us|ms|s) a call", fast.explain())
    place = np.random.default_rng(0).integers(0, 5, 70).astype(np.int32)
    y = np.zeros(70)
    fast(place, np.arange(5.0), y)
    np.testing.assert_array_equal(y, place)


def test_what_won_is_not_decided_again(clock, monkeypatch):
    """Nor when it was timed in another process: what recipes make of those numbers is kept, too."""
    monkeypatch.setenv("AFFDSL_DECISIONS", "1")
    first = tuned()
    assert 'unroll_jam("i", 16)' in str(first.schedule)
    monkeypatch.setattr(optimizer, "decided", None)
    again = tuned()
    assert "timed before, and remembered: nothing was timed now" in again.explain()
    assert str(again) == str(first)
    assert str(again.schedule) == str(first.schedule)


# Sizes and arrays -----------------------------------------------------------------------------------------------------


def test_sizes_grow_until_arrays_exceed_the_second_cache(clock):
    said = row_sums.optimize(threads=1, tune=True).explain()
    n = int(re.search(r"tuned for M = (\d+), N = \1:", said)[1])
    caches = af.native_target().caches
    assert (
        2 * (caches[1] if len(caches) > 1 else 1 << 20)
        <= 8 * (n * n + n)
        < 16 * (caches[1] if len(caches) > 1 else 1 << 20)
    )


def test_sizes_grow_no_more_when_calls_take_long(monkeypatch):
    monkeypatch.setattr(timing, "seconds", lambda *_: 0.05)
    assert "tuned for M = 40, N = 40: " in tuned(tune=True).explain()


def test_arrays_are_as_they_were_for_each_call():
    made = trial(gather, {"M": 4, "N": 6})
    place, x, y = made.arguments()
    assert place.tolist() == [0] * 6
    assert ((x >= 0.5) & (x <= 1.5)).all()
    before = y.copy()
    y[:] = 7
    assert made.arguments()[2] is y
    assert y.tobytes() == before.tobytes()
    assert made.bytes == 4 * 6 + 8 * 4 + 8 * 6
    assert str(made) == "N = 6, M = 4"


def test_numbers_that_are_fixed_or_have_defaults_are_taken():
    @af.kernel
    def steps(x: af.f64[N], n: af.index = 7, a: af.f64 = 3.0):
        with af.for_(n), af.for_(N) as i:
            x[i] *= a

    first, second = (each for each, _ in zip(growing(steps), range(2), strict=False))
    assert (str(first), str(second)) == ("N = 40, n = 7", "N = 80, n = 7")
    assert first.arguments()[1:] == (7, 3.0)
    assert str(trial(steps, {"N": np.int64(4)})) == "N = 4, n = 7"
    only = [str(each) for each in growing(sweeps.specialize(N=12, steps=3))]
    assert only == ["steps = 3"]


def test_an_argument_that_is_a_size_of_arrays_is_that_size():
    @af.kernel
    def doubled(x: af.f64[N], n: N):
        with af.for_(n) as i:
            x[i] *= 2.0

    x, n = trial(doubled, {"N": 9}).arguments()
    assert (x.shape, n) == ((9,), 9)


def test_indices_from_data_are_zeros_and_checked_once(clock):
    assert "tuned for N = 6, M = 4" in tuned(gather, {"N": 6, "M": 4}).explain()

    @af.kernel
    def before(place: af.i32[N], x: af.f64[N], y: af.f64[N]):
        with af.for_(N) as i:
            y[i] += x[place[i] - 1]

    with pytest.raises(
        af.ProgramError, match=r"cannot time before: on arrays made for it, .* ones that are 0: .*x\["
    ) as caught:
        tuned(before, {"N": 6})
    assert "time it on data of your own" in str(caught.value)


def test_what_data_decide_is_not_timed():
    @af.kernel
    def sparse(start: af.i32[N], x: af.f64[M], y: af.f64[N]):
        with af.for_(N - 1) as i, af.for_(start[i], start[i + 1]) as k:
            y[i] += x[k]

    @af.kernel
    def root(a: af.f64, x: af.f64[N]):
        with af.while_(lambda: x[0] * x[0] > a):
            x[0] = x[0] / 2

    @af.kernel
    def loud(x: af.f64[N]):
        with af.for_(N) as i:
            af.print_(x[i])

    for kernel, why in ((sparse, "loop k runs as often as its data say"), (root, "a loop runs as long as its data say"),
                        (loud, "it prints")):  # fmt: skip
        with pytest.raises(af.ProgramError, match=f"test_tune.py:\\d+: cannot time {kernel.name}: {why}"):
            tuned(kernel, True)


def test_sizes_that_are_no_sizes_are_refused():
    @af.kernel
    def fixed(n: af.index, x: af.f64[N]):
        af.assume(n >= 100)
        with af.for_(N) as i:
            x[i] = 1.0

    unfit = next(name for name, target in targets().items() if not runs_here(target))
    for make, text in (
        (lambda: tuned(tune={"M": 3}), r'the size N is missing\n    the sizes are \{"M": ..., "N": ...\}'),
        (lambda: tuned(tune={"M": 3, "n": 3}), "it has no size n\n    its sizes are M, N"),
        (lambda: tuned(tune={"M": 3, "N": 2.5}), "N is 2.5\n    it is a whole number from 0 on"),
        (lambda: tuned(tune={"M": 3, "N": -1}), "N is -1\n"),
        (lambda: tuned(tune="fast"), "tune is 'fast'\n    it is True, or sizes, as in tune={\"N\": 1000}"),
        (lambda: row_sums.optimize(unfit, tune=True), f"for {unfit}: this machine has not its instructions"),
        (
            lambda: tuned(fixed, True),
            r'sizes that are all alike: .* n - 100 >= 0, but n = 16\n    say for which: tune=\{"N": \.\.\., "n"',
        ),
        (lambda: tuned(sweeps, {"N": 9, "steps": True}), "steps is True"),
    ):
        with pytest.raises(af.ProgramError, match=f"cannot time [\\s\\S]*{text}"):
            make()


# Terminals ------------------------------------------------------------------------------------------------------------


def test_a_terminal_shows_a_bar(clock, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "PERIOD", 0.001)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("TERM", raising=False)
    terminal = Terminal("tuning row_sums [####")
    monkeypatch.setattr(sys, "stderr", terminal)
    times = timing.seconds

    def until_seen(*arguments):
        if clock.timed == 9:
            assert terminal.seen.wait(10)
        return times(*arguments)

    monkeypatch.setattr(timing, "seconds", until_seen)
    tuned()
    assert terminal.getvalue().endswith(progress.CLEAR)


def test_nothing_is_written_where_there_is_no_terminal(clock, capsys):
    tuned()
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("faster", ["as it was", "optimized"])
def test_for_sizes_the_loops_as_written_stay_where_they_are_faster(monkeypatch, faster):
    timed = []

    def seconds(kernel, trial, calls=1):
        timed.append(dict(trial.sizes))
        return 0.001 if (len(kernel.schedule.steps) == 0) == (faster == "as it was") else 0.002

    monkeypatch.setattr(timing, "seconds", seconds)
    made = row_sums.optimize(threads=1, sizes={"M": 200, "N": 300})
    assert (made.mlir() == row_sums.mlir()) == (faster == "as it was")
    assert {tuple(each.items()) for each in timed} == {(("M", 200), ("N", 300))}
    assert "timed for M = 200, N = 300: " in made.explain()
    assert "    1 ms" not in made.explain()
    assert "    2 ms" in made.explain()
    timed.clear()
    again = row_sums.optimize(threads=1, sizes={"M": 200, "N": 300})
    assert again.mlir() == made.mlir()
    assert not timed
    assert "nothing was timed now" in again.explain()


def test_what_was_tuned_is_known_for_sizes_but_not_the_other_way_round(clock):
    row_sums.optimize(threads=1, sizes={"M": 200, "N": 300})
    before = clock.timed
    row_sums.optimize(threads=1, tune={"M": 200, "N": 300})
    after = clock.timed
    assert before < after
    row_sums.optimize(threads=1, sizes={"M": 201, "N": 301})
    assert clock.timed == after


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"sizes": True}, "sizes is True\n.*it is sizes, as in sizes="),
        ({"sizes": {"N": 9}}, "the size M is missing"),
        ({"sizes": {"M": 9, "N": 9}, "tune": True}, "for sizes and tune it\n.*give the sizes as tune="),
        ({"sizes": {"M": 9, "N": 9}, "target": "neon"}, "cannot time row_sums for neon"),
    ],
)
def test_sizes_that_cannot_be_timed(how, why):
    with pytest.raises(af.AffdslError, match=why):
        row_sums.optimize(**how)


def test_each_recipe_can_be_left_out():
    assert [*FOR_KERNELS, *FOR_LOOPS] == [*RECIPES]
