"""`kernel.fuse()` on kernels of several stages: what lies between the stages, and that nothing else changes."""

from __future__ import annotations

import re

import numpy as np
import pytest

import affdsl as af
from tests.effort import some
from tests.schedule import pipelines

BETWEEN = {
    "blur": ["3x?"],
    "unsharp": ["3x?"],
    "sweeps": ["3x?", "3x?", "3x?", "3x?", "3x?"],
    "two_products": ["1x?"],
    "three_products": ["1x?", "?x?"],
    "softmax": ["1", "1x?", "1"],
    "layer_norm": ["1", "1x?", "1"],
    "attention": ["1x?", "1x?", "1", "1"],
    "harris": ["3x?", "3x?", "3x?"],
}
"""What is left between the stages of each kernel."""
SIZES = (0, 5, 64, 1, 1000)
ROUNDED = {"softmax": 1e-6, "attention": 1e-4}
"""Of what has exponentials, which NumPy rounds in its own way: how far apart results may be."""


def arguments(kernel: af.Kernel, size: int) -> dict[str, object]:
    sizes = {"N": size, "M": size + 3, "D": size // 8 + 1, "K": size // 4 + 2}
    random = np.random.default_rng(size)
    given: dict[str, object] = {}
    shapes = iter(kernel.func.shapes[-len(kernel.program.parameters) :])
    for parameter, shape in zip(kernel.program.parameters, shapes, strict=True):
        if shape is None:
            given[parameter.name] = float(sizes["M"])
        else:
            given[parameter.name] = random.random([sizes[e.value.hint] for e in shape]).astype(np.float32)
    return given


@pytest.fixture(scope="module", params=some([*BETWEEN], 8))
def pair(request):
    kernel = getattr(pipelines, request.param)
    return kernel, kernel.fuse()


def test_what_lies_between(pair):
    kernel, fused = pair
    assert re.findall(r"memref\.alloc\(.*\) : memref<(.*)xf32>", fused.mlir()) == BETWEEN[kernel.name]


@pytest.mark.parametrize("size", some(SIZES, 3))
def test_results(pair, size):
    kernel, fused = pair
    given = arguments(kernel, size)
    right = pipelines.expected(kernel.name, given)
    unfused, found = ({k: v.copy() if isinstance(v, np.ndarray) else v for k, v in given.items()} for _ in range(2))
    kernel(*unfused.values())
    fused(*found.values())
    for name, array in right.items():
        if isinstance(array, np.ndarray):
            assert found[name].tobytes() == unfused[name].tobytes()
            np.testing.assert_allclose(found[name], array, rtol=ROUNDED.get(kernel.name, 0), err_msg=name)


def test_the_schedule_replays(pair):
    _, fused = pair
    replayed: dict[str, object] = {}
    exec(str(fused.schedule), replayed)
    assert replayed["s"].kernel().mlir() == fused.mlir()
