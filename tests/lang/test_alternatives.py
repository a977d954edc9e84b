"""Conditions of which one of several holds, over sizes, products and remainders."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.errors import RangeError, SizeError

N, M = af.symbols("N M")
NUMBERS = (-3, -1, 0, 1, 2, 5, 2**40)


def inside_or(A: af.f64[N], p: af.index, q: af.index):
    """Safe only where both comparisons keep the subscript inside."""
    with af.for_(N) as i, af.if_((p * q < N) & (p * q >= 0) | (i == 0)):
        A[i] += 1.0
        with af.if_(i > 0):
            A[p * q] += 2.0


def either_size(A: af.f64[N], p: af.index, q: af.index):
    with af.for_(N) as i, af.if_((i * p < q) | (q >= N) | (p * q == 4)):
        A[i] += 1.0


def neither(A: af.f64[N], p: af.index, q: af.index):
    """The other branch is where none of them holds."""
    with af.for_(N) as i:
        with af.if_((p * q < 0) | (p * q >= N)):
            A[i] += 1.0
        with af.else_():
            A[p * q] += 2.0


def remainders(A: af.f64[N], p: af.index, q: af.index):
    with af.for_(N) as i, af.if_((q >= 1) & (i % q == 0) | (p >= 1) & (i % p == 1)):
        A[i] += 1.0


def unsafe(A: af.f64[N], p: af.index, q: af.index):
    """One of them says nothing of the subscript."""
    with af.if_((p * q < N) & (p * q >= 0) | (p == 5)):
        A[p * q] = 1.0


def expected(function, n, p, q):
    """What a kernel computes, or None where it leaves the array, or divides by what is not positive."""
    a = [0.0] * n
    if function is remainders and n and (p < 1 or q < 1):
        return None  # both are computed, whatever the first comparison says
    try:
        for i in range(n):
            match function.__name__:
                case "inside_or" if 0 <= p * q < n or i == 0:
                    a[i] += 1.0
                    if i > 0:
                        a[p * q] += 2.0
                case "either_size" if i * p < q or q >= n or p * q == 4:
                    a[i] += 1.0
                case "neither":
                    if 0 <= p * q < n:
                        a[p * q] += 2.0
                    else:
                        a[i] += 1.0
                case "remainders" if (q >= 1 and i % q == 0) or (p >= 1 and i % p == 1):
                    a[i] += 1.0
        if function.__name__ == "unsafe" and (0 <= p * q < n or p == 5):
            if p * q < 0:
                return None
            a[p * q] = 1.0
    except IndexError:
        return None
    return a


@pytest.mark.parametrize("function", [inside_or, either_size, neither, remainders, unsafe], ids=lambda f: f.__name__)
def test_one_of_several_conditions(function):
    kernel = af.kernel(function)
    for n, p, q in product((0, 1, 4), NUMBERS, NUMBERS):
        wanted = expected(function, n, p, q)
        for runs in (kernel, kernel.interpret):
            a = np.zeros(n)
            try:
                runs(a, p, q)
            except (SizeError, RangeError):
                assert wanted is None or 2**40 in (p, q), (n, p, q)
            else:
                assert a.tolist() == wanted, (n, p, q)
