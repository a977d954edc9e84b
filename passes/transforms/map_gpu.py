"""Shares the iterations of loops among the blocks and threads of a GPU."""

from __future__ import annotations

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.messages import shown
from affdsl.ir.traverse import rewrite, with_fields
from affdsl.ir.types import INDEX
from affdsl.passes.affine.arithmetic import MOST
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.parallelism import of_loops
from affdsl.passes.legality.order import Violation
from affdsl.passes.legality.proposals import Proposal, Step
from affdsl.passes.legality.refusal import IllegalTransform, refusal
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.loops.nests import loop_of_any_kind
from affdsl.passes.transforms.loops.pieces import with_loop

BLOCKS, THREADS = 256, 128
"""How many blocks, and threads of each, share a nest if nothing is said."""


def map_gpu(
    function: Func,
    outer: Value,
    inner: Value | None = None,
    *,
    blocks: int = BLOCKS,
    threads: int = THREADS,
    module: Module | None = None,
) -> Func:
    """Share the iterations of a loop among blocks, and those of the loop right inside among the threads of a block.

        for i = 0 to m: for j = 0 to n: S(i, j)
        ->
        parallel block = 0 to 256: parallel thread = 0 to 128:
            for i = block to m step 256: for j = thread to n step 128: S(i, j)

    With one loop, all threads of all blocks share it. The two bands around are perfectly nested and have known sizes,
    as passes of MLIR want them that make a `gpu.launch` of them; any number of iterations will do, also none. With one
    block, and one thread, iterations stay in their order, so that any loop runs on the device.

    Parameters
    ----------
    outer, inner
        The induction variables of the loops. With several threads both are parallel, with several blocks the outer one.
        Bands that are parallel already become loops.
    blocks, threads
        How many share each.

    Raises
    ------
    IllegalTransform
        If iterations depend on each other, the loops are not perfectly nested, or the outer one carries values.

    References
    ----------
    Harris, "CUDA Pro Tip: Write Flexible Kernels with Grid-Stride Loops", 2013.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<?xf32>, %x: f32, %n: index) {
    ...     affine.for %i = 0 to %n { affine.store %x, %A[%i] : memref<?xf32> }
    ...     return
    ... }''').functions[0]
    >>> print(map_gpu(f, f.body[0].iv, blocks=4, threads=32).body[0])
    affine.parallel (%block) = (0) to (4) {
      affine.parallel (%thread) = (0) to (32) {
        affine.for %i = affine_map<(d0, d1) -> (d0 * 32 + d1)>(%block, %thread) to %n step 128 {
          affine.store %x, %A[%i] : memref<?xf32>
        }
      }
    }
    """
    what = f"map {name(outer)}{f' and {name(inner)}' if inner is not None else ''} to a GPU"
    loop = loop_of_any_kind(function, outer, what)
    if blocks < 1 or threads < 1:
        raise refusal(loop, what, "there is at least one block, and one thread in it")
    # Threads of a block do not wait for each other: iterations of the outer loop are independent for them, too.
    for iv, sharing in ((outer, blocks * threads), (inner, threads)):
        if iv is not None and sharing > 1:
            _require_parallel(function, iv, what, module)
    made = _in_order(loop)
    if not isinstance(made, affine.For) or made.iv is not outer:
        raise refusal(loop, what, "its bounds come from data, or it is not the first one of its band")
    if made.results:
        proposal = Proposal((Step("demote", (outer,)),))
        raise refusal(loop, what, f"{shown(outer)} carries values from one iteration to the next", proposal)
    block, thread = Value(INDEX, "block", loop.location), Value(INDEX, "thread", loop.location)
    if inner is None:
        shared = _every(made, block * threads + Affine.of(thread), blocks * threads, what)
    else:
        inside = made.body[0] if len(made.body) == 1 else None
        if not isinstance(inside, affine.For) or inside.iv is not inner or inside.results:
            proposal = Proposal((Step("make_perfect", (outer, inner)),))
            raise refusal(loop, what, f"{shown(inner)} is not perfectly nested in {shown(outer)}", proposal)
        nested = _every(inside, Affine.of(thread), threads, what)
        shared = _every(with_fields(made, body=(nested,)), Affine.of(block), blocks, what)
    return with_loop(function, loop, [_band(block, blocks, (_band(thread, threads, (shared,)),))])


def _require_parallel(function: Func, iv: Value, what: str, module: Module | None) -> None:
    verdict = next((each for each in of_loops(Dependences(function, module)) if each.iv is iv), None)
    if verdict is None:
        raise refusal(function, what, f"@{function.symbol} has no loop {shown(iv)}")
    if verdict.is_parallel:
        return
    why = f"the iterations of {shown(iv)} are not independent ({verdict.verdict})"
    if not verdict.prevented_by:
        raise refusal(verdict.loop, what, f"{why}: {'; '.join(verdict.why) or 'it is not known'}")
    first = min(verdict.prevented_by, key=lambda dependence: not dependence.is_exact)
    raise IllegalTransform(verdict.loop, what, why, violation=Violation(first, first.witness))


def _in_order(loop: Op) -> Op:
    """A loop without bands in it: what may run in any order runs in that of the text."""

    def rule(op: Op) -> Op | None:
        return _as_loops(op) if isinstance(op, affine.Parallel) and not op.results else None

    made = rewrite(loop, rule)
    return rule(made) or made


def _as_loops(band: affine.Parallel) -> affine.For:
    body: Block = band.body
    bounds = reversed([*zip(band.ivs, band.lower, band.upper, band.steps, strict=True)])
    for iv, lower, upper, step in bounds:
        loop = affine.For(iv, lower, upper, body, step, location=band.location)
        body = (loop,)
    return loop


def _every(loop: affine.For, first: Affine, sharing: int, what: str) -> affine.For:
    """Every so many-th iteration of a loop, from the first one on."""
    if loop.step * sharing > MOST:
        raise refusal(loop, what, "its steps must fit into 64 bits")
    lower = tuple(bound + first * loop.step for bound in loop.lower)
    return with_fields(loop, lower=lower, step=loop.step * sharing, written=None)


def _band(iv: Value, size: int, body: Block) -> affine.Parallel:
    return affine.Parallel((iv,), ((Affine(),),), ((Affine.of(size),),), (1,), body, location=iv.location)
