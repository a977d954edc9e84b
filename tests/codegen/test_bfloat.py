"""Arrays and numbers of `ml_dtypes.bfloat16`: taken, given and rounded alike by both callers and the interpreter."""

import sys
from collections.abc import Callable
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.bfloat import rounded
from affdsl.codegen.errors import ArgumentError, LayoutError, OverlapError, RangeError
from affdsl.ir.numeric import nearest
from affdsl.ir.types import BF16
from tests.oracles import call_by

M, N = af.symbols("M N")
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


@af.kernel
def axpy(a: af.bf16, x: af.bf16[N], y: af.bf16[N]):
    with af.for_(N) as i:
        y[i] += a * x[i]


@af.kernel
def squares(x: af.strided(af.bf16[N]), sums: af.f32[1]):
    made = af.alloc(af.bf16[N])
    weights = af.constant(np.array([1, 0.5], BFLOAT16))
    with af.for_(N) as i:
        made[i] = x[i] * x[i]
        sums[0] += af.f32(x[i]) * af.f32(weights[i % 2])
    return made, af.bf16(sums[0])


@pytest.fixture(params=["compiled", "ctypes", "interpret"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[af.Kernel], Callable]:
    if request.param == "interpret":
        return lambda kernel: kernel.interpret
    call_by(request.param, monkeypatch)
    return lambda kernel: af.kernel(kernel._function)


def bits(random: np.random.Generator, count: int) -> np.ndarray:
    """Numbers of all sizes, subnormal ones and zeros among them."""
    found = random.integers(0, 2**16, count, "u2")
    found[found & 0x7F80 == 0x7F80] = 0
    return found.view(BFLOAT16)


def test_it_computes_as_numpy_does(way):
    random = np.random.default_rng(3)
    x, y = bits(random, 500), bits(random, 500)
    for a in (1.0, -2.5, BFLOAT16.type(3e-39), np.float32(0.75), 3, np.int8(-4)):
        left = y.copy()
        way(axpy)(a, x, left)
        with np.errstate(over="ignore"):
            wanted = y + BFLOAT16.type(a) * x
        np.testing.assert_array_equal(left.view("u2"), wanted.view("u2"))


def test_results_and_views_have_the_type(way):
    x, sums = np.arange(12).astype(BFLOAT16)[::-3], np.zeros(1, "f4")
    made, total = way(squares)(x, sums)
    assert (made.dtype, made.tolist()) == (BFLOAT16, [121, 64, 25, 4])
    assert (type(total), float(total)) == (BFLOAT16.type, 11 + 4 + 5 + 1)
    assert way(squares)(x[:0], np.float32([1.00001]))[1] == 1


def test_a_number_is_rounded_once(way):
    """By way of float32, which is what NumPy does, a tie may go the wrong way."""

    @af.kernel
    def same(a: af.bf16):
        return a

    random, run = np.random.default_rng(1), way(same)
    numbers = [1 + 2**-8 + 2**-40, 1 + 2**-8, -(1 + 3 * 2**-8), 2.0**-133, 2.0**-134, 2.0**-134 * 1.0001, 0.0, -0.0]
    numbers += [float(x) for x in (random.random(200) - 0.5) * 2.0 ** random.integers(-140, 127, 200)]
    for number in numbers:
        wanted = float(nearest(Fraction(number), BF16)) if number else number
        assert (rounded(number), float(run(number))) == (wanted, wanted)
    assert np.isnan(run(float("nan")))
    assert float(run(-np.inf)) == -np.inf
    for number in (3.4e38, -1e300):
        with pytest.raises(RangeError, match="'a' must be in the range of bfloat16, got"):
            run(number)
    with pytest.raises(RangeError, match=r"'a' must be exact as bfloat16, got the integer 257; pass float\(a\)"):
        run(257)


X = np.arange(8).astype(BFLOAT16)
A_COPY = "pass x.astype(ml_dtypes.bfloat16)"
THE_BITS = "pass x.view(ml_dtypes.bfloat16) if these are its bits, which .astype would convert as numbers"
REFUSED = [
    (1.0, X.astype("f4"), X, ArgumentError, f"argument 'x' must be an array of bfloat16, got float32; {A_COPY}"),
    (1.0, X.view("u2"), X, ArgumentError, f"argument 'x' must be an array of bfloat16, got uint16; {THE_BITS}"),
    (1.0, X.view("V2"), X, ArgumentError, f"got |V2; {THE_BITS}"),
    (1.0, X, X.view("i2"), ArgumentError, f"got int16; {THE_BITS.replace('x.', 'y.')}"),
    (1.0, X.astype("i4"), X, ArgumentError, f"got int32; {A_COPY}"),
    (1.0, [1.0], X, ArgumentError, "of bfloat16, got a list; pass np.asarray(x, dtype=ml_dtypes.bfloat16)"),
    (1.0, X[::2], X[:4], LayoutError, "or let the kernel take any strides: annotate it with affdsl.strided(...)"),
    (1.0, X, X, OverlapError, "'x' and 'y' overlap in memory and 'y' is written"),
    ("1", X, X[:0], ArgumentError, "argument 'a' must be a number for bfloat16, got '1' (str); pass float(a)"),
]  # fmt: skip


@pytest.mark.parametrize("position", range(len(REFUSED)))
def test_what_does_not_fit_is_refused_in_its_words(position: int, way):
    a, x, y, kind, message = REFUSED[position]
    with pytest.raises(kind) as caught:
        way(axpy)(a, x, y)
    assert message in str(caught.value)


def test_of_other_types_it_is_no_number(way):
    @af.kernel
    def halve(x: af.i32[N]):
        with af.for_(N) as i:
            x[i] //= 2

    with pytest.raises(ArgumentError, match="must be an array of int32, got bfloat16; it is written in place"):
        way(halve)(X.copy())


@pytest.mark.parametrize("run", [axpy, axpy.interpret])
def test_without_ml_dtypes_it_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    kernel = af.kernel(axpy._function)
    with pytest.raises(af.UnsupportedError, match="is called where ml_dtypes is installed: pip install ml_dtypes"):
        (kernel if run is axpy else kernel.interpret)(1.0, X, X.copy())
    assert "bf16" in kernel.mlir()
