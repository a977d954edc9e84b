"""The passes: one row for each, with its name, where it runs, its options and its function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from affdsl.ir.dialects.func import Module
from passes.expand_index_ops import expand_index_ops, expand_index_ops_as_affine
from passes.lower_affine import lower_affine
from passes.options import Option
from passes.strip_debuginfo import strip_debuginfo

Anchor: TypeAlias = Literal["any", "module", "func", "function interface", "symbol table"]
"""Where a pass can stand in a pipeline: anywhere; in builtin.module(...); in func.func(...), where a plain flag puts it
too; the same for "function interface", of which mlir-opt says it in other words; "symbol table" is anywhere, but it
fails on an operation without one, such as a function."""


@dataclass(frozen=True)
class Pass:
    """One pass. `run` takes a module and the options by their names, as keywords with _ for -.

    On a function it is given a module of that function alone: it must not look further, nor add a second one.
    `title` is what dumps of the IR call it.
    """

    name: str
    title: str
    anchor: Anchor
    summary: str
    run: Callable[..., Module]
    options: tuple[Option, ...] = ()


PASSES: tuple[Pass, ...] = (
    Pass("affine-expand-index-ops", "AffineExpandIndexOps", "any",
         "Turn affine.delinearize_index and linearize_index into arithmetic", expand_index_ops),
    Pass("affine-expand-index-ops-as-affine", "AffineExpandIndexOpsAsAffine", "any",
         "Turn affine.delinearize_index and linearize_index into affine.apply", expand_index_ops_as_affine),
    Pass("lower-affine", "LowerAffinePass", "any", "Turn the affine dialect into scf, memref and arith", lower_affine),
    Pass("strip-debuginfo", "StripDebugInfo", "any", "Forget where everything was written", strip_debuginfo),
)  # fmt: skip

BY_NAME = {p.name: p for p in PASSES}
