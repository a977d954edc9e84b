"""The functions that are approximated, each as arithmetic.

e**x = 2**n e**r, where n is the integer nearest to x / ln(2), and r = x - n ln(2), with ln(2) in two parts. The
logarithm of x = 2**k m, with m between sqrt(1/2) and sqrt(2), is k ln(2) + 2 atanh(s), where s = (m - 1) / (m + 1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, log, nan, sqrt

from affdsl.ir.expr import Value
from affdsl.passes.lowering.maker import Maker

_LOG2_E = 1 / log(2)
_LOG10_E = 1 / log(10)


def _exp(m: Maker, x: Value) -> Value:
    x = _between(m, x, (m.format.bias + 2) * log(2))
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


FUNCTIONS: Mapping[str, Callable[[Maker, Value], Value]] = {
    "exp": _exp,
    "exp2": _exp2,
    "log": lambda m, x: _logarithm(m, x, m.format.ln2, 1.0),
    "log2": lambda m, x: _logarithm(m, x, (1.0, 0.0), _LOG2_E),
    "log10": lambda m, x: _logarithm(m, x, m.format.log10_2, _LOG10_E),
}
"""By the kinds of math."""
