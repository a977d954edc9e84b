"""The functions that are approximated, each as arithmetic.

e**x = 2**n e**r, where n is the integer nearest to x / ln(2), and r = x - n ln(2), with ln(2) in two parts. The
logarithm of x = 2**k m, with m between sqrt(1/2) and sqrt(2), is k ln(2) + 2 atanh(s), where s = (m - 1) / (m + 1).
tanh x = 1 - 2 / (e**(2 x) + 1) and erf x = 1 - e**(-x**2) erfcx x, for x that are not near 0, where these would cancel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, log, nan, sqrt

from affdsl.ir.expr import Value
from affdsl.passes.lowering.maker import Maker

_LOG2_E = 1 / log(2)
_LOG10_E = 1 / log(10)


def _exp(m: Maker, x: Value) -> Value:
    return _power_of_e(m, _between(m, x, (m.format.bias + 2) * log(2)))


def _power_of_e(m: Maker, x: Value) -> Value:
    """e**x, of a number for which that is not infinite, or NaN."""
    turned, n = _nearest(m, m.multiply(x, m.number(_LOG2_E)))
    high, low = (m.multiply(n, m.number(part)) for part in m.format.ln2)
    return _scaled(m, m.subtract(m.subtract(x, high), low), turned)


def _exp2(m: Maker, x: Value) -> Value:
    x = _between(m, x, float(m.format.bias + 2))
    turned, n = _nearest(m, x)
    return _scaled(m, m.multiply(m.subtract(x, n), m.number(log(2))), turned)


def _between(m: Maker, x: Value, most: float) -> Value:
    """x, or the nearest number for which a result is infinite or zero; NaN stays."""
    high, low = m.number(most), m.number(-most - m.format.fraction - 2)
    x = m.choose("ogt", x, high, high, x)
    return m.choose("olt", x, low, low, x)


def _nearest(m: Maker, x: Value) -> tuple[Value, Value]:
    """The integer nearest to a number: in the last bits of a number, and as one."""
    rounder = m.number(m.format.rounder)
    turned = m.add(x, rounder)
    return turned, m.subtract(turned, rounder)


def _scaled(m: Maker, r: Value, turned: Value) -> Value:
    """e**r times the power of 2 with the exponent in the last bits of `turned`, in two steps: it may be no number."""
    tail = m.add(m.multiply(m.multiply(r, r), m.polynomial(m.format.exp, r)), r)
    power = m.add(tail, m.number(1.0))
    n = m.binary("subi", m.bits(turned), m.bits_of(m.format.rounder))
    half = m.binary("shrsi", n, m.integer(1))
    for exponent in (half, m.binary("subi", n, half)):
        biased = m.binary("addi", exponent, m.integer(m.format.bias))
        power = m.multiply(power, m.of_bits(m.binary("shli", biased, m.integer(m.format.fraction))))
    return power


def _logarithm(m: Maker, x: Value, parts: tuple[float, float], scale: float) -> Value:
    """scale * ln(x), where the logarithm of 2 has two parts."""
    fraction, smallest = m.format.fraction, m.number(2.0 ** (1 - m.format.bias))
    normal = m.choose("olt", x, smallest, m.multiply(x, m.number(2.0 ** (fraction + 1))), x)
    k, mantissa = _taken_apart(m, normal)
    k = m.choose("olt", x, smallest, m.subtract(k, m.number(fraction + 1.0)), k)
    f = m.subtract(mantissa, m.number(1.0))
    s = m.divide(f, m.add(f, m.number(2.0)))
    z = m.multiply(s, s)
    rest = m.multiply(z, m.polynomial(m.format.log, z))
    half = m.multiply(m.multiply(m.number(0.5), f), f)
    high, low = (m.multiply(k, m.number(part)) for part in parts)
    if scale == 1.0:
        behind = m.add(m.multiply(s, m.add(half, rest)), low)
        found = m.subtract(high, m.subtract(m.subtract(half, behind), f))
    else:
        of_mantissa = m.subtract(f, m.subtract(half, m.multiply(s, m.add(half, rest))))
        found = m.add(high, m.add(low, m.multiply(of_mantissa, m.number(scale))))
    found = m.choose("olt", x, m.number(inf), found, x)
    found = m.choose("oeq", x, m.number(0.0), m.number(-inf), found)
    return m.choose("olt", x, m.number(0.0), m.number(nan), found)


def _taken_apart(m: Maker, x: Value) -> tuple[Value, Value]:
    """The exponent of a number, and the number without it: from sqrt(1/2) to sqrt(2)."""
    fraction, bits = m.integer(m.format.fraction), m.bits(x)
    k = m.binary("shrsi", m.binary("subi", bits, m.bits_of(sqrt(0.5))), fraction)
    return m.from_integer(k), m.of_bits(m.binary("subi", bits, m.binary("shli", k, fraction)))


def _tanh(m: Maker, x: Value) -> Value:
    size, one, two = m.absolute(x), m.number(1.0), m.number(2.0)
    power = _power_of_e(m, m.multiply(_at_most(m, size, (m.format.fraction + 4) * log(2) / 2), two))
    far = m.subtract(one, m.divide(two, m.add(power, one)))
    square = m.multiply(size, size)
    near = m.multiply(size, m.add(m.multiply(square, m.polynomial(m.format.tanh, square)), one))
    return _signed(m, m.choose("olt", size, m.number(NEAR["tanh"]), near, far), x)


def _erf(m: Maker, x: Value) -> Value:
    size, three = m.absolute(x), m.number(3.0)
    most = _at_most(m, size, m.format.erf_is_1)
    rest = m.polynomial(m.format.erfcx, m.divide(m.subtract(most, three), m.add(most, three)))
    far = m.subtract(m.number(1.0), m.multiply(_power_of_e(m, m.negated(m.multiply(most, most))), rest))
    near = m.add(size, m.multiply(size, m.polynomial(m.format.erf, m.multiply(size, size))))
    return _signed(m, m.choose("olt", size, m.number(NEAR["erf"]), near, far), x)


def _at_most(m: Maker, x: Value, most: float) -> Value:
    """x, or a number where that is less; NaN stays."""
    return m.choose("ogt", x, m.number(most), m.number(most), x)


def _signed(m: Maker, size: Value, x: Value) -> Value:
    """A number without sign with the sign of x."""
    sign = m.binary("andi", m.bits(x), m.integer(-1 << m.format.bits - 1))
    return m.of_bits(m.binary("ori", m.bits(size), sign))


NEAR = {"tanh": 0.625, "erf": 1.0}
"""Below these the functions are polynomials."""
FUNCTIONS: Mapping[str, Callable[[Maker, Value], Value]] = {
    "exp": _exp,
    "exp2": _exp2,
    "log": lambda m, x: _logarithm(m, x, m.format.ln2, 1.0),
    "log2": lambda m, x: _logarithm(m, x, (1.0, 0.0), _LOG2_E),
    "log10": lambda m, x: _logarithm(m, x, m.format.log10_2, _LOG10_E),
    "erf": _erf,
    "tanh": _tanh,
}
"""By the kinds of math."""
