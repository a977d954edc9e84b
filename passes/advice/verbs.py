"""All transformations by their verbs, so that steps that are data can be done."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from affdsl.ir.dialects.func import Func
from affdsl.passes.legality.depth import require_shallow
from affdsl.passes.legality.magnitude import require_small
from affdsl.passes.legality.proposals import Request
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.align import align
from affdsl.passes.transforms.approximate import approximate
from affdsl.passes.transforms.coalesce import coalesce
from affdsl.passes.transforms.contract import contract
from affdsl.passes.transforms.data_copy import data_copy
from affdsl.passes.transforms.demote import demote
from affdsl.passes.transforms.displace import displace
from affdsl.passes.transforms.distribute import distribute
from affdsl.passes.transforms.expand import expand
from affdsl.passes.transforms.extremes import extremes
from affdsl.passes.transforms.fold import fold
from affdsl.passes.transforms.fuse.compute_at import compute_at
from affdsl.passes.transforms.fuse.inline import inline
from affdsl.passes.transforms.fuse.loops import fuse
from affdsl.passes.transforms.hoist import hoist
from affdsl.passes.transforms.if_convert import if_convert
from affdsl.passes.transforms.index_set_split import index_set_split
from affdsl.passes.transforms.interchange import interchange, permute
from affdsl.passes.transforms.load_ahead import load_ahead
from affdsl.passes.transforms.locate import locate
from affdsl.passes.transforms.map_gpu import map_gpu
from affdsl.passes.transforms.merge import merge
from affdsl.passes.transforms.normalize import normalize
from affdsl.passes.transforms.pad import pad
from affdsl.passes.transforms.parallelize import parallelize
from affdsl.passes.transforms.peel import peel
from affdsl.passes.transforms.pipeline_data_transfer import pipeline_data_transfer
from affdsl.passes.transforms.precompute import precompute
from affdsl.passes.transforms.prefetch import prefetch
from affdsl.passes.transforms.privatize import privatize
from affdsl.passes.transforms.reciprocal import reciprocal
from affdsl.passes.transforms.reroll import reroll
from affdsl.passes.transforms.reverse import reverse
from affdsl.passes.transforms.scalar_replace.carried import scalar_replace
from affdsl.passes.transforms.shift import shift
from affdsl.passes.transforms.sink import make_perfect, sink
from affdsl.passes.transforms.skew import skew
from affdsl.passes.transforms.skew_array import skew_array
from affdsl.passes.transforms.slp import slp
from affdsl.passes.transforms.specialize import specialize
from affdsl.passes.transforms.splice import splice
from affdsl.passes.transforms.stream import stream
from affdsl.passes.transforms.strip_mine import strip_mine
from affdsl.passes.transforms.tile import tile
from affdsl.passes.transforms.unroll import unroll, unroll_full
from affdsl.passes.transforms.unroll_jam import unroll_jam
from affdsl.passes.transforms.unswitch import unswitch
from affdsl.passes.transforms.vectorize import vectorize

Verb = Callable[..., Func]
"""`verb(function, *targets, module=None, **options)`. Raises IllegalTransform."""

VERBS: Mapping[str, Verb] = {
    verb.__name__: verb
    for verb in (
        align, approximate, coalesce, compute_at, contract, data_copy, demote, displace, distribute, expand, extremes,
        fold, fuse, hoist, if_convert, index_set_split, inline, interchange, load_ahead, locate, make_perfect,
        map_gpu, merge, normalize, pad, parallelize, peel, permute, pipeline_data_transfer, precompute, prefetch,
        privatize, reciprocal, reroll, reverse, scalar_replace, shift, sink, skew, skew_array, slp, specialize, splice,
        stream, strip_mine, tile, unroll, unroll_full, unroll_jam, unswitch, vectorize,
    )
}  # fmt: skip


def done(request: Request, called: str = "") -> Func:
    """The function after a step: small enough are the numbers in it, for what is computed with them, and its depth.

    Parameters
    ----------
    called
        What the person who asks calls the step.

    Raises
    ------
    IllegalTransform
        As the transformation does, or for such a number or depth; with the request.

    >>> from affdsl.mlir.readers import parse
    >>> from affdsl.passes.legality.proposals import Step
    >>> f = parse('''func.func @f(%A: memref<9xf32>, %x: f32) {
    ...   affine.for %i = 0 to 8 { affine.store %x, %A[%i] : memref<9xf32> }
    ...   return
    ... }''').functions[0]
    >>> print(done(Request(Step("shift", (f.body[0].iv, 1)), f)).body[0])
    affine.for %i = 1 to 9 {
      affine.store %x, %A[%i - 1] : memref<9xf32>
    }
    """
    step, function = request.step, request.function
    try:
        made = VERBS[step.verb](function, *step.arguments, module=request.module, **dict(step.options))
        require_small(function, made, called or str(step))
        require_shallow(made, called or str(step))
    except IllegalTransform as error:
        error.request = request
        raise
    return made
