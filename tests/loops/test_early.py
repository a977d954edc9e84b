"""`break_` and `continue_`: what they do in all ways to run a kernel, what is made of them, and what is in the way."""

from collections.abc import Callable

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine, scf
from affdsl.ir.traverse import definitions, walk
from affdsl.passes.analysis.early_exits import by_break, early_loops, exit_of, goes_on
from tests.effort import TRIES_ALL
from tests.harness.judges import copied
from tests.loops.early_kernels import CASES, by_rows, find_text, first_above, sum_until_negative
from tests.loops.kernels import Case, arguments
from tests.loops.ways import WAYS, agree

M, N = af.symbols("M N")
SIZES = (0, 1, 2, 7, 40)


@pytest.mark.parametrize("position", range(len(CASES)), ids=[str(case) for case in CASES])
def test_they_do_what_python_does(position: int):
    case: Case = CASES[position]
    ways = [*(WAYS if TRIES_ALL or position % 6 == 0 else WAYS[:2])]
    if TRIES_ALL or position % 8 == 4:
        ways.append(lambda kernel: kernel.optimize())
    for given in arguments(case, SIZES):
        agree(case.kernel, case.wanted, *given, ways=ways)


def test_the_c_is_what_one_would_write():
    assert (
        "    for (int64_t i = 0; i < N; ++i) {\n"
        "        if (x[i] > t) {\n"
        "            *found = (int64_t)i;\n"
        "            break;\n"
        "        }\n"
        "    }\n"
    ) in first_above.c()
    assert (
        "        so_far[i] = s_1;\n"
        "        if (x[i] < 0.0) {\n"
        "            break;\n"
        "        }\n"
        "        s_1 += x[i];\n"
        "        k_1 = add_i32(k_1, 1);\n"
    ) in sum_until_negative.c()
    for case in CASES:
        ends = "&& goes_on; ++i" if case.kernel is by_rows else "break;"
        early = early_loops(case.kernel.func, case.kernel.func)
        assert not early or ends in case.kernel.c(), f"{case} runs on"


def test_a_loop_that_ends_early_ends_in_all_ways():
    """It would run for hours."""

    @af.kernel
    def rounds(limit: af.i64, ran: af.i64[1]):
        with af.for_(10**12):
            ran[0] += 1
            with af.if_(ran[0] == limit):
                af.break_()

    for run in (rounds, rounds.interpret):
        ran = np.zeros(1, "i8")
        run(3, ran)
        assert ran[0] == 3
    assert "scf.while" in rounds.mlir()
    assert "affine.for" not in rounds.mlir()


def test_affine_loops_around_stay_affine_where_mlir_is_handed_on():
    text = by_rows.mlir()
    assert "affine.parallel" in text
    assert "affine.for" not in text
    assert text.count("scf.while") == 1


def test_a_condition_is_not_asked_again_behind_a_break():
    @af.kernel
    def until(x: af.i64[N], asked: af.i64[1]):
        k = af.var(af.i64(0))

        def more():
            asked[0] += 1
            return k < 10

        with af.while_(more):
            with af.if_(k == 2):
                af.break_()
            k += 1
        return k

    def wanted(x, asked):
        asked[0] += 3
        return 2

    agree(until, wanted, np.zeros(1, "i8"), np.zeros(1, "i8"))


def test_memory_is_given_back_on_all_ways():
    """What an iteration allocates before it may leave the loop is freed behind the branch, the rest in its block."""
    (loop,) = early_loops(by_rows.func, by_rows.func)
    guard = loop.body[0]
    assert isinstance(guard, scf.If)
    kinds = [op.name for op in guard.then]
    assert kinds.index("memref.alloc") < kinds.index("scf.if") < kinds.index("memref.dealloc")
    freed = [op for op in walk(by_rows.func) if op.name == "memref.dealloc"]
    assert len(freed) == 2
    assert freed[0] is not freed[1]
    assert freed[0] not in guard.then


