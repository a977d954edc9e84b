"""Tests of schedules: what they print replays, undo restores, refusals teach, and kernels compute what they did."""

import copy
import itertools
import pickle
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import affdsl as af
from affdsl.errors import InternalError
from affdsl.ir.dialects import affine
from affdsl.ir.traverse import rewrite, walk
from benchmarks.polybench.suite import SUITE, named
from codegen.errors import SizeError
from examples.cholesky import cases as cholesky_cases
from examples.cholesky import cholesky
from examples.floyd_warshall import floyd_warshall
from examples.gauss_seidel import gauss_seidel
from examples.gemm import cases as gemm_cases
from examples.gemm import gemm
from examples.jacobi2d import jacobi2d
from examples.prefix_sum import prefix_sum
from passes.advice.verbs import VERBS
from passes.drawing.layout import DrawingError
from passes.transforms.hoist import hoist
from passes.transforms.peel import peel
from tests.oracles import compile_c, mlir_opt
from tests.schedule.random_schedules import random_schedule, taken_advice

M, N, K = af.symbols("M N K")


@af.kernel
def matmul(A: af.f32[M, K], B: af.f32[K, N], C: af.f32[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        C[i, j] = 0.0
        with af.for_(K) as k:
            C[i, j] += A[i, k] * B[k, j]


@af.kernel
def gemm_rows(A: af.f32[M, K], B: af.f32[K, N], C: af.f32[M, N]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += A[i, k] * B[k, j]


@af.kernel
def jacobi(A: af.f64[N], B: af.f64[N], steps: af.index):
    with af.for_(steps) as t:  # noqa: F841 - the name of the loop
        with af.for_(1, N - 1) as i:
            B[i] = (A[i - 1] + A[i] + A[i + 1]) / 3
        with af.for_(1, N - 1) as j:
            A[j] = B[j]


@af.kernel
def sweep(A: af.f64[N, N], steps: af.index):
    with af.for_(steps) as t, af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:  # noqa: F841 - the name of the loop
        A[i, j] = (A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j]) / 5


@af.kernel
def blocked(A: af.f64[M, N], T: af.index):
    af.assume(T >= 1, T < 2**31)
    with af.for_(M) as i, af.for_(N) as j:
        A[i, j] += 1.0


KERNELS = """import affdsl as af
M, N = af.symbols("M N")

@af.kernel
def twice(A: af.f64[M, N], T: af.index):
    with af.for_(M) as i, af.for_(N) as j:
        A[i, j] *= 2
    with af.for_(M) as i, af.for_(1, N) as j:
        A[i, j] += A[i, j - 1]
    with af.parallel(M) as row:
        A[row, 0] = 0.0
    with af.for_(M):
        A[0, 0] += 1
"""


@pytest.fixture
def twice(monkeypatch, tmp_path):
    """A kernel with lines that are known, in a file of its own."""
    monkeypatch.chdir(tmp_path)
    found: dict[str, object] = {}
    exec(compile(KERNELS, str(tmp_path / "kernels.py"), "exec"), found)
    return found["twice"]


def message(kernel: af.Kernel, step: str, kind: type[Exception] = af.ScheduleError) -> str:
    """What a step says that is written in line 2 of tune.py."""
    code = f"s = af.Schedule(kernel)\ns{step}\n"
    with pytest.raises(kind) as caught:
        exec(compile(code, str(Path("tune.py").resolve()), "exec"), {"af": af, "kernel": kernel})
    return str(caught.value)


LOOPS = """\
        i#1 = 0 to M           kernels.py:6
          j#1 = 0 to N         kernels.py:6
        i#2 = 0 to M           kernels.py:8
          j#2 = 1 to N         kernels.py:8
        parallel row = 0 to M  kernels.py:10
        i#3 = 0 to M           kernels.py:12"""


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (
            '.tile(("i", "j"), 4)',
            ('cannot s.tile(("i", "j"), 4): 3 loops of twice are called i\n'
            f'    write "i#1" or "i#2" or "i#3"; the loops are\n{LOOPS}'),
        ),
        (
            '.unroll("q", 4)',
            f'cannot s.unroll("q", 4): twice has no loop q\n    its loops are\n{LOOPS}',
        ),
        (
            '.skew("rows", "i#1", 1)',
            ('cannot s.skew("rows", "i#1", 1): twice has no loop rows; did you mean row?\n'
            f"    its loops are\n{LOOPS}"),
        ),
        ('.parallel(3)', f"cannot s.parallel(3): a loop is given by its name, got 3\n    its loops are\n{LOOPS}"),
        ('.coalesce("i#1")', 'cannot s.coalesce("i#1"): it takes the names of loops, as ("i", "j"), got "i#1"'),
        (
            '.tile(("i#1", "j#1"), (4,))',
            'cannot s.tile(("i#1", "j#1"), (4,)): each of 2 loops has one size, got (4,)',
        ),
        ('.tile(("i#1",), 0)', 'cannot s.tile(("i#1",), 0): a size is a whole number of at least 1, got 0'),
        (
            '.tile(("i#1",), (2.5,))',
            'cannot s.tile(("i#1",), (2.5,)): a size is a whole number of at least 1, got 2.5',
        ),
        (
            '.tile(("i#1",), "T")',
            ('cannot s.tile(("i#1",), "T"): T may be 0 or negative, and a tile has an iteration at least\n'
            "    write affdsl.assume(T >= 1, T < 2**31) in the kernel: each call checks it"),
        ),
        (
            '.tile(("i#1",), af.symbols("N") + 1)',
            ('cannot s.tile(("i#1",), N + 1): a size is a number or an argument of the kernel, got N + 1\n'
            "    give the kernel an argument for it: `T: affdsl.index`"),
        ),
        (
            '.tile(("i#1",), 4, names=("row",))',
            'cannot s.tile(("i#1",), 4, names=("row",)): there is a loop row already',
        ),
        (
            '.tile(("i#1",), 4, names=("a b",))',
            'cannot s.tile(("i#1",), 4, names=("a b",)): a name is a text like i_tile, got "a b"',
        ),
        (
            '.tile(("i#1",), 4, names=("a", "b"))',
            'cannot s.tile(("i#1",), 4, names=("a", "b")): each new loop has one name, got ("a", "b")',
        ),
        (
            '.split("i#1", af.symbols("L") // 2)',
            'cannot s.split("i#1", L // 2): twice has no size or loop L\n    its sizes are M, N, T',
        ),
        (
            '.split("i#1", "MN")',
            'cannot s.split("i#1", "MN"): twice has no size or loop MN; did you mean N?\n    its sizes are M, N, T',
        ),
        ('.unroll("i#1", 1)', 'cannot s.unroll("i#1", 1): a factor is a whole number of at least 2, got 1'),
        ('.shift("i#1", True)', 'cannot s.shift("i#1", True): a distance is a whole number, got True'),
        (
            '.privatize("B", "i#1")',
            'cannot s.privatize("B", "i#1"): twice has no array B\n    its arrays are A',
        ),
        (
            '.skew("i#1", "j#1", -(2**31))',
            (
                'cannot s.skew("i#1", "j#1", -2147483648): a factor is below 2**31, got -2147483648\n'
                "    sums and products with it must fit into 64 bits, as all indices must"
            ),
        ),
        ('.permute(("i#1", "i#1"))', 'cannot s.permute(("i#1", "i#1")): i#1 is given twice'),
        ('.peel("i#1")', 'cannot s.peel("i#1"): it takes a number of first or last iterations, as first=1'),
        ('.undo()', "there is no step of s to undo"),
    ],
)  # fmt: skip
def test_what_is_no_loop_size_or_name_is_said_with_all_there_are(twice, step, words):
    assert message(twice, step) == f"tune.py:2: {words}"


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (
            '.interchange("i#2", "j#1")',
            ("cannot interchange loops i#2 and j#1 (of twice, kernels.py:6)\n"
            "    the loop j#1 is not inside of the loop i#2: j#1 stands in i#1, and i#2 stands outside of all loops"),
        ),
        (
            '.reverse("j#2")',
            ("cannot reverse loop j#2 (of twice, kernels.py:8)\n"
            "    the store A[i, j] at line 9 feeds the load A[i, j - 1] at line 9 with distance (0, 1),\n"
            "    e.g. (i#2, j#2) = (0, 1) writes A[0, 1], which (i#2, j#2) = (0, 2) reads (for M = 1, N = 3); "
            "the new order does not run them in this order"),
        ),
        (
            '.parallel("j#2")',
            ("cannot make j#2 parallel (of twice, kernels.py:8)\n"
            "    the store A[i, j] at line 9 feeds the load A[i, j - 1] at line 9 with distance (0, 1),\n"
            "    e.g. (i#2, j#2) = (0, 1) writes A[0, 1], which (i#2, j#2) = (0, 2) reads (for M = 1, N = 3); "
            "the new order does not run them in this order\n"
            '    legal: s.parallel("i#2")'),
        ),
        (
            '.peel("row", first=1)',
            ('cannot s.peel("row", first=1) (of twice, kernels.py:10)\n'
            "    the loop row is parallel already: its iterations have no order that a step could change; "
            "take other steps first, and make it parallel last"),
        ),
        (
            '.unroll("i#1")',
            ("cannot unroll loop i#1 entirely (of twice, kernels.py:6)\n"
            "    its trip count is M, not a number\n"
            '    legal: s.unroll("i#1", 4)'),
        ),
    ],
)  # fmt: skip
def test_refusals_name_the_step_and_the_loops_and_advise_in_steps(twice, step, words):
    assert message(twice, step, af.IllegalTransform) == f"tune.py:2: {words}"


