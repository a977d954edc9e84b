"""Complex numbers in the language: operators, mixing, conversions, what carries them, and what is refused."""

import pickle
import re
from collections.abc import Callable

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.errors import ArgumentError, OverlapError

M, N = af.symbols("M N")


def test_python_and_numpy_numbers_mix():
    @af.kernel
    def mixed(z: af.c64[N]):
        with af.for_(N) as i:
            z[i] = (1j + z[i] * 2) / (1 - 0.5j) - np.complex64(3j) + np.float32(0.5) - z[i] / np.int8(2)

    z = np.array([1 + 1j, -2j], "c8")
    expected = ((1j + z * 2) / (1 - 0.5j) - 3j + 0.5 - z / 2).astype("c8")
    mixed(z)
    np.testing.assert_allclose(z, expected, rtol=1e-6)


def test_numbers_become_complex_and_their_parts_become_numbers():
    @af.kernel
    def converted(x: af.f32, k: af.i64, z: af.c64, out: af.c128[6], real: af.f64[4]):
        out[0] = af.c128(x)
        out[1] = af.c128(k)
        out[2] = af.c128(z)
        out[3] = af.c128(2)
        out[4] = af.c128(af.c64(1e-3j))
        out[5] = af.c128(af.complex(x, 2))
        real[0] = af.f64(z.real)
        real[1] = af.f64(z.imag)
        real[2] = af.select(af.bool_(z), af.f64(1), 0.0)
        real[3] = af.abs(af.c128(z) ** 0)

    out, real = np.zeros(6, "c16"), np.zeros(4)
    converted(0.1, 2**53 + 1, 1 - 2j, out, real)
    small = np.complex64(1e-3j)
    assert out.tolist() == [float(np.float32(0.1)), 2.0**53, 1 - 2j, 2, small, complex(float(np.float32(0.1)), 2)]
    assert real.tolist() == [1, -2, 1, 1]


def test_constants_and_integer_powers():
    table = np.array([[1 + 2j, -3j], [np.inf, 0.5]], "c16")

    @af.kernel
    def powers(x: af.c128, out: af.c128[7]):
        w = af.constant(table)
        out[0] = x**2
        out[1] = x**5
        out[2] = x**-1
        out[3] = w[1, 0]
        out[4] = w[0, 1] * af.c128(1 + 2j)
        out[5] = x**0.5
        out[6] = 2**x

    out = np.zeros(7, "c16")
    powers(1 - 2j, out)
    x = 1 - 2j
    np.testing.assert_allclose(out, [x**2, x**5, 1 / x, np.inf, -3j * (1 + 2j), x**0.5, 2**x], rtol=1e-14)


def test_results_branches_and_default_arguments():
    @af.kernel
    def chosen(z: af.c128[N], factor: af.c128 = 2j):
        with af.for_(N, iter_args=[af.c128(0), af.c64(1)]) as (i, total, turn):
            with af.if_(z[i].real > 0, af.c128) as x:
                af.yield_(z[i] * factor)
            with af.elif_(z[i] == 0):
                af.yield_(1)
            with af.else_():
                af.yield_(af.conj(z[i]))
            af.yield_(total + x, turn * 1j)
        return total, turn

    z = np.array([1 + 1j, 0, -1 + 3j])
    for call in (chosen, chosen.interpret):
        total, turn = call(z)
        assert (total, type(total), turn, type(turn)) == ((1 + 1j) * 2j + 1 - 1 - 3j, np.complex128, -1j, np.complex64)
        assert chosen(z, 0)[0] == -3j


def test_kernels_call_kernels_and_are_pickled():
    @af.kernel
    def times(z: af.c64[N], by: af.c64):
        with af.for_(N) as i:
            z[i] *= by
        return by * by

    @af.kernel
    def twice(z: af.c64[N], by: af.c64):
        first = times(z, by)
        times(z, first)

    for kernel in (twice, pickle.loads(pickle.dumps(twice))):  # noqa: S301
        z = np.array([1, 1j], "c8")
        kernel(z, 1 + 1j)
        assert z.tolist() == [(1 + 1j) ** 3, 1j * (1 + 1j) ** 3]


def test_printing_and_assertions(capfd):
    @af.kernel
    def shown(z: af.c64[N]):
        with af.for_(N) as i:
            af.print_("z", i, z[i], "and", z[i] * 0.1)
            af.assert_(z[i].real >= 0, "no", z[i], i)  # noqa: PT009

    for call in (shown.interpret, shown):
        with pytest.raises(af.FailedAssertionError, match=re.escape("no (z[i] = (-1, 0), i = 1)")):
            call(np.array([1.5 - 2j, -1], "c8"))
        printed = capfd.readouterr().out
        assert printed == "z 0 (1.5, -2) and (0.15, -0.2)\nz 1 (-1, 0) and (-0.1, 0)\n".replace(
            "0.15", str(np.float32(1.5) * np.float32(0.1))
        )


def test_accesses_are_checked():
    @af.kernel(boundscheck=True)
    def gathered(z: af.c64[N], at: af.i64[M], out: af.strided(af.c64[M])):
        with af.for_(M) as i:
            out[i] = z[at[i]]

    z, out = np.array([1, 2j], "c8"), np.zeros(4, "c8")
    gathered(z, np.array([1, 0]), out[::2])
    assert out.tolist() == [2j, 0, 1, 0]
    for call in (gathered, gathered.interpret):
        with pytest.raises(af.AffdslError, match=r"is out of bounds"):
            call(z, np.array([1, 5]), out[::2])