def test_accesses_before_the_first_break_are_checked_for_all_iterations():
    """Who leaves the loop in time is for data to decide, and no access may count on it."""

    @af.kernel
    def search(x: af.f64[M], n: N):
        with af.for_(N) as i, af.if_(x[i] > 0):
            af.break_()

    assert not search.check().unknown
    search(np.zeros(3), 3)
    with pytest.raises(af.SizeError, match=r"only where M >= N, but M = 3, N = 4"):
        search(np.zeros(3), 4)

    with pytest.raises(af.ProgramIndexError, match=r"x\[i\] reads x\[9\] when i = 9"):

        @af.kernel
        def wrong(x: af.f64[5]):
            with af.for_(10) as i, af.if_(x[i] > 0):
                af.break_()


def test_a_condition_on_indices_that_breaks_proves_what_stands_behind_it():
    @af.kernel
    def search(x: af.f64[M], n: N):
        with af.for_(N) as i:
            with af.if_(i >= M):
                af.break_()
            x[i] = 1.0

    assert not search.check().unknown
    x = np.zeros(2)
    search(x, 9)
    assert x.tolist() == [1, 1]


@af.kernel
def rows(A: af.f64[M, N], t: af.f64, first: af.i64[M], y: af.f64[M]):
    with af.for_(M) as r:
        first[r] = -1
        with af.for_(N) as i:
            with af.if_(A[r, i] > t):
                first[r] = af.i64(i)
                af.break_()
    with af.for_(M) as k:
        y[k] = 2 * y[k]


ALONE = "it ends early, by break_ (line {}): an iteration runs only if none before it has left the loop"
INSIDE = "in it the loop i ends early, by break_ (line {}): {}"
Step = Callable[[af.Schedule], object]
REFUSED: dict[str, tuple[Step, str]] = {
    "parallel": (lambda s: s.parallel("i"), ALONE),
    "reverse": (lambda s: s.reverse("i"), ALONE),
    "demote": (lambda s: s.demote("i"), ALONE),
    "lanes": (
        lambda s: s.vectorize("r", 8),
        INSIDE.format("{}", "all lanes would run until the last of them has left"),
    ),
    "jam": (lambda s: s.unroll_jam("r", 2), INSIDE.format("{}", "jammed, it would run until all copies have left it")),
}


@pytest.mark.parametrize("step", REFUSED)
def test_what_would_run_behind_the_end_is_refused_with_the_line_of_the_break(step: str):
    take, why = REFUSED[step]
    (loop,) = early_loops(rows.func, rows.func)
    line = by_break(loop, rows.func).removeprefix("break_ (line ").removesuffix(")")
    with pytest.raises(af.IllegalTransform) as refused:
        take(af.Schedule(rows))
    assert why.format(line) in str(refused.value)


TAKEN: dict[str, Step] = {
    "strip_mine": lambda s: s.strip_mine("i", 4),
    "split": lambda s: s.split("i", 3),
    "unroll": lambda s: s.unroll("i", 3),
    "shift": lambda s: s.shift("i", 2),
    "peel": lambda s: s.peel("i", first=1),
    "threads": lambda s: s.parallel("r"),
    "lanes": lambda s: s.vectorize("k", 4),
}


@pytest.mark.parametrize("step", list(TAKEN)[:: 1 if TRIES_ALL else 3])
def test_what_keeps_the_order_is_taken_and_still_ends_early(step: str):
    s = af.Schedule(rows)
    TAKEN[step](s)
    made = s.kernel()
    known = definitions(made.func)
    with_flags = [op for op in walk(made.func) if isinstance(op, affine.For | scf.For) and op.results]
    assert all(goes_on(loop, known) is not None for loop in with_flags)
    rng = np.random.default_rng(1)
    for m, n in ((0, 3), (3, 0), (1, 1), (5, 9), (6, 13)):
        given = (rng.random((m, n)), 0.8, np.zeros(m, "i8"), rng.random(m))
        expected, found, interpreted = (copied(given) for _ in range(3))
        rows.interpret(*expected)
        made(*found)
        made.interpret(*interpreted)
        for a, b, c in zip(expected, found, interpreted, strict=True):
            np.testing.assert_array_equal(a, b)
            np.testing.assert_array_equal(a, c)


