"""Complex numbers in a kernel: made of two parts, and what only they have."""

from __future__ import annotations

from affdsl.errors import ProgramTypeError
from affdsl.ir.dialects import complex as complex_
from affdsl.lang.dtypes import c64, c128, f32, f64, parts_of
from affdsl.lang.scalars import Scalar, emit_scalar, operands, require_complex
from affdsl.lang.source import problem
from affdsl.lang.traced import Operand, Traced


def complex(real: Operand, imag: Operand) -> Scalar:
    """The complex number real + imag * i: a c64 of two f32, a c128 of two f64 (`complex.create`).

    `af.c128(x)` makes a complex number of one real number.

    Parameters
    ----------
    real, imag
        The parts: two f32 or two f64. One of the two may be a Python number.

    Raises
    ------
    ProgramTypeError
        Where the parts are of two types, or of one that complex numbers do not have.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def rotate(z: af.c128[N], angle: af.f64):
    ...     with af.for_(N) as i:
    ...         z[i] *= af.complex(af.cos(angle), af.sin(angle))
    >>> z = np.array([1.0, 2.0j])
    >>> rotate(z, 0.0)
    >>> z
    array([1.+0.j, 0.+2.j])
    """
    a, b = operands("complex", real, imag)
    made = {f32: c64, f64: c128}.get(a.dtype)
    if made is None:
        advice = "convert both parts: affdsl.f64(x), or affdsl.f32(x)"
        raise problem(ProgramTypeError, f"complex needs two f32 or two f64, got {a.describe()}", advice)
    return emit_scalar(made, lambda r: complex_.Create(r, a.value, b.value))


def conj(x: Operand) -> Scalar:
    """The conjugate, with the other sign of the imaginary part (`complex.conj`). Also `x.conj()`.

    Parameters
    ----------
    x
        A complex number of the kernel.

    Raises
    ------
    ProgramTypeError
        For a number that is not complex.

    >>> import affdsl as af
    >>> @af.kernel
    ... def f(x: af.c128):
    ...     return af.conj(x)
    >>> print(f.interpret(1 + 2j))
    (1-2j)
    """
    return _complex("conj", x, "a real number is its own: leave conj out").conj()


def angle(x: Operand) -> Scalar:
    """The angle of a complex number in radians, from -pi to pi (`complex.angle`): affdsl.atan2(x.imag, x.real).

    Parameters
    ----------
    x
        A complex number of the kernel.

    Raises
    ------
    ProgramTypeError
        For a number that is not complex.

    >>> import affdsl as af
    >>> @af.kernel
    ... def f(x: af.c128):
    ...     return af.angle(x)
    >>> print(f"{f.interpret(1j):.6f}")
    1.570796
    """
    scalar = _complex("angle", x, "write affdsl.atan2(y, x) for the angle of a point")
    return emit_scalar(parts_of(scalar.dtype), lambda r: complex_.Part(r, "angle", scalar.value))


def _complex(what: str, x: Operand, advice: str) -> Scalar:
    if not isinstance(x, Traced):
        raise problem(ProgramTypeError, f"{what} of the Python number {x!r} has no type", f"write affdsl.c128({x!r})")
    scalar = x.scalar()
    require_complex(what, scalar, advice)
    return scalar