def test_bands_that_are_not_perfect_are_refused_with_what_makes_them_so():
    s = af.Schedule(matmul)
    with pytest.raises(af.IllegalTransform) as caught:
        s.tile(("i", "j", "k"), 8)
    first, *rest = str(caught.value).splitlines()
    assert first.partition(": ")[2].startswith("cannot tile loops i, j, k (of matmul, ")
    reason = (
        r"    the loop j does not hold the loop k and nothing else: the store C\[i, j\] at line \d+ stands beside it"
    )
    assert re.fullmatch(reason, rest[0])
    assert rest[1:] == ['    legal: s.distribute("j").distribute("i")']
    s.distribute("j")
    with pytest.raises(
        af.IllegalTransform, match="the loop i does not hold the loop j and nothing else: another loop j_2"
    ):
        s.tile(("i", "j"), 8)
    s.distribute("i").tile(("i_2", "j_2", "k"), 8)
    with pytest.raises(af.IllegalTransform) as caught:
        af.Schedule(jacobi).tile(("t", "i"), 8)
    assert "legal" not in str(caught.value)


def test_triangles_are_peeled_and_made_perfect_as_advised():
    s = af.Schedule(cholesky)
    with pytest.raises(af.IllegalTransform) as caught:
        s.tile(("i", "j"), 8)
    assert caught.value.alternative == 's.peel("i", first=1).make_perfect("i", "j") first'
    s.peel("i", first=1).make_perfect("i", "j").tile(("i", "j"), 8)
    for case in cholesky_cases():
        case.check(s.kernel())
        case.check(s.kernel().interpret)


def test_advice_is_legal_when_it_is_taken():
    s = af.Schedule(sweep)
    with pytest.raises(af.IllegalTransform, match=r"cannot interchange loops t and i") as caught:
        s.interchange("t", "i")
    assert caught.value.alternative == 's.skew("t", "i", 1) first'
    assert caught.value.dependence is not None
    assert caught.value.witness is not None
    exec(caught.value.alternative.removesuffix(" first"), {"s": s})
    s.interchange("t", "i")
    assert [str(step) for step in s.steps] == ['skew("t", "i", 1)', 'interchange("t", "i")']


def test_all_advice_of_random_refusals_can_be_taken():
    names = ("adi", "doitgen", "gesummv", "lu", "seidel-2d", "trmm")
    assert sum(taken_advice(named(name).kernel, seed) for name in names for seed in range(2)) >= 8


def test_advice_names_the_variable_of_the_schedule():
    tuned = af.Schedule(sweep)
    with pytest.raises(af.IllegalTransform, match=r'legal: tuned\.skew\("t", "i", 1\) first'):
        tuned.interchange("t", "i")


def test_options_are_advised_with_the_whole_step():
    @af.kernel
    def total(x: af.f64[N], s: af.f64[1]):
        with af.for_(N) as i:
            s[0] += x[i]

    s = af.Schedule(total)
    with pytest.raises(af.IllegalTransform, match=r'legal: s\.reverse\("i", reassociate=True\)$'):
        s.reverse("i")
    s.reverse("i", reassociate=True)
    assert str(s).endswith('\ns.reverse("i", reassociate=True)')


def test_what_is_no_kernel_is_refused(twice):
    with pytest.raises(af.ScheduleError, match=r"Schedule takes a kernel, got 3\n    write @affdsl\.kernel above"):
        af.Schedule(3)
    with pytest.raises(af.ScheduleError, match=r"Schedule takes a kernel, got Module\(.{1,60}\)\n    write"):
        af.Schedule(sweep.module)


def test_a_refused_step_changes_nothing():
    s = af.Schedule(sweep).skew("t", "i", 1)
    before, loops = s.kernel().mlir(), str(s.loops())
    for attempt in (lambda: s.parallel("j"), lambda: s.tile(("t", "j"), 4), lambda: s.unroll("x", 2)):
        with pytest.raises(af.AffdslError):
            attempt()
    assert s.kernel().mlir() == before
    assert str(s.loops()) == loops
    assert len(s.steps) == 1
    assert [str(step) for step in s.refusals] == ['parallel("j")', 'tile(("t", "j"), 4)']
    assert "cannot make j parallel" in s.refusals[0].error


def test_copies_and_new_loops_have_names_of_their_own():
    s = af.Schedule(matmul)
    s.distribute("j").distribute("i")
    assert [row.names for row in s.loops()] == [("i",), ("j",), ("i_2",), ("j_2",), ("k",)]
    s.unroll_jam("i", 2).tile(("i_2", "j_2", "k"), (4, 4, 8))
    s.strip_mine("k", 4).strip_mine("k", 2, name="deep")
    names = [name for row in s.loops() for name in row.names]
    assert len(set(names)) == len(names)
    assert {"i_2_tile", "j_2_tile", "k_tile", "k_strip", "deep"} <= set(names)


def test_names_are_those_of_the_texts():
    s = af.Schedule(sweep).skew("t", "i", 1).skew("t", "j", 1).tile(("t", "i", "j"), 4, names=("tt", "ii", "jj"))
    text = s.kernel().mlir()
    assert re.findall(r"affine\.for %(\w+)", text) == ["tt", "ii", "jj", "t", "i", "j"]
    assert re.findall(r"int64_t (\w+) =", s.kernel().c())[:3] == ["tt", "ii", "jj"]


