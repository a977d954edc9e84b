"""How much of what an iteration of a loop around computes the next one computes again."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from affdsl.ir.core import Lanewise, Op
from affdsl.ir.dialects import affine, arith, memref
from affdsl.ir.expr import Value
from affdsl.optimize.nests import Nest


def share_done_again(nest: Nest, loop: affine.For) -> float:
    """The share of the operations of an innermost loop, of those that move with it, that the next iteration repeats.

        for i: for j: B[i, j] = max(f(A[i, j]), f(A[i + 1, j]))

    An iteration of i computes f of the row that the one before it has computed f of: half of all f, and no maximum.
    Iterations that run at once do such operations once: the C compiler sees that they are equal. 0 where a loop has
    other loops or conditions in it.
    """
    ops = nest.innermost.body
    if any(True for op in ops for _ in op.blocks()):
        return 0.0
    numbers: dict[Hashable, int] = {}
    now, then = _numbered(nest, loop, 0, numbers), _numbered(nest, loop, loop.step, numbers)
    moving = _moving(nest)
    done = {now[v] for v in moving}
    return len(done & {then[v] for v in moving}) / len(done) if done else 0.0


def _moving(nest: Nest) -> list[Value]:
    """What operations make, other than loads, in each iteration of the innermost loop anew."""
    moves, found = {nest.innermost.iv}, list[Value]()
    for op in nest.innermost.body:
        reads = {*op.reads()}
        if isinstance(op, affine.Load):
            reads |= {v for e in op.index for v in e.values()}
        if moves.isdisjoint(reads):
            continue
        moves.update(op.defines())
        found += op.defines() if isinstance(op, Lanewise) else ()
    return found


def _numbered(nest: Nest, loop: affine.For, ahead: int, numbers: dict[Hashable, int]) -> Mapping[Value, int]:
    """The number of each value of the innermost loop, so many iterations ahead: the same for the same structure.

    `numbers` has those of all structures so far, one step deep each: what a value is made of counts by its number,
    however much that is made of. Loads are equal by their subscripts.
    """
    number = {loop.iv: numbers.setdefault((loop.iv, ahead), len(numbers))}
    for op in nest.innermost.body:
        meaning = _meaning(op, loop.iv, ahead, number)
        number |= {v: numbers.setdefault((k, v.type, *meaning), len(numbers)) for k, v in enumerate(op.defines())}
    return number


def _meaning(op: Op, iv: Value, ahead: int, number: Mapping[Value, int]) -> tuple[Hashable, ...]:
    """What an operation does, and to what; one that is not known is like no other."""
    read = tuple(number.get(v, v) for v in op.reads())
    match op:
        case affine.Load():
            return op.memref, *(e.substitute({iv: iv + ahead}) for e in op.index)
        case affine.Apply():
            return (op.expr.substitute({iv: iv + ahead}),)
        case arith.Constant():
            return "constant", op.value
        case memref.Load():
            return "load", *read
        case Lanewise():
            return type(op).__name__, *(getattr(op, part, None) for part in ("kind", "predicate")), *read
    return id(op), ahead
