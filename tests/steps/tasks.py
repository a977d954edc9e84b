"""What is done to a kernel: each verb where it is legal, each pass, each output."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

import affdsl as af
from affdsl.codegen.c.emit import REGISTER_BITS
from affdsl.ir.types import MemRefType
from affdsl.mlir.writers import print_op
from affdsl.passes.pipeline.language import pipeline_for_module
from affdsl.passes.pipeline.registry import OF_SCRIPTS, PASSES, Pass
from tests.steps import kernels
from tests.steps.kernels import M, N
from tests.steps.shapes import Shape

Step = Callable[[af.Schedule], object]


class Task(NamedTuple):
    """What is done to which kernel; `before` is not part of what is looked at."""

    situation: Callable[[Shape, int], Any]
    run: Callable[[Any], object]
    before: Callable[[Any], Any] = lambda kernel: kernel


_DTYPES = {"complex<f64>": np.complex128, "f32": np.float32, "i32": np.int32, "i64": np.int64, "i8": np.int8}


def _arguments(kernel: af.Kernel) -> list[object]:
    """Small arrays of ones for a call."""
    types = [argument.type for argument in kernel.func.args[len(kernel.program.sizes) :]]
    return [
        np.ones([2 if n is None else n for n in t.shape], _DTYPES.get(str(t.element), np.float64))
        if isinstance(t, MemRefType)
        else 1
        for t in types
    ]


def _verb(
    situation: Callable[[Shape, int], af.Kernel],
    take: Callable[[af.Schedule], object],
    *before: Callable[[af.Schedule], object],
) -> Task:
    """A step of a schedule, and its effect."""

    def start(kernel: af.Kernel) -> af.Schedule:
        schedule = af.Schedule(kernel)
        for step in before:
            step(schedule)
        return schedule

    return Task(situation, take, start)


k = kernels
VERBS: Mapping[str, Task] = {
    "tile": _verb(k.nest, lambda s: s.tile(("i", "j"), (4, 8))),
    "tile separate": _verb(k.nest, lambda s: s.tile(("i", "j"), (4, 8), separate=True)),
    "strip_mine": _verb(k.nest, lambda s: s.strip_mine("j", 8)),
    "permute": _verb(k.nest, lambda s: s.permute(("j", "i"))),
    "interchange": _verb(k.nest, lambda s: s.interchange("i", "j")),
    "tile carried": _verb(k.carried, lambda s: s.tile(("j",), 4)),
    "skew": _verb(k.swept, lambda s: s.skew("i", "j", 1)),
    "shift": _verb(k.nest, lambda s: s.shift("j", 1)),
    "reverse": _verb(k.nest, lambda s: s.reverse("j")),
    "distribute": _verb(k.pieces, lambda s: s.distribute("j")),
    "fuse": _verb(k.stages, lambda s: s.fuse("i", "p", shift=1)),
    "fuse guarded": _verb(k.stages, lambda s: s.fuse("i", "p", shift=1, guarded=True)),
    "split": _verb(k.nest, lambda s: s.split("j", N // 2)),
    "peel": _verb(k.nest, lambda s: s.peel("j", first=1, last=1)),
    "unroll": _verb(k.nest, lambda s: s.unroll("j", 4)),
    "unroll swept": _verb(k.swept, lambda s: s.unroll("j", 4)),
    "unroll fully": _verb(k.row, lambda s: s.unroll("j")),
    "unroll_jam": _verb(k.nest, lambda s: s.unroll_jam("i", 2)),
    "unroll_jam invariant": _verb(k.reused, lambda s: s.unroll_jam("i", 2)),
    "vectorize": _verb(k.nest, lambda s: s.vectorize("j", 4)),
    "vectorize masked": _verb(k.nest, lambda s: s.vectorize("j", 4, tail="masked")),
    "vectorize folded": _verb(k.nest, lambda s: s.vectorize("j", 4, tail="folded")),
    "vectorize overlapped": _verb(k.nest, lambda s: s.vectorize("j", 4, tail="overlapped")),
    "vectorize halved": _verb(k.nest, lambda s: s.vectorize("j", 4, tail="halved")),
    "vectorize outer": _verb(k.nest, lambda s: s.vectorize("i", 4)),
    "vectorize both": _verb(k.blocks, lambda s: s.vectorize(("i", "j"), (2, 4))),
    "vectorize sum": _verb(k.summed, lambda s: s.vectorize("j", 4, reassociate=True)),
    "contract": _verb(k.nest, lambda s: s.contract("i")),
    "contract reassociate": _verb(k.nest, lambda s: s.contract("i", reassociate=True)),
    "approximate": _verb(k.nest, lambda s: s.approximate("i")),
    "reciprocal": _verb(k.reused, lambda s: s.reciprocal("i")),
    "register_tile": _verb(k.product, lambda s: s.register_tile("i", "j", "k", rows=4, vectors=2, lanes=4)),
    "coalesce": _verb(k.nest, lambda s: s.coalesce(("i", "j"))),
    "parallel": _verb(k.nest, lambda s: s.parallel("i")),
    "hoist": _verb(k.invariant, lambda s: s.hoist("j")),
    "sink": _verb(k.beside, lambda s: s.sink("j")),
    "make_perfect": _verb(k.imperfect, lambda s: s.make_perfect("i", "j")),
    "scalar_replace": _verb(k.swept, lambda s: s.scalar_replace("j")),
    "splice": _verb(k.stencil, lambda s: s.splice("j"), lambda s: s.vectorize("j", 8)),
    "splice ahead": _verb(k.stencil, lambda s: s.splice("j", ahead=True), lambda s: s.vectorize("j", 8)),
    "slp": _verb(k.summed, lambda s: s.slp("j", 4), lambda s: s.unroll_jam("i", 4).scalar_replace("j").unroll("j", 4)),
    "demote": _verb(k.carried, lambda s: s.demote("j")),
    "normalize": _verb(k.swept, lambda s: s.normalize("j")),
    "copy": _verb(k.nest, lambda s: s.copy("a", "j")),
    "pipeline": _verb(k.blocks, lambda s: s.pipeline("i"), lambda s: s.copy("x", "j", space=1, dma=True)),
    "prefetch": _verb(k.two_passes, lambda s: s.prefetch("y", "j", "k")),
    "load_ahead": _verb(k.nest, lambda s: s.load_ahead("x", "j"), lambda s: s.vectorize("j", 8, tail="overlapped")),
    "align": _verb(k.nest, lambda s: s.align("y", "j", 8)),
    "stream": _verb(k.nest, lambda s: s.stream("y", "j", 1 << 20), lambda s: s.vectorize("j", 8)),
    "compute_at": _verb(k.stages, lambda s: s.compute_at("t", "p")),
    "inline": _verb(k.stages, lambda s: s.inline("t")),
    "precompute": _verb(k.reused, lambda s: s.precompute("x", "i")),
    "privatize": _verb(k.buffered, lambda s: s.privatize("t", "i")),
    "expand": _verb(k.buffered, lambda s: s.expand("t", "i")),
    "merge": _verb(k.variable, lambda s: s.merge("total")),
    "fold": _verb(k.stages, lambda s: s.fold("t", 0, 2), lambda s: s.fuse("i", "p", shift=1)),
    "pad": _verb(k.stages, lambda s: s.pad("t", 1, 8, 4)),
    "skew_array": _verb(k.stages, lambda s: s.skew_array("t", 1, 0, 2)),
    "displace": _verb(k.buffered, lambda s: s.displace("t", "y")),
    "unswitch": _verb(k.moded, lambda s: s.unswitch("i")),
    "specialize": _verb(k.nest, lambda s: s.specialize("i", M >= 8)),
}  # fmt: skip
"""Each verb by name, and in other ways where these are code of its own."""

_PASS_OPTIONS = {
    "affine-loop-tile": "tile-size=4",
    "affine-super-vectorize": "virtual-vector-size=4",
    "affine-parallelize": "parallel-reductions=true",
    "test-loop-permutation": "permutation-map=1,0",
    "affine-data-copy-generate": "fast-mem-space=0 skip-non-unit-stride-loops",
}
"""Where a pass does nothing by default."""
_PASS_SITUATIONS = {
    "inline": k.called,
    "symbol-dce": k.called,
    "test-affine-loop-unswitch": k.moded,
    "affine-loop-unroll-jam": k.nest,
    "affine-loop-coalescing": k.nest,
    "affine-loop-invariant-code-motion": k.invariant,
    "test-loop-permutation": k.nest,
    "affine-data-copy-generate": k.blocks,
}
"""Kernels to which a pass does something; two stages for the others."""


def _pass(row: Pass) -> Task:
    """A pass with the verifier behind it, and what it says."""

    def run(kernel: af.Kernel) -> object:
        passes = pipeline_for_module(f"{row.name}{{{_PASS_OPTIONS.get(row.name, '')}}}")
        said: list[object] = []
        passes.run(kernel.module, observe=lambda event: said.extend(event.remarks))
        return said

    return Task(_PASS_SITUATIONS.get(row.name, k.stages), run)


PASSES_: Mapping[str, Task] = {row.name: _pass(row) for row in PASSES if row.name not in OF_SCRIPTS}
"""Each pass by name."""
ALL = {"contract": True, "reassociate": True, "reciprocal": True, "approximate": True}


def _vectors(kernel: af.Kernel) -> af.Kernel:
    return af.Schedule(kernel).vectorize("j", 8).kernel()


def _optimized(kernel: af.Kernel) -> af.Kernel:
    return kernel.optimize("avx2", threads=1)


def _reported(kernel: af.Kernel) -> Path:
    """The page about a kernel for sizes alone: nothing of it runs."""
    with TemporaryDirectory() as folder:
        return kernel.report(Path(folder) / "page.html", seconds=0.0, M=64, N=64)


def _tiled(kernel: af.Kernel) -> af.Schedule:
    return af.Schedule(kernel).tile(("i", "j"), (4, 8))


def _generic(kernel: af.Kernel) -> str:
    return print_op(kernel.module, generic=True, locations=True)


C: Mapping[str, Task] = {
    f"c {bits}{of}": Task(situation, lambda kernel, bits=bits: kernel.c(width=bits), before)
    for bits in REGISTER_BITS
    for of, situation, before in (("", k.stages, lambda kernel: kernel), (" of vectors", k.nest, _vectors))
}
"""C for each width of registers."""
OUTPUTS: Mapping[str, Task] = {
    **C,
    "mlir": Task(k.stages, lambda kernel: kernel.mlir()),
    "mlir of vectors": Task(k.nest, lambda kernel: kernel.mlir(), _vectors),
    "generic mlir": Task(k.stages, _generic),
    "read": Task(k.stages, af.parse, lambda kernel: kernel.mlir()),
    "read generic": Task(k.stages, af.parse, _generic),
    "interpret": Task(k.stages, lambda kernel: kernel.interpret(*_arguments(kernel))),
    "interpret vectors": Task(k.nest, lambda kernel: kernel.interpret(*_arguments(kernel)), _vectors),
    "check": Task(k.stages, lambda kernel: str(kernel.check())),
    "dependences": Task(k.stages, lambda kernel: str(kernel.dependences())),
    "loops": Task(k.stages, lambda kernel: str(kernel.loops())),
    "graph": Task(k.stages, lambda kernel: kernel.graph().to_svg()),
    "graph of a loop": Task(k.pieces, lambda kernel: kernel.graph("j").to_svg()),
    "picture": Task(k.nest, lambda kernel: kernel.picture("i", "j", {"M": 3, "N": 3}).to_svg()),
    "halo": Task(k.stencil, lambda kernel: kernel.halo("x")),
    "specialize sizes": Task(k.stages, lambda kernel: kernel.specialize(M=8, N=8).c()),
    "optimize": Task(k.nest, _optimized),
    "optimize threads": Task(k.nest, lambda kernel: kernel.optimize("avx2", threads=2)),
    "optimize stages": Task(k.stages, lambda kernel: kernel.optimize("avx512", threads=1)),
    "optimize sums": Task(k.summed, _optimized),
    "optimize product": Task(k.product, _optimized),
    "optimize carried": Task(k.carried, _optimized),
    "optimize swept": Task(k.swept, _optimized),
    "optimize stencil": Task(k.stencil, _optimized),
    "optimize everything": Task(k.nest, lambda kernel: kernel.optimize("avx2", threads=1, **ALL)),
    "optimize everything stages": Task(k.stages, lambda kernel: kernel.optimize("avx512", threads=2, **ALL)),
    "optimize everything sums": Task(k.summed, lambda kernel: kernel.optimize("avx2", threads=2, **ALL)),
    "fuse stages": Task(k.stages, lambda kernel: kernel.fuse()),
    "fuse pieces": Task(k.two_passes, lambda kernel: kernel.fuse()),
    "validate pass": Task(k.stages, lambda kernel: kernel.apply("canonicalize", validate=True)),
    "validate schedule": Task(k.nest, lambda kernel: _tiled(kernel).kernel(validate=True)),
    "validate optimize": Task(k.nest, lambda kernel: kernel.optimize("avx2", threads=1, validate=True)),
    "validate contract": Task(k.nest, lambda kernel: kernel.optimize("avx2", threads=1, contract=True, validate=True)),
    "explain": Task(k.stages, lambda kernel: kernel.explain({"M": 64, "N": 64}), _optimized),
    "report": Task(k.nest, _reported),
    "report stages": Task(k.stages, _reported, _optimized),
    "explain fuse": Task(k.stages, lambda kernel: kernel.explain(), lambda kernel: kernel.fuse()),
    "schedule shown": Task(k.nest, lambda s: (s.explain(), str(s), str(s.loops()), s._repr_html_()), _tiled),
    "schedule picture": Task(k.nest, lambda s: s.picture("i", "j", {"M": 3, "N": 3}).to_svg(), af.Schedule),
}
"""What a kernel is shown as, run by, or made into."""
TASKS: Mapping[str, Task] = {
    "trace": Task(lambda shape, n: lambda: k.stages(shape, n), lambda build: build()),
    **{f"verb {name}": task for name, task in VERBS.items()},
    **{f"pass {name}": task for name, task in PASSES_.items()},
    **OUTPUTS,
}
