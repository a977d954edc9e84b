"""Asks for the lines of an array before the loop that touches them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import rewrite, substitute, walk, with_fields
from affdsl.ir.types import MemRefType
from affdsl.passes.analysis.boxes import width_of
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.loops.nests import loop_of
from affdsl.passes.transforms.loops.pieces import visible_before

LINE = 64
"""How many bytes a line of the cache has, on all processors that vectors are made for."""


def prefetch(
    function: Func, buffer: Value, iv: Value, of: Value, *, distance: int = 0, module: Module | None = None
) -> Func:
    """Ask in each iteration of a loop for the lines of an array that another loop, or a later iteration, touches.

        for j: S(A[j])                    for j by 16: { prefetch B[j]; S(A[j :+ 16]) }
        for j: B[j] = T(A[j])      ->     for j by 16: B[j :+ 16] = T(A[j :+ 16])

        for j by 16: B[j :+ 16] = A[j :+ 16]   ->   for j by 16: { prefetch A[j + 128]; B[j :+ 16] = A[j :+ 16] }

    So lines come from memory while the first loop computes, and the second one need not wait for them. Nothing is
    computed in another way. It pays where the first loop finds in the caches what it reads, or waits for other lines,
    and the array of the second one is larger than the caches; and for loops over vectors, since there is one prefetch
    for each line, and at least one for each iteration. It may be for an element that is not there, at the end of a row.

    A loop may ask for what it touches itself, some iterations ahead. On server processors of Intel (measured on
    Sapphire Rapids) a loop that stores one array and loads others, all in the second cache, runs up to 1.5 times as
    fast, where it asks for the lines of all of them.

    Parameters
    ----------
    buffer
        The array, a memref.
    iv, of
        The induction variables of the loop that asks and of the one that it asks for, both of an affine.for. They start
        in the same place, or are the same.
    distance
        How many iterations later than the one that asks the lines are touched; at least 1 where both are the same loop.
    module
        What the function stands in. Nothing is asked of it here.

    Raises
    ------
    IllegalTransform
        If the loop `of` does not touch the array, or where it does is not known before the loop; if both are the same
        loop, and `distance` is 0; if one stands inside of the other one, or they start in different places.

    References
    ----------
    Mowry, Lam, Gupta, "Design and evaluation of a compiler algorithm for prefetching", ASPLOS 1992.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<32xf32>, %B: memref<32xf32>, %x: vector<16xf32>) {
    ...   affine.for %i = 0 to 32 step 16 { affine.vector_store %x, %A[%i] : memref<32xf32>, vector<16xf32> }
    ...   affine.for %j = 0 to 32 { %a = affine.load %B[31 - %j] : memref<32xf32> }
    ...   return
    ... }''').functions[0]
    >>> print(prefetch(f, f.args[0], f.body[1].iv, f.body[0].iv).body[1])
    affine.for %j = 0 to 32 {
      affine.prefetch %A[%j], write, locality<3>, data : memref<32xf32>
      %a = affine.load %B[-%j + 31] : memref<32xf32>
    }
    """
    what = f"ask in loop {name(iv)} for what loop {name(of)} touches of {name(buffer)}"
    loop, later = loop_of(function, iv, what), loop_of(function, of, what)
    if loop is later and distance < 1:
        raise refusal(loop, what, "it touches that itself: ask for what it touches some iterations later, distance=8")
    for outer, inner in ((loop, later), (later, loop)):
        if loop is not later and any(op is inner for op in walk(outer)):
            raise refusal(loop, what, f"the loop {name(inner.iv)} stands inside of {name(outer.iv)}")
    if loop.lower != later.lower:
        raise refusal(loop, what, f"the loops {name(iv)} and {name(of)} start in different places")
    accesses = [op for op in walk(later) if isinstance(op, affine.Access) and op.memref is buffer]
    if not accesses:
        raise refusal(later, what, f"loop {name(of)} loads and stores nothing of {name(buffer)} at affine indices")
    known = {*visible_before(function, loop), of}
    if buffer not in known:
        raise refusal(loop, what, f"{name(buffer)} is made later than loop {name(iv)} runs")
    for op in accesses:
        lost = next((v for each in op.index for v in each.values() if v not in known), None)
        if lost is not None:
            raise refusal(op, what, f"its place depends on {name(lost)}, which loop {name(iv)} does not know")
    writes = any(isinstance(op, affine.Store | affine.VectorStore) for op in accesses)
    asked = tuple(
        affine.Prefetch(buffer, index, writes, location=op.location)
        for op, index in _lines(buffer, loop, of, accesses, distance)
    )
    made = with_fields(loop, body=(*asked, *loop.body))
    return rewrite(function, lambda op: made if op is loop else None)


def _lines(
    buffer: Value, loop: affine.For, of: Value, accesses: Sequence[affine.Access], distance: int
) -> Iterator[tuple[Op, tuple[Affine, ...]]]:
    """An element of each line that an iteration of a loop asks for, with the first operation that touches it."""
    assert isinstance(buffer.type, MemRefType)
    per_line = max(1, LINE // (width_of(buffer.type.element) or LINE))
    found: list[tuple[Affine, ...]] = []
    for op in accesses:
        is_along = bool(op.index) and _is_along(op.index, of)
        for ahead in range(0, loop.step, per_line if is_along else 1):
            index = tuple(substitute(op, {of: loop.iv + (distance * loop.step + ahead)}).index)
            if not any(_are_near(index, other, per_line) for other in found):
                found.append(index)
                yield op, index


def _is_along(index: Sequence[Affine], iv: Value) -> bool:
    """Whether the next iteration touches the next element of the same row, or the one before."""
    still = not any(iv in each.values() for each in index[:-1])
    return still and any(iv not in each.values() for each in (index[-1] - iv, index[-1] + iv))


def _are_near(a: Sequence[Affine], b: Sequence[Affine], per_line: int) -> bool:
    """Whether two elements are in one row, less than a line apart."""
    apart = [one - other for one, other in zip(a, b, strict=True)]
    return (
        all(each.is_constant for each in apart)
        and not any(each.constant for each in apart[:-1])
        and (not apart or abs(apart[-1].constant) < per_line)
    )
