"""The clause of OpenMP that keeps loops with little to do on one thread."""

from __future__ import annotations

import re

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.c.emit import emit
from affdsl.codegen.c.work import FORK, WAKE
from affdsl.mlir.readers import parse
from tests.oracles import compile_c

M, N = af.symbols("M N")


def clauses(kernel: af.Kernel) -> list[str]:
    return re.findall(r"#pragma omp parallel for(.*)", str(kernel.c()))


def holds(clause: str, **sizes: int) -> bool:
    """Whether threads would share the loop for some sizes: the condition means the same in Python as in C."""
    found = re.fullmatch(r" if\((.*)\)", clause)
    assert found is not None
    text = found[1].replace("(double)", "")
    return bool(eval(text, {"min_i64": min, **sizes}))  # noqa: S307 - it is text of ours


def test_a_loop_over_rows_is_shared_where_there_are_enough_elements():
    @af.kernel
    def scaled(A: af.f64[M, N]):
        with af.parallel(M) as i, af.for_(N) as j:
            A[i, j] = A[i, j] * 2.0

    (clause,) = clauses(scaled)
    assert not holds(clause, M=10, N=10)
    assert not holds(clause, M=0, N=10**9)
    assert holds(clause, M=1000, N=1000)
    for m, n in ((0, 3), (3, 0), (5, 7), (300, 200)):
        a = np.random.default_rng(m).normal(size=(m, n))
        wanted = a * 2.0
        scaled(a)
        assert (a == wanted).all()


def test_a_triangle_counts_as_a_half():
    @af.kernel
    def lower(A: af.f64[N, N]):
        with af.parallel(N) as i, af.for_(i) as j:
            A[i, j] = 1.0

    (clause,) = clauses(lower)
    assert "0.5 * (double)N" in clause
    assert not holds(clause, N=50)
    assert holds(clause, N=2000)


def test_tiles_count_as_what_is_in_them():
    @af.kernel
    def tiled(A: af.f64[N, M]):
        with af.parallel(N) as i, af.for_(M) as j:
            A[i, j] = 1.0

    made = af.Schedule(tiled).strip_mine("j", 64).kernel()
    (clause,) = clauses(made)
    assert not holds(clause, N=10, M=100)
    assert holds(clause, N=1000, M=1000)


def test_what_groups_of_rows_leave_over_is_less_than_a_group():
    @af.kernel
    def scaled(A: af.f64[M, N]):
        with af.for_(M) as i, af.for_(N) as j:
            A[i, j] = A[i, j] * 2.0

    s = af.Schedule(scaled).unroll_jam("i", 4)
    groups, rest = (row.names[0] for row in s.loops() if row.depth == 0)
    many, few = clauses(s.parallel(groups).parallel(rest).kernel())
    assert holds(many, M=4000, N=1000)
    assert not holds(few, M=4000, N=1000)
    assert holds(few, M=4003, N=100_000)


@pytest.mark.parametrize(("size", "wanted"), [(WAKE, ""), (3, " if(0)")])
def test_known_sizes_decide_at_once(size, wanted):
    @af.kernel
    def filled(A: af.f64[size]):
        with af.parallel(size) as i:
            A[i] = 1.0

    assert clauses(filled) == [wanted]
    a = np.zeros(size)
    filled(a)
    assert (a == 1).all()


