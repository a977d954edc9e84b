"""Scheduled kernels compute what the kernel did, refuse what it refused, and are kernels."""

import itertools
import pickle
from collections import Counter

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.errors import SizeError
from affdsl.errors import InternalError
from affdsl.ir.traverse import rewrite
from affdsl.passes.advice.verbs import VERBS
from affdsl.passes.transforms.peel import peel
from affdsl.schedule.schedule import verified_last
from benchmarks.polybench.suite import SUITE
from examples.cholesky import cases as cholesky_cases
from examples.cholesky import cholesky
from examples.gemm import cases as gemm_cases
from examples.gemm import gemm
from tests.effort import TRIES_ALL, by_turns
from tests.oracles import compile_c, mlir_opt
from tests.schedule.kernels import K, M, N, blocked, buffered, jacobi, matmul, replayed, run_both, sweep
from tests.schedule.random_schedules import random_schedule


@pytest.mark.filterwarnings(
    "ignore::affdsl.passes.analysis.dependence.AnalysisWarning"
)  # what takes isl too long is taken to be unknown
@pytest.mark.parametrize("benchmark", SUITE if TRIES_ALL else SUITE[::3], ids=lambda benchmark: benchmark.name)
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


def test_dmas_are_pipelined():
    s = af.Schedule(buffered)
    with pytest.raises(af.IllegalTransform, match="cannot pipeline the DMAs of loop i"):
        s.pipeline("i")
    s.copy("A", "k", space=1, dma=True).pipeline("i")
    assert replayed(s).mlir() == s.kernel().mlir()
    rng = np.random.default_rng(13)
    for n in (0, 1, 2, 7):
        run_both(buffered, s.kernel(), rng.random((n, 8)), rng.random((n, 8)))


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
    many = verified_last(af.Schedule(jacobi)).strip_mine("j", 4).shift("t", 1)
    assert len(many.steps) == 2
    with pytest.raises(InternalError, match=r'^shift\("t", 1\) made IR that breaks a rule'):
        many.kernel()


@pytest.mark.parametrize(
    ("distance", "separate"),
    by_turns([(0, 0), (1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (2, -1), (3, -2)], [False, True]),
)
def test_loops_in_tiles_of_a_symbolic_size_are_jammed(distance, separate):
    """The whole groups of a tile end at a smallest of several bounds, which are known only at run time."""
    rows, columns = distance
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
