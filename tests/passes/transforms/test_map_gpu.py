"""map_gpu: pictures, refusals, the same results for sizes around those of blocks and threads, and PTX of it."""

import pytest

import affdsl as af
from tests import oracles
from tests.handed_on.gpu import lowered
from tests.passes.transforms.steps import kernels


@pytest.mark.parametrize("target", ["nvvm", "rocdl"])
def test_mlir_makes_a_kernel_of_the_bands(target: str) -> None:
    text = af.Schedule(kernels("loops")["matmul"]).map_gpu("i", "j").kernel().mlir()
    made = lowered(text, target)
    assert ".visible .entry matmul_kernel" in made if target == "nvvm" else ".amdhsa_kernel matmul_kernel" in made
    assert "gpu.launch_func" in oracles.mlir_opt(text, f"--pass-pipeline={launches()}")


def launches() -> str:
    return (
        "builtin.module(func.func(lower-affine,gpu-map-parallel-loops),convert-parallel-loops-to-gpu,"
        "gpu-kernel-outlining)"
    )