def test_threads_that_have_work_again_and_again_need_less_of_it():
    @af.kernel
    def once(A: af.f64[N]):
        with af.parallel(N) as i:
            A[i] = 1.0

    @af.kernel
    def often(A: af.f64[N], steps: af.index):
        with af.for_(steps), af.parallel(N) as i:
            A[i] = 1.0

    (first,), (second,) = clauses(once), clauses(often)
    assert not holds(second, N=FORK // 10)
    assert holds(second, N=FORK)
    assert not holds(first, N=FORK)
    assert holds(first, N=WAKE)


def test_bounds_from_data_are_not_weighed():
    @af.kernel
    def ragged(sizes: af.i64[N], A: af.f64[N, M]):
        with af.parallel(N) as i, af.for_(af.index(sizes[i])) as j:
            A[i, j] = 1.0

    assert clauses(ragged) == [""]


def test_iterations_that_do_more_than_others_are_given_out_one_by_one():
    @af.kernel
    def rows(A: af.f64[N, N], B: af.f64[N, M]):
        with af.parallel(N) as i, af.for_(i) as j, af.for_(M) as k:
            A[i, j] += B[i, k] * B[j, k]

    @af.kernel
    def flat(A: af.f64[N, N], B: af.f64[N, M]):
        with af.for_(N) as i, af.for_(N) as j, af.for_(M) as k:
            A[i, j] += B[i, k] * B[j, k]

    @af.kernel
    def corners(A: af.f64[N, N], B: af.f64[N, M]):
        with af.for_(N) as i, af.for_(i) as j, af.for_(M) as k:
            A[i, j] += B[i, k] * B[j, k]

    tiles = af.Schedule(flat).strip_mine("i", 64).parallel("i_strip").kernel()
    tiled = af.Schedule(corners).tile(("i", "j"), (32, 32)).parallel("i_tile").kernel()
    dynamic = [["schedule(dynamic)" in clause for clause in clauses(each)] for each in (rows, tiles, tiled)]
    assert dynamic == [[True], [False], [True]]
    b = np.random.default_rng(3).normal(size=(90, 5))
    wanted, found = np.zeros((90, 90)), np.zeros((90, 90))
    corners(wanted, b)
    tiled(found, b)
    assert (found == wanted).all()


def test_what_runs_only_where_there_is_no_whole_vector_is_short():
    @af.kernel
    def zeros(A: af.f32[M, N]):
        with af.parallel(M) as i, af.for_(N) as j:
            A[i, j] = 0.0

    made = af.Schedule(zeros).vectorize("j", 16, tail="overlapped").kernel()
    (clause,) = clauses(made)
    assert not holds(clause, M=512, N=64)
    assert holds(clause, M=16384, N=1024)
    for n in (0, 3, 15, 16, 17):
        a = np.ones((5, n), np.float32)
        made(a)
        assert (a == 0).all()


def test_tiles_are_no_more_than_there_is_to_tile():
    @af.kernel
    def filled(A: af.f64[N, M]):
        with af.for_(N) as i, af.for_(M) as j:
            A[i, j] = 1.0

    tiled = af.Schedule(filled).strip_mine("i", 3072, name="block").strip_mine("i", 32, name="tile")
    (clause,) = clauses(tiled.parallel("tile").kernel())
    assert not holds(clause, N=40, M=100, block=0)
    assert not holds(clause, N=3112, M=100, block=3072)
    assert holds(clause, N=3072, M=100, block=0)


def test_what_a_clause_alone_calls_is_there_for_openmp_alone():
    text = """func.func @f(%n: index, %m: index, %x: f64, %A: memref<?x4xf64>) {
      affine.parallel (%i, %j) = (0, max(%n, 0)) to (%m, 4) { affine.store %x, %A[%i, %j] : memref<?x4xf64> }
      return
    }"""
    made = emit(parse(text), entry="f")
    assert re.search(r" if\(.*\bmin_i64\(", made.source)
    for flags in ((), ("-fopenmp",)):
        compile_c(
            {"f.c": made.source, "f.h": made.header}, "clang-22", ["-std=c11", "-Wall", "-Wextra", "-Werror", *flags]
        )


def with_a_bound_made_inside(bound: str) -> str:
    """The clause of a parallel loop whose inner loop runs up to a value that each iteration makes."""
    module = parse(f"""func.func @f(%A: memref<999x999xf64>, %n: index, %x: f64) {{
      affine.parallel (%i) = (0) to (symbol(%n)) {{
        %m = {bound}
        affine.for %j = 0 to %m {{
          affine.store %x, %A[%i, %j] : memref<999x999xf64>
        }}
      }}
      return
    }}""")
    (clause,) = re.findall(r"#pragma omp parallel for(.*)", emit(module, "f").source)
    return clause


def test_a_bound_that_is_made_inside_counts_as_in_the_middle():
    clause = with_a_bound_made_inside("affine.apply affine_map<(d0)[s0] -> (s0 - d0)>(%i)[%n]")
    assert "0.5 * (double)n" in clause
    assert not holds(clause, n=50)
    assert holds(clause, n=2000)


def test_a_bound_that_is_made_inside_of_what_is_not_known_is_not_weighed():
    assert with_a_bound_made_inside("affine.min affine_map<(d0)[s0] -> (d0, s0 - 5)>(%i)[%n]") == ""
