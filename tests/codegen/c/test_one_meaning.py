"""What C and the interpreter once saw differently: bytes of bool arrays, zeros and NaN in extremes, f32 functions."""

import ctypes
import itertools
from pathlib import Path

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.c.emit import emit_jit
from affdsl.codegen.c.helpers import helper
from affdsl.ir import semantics
from affdsl.ir.interpreter import run
from affdsl.ir.numeric import dtype, quiet
from affdsl.ir.types import F32, F64
from affdsl.mlir.readers import parse
from tests.codegen.c.compare import compile_silently, run_c
from tests.effort import some
from tests.oracles import require

N = af.symbols("N")
KINDS = {"maximum": "maximumf", "minimum": "minimumf", "maxnum": "maxnumf", "minnum": "minnumf"}
SPECIAL = (0.0, -0.0, 1.0, -1.0, 1.5, -1e-45, 5e-324, 1e300, -1e300, np.inf, -np.inf, np.nan, -np.nan)


@af.kernel
def counted(a: af.bool_[N], b: af.bool_[N], same: af.bool_[N], x: af.i64[8]):
    with af.for_(N) as i:
        x[0] += af.select(a[i], af.i64(1), af.i64(0))
        x[1] += af.i64(a[i])
        with af.if_(a[i]):
            x[2] += 1
        x[3] += af.i64(a[i] == b[i])
        x[4] += af.i64(a[i] & b[i])
        x[5] += af.i64(a[i] ^ b[i])
        x[6] += af.i64(af.f64(a[i]) * 2.0)
        same[i] = a[i]


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3", "-Os"])
def test_any_byte_of_a_bool_array_that_is_not_0_is_true(level: str, tmp_path: Path) -> None:
    """NumPy's views of other bytes as bool: of bytes 2 and 255 as of 1."""
    pairs = np.array(list(itertools.product((0, 1, 2, 254, 255), repeat=2)), np.uint8)
    a, b = (pairs[:, k].copy() for k in (0, 1))
    p, q = a != 0, b != 0
    expected = [p.sum(), p.sum(), p.sum(), (p == q).sum(), (p & q).sum(), (p ^ q).sum(), 2 * p.sum(), 0]
    for way in ("c", "interpreter"):
        same, x = np.zeros(len(a), bool), np.zeros(8, np.int64)
        given = [a.view(bool), b.view(bool), same, x]
        if way == "c":
            run_c(counted.module, counted.name, given, tmp_path, sizes=1, flags=(level,))
        else:
            run(counted.func, len(a), *given, module=counted.module)
        assert x.tolist() == expected, way
        assert same.view(np.uint8).tolist() == p.astype(np.uint8).tolist(), way


def test_vectors_copies_and_views_of_bools_read_any_byte(tmp_path: Path) -> None:
    module = parse("""func.func @f(%a: memref<8xi1>, %b: memref<8xi1>, %n: memref<i64>) {
  %c0 = arith.constant 0 : index
  %v = vector.load %a[%c0] : memref<8xi1>, vector<8xi1>
  %wide = arith.extui %v : vector<8xi1> to vector<8xi64>
  %sum = vector.reduction <add>, %wide : vector<8xi64> into i64
  affine.store %sum, %n[] : memref<i64>
  %s = memref.subview %a[1] [4] [2] : memref<8xi1> to memref<4xi1, strided<[2], offset: 1>>
  %t = memref.subview %b[0] [4] [1] : memref<8xi1> to memref<4xi1, strided<[1]>>
  memref.copy %s, %t : memref<4xi1, strided<[2], offset: 1>> to memref<4xi1, strided<[1]>>
  return
}""")
    a = np.array([0, 2, 0, 255, 1, 0, 128, 3], np.uint8)
    b, n = np.zeros(8, bool), np.zeros((), np.int64)
    run_c(module, "f", [a.view(bool), b, n], tmp_path, flags=("-O2",))
    assert n == 5
    assert b.tolist() == [True, True, False, True, False, False, False, False]


def every_pair(name: str, type: str) -> str:
    needs = "\n".join(helper(need).text for need in helper(name).needs)
    return f"""#include <math.h>
#include <stdint.h>
#include <string.h>
{needs}
{helper(name).text}
void every(int64_t n, const {type} *a, const {type} *b, {type} *c);
void every(int64_t n, const {type} *a, const {type} *b, {type} *c)
{{
    for (int64_t i = 0; i < n; ++i)
        c[i] = {name}(a[i], b[i]);
}}
"""