def test_calls_look_at_dtypes_and_overlap():
    @af.kernel
    def moved(a: af.const(af.c64[N]), b: af.strided(af.c64[N])):
        with af.for_(N) as i:
            b[i] = a[i]

    z = np.zeros(4, "c8")
    with pytest.raises(ArgumentError, match=r"'a' must be an array of complex64, got complex128; pass a\.astype"):
        moved(np.zeros(2, "c16"), z[:2])
    with pytest.raises(ArgumentError, match=r"'a' must be an array of complex64, got float64; pass a\.astype"):
        moved(np.zeros(2), z[:2])
    with pytest.raises(ArgumentError, match=r"'b' must be an array of complex64, got float32; it is written in place"):
        moved(z, np.zeros(4, "f4"))
    with pytest.raises(OverlapError, match="'a' and 'b' overlap in memory and 'b' is written"):
        moved(z[:2], z[1:3])
    moved(z[:2], z[2:])


REFUSED: dict[str, tuple[Callable[..., object], str]] = {
    "order": (lambda z, x, i: z < z, "z (c128): complex numbers have no order; compare affdsl.abs(x)"),
    "order with a number": (lambda z, x, i: z >= 1, "complex numbers have no order"),
    "extrema": (lambda z, x, i: af.max(z, z), "max of z (c128): complex numbers have no order"),
    "mixing": (lambda z, x, i: z + x, "the types differ; convert to the same complex type: affdsl.c128(...)"),
    "two complex types": (lambda z, x, i: af.c64(0) * z, "the types differ; convert one of them: affdsl.c128(...)"),
    "an index": (lambda z, x, i: z * i, "the types differ; convert to the same complex type: affdsl.c128(...)"),
    "an imaginary factor": (lambda z, x, i: x * 1j, "f64 cannot be made of 1j, which is complex; compute with complex"),
    "a real number of it": (lambda z, x, i: af.f64(z), "which has two parts; convert one: affdsl.f64(x.real)"),
    "floor": (lambda z, x, i: z // 2, "c128 has no operator //; complex numbers have + - * / and =="),
    "remainder": (lambda z, x, i: z % z, "c128 has no operator %; complex numbers have + - * / and =="),
    "a function": (lambda z, x, i: af.erf(z), "erf of z (c128) is not there for complex numbers; give it a real"),
    "atan2": (lambda z, x, i: af.atan2(z, z), "atan2 of z (c128) is not there for complex numbers"),
    "isnan": (lambda z, x, i: af.isnan(z), "isnan of z (c128) is not there for complex numbers"),
    "bits": (lambda z, x, i: af.bitcast(af.c64(z), af.i64), "take the bits of its parts"),
    "parts of a real number": (lambda z, x, i: x.real, "real needs a complex number, got x (f64); a real number has"),
    "conj of a real number": (lambda z, x, i: af.conj(x), "a real number is its own: leave conj out"),
    "angle of a real number": (lambda z, x, i: af.angle(x), "write affdsl.atan2(y, x)"),
    "a Python number": (lambda z, x, i: af.conj(1j), "conj of the Python number 1j has no type; write affdsl.c128(1j)"),
    "the root of one": (lambda z, x, i: af.sqrt(1j), "sqrt of the Python number 1j has no type; write affdsl.c128(1j)"),
    "parts of two types": (lambda z, x, i: af.complex(x, af.f32(1)), "complex of x (f64) and a number of type f32"),
    "parts that are integers": (lambda z, x, i: af.complex(af.i32(1), 2), "complex needs two f32 or two f64"),
    "parts that are complex": (lambda z, x, i: af.complex(z, z), "complex needs two f32 or two f64"),
    "vectors": (lambda z, x, i: af.broadcast(z, 4), "broadcast of c128: the lanes of a vector are real numbers"),
    "a number too large": (lambda z, x, i: af.c64(1e300j), "1e+300 does not fit in f32"),
    "a subscript": (lambda z, x, i: af.index(z), "index cannot hold z (c128), which has two parts"),
    "Python's complex": (lambda z, x, i: complex(z), "cannot become a Python number"),
    "an operator of integers": (lambda z, x, i: z & z, "c128 has no operator &"),
    "NumPy": (lambda z, x, i: np.exp(z), "NumPy's exp cannot work on z (c128)"),
    "a reduction": (lambda z, x, i: af.parallel(4, reduce=[("addf", af.c128)]).__enter__(),
                    "a parallel reduction of c128 cannot be 'addf': reductions combine real numbers"),
    "a vector of an array": (lambda z, x, i: af.vector_load(af.alloc(af.c64[8]), 0, 4), "vector_load of c64: the"),
    "a slice of parts": (lambda z, x, i: af.alloc(af.c64[8]).real, "write a loop and use"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_what_to_do(name: str):
    wrong, message = REFUSED[name]
    with pytest.raises(af.ProgramError) as caught:

        @af.kernel
        def kernel(z: af.c128, x: af.f64):
            with af.for_(4) as i:
                wrong(z, x, i)

    said = str(caught.value).replace("\n    ", "; ")
    assert "test_language.py:" in said
    assert message in said


def test_other_names():
    for name, ours in (("complex64", "c64"), ("complex128", "c128"), ("conjugate", "conj")):
        with pytest.raises(AttributeError, match=f"affdsl has no {name}: write affdsl.{ours}"):
            getattr(af, name)
