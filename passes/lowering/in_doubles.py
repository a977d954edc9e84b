"""Functions of floats as arithmetic on doubles, so near the exact ones that rounding gives what the C library's give.

They have no branch and no table, so that all lanes of a vector are computed at once. See docs/decisions/0055; C has
the same functions in `affdsl.codegen.c.in_doubles`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf, log, nan

from affdsl.frozen import FrozenValue
from affdsl.ir.expr import Value
from affdsl.ir.formats import F64
from affdsl.passes.lowering.maker import Maker

HALF_PI = (1.5707963267341256, 6.07710050359346e-11, 2.912732056093356e-20)
"""Half of pi in three parts, of which the first two have 31 bits, so that multiples by 21 bits are exact."""
SIN = (
    -0.16666666666666666, 0.008333333333330948, -0.00019841269836758574, 2.755731610255244e-06, -2.5051131845003624e-08,
    1.5918129294866608e-10,
)  # fmt: skip
"""(sin(r) / r - 1) / r**2 as a polynomial of r**2, for |r| up to pi / 4: the exact values at the Chebyshev points."""
COS = (
    0.041666666666666664, -0.0013888888888887398, 2.480158729876569e-05, -2.7557317271729793e-07, 2.08761462684032e-09,
    -1.1382632425521717e-11,
)  # fmt: skip
"""(cos(r) - 1 + r**2 / 2) / r**4 as a polynomial of r**2, likewise."""

FARTHEST = 2.0**20
"""The sine and the cosine of larger numbers are left to the C library."""
CLOSE = 16
"""A double that is at most so many units in the last place from the middle between two floats is close to it."""
MIDDLE = float.fromhex("0x1.000001p0")
"""The middle of two floats."""


class Kind(FrozenValue):
    """A function of floats.

    Attributes
    ----------
    of
        The arithmetic, on doubles that are floats.
    ends
        Two floats outside of which the results are those for them, if there are such.
    is_exact
        Whether no double is on another side of the middle between two floats than that of the C library is. Of other
        functions, the library is asked where a double is close to a middle.
    """

    of: Callable[[Maker, Value], Value]
    ends: tuple[float, float] | None = None
    is_exact: bool = False


def is_close_to_middle(m: Maker, found: Value) -> Value:
    """Where a double is so close to the middle between two floats that it may be on its other side."""
    past = m.binary("subi", m.bits(found), m.integer((1 << 28) - CLOSE))
    return m.compare("slt", m.binary("andi", past, m.integer((1 << 29) - 1)), m.integer(2 * CLOSE))


def _exp(m: Maker, x: Value) -> Value:
    turned, n = _integer_nearest(m, 1 / log(2), x)
    return _scaled(m, _less_multiple(m, F64.ln2, n, x), turned)


def _exp2(m: Maker, x: Value) -> Value:
    turned, n = _integer_nearest(m, 1, x)
    return _scaled(m, m.multiply(m.subtract(x, n), m.number(log(2))), turned)


def _expm1(m: Maker, x: Value) -> Value:
    return _signed(m, _exponential_less_one(m, x), x)


def _tanh(m: Maker, x: Value) -> Value:
    """t / (t + 2), where t = e**(2 |x|) - 1."""
    size = m.absolute(x)
    t = _exponential_less_one(m, m.add(size, size))
    return _signed(m, m.divide(t, m.add(t, m.number(2.0))), x)


def _log(m: Maker, x: Value) -> Value:
    k, f, half, rest = _logarithm(m, x)
    return _or_special(m, _natural(m, k, f, half, rest), x)


def _log2(m: Maker, x: Value) -> Value:
    k, f, half, rest = _logarithm(m, x)
    of_mantissa = m.subtract(f, m.subtract(half, rest))
    return _or_special(m, m.multiply_add(of_mantissa, m.number(1 / log(2)), k), x)


def _log10(m: Maker, x: Value) -> Value:
    k, f, half, rest = _logarithm(m, x)
    high, low = F64.log10_2
    of_mantissa = m.subtract(f, m.subtract(half, rest))
    rest = m.multiply_add(of_mantissa, m.number(1 / log(10)), m.multiply(k, m.number(low)))
    return _or_special(m, m.multiply_add(k, m.number(high), rest), x)


def _log1p(m: Maker, x: Value) -> Value:
    """What the sum y = x + 1 loses is small beside it, and counts by the slope of the logarithm there."""
    y = m.add(x, m.number(1.0))
    lost = m.divide(m.subtract(x, m.subtract(y, m.number(1.0))), y)
    k, f, half, rest = _logarithm(m, y)
    return _signed(m, _or_special(m, _natural(m, k, f, half, m.add(rest, lost)), y), x)


def _sin(m: Maker, x: Value) -> Value:
    turned, sine, cosine = _turn(m, x)
    return _or_far(m, _quarter(m, m.bits(turned), sine, cosine), x)


def _cos(m: Maker, x: Value) -> Value:
    turned, sine, cosine = _turn(m, x)
    return _or_far(m, _quarter(m, m.binary("addi", m.bits(turned), m.integer(1)), sine, cosine), x)


def _tan(m: Maker, x: Value) -> Value:
    turned, sine, cosine = _turn(m, x)
    is_odd = _is_odd(m, m.bits(turned))
    found = m.divide(m.select(is_odd, m.negated(cosine), sine), m.select(is_odd, sine, cosine))
    return _or_far(m, found, x)


KINDS: Mapping[str, Kind] = {
    "exp": Kind(_exp, (-104.0, 89.0), is_exact=True),
    "exp2": Kind(_exp2, (-152.0, 129.0)),
    "expm1": Kind(_expm1, (-104.0, 89.0)),
    "log": Kind(_log),
    "log2": Kind(_log2),
    "log10": Kind(_log10),
    "log1p": Kind(_log1p),
    "tanh": Kind(_tanh, (-20.0, 20.0)),
    "sin": Kind(_sin),
    "cos": Kind(_cos),
    "tan": Kind(_tan),
}
"""The functions, by the kinds of math."""


def _polynomial(m: Maker, coefficients: Sequence[float], x: Value) -> Value:
    """The first coefficient + the second one times x + ..., by Horner's rule."""
    *others, last = coefficients
    found = m.number(last)
    for coefficient in reversed(others):
        found = m.multiply_add(found, x, m.number(coefficient))
    return found


