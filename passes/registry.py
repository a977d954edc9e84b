"""The passes: one row for each, with its name, where it runs, its options and its function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from affdsl.ir.dialects.func import Module
from passes.affine_fold_memref_alias_ops import affine_fold_memref_alias_ops
from passes.affine_loop_normalize import affine_loop_normalize
from passes.affine_raise_from_memref import affine_raise_from_memref
from passes.affine_simplify_min_max import affine_simplify_min_max
from passes.affine_simplify_structures import affine_simplify_structures
from passes.canonicalize import canonicalize
from passes.cse import cse
from passes.expand_index_ops import expand_index_ops, expand_index_ops_as_affine
from passes.inline import inline
from passes.lower_affine import lower_affine
from passes.memref_bound_check import memref_bound_check
from passes.memref_dependence_check import memref_dependence_check
from passes.normalize_memrefs import normalize_memrefs
from passes.options import Option
from passes.remarks import Analysis, unchanged
from passes.strip_debuginfo import strip_debuginfo
from passes.symbol_dce import symbol_dce

Anchor: TypeAlias = Literal["any", "module", "func", "function interface", "symbol table"]
"""Where a pass can stand in a pipeline: anywhere; in builtin.module(...); in func.func(...), where a plain flag puts it
too; the same for "function interface", of which mlir-opt says it in other words; "symbol table" is anywhere, but it
fails on an operation without one, such as a function."""


@dataclass(frozen=True)
class Pass:
    """One pass. `run` takes a module and the options by their names, as keywords with _ for -.

    On a function it is given a module of that function alone: it must not look further, nor add a second one.
    `title` is what dumps of the IR call it. What `says` is set changes nothing: that gives its remarks.
    """

    name: str
    title: str
    anchor: Anchor
    summary: str
    run: Callable[..., Module]
    options: tuple[Option, ...] = ()
    says: Analysis | None = None


PASSES: tuple[Pass, ...] = (
    Pass("affine-expand-index-ops", "AffineExpandIndexOps", "any",
         "Turn affine.delinearize_index and linearize_index into arithmetic", expand_index_ops),
    Pass("affine-expand-index-ops-as-affine", "AffineExpandIndexOpsAsAffine", "any",
         "Turn affine.delinearize_index and linearize_index into affine.apply", expand_index_ops_as_affine),
    Pass("affine-fold-memref-alias-ops", "AffineFoldMemRefAliasOps", "any",
         "Let loads and stores reach through views to the buffer below", affine_fold_memref_alias_ops),
    Pass("affine-loop-normalize", "AffineLoopNormalize", "func",
         "Make affine loops count from 0 in steps of 1", affine_loop_normalize,
         (Option("promote-single-iter", "bool", False, "Put the body of a loop that runs once in its place"),)),
    Pass("affine-raise-from-memref", "RaiseMemrefDialect", "func",
         "Turn memref.load and memref.store with affine indices into affine ones", affine_raise_from_memref),
    Pass("affine-simplify-min-max", "SimplifyAffineMinMaxPass", "function interface",
         "Leave out of affine.min and affine.max what never decides", affine_simplify_min_max),
    Pass("affine-simplify-structures", "SimplifyAffineStructures", "func",
         "Simplify affine maps and sets, and the loops and conditions that they decide", affine_simplify_structures),
    Pass("canonicalize", "Canonicalizer", "any",
         "Fold constants, drop what nobody uses, and write everything else in one way", canonicalize,
         (Option("disable-patterns", "list", (), "Rules that are not applied", fixed=True),
          Option("enable-patterns", "list", (), "The only rules that are applied", fixed=True),
          Option("max-iterations", "int", 10, "How often all operations are looked at", fixed=True),
          Option("max-num-rewrites", "int", -1, "The largest number of rewrites", fixed=True),
          Option("region-simplify", "choice", "normal", "What is done to blocks that branch", fixed=True,
                 choices=("disabled", "normal", "aggressive")),
          Option("test-convergence", "bool", False, "Fail if no rest was found", fixed=True),
          Option("top-down", "bool", True, "Look at operations from top to bottom first", fixed=True))),
    Pass("cse", "CSE", "any", "Let one operation do for all equal ones", cse),
    Pass("inline", "Inliner", "symbol table", "Put the bodies of functions in the place of calls", inline,
         (Option("default-pipeline", "choice", "canonicalize", "What is done to each function",
                 choices=("canonicalize", "")),
          Option("op-pipelines", "list", (), "What is done to operations of some kind", fixed=True),
          Option("inlining-threshold", "uint", 4294967295, "The largest function that is copied", fixed=True),
          Option("max-iterations", "uint", 4, "How often functions that call each other are looked at", fixed=True))),
    Pass("lower-affine", "LowerAffinePass", "any", "Turn the affine dialect into scf, memref and arith", lower_affine),
    Pass("normalize-memrefs", "NormalizeMemRefsPass", "module",
         "Give buffers with an affine layout the shape that the layout makes of them", normalize_memrefs),
    Pass("strip-debuginfo", "StripDebugInfo", "any", "Forget where everything was written", strip_debuginfo),
    Pass("symbol-dce", "SymbolDCE", "symbol table", "Remove private symbols that nothing refers to", symbol_dce),
    Pass("test-memref-bound-check", "(anonymous namespace)::TestMemRefBoundCheck", "any",
         "Name the affine loads and stores that leave their memref", unchanged, says=memref_bound_check),
    Pass("test-memref-dependence-check", "(anonymous namespace)::TestMemRefDependenceCheck", "any",
         "List the dependences between affine loads and stores, with their distances", unchanged,
         says=memref_dependence_check),
)  # fmt: skip

BY_NAME = {p.name: p for p in PASSES}
