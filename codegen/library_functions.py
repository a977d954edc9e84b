"""The functions of the C library whose results are rounded as that library does it.

gcc knows `exp` and the like. It computes those of constants when it compiles, rounded correctly, where the library is
off by one unit in the last place now and then. gcc and clang write `x * x` for `pow(x, 2)`, which the library rounds
otherwise for one x of a thousand. So results would depend on what a compiler sees to be constant. `-fno-builtin-exp`
takes that knowledge away, and with it that nothing but the argument bears on the result, without which nothing is moved
out of loops: `__attribute__((const))` says it again.
"""

import re
from collections.abc import Iterable

_ONE = """acos acosh asin asinh atan atanh cbrt cos cosh erf erfc exp exp2 expm1 log log10 log1p log2 sin sinh tan
tanh""".split()
_TWO = ["atan2", "pow"]
_COMPLEX = "ccos cexp clog csin csqrt ctan ctanh".split()
_TO_REAL = ["cabs", "carg"]

PROTOTYPES = {
    **{name: f"double {name}(double)" for name in _ONE},
    **{name: f"double {name}(double, double)" for name in _TWO},
    **{name: f"double _Complex {name}(double _Complex)" for name in _COMPLEX},
    **{name: f"double {name}(double _Complex)" for name in _TO_REAL},
}
"""Those that emitted code calls, as C declares them."""

_CALL = re.compile(rf"(?<![\w.])({'|'.join(sorted(PROTOTYPES, key=len, reverse=True))})\(")


def called(text: str) -> list[str]:
    """Those that C text calls, in alphabetical order.

    >>> called("y[i] = exp(x[i]) * fabs(z) + cos(exp(a));")
    ['cos', 'exp']
    """
    return sorted(set(_CALL.findall(text)))


def unknown(names: Iterable[str] = PROTOTYPES) -> tuple[str, ...]:
    """Flags for gcc and clang, with which they call these functions; all of them, where none are named.

    >>> unknown(["cos", "exp"])
    ('-fno-builtin-cos', '-fno-builtin-exp')
    """
    return tuple(f"-fno-builtin-{name}" for name in sorted(names))


def declarations(text: str) -> str:
    """What a file says, behind its headers, of those that its text calls.

    >>> print(declarations("y[i] = exp(x[i]) * fabs(z);"), end="")
    #if defined(__GNUC__)
    double exp(double) __attribute__((const));
    #endif
    """
    lines = "".join(f"{PROTOTYPES[name]} __attribute__((const));\n" for name in called(text))
    return f"#if defined(__GNUC__)\n{lines}#endif\n" if lines else ""
