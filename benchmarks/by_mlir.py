"""Optimized layers by C, and by the MLIR that is handed on with `expand_math`: `python -m benchmarks.by_mlir`.

mlir-opt-22 lowers the text as docs/guides/mlir.md says, and clang-22 compiles it for this machine. Both run in turns on
one thread; what counts is the shortest of the rounds, in seconds of that thread. The results must be the same bits.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from math import inf
from pathlib import Path
from time import thread_time

import numpy as np

import affdsl as af
from benchmarks.everyday.rows import softmax_of_rows
from benchmarks.layers import attention, gelu

LOWERING = """builtin.module(func.func(llvm-request-c-wrappers, lower-affine, convert-vector-to-scf,
    convert-arith-to-llvm, arith-expand), convert-scf-to-cf, convert-math-to-funcs,
    convert-math-to-llvm{approximate-log1p=false}, convert-math-to-libm, convert-vector-to-llvm,
    expand-strided-metadata, lower-affine, finalize-memref-to-llvm, convert-func-to-llvm, convert-cf-to-llvm,
    convert-arith-to-llvm, convert-index-to-llvm, convert-ub-to-llvm, reconcile-unrealized-casts)"""
COMPILER = ("clang-22", "-O3", "-march=native", "-shared", "-fPIC", "-Wno-override-module", "-x", "ir", "-", "-lm")

Layer = tuple[af.Kernel, Sequence[tuple[int, ...]], Sequence[int]]
LAYERS: Mapping[str, Layer] = {
    "softmax of 700 rows of 700": (softmax_of_rows, [(700, 700)] * 2, [700, 700]),
    "GELU of 400 000 numbers": (gelu, [(400_000,)] * 2, [400_000]),
    "attention, 512 words of 64": (attention, [*[(512, 64)] * 3, (512, 512), (512, 64)], [512, 64]),
}
"""A kernel, the shapes of its arrays of f32, and the sizes that its MLIR takes before them."""


def by_mlir(kernel: af.Kernel, sizes: Sequence[int], folder: Path) -> Callable[[Sequence[np.ndarray]], None]:
    """The kernel as MLIR lowers and LLVM compiles it, as a callable on its arrays."""
    text = kernel.mlir(expand_math=True)
    for command in (["mlir-opt-22", f"--pass-pipeline={LOWERING}"], ["mlir-translate-22", "--mlir-to-llvmir"]):
        text = subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True, text=True).stdout
    library = folder / f"{kernel.name}.so"
    subprocess.run([*COMPILER, "-o", str(library)], input=text, check=True, text=True)
    function = getattr(ctypes.CDLL(str(library)), f"_mlir_ciface_{kernel.name}")

    def run(arrays: Sequence[np.ndarray]) -> None:
        described = [_described(array) for array in arrays]
        function(*map(ctypes.c_int64, sizes), *map(ctypes.byref, described))

    return run


def _described(array: np.ndarray) -> ctypes.Array[ctypes.c_int64]:
    """What MLIR knows of an array: where it is, twice, where it begins, its sizes and its strides in elements."""
    at = array.ctypes.data
    strides = [stride // array.itemsize for stride in array.strides]
    return (ctypes.c_int64 * (3 + 2 * array.ndim))(at, at, 0, *array.shape, *strides)


def seconds(run: Callable[..., object], *arguments: object) -> float:
    """How long a call takes."""
    start = thread_time()
    run(*arguments)
    return thread_time() - start


def main() -> None:
    """Print a row for each layer."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.by_mlir", description=__doc__)
    made.add_argument("--rounds", type=int, default=101, help="how often each is called")
    rounds = made.parse_args().rounds
    differs = False
    print(f"{'':28}{'C':>10}{'MLIR':>10}{'ratio':>8}  bits")
    for name, (kernel, shapes, sizes) in LAYERS.items():
        rng = np.random.default_rng(1)
        arrays = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
        others = [array.copy() for array in arrays]
        fast = kernel.optimize(threads=1)
        with tempfile.TemporaryDirectory() as folder:
            lowered = by_mlir(fast, sizes, Path(folder))
            fast(*arrays)
            lowered(others)
            same = all((a.view(np.int32) == b.view(np.int32)).all() for a, b in zip(arrays, others, strict=True))
            ours = theirs = inf
            for _ in range(rounds):
                ours = min(ours, seconds(fast, *arrays))
                theirs = min(theirs, seconds(lowered, others))
        shown = f"{ours * 1e6:7.0f} us{theirs * 1e6:7.0f} us{theirs / ours:8.2f}"
        print(f"{name:28}{shown}  {'equal' if same else 'DIFFERENT'}", flush=True)
        differs |= not same
    sys.exit(differs)


if __name__ == "__main__":
    main()