def test_optimize_leaves_a_loop_that_ends_early_and_takes_what_is_around_it():
    @af.kernel
    def until(A: af.f64[M, N], t: af.f64, y: af.f64[M]):
        with af.for_(M) as r:
            with af.for_(N, iter_args=af.f64(0)) as (i, s):
                with af.if_(s > t):
                    af.break_()
                af.yield_(s + A[r, i])
            y[r] = s

    made = until.optimize(threads=4)
    said = str(made.explain())
    assert "it ends early, by break_ (line" in said
    assert "reassociate" not in said, "which would not help"
    text = made.c()
    assert "break;" in text
    assert "goes_on" not in text
    assert "#pragma omp parallel for" in text


def test_a_loop_that_only_skips_is_as_any_other():
    @af.kernel
    def skips(x: af.f64[N], y: af.f64[N]):
        with af.for_(N) as i:
            with af.if_(x[i] < 0):
                af.continue_()
            y[i] = af.sqrt(x[i])

    assert not early_loops(skips.func, skips.func)
    af.Schedule(skips).vectorize("i", 4)
    af.Schedule(skips).parallel("i")
    af.Schedule(skips).reverse("i")


def test_breaks_of_helpers_and_of_python_loops_end_the_loop_of_the_kernel_around():
    def leave_if(condition):
        with af.if_(condition):
            af.break_()

    @af.kernel
    def some(x: af.f64[N, 3]):
        n = af.var(af.i64(0))
        with af.for_(N) as i:
            for k in range(3):
                leave_if(x[i, k] == k)
            n += 1
        return n

    def wanted(x):
        hit = (x == [0, 1, 2]).any(axis=1)
        return int(hit.argmax()) if hit.any() else len(x)

    for seed in range(6):
        agree(some, wanted, np.random.default_rng(seed).integers(0, 9, (seed, 3)).astype(float), ways=WAYS[:2])


def test_the_form_of_a_search_is_known_and_others_are_not():
    for case in CASES:
        func = case.kernel.func
        known = definitions(func)
        for loop, at in early_loops(func, func).items():
            if case.kernel is by_rows:
                continue  # memory is freed behind its branches
            found = exit_of(loop, func, known)
            assert found is not None
            assert found.position == at

    @af.kernel
    def counts(x: af.bool_[N]):
        """A truth value that is carried, and ends nothing."""
        with af.for_(N, iter_args=af.bool_(True)) as (i, all_of_them):
            af.yield_(all_of_them & x[i])
        return all_of_them

    assert not early_loops(counts.func, counts.func)


def test_a_flag_by_hand_that_ends_a_loop_ends_it():
    """What `break_` makes may be written by hand, and in text: it is the form that counts."""

    @af.kernel
    def by_hand(x: af.i64[N], ran: af.i64[1]):
        with af.for_(N, iter_args=af.bool_(True)) as (i, more):
            with af.if_(more, af.bool_) as still:
                ran[0] += 1
                af.yield_(x[i] != 0)
            with af.else_():
                af.yield_(False)
            af.yield_(still)
        return more

    assert "break;" in by_hand.c() or "&& more" in by_hand.c()
    x, ran = np.array([1, 2, 0, 4, 0]), np.zeros(1, "i8")
    assert not by_hand(x, ran)
    assert ran[0] == 3


def test_find_text_is_as_pythons():
    text = np.frombuffer(b"aabaabbab", "u1").copy()
    assert find_text(text, np.frombuffer(b"abb", "u1").copy()) == 4