def _integer_nearest(m: Maker, factor: float, y: Value) -> tuple[Value, Value]:
    """The integer that is nearest to y times a factor: in the last bits of `turned`, and as a number, n."""
    rounder = m.number(F64.rounder)
    turned = m.add(y, rounder) if factor == 1 else m.multiply_add(y, m.number(factor), rounder)
    return turned, m.subtract(turned, rounder)


def _less_multiple(m: Maker, parts: Sequence[float], n: Value, y: Value) -> Value:
    """y - n times the sum of some parts."""
    for part in parts:
        y = m.multiply_add(n, m.number(-part), y)
    return y


def _power(m: Maker, r: Value) -> Value:
    """e**r - 1, where |r| is at most ln(2) / 2."""
    return m.multiply_add(m.multiply(r, r), _polynomial(m, F64.exp, r), r)


def _exponent(m: Maker, turned: Value) -> Value:
    """An integer, which the last bits of a number are, where the exponent stands."""
    return m.binary("shli", m.bits(turned), m.integer(F64.fraction))


def _scaled(m: Maker, r: Value, turned: Value) -> Value:
    """2**n e**r, where n is in the last bits of `turned`."""
    power = m.add(_power(m, r), m.number(1.0))
    return m.of_bits(m.binary("addi", m.bits(power), _exponent(m, turned)))


def _exponential_less_one(m: Maker, y: Value) -> Value:
    """e**y - 1 = 2**n (e**r - 1) + (2**n - 1)."""
    turned, n = _integer_nearest(m, 1 / log(2), y)
    power = _power(m, _less_multiple(m, F64.ln2, n, y))
    scale = m.of_bits(m.binary("addi", m.bits_of(1.0), _exponent(m, turned)))
    return m.multiply_add(power, scale, m.subtract(scale, m.number(1.0)))


