"""What `help()` says of the functions of one number beyond their sentence: what they take, and an example."""

from __future__ import annotations

from types import FunctionType

from affdsl.ir.dialects import complex as complex_

EXAMPLES = {
    "abs": ("-2.5", "2.5"),
    "acos": ("0.5", "1.0472"),
    "acosh": ("2.0", "1.31696"),
    "asin": ("0.5", "0.523599"),
    "asinh": ("2.0", "1.44364"),
    "atan": ("2.0", "1.10715"),
    "atanh": ("0.5", "0.549306"),
    "cbrt": ("-27.0", "-3"),
    "ceil": ("-2.5", "-2"),
    "cos": ("0.5", "0.877583"),
    "cosh": ("0.5", "1.12763"),
    "erf": ("0.5", "0.5205"),
    "erfc": ("0.5", "0.4795"),
    "exp": ("0.5", "1.64872"),
    "exp2": ("0.5", "1.41421"),
    "expm1": ("0.5", "0.648721"),
    "floor": ("-2.5", "-3"),
    "isfinite": ("0.5", "True"),
    "isinf": ("0.5", "False"),
    "isnan": ("0.5", "False"),
    "isnormal": ("0.5", "True"),
    "log": ("0.5", "-0.693147"),
    "log10": ("0.5", "-0.30103"),
    "log1p": ("0.5", "0.405465"),
    "log2": ("0.5", "-1"),
    "round": ("-2.5", "-3"),
    "roundeven": ("-2.5", "-2"),
    "rsqrt": ("4.0", "0.5"),
    "sin": ("0.5", "0.479426"),
    "sinh": ("0.5", "0.521095"),
    "sqrt": ("2.0", "1.41421"),
    "tan": ("0.5", "0.546302"),
    "tanh": ("0.5", "0.462117"),
    "trunc": ("-2.5", "-2"),
    "ctlz": ("40", "26"),
    "cttz": ("40", "3"),
    "ctpop": ("40", "2"),
}  # fmt: skip
"""A number to show each function with, and what it gives for that, in six digits."""
_OF_INTEGERS = ("ctlz", "cttz", "ctpop")


def describe(function: FunctionType) -> None:
    """Complete the docstring of a function of one number.

    >>> def cosh(x): "The hyperbolic cosine of x."
    >>> describe(cosh)
    >>> print(cosh.__doc__.partition("Raises")[0].rstrip())
    The hyperbolic cosine of x (`math.cosh`).
    <BLANKLINE>
        Parameters
        ----------
        x
            A float of the kernel. A Python number needs a type: `affdsl.f64(0.5)`.
    """
    name = function.__name__
    x, result = EXAMPLES[name]
    dtype = "f64" if "." in x else "i32"
    takes = ["an integer"] if name in _OF_INTEGERS else ["a float"]
    takes += ["an integer"] if name == "abs" else []
    takes += ["a complex number"] if name == "abs" or name in complex_.UNARY else []
    wanted = " or ".join(filter(None, (", ".join(takes[:-1]), takes[-1])))
    shown = f"{{f.interpret({x}):.6g}}" if result[0] not in "TF" else f"{{f.interpret({x})}}"
    sentence = (function.__doc__ or "").removesuffix(".")
    function.__doc__ = f"""{sentence} (`math.{"absf" if name == "abs" else name}`).

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
