"""Sines and cosines as arithmetic, where the angle is not far from 0: elsewhere they are what the C library makes.

Of f64: x = n pi/2 + r, where n is the integer nearest to x / (pi / 2), and r is known as a number and what that leaves
over, from pi/2 in parts. The last two bits of n say whether the sine or the cosine of r is meant, and with which sign.
Of f32, in f64: x = n pi + r, and n says whether the result is sin(r) or -sin(r); for cosines n is a half more than an
integer. A longer polynomial takes less than two of which one is chosen.
"""

from __future__ import annotations

from math import pi

from affdsl.ir.attributes import UnitAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import math, scf, vector
from affdsl.ir.expr import Value
from affdsl.ir.formats import F64, Format
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import I1, VectorType
from affdsl.passes.lowering.maker import Maker

NAMES = ("sin", "cos")
FAR = "affdsl.far"
"""What marks the function of angles that are too far."""
FARTHEST = 2.0**20
"""Where angles are too far: fewer than so many quarters of a turn are multiplied exactly."""
LEAST = 2.0**-27
"""Below this the sine of a number is the number, also of -0."""


def circular(op: math.Unary, format: Format) -> tuple[Op, ...]:
    """A sine or a cosine by polynomials, where the angles of all lanes are near enough for that.

    r = sin x   ->   r = if all |x| <= FARTHEST: polynomials of x else: sin x
    """
    of, at = op.operand, op.location
    m = Maker(op.result.type, format, at)
    far = m.number(FARTHEST)
    near = m.compare("ole", m.absolute(of), far)
    condition = m.made(vector.Reduction, I1, "and", near, ()) if isinstance(of.type, VectorType) else near
    inside = Maker(op.result.type, format, at)
    found = (_by_quarters if format is F64 else _by_half_turns)(inside, op.kind, of)
    exact = with_fields(op, result=Value(op.result.type), attributes=(*op.attributes, (FAR, UnitAttr())))
    then, orelse = (*inside.ops, scf.Yield((found,))), (exact, scf.Yield((exact.result,)))
    return (*m.ops, scf.If(condition, then, orelse, (op.result,), location=at))


def is_near(op: scf.If) -> bool:
    """Whether a condition chooses polynomials for angles that are near, and the function for others."""
    return any(isinstance(each, math.Unary) and is_far(each) for each in op.orelse)


def is_far(op: math.Unary) -> bool:
    """Whether a function is one of angles that are too far, beside the polynomials of others."""
    return any(name == FAR for name, _ in op.attributes)


def _by_half_turns(m: Maker, kind: str, x: Value) -> Value:
    """The sine or the cosine of a number of f32, in f64."""
    w = m.in_f64()
    wide, rounder, one = w.extended(x), w.number(F64.rounder), w.number(1.0)
    turns = w.multiply(wide, w.number(1 / pi))
    if kind == "cos":
        turns = w.add(turns, w.number(0.5))
    turned = w.add(turns, rounder)
    n = w.subtract(turned, rounder)
    if kind == "cos":
        n = w.subtract(n, w.number(0.5))
    first, second = (w.multiply(n, w.number(2 * part)) for part in m.format.half_pi)
    r = w.subtract(w.subtract(wide, first), second)
    z = w.multiply(r, r)
    sine = w.multiply(r, w.add(w.multiply(z, w.polynomial(m.format.sin, z)), one))
    sign = w.binary("shli", w.bits(turned), w.integer(F64.bits - 1))
    return m.narrowed(w.of_bits(w.binary("xori", w.bits(sine), sign)))


def _by_quarters(m: Maker, kind: str, x: Value) -> Value:
    """The sine or the cosine of a number of f64."""
    rounder, one = m.number(F64.rounder), m.integer(1)
    turned = m.add(m.multiply(x, m.number(2 / pi)), rounder)
    n = m.subtract(turned, rounder)
    first, *others = (m.multiply(n, m.number(part)) for part in F64.half_pi)
    r, tail = _reduced(m, m.subtract(x, first), *others)
    z = m.multiply(r, r)
    sine, cosine = _sine(m, r, tail, z), _cosine(m, r, tail, z)
    if kind == "sin":
        sine = m.choose("olt", m.absolute(x), m.number(LEAST), x, sine)
    quarter = m.bits(turned) if kind == "sin" else m.binary("addi", m.bits(turned), one)
    is_odd = m.equals(m.binary("andi", m.bits(turned), one), one)
    found = m.select(is_odd, *((cosine, sine) if kind == "sin" else (sine, cosine)))
    sign = m.binary("shli", m.binary("andi", quarter, m.integer(2)), m.integer(F64.bits - 2))
    return m.of_bits(m.binary("xori", m.bits(found), sign))


def _reduced(m: Maker, r: Value, second: Value, third: Value, fourth: Value) -> tuple[Value, Value]:
    """r without further parts, as a number and what that leaves over."""
    left: list[Value] = []
    for part in (second, third):
        less = m.subtract(r, part)
        left.append(m.subtract(m.subtract(r, less), part))
        r = less
    tail = m.subtract(m.add(*left), fourth)
    found = m.add(r, tail)
    return found, m.add(m.subtract(r, found), tail)


def _sine(m: Maker, r: Value, tail: Value, z: Value) -> Value:
    """sin(r + tail), where z = r * r."""
    rest = m.multiply(m.multiply(r, z), m.polynomial(F64.sin, z))
    half = m.multiply(m.number(0.5), z)
    return m.add(r, m.add(rest, m.subtract(tail, m.multiply(half, tail))))


def _cosine(m: Maker, r: Value, tail: Value, z: Value) -> Value:
    """cos(r + tail), where z = r * r."""
    one, half = m.number(1.0), m.multiply(m.number(0.5), z)
    w = m.subtract(one, half)
    rest = m.subtract(m.multiply(m.multiply(z, z), m.polynomial(F64.cos, z)), m.multiply(r, tail))
    return m.add(w, m.add(m.subtract(m.subtract(one, w), half), rest))