def test_loops_are_a_tree(twice):
    s = af.Schedule(twice)
    rows = list(s.loops())
    assert [(row.names, row.depth, row.bounds, row.is_parallel) for row in rows] == [
        (("i#1",), 0, ("0 to M",), False),
        (("j#1",), 1, ("0 to N",), False),
        (("i#2",), 0, ("0 to M",), False),
        (("j#2",), 1, ("1 to N",), False),
        (("row",), 0, ("0 to M",), True),
        (("i#3",), 0, ("0 to M",), False),
    ]
    assert rows[3].location.line == 8
    assert str(s.loops()) == re.sub("^ {8}", "", LOOPS, flags=re.M)
    assert len(s.loops()) == 6


def test_data_bound_loops_are_shown_and_refused():
    @af.kernel
    def ragged(sizes: af.i64[N], A: af.f64[N, M]):
        with af.for_(N) as i, af.for_(af.index(sizes[i])) as j:
            A[i, j] = 1.0

    s = af.Schedule(ragged)
    assert [row.text for row in s.loops()] == ["i = 0 to N", "j = data"]
    with pytest.raises(af.IllegalTransform, match="the bounds of the loop j come from data"):
        s.peel("j", first=2)


def replayed(schedule: af.Schedule) -> af.Kernel:
    """The kernel of what a schedule prints."""
    found: dict[str, object] = {}
    exec(str(schedule), found)
    (made,) = (value for value in found.values() if isinstance(value, af.Schedule))
    return made.kernel()


