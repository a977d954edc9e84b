"""Tests of the facade: kernels called with arrays, refused calls, caches across processes, texts, and passes."""

import copy
import os
import pickle
import re
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import affdsl as af
import affdsl.codegen.errors
from affdsl.codegen.errors import ArgumentError, LayoutError, OverlapError, RangeError, SizeError
from affdsl.errors import ProgramTypeError
from affdsl.ir.dialects.func import Module
from affdsl.ir.expr import Value
from affdsl.ir.traverse import with_fields
from examples.gemm import gemm
from tests.oracles import compile_c

M, N, K = af.symbols("M N K")


@af.kernel
def matmul(A: af.f32[M, K], B: af.f32[K, N], C: af.f32[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        C[i, j] = 0.0
        with af.for_(K) as k:
            C[i, j] += A[i, k] * B[k, j]


@af.kernel
def axpy(a: af.f64, x: af.const(af.f64[N]), y: af.f64[N]):
    with af.for_(N) as i:
        y[i] += a * x[i]


def operands(m: int = 4, k: int = 5, n: int = 6) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    return (
        rng.integers(-4, 5, (m, k)).astype("f4"),
        rng.integers(-4, 5, (k, n)).astype("f4"),
        np.full((m, n), np.nan, "f4"),
    )


@pytest.mark.parametrize("sizes", [(4, 5, 6), (1, 1, 1), (0, 5, 6), (4, 0, 6), (4, 5, 0), (17, 3, 9)])
def test_a_call_computes_in_place(sizes):
    a, b, c = operands(*sizes)
    assert matmul(a, b, c) is None
    np.testing.assert_array_equal(c, a @ b)
    c[:] = np.nan
    matmul.interpret(a, b, C=c)
    np.testing.assert_array_equal(c, a @ b)


def test_keywords_name_arguments():
    a, b, c = operands()
    matmul(C=c, A=a, B=b)
    np.testing.assert_array_equal(c, a @ b)


def refused(kind: type[Exception], call: object) -> str:
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("how", ["__call__", "interpret"])
def test_what_does_not_fit_is_named_with_both_values(how):
    a, b, c = operands()
    run = getattr(matmul, how)
    dtype = refused(ArgumentError, lambda: run(a, b.astype("f8"), c))
    assert dtype == "matmul: argument 'B' must be an array of float32, got float64; pass B.astype(np.float32)"
    rank = refused(SizeError, lambda: run(a, b[0], c))
    assert rank == "matmul: argument 'B' must have rank 2, got shape (6,); reshape it"
    layout = refused(LayoutError, lambda: run(a, np.asfortranarray(b), c))
    assert layout == (
        "matmul: argument 'B' must be C-contiguous, with strides (24, 4), got strides (4, 20); "
        "pass np.ascontiguousarray(B), or let the kernel take any strides: annotate it with affdsl.strided(...)"
    )
    frozen = c.copy()
    frozen.flags.writeable = False
    assert "'C'" in refused((ArgumentError, LayoutError, ValueError), lambda: run(a, b, frozen))
    square = np.zeros((5, 5), "f4")
    overlap = refused(OverlapError, lambda: run(square, np.zeros((5, 5), "f4"), square))
    assert overlap.startswith("matmul: 'A' and 'C' overlap in memory and 'C' is written; pass a copy")
    assert "argument" in refused(TypeError, lambda: run(a, b))
    assert "'D'" in refused(TypeError, lambda: run(a, b, c, D=c))


def test_one_array_may_be_read_twice():
    square = np.arange(9, dtype="f4").reshape(3, 3)
    out = np.empty((3, 3), "f4")
    matmul(square, square, out)
    np.testing.assert_array_equal(out, square @ square)


@pytest.mark.parametrize("how", ["__call__", "interpret"])
def test_sizes_that_disagree_name_the_symbol_and_both_arguments(how):
    a, _, c = operands()
    message = refused(SizeError, lambda: getattr(matmul, how)(a, np.zeros((3, 6), "f4"), c))
    assert message == "matmul: dimension 0 of argument 'B' must be K = 5 (K = 5 from dimension 1 of 'A'), got 3"


@af.kernel
def inner(x: af.f64[N + 2], y: af.f64[N], k: K, z: af.f64[2 * K, 3]):
    af.assume(N >= 2, N <= 10 * K)
    with af.for_(N) as i:
        y[i] = x[i] + x[i + 2] + z[0, 2] + af.f64(k)


def test_sizes_may_be_expressions():
    y = np.zeros(4)
    inner(np.arange(6.0), y, 1, np.ones((2, 3)))
    assert y.tolist() == [4, 6, 8, 10]


@pytest.mark.parametrize("how", ["__call__", "interpret"])
@pytest.mark.parametrize(
    ("x", "y", "k", "z", "message"),
    [
        (1, 3, 1, (2, 3), "dimension 0 of argument 'y' is 3"),
        (6, 5, 1, (2, 3), "dimension 0 of argument 'y' must be N = 4 (N = 4 from dimension 0 of 'x'), got 5"),
        (6, 4, 2, (2, 3), "dimension 0 of argument 'z' must be K * 2 = 4 (K = 2 from argument k), got 2"),
        (6, 4, 1, (2, 4), "dimension 1 of argument 'z' must be 3, got 4"),
        (3, 1, 1, (2, 3), "assumes N - 2 >= 0, but N = 1"),
        (13, 11, 1, (2, 3), "assumes K * 10 - N >= 0, but N = 11, K = 1"),
    ],
)
def test_contracts_are_checked(how, x, y, k, z, message):
    call = lambda: getattr(inner, how)(np.zeros(x), np.zeros(y), k, np.zeros(z))  # noqa: E731
    found = refused(SizeError, call)
    if message.startswith("dimension 0 of argument 'y' is"):
        assert found == "inner: dimension 0 of argument 'x' is 1, which N + 2 is for no size N"
    else:
        assert message in found


def test_scalars_are_converted_without_loss():
    y = np.zeros(3)
    axpy(2, np.arange(3.0), y)
    axpy(np.float64(0.5), np.arange(3.0), y)
    assert y.tolist() == [0, 2.5, 5]
    assert "'a'" in refused(ArgumentError, lambda: axpy("2", np.arange(3.0), y))

    @af.kernel
    def fill(n: af.i8, y: af.i8[N]):
        with af.for_(N) as i:
            y[i] = n

    out = np.zeros(2, "i1")
    fill(-128, out)
    assert out.tolist() == [-128, -128]
    assert "'n'" in refused(RangeError, lambda: fill(128, out))
    assert "'n'" in refused(ArgumentError, lambda: fill(1.5, out))


def test_a_const_argument_may_be_read_only():
    x = np.arange(3.0)
    x.flags.writeable = False
    y = np.zeros(3)
    axpy(1.0, x, y)
    assert y.tolist() == [0, 1, 2]


def test_results_are_fresh_arrays_and_numpy_scalars():
    @af.kernel
    def outer_sum(x: af.f32[M], y: af.f32[N]):
        t = af.alloc(af.f32[M, N + 1])
        with af.for_(M) as i, af.for_(N + 1) as j:
            t[i, j] = 0.0
        with af.for_(M) as i, af.for_(N) as j:
            t[i, j + 1] = x[i] + y[j]
        with af.for_(M, iter_args=[af.f32(0), af.i64(0)]) as (i, s, n):
            af.yield_(s + x[i], n + 1)
        return t, s, n

    x, y = np.arange(3, dtype="f4"), np.arange(2, dtype="f4")
    for run in (outer_sum, outer_sum.interpret):
        t, s, n = run(x, y)
        assert t.dtype == np.float32
        np.testing.assert_array_equal(t, np.pad(np.add.outer(x, y), ((0, 0), (1, 0))))
        assert (s, n, type(n)) == (3.0, 3, np.int64)
        assert run(x[:0], y)[0].shape == (0, 3)


def test_unsigned_results_stay_unsigned():
    @af.kernel
    def invert(x: af.u8[N]):
        y = af.alloc(af.u8[N])
        with af.for_(N) as i:
            y[i] = 255 - x[i]
        return y

    x = np.array([0, 1, 200, 255], "u1")
    for run in (invert, invert.interpret):
        assert run(x).dtype == np.uint8
        assert run(x).tolist() == [255, 254, 55, 0]


@pytest.mark.parametrize("first", [False, True], ids=["traced before it runs", "traced after it ran"])
def test_a_kernel_calls_a_kernel(first):
    @af.kernel
    def double(x: af.f64[N]):
        with af.for_(N) as i:
            x[i] *= 2.0

    if first:
        double(np.zeros(1))

    @af.kernel
    def twice(x: af.f64[M]):
        double(x)
        double(x=x)

    for run in (twice, twice.interpret):
        x = np.arange(3.0)
        run(x)
        assert x.tolist() == [0, 4, 8]


def test_indices_go_beyond_32_bits():
    """Only the touched pages of these arrays exist."""

    @af.kernel
    def mark(x: af.u8[N], y: af.u8[M, K]):
        x[N - 1] = 1
        x[N - 2 + 0 * N] = 2
        y[M - 1, K - 1] = 3
        with af.for_(2**31 - 1, 2**31 + 1) as i:
            x[i] = 9

    x, y = np.zeros(2**31 + 3, "u1"), np.zeros((3, 2**30), "u1")
    mark(x, y)
    assert x[-4:].tolist() == [9, 9, 2, 1]
    assert y[2, 2**30 - 1] == 3


def test_a_method_is_built_for_each_object():
    class Scale:
        def __init__(self, factor):
            self.factor = factor

        @af.kernel
        def run(self, x: af.f64[N]):
            with af.for_(N) as i:
                x[i] *= self.factor

    x = np.ones(2)
    two, five = Scale(2.0), Scale(5.0)
    two.run(x)
    five.run(x)
    assert x.tolist() == [10, 10]
    assert two.run is two.run
    assert "a method" in repr(Scale.run)
    with pytest.raises(af.ProgramError, match="reach it through an object"):
        Scale.run.mlir()


def test_a_kernel_is_copied_and_handed_to_another_process_by_name():
    assert copy.deepcopy([axpy])[0] is axpy
    assert copy.copy(axpy) is axpy
    assert b"examples.gemm" in pickle.dumps(gemm)  # which has made sure that the name leads to gemm again
    assert b"affine.for" not in pickle.dumps(gemm)


def test_a_divisor_that_is_not_positive_is_refused_and_stops_no_process():
    T = af.symbols("T")

    @af.kernel
    def tiled(x: af.i64[N], t: T):
        with af.for_(N.ceildiv(t)) as b, af.for_(b * t, af.min(b * t + t, N)) as i:
            x[i] = af.i64(b) + af.i64((i - N) % t)

    x = np.full(4, 7)
    tiled(x, 3)
    assert x.tolist() == [2, 0, 1, 3]
    for divisor in (0, -1, -(2**57)):
        x[:] = 7
        with pytest.raises(SizeError, match=r"divides by T, which must be at least 1: it needs T >= 1, but T = "):
            tiled(x, divisor)
        assert x.tolist() == [7, 7, 7, 7]

    @af.kernel
    def tiles(n: N, t: T, x: af.f32[N // T]):
        af.assume(N // T >= 1)
        x[0] = 1.0

    for run in (tiles, tiles.interpret):
        with pytest.raises(SizeError) as caught:
            run(5, 0, np.zeros(0, "f4"))
        assert str(caught.value) == "tiles: N floordiv T needs a positive divisor, but N = 5, T = 0"


@pytest.mark.parametrize("numbers", [(2**63 - 1, 5), (2**62, -(2**63) + 40), (-(2**63), 12), (0, -(2**63))])
def test_index_arguments_too_large_to_compute_with_are_refused(numbers):
    lo, hi = af.symbols("lo hi")

    @af.kernel
    def later(A: af.i64[12], lo: lo, hi: hi):
        af.assume(lo >= 0, hi <= 12)
        with af.for_(lo + 3, hi) as i:
            A[i] += 1

    @af.kernel
    def at_once(A: af.i64[12], lo: lo, hi: hi):
        af.assume(lo >= 0, hi <= 12)
        with af.parallel((lo, hi)) as i:
            A[i] += 1

    for kernel in (later, at_once, af.Schedule(later).peel("i", first=1, last=1).kernel()):
        for run in (kernel, kernel.interpret):
            x = np.zeros(12, np.int64)
            with pytest.raises(SizeError, match=r"must lie between|assumes"):
                run(x, *numbers)
            run(x, 2**40, -(2**40))
            assert not x.any()
            run(x, 0, 12)
            assert x.any()


def test_index_arguments_whose_product_is_too_large_are_refused():
    n, m = af.symbols("n m")

    @af.kernel
    def first(A: af.i64[12], n: n, m: m):
        with af.for_(af.min(n * m, 12)) as i:
            A[i] += 1

    for run in (first, first.interpret):
        x = np.zeros(12, np.int64)
        for numbers in ((2**33, 2**31), (-(2**40), 2**40), (2**62, 3)):  # 64 bits hold 0, 0 and a negative number
            with pytest.raises(SizeError, match=rf"argument n is {numbers[0]}, and must lie between -{2**30} and"):
                run(x, *numbers)
        assert not x.any()
        run(x, 2**30, 2**30)
        assert x.all()


def test_products_of_many_index_arguments_are_refused_for_smaller_ones():
    n, m, k, q = af.symbols("n m k q")

    @af.kernel
    def first(A: af.i64[12], n: n, m: m, k: k, q: q):
        with af.for_(af.min(n * m * k * q, 12)) as i:
            A[i] += 1

    x = np.zeros(12, np.int64)
    with pytest.raises(SizeError, match=rf"argument n is {2**17}, and must lie between -{2**15} and"):
        first(x, *[2**17] * 4)  # 2**68, of which 64 bits hold 0
    assert not x.any()
    first(x, *[2**15] * 4)
    assert x.all()


def test_starts_of_tiles_of_a_symbolic_size_are_no_larger_than_the_loop():
    n, T = af.symbols("n T")

    @af.kernel
    def triangle(A: af.i64[12, 12], n: n, T: T):
        af.assume(T >= 1, T < 2**31)
        with af.for_(2, n) as i, af.for_(i, n) as j:
            A[i, j] += 1

    for options in ({}, {"separate": True}):
        tiled = af.Schedule(triangle).tile(("i", "j"), (T, T), **options).kernel()
        ours, theirs = (np.zeros((12, 12), np.int64) for _ in range(2))
        tiled(ours, 12, 2**31 - 1)
        tiled(ours, -(2**50), 5)
        triangle(theirs, 12, 1)
        assert (ours == theirs).all()
        with pytest.raises(SizeError, match="n is -"):
            tiled(ours, -(2**62), 5)


def test_numbers_that_are_only_data_may_be_as_large_as_they_are():
    @af.kernel
    def kept(A: af.i64[N], n: af.index):
        with af.for_(N) as i:
            A[i] = af.i64(n)

    x = np.zeros(2, np.int64)
    kept(x, -(2**63))
    assert x.tolist() == [-(2**63)] * 2


def test_a_result_of_negative_size_is_named():
    @af.kernel
    def filtered(x: af.f64[N], h: af.f64[K], more: af.index):
        y = af.alloc(af.f64[2, N - K + 1 + more])
        with af.for_(2) as c, af.for_(y.shape[1]) as i:
            y[c, i] = h[0] * x[i]
        return y

    assert filtered(np.ones(2), np.ones(3), 0).shape == filtered.interpret(np.ones(2), np.ones(3), 0).shape == (2, 0)
    for run in (filtered, filtered.interpret):
        with pytest.raises(SizeError) as caught:
            run(np.ones(2), np.ones(4), -1)
        assert str(caught.value) == (
            "filtered: dimension 1 of the array f64[2, N - K + more + 1] that it returns would be "
            "N - K + more + 1 = -2, where N = 2, K = 4, more = -1"
        )
        with pytest.raises(SizeError, match=r"would be N - K \+ more \+ 1 = 9223372036854775808, where N = 3"):
            run(np.ones(3), np.ones(3), 2**63 - 1)


def test_text_of_a_kernel(tmp_path):
    assert str(matmul) == matmul.mlir()
    assert "affine.for %k = 0 to %K" in str(matmul)
    assert repr(matmul) == "<affdsl kernel matmul(A: f32[M, K], B: f32[K, N], C: f32[M, N])>"
    source, header = matmul.save_c(tmp_path)
    assert header.read_text() == matmul.header()
    assert matmul.c().endswith(source.read_text().removeprefix('#include "matmul.h"\n\n'))
    assert matmul.__name__ == "matmul"
    assert matmul.__doc__ is None


def test_the_c_of_a_kernel_is_one_file():
    about, _, _ = matmul.c().partition("*/")
    assert f"{about}*/" in matmul.header()
    flags = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic")
    compile_c({"alone.c": matmul.c()}, "gcc", flags)
    compile_c({"matmul.c": matmul.c(), "matmul.h": matmul.header(), "use.c": '#include "matmul.h"\n'}, "gcc", flags)


def test_threads_call_at_once():
    a, b, _ = operands(40, 50, 60)

    def work(_: int) -> bool:
        c = np.empty((40, 60), "f4")
        matmul(a, b, c)
        return bool((c == a @ b).all())

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(40)))


PROGRAM = textwrap.dedent("""
    import sys
    import numpy as np
    import affdsl as af
    import affdsl.codegen.toolchain as toolchain

    runs = []
    true_run = toolchain._run
    toolchain._run = lambda *a, **k: (runs.append(a), true_run(*a, **k))[1]
    N = af.symbols("N")

    @af.kernel
    def scale(x: af.f64[N]):
        with af.for_(N) as i:
            x[i] *= 3.0

    x = np.ones(2)
    scale(x)
    print(x.tolist(), len(runs))
""")


def run_program(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    program = folder / "program.py"
    program.write_text(PROGRAM)
    return subprocess.run(
        [sys.executable, str(program)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)} | environment,
        check=False,
    )


def test_a_second_process_starts_no_compiler(tmp_path):
    cache = str(tmp_path / "cache")
    first = run_program(tmp_path, AFFDSL_CACHE_DIR=cache)
    second = run_program(tmp_path, AFFDSL_CACHE_DIR=cache)
    assert first.stdout.startswith("[3.0, 3.0] "), first.stderr
    assert int(first.stdout.split()[-1]) > 0
    assert second.stdout == "[3.0, 3.0] 0\n", second.stderr


def test_a_compiler_that_is_missing_or_fails_says_so(tmp_path):
    missing = run_program(tmp_path, AFFDSL_CACHE_DIR=str(tmp_path / "a"), AFFDSL_CC="no-such-compiler")
    assert "ToolchainError" in missing.stderr
    assert "no-such-compiler" in missing.stderr
    failing = run_program(tmp_path, AFFDSL_CACHE_DIR=str(tmp_path / "b"), AFFDSL_CC="gcc -DPLANTED -include missing.h")
    assert "ToolchainError" in failing.stderr
    assert "missing.h" in failing.stderr
    assert "-DPLANTED" in failing.stderr


@pytest.mark.parametrize(
    "kind", [x for x in vars(affdsl.codegen.errors).values() if isinstance(x, type)], ids=lambda kind: kind.__name__
)
def test_every_error_of_a_call_has_the_common_root(kind):
    assert issubclass(kind, af.AffdslError)
    assert kind is af.AffdslError or issubclass(kind, RuntimeError | TypeError | ValueError)


def test_passes_are_applied_to_kernels():
    tuned = matmul.apply("affine-loop-tile{tile-size=3},canonicalize,cse", validate=True)
    assert [loop.iv.hint for loop in tuned.loops()] == ["i_tile", "j_tile", "i", "j", "k"]
    again = tuned.apply("builtin.module(func.func(affine-scalrep,affine-loop-invariant-code-motion),symbol-dce)")
    for call in (tuned, tuned.interpret, again, again.interpret):
        a, b, c = operands(5, 7, 4)
        call(a, b, c)
        np.testing.assert_array_equal(c, a @ b)
    assert matmul.apply("").mlir() == matmul.mlir()


def test_passes_that_lower_are_applied_to_kernels():
    lowered = matmul.apply("lower-affine")
    assert "scf.for" in lowered.mlir()
    a, b, c = operands()
    lowered(a, b, c)
    np.testing.assert_array_equal(c, a @ b)


@pytest.mark.parametrize(
    ("pipeline", "words"),
    [
        ("cse, affine-tile", ("<pass-pipeline>:1:6: error: 'affine-tile' does not refer to a registered pass or pass "
         "pipeline; did you mean affine-loop-tile?\ncse, affine-tile\n     ^")),
        ("cse)", ("<pass-pipeline>:1:5: error: encountered extra closing ')' creating unbalanced parentheses while "
         "parsing pipeline\ncse)\n    ^")),
        ("affine-loop-tile{size=1}", ("<pass-pipeline>:1:1: error: affine-loop-tile: no such option size; "
         "it takes cache-size, separate, tile-size, tile-sizes\naffine-loop-tile{size=1}\n^")),
    ],
)  # fmt: skip
def test_what_is_no_pipeline_is_shown_as_it_was_written(pipeline, words):
    with pytest.raises(af.AffdslError) as caught:
        matmul.apply(pipeline)
    assert re.sub("; did you mean .*?(?=\n)", "", str(caught.value)) == re.sub("; did you mean .*?(?=\n)", "", words)


def test_a_module_of_another_kernel_is_refused():
    with pytest.raises(af.UnsupportedError, match="matmul: there is no function @matmul any more"):
        matmul.with_module(gemm.module)


def test_passes_that_change_the_arguments_are_refused():
    (function,) = matmul.module.functions
    other = with_fields(function, args=tuple(Value(v.type, v.hint) for v in function.args))
    with pytest.raises(af.UnsupportedError, match="matmul: its arguments or results are not those that it is called"):
        matmul.with_module(Module((other,)))


def test_a_module_that_lacks_what_is_called_is_refused():
    @af.kernel
    def caller(a: af.f64, x: af.f64[N], y: af.f64[N]):
        axpy(a, x, y)

    with pytest.raises(af.UnsupportedError, match="caller: it calls @axpy, which is not in the module or has no body"):
        caller.with_module(Module((caller.func,)))


def test_passes_keep_what_a_kernel_calls_and_its_constants():
    @af.kernel
    def weighted(x: af.f64[N], y: af.f64[N]):
        w = af.constant(np.array([2.0, 3.0]))
        with af.for_(N) as i:
            x[i] *= w[1]
        axpy(2.0, x, y)

    x, y = np.arange(5.0), np.ones(5)
    for kernel in (weighted.apply("cse"), weighted.apply("inline,canonicalize", validate=True)):
        given = x.copy(), y.copy()
        kernel(*given)
        np.testing.assert_array_equal(given[1], y + 6 * x)


def test_a_pipeline_that_is_no_text():
    with pytest.raises(TypeError, match=r"apply takes the text of a pipeline, got \['cse'\]"):
        axpy.apply(["cse"])


def test_c_has_vectors_as_wide_as_registers(tmp_path):
    n = af.symbols("n")

    @af.kernel
    def dot(x: af.f32[n], y: af.f32[n], r: af.f32[1]):
        with af.for_(n) as i:
            r[0] += x[i] * y[i]

    kernel = af.Schedule(dot).scalar_replace("i").vectorize("i", 64, reassociate=True).kernel()
    lanes = {
        width: {int(each) for each in re.findall(r"f32x(\d+)", kernel.c(width=width))} for width in (128, 256, 512)
    }
    assert [max(each) for each in lanes.values()] == [4, 8, 16]
    assert kernel.c() == kernel.c(width=512)
    assert "f32x8" not in kernel.save_c(tmp_path, width=128)[0].read_text()
    with pytest.raises(ProgramTypeError, match=r"width is 100\n.*128, 256, 512"):
        kernel.c(width=100)


def test_large_unsigned_numbers_are_results_of_the_interpreter():
    @af.kernel
    def next_one(n: af.u64, k: af.i8) -> (af.u64, af.i8):
        return n + 1, k - 1

    arguments = np.uint64(2**64 - 2), np.int8(-127)
    assert next_one.interpret(*arguments) == next_one(*arguments) == (2**64 - 1, -128)
