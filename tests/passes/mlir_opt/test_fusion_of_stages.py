"""Chains of stages at sizes known only at run time become one nest, and what lies between them rows or less."""

from __future__ import annotations

import re

import numpy as np
import pytest

import affdsl as af

N, M, D = af.symbols("N M D")


@af.kernel
def unsharp(image: af.f32[N, M], out: af.f32[N, M]):
    rows, both, sharp = (af.alloc(af.f32[N, M]) for _ in range(3))
    with af.for_(N) as i, af.for_(1, M - 1) as j:
        rows[i, j] = image[i, j - 1] + image[i, j] + image[i, j + 1]
    with af.for_(1, N - 1) as i, af.for_(1, M - 1) as j:
        both[i, j] = rows[i - 1, j] + rows[i, j] + rows[i + 1, j]
    with af.for_(1, N - 1) as i, af.for_(1, M - 1) as j:
        sharp[i, j] = image[i, j] * 2.0 - both[i, j]
    with af.for_(1, N - 1) as i, af.for_(1, M - 1) as j:
        out[i, j] = af.max(sharp[i, j], image[i, j] - both[i, j])


@af.kernel
def softmax(x: af.f32[N, M], out: af.f32[N, M]):
    largest, power, total = af.alloc(af.f32[N]), af.alloc(af.f32[N, M]), af.alloc(af.f32[N])
    with af.for_(N) as i:
        largest[i] = -1000.0
        with af.for_(M) as j:
            largest[i] = af.max(largest[i], x[i, j])
    with af.for_(N) as i, af.for_(M) as j:
        power[i, j] = af.exp(x[i, j] - largest[i])
    with af.for_(N) as i:
        total[i] = 0.0
        with af.for_(M) as j:
            total[i] += power[i, j]
    with af.for_(N) as i, af.for_(M) as j:
        out[i, j] = power[i, j] / total[i]


@af.kernel
def attention(q: af.f32[N, D], k: af.f32[N, D], v: af.f32[N, D], out: af.f32[N, D]):
    scores, power = af.alloc(af.f32[N, N]), af.alloc(af.f32[N, N])
    largest, total = af.alloc(af.f32[N]), af.alloc(af.f32[N])
    with af.for_(N) as i, af.for_(N) as j:
        scores[i, j] = 0.0
        with af.for_(D) as d:
            scores[i, j] += q[i, d] * k[j, d]
    with af.for_(N) as i:
        largest[i] = -1000.0
        with af.for_(N) as j:
            largest[i] = af.max(largest[i], scores[i, j])
    with af.for_(N) as i, af.for_(N) as j:
        power[i, j] = af.exp(scores[i, j] - largest[i])
    with af.for_(N) as i:
        total[i] = 0.0
        with af.for_(N) as j:
            total[i] += power[i, j]
    with af.for_(N) as i, af.for_(D) as d:
        out[i, d] = 0.0
        with af.for_(N) as j:
            out[i, d] += power[i, j] * v[j, d] / total[i]


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
        expected, found = [a.copy() for a in given], [a.copy() for a in given]
        kernel(*expected)
        made(*found)
        assert all(a.tobytes() == b.tobytes() for a, b in zip(expected, found, strict=True))
