"""Numbers for all parameters of a pattern, and how large its arrays are in a race."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

import affdsl as af
from affdsl.ir.expr import Affine
from affdsl.lang.annotations import ArrayType
from benchmarks.patterns.pattern import M, N

ROW, SIDE = 16_000, 300
"""Elements of arrays of one dimension in a race, and rows and columns of others."""


def arguments(kernel: af.Kernel, n: int, m: int) -> Iterator[object]:
    """Arguments for N and M: some numbers are equal, some negative, and few exact sums of others; indices are valid."""
    random = np.random.default_rng(n)
    numbers = {N.expr.value: n, M.expr.value: m}
    share, number = 4, 0.7
    for p in kernel.program.parameters:
        if isinstance(p.type, ArrayType):
            shape = _shape(p.type, n, m)
            dtype = p.type.dtype.numpy
            if dtype == np.int64:
                yield random.integers(0, max(n, 1), shape)
            elif dtype == np.bool_:
                yield random.random(shape) < 0.5
            else:
                given = np.round(random.normal(0, 3, shape) * 4)
                yield (given / 3).astype(dtype) if dtype.kind == "f" else given.astype(np.int64).astype(dtype)
        elif p.symbol is not None:
            yield numbers[p.symbol]
        elif p.type == af.index:
            share -= 1
            yield n - n * share // 4
        else:
            yield p.type.numpy.type(number if p.type.numpy.kind == "f" else 10 * number)
            number += 1


def side(kernel: af.Kernel) -> int:
    """How large N and M are in a race: `ROW`, or `SIDE` where an array would be too large then."""
    types = [p.type for p in kernel.program.parameters]
    most = max(prod(_shape(type, ROW, ROW)) for type in types if isinstance(type, ArrayType))
    return ROW if most <= 4 * ROW else SIDE


def _shape(type: ArrayType, n: int, m: int) -> list[int]:
    known = {N.expr.value: Affine.of(n), M.expr.value: Affine.of(m)}
    return [e.substitute(known).constant for e in type.shape]
