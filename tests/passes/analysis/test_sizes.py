"""The size that a symbol stands for is at least 0: at the entry, in the analyses and for callees."""

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.errors import SizeError
from affdsl.ir.interpreter import InterpreterError, run
from affdsl.mlir.readers import parse
from affdsl.passes.analysis.dependence import dependences
from affdsl.passes.analysis.parallelism import of_loops

N, M, K = af.symbols("N M K")


@af.kernel
def halo(A: af.f64[N + 4, M], B: af.f64[M]):
    with af.for_(M) as i, af.if_(N < 0):
        B[0] = af.f64(i)
    with af.for_(N) as i, af.for_(M) as j:
        A[i, j] = 0.0


def test_sizes_are_taken_for_possibly_negative():
    """Item 3 of what strangers broke: `parallel` was refused for N = -4, which no call accepts."""
    assert [loop.verdict for loop in halo.loops()] == ["parallel", "parallel", "parallel"]
    assert not [*halo.dependences().all()]
    af.Schedule(halo).parallel("i#1")


def test_the_entry_refuses_a_negative_size():
    with pytest.raises(SizeError, match=r"dimension 0 of argument 'A' is 3, which N \+ 4 is for no size N"):
        halo(np.zeros((3, 2)), np.zeros(2))
    halo(np.zeros((4, 2)), np.zeros(2))


@af.kernel
def given(A: af.f64[N * M], n: N, m: M):
    with af.if_(N < 0):
        A[0] = 1.0


def test_the_entry_refuses_a_negative_size_that_is_an_argument():
    assert not [*given.dependences().all()]
    given(np.zeros(6), 2, 3)
    with pytest.raises(SizeError, match="given: it assumes N >= 0, but N = -2"):
        given(np.zeros(6), -2, -3)


def test_a_negative_size_of_a_callee_is_refused_where_it_is_built():
    with pytest.raises(af.ProgramError, match=r"halo assumes N >= 0, and is given N = -4, with which"):

        @af.kernel
        def caller(B: af.f64[M]):
            halo(af.alloc(af.f64[0, M]), B)


def test_a_negative_size_of_a_callee_is_checked_by_each_call():
    @af.kernel
    def caller(A: af.f64[N, M], B: af.f64[M]):
        halo(A, B)

    caller(np.zeros((4, 2)), np.zeros(2))
    with pytest.raises(SizeError, match="caller: it assumes N - 4 >= 0, but N = 3"):
        caller(np.zeros((3, 2)), np.zeros(2))


def test_a_size_of_a_callee_that_is_no_smaller_than_a_loop_is_proved():
    @af.kernel
    def row(x: af.f64[N + 1]):
        x[N] = 1.0

    @af.kernel
    def triangle(y: af.f64[M]):
        with af.for_(M) as i:
            x = af.alloc(af.f64[i + 1])
            row(x)
            y[i] = x[i]

    assert triangle.check().are_proved
    y = np.zeros(3)
    triangle(y)
    assert y.tolist() == [1.0, 1.0, 1.0]


def test_text_keeps_that_sizes_are_not_negative():
    text = halo.mlir()
    assert "affdsl.assume = affine_set<()[N, M] : (N >= 0)>" in text
    again = parse(text).functions[0]
    assert not [*dependences(again).all()]
    with pytest.raises(InterpreterError, match="@halo assumes N >= 0, which does not hold for N = -1"):
        run(again, -1, 2, np.zeros((3, 2)), np.zeros(2))


def test_only_what_no_shape_says_is_assumed():
    """Shapes like N, 2 * N and N - 1 say it of N; what the author assumes may say it, too."""

    @af.kernel
    def f(A: af.f64[N, 2 * M - 2]):
        pass

    assert f.func.assumes == ()

    @af.kernel
    def g(A: af.f64[N + 4]):
        af.assume(N >= 3)

    assert len(g.func.assumes) == 1

    @af.kernel
    def between(A: af.f64[N - M], n: N, m: M, k: K):
        with af.for_(K) as i, af.if_(K < 0):
            A[i] = 1.0

    assert between.func.assumes == ()


def test_text_without_a_contract_assumes_of_memrefs_only_that_they_have_sizes():
    module = parse("""
    #negative = affine_set<()[s] : (-s - 1 >= 0)>
    func.func @f(%A: memref<?xf32>, %n: index, %x: f32) {
      %c0 = arith.constant 0 : index
      %size = memref.dim %A, %c0 : memref<?xf32>
      affine.for %i = 0 to 9 { affine.if #negative()[%size] { affine.store %x, %A[0] : memref<?xf32> } }
      affine.for %i = 0 to 9 { affine.if #negative()[%n] { affine.store %x, %A[1] : memref<?xf32> } }
      return
    }""")
    found = of_loops(dependences(module.functions[0]))
    assert [loop.verdict for loop in found] == ["parallel", "parallel if privatized"]
