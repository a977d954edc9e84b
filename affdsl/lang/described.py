"""What `help()` says of the functions of one number: what they give, what they take, and an example."""

from __future__ import annotations

MEANINGS = {
    "abs": ("The magnitude of a number; of a complex one, in the type of its parts", "-2.5", "2.5"),
    "acos": ("The angle in radians, from 0 to pi, whose cosine is x", "0.5", "1.0472"),
    "acosh": ("The number of at least 0 whose hyperbolic cosine is x", "2.0", "1.31696"),
    "asin": ("The angle in radians, from -pi/2 to pi/2, whose sine is x", "0.5", "0.523599"),
    "asinh": ("The number whose hyperbolic sine is x", "2.0", "1.44364"),
    "atan": ("The angle in radians, from -pi/2 to pi/2, whose tangent is x", "2.0", "1.10715"),
    "atanh": ("The number whose hyperbolic tangent is x", "0.5", "0.549306"),
    "cbrt": ("The cube root, of negative numbers too", "-27.0", "-3"),
    "ceil": ("The smallest whole number that is not below x, as a float", "-2.5", "-2"),
    "cos": ("The cosine of x, an angle in radians", "0.5", "0.877583"),
    "cosh": ("The hyperbolic cosine of x", "0.5", "1.12763"),
    "erf": ("The error function of x, from -1 to 1", "0.5", "0.5205"),
    "erfc": ("What the error function of x lacks to 1: 1 - erf(x), exact also where that is tiny", "0.5", "0.4795"),
    "exp": ("e to the power of x", "0.5", "1.64872"),
    "exp2": ("2 to the power of x", "0.5", "1.41421"),
    "expm1": ("e to the power of x, less 1: exact also near 0", "0.5", "0.648721"),
    "floor": ("The largest whole number that is not above x, as a float", "-2.5", "-3"),
    "isfinite": ("Whether a float is neither infinite nor NaN, as a bool_", "0.5", "True"),
    "isinf": ("Whether a float is infinite, as a bool_", "0.5", "False"),
    "isnan": ("Whether a float is NaN, as a bool_", "0.5", "False"),
    "isnormal": ("Whether a float is normal: finite, not 0 and not subnormal, as a bool_", "0.5", "True"),
    "log": ("The natural logarithm of x", "0.5", "-0.693147"),
    "log10": ("The logarithm of x to base 10", "0.5", "-0.30103"),
    "log1p": ("The natural logarithm of 1 + x: exact also near 0", "0.5", "0.405465"),
    "log2": ("The logarithm of x to base 2", "0.5", "-1"),
    "round": ("The nearest whole number as a float; of two, the one farther from 0", "-2.5", "-3"),
    "roundeven": ("The nearest whole number as a float; of two, the even one", "-2.5", "-2"),
    "rsqrt": ("1 by the square root of x", "4.0", "0.5"),
    "sin": ("The sine of x, an angle in radians", "0.5", "0.479426"),
    "sinh": ("The hyperbolic sine of x", "0.5", "0.521095"),
    "sqrt": ("The square root of x", "2.0", "1.41421"),
    "tan": ("The tangent of x, an angle in radians", "0.5", "0.546302"),
    "tanh": ("The hyperbolic tangent of x", "0.5", "0.462117"),
    "trunc": ("The whole number that x is without its fraction, as a float", "-2.5", "-2"),
    "ctlz": ("How many bits of an integer above its highest 1 are 0", "40", "26"),
    "cttz": ("How many bits of an integer below its lowest 1 are 0", "40", "3"),
    "ctpop": ("How many bits of an integer are 1", "40", "2"),
}  # fmt: skip
"""What each gives; a number to show it with, and what it gives for that, in six digits."""


def described(name: str, wanted: str, operation: str) -> str:
    """The docstring of a function of one number.

    Parameters
    ----------
    name
        What the function is called.
    wanted
        Of which numbers it is a function: "a float".
    operation
        The operation of MLIR that it is.

    >>> print(described("sqrt", "a float", "math.sqrt").partition("\\n")[0])
    The square root of x (`math.sqrt`).
    """
    meaning, x, result = MEANINGS[name]
    dtype = "f64" if "." in x else "i32"
    shown = f"{{f.interpret({x}):.6g}}" if result[0] not in "TF" else f"{{f.interpret({x})}}"
    return f"""{meaning} (`{operation}`).

    Parameters
    ----------
    x
        {wanted[0].upper()}{wanted[1:]} of the kernel. A Python number needs a type: `affdsl.{dtype}({x})`.

    Raises
    ------
    ProgramTypeError
        For numbers of another type, for arrays and for vectors.

    Examples
    --------
    >>> import affdsl as af
    >>> @af.kernel
    ... def f(x: af.{dtype}):
    ...     return af.{name}(x)
    >>> print(f"{shown}")
    {result}
    """
