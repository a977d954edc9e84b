"""Sines and cosines as arithmetic, where the angle is not far from 0: elsewhere they are what the C library makes.

x = n pi/2 + r, where n is the integer nearest to x / (pi / 2), and r is known as a number and what that leaves over,
from pi/2 in parts. The last two bits of n say whether the sine or the cosine of r is meant, and with which sign.
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
    found = _polynomials(inside, op.kind, of)
    exact = with_fields(op, result=Value(op.result.type), attributes=(*op.attributes, (FAR, UnitAttr())))
    then, orelse = (*inside.ops, scf.Yield((found,))), (exact, scf.Yield((exact.result,)))
    return (*m.ops, scf.If(condition, then, orelse, (op.result,), location=at))


def is_near(op: scf.If) -> bool:
    """Whether a condition chooses polynomials for angles that are near, and the function for others."""
    return any(isinstance(each, math.Unary) and is_far(each) for each in op.orelse)


def is_far(op: math.Unary) -> bool:
    """Whether a function is one of angles that are too far, beside the polynomials of others."""
    return any(name == FAR for name, _ in op.attributes)


def _polynomials(m: Maker, kind: str, x: Value) -> Value:
    """The sine or the cosine of a number, in f64 also for one of f32."""
    format = m.format
    w = m if format is F64 else m.in_f64()
    wide = x if w is m else w.extended(x)
    rounder = w.number(F64.rounder)
    turned = w.add(w.multiply(wide, w.number(2 / pi)), rounder)
    n = w.subtract(turned, rounder)
    first, second, *last = (w.multiply(n, w.number(part)) for part in format.half_pi)
    r = w.subtract(wide, first)
    if last:
        r, tail = _reduced(w, r, second, *last)
    else:
        r, tail = w.subtract(r, second), None
    z = w.multiply(r, r)
    sine, cosine = _sine(w, format, r, tail, z), _cosine(w, format, r, tail, z)
    if kind == "sin":
        sine = w.choose("olt", w.absolute(wide), w.number(LEAST), wide, sine)
    quarter = w.bits(turned) if kind == "sin" else w.binary("addi", w.bits(turned), w.integer(1))
    one = w.integer(1)
    is_odd = w.equals(w.binary("andi", w.bits(turned), one), one)
    found = w.select(is_odd, *((cosine, sine) if kind == "sin" else (sine, cosine)))
    sign = w.binary("shli", w.binary("andi", quarter, w.integer(2)), w.integer(F64.bits - 2))
    found = w.of_bits(w.binary("xori", w.bits(found), sign))
    return found if w is m else m.narrowed(found)


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


def _sine(m: Maker, format: Format, r: Value, tail: Value | None, z: Value) -> Value:
    """sin(r + tail), where z = r * r."""
    rest = m.multiply(m.multiply(r, z), m.polynomial(format.sin, z))
    if tail is not None:
        half = m.multiply(m.number(0.5), z)
        rest = m.add(rest, m.subtract(tail, m.multiply(half, tail)))
    return m.add(r, rest)


def _cosine(m: Maker, format: Format, r: Value, tail: Value | None, z: Value) -> Value:
    """cos(r + tail), where z = r * r."""
    one, half = m.number(1.0), m.multiply(m.number(0.5), z)
    w = m.subtract(one, half)
    rest = m.multiply(m.multiply(z, z), m.polynomial(format.cos, z))
    if tail is not None:
        rest = m.subtract(rest, m.multiply(r, tail))
    return m.add(w, m.add(m.subtract(m.subtract(one, w), half), rest))