def test_it_prints_python():
    s = af.Schedule(gemm)
    s.tile(("k", "j#2"), (32, 64), separate=True).split("j#1", af.symbols("N") // 2 + 1)
    s.peel("k", last=2).unroll("j#1", 4)
    assert str(s) == (
        "import affdsl as af\n"
        "from examples.gemm import gemm\n"
        "\n"
        "s = af.Schedule(gemm)\n"
        'N = af.symbols("N")\n'
        's.tile(("k", "j#2"), (32, 64), separate=True, names=("k_tile", "j_tile"))\n'
        's.split("j#1", N // 2 + 1)\n'
        's.peel("k", last=2)\n'
        's.unroll("j#1", 4)'
    )
    assert repr(s) == "<Schedule of gemm: 4 steps>"
    assert replayed(s).mlir() == s.kernel().mlir()


def test_names_that_meet_are_told_apart():
    size = af.symbols("K")
    tuned = af.Schedule(gemm)
    tuned.split("k", size // 2)
    assert str(tuned).endswith('tuned = af.Schedule(gemm)\nK = af.symbols("K")\ntuned.split("k", K // 2)')
    K = af.Schedule(gemm)
    K.split("k", size // 2)
    assert str(K).endswith('K_2 = af.Schedule(gemm)\nK = af.symbols("K")\nK_2.split("k", K // 2)')
    assert replayed(K).mlir() == K.kernel().mlir()


def test_a_kernel_that_cannot_be_imported_is_named(twice):
    s = af.Schedule(twice)
    lines = str(s).splitlines()
    assert lines == ["import affdsl as af", "# twice is the kernel of kernels.py:4", "", "s = af.Schedule(twice)"]
    again = af.Schedule(af.Schedule(gemm).kernel())
    made = r"^# gemm is what a schedule or a pass made of the kernel of .*gemm\.py:\d+$"
    assert re.search(made, str(again), re.M)
    assert "import gemm" not in str(again)


EXAMPLES = [gemm, cholesky, jacobi2d, gauss_seidel, floyd_warshall, prefix_sum, matmul, jacobi, sweep]


@pytest.mark.parametrize("kernel", EXAMPLES, ids=lambda kernel: kernel.name)
def test_random_schedules_of_examples_replay_and_are_undone(kernel):
    for seed in range(3):
        s = random_schedule(kernel, seed)
        text = s.kernel().mlir()
        assert replayed(s).mlir() == text
        done = [str(step) for step in s.steps]
        assert [s.undo() for _ in done] == done[::-1]
        assert s.kernel().mlir() == af.Schedule(kernel).kernel().mlir()


@pytest.mark.parametrize("benchmark", SUITE, ids=lambda benchmark: benchmark.name)
def test_random_schedules_of_polybench_replay_and_compute_the_same(benchmark):
    counts: Counter[str] = Counter()
    s = random_schedule(benchmark.kernel, 100, counts=counts)
    assert len(s.steps) >= 3, counts
    tuned = s.kernel()
    assert replayed(s).mlir() == tuned.mlir()
    rng = np.random.default_rng(5)
    sizes = {name: max(benchmark.least.get(name, 1), int(rng.integers(3, 9))) for name in benchmark.sizes["MINI"]}
    given = benchmark.random_arguments(sizes, rng)
    before, after = ({k: np.copy(v) if isinstance(v, np.ndarray) else v for k, v in given.items()} for _ in range(2))
    benchmark.kernel.interpret(*before.values())
    tuned.interpret(*after.values())
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value, err_msg=f"{name}\n{s}")


def test_undo_gives_what_it_took_back():
    s = af.Schedule(sweep).skew("t", "i", 1).skew("t", "j", 1)
    assert s.undo() == 'skew("t", "j", 1)'
    assert [row.text for row in s.loops()] == ["t = 0 to steps", "i = t + 1 to N + t - 1", "j = 1 to N - 1"]


def test_it_explains_steps_and_refusals(twice):
    code = """s = af.Schedule(kernel)
try:
    s.reverse("j#2")
except af.IllegalTransform:
    pass
s.tile(("i#1",), 32)
s.parallel("i_tile").interchange("i#2", "j#2")
s.undo()
"""
    found = {"af": af, "kernel": twice}
    exec(compile(code, str(Path("tune.py").resolve()), "exec"), found)
    assert (
        found["s"].explain()
        == """\
twice: 2 steps, 1 refused
refused  reverse("j#2")  (tune.py:3)
    cannot reverse loop j#2 (of twice, kernels.py:8)
        the store A[i, j] at line 9 feeds the load A[i, j - 1] at line 9 with distance (0, 1),
        e.g. (i#2, j#2) = (0, 1) writes A[0, 1], which (i#2, j#2) = (0, 2) reads (for M = 1, N = 3); \
the new order does not run them in this order
1. tile(("i#1",), 32, names=("i_tile",))  (tune.py:6)
    new loop i_tile = 0 to M step 32
    i#1 = i_tile to min(i_tile + 32, M), which was i#1 = 0 to M
2. parallel("i_tile")  (tune.py:7)
    i_tile runs in parallel
the loops now:
    parallel i_tile = 0 to M step 32  (steps 1, 2)
      i#1 = i_tile to min(i_tile + 32, M)  (step 1)
        j#1 = 0 to N
    i#2 = 0 to M
      j#2 = 1 to N
    parallel row = 0 to M
    i#3 = 0 to M"""
    )


def test_it_explains_loops_that_move_and_go(twice):
    s = af.Schedule(sweep).skew("t", "i", 1).interchange("t", "i")
    assert "    i = 1 to steps + N - 2, which was i = t + 1 to N + t - 1" in s.explain()
    s = af.Schedule(twice).interchange("i#1", "j#1").coalesce(("j#1", "i#1"))
    assert "    j#1 = 0 to N, now outermost" in s.explain()
    assert "    i#1 = 0 to M, now inside of j#1" in s.explain()
    assert "    no loop i#1 any more" in s.explain()


def run_both(kernel: af.Kernel, tuned: af.Kernel, *arguments: object) -> None:
    """Both kernels, compiled and interpreted, make the same of copies of the arguments, to the last bit."""
    results = []
    for call in (kernel, tuned, kernel.interpret, tuned.interpret):
        given = [np.copy(x) if isinstance(x, np.ndarray) else x for x in arguments]
        call(*given)
        results.append([x for x in given if isinstance(x, np.ndarray)])
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            assert a.tobytes() == b.tobytes()


def test_a_scheduled_matrix_product():
    s = af.Schedule(matmul)
    s.distribute("j").distribute("i")
    s.tile(("i_2", "j_2", "k"), (4, 5, 3)).permute(("i_2", "k", "j_2")).parallel("i_2_tile").unroll("j_2", 2)
    tuned = s.kernel()
    rng = np.random.default_rng(1)
    for m, n, k in [(0, 3, 2), (1, 1, 1), (4, 5, 6), (9, 11, 7)]:
        a, b = rng.integers(-4, 5, (m, k)).astype("f4"), rng.integers(-4, 5, (k, n)).astype("f4")
        c = np.full((m, n), np.nan, "f4")
        run_both(matmul, tuned, a, b, c)
        tuned(a, b, c)
        np.testing.assert_array_equal(c, a @ b)


def test_a_scheduled_stencil_in_time():
    s = af.Schedule(sweep)
    s.skew("t", "i", 1).skew("t", "j", 1).skew("i", "j", 1)
    s.tile(("t", "i", "j"), (2, 3, 4))
    rng = np.random.default_rng(2)
    for n, steps in [(0, 3), (2, 2), (3, 1), (9, 0), (10, 5)]:
        run_both(sweep, s.kernel(), rng.uniform(-1, 1, (n, n)), steps)


def test_steps_in_time_are_jammed_in_a_skewed_tile():
    @af.kernel
    def swept(A: af.f64[N, N], steps: af.index):
        with af.for_(steps) as _t, af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:
            A[i, j] = (A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j]) / 5

    s = af.Schedule(swept).skew("_t", "i", 1).tile(("_t", "i"), (4, 5)).unroll_jam("_t", 2)
    kernel = s.kernel()
    for n, steps in ((3, 1), (7, 4), (9, 5), (12, 9)):
        wanted = np.random.default_rng(n).random((n, n))
        found = wanted.copy()
        swept.interpret(wanted, steps)
        kernel.interpret(found, steps)
        np.testing.assert_array_equal(found, wanted)


def test_a_scheduled_jacobi():
    s = af.Schedule(jacobi)
    s.parallel("i").unroll_jam("j", 2).strip_mine("j", 4).parallel("j_strip")
    rng = np.random.default_rng(3)
    for n, steps in [(2, 1), (3, 2), (17, 5)]:
        run_both(jacobi, s.kernel(), rng.uniform(-1, 1, n), rng.uniform(-1, 1, n), steps)


def test_a_scheduled_cholesky():
    s = af.Schedule(cholesky)
    s.peel("j", last=1).unroll("k#1", 2).strip_mine("i", 3)
    tuned = s.kernel()
    for case in cholesky_cases():
        case.check(tuned)
        case.check(tuned.interpret)


def test_a_scheduled_gemm_inside_of_a_parallel_loop():
    s = af.Schedule(gemm)
    s.interchange("k", "j#2").tile(("j#2", "k"), (4, 3)).unroll("j#1", 2).copy("B", "j#2", layout=(1, 0))
    tuned = s.kernel(validate=True)
    for case in gemm_cases():
        case.check(tuned)
        case.check(tuned.interpret)


def test_a_size_of_the_kernel_is_a_tile_size():
    s = af.Schedule(blocked)
    s.tile(("i", "j"), ("T", 4))
    assert 's.tile(("i", "j"), ("T", 4)' in str(s)
    by_symbol = af.Schedule(blocked).tile(("i", "j"), (af.symbols("T"), 4))
    assert by_symbol.kernel().mlir() == s.kernel().mlir()
    for t in (1, 3, 100):
        run_both(blocked, s.kernel(), np.arange(35.0).reshape(5, 7), t)
    with pytest.raises(SizeError, match="it assumes T - 1 >= 0, but T = 0"):
        s.kernel()(np.zeros((2, 2)), 0)


def test_a_loop_is_split_at_a_size():
    s = af.Schedule(matmul).split("k", K // 2).split("j", "M")
    rng = np.random.default_rng(4)
    for m, n, k in [(2, 3, 5), (4, 2, 1), (3, 3, 0)]:
        run_both(matmul, s.kernel(), rng.random((m, k), "f4"), rng.random((k, n), "f4"), np.ones((m, n), "f4"))


@af.kernel
def buffered(A: af.f64[N, 8], B: af.f64[N, 8]):
    t = af.alloc(af.f64[8])
    with af.for_(N) as i:
        with af.for_(8) as k:
            t[k] = A[i, k] * 2
        with af.for_(8) as m:
            B[i, m] += t[7 - m]


def test_arrays_are_privatized_as_advised():
    s = af.Schedule(buffered)
    with pytest.raises(af.IllegalTransform) as caught:
        s.parallel("i")
    assert caught.value.alternative == 's.privatize("t", "i") first'
    s.privatize("t", "i").parallel("i")
    rng = np.random.default_rng(9)
    run_both(buffered, s.kernel(), rng.random((5, 8)), rng.random((5, 8)))


def test_arrays_are_expanded():
    s = af.Schedule(buffered)
    with pytest.raises(af.IllegalTransform, match="cannot distribute loop i"):
        s.distribute("i")
    s.expand("t", "i").distribute("i").parallel("i").parallel("i_2")
    rng = np.random.default_rng(9)
    run_both(buffered, s.kernel(), rng.random((5, 8)), rng.random((5, 8)))


def test_panels_are_packed():
    s = af.Schedule(matmul)
    s.distribute("j").distribute("i").tile(("i_2", "j_2", "k"), (4, 6, 3), names=("ib", "jb", "kb"))
    s.copy("B", "i_2", layout=(1, 0)).copy("A", "i_2", panels={0: 2}, name="packed")
    assert str(s).endswith(
        's.copy("B", "i_2", layout=(1, 0), name="B_fast")\ns.copy("A", "i_2", panels={0: 2}, name="packed")'
    )
    assert replayed(s).mlir() == s.kernel().mlir()
    rng = np.random.default_rng(10)
    for m, n, k in [(0, 2, 2), (1, 1, 1), (9, 13, 7)]:
        run_both(matmul, s.kernel(), rng.random((m, k), "f4"), rng.random((k, n), "f4"), np.ones((m, n), "f4"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"layout": 3}, "layout is the order of the dimensions, as (1, 0), and panels say how wide each is, as {0: 8}"),
        (
            {"panels": "x"},
            "layout is the order of the dimensions, as (1, 0), and panels say how wide each is, as {0: 8}",
        ),
        ({"panels": {0: 0}}, "a width is a whole number of at least 1, got 0"),
        ({"space": -1}, "space is a whole number of at least 0, got -1"),
        ({"name": "B"}, "there is an array B already"),
        ({"name": 2}, "a name is a text like A_fast, got 2"),
    ],
)
def test_copies_that_cannot_be_meant_are_refused(options, words):
    s = af.Schedule(buffered)
    with pytest.raises(af.ScheduleError) as caught:
        s.copy("A", "i", **options)
    assert str(caught.value).endswith(f": {words}")


def test_dmas_are_pipelined():
    s = af.Schedule(buffered)
    with pytest.raises(af.IllegalTransform, match="cannot pipeline the DMAs of loop i"):
        s.pipeline("i")
    s.copy("A", "k", space=1, dma=True).pipeline("i")
    assert replayed(s).mlir() == s.kernel().mlir()
    rng = np.random.default_rng(13)
    for n in (0, 1, 2, 7):
        run_both(buffered, s.kernel(), rng.random((n, 8)), rng.random((n, 8)))


