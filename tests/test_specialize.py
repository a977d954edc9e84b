"""`kernel.specialize(N=1000)` has numbers for sizes, does the same, and takes no others."""

import pickle

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.errors import SizeError
from affdsl.ir.verifier import verify
from examples.gemm import gemm, reference
from tests.effort import TRIES_ALL
from tests.oracles import mlir_opt

M, N, K = af.symbols("M N K")


@af.kernel
def fill(x: af.f64[N]):
    with af.for_(N) as i:
        x[i] = 1.0


@af.kernel
def everything(x: af.u8[N + 1], y: af.const(af.strided(af.f32[N, 2 * M])), p: af.index, n: M, c: af.f64):
    af.assume(p >= 1, N <= 50)
    made = af.alloc(af.u8[N + p, M])
    with af.for_(N + p) as i, af.for_(M) as j:
        made[i, j] = x[af.min(i, N)] + af.u8(N)
    with af.if_(N > 3):
        with af.for_(N) as i:
            x[i] = af.u8(af.select(y[i, 0] > af.f32(c), i, N * p))
    total = af.alloc(af.f64[N])
    fill(total)
    with af.for_(N) as i:
        x[N] += af.u8(total[i])
    return made, af.index(x[N])


@pytest.mark.parametrize(
    "sizes", [{"N": 6}, {"M": 3}, {"p": 2}, {"N": 6, "M": 3}, {"N": np.int64(6), "M": 3, "p": 2}]
)  # fmt: skip
def test_it_does_the_same_in_all_ways(sizes):
    special = everything.specialize(**sizes)
    verify(special.module)
    mlir_opt(special.mlir())
    x = np.arange(7, dtype=np.uint8)
    y = np.random.default_rng(0).uniform(-1, 1, (12, 6)).astype(np.float32)[::2]
    wanted_x = x.copy()
    wanted = everything.interpret(wanted_x, y, 2, 3, 0.5)
    again = pickle.loads(pickle.dumps(special))  # noqa: S301 - our own
    fast = [special.optimize("avx2", threads=2)] if TRIES_ALL or len(sizes) > 1 else []
    for run in (special, special.interpret, again, *fast):
        given = x.copy()
        found = run(given, y, 2, 3, 0.5)
        assert (given.tolist(), found[1]) == (wanted_x.tolist(), wanted[1])
        np.testing.assert_array_equal(found[0], wanted[0])


def test_numbers_stand_in_c_and_in_mlir_and_are_no_arguments():
    special = gemm.specialize(M=10, N=20, K=30)
    assert "for (int64_t k = 0; k < 30; ++k)" in special.c()
    assert "C[i * 20 + j]" in special.c()
    assert "(float alpha, float beta, const float *restrict A" in special.c()
    assert "%A: memref<10x30xf32>" in special.mlir()
    assert "index" not in special.mlir()
    assert "int64_t K, float alpha" in gemm.specialize(M=10, N=20).c()
    assert "int64_t" not in special.header().partition("#include <stdint.h>")[2]
    assert gemm.specialize() is gemm
    assert gemm.specialize(M=10).specialize(N=20, K=30).mlir() == special.mlir()


@pytest.mark.parametrize("make", [
    lambda: gemm.specialize(M=6, N=17),
    lambda: gemm.optimize("avx2", threads=2).specialize(M=6, N=17),
    lambda: gemm.specialize(M=6, N=17).optimize("avx2", threads=2, validate=True),
    lambda: af.Schedule(gemm).strip_mine("k", 4).kernel().specialize(M=6, N=17),
    lambda: af.Schedule(gemm.specialize(M=6, N=17)).strip_mine("k", 4).kernel(validate=True),
    lambda: gemm.apply("canonicalize").specialize(M=6, N=17),
])  # fmt: skip
def test_before_and_after_schedules_passes_and_the_optimizer(make):
    special = make()
    verify(special.module)
    random = np.random.default_rng(0)
    for k in (0, 1, 9):
        a, b, c = (random.integers(-5, 5, shape).astype(np.float32) for shape in ((6, k), (k, 17), (6, 17)))
        wanted = reference(2, 3, a, b, c)
        special(2, 3, a, b, c)
        np.testing.assert_array_equal(c, wanted)
    with pytest.raises(SizeError, match="gemm: dimension 0 of argument 'A' must be 6, got 5"):
        special(2, 3, np.zeros((5, 4), "f4"), np.zeros((4, 17), "f4"), np.zeros((5, 17), "f4"))


