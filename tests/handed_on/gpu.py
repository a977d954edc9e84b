"""Kernels on a GPU: which loops of a kernel blocks and threads share, and what MLIR's passes make of it."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import suppress

import affdsl as af
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.traverse import with_fields
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.parallelism import of_loops
from affdsl.passes.lowering.handed_on import handed_on
from affdsl.passes.transforms.map_gpu import map_gpu
from tests import oracles
from tests.handed_on.lowered import run

LAUNCH = "func.func(lower-affine, gpu-map-parallel-loops), convert-parallel-loops-to-gpu"
"""Makes a `gpu.launch` of two bands, one right inside of the other."""
_BODY = (
    """convert-complex-to-standard, convert-vector-to-scf, convert-scf-to-cf, expand-strided-metadata, lower-affine"""
)
_END = """convert-complex-to-llvm, convert-vector-to-llvm, convert-arith-to-llvm, convert-index-to-llvm,
    reconcile-unrealized-casts"""
_SHADER = (
    "Shader,Float64,Int64,Int8,Int16,Float16,StorageBuffer8BitAccess,StorageBuffer16BitAccess exts="
    "SPV_KHR_storage_buffer_storage_class,SPV_KHR_8bit_storage,SPV_KHR_16bit_storage"
)
PIPELINES = {
    "nvvm": f"""builtin.module({LAUNCH}, gpu-kernel-outlining, nvvm-attach-target{{chip=sm_90}},
    gpu.module({_BODY}, convert-gpu-to-nvvm, {_END}))""",
    "rocdl": f"""builtin.module({LAUNCH}, gpu-kernel-outlining, rocdl-attach-target{{chip=gfx90a}},
    gpu.module({_BODY}, arith-expand, convert-gpu-to-rocdl, {_END}))""",
    "spirv": f"""builtin.module({LAUNCH}, arith-expand, lower-affine, gpu-kernel-outlining,
    gpu.module(test-spirv-entry-point-abi{{workgroup-size=128}}), spirv-attach-target{{ver=v1.3 caps={_SHADER}}},
    map-memref-spirv-storage-class{{client-api=vulkan}}, convert-gpu-to-spirv,
    spirv.module(spirv-lower-abi-attrs, spirv-update-vce))""",
}
"""From the text of a kernel to a module with its device code in the dialect of a target."""


def on_gpu(kernel: af.Kernel) -> str:
    """The text of a kernel whose outermost loops run on a GPU.

    Blocks share a loop that is parallel, and threads the one inside if that is, too; other loops run in one thread.
    """
    module = kernel.apply("inline,symbol-dce").module
    mapped = tuple(_mapped(op, module) if isinstance(op, Func) and op.body else op for op in module.body)
    return str(handed_on(with_fields(module, body=mapped)))


def lowered(text: str, target: str, toolkit: str = "") -> str:
    """PTX, assembly for AMD, or SPIR-V in its dialect; with the functions of the toolkit of CUDA in a folder.

    Raises AssertionError where a pass refuses, or nothing is launched.
    """
    made = oracles.mlir_opt(text, f"--pass-pipeline={PIPELINES[target]}")
    if "gpu.launch_func" not in made:
        raise AssertionError("no loop runs on the device")
    if target == "spirv":
        return made
    where = f" toolkit={toolkit}" if toolkit else ""
    binary = oracles.mlir_opt(made, f"--gpu-module-to-binary=format=isa{where}")
    return re.sub(r"\\([0-9A-F]{2})", lambda found: chr(int(found[1], 16)), binary)


def assembled(ptxas: str, isa: str) -> None:
    """Machine code for an NVIDIA GPU of each kernel of what `lowered` gives.

    Raises AssertionError where ptxas refuses one.
    """
    found = re.findall(r'assembly = "(.*?^})\s*"', isa, re.M | re.S)
    assert len(found) == isa.count(".visible .entry"), "a kernel is a file"
    for ptx in found:
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
            file.write(ptx)
            file.flush()
            run(ptxas, "-arch=sm_90", file.name, "-o", f"{file.name}.cubin")
            os.remove(f"{file.name}.cubin")


def _outermost(block: Block) -> Iterator[affine.For | affine.Parallel]:
    for op in block:
        if isinstance(op, affine.For | affine.Parallel):
            yield op
        else:
            for inner in op.blocks():
                yield from _outermost(inner)


def _mapped(function: Func, module: Module) -> Func:
    for loop in [*_outermost(function.body)]:
        can = {each.iv for each in of_loops(Dependences(function, module)) if each.is_parallel}
        outer = _counters(loop)[0]
        inner = next((iv for iv in _counters(loop)[1:2] if iv in can), None)
        with suppress(af.IllegalTransform):
            if outer in can:
                function = map_gpu(function, outer, inner, module=module)
            else:
                function = map_gpu(function, outer, blocks=1, threads=1, module=module)
    return function


def _counters(loop: Op) -> list[Value]:
    """The counters of loops that are perfectly nested, outermost first."""
    found: list[Value] = []
    while True:
        match loop:
            case affine.For(results=()):
                found.append(loop.iv)
            case affine.Parallel(results=()):
                found += loop.ivs
            case affine.For() | affine.Parallel():
                return found or [*loop.binds()][:1]
            case _:
                return found
        if len(loop.body) != 1:
            return found
        loop = loop.body[0]
