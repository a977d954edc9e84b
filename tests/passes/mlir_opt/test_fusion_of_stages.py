"""Chains of stages at sizes known only at run time become one nest, and what lies between them rows or less."""

from __future__ import annotations

import re

import numpy as np
import pytest

import affdsl as af
from tests.harness.judges import bits, copied
from tests.schedule.pipelines import attention, softmax, unsharp

N = af.symbols("N")


@af.kernel
def sweeps(a: af.f32[N], b: af.f32[N]):
    first, second = af.alloc(af.f32[N]), af.alloc(af.f32[N])
    with af.for_(1, N - 1) as i:
        first[i] = a[i - 1] + a[i] + a[i + 1]
    with af.for_(2, N - 2) as i:
        second[i] = first[i - 1] + first[i] + first[i + 1]
    with af.for_(3, N - 3) as i:
        b[i] = second[i - 1] + second[i] + second[i + 1]


CASES = [
    (unsharp, 10, ["3x1", "1x1", "1x1"]),
    (unsharp, 0.3, ["?x?", "1x1", "1x1"]),
    (softmax, 0.3, ["1", "1x?", "1"]),
    (attention, 0.3, ["1x?", "1x?", "1", "1"]),
    (sweeps, 10, ["3", "3"]),
    (sweeps, 0.3, ["?", "?"]),
]


@pytest.mark.parametrize(("kernel", "tolerance", "between"), CASES, ids=lambda each: getattr(each, "name", None))
def test_what_lies_between(kernel, tolerance, between):
    made = kernel.apply(f"builtin.module(affine-loop-fusion{{compute-tolerance={tolerance}}})")
    assert re.findall(r"memref\.alloc\(.*\) : memref<(.*)xf32>", made.mlir()) == between
    for size in (0, 1, 5, 64):
        sizes = {"N": size, "M": size, "D": 3}
        shapes = [tuple(sizes[e.value.hint] for e in shape) for shape in kernel.func.shapes if shape is not None]
        given = [np.random.default_rng(k).random(shape).astype(np.float32) for k, shape in enumerate(shapes)]
        expected, found = copied(given), copied(given)
        kernel(*expected)
        made(*found)
        assert bits(expected) == bits(found)