def _signed(m: Maker, found: Value, x: Value) -> Value:
    """A number with the sign of x set where x has it: also of -0."""
    sign = m.binary("andi", m.bits(x), m.integer(-1 << 63))
    return m.of_bits(m.binary("ori", m.bits(found), sign))


def _logarithm(m: Maker, y: Value) -> tuple[Value, Value, Value, Value]:
    """k, f, half and rest, where y = 2**k (1 + f), and the logarithm of 1 + f is f - (half - rest).

    It is 2 atanh(s), where s = f / (f + 2), and 1 + f is between sqrt(1/2) and sqrt(2). k + 1024, `biased`, becomes a
    double as the last bits of one near 2**52.
    """
    fraction, bias = m.integer(F64.fraction), 1024 << F64.fraction
    shifted = m.binary("addi", m.bits(y), m.integer(bias - 0x3FE6A09E667F3BCD))
    biased = m.binary("shrui", shifted, fraction)
    large = m.of_bits(m.binary("ori", biased, m.bits_of(2.0**52)))
    k = m.subtract(large, m.number(2.0**52 + 1024))
    mantissa = m.binary("subi", m.bits(y), m.binary("shli", biased, fraction))
    f = m.subtract(m.of_bits(m.binary("addi", mantissa, m.integer(bias))), m.number(1.0))
    s = m.divide(f, m.add(f, m.number(2.0)))
    z, half = m.multiply(s, s), m.multiply(m.multiply(m.number(0.5), f), f)
    return k, f, half, m.multiply(s, m.multiply_add(z, _polynomial(m, F64.log, z), half))


def _natural(m: Maker, k: Value, f: Value, half: Value, rest: Value) -> Value:
    high, low = F64.ln2
    rest = m.multiply_add(k, m.number(low), rest)
    return m.multiply_add(k, m.number(high), m.subtract(f, m.subtract(half, rest)))


def _or_special(m: Maker, found: Value, y: Value) -> Value:
    """A logarithm of y, also where y is none of the numbers above 0."""
    zero, infinite = m.number(0.0), m.number(inf)
    found = m.choose("olt", y, infinite, found, y)
    found = m.choose("ogt", y, zero, found, m.number(nan))
    return m.choose("oeq", y, zero, m.number(-inf), found)


def _turn(m: Maker, x: Value) -> tuple[Value, Value, Value]:
    """sin(r) and cos(r), where x = n pi/2 + r, and n is in the last bits of the first number."""
    turned, n = _integer_nearest(m, 1 / HALF_PI[0], x)
    r = _less_multiple(m, HALF_PI, n, x)
    z = m.multiply(r, r)
    sine = m.multiply(r, m.multiply_add(_polynomial(m, SIN, z), z, m.number(1.0)))
    cosine = m.multiply_add(_polynomial(m, COS, z), z, m.number(-0.5))
    return turned, sine, m.multiply_add(cosine, z, m.number(1.0))


def _is_odd(m: Maker, integer: Value) -> Value:
    one = m.integer(1)
    return m.equals(m.binary("andi", integer, one), one)


def _quarter(m: Maker, quarter: Value, sine: Value, cosine: Value) -> Value:
    """sin(r), cos(r), -sin(r) or -cos(r), as the last two bits of an integer say."""
    found = m.select(_is_odd(m, quarter), cosine, sine)
    sign = m.binary("shli", m.binary("andi", quarter, m.integer(2)), m.integer(62))
    return m.of_bits(m.binary("xori", m.bits(found), sign))


def _or_far(m: Maker, found: Value, x: Value) -> Value:
    """A function of an angle; where that is far, a middle between floats, so that the library is asked."""
    return m.choose("ole", m.absolute(x), m.number(FARTHEST), found, m.number(MIDDLE))
