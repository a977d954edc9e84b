"""mlir-opt's choice of what to pipeline: the DMAs of all loops whose number of iterations is known."""

from __future__ import annotations

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.traverse import rewrite, walk
from affdsl.passes.analysis.dependence import unwarned
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.loops.unrolling import constant_trips
from affdsl.passes.transforms.pipeline_data_transfer import pipeline_data_transfer


def affine_pipeline_data_transfer(module: Module, *, context: Module | None = None) -> Module:
    """The same program where DMAs bring data for the next iteration of a loop while this one computes.

    Loops whose number of iterations is known get it, inner ones first, for all DMAs for which it is proved; see
    `pipeline_data_transfer`. It never refuses: what is not proved stays.

    Parameters
    ----------
    context
        What the module is a part of: it shows which arguments may be one buffer, and what calls do. By default nothing
        stands around it.
    """
    around = module if context is None else context

    def pipelined(op: Op) -> Op | None:
        if not isinstance(op, Func):
            return None
        function = op
        for loop in _inner_first(op):
            trips = constant_trips(loop)
            if trips is not None and any(isinstance(inner, affine.DmaStart) for inner in loop.body):
                with unwarned():  # what the analysis gives up on stays as it is: nobody need hear of it
                    try:
                        function = pipeline_data_transfer(function, loop.iv, module=around)
                    except IllegalTransform:
                        continue
        return None if function is op else function

    return rewrite(module, pipelined)


def _inner_first(function: Func) -> list[affine.For]:
    return [op for op in walk(function) if isinstance(op, affine.For)][::-1]