@pytest.mark.parametrize("carried", ["", "carried_"])
@pytest.mark.parametrize("stem", KINDS)
def test_extremes_of_zeros_and_nan(stem: str, carried: str, tmp_path: Path) -> None:
    """Unless all is tried, functions and types take turns at the ways to compile."""
    ways = [("gcc", ("-O1",)), ("gcc", ("-O3", "-fno-trapping-math")), ("clang-22", ("-O2",))]
    for turn, (type, name) in enumerate(((F64, "double"), (F32, "float")), [*KINDS].index(stem) + len(carried)):
        with quiet():
            pairs = np.array(list(itertools.product(SPECIAL, repeat=2))).astype(dtype(type))
            meaning = semantics.binary(KINDS[stem], type)
            expected = [meaning(a, b) for a, b in pairs]
        text = every_pair(f"{carried}{stem}_{type}", name)
        for compiler, flags in some(ways[turn % 3 :] + ways[: turn % 3], 1):
            library = ctypes.CDLL(str(compile_silently(text, tmp_path, require(compiler), *flags)))
            a, b, c = pairs[:, 0].copy(), pairs[:, 1].copy(), np.zeros(len(pairs), pairs.dtype)
            library.every(ctypes.c_int64(len(c)), *(ctypes.c_void_p(x.ctypes.data) for x in (a, b, c)))
            for x, y, want, got in zip(a, b, expected, c, strict=True):
                same = (np.isnan(want) and np.isnan(got)) or (want == got and np.signbit(want) == np.signbit(got))
                assert same, (compiler, flags, x, y, want, got)


@af.kernel
def extremes(x: af.f32[N], y: af.f32[N], z: af.f32[4, N]):
    with af.for_(N) as i:
        z[0, i] = af.fmax(x[i], y[i], -2.0)
        z[1, i] = af.fmin(x[i], y[i])
        z[2, i] = af.max(x[i], y[i])
    with af.for_(N, iter_args=(y[0], y[0])) as (i, high, low):
        af.yield_(af.max(high, y[i]), af.fmin(low, y[i]))
    z[3, 0] = high
    z[3, 1] = low


def test_fmax_and_fmin_prefer_numbers_to_nan() -> None:
    pairs = np.array(list(itertools.product((1.0, -3.0, 0.0, np.inf, np.nan), repeat=2)), np.float32)
    x, y = pairs[:, 0].copy(), pairs[:, 1].copy()
    z = np.zeros((4, len(x)), np.float32)
    extremes(x, y, z)
    np.testing.assert_array_equal(z[0], np.fmax(np.fmax(x, y), np.float32(-2)))
    np.testing.assert_array_equal(z[1], np.fmin(x, y))
    np.testing.assert_array_equal(z[2], np.maximum(x, y))
    assert np.isnan(z[3, 0])
    assert z[3, 1] == -3


def test_fmax_is_for_floats() -> None:
    with pytest.raises(af.ProgramTypeError, match=r"fmax needs a float, got .* i64"):

        @af.kernel
        def wrong(x: af.i64[N]):
            x[0] = af.fmax(x[0], x[1])

    with pytest.raises(af.ProgramTypeError, match=r"fmin needs two or more numbers, got 1"):

        @af.kernel
        def alone(x: af.f64[N]):
            x[0] = af.fmin(x[0])


def test_functions_of_f32_are_rounded_once(tmp_path: Path) -> None:
    """atan2f of the C library is not what atan2 rounded to float is."""
    text = emit_jit(parse("""func.func @f(%x: memref<1xf32>) {
  %a = affine.load %x[0] : memref<1xf32>
  %b = math.atan2 %a, %a : f32
  affine.store %b, %x[0] : memref<1xf32>
  return
}"""), "f")  # fmt: skip
    assert "(float)atan2(" in text


@af.kernel
def narrowed_in_between(a: af.f64[2], b: af.f64[2]):
    for k in range(2):
        b[k] = af.f64(af.f32(a[k]))


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3", "-Os"])
def test_what_was_narrowed_stays_rounded_when_it_is_widened(level: str, tmp_path: Path) -> None:
    """gcc 12 joins two such statements into one on vectors, and there leaves out both conversions."""
    a, b = np.full(2, 0.1), np.zeros(2)
    run_c(narrowed_in_between.module, narrowed_in_between.name, [a, b], tmp_path, flags=(level,))
    assert b.tolist() == a.astype(np.float32).tolist()


@af.kernel
def sums_in_four_elements(A: af.i32[14], B: af.i32[20], z: af.i32):
    with af.for_(2, 10, 4) as i:
        a, b, c, d = (z + B[i + k] for k in (-1, 0, 1, 2))
        A[4] = A[4] + a
        A[10] = A[4] + a
        A[5] = A[5] + b
        A[11] = A[5] + b
        A[3] = A[2] + c
        A[0] = A[3] + d
        A[3] = A[3] + d
        A[6] = A[3] + d
        A[9] = A[3] + d


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3", "-Os"])
def test_sums_in_several_elements_are_whole_when_they_are_read(level: str, tmp_path: Path) -> None:
    """gcc 12 makes vectors of such iterations, and then stores wrong numbers to A[10] and A[11]."""
    given = np.arange(14, dtype=np.int32) * 7 + 1, np.arange(20, dtype=np.int32) ** 2 + 3
    wanted, found = ([a.copy() for a in given] for _ in "wf")
    sums_in_four_elements.interpret(*wanted, 5)
    run_c(sums_in_four_elements.module, sums_in_four_elements.name, [*found, 5], tmp_path, flags=(level,))
    assert found[0].tolist() == wanted[0].tolist()