def test_iterations_are_drawn_as_they_are_now():
    s = af.Schedule(sweep)
    before = s.picture("t", "i", {"N": 5, "steps": 2}, at={"j": 1})
    assert list(before.points) == list(sweep.picture("t", "i", {"N": 5, "steps": 2}, at={"j": 1}).points)
    assert list(before.points) == [(t, i) for t in (0, 1) for i in (1, 2, 3)]
    s.skew("t", "i", 1)
    assert list(s.picture("t", "i", {"N": 5, "steps": 2}).points) == [(t, i + t) for t in (0, 1) for i in (1, 2, 3)]
    with pytest.raises(af.ScheduleError, match=r'cannot s\.picture\("t", "x", \.\.\.\): sweep has no loop x'):
        s.picture("t", "x", {"N": 5})


def test_arrays_of_one_name_are_numbered():
    s = af.Schedule(buffered).privatize("t", "i").peel("i", first=1)
    with pytest.raises(af.ScheduleError, match='2 arrays of buffered are called t\n    write "t#1" or "t#2", in the'):
        s.copy("t", "k")
    s.copy("t#2", "k")


def test_loops_are_normalized_and_made_perfect():
    @af.kernel
    def rows(A: af.f64[N, 4], S: af.f64[N]):
        with af.for_(1, N, 3) as i:
            S[i] = 0.0
            with af.for_(4) as j:
                S[i] += A[i, j]

    s = af.Schedule(rows)
    with pytest.raises(af.IllegalTransform) as caught:
        s.interchange("i", "j")
    assert caught.value.alternative == 's.make_perfect("i", "j") first'
    s.make_perfect("i", "j").interchange("i", "j").normalize("i")
    assert [row.text for row in s.loops()] == ["j = 0 to 4", "i = 0 to (N + 1) // 3"]
    rng = np.random.default_rng(11)
    run_both(rows, s.kernel(), rng.random((11, 4)), rng.random(11))


def test_what_is_hoisted_is_sunk_again():
    @af.kernel
    def scaled(A: af.f64[8], B: af.f64[8, 9]):
        with af.for_(8) as i, af.for_(9) as j:
            B[i, j] *= A[i] * 2.0

    s = af.Schedule(scaled)
    s.hoist("j")
    with pytest.raises(af.IllegalTransform, match="does not hold the loop j and nothing else"):
        s.interchange("i", "j")
    s.sink("j").interchange("i", "j")
    rng = np.random.default_rng(12)
    run_both(scaled, s.kernel(), rng.random(8), rng.random((8, 9)))


def test_scheduled_kernels_refuse_what_the_kernel_refuses():
    @af.kernel
    def shifted(A: af.f64[M], B: af.f64[N]):
        with af.for_(N - 1) as i:
            B[i] = A[i + 1]

    tuned = af.Schedule(shifted).reverse("i").tile(("i",), 4).kernel()
    a, b = np.arange(9.0), np.zeros(9)
    tuned(a, b)
    np.testing.assert_array_equal(b, [1, 2, 3, 4, 5, 6, 7, 8, 0])
    for call in (tuned, tuned.interpret):
        with pytest.raises(SizeError, match=r"A\[i \+ 1\] .* is in bounds only where M >= N or N <= 1, but M = 3"):
            call(np.zeros(3), b)


def test_scheduled_kernels_are_kernels():
    s = af.Schedule(gemm).tile(("k",), 4)
    tuned = s.kernel()
    assert gemm.mlir() != tuned.mlir()
    assert (tuned.name, tuned.__doc__, repr(tuned)) == (gemm.name, gemm.__doc__, repr(gemm))
    assert "k_tile" in [loop.iv.hint for loop in tuned.loops()]
    assert tuned.dependences().all()
    assert tuned.check().are_proved
    again = pickle.loads(pickle.dumps(tuned))  # noqa: S301 - our own
    assert (again.mlir(), again.is_derived, repr(again)) == (tuned.mlir(), True, repr(tuned))

    @af.kernel
    def both(A: af.f32[M, K], B: af.f32[K, N], C: af.f32[M, N], D: af.f32[M, N]):
        gemm(1.0, 0.0, A, B, C)
        tuned(1.0, 0.0, A, B, D)

    rng = np.random.default_rng(6)
    a, b, c, d = rng.random((3, 9), "f4"), rng.random((9, 4), "f4"), np.zeros((3, 4), "f4"), np.ones((3, 4), "f4")
    both(a, b, c, d)
    np.testing.assert_array_equal(c, d)


def test_kernels_with_calls_constants_and_carried_values():
    @af.kernel
    def scale(x: af.f64[N], factor: af.f64):
        with af.for_(N) as i:
            x[i] *= factor

    @af.kernel
    def weighted(x: af.f64[N], out: af.f64[1]):
        w = af.constant(np.array([1.0, 0.5]))
        scale(x, 3.0)
        with af.for_(N, iter_args=af.f64(0)) as (i, total):
            with af.if_(i >= 2):
                x[i] += w[1]
            af.yield_(total + x[i])
        out[0] = total

    s = af.Schedule(weighted).peel("i", first=2, last=1).unroll("i", 3)
    run_both(weighted, s.kernel(), np.arange(11.0), np.zeros(1))
    assert len(s.kernel().module.functions) == 2
    assert s.kernel().program.callees["scale"] is weighted.program.callees["scale"]


def test_texts_of_scheduled_kernels_are_accepted():
    s = af.Schedule(sweep)
    s.skew("t", "i", 1).skew("t", "j", 1).tile(("t", "i", "j"), (4, 8, 8), separate=True)
    mlir_opt(s.kernel().mlir())
    compile_c(
        {"sweep.c": s.kernel().c(), "sweep.h": s.kernel().header()},
        flags=("-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic"),
    )


def test_steps_and_kernels_are_validated():
    s = af.Schedule(sweep, validate=True)
    s.skew("t", "i", 1).skew("t", "j", 1).tile(("t", "i", "j"), 3)
    assert s.kernel(validate=True).mlir() == s.kernel().mlir()


def too_far(function, iv, by, module):
    """A faulty transformation: it leaves out the last iteration."""
    made = peel(function, iv, last=1)
    return rewrite(made, lambda op: () if getattr(op, "iv", iv).hint == "i_last" else None)


def test_validation_names_the_first_step_at_fault(monkeypatch, tmp_path):
    monkeypatch.setitem(VERBS, "shift", too_far)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    s = af.Schedule(jacobi)
    s.strip_mine("j", 4).shift("i", 1).unroll("j", 2)
    with pytest.raises(af.ValidationError, match=r"after step '?s\.shift\(\"i\", 1\)") as caught:
        s.kernel(validate=True)
    folder = caught.value.folder
    assert folder.parent == tmp_path
    assert 's.strip_mine("j", 4, name="j_strip")\ns.shift("i", 1)' in (folder / "schedule.py").read_text()
    assert (folder / "arguments.npz").exists()
    careful = af.Schedule(jacobi, validate=True).strip_mine("j", 4)
    with pytest.raises(af.ValidationError):
        careful.shift("i", 1)
    assert len(careful.steps) == 1


def test_a_step_that_breaks_the_ir_is_our_bug(monkeypatch):
    def broken(function, iv, by, module):
        return rewrite(function, lambda op: op.body if hasattr(op, "iv") else None)

    monkeypatch.setitem(VERBS, "shift", broken)
    s = af.Schedule(jacobi)
    with pytest.raises(InternalError, match=r'shift\("t", 1\) made IR that breaks a rule'):
        s.shift("t", 1)
    assert not s.steps


def test_schedules_are_loaded_when_they_are_asked_for():
    show = "import sys, affdsl as af; af.Schedule; print('affdsl.schedule' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_a_schedule_of_a_derived_kernel_says_so():
    first = af.Schedule(gemm_rows)
    first.interchange("j", "k")
    text = str(af.Schedule(first.kernel()))
    assert "import gemm_rows" not in text
    assert "# gemm_rows is what a schedule or a pass made of the kernel of " in text


