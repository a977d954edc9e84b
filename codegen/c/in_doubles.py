"""Functions of doubles that are floats, so near the exact ones that rounding them to float gives what libm's give.

They have no branch and no table, so that all lanes of a vector are computed at once. See docs/decisions/0055; MLIR has
the same functions in `affdsl.passes.lowering.in_doubles`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import log

from affdsl.codegen.targets.avx2 import AVX2
from affdsl.codegen.targets.avx512 import AVX512
from affdsl.codegen.targets.neon import NEON
from affdsl.ir.formats import F64
from affdsl.passes.lowering.in_doubles import CLOSE, COS, FARTHEST, HALF_PI, SIN

MACROS = ("ALL", "MULTIPLY_ADD", "CHOOSE", "CLOSE_TO_MIDDLE")
"""What is called by these functions and by those on floats; in C their names end in the type: ALL_f64x8."""

_FUSED = {
    8: ((AVX512, "_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c))"),),
    4: ((AVX2, "_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c))"),),
    2: (
        (AVX2, "_mm_fmadd_pd((__m128d)(a), (__m128d)(b), (__m128d)(c))"),
        (NEON, "vfmaq_f64((float64x2_t)(c), (float64x2_t)(a), (float64x2_t)(b))"),
    ),
}
"""a * b + c on so many lanes where it is one instruction."""


def macro(stem: str, lanes: int) -> str:
    """The text of one of MACROS for vectors of so many doubles."""
    vector, mask = f"f64x{lanes}", f"i64x{lanes}"
    match stem:
        case "ALL":
            return f"#define ALL_{vector}(a) (({vector}){{{', '.join('a' * lanes)}}})"
        case "MULTIPLY_ADD":
            head = f"#define MULTIPLY_ADD_{vector}(a, b, c)"
            ways = [f"if {target.condition}\n{head} (({vector}){call})\n" for target, call in _FUSED[lanes]]
            return f"#{'#el'.join(ways)}#else\n{head} ((a) * (b) + (c))\n#endif"
        case "CHOOSE":
            chosen = f"((mask) & ({mask})(a)) | (~(mask) & ({mask})(b))"
            return f"#define CHOOSE_{vector}(mask, a, b) (({vector})({chosen}))"
        case "CLOSE_TO_MIDDLE":
            comment = (
                "/* where a result is so close to the middle between two floats that it may be on its other side */\n"
            )
            past = f"((({mask})(a) - {(1 << 28) - CLOSE}) & {(1 << 29) - 1})"
            return f"{comment}#define CLOSE_TO_MIDDLE_{vector}(a) ({past} < {2 * CLOSE})"
    raise AssertionError(f"there is no macro {stem}")


def called(kind: str) -> tuple[str, ...]:
    """The macros that a function calls."""
    return tuple(stem for stem in MACROS if re.search(rf"\b{stem}\b", NEAR[kind]))


def _polynomial(coefficients: Sequence[float], x: str, found: str) -> str:
    """C statements by which `found` is the first coefficient + the second one times x + ..."""
    *others, last = coefficients
    steps = [f"{found} = MULTIPLY_ADD({found}, {x}, ALL({c!r}));" for c in reversed(others)]
    return "\n".join([f"V {found} = ALL({last!r});", *steps])


# In what follows V is the type of the vectors, M that of as many integers, U that of such without a sign, and x a
# pointer to a vector of floats that are doubles.


def _integer_nearest(factor: float, y: str = "*x") -> str:
    """The integer that is nearest to y times a factor: in the last bits of `turned`, and as a number, n."""
    product = f"MULTIPLY_ADD({y}, ALL({factor!r}), rounder)" if factor != 1 else f"{y} + rounder"
    return f"const V rounder = ALL({F64.rounder!r}), turned = {product}, n = turned - rounder;\n"


def _less_multiple(parts: Sequence[float], y: str = "*x") -> str:
    """r is y - n times the sum of some parts."""
    steps = [f"r = MULTIPLY_ADD(n, ALL({-part!r}), {y if k == 0 else 'r'});\n" for k, part in enumerate(parts)]
    return f"V {''.join(steps)}"


# e**x = 2**n e**r, where n is the integer nearest to x / ln(2), which the last bits of `turned` are.
_POWER = f"{_polynomial(F64.exp, 'r', 'power')}\npower = MULTIPLY_ADD(r * r, power, r)"
_SCALED = f"{_POWER} + ALL(1.0);\nreturn (V)((U)power + ((U)turned << 52));"
_EXP = f"{_integer_nearest(1 / log(2))}{_less_multiple(F64.ln2)}{_SCALED}"
_EXP2 = f"{_integer_nearest(1)}const V r = (*x - n) * ALL({log(2)!r});\n{_SCALED}"
# t = e**y - 1 = 2**n (e**r - 1) + (2**n - 1), and tanh(x) = t / (t + 2) where y = 2 |x|.
_LESS_ONE = f"""\
{_POWER};
const V scale = (V)((U)ALL(1.0) + ((U)turned << 52));
const V t = MULTIPLY_ADD(power, scale, scale - ALL(1.0));
"""
_EXPM1 = f"""\
{_integer_nearest(1 / log(2))}{_less_multiple(F64.ln2)}{_LESS_ONE}return (V)((M)t | ((M)*x & INT64_MIN));"""
_TANH = f"""\
const V size = (V)((M)*x & INT64_MAX), twice = size + size;
{_integer_nearest(1 / log(2), "twice")}{_less_multiple(F64.ln2, "twice")}{_LESS_ONE}\
return (V)((M)(t / (t + ALL(2.0))) | ((M)*x & INT64_MIN));"""


# The logarithm of y = 2**k m, with m between sqrt(1/2) and sqrt(2), is k ln(2) + 2 atanh(s), where s = (m - 1) /
# (m + 1). k + 1024, `biased`, becomes a double as the last bits of one near 2**52.
def _logarithm(found: str, y: str = "*x") -> str:
    """A logarithm of y: `found` says which, by k, f, half and rest, where that of m is f - (half - rest)."""
    return f"""\
