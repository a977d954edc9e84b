"""What a name that affdsl has not is called here."""

from __future__ import annotations

import sys

HERE = {
    **dict.fromkeys(("range", "arange", "loop", "serial", "grid"), "for_"),
    **dict.fromkeys(("prange", "pfor", "par"), "parallel"),
    **dict.fromkeys(("empty", "array", "ndarray", "buffer"), "alloc"),
    **dict.fromkeys(("jit", "njit", "func", "function", "proc", "compile", "prim_func"), "kernel"),
    **dict.fromkeys(("symbol", "size"), "symbols"),
    **dict.fromkeys(("where", "if_then_else", "ifelse"), "select"),
    **dict.fromkeys(("when", "cond"), "if_"),
    **dict.fromkeys(("otherwise", "orelse"), "else_"),
    **dict.fromkeys(("elseif", "elsewhen"), "elif_"),
    **dict.fromkeys(("bool", "i1"), "bool_"),
    **dict.fromkeys(("astype", "convert"), "cast"),
    **{f"float{n}": f"f{n}" for n in (16, 32, 64)},
    **{f"{long}{n}": f"{short}{n}" for n in (8, 16, 32, 64) for long, short in (("int", "i"), ("uint", "u"))},
    "complex64": "c64", "complex128": "c128", "conjugate": "conj",
    "half": "f16", "float": "f32", "double": "f64", "bfloat16": "bf16", "int": "i64", "intp": "index",
    "minimum": "min", "maximum": "max", "minnum": "fmin", "maxnum": "fmax", "fabs": "abs", "power": "pow",
    "arctan2": "atan2",
}  # fmt: skip
"""Names that other packages have, and ours for what they mean."""

FILLED = ", whose elements are not set at first, and a loop that stores to them"
_FILLED = f"write affdsl.alloc{FILLED}"
_SUMMED = "write a loop that changes a variable: s = affdsl.var(affdsl.f64(0)), and s += x[i] in the loop"
OTHERWISE = {
    **dict.fromkeys("zeros ones full zeros_like ones_like empty_like full_like eye".split(), _FILLED),
    **dict.fromkeys("sum prod dot mean any all".split(), _SUMMED),
    **dict.fromkeys("pi e inf nan".split(), "numbers of Python are taken as they are, such as math.pi or float('inf')"),
    **dict.fromkeys(("mod", "remainder"), "write x % y for integers, affdsl.fmod(x, y) for floats"),
    "hypot": "write affdsl.sqrt(x * x + y * y)",
    "sign": "write affdsl.copysign(1, x), or affdsl.select(x > 0, ...) where 0 has the sign 0",
    "clip": "write affdsl.min(affdsl.max(x, low), high)",
}
"""Names that other packages have, and what to write where it is more than one name."""


def unknown(name: str) -> AttributeError:
    """The error for an attribute that the package has not. Python itself adds what has nearly that name.

    >>> print(unknown("range"))
    affdsl has no range: write affdsl.for_
    """
    instead = f": write affdsl.{HERE[name]}" if name in HERE else f": {OTHERWISE[name]}" if name in OTHERWISE else ""
    return AttributeError(f"affdsl has no {name}{instead}", name=name, obj=sys.modules["affdsl"])
