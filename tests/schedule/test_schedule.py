"""Schedules print what replays, undo what they did, explain it, and name loops and copies."""

import copy
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import affdsl as af
from affdsl.passes.drawing.layout import DrawingError
from examples.cholesky import cholesky
from examples.floyd_warshall import floyd_warshall
from examples.gauss_seidel import gauss_seidel
from examples.gemm import gemm
from examples.jacobi2d import jacobi2d
from examples.prefix_sum import prefix_sum
from tests.effort import some
from tests.schedule.kernels import LOOPS, N, buffered, gemm_rows, jacobi, matmul, replayed, sweep
from tests.schedule.random_schedules import random_schedule


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


@pytest.mark.filterwarnings(
    "ignore::affdsl.passes.analysis.dependence.AnalysisWarning"
)  # what isl gives up on is taken to be unknown
@pytest.mark.parametrize("kernel", EXAMPLES, ids=lambda kernel: kernel.name)
def test_random_schedules_of_examples_replay_and_are_undone(kernel):
    for seed in some(range(3), 1):
        s = random_schedule(kernel, seed)
        text = s.kernel().mlir()
        assert replayed(s).mlir() == text
        done = [str(step) for step in s.steps]
        assert [s.undo() for _ in done] == done[::-1]
        assert s.kernel().mlir() == af.Schedule(kernel).kernel().mlir()


def test_undo_gives_what_it_took_back():
    s = af.Schedule(sweep).skew("t", "i", 1).skew("t", "j", 1)
    assert s.undo() == 'skew("t", "j", 1)'
    assert [row.text for row in s.loops()] == ["t = 0 to steps", "i = t + 1 to N + t - 1", "j = 1 to N - 1"]


VECTORS = """\
vectors:
    i#1: may be vectorized
        A at line 7: one lane after the other
    j#1: may be vectorized
    i#2: may be vectorized
        A at line 9: one lane after the other
    j#2: no: the store A[i, j] at line 9 feeds the load A[i, j - 1] at line 9 with distance (0, 1),
        e.g. (i#2, j#2) = (0, 1) writes A[0, 1], which (i#2, j#2) = (0, 2) reads (for M = 1, N = 5); \
the new order does not run them in this order
    i#3: no: the store A[0, 0] at line 13 feeds the load A[0, 0] at line 13 with distance (1..*),
        e.g. i#3 = 0 writes A[0, 0], which i#3 = 1 reads (for M = 4, N = 0); \
the new order does not run them in this order
"""


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
    i#3 = 0 to M
"""
        + VECTORS.rstrip()
    )


def test_it_explains_loops_that_move_and_go(twice):
    s = af.Schedule(sweep).skew("t", "i", 1).interchange("t", "i")
    assert "    i = 1 to steps + N - 2, which was i = t + 1 to N + t - 1" in s.explain()
    s = af.Schedule(twice).interchange("i#1", "j#1").coalesce(("j#1", "i#1"))
    assert "    j#1 = 0 to N, now outermost" in s.explain()
    assert "    i#1 = 0 to M, now inside of j#1" in s.explain()
    assert "    no loop i#1 any more" in s.explain()


def test_iterations_are_drawn_as_they_are_now():
    s = af.Schedule(sweep)
    before = s.picture("t", "i", {"N": 5, "steps": 2}, at={"j": 1})
    assert list(before.points) == list(sweep.picture("t", "i", {"N": 5, "steps": 2}, at={"j": 1}).points)
    assert list(before.points) == [(t, i) for t in (0, 1) for i in (1, 2, 3)]
    s.skew("t", "i", 1)
    assert list(s.picture("t", "i", {"N": 5, "steps": 2}).points) == [(t, i + t) for t in (0, 1) for i in (1, 2, 3)]
    with pytest.raises(af.ScheduleError, match=r'cannot s\.picture\("t", "x", \.\.\.\): sweep has no loop x'):
        s.picture("t", "x", {"N": 5})


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


def test_a_step_is_replayed_as_it_was_written():
    with pytest.raises(af.ScheduleError, match=r"cannot s\.parallel\(None\): a loop is given by its name, got None"):
        af.Schedule(sweep).parallel(None)
    s = af.Schedule(gemm_rows).split("k", 3).unroll_jam("i", 2)
    s.tile(("j",), 4).unroll("j", 2)
    small = af.Schedule(buffered).unroll("k")
    assert str(small).endswith('s.unroll("k")')
    for each in (s, small):
        assert replayed(each).mlir() == each.kernel().mlir()


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


def test_python_that_replays_may_have_symbols_called_as_modules_are():
    name = af.symbols("af")

    @af.kernel
    def odd(A: af.f64[name]):
        with af.for_(name) as i:
            A[i] = 1.0

    s = af.Schedule(odd).split("i", name // 2)
    assert "import affdsl as af_2\n" in str(s)
    assert 'af = af_2.symbols("af")' in str(s)


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


def test_the_history_has_what_was_refused_in_its_place():
    @af.kernel
    def chain(x: af.f64[N, N]):
        with af.for_(1, N) as i, af.for_(N) as j:
            x[i, j] += x[i - 1, j]

    s = af.Schedule(chain).strip_mine("j", 4)
    with pytest.raises(af.IllegalTransform):
        s.parallel("i")
    s.parallel("j_strip")
    before, *asked = s.history
    assert [str(row.text) for row in before.loops] == ["i = 1 to N", "j = 0 to N"]
    assert [(step.call.verb, step.refusal is not None) for step in asked] == [
        ("strip_mine", False),
        ("parallel", True),
        ("parallel", False),
    ]
