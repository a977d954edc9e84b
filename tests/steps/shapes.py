"""Chains of n steps, as a Python loop writes them: most values are used more than once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import affdsl as af

Chain = Callable[[Any, Any, Any, int], Any]
"""What n steps make of two elements and the counter of the innermost loop."""


class Shape(NamedTuple):
    """Steps on elements of a type."""

    dtype: Any
    chain: Chain


def _each(step: Callable[[Any, Any, Any], Any]) -> Chain:
    """The same step, n times."""

    def chain(x: Any, a: Any, j: Any, n: int) -> Any:
        for _ in range(n):
            x = step(x, a, j)
        return x

    return chain


def _mandelbrot(x: Any, a: Any, j: Any, n: int) -> Any:
    re, im = x, a
    for _ in range(n):
        re, im = re * re - im * im + x, re * im * 2.0 + a
    return re * re + im * im


def _fibonacci(x: Any, a: Any, j: Any, n: int) -> Any:
    for _ in range(n):
        x, a = a, x + a
    return a


def _of_both(x: Any, a: Any, j: Any, n: int) -> Any:
    """Minima and maxima of all that was, as a network that sorts has them."""
    low, high = x, a
    for k in range(n):
        low, high = af.min(low, high * (k + 0.5)), af.max(low, high)
    return low + high


def _ifs(x: Any, a: Any, j: Any, n: int) -> Any:
    """Conditions on data, one behind the other."""
    v = af.var(x)
    for k in range(n):
        with af.if_(v * v < a):
            v.set(v + v * (k + 0.5))
    return +v


def _guards(x: Any, a: Any, j: Any, n: int) -> Any:
    """Conditions on the counter, one behind the other."""
    v = af.var(x)
    for k in range(n):
        with af.if_(j < 3 * k + 2):
            v.set(v * v + a)
    return +v


def _compared(x: Any, a: Any, j: Any, n: int) -> Any:
    """One condition made of n comparisons."""
    all_of = x < a
    for k in range(n):
        all_of = af.select(all_of, x < a * (k + 0.5), all_of)
    return af.select(all_of, x, a)


def _subscripts(x: Any, a: Any, j: Any, n: int) -> Any:
    """A subscript of n floor divisions."""
    e = j
    for k in range(n):
        e = (e + j) // (k % 5 + 2)
    return x + af.cast(e, af.f64)


def _reductions(x: Any, a: Any, j: Any, n: int) -> Any:
    """The same with remainders, each of which takes what is inside of it twice."""
    e = j
    for k in range(n):
        e = (e * 3 + k) % (1009 + k)
    return x + af.cast(e, af.f64)


SHAPES: Mapping[str, Shape] = {
    "newton": Shape(af.f64, _each(lambda y, a, j: y * (1.5 - a * 0.5 * y * y))),
    "logistic": Shape(af.f32, _each(lambda x, a, j: x * (1.0 - x))),
    "mandelbrot": Shape(af.f64, _mandelbrot),
    "squarings": Shape(af.f64, _each(lambda x, a, j: x * x)),
    "doublings": Shape(af.f64, _each(lambda x, a, j: x + x)),
    "i64 doublings": Shape(af.i64, _each(lambda x, a, j: x + x)),
    "sums": Shape(af.f64, _each(lambda x, a, j: x + a)),
    "products": Shape(af.f32, _each(lambda x, a, j: x * 0.5 + a * x)),
    "differences": Shape(af.f64, _each(lambda x, a, j: (x - a) - (a - x))),
    "fibonacci": Shape(af.f64, _fibonacci),
    "min max": Shape(af.f64, _of_both),
    "select": Shape(af.f32, _each(lambda x, a, j: af.select(x < a, x * 2.0, x - a))),
    "i32": Shape(af.i32, _each(lambda x, a, j: x * x + (x >> 1) - a)),
    "i64": Shape(af.i64, _each(lambda x, a, j: (x ^ (x << 3)) + (x // 3) + a % 7)),
    "i8": Shape(af.i8, _each(lambda x, a, j: af.max(x + x, a) - x)),
    "c128": Shape(af.c128, _each(lambda x, a, j: x * x + a)),
    "conversions": Shape(af.f64, _each(lambda x, a, j: af.cast(af.cast(x, af.f32) * af.cast(x, af.f32), af.f64) + x)),
    "functions": Shape(af.f64, _each(lambda x, a, j: af.exp(x) / (af.sqrt(x) + 3.0) + x / a)),
    "ifs": Shape(af.f64, _ifs),
    "guards": Shape(af.f64, _guards),
    "compared": Shape(af.f64, _compared),
    "subscripts": Shape(af.f64, _subscripts),
    "reductions": Shape(af.f64, _reductions),
}
"""By name."""