def test_the_tree_shows_what_computed_bounds_are():
    s = af.Schedule(gemm_rows).tile(("i",), np.int64(4)).normalize("i_tile")
    assert 's.tile(("i",), 4, names=("i_tile",))' in str(s)
    assert "i = i_tile * 4 to min(i_tile * 4 + 4, M)" in str(s.loops())


def test_an_array_that_is_no_name():
    with pytest.raises(af.ScheduleError, match="an array is given by its name\n    its arrays are A, B, C"):
        af.Schedule(gemm_rows).copy(np.zeros(3), "i")


@pytest.mark.parametrize(
    ("at", "advice"), [(1, ""), (2, '\n    legal: s.unroll("i", 2)'), (9, '\n    legal: s.unroll("i", 4)')]
)
def test_advice_about_unrolling_can_be_taken(at, advice):
    s = af.Schedule(gemm_rows).split("i", at)
    with pytest.raises(af.IllegalTransform) as refused:
        s.unroll("i")
    assert str(refused.value).endswith(f"its trip count is min(M, {at}), not a number{advice}")
    if advice:
        s.unroll("i", min(at, 4))


@af.kernel
def scaled(A: af.f32[M, K], B: af.f32[K, N], C: af.f32[M, N], beta: af.f32):
    with af.for_(M) as i, af.for_(N) as j:
        C[i, j] = beta * C[i, j]
        with af.for_(K) as k:
            C[i, j] += A[i, k] * B[k, j]


@af.kernel
def scaled_often(A: af.f32[M, K], B: af.f32[K, N], C: af.f32[M, N], beta: af.f32):
    af.assume(K >= 1)
    with af.for_(M) as i, af.for_(N) as j:
        C[i, j] = beta * C[i, j]
        with af.for_(K) as k:
            C[i, j] += A[i, k] * B[k, j]


def run_on_small_products(before, after):
    rng = np.random.default_rng(14)
    for m, n, k in [(0, 2, 1), (1, 1, 1), (3, 4, 5)]:
        a, b = rng.integers(-4, 5, (m, k)).astype("f4"), rng.integers(-4, 5, (k, n)).astype("f4")
        run_both(before, after, a, b, rng.integers(-4, 5, (m, n)).astype("f4"), 2.0)


def test_what_a_kernel_should_promise_is_advised():
    s = af.Schedule(scaled)
    with pytest.raises(af.IllegalTransform) as caught:
        s.make_perfect("j", "k")
    assert caught.value.alternative == 'affdsl.assume(K >= 1) in scaled, then s.make_perfect("j", "k")'
    promised = af.Schedule(scaled_often)
    promised.make_perfect("j", "k")
    run_on_small_products(scaled_often, promised.kernel())
    with pytest.raises(SizeError, match="it assumes K - 1 >= 0, but K = 0"):
        promised.kernel()(np.zeros((2, 0), "f4"), np.zeros((0, 2), "f4"), np.zeros((2, 2), "f4"), 2.0)


def test_a_sum_of_a_loop_that_may_not_run_is_carried_as_a_value_too():
    s = af.Schedule(scaled)
    with pytest.raises(af.IllegalTransform) as caught:
        s.parallel("k", reassociate=True)
    assert caught.value.alternative == 's.scalar_replace("k").parallel("k", reassociate=True)'
    s.scalar_replace("k").parallel("k", reassociate=True)
    run_on_small_products(scaled, s.kernel())
    empty = np.ones((2, 2), "f4")
    run_both(scaled, s.kernel(), np.zeros((2, 0), "f4"), np.zeros((0, 2), "f4"), empty, 2.0)


def test_other_loops_are_advised_where_no_rounding_is_allowed():
    s = af.Schedule(scaled)
    with pytest.raises(af.IllegalTransform) as caught:
        s.parallel("k")
    assert caught.value.alternative == 's.parallel("j")'
    s.parallel("j")


def test_loops_that_are_not_perfect_are_distributed_for_all_that_reorders():
    for step in ('permute(("i", "k", "j"))', 'interchange("j", "k")', 'coalesce(("i", "j", "k"))'):
        s = af.Schedule(scaled)
        with pytest.raises(af.IllegalTransform) as caught:
            exec(f"s.{step}", {"s": s})
        advice = 's.distribute("j")' if "interchange" in step else 's.distribute("j").distribute("i")'
        assert caught.value.alternative == advice
        exec(advice, {"s": s})
        renamed = step.replace('"i"', '"i_2"').replace('"j"', '"j_2"')
        exec(f"s.{renamed}", {"s": s})
        rng = np.random.default_rng(15)
        run_both(scaled, s.kernel(), rng.random((3, 4), "f4"), rng.random((4, 2), "f4"), np.ones((3, 2), "f4"), 2.0)


@af.kernel
def solve(L: af.f64[N, N], x: af.f64[N]):
    with af.for_(N) as i:
        with af.for_(i) as j:
            x[i] -= L[i, j] * x[j]
        x[i] /= L[i, i]


def test_a_triangle_is_peeled_so_that_its_inner_loop_runs():
    s = af.Schedule(solve)
    with pytest.raises(af.IllegalTransform, match=r"the loop j may not run, and the load x\[i\] at line") as caught:
        s.make_perfect("i", "j")
    assert caught.value.alternative == 's.peel("i", first=1) first'
    s.peel("i", first=1).make_perfect("i", "j")
    rng = np.random.default_rng(16)
    for n in (0, 1, 2, 7):
        run_both(solve, s.kernel(), rng.uniform(1, 2, (n, n)), rng.random(n))


def test_what_falls_apart_into_parallel_loops_is_distributed():
    @af.kernel
    def two(A: af.f64[N], B: af.f64[N], C: af.f64[N]):
        with af.for_(1, N) as i:
            A[i] = C[i] * 2
            B[i] = A[i - 1]

    s = af.Schedule(two)
    with pytest.raises(af.IllegalTransform) as caught:
        s.parallel("i")
    assert caught.value.alternative == 's.distribute("i") first'
    s.distribute("i").parallel("i").parallel("i_2")
    with pytest.raises(af.IllegalTransform) as caught:
        af.Schedule(solve).parallel("i")
    assert "distribute" not in caught.value.alternative


def test_messages_call_loops_and_values_as_the_user_knows_them(twice):
    s = af.Schedule(gemm)
    with pytest.raises(af.IllegalTransform) as caught:
        s.hoist("j#1")
    text = str(caught.value)
    assert "it uses j#1, which the loop defines" in text
    assert "it uses the load C[i, j] at line 18, which the loop defines" in text
    assert not re.search(r"\bv\.\d", text)
    with pytest.raises(af.IllegalTransform, match=r"cannot skew loop i#2 by 2 \* j#1 .*\n    the loop i#2 is not"):
        af.Schedule(twice).skew("j#1", "i#2", 2)
    with pytest.raises(
        af.IllegalTransform, match=r"the load A\[\.\.\.\] at line \d+ must come before the store A\[\.\.\.\]"
    ):
        af.Schedule(counted_by_data).reverse("i")


@af.kernel
def counted_by_data(place: af.i64[N], A: af.i64[M]):
    with af.for_(N) as i:
        A[place[i]] += 1


