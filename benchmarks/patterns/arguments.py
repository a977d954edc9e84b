"""Numbers for all parameters of a pattern."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import affdsl as af
from affdsl.ir.expr import Affine
from affdsl.lang.annotations import ArrayType
from benchmarks.patterns.pattern import M, N


def arguments(kernel: af.Kernel, n: int, m: int) -> Iterator[object]:
    """Arguments for N and M: some numbers are equal, some negative, and few exact sums of others; indices are valid."""
    random = np.random.default_rng(n)
    numbers = {N.expr.value: n, M.expr.value: m}
    share = 4
    for p in kernel.program.parameters:
        if isinstance(p.type, ArrayType):
            known = {v: Affine.of(number) for v, number in numbers.items()}
            shape = [e.substitute(known).constant for e in p.type.shape]
            dtype = p.type.dtype.numpy
            if dtype == np.int64:
                yield random.integers(0, max(n, 1), shape)
            else:
                given = np.round(random.normal(0, 3, shape) * 4)
                yield (given / 3).astype(dtype) if dtype.kind == "f" else given.astype(np.int64).astype(dtype)
        elif p.symbol is not None:
            yield numbers[p.symbol]
        elif p.type == af.index:
            share -= 1
            yield n - n * share // 4
        else:
            yield p.type.numpy.type(0.7)
