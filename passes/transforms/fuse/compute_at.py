"""Computes an array where it is read: in a loop of its consumer, as much of it as one iteration needs."""

from __future__ import annotations

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.graph import MemRefDependenceGraph
from affdsl.passes.analysis.polyhedral import UnknownError
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name
from affdsl.passes.proof.claims import Answer
from affdsl.passes.transforms.fuse.producers import Fused, Pair
from affdsl.passes.transforms.loops.nests import loop_of


def compute_at(function: Func, buffer: Value, iv: Value, *, module: Module | None = None) -> Func:
    """Compute what one iteration of a loop reads of a buffer in this iteration, instead of all of it before.

        for i: B[i] = P(i); for j: C(B[j], B[j + 1])      ->      for j: { for i = j to j + 2: b[i - j] = P(i); C(b) }

    The buffer shrinks to what one iteration needs, and the nest that computed all of it is gone, unless somebody else
    needs that. What several iterations read is computed several times.

    Parameters
    ----------
    buffer
        The memref: one nest stores to it, before the nest that reads it.
    iv
        The induction variable of a loop around all that the second nest reads of it.
    module
        What the function stands in: it shows what calls do, and which arguments are one buffer.

    Raises
    ------
    IllegalTransform
        If no nest, or several, store what the loop reads, if that is more than bounds of loops can say, or if it is not
        proved that every value stays as it was: with what is another, for sizes for which it is.

    References
    ----------
    Ragan-Kelley et al., "Halide: a language and compiler for optimizing parallelism, locality, and recomputation in
    image processing pipelines", PLDI 2013, 3.1.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<10xf32>, %B: memref<9xf32>) {
    ...   %t = memref.alloc() : memref<10xf32>
    ...   affine.for %i = 0 to 10 {
    ...     %a = affine.load %A[%i] : memref<10xf32>
    ...     %b = arith.mulf %a, %a : f32
    ...     affine.store %b, %t[%i] : memref<10xf32>
    ...   }
    ...   affine.for %j = 0 to 9 {
    ...     %a = affine.load %t[%j] : memref<10xf32>
    ...     %b = affine.load %t[%j + 1] : memref<10xf32>
    ...     %c = arith.addf %a, %b : f32
    ...     affine.store %c, %B[%j] : memref<9xf32>
    ...   }
    ...   return
    ... }''').functions[0]
    >>> print(compute_at(f, f.body[0].result, f.body[2].iv))
    func.func @f(%A: memref<10xf32>, %B: memref<9xf32>) {
      %t = memref.alloc() : memref<2xf32>
      affine.for %j = 0 to 9 {
        affine.for %i = affine_map<(d0) -> (d0)>(%j) to affine_map<(d0) -> (d0 + 2)>(%j) {
          %a = affine.load %A[%i] : memref<10xf32>
          %b = arith.mulf %a, %a : f32
          affine.store %b, %t[%i - %j] : memref<2xf32>
        }
        %a = affine.load %t[0] : memref<2xf32>
        %b = affine.load %t[1] : memref<2xf32>
        %c = arith.addf %a, %b : f32
        affine.store %c, %B[%j] : memref<9xf32>
      }
      return
    }
    """
    what = f"compute {name(buffer)} at loop {name(iv)}"
    loop = loop_of(function, iv, what)
    pair = _pair(function, buffer, loop, what, module)
    if pair.obstacle:
        raise refusal(pair.source.op, what, pair.obstacle)
    if loop not in pair.loops:
        raise refusal(loop, what, f"the loop {name(iv)} is not around all that its nest does to {name(buffer)}")
    try:
        candidate = pair.candidate(pair.loops.index(loop) + 1)
    except UnknownError as error:
        raise refusal(loop, what, f"which iterations store what it reads is not known: {error}") from None
    answers: list[Answer] = []
    for variant in pair.variants:
        found = pair.fused(candidate, variant)
        if isinstance(found, Fused):
            return found.function
        answers.append(found)
    raise refusal(loop, what, why(answers))


def _pair(function: Func, buffer: Value, loop: affine.For, what: str, module: Module | None) -> Pair:
    """The nest that stores to a buffer, and the one that the loop is a part of."""
    dependences = Dependences(function, module)
    for block in _blocks_around(function, loop):
        graph = MemRefDependenceGraph(dependences, block)
        sink = graph.node(loop)
        sources = graph.producers(sink, buffer)
        if len(sources) > 1:
            reason = f"{len(sources)} operations before it store what it reads of {name(buffer)}"
            raise refusal(loop, what, f"{reason}: fuse them first")
        if sources:
            return Pair(graph, sources[0], sink, module, buffer=buffer)
    raise refusal(loop, what, f"no nest before the loop {name(loop.iv)} stores what it reads of {name(buffer)}")


def _blocks_around(function: Func, inner: Op) -> list[Block]:
    """The blocks around an operation, the innermost first."""
    found = [block for op in walk(function) for block in op.blocks() if any(_holds(each, inner) for each in block)]
    return found[::-1]


def _holds(op: Op, inner: Op) -> bool:
    return any(each is inner for each in walk(op))


def why(answers: list[Answer]) -> str:
    """Why it is not proved that nothing changes, the difference first where one was found."""
    answer = min(answers, key=lambda each: each.verdict != "differs")
    if answer.verdict != "differs":
        return f"it is not proved that every value stays as it was: {answer.why}"
    sizes = next((s for s in answer.sizes if s), {})
    where = f" (for {', '.join(f'{size} = {number}' for size, number in sizes.items())})" if sizes else ""
    return f"other values would be computed: {answer.why}{where}"