const U biased = ((U){y} + (UINT64_C(1024) << 52) - UINT64_C(0x3fe6a09e667f3bcd)) >> 52;
const V k = (V)(biased | (U)ALL(0x1p52)) - ALL(0x1.00000000004p52);
const V f = (V)((U){y} - (biased << 52) + (UINT64_C(1024) << 52)) - ALL(1.0);
const V s = f / (f + ALL(2.0)), z = s * s, half = ALL(0.5) * f * f;
{_polynomial(F64.log, "z", "rest")}
rest = s * MULTIPLY_ADD(z, rest, half);
{found}
const M is_plain = ({y} > ALL(0.0)) & ({y} < ALL(INFINITY));
const V special = CHOOSE({y} == ALL(0.0), ALL(-INFINITY), CHOOSE({y} > ALL(0.0), {y}, ALL(NAN)));
"""


def _natural(rest: str) -> str:
    return f"""\
rest = MULTIPLY_ADD(k, ALL({F64.ln2[1]!r}), {rest});
const V found = MULTIPLY_ADD(k, ALL({F64.ln2[0]!r}), f - (half - rest));"""


_OR_SPECIAL = "return CHOOSE(is_plain, found, special);"
_LOG = f"{_logarithm(_natural('rest'))}{_OR_SPECIAL}"
_LOG2 = _logarithm(f"const V found = MULTIPLY_ADD(f - (half - rest), ALL({1 / log(2)!r}), k);") + _OR_SPECIAL
_OF_TEN = f"""\
rest = MULTIPLY_ADD(f - (half - rest), ALL({1 / log(10)!r}), k * ALL({F64.log10_2[1]!r}));
const V found = MULTIPLY_ADD(k, ALL({F64.log10_2[0]!r}), rest);"""
_LOG10 = f"{_logarithm(_OF_TEN)}{_OR_SPECIAL}"
# What the sum y = x + 1 loses is small beside it, and counts by the slope of the logarithm there.
_LOG1P = f"""\
const V y = *x + ALL(1.0), lost = (*x - (y - ALL(1.0))) / y;
{_logarithm(_natural("rest + lost"), "y")}return (V)((M)CHOOSE(is_plain, found, special) | ((M)*x & INT64_MIN));"""

# sin(x) is sin(r), cos(r), -sin(r) or -cos(r), as the last two bits of n say, where x = n pi/2 + r.
_TURN = f"""\
{_integer_nearest(1 / HALF_PI[0])}{_less_multiple(HALF_PI)}const V z = r * r;
{_polynomial(SIN, "z", "sine")}
sine = r * MULTIPLY_ADD(sine, z, ALL(1.0));
{_polynomial(COS, "z", "cosine")}
cosine = MULTIPLY_ADD(MULTIPLY_ADD(cosine, z, ALL(-0.5)), z, ALL(1.0));
"""
_NEAR_ZERO = f"""
const V size = (V)((M)*x & INT64_MAX), middle = ALL(0x1.000001p0); /* of two floats: the library is asked */
return CHOOSE(size <= ALL({FARTHEST!r}), found, middle);"""


def _sine(quarter: str) -> str:
    return f"""\
{_TURN}const U quarter = {quarter};
const V found = (V)((U)CHOOSE(-(M)(quarter & 1), cosine, sine) ^ ((quarter & 2) << 62));{_NEAR_ZERO}"""


_TAN = f"""\
{_TURN}const M is_odd = -(M)((U)turned & 1);
const V found = CHOOSE(is_odd, -cosine, sine) / CHOOSE(is_odd, sine, cosine);{_NEAR_ZERO}"""

NEAR: Mapping[str, str] = {
    "exp": _EXP,
    "exp2": _EXP2,
    "expm1": _EXPM1,
    "log": _LOG,
    "log2": _LOG2,
    "log10": _LOG10,
    "log1p": _LOG1P,
    "tanh": _TANH,
    "sin": _sine("(U)turned"),
    "cos": _sine("(U)turned + 1"),
    "tan": _TAN,
}
"""The bodies of the functions, by kinds of math."""