def test_what_was_done_before_is_still_told():
    fast = gemm.optimize("avx2", threads=1)
    special = fast.specialize(N=100)
    assert special.explain() == fast.explain()
    assert str(special.schedule) == str(fast.schedule)
    assert special.is_derived
    assert not gemm.specialize(N=100).is_derived


def test_an_argument_that_is_a_size_must_be_the_number():
    special = everything.specialize(M=3, p=2)
    x, y = np.zeros(7, "u1"), np.zeros((6, 6), "f4")
    for run in (special, special.interpret):
        run(x, y, 2, 3, 0.5)
        with pytest.raises(SizeError, match="everything: it assumes p - 2 == 0, but p = 1"):
            run(x, y, 1, 3, 0.5)
        with pytest.raises(SizeError, match="dimension 1 of argument 'y' must be 6, got 8"):
            run(x, np.zeros((6, 8), "f4"), 2, 4, 0.5)
        with pytest.raises(SizeError, match="it assumes M - 3 == 0, but M = 4"):
            run(x, y, 2, 4, 0.5)


@pytest.mark.parametrize("n", [0, 1])
def test_the_smallest_sizes(n):
    special = fill.specialize(N=n)
    x = np.zeros(n)
    special(x)
    special.interpret(x)
    assert x.tolist() == [1.0] * n
    fill.specialize(N=n).optimize("avx2", threads=2)(x)
    assert x.tolist() == [1.0] * n


def test_another_kernel_calls_it_with_its_own_sizes():
    four = fill.specialize(N=4)

    @af.kernel
    def both(x: af.f64[4], y: af.f64[N]):
        four(x)
        fill(y)

    x, y = np.zeros(4), np.zeros(3)
    both.specialize(N=3)(x, y)
    assert (x.tolist(), y.tolist()) == ([1.0] * 4, [1.0] * 3)

    with pytest.raises(af.ProgramError, match="4"):

        @af.kernel
        def wrong(y: af.f64[5]):
            four(y)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"L": 3}, r"test_specialize.py:\d+: cannot specialize gemm: it has no size L\n    its sizes are M, K, N"),
        ({"NN": 3}, "it has no size NN; did you mean 'N'"),
        ({"alpha": 3}, "it has no size alpha"),
        ({"N": -1}, "cannot specialize gemm: N, a size of an array, would be -1"),
        ({"N": 2.0}, "cannot specialize gemm: N is 2.0\n    it is a whole number"),
        ({"N": True}, "N is True"),
        ({"N": 2**63}, "does not fit in index"),
    ],
)
def test_what_is_no_size_is_refused(sizes, message):
    with pytest.raises(af.ProgramError, match=message):
        gemm.specialize(**sizes)


def test_numbers_that_break_a_promise_or_leave_an_array_are_refused():
    with pytest.raises(af.ProgramError, match=r"cannot specialize everything: it assumes p - 1 >= 0, but p = 0"):
        everything.specialize(p=0)
    with pytest.raises(af.ProgramError, match=r"it assumes 50 - N >= 0, but N = 51"):
        everything.specialize(N=51)

    @af.kernel
    def third(x: af.f64[N]):
        with af.for_(3) as i:
            x[i] = 1.0

    with pytest.raises(af.ProgramIndexError, match=r"x\[i\]"):
        third.specialize(N=2)
    third.specialize(N=3)(np.zeros(3))


def test_checked_accesses_stay_checked():
    @af.kernel(boundscheck=True)
    def gather(x: af.f64[N], place: af.i32[N]):
        with af.for_(N) as i:
            x[place[i]] = 1.0

    special = gather.specialize(N=3)
    assert special.boundscheck
    special(np.zeros(3), np.arange(3, dtype=np.int32))
    with pytest.raises(af.OutOfBoundsError, match="3"):
        special(np.zeros(3), np.arange(1, 4, dtype=np.int32))
