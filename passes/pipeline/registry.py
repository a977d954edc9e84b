"""The passes: one row for each, with its name, where it runs, its options and its function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, Literal, TypeAlias

from affdsl.frozen import FrozenValue
from affdsl.ir.dialects.func import Module
from affdsl.passes.mlir_opt.options import Option, OptionValue
from affdsl.passes.mlir_opt.remarks import Analysis, unchanged

Anchor: TypeAlias = Literal["any", "module", "func", "function interface", "symbol table"]
"""Where a pass can stand in a pipeline: anywhere; in builtin.module(...); in func.func(...), where a plain flag puts it
too; the same for "function interface", of which mlir-opt says it in other words; "symbol table" is anywhere, but it
fails on an operation without one, such as a function."""


class Pass(FrozenValue):
    """One pass. `run` takes a module and the options by their names, as keywords with _ for -.

    On a function it is given a module of that function alone: it must not look further, nor add a second one.
    One that `sees_around` is given the whole module too, as `context`: its calls show which arguments are one buffer.
    `title` is what dumps of the IR call it. `says` gives its remarks on the module that it is given, `prints` gives
    lines for the standard output: most of these passes change nothing. `explains` takes what `run` takes, and says how
    it comes to what it does.
    """

    name: str
    title: str
    anchor: Anchor
    summary: str
    run: Callable[..., Module]
    options: tuple[Option, ...] = ()
    says: Analysis | None = None
    prints: Callable[[Module], Iterator[str]] | None = None
    sees_around: bool = False
    explains: Callable[..., Iterator[str]] | None = None


class _Imported(FrozenValue):
    """A function of a module that is imported where it is first asked for: few runs need many of them."""

    module: str
    name: str

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """The function itself; `inspect` looks for it here."""
        function: Callable[..., Any] = getattr(import_module(self.module), self.name)
        return function

    def __call__(self, *modules: Module, **options: OptionValue) -> Any:  # noqa: ANN401 - what the function gives
        return self.__wrapped__(*modules, **options)


def _in(module: str, name: str = "") -> _Imported:
    """The function of a module of `passes`, which has the name of the file if no other is given."""
    return _Imported(f"affdsl.passes.{module}", name or module.rpartition(".")[2])


_OPTIMIZE = _Imported("affdsl.optimize.functions", "affdsl_optimize")
"""Its recipes are steps of schedules, of a floor above: nothing here knows more of them than this name."""


PASSES: tuple[Pass, ...] = (
    Pass("affine-data-copy-generate", "AffineDataCopyGeneration", "func",
         "Copy what affine loops touch to buffers in another memory space",
         _in("mlir_opt.affine_data_copy_generate"),
         (Option("fast-mem-capacity", "ulong", 2**64 - 1, "How many KiB the copies of a loop may take"),
          Option("fast-mem-space", "uint", 1, "The memory space of the copies"),
          Option("generate-dma", "bool", False, "Copy by DMA instead of loops"),
          Option("min-dma-transfer", "int", 1024, "The smallest DMA in bytes, which mlir-opt does not look at either",
                 fixed=True),
          Option("skip-non-unit-stride-loops", "bool", False, "Copy inside of loops with steps, and of no others"),
          Option("slow-mem-space", "uint", 0, "The memory space of what is copied"),
          Option("tag-mem-space", "uint", 0, "The memory space of the tags of DMAs")), sees_around=True),
    Pass("affine-expand-index-ops", "AffineExpandIndexOps", "any",
         "Turn affine.delinearize_index and linearize_index into arithmetic", _in("lowering.expand_index_ops")),
    Pass("affine-expand-index-ops-as-affine", "AffineExpandIndexOpsAsAffine", "any",
         "Turn affine.delinearize_index and linearize_index into affine.apply",
         _in("cleanup.affine_expand_index_ops_as_affine")),
    Pass("affine-fold-memref-alias-ops", "AffineFoldMemRefAliasOps", "any",
         "Let loads and stores reach through views to the buffer below", _in("cleanup.affine_fold_memref_alias_ops")),
    Pass("affine-loop-coalescing", "LoopCoalescing", "func",
         "Make one loop of nested loops whose bounds do not depend on each other",
         _in("mlir_opt.affine_loop_coalescing")),
    Pass("affine-loop-fusion", "LoopFusion", "any",
         "Fuse loop nests that make what others read into these", _in("mlir_opt.affine_loop_fusion"),
         (Option("compute-tolerance", "number", 0.3, "How much more may be computed: 0.3 is 30 %"),
          Option("fast-mem-space", "uint", 0, "The memory space of small buffers that only a fused nest uses"),
          Option("local-buf-threshold", "ulong", 0, "How many KiB such a buffer has at most"),
          Option("maximal", "bool", False, "Fuse as deep as it is legal, whatever it costs"),
          Option("mode", "choice", "greedy", "Fuse producers into consumers, siblings, or both",
                 choices=("greedy", "producer", "sibling"))), sees_around=True,
         explains=_in("mlir_opt.affine_loop_fusion", "explained")),
    Pass("affine-loop-invariant-code-motion", "AffineLoopInvariantCodeMotion", "func",
         "Do once before an affine loop what is the same in all of its iterations",
         _in("mlir_opt.affine_loop_invariant_code_motion"), sees_around=True),
    Pass("affine-loop-normalize", "AffineLoopNormalize", "func",
         "Make affine loops count from 0 in steps of 1", _in("mlir_opt.affine_loop_normalize"),
         (Option("promote-single-iter", "bool", False, "Put the body of a loop that runs once in its place"),)),
    Pass("affine-parallelize", "AffineParallelize", "func",
         "Let the iterations of loops that do not depend on each other run in any order",
         _in("mlir_opt.affine_parallelize"),
         (Option("max-nested", "uint", 2**32 - 1, "The largest number of parallel loops around each other"),
          Option("parallel-reductions", "bool", False, "Also loops that carry sums, products, minima and the like")),
         sees_around=True),
    Pass("affine-loop-tile", "AffineLoopTiling", "func",
         "Tile the outermost perfect bands of affine loops", _in("mlir_opt.affine_loop_tile"),
         (Option("cache-size", "uint", 512, "Choose sizes by how often the data of a band fill so many KiB"),
          Option("separate", "bool", False, "Run full tiles by loops without min"),
          Option("tile-size", "uint", 0, "The size of all loops; 0 for none"),
          Option("tile-sizes", "list", (), "The sizes of the loops of each band, outermost first")), sees_around=True),
    Pass("affine-loop-unroll", "AffineLoopUnroll", "function interface",
         "Run several iterations of the innermost affine loops in each turn",
         _in("mlir_opt.affine_loop_unroll"),
         (Option("cleanup-unroll", "bool", False, "Unroll a loop entirely where iterations would be left over"),
          Option("unroll-factor", "int", 4, "How many iterations one turn has; -1 is all of them"),
          Option("unroll-full-threshold", "uint", 1,
                 "With the factor -1, any number but 1: all loops that run that often at most, inner or not"),
          Option("unroll-num-reps", "uint", 1, "How often the innermost loops are unrolled"),
          Option("unroll-up-to-factor", "bool", False, "Unroll loops entirely that run less often than the factor"))),
    Pass("affine-loop-unroll-jam", "AffineLoopUnrollAndJam", "function interface",
         "Run iterations of the first loop of a function together",
         _in("mlir_opt.affine_loop_unroll_jam"),
         (Option("unroll-jam-factor", "uint", 4, "How many iterations run together"),), sees_around=True),
    Pass("affine-pipeline-data-transfer", "AffinePipelineDataTransfer", "func",
         "Start DMAs into a loop one iteration early",
         _in("mlir_opt.affine_pipeline_data_transfer"), sees_around=True),
    Pass("affine-raise-from-memref", "RaiseMemrefDialect", "func",
         "Turn memref.load and memref.store with affine indices into affine ones",
         _in("cleanup.affine_raise_from_memref")),
    Pass("affine-super-vectorize", "AffineVectorize", "func",
         "Run several iterations of loops at once, as lanes of vectors", _in("mlir_opt.affine_super_vectorize"),
         (Option("test-fastest-varying", "list", (), "Which dimension of arrays the loops run along, from the last"),
          Option("vectorize-reductions", "bool", False, "Also loops that carry values"),
          Option("virtual-vector-size", "list", (), "How many lanes vectors have in each dimension, if any")),
         sees_around=True),
    Pass("affine-super-vectorizer-test", "(anonymous namespace)::VectorizerTestPass", "func",
         "Show what the vectorizer is made of: slices, composed maps, shapes that fit into others",
         _in("mlir_opt.affine_super_vectorizer_test", "vectorized_nest"),
         (Option("backward-slicing", "bool", False, "What each slicing-test-op is computed from"),
          Option("compose-maps", "bool", False, "The maps of all test_affine_map, one after the other"),
          Option("forward-slicing", "bool", False, "What is computed from each slicing-test-op"),
          Option("slicing", "bool", False, "All that slices join to each slicing-test-op"),
          Option("vector-shape-ratio", "list", (), "A shape, of how often it fits into the vectors that there are"),
          Option("vectorize-affine-loop-nest", "bool", False, "Vectorize the outermost loop with all that it holds")),
         says=_in("mlir_opt.affine_super_vectorizer_test")),
    Pass("affine-scalrep", "AffineScalarReplacement", "func",
         "Take values from stores and loads before, and leave out stores that nobody reads",
         _in("cleanup.affine_scalrep"),
         sees_around=True),
    Pass("affine-simplify-min-max", "SimplifyAffineMinMaxPass", "function interface",
         "Leave out of affine.min and affine.max what never decides", _in("cleanup.affine_simplify_min_max")),
    Pass("affine-simplify-structures", "SimplifyAffineStructures", "func",
         "Simplify affine maps and sets, and the loops and conditions that they decide",
         _in("cleanup.affine_simplify_structures")),
    Pass("canonicalize", "Canonicalizer", "any",
         "Fold constants, drop what nobody uses, and write everything else in one way", _in("cleanup.canonicalize"),
         (Option("disable-patterns", "list", (), "Rules that are not applied"),
          Option("enable-patterns", "list", (), "The only rules that are applied"),
          Option("max-iterations", "int", 10, "How often all operations are looked at, without a limit below 0"),
          Option("max-num-rewrites", "int", -1, "How many are changed each time, without a limit below 0"),
          Option("region-simplify", "choice", "normal", "What is done to blocks; those that branch stay as they are",
                 choices=("disabled", "normal", "aggressive")),
          Option("test-convergence", "bool", False, "Fail if something still changes in the end"),
          Option("top-down", "bool", True, "Look at operations from top to bottom first"))),
    Pass("convert-linalg-to-affine-loops", "ConvertLinalgToAffineLoopsPass", "any",
         "Turn operations of linalg on buffers into affine loops",
         _in("lowering.linalg", "convert_linalg_to_affine_loops")),
    Pass("cse", "CSE", "any", "Let one operation do for all equal ones", _in("cleanup.cse")),
    Pass("inline", "Inliner", "symbol table", "Put the bodies of functions in the place of calls",
         _in("cleanup.inline"),
         (Option("default-pipeline", "choice", "canonicalize", "What is done to each function",
                 choices=("canonicalize", "")),
          Option("op-pipelines", "list", (), "What is done to operations of some kind", fixed=True),
          Option("inlining-threshold", "uint", 4294967295, "The largest function that is copied", fixed=True),
          Option("max-iterations", "uint", 4, "How often functions that call each other are looked at", fixed=True))),
    Pass("int-range-optimizations", "ArithIntRangeOpts", "any",
         "Fold what the ranges of integers decide", _in("cleanup.int_range_optimizations")),
    Pass("loop-invariant-code-motion", "LoopInvariantCodeMotion", "any",
         "Compute before loops of any kind what they do not change, if it cannot fail",
         _in("mlir_opt.loop_invariant_code_motion")),
    Pass("lower-affine", "LowerAffinePass", "any",
         "Turn the affine dialect into scf, memref and arith", _in("lowering.lower_affine")),
    Pass("normalize-memrefs", "NormalizeMemRefsPass", "module",
         "Give buffers with an affine layout the shape that the layout makes of them",
         _in("cleanup.normalize_memrefs")),
    Pass("strip-debuginfo", "StripDebugInfo", "any", "Forget where everything was written",
         _in("cleanup.strip_debuginfo")),
    Pass("symbol-dce", "SymbolDCE", "symbol table", "Remove private symbols that nothing refers to",
         _in("cleanup.symbol_dce")),
    Pass("test-affine-data-copy", "(anonymous namespace)::TestAffineDataCopy", "func",
         "Let the loop of a function work on copies of what it touches",
         _in("mlir_opt.affine_data_copy_generate", "affine_data_copy_in_loop"),
         (Option("capacity-kib", "ulong", 2**64 - 1, "How many KiB the copies of a loop may take"),
          Option("for-memref-region", "bool", False, "Copy around the loop, and only what is loaded from first"),
          Option("memref-filter", "bool", False, "Copy only what the innermost loop loads from first")),
         sees_around=True),
    Pass("test-affine-loop-unswitch", "(anonymous namespace)::TestAffineLoopUnswitching", "any",
         "Ask one condition before the loops that it does not depend on",
         _in("mlir_opt.affine_loop_unswitch")),
    Pass("test-loop-fusion", "(anonymous namespace)::TestLoopFusion", "func",
         "Say which loops could be fused, with the slices, or fuse all that is legal",
         _in("mlir_opt.loop_fusion"),
         (Option("test-loop-fusion-dependence-check", "bool", False,
                 "Name the loops that operations between them keep apart"),
          Option("test-loop-fusion-slice-computation", "bool", False,
                 "For each two loops, the iterations of one that an iteration of the other needs"),
          Option("test-loop-fusion-utilities", "bool", False, "Fuse loops as long as it is legal for two of them")),
         says=_in("mlir_opt.loop_fusion", "remarks_on_fusion"), sees_around=True),
    Pass("test-affine-reify-value-bounds", "(anonymous namespace)::TestReifyValueBounds", "func",
         "Compute the bounds that test.reify_bound asks for", _in("mlir_opt.reify_value_bounds"),
         (Option("reify-to-func-args", "bool", False, "In terms of arguments of functions"),
          Option("use-arith-ops", "bool", False, "By arith instead of affine.apply")),
         says=_in("mlir_opt.reify_value_bounds", "unknown_bounds")),
    Pass("test-decompose-affine-ops", "(anonymous namespace)::TestDecomposeAffineOps", "func",
         "Write affine.apply as steps, first of what fewer loops change", _in("mlir_opt.decompose_affine_ops")),
    Pass("test-loop-permutation", "(anonymous namespace)::TestLoopPermutation", "any",
         "Permute the loops of perfect nests where that is legal", _in("mlir_opt.loop_permutation"),
         (Option("check-validity", "bool", False, "mlir-opt's option to check at all: here that is always done"),
          Option("permutation-map", "list", (), "For each loop, outermost first, the position that it gets")),
         sees_around=True),
    Pass("test-memref-bound-check", "(anonymous namespace)::TestMemRefBoundCheck", "any",
         "Name the affine loads and stores that leave their memref", unchanged,
         says=_in("mlir_opt.memref_bound_check")),
    Pass("test-memref-dependence-check", "(anonymous namespace)::TestMemRefDependenceCheck", "any",
         "List the dependences between affine loads and stores, with their distances", unchanged,
         says=_in("mlir_opt.memref_dependence_check")),
    Pass("test-memref-stride-calculation", "(anonymous namespace)::TestMemRefStrideCalculation", "function interface",
         "Print the offset and the strides of each buffer that is allocated", unchanged,
         prints=_in("mlir_opt.memref_stride_calculation")),
    Pass("transform-interpreter", "InterpreterPass", "any",
         "Run a script that stands in the module: matches, passes, and simpler minima and maxima",
         _in("pipeline.transform_interpreter"),
         (Option("debug-bind-trailing-args", "list", (), "More arguments for the script", fixed=True),
          Option("debug-payload-root-tag", "text", "", "What the script is about", fixed=True),
          Option("disable-expensive-checks", "bool", False, "Check less", fixed=True),
          Option("entry-point", "text", "__transform_main", "The name of the script"))),
    Pass("raise-scf-to-affine", "RaiseSCFToAffine", "any",
         "Turn scf loops and memref accesses that are affine into affine ones", _in("cleanup.raise_scf_to_affine")),
    Pass("affdsl-optimize", "AffdslOptimize", "func",
         "Make loops fast without a hint, by the recipes of kernel.optimize(), which mlir-opt does not have",
         _OPTIMIZE,
         (Option("contract", "bool", False, "Round products and sums once, in one operation"),
          Option("reassociate", "bool", False, "Make sums in another order"),
          Option("reciprocal", "bool", False, "Multiply by factors instead of dividing by what loops do not change"),
          Option("approximate", "bool", False, "Compute exp, log, sin, cos and others by polynomials, to 3 ulp"),
          Option("no-nans", "bool", False, "Minima and maxima need not care for NaN"),
          Option("no-signed-zeros", "bool", False, "Minima and maxima may be either of 0 and -0"),
          Option("target", "text", "native", "The vector registers: of this machine, or as avx2"),
          Option("threads", "uint", 0, "How many threads there are; 0 is as many as may be used here")),
         sees_around=True),
    Pass("affdsl-relations", "AffdslRelations", "any",
         "Print access relations and dependences as tableaus, which mlir-opt does not have", unchanged,
         says=_in("mlir_opt.relations", "relations_of")),
)  # fmt: skip
OURS = ("affdsl-optimize", "affdsl-relations", "raise-scf-to-affine")
"""The passes that mlir-opt does not have."""
OF_SCRIPTS = ("transform-interpreter",)
"""The passes that fail where no script stands in the module."""

BY_NAME = {p.name: p for p in PASSES}