def test_names_of_schedules_stay_in_schedules():
    function, module = gemm.func, gemm.module
    iv = next(op.iv for op in walk(function) if isinstance(op, affine.For) and op.iv.hint == "j")
    with pytest.raises(af.IllegalTransform):
        af.Schedule(gemm).hoist("j#1")
    with pytest.raises(af.IllegalTransform) as caught:
        hoist(function, iv, module=module)
    assert "j#1" not in str(caught.value)
    assert re.search("it uses %?j, which the loop defines", str(caught.value))


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (
            '.tile(("j", "i"), (2, 3))',
            ('cannot s.tile(("j", "i"), (2, 3)): the loops are named outermost first, and i is around j\n'
            '    write them as ("i", "j"), each with its own size; or change their order by permute first'),
        ),
        ('.tile(("i",), 4, names=("N",))', 'cannot s.tile(("i",), 4, names=("N",)): there is a size N already'),
        ('.tile(("i",), 4, names=("A",))', 'cannot s.tile(("i",), 4, names=("A",)): there is an array A already'),
        ('.tile(("i",), 4, names="steps")', 'cannot s.tile(("i",), 4, names="steps"): there is a size steps already'),
        (
            '.tile(("i", "j"), 4, names=("a", "a"))',
            'cannot s.tile(("i", "j"), 4, names=("a", "a")): there is a loop a already',
        ),
        (
            '.strip_mine("i", 4, name="for")',
            'cannot s.strip_mine("i", 4, name="for"): for is a word of Python, and no name',
        ),
        ('.copy("A", "j", name="t")', 'cannot s.copy("A", "j", name="t"): there is a loop t already'),
        ('.copy("A", "j", name="in")', 'cannot s.copy("A", "j", name="in"): in is a word of Python, and no name'),
        (
            ".split(\"i\", 'N // 2')",
            ('cannot s.split("i", "N // 2"): sweep has no size or loop N // 2\n'
            '    its sizes are N, steps; expressions are made of symbols: affdsl.symbols("N") // 2'),
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_said_with_what_can(step, words):
    assert message(sweep, step).partition(": ")[2] == words


def test_a_band_has_no_gaps():
    s = af.Schedule(gemm_rows)
    with pytest.raises(af.IllegalTransform) as caught:
        s.tile(("i", "k"), 8)
    assert "    between i and k there is the loop j: a band has no gaps; name it, too, or" in str(caught.value)
    assert caught.value.alternative == 's.permute(("k", "j")) first'
    with pytest.raises(af.IllegalTransform) as caught:
        s.interchange("i", "k")
    assert caught.value.alternative == 's.permute(("k", "j", "i"))'
    s.permute(("k", "j", "i"))
    assert [row.names for row in s.loops()] == [("k",), ("j",), ("i",)]


def test_a_step_is_replayed_as_it_was_written():
    assert "cannot s.parallel(None): a loop is given by its name, got None" in message(sweep, ".parallel(None)")
    s = af.Schedule(gemm_rows).split("k", 3).unroll_jam("i", 2)
    s.tile(("j",), 4).unroll("j", 2)
    small = af.Schedule(buffered).unroll("k")
    assert str(small).endswith('s.unroll("k")')
    for each in (s, small):
        assert replayed(each).mlir() == each.kernel().mlir()


def test_a_loop_that_is_parallel_already():
    s = af.Schedule(gemm_rows).parallel("i")
    with pytest.raises(af.IllegalTransform, match="the loop i is parallel already: there is nothing left to do"):
        s.parallel("i")


def test_what_coalesced_loops_touch_is_not_known_for_all_sizes():
    s = af.Schedule(gemm_rows).coalesce(("i", "j"))
    with pytest.raises(af.IllegalTransform) as caught:
        s.parallel("i_j")
    assert "it may be that several iterations update the same elements: addf of C, rounded; what is not known: " in str(
        caught.value
    )
    assert "i_j floordiv N is semi-affine" in str(caught.value)


def test_dmas_within_one_memory_space_are_not_pipelined():
    s = af.Schedule(buffered).copy("A", "k", dma=True)
    with pytest.raises(af.IllegalTransform) as caught:
        s.pipeline("i")
    assert str(caught.value).endswith(
        "    they copy within the memory space 0: only those to a space of a higher number start early; "
        "undo the copy, and take it with space=1"
    )
    s.undo()
    s.copy("A", "k", dma=True, space=1).pipeline("i")


def test_a_schedule_says_where_what_it_lacks_is():
    s = af.Schedule(sweep)
    for name, words in {
        "mlir": "a Schedule has no mlir: the kernel that comes out has; write s.kernel().mlir",
        "c": "a Schedule has no c: the kernel that comes out has; write s.kernel().c",
        "fuse": "a Schedule has no fuse yet",
        "vectorise": "a Schedule has no vectorise; did you mean s.vectorize?",
        "reorder": "a Schedule has no reorder; did you mean s.permute?",
        "parallelize": "a Schedule has no parallelize; did you mean s.parallel?",
        "tiles": "a Schedule has no tiles; did you mean s.tile?",
        "xyz": "a Schedule has no xyz",
    }.items():
        with pytest.raises(AttributeError) as caught:
            getattr(s, name)
        assert str(caught.value) == words
    assert not hasattr(s, "_repr_html_")
    assert repr(s.loops()) == str(s.loops())


def test_pictures_of_loops_of_one_name(twice):
    s = af.Schedule(twice)
    sizes = {"M": 2, "N": 3}
    for draw in (twice.picture, s.picture):
        assert list(draw("i#2", "j#2", sizes).points) == [(0, 1), (0, 2), (1, 1), (1, 2)]
        assert list(draw("i#2", "j#2", sizes).arrows) == list(s.picture("i#2", "j#2", sizes).arrows)
        assert len(draw("i#1", "j#1", sizes).points) == 6
    with pytest.raises(DrawingError, match="cannot draw loops of @twice: 3 are called i; write i#1 or i#2 or i#3"):
        twice.picture("i", "j", sizes)
    with pytest.raises(af.ScheduleError, match="at gives numbers by the names of loops, got 1"):
        s.picture("i#1", "j#1", sizes, at=1)
    with pytest.raises(af.ProgramTypeError, match='N is no key of a dict or a set\n    write its name: "N"'):
        twice.picture("i#1", "j#1", {N: 3})


def test_what_affine_parallel_cannot_combine_is_named():
    s = af.Schedule(solve).peel("i", first=1).scalar_replace("j")
    with pytest.raises(
        af.IllegalTransform, match=r"is combined by arith\.subf, for which affine\.parallel has no reduct"
    ):
        s.parallel("j", reassociate=True)


def test_conditions_between_loops_and_conditions_on_data_are_named():
    @af.kernel
    def guarded(A: af.f64[N, N], w: af.f64[N]):
        with af.for_(N) as i:
            with af.if_(i >= 2), af.for_(N) as j:
                with af.if_(w[j] >= 0.0):
                    A[i, j] = 1.0

    s = af.Schedule(guarded)
    with pytest.raises(af.IllegalTransform, match=r"\n    between i and j there is a condition at line \d+$"):
        s.tile(("i", "j"), 4)
    with pytest.raises(af.IllegalTransform, match=r"there is no affine\.if in it: what scf\.if asks comes from data"):
        s.unswitch("j")
    with pytest.raises(af.IllegalTransform, match=r"the loop j does not stand right in the body of the loop i$"):
        s.make_perfect("i", "j")


def test_what_may_not_run_so_often_is_kept_in_values_where_the_kernel_promises_that_it_does():
    @af.kernel
    def plain(A: af.f64[N, N], B: af.f64[N]):
        with af.for_(2, N) as j:
            B[j] = A[j - 2, N - 3] + A[j, N - 3]

    @af.kernel
    def promising(A: af.f64[N, N], B: af.f64[N]):
        af.assume(N >= 4)
        with af.for_(2, N) as j:
            B[j] = A[j - 2, N - 3] + A[j, N - 3]

    s = af.Schedule(plain)
    with pytest.raises(af.IllegalTransform, match="the loop may run less than 2 times") as caught:
        s.scalar_replace("j")
    assert str(caught.value).count("legal: ") <= 1
    af.Schedule(promising).scalar_replace("j")


@af.kernel
def summed(A: af.f64[N, M], S: af.f64[1]):
    with af.for_(N) as i, af.for_(M) as j:
        S[0] += A[i, j]


def test_sums_in_memory_are_tiled_where_another_rounding_is_allowed():
    s = af.Schedule(summed)
    with pytest.raises(af.IllegalTransform) as caught:
        s.tile(("i", "j"), 3)
    assert caught.value.alternative == 's.tile(("i", "j"), 3, reassociate=True)'
    s.tile(("i", "j"), 3, reassociate=True)
    assert 's.tile(("i", "j"), 3, reassociate=True, names=("i_tile", "j_tile"))' in str(s)
    assert replayed(s).mlir() == s.kernel().mlir()
    rng = np.random.default_rng(17)
    for n, m in [(0, 1), (1, 5), (7, 8)]:
        run_both(summed, s.kernel(), rng.integers(-9, 9, (n, m)).astype("f8"), np.zeros(1))


B = 2**31 - 1


@af.kernel
def strided(A: af.i64[N, N], T: af.index):
    af.assume(T >= 1)
    with af.for_(0, N, 4) as i, af.for_(N) as j:
        A[i, j] += 1


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ([("tile", (("i",), B))], ("tile", (("i_tile",), B))),
        ([("skew", ("i", "j", B))], ("skew", ("i", "j", B))),
        ([("shift", ("i", B)), ("skew", ("i", "j", B)), ("shift", ("j", B))], ("skew", ("i", "j", B))),
        ([("strip_mine", ("i", B))], ("strip_mine", ("i_strip", B))),
        ([], ("split", ("i", N * 2**40))),
        ([], ("split", ("i", N * 2**62 + N * 2**62))),
    ],
    ids=lambda part: part[0] if part and isinstance(part[0], str) else "",
)
def test_steps_that_make_numbers_too_large_together_are_refused(first, last):
    s = af.Schedule(strided)
    for verb, arguments in first:
        getattr(s, verb)(*arguments)
    with pytest.raises(af.IllegalTransform, match="64 bits") as caught:
        getattr(s, last[0])(*last[1])
    assert "legal:" not in str(caught.value), "nothing else was tried"
    ours, theirs = (np.zeros((6, 6), dtype=np.int64) for _ in range(2))
    s.kernel()(ours, 1)
    strided(theirs, 1)
    assert (ours == theirs).all()


