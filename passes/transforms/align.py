"""Lets a loop begin where an element that it loads or stores begins a line of the cache."""

from __future__ import annotations

from affdsl.ir.dialects import affine, memref
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, FloorDiv, Value, parts_of
from affdsl.ir.traverse import clone_block, rewrite, walk, with_fields
from affdsl.ir.types import INDEX, MemRefType
from affdsl.passes.analysis.boxes import width_of
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.loops.nests import loop_of
from affdsl.passes.transforms.vectorize.counters import without_idle_counters

LEAST = 16
"""How many lines a loop goes over at least, or else it begins where it did: the few before the first cost more."""


def align(
    function: Func, buffer: Value, iv: Value, lanes: int, *, least: int = LEAST, module: Module | None = None
) -> Func:
    """Run what a loop does up to the first line of an array in a loop of its own.

        for j = 1 to m: B[j] = S(j)   ->   for j = 1 to 1 + a: B[j] = S(j)
                                           for j = 1 + a to m: B[j] = S(j)    where B[1 + a] begins a line

    Only a run knows where an array lies, so `a` is computed of its address, before all loops. It is 0 where the loop
    would go over fewer than `least` lines. In an array of several dimensions it holds for the rows that begin as far
    behind a line as the first one: for all, where a row is a whole number of lines. It pays for vectors that are stored
    past the caches (`stream`), and where vectors come from the nearest two caches: one that lies in two lines takes two
    loads. All runs in the order in which it did, and what a loop carries goes from the one loop to the other. A counter
    that it carries, and nothing reads behind it, is written as what it is of the loop's own variable: of the second
    loop alone, nobody could tell.

    Parameters
    ----------
    buffer
        The array, an argument of the function. The loop loads it, or stores to it, along its rows.
    iv
        The induction variable of the loop, an affine.for.
    lanes
        How many elements a line has.
    least
        How many lines are worth it.
    module
        What the function stands in. Nothing is asked of it here.

    Raises
    ------
    IllegalTransform
        If the loop does not go over the array, one element after the other; if it has a step, or several bounds; or
        if bounds and subscripts along the row depend on more than the arguments, or divide by one.

    References
    ----------
    Larsen, Witchel, Amarasinghe, "Increasing and detecting memory address congruence", PACT 2002.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%n: index, %B: memref<?xf32>, %x: f32) {
    ...   affine.for %i = 0 to %n { affine.store %x, %B[%i + 1] : memref<?xf32> }
    ...   return
    ... }''').functions[0]
    >>> print(align(f, f.args[1], f.body[0].iv, 16))
    func.func @f(%n: index, %B: memref<?xf32>, %x: f32) {
      %B_at = memref.extract_aligned_pointer_as_index %B : memref<?xf32> -> index
      %B_before = affine.min affine_map<()[s0, s1] -> ((-(s0 floordiv 4) - 1) mod 16, s1 - 256)>()[%B_at, %n]
      %B_first = affine.max affine_map<()[s0] -> (0, s0)>()[%B_before]
      affine.for %i = 0 to %B_first {
        affine.store %x, %B[%i + 1] : memref<?xf32>
      }
      affine.for %i = %B_first to %n {
        affine.store %x, %B[%i + 1] : memref<?xf32>
      }
      return
    }
    """
    what = f"let loop {name(iv)} begin where a line of {name(buffer)} does"
    written = loop_of(function, iv, what)
    loop = without_idle_counters(function, written)
    if lanes < 2:
        raise ValueError(f"a line has 2 elements or more, not {lanes}")
    if buffer not in function.args or not isinstance(buffer.type, MemRefType):
        raise refusal(loop, what, f"{name(buffer)} is no argument: only its maker knows where it lies")
    size = width_of(buffer.type.element)
    if buffer.type.layout is not None or not size:
        raise refusal(loop, what, f"the rows of {name(buffer)} are not elements that follow each other")
    if loop.step != 1 or len(loop.lower) != 1 or len(loop.upper) != 1:
        raise refusal(loop, what, "it has several bounds, or a step")
    (low,), (high,) = loop.lower, loop.upper
    place = _place(loop, buffer, what)
    for expr in (low, high, place - iv):
        lost = next((v for v in expr.values() if v not in function.args), None)
        if lost is not None:
            raise refusal(
                loop, what, f"where it runs, and what it accesses, depends on {name(lost)}: only arguments are known"
            )
        if any(isinstance(atom, FloorDiv) and not isinstance(atom.divisor, int) for atom in parts_of(expr)):
            reason = "where it runs, and what it accesses, is a quotient by an argument, which may be 0 before it"
            raise refusal(loop, what, reason)
    room = high - low - least * lanes
    if room.is_constant and room.constant < 0:
        raise refusal(loop, what, f"it runs {(high - low).constant} times, which is less than {least} lines")
    stem = buffer.hint or "line"
    at, before, first = (Value(INDEX, f"{stem}_{end}", loop.location) for end in ("at", "before", "first"))
    behind = (-(Affine.of(at) // size) - (place - iv) - low) % lanes
    ops = (
        memref.ExtractAlignedPointerAsIndex(at, buffer, location=loop.location),
        affine.Min(before, (behind, room), location=loop.location),
        affine.Max(first, (Affine(), Affine.of(before)), location=loop.location),
    )
    (head,) = clone_block((loop,), {})
    assert isinstance(head, affine.For)
    new = (
        with_fields(head, upper=(low + first,), written=None),
        with_fields(loop, lower=(low + first,), inits=head.results, written=None),
    )
    made = rewrite(function, lambda op: new if op is written else None)
    return with_fields(made, body=(*ops, *made.body))


def _place(loop: affine.For, buffer: Value, what: str) -> Affine:
    """The last subscript of what a loop stores to an array along its rows, the first time; or of what it loads."""
    accesses = [op for op in walk(loop) if isinstance(op, affine.Access) and op.memref is buffer]
    along = [op for op in accesses if _is_along(op, loop.iv)]
    if not along:
        raise refusal(loop, what, f"it does not go over a row of {name(buffer)}, one element after the other")
    return min(along, key=lambda op: not isinstance(op, affine.Store | affine.VectorStore)).index[-1]


def _is_along(op: affine.Access, iv: Value) -> bool:
    """Whether the next iteration of a loop accesses the next element of the same row."""
    if not op.index:
        return False
    *outer, last = op.index
    return not any(iv in each.values() for each in (*outer, last - iv))