def test_a_size_of_tiles_that_may_be_huge_needs_a_promise():
    with pytest.raises(af.ScheduleError, match=r"write affdsl.assume\(T < 2\*\*31\) in the kernel"):
        af.Schedule(strided).tile(("i",), ("T",))

    @af.kernel
    def promised(A: af.f64[N], T: af.index):
        af.assume(T >= 1, T < 2**31)
        with af.for_(0, N, 4) as i:
            A[i] = A[i] + 1

    kernel = af.Schedule(promised).tile(("i",), ("T",)).kernel(validate=True)
    for size in (1, 2, B):
        a = np.zeros(6)
        kernel(a, size)
        assert a.tolist() == [1, 0, 0, 0, 1, 0]
    for size in (2**31, 2**61, 2**62, 2**63 - 1):
        with pytest.raises(ValueError, match="T"):
            kernel(np.zeros(6), size)


@pytest.mark.parametrize("separate", [False, True])
@pytest.mark.parametrize(("rows", "columns"), [(0, 0), (1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (2, -1), (3, -2)])
def test_loops_in_tiles_of_a_symbolic_size_are_jammed(rows, columns, separate):
    """The whole groups of a tile end at a smallest of several bounds, which are known only at run time."""
    T = af.symbols("T")

    @af.kernel
    def sweep(A: af.f64[N, N], T: T):
        af.assume(T >= 1, T < 2**31)
        with af.for_(3, N) as i, af.for_(2, N - 2) as j:
            A[i, j] += 2 * A[i - rows, j - columns]

    tiled = af.Schedule(sweep).tile(("i",), (T,), separate=separate)
    if (rows, columns) in [(1, -1), (2, -1)]:
        with pytest.raises(af.IllegalTransform, match=r"feeds the load A\[i.*"):
            tiled.unroll_jam("i", 3)
        return
    kernel = tiled.unroll_jam("i", 3).kernel(validate=True)
    for n, size in itertools.product((2, 4, 5, 9, 13), (1, 2, 3, 4, 7, 100)):
        wanted = np.random.default_rng(n).integers(1, 9, (n, n)).astype(float)
        found = wanted.copy()
        sweep(wanted, size)
        kernel(found, size)
        assert (wanted == found).all(), (n, size)


def test_numbers_that_the_kernel_has_itself_may_stay():
    @af.kernel
    def far(A: af.f64[N]):
        with af.for_(N) as i, af.if_(i * 2**40 < N):
            A[i] = 1.0

    af.Schedule(far).tile(("i",), (4,)).unroll("i", 2)


def test_python_that_replays_may_have_symbols_called_as_modules_are():
    name = af.symbols("af")

    @af.kernel
    def odd(A: af.f64[name]):
        with af.for_(name) as i:
            A[i] = 1.0

    s = af.Schedule(odd).split("i", name // 2)
    assert "import affdsl as af_2\n" in str(s)
    assert 'af = af_2.symbols("af")' in str(s)


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ('.parallel("row", reassociate="no")',
         'cannot s.parallel(...): reassociate is True or False, got "no"'),
        ('.reverse("i#2", reassociate=np.array([1, 2]))', "cannot s.reverse(...): reassociate is True or False, got"),
        ('.peel("i#2", last=af.symbols("N") // 2)',
         "cannot s.peel(...): last is a whole number, got N // 2"),
        ('.strip_mine("i#2", 2, name=np.array(["a", "b"]))', "cannot s.strip_mine("),
        ('.interchange(af.symbols("i"), "j#2")', "a loop is given by its name, got"),
        ('.interchange("i#2", "i#2")', "i#2 is given twice"),
    ],
)  # fmt: skip
def test_arguments_of_another_kind_are_refused(twice, step, said):
    code = f"import numpy as np\ns = af.Schedule(kernel)\ns{step}\n"
    with pytest.raises(af.ScheduleError) as caught:
        exec(code, {"af": af, "kernel": twice})
    assert said in str(caught.value)


def test_truth_values_of_numpy_are_taken(twice):
    assert "reassociate=True" in str(af.Schedule(twice).reverse("i#1", reassociate=np.True_))


def test_new_loops_have_no_name_of_a_size_or_an_array():
    i_rest, i_2 = af.symbols("i_rest i_2")

    @af.kernel
    def odd(A: af.i64[i_rest, i_2], i_tail: af.i64[i_rest]):
        with af.for_(i_rest) as i, af.for_(i_2) as j:
            A[i, j] += i_tail[i]

    s = af.Schedule(odd).split("i", i_rest // 2).unroll("i", 2)
    names = {line.split()[0] for line in str(s.loops()).splitlines()}
    assert "i" in names
    assert not names & {"i_rest", "i_2", "i_tail"}


def test_a_copy_of_a_schedule_goes_its_own_way(twice):
    s = af.Schedule(twice).reverse("i#1")
    other = copy.copy(s).reverse("j#1")
    assert [len(each.steps) for each in (s, other)] == [1, 2]
    assert str(other).splitlines()[:-1] == str(s).splitlines()
    s.undo()
    assert len(other.steps) == 2
