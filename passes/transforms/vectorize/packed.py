"""Elements that a loop keeps of those that it sees, one behind the other: the lanes of a mask are stored in a row.

for i, n = 0: { c = x[i] > 0; if c: y[n] = x[i]; yield n + select(c, 1, 0) }
->
for i step 8, n = 0: { c = x[i .. i + 7] > 0; compressstore y[n], c, x[i .. i + 7]; yield n + count(c) }
"""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, memref, scf, vector
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import IndexType, IntegerType
from affdsl.passes.transforms.vectorize.counted import BYTE
from affdsl.passes.transforms.vectorize.lanes import Lanes
from affdsl.passes.transforms.vectorize.widen import widen_op


class Packing(FrozenValue):
    """How many elements a loop has kept so far.

    Attributes
    ----------
    carried
        The number, at the beginning of an iteration.
    branch
        The condition that stores an element there.
    ops
        What makes the number greater by one where the condition holds.
    """

    carried: Value
    branch: scf.If
    ops: frozenset[Op]


def packing_of(loop: affine.For, position: int) -> Packing | None:
    """How a loop counts what it keeps by a number that it carries; None where that is something else."""
    last, carried = loop.body[-1], loop.carried[position]
    if not isinstance(last, affine.Yield) or not isinstance(carried.type, IndexType | IntegerType):
        return None
    made = {v: op for op in loop.body for v in op.defines()}
    total = made.get(last.values[position])
    if not isinstance(total, arith.Binary) or total.kind != "addi" or carried not in (total.left, total.right):
        return None
    more = made.get(total.right if total.left is carried else total.left)
    if not isinstance(more, arith.Select):
        return None
    ones = [made.get(v) for v in (more.if_true, more.if_false)]
    if [each.value if isinstance(each, arith.Constant) else None for each in ones] != [1, 0]:
        return None
    branches = [op for op in loop.body if isinstance(op, scf.If) and op.condition is more.condition]
    for branch in branches:
        found = Packing(carried, branch, frozenset((total, more)))
        allowed = {total, *(op for op in branch.then if _goes_there(op, found))}
        inside = [each for op in loop.body for each in walk(op)]
        is_alone = all(op in allowed for op in inside if carried in op.reads())
        counts = [op for op in inside if {total.result, more.result}.intersection(op.reads())]
        if not branch.results and not branch.orelse and is_alone and set(counts) <= {total, last}:
            return found if any(map(_stores, branch.then)) else None
    return None


def _stores(op: Op) -> bool:
    return isinstance(op, memref.Store)


def _goes_there(op: Op, of: Packing) -> bool:
    """Whether an operation right in the branch stores to the place that a number says, or makes an index of it."""
    match op:
        case memref.Store(indices=(*_, at), value=value):
            others = op.indices[:-1]
            return value is not of.carried and of.carried not in others and _place(at, of) is not None
        case arith.Cast(kind="index_cast" | "index_castui", operand=operand):
            only = [each for each in of.branch.then if op.result in each.reads()]
            return operand is of.carried and all(_is_last_index(each, op.result) for each in only)
    return False


def _is_last_index(op: Op, index: Value) -> bool:
    """Whether an operation is a store that has an index last, and nowhere else."""
    return isinstance(op, memref.Store) and op.indices[-1] is index and [*op.reads()].count(index) == 1


def _place(index: Value, of: Packing) -> Value | arith.Cast | None:
    """The number that a packing counts, where an index is it, or the cast that makes an index of it."""
    if index is of.carried:
        return index
    makers = (op for op in of.branch.then if isinstance(op, arith.Cast) and op.result is index)
    return next((op for op in makers if op.operand is of.carried), None)


def store_packed(at: Lanes, packings: Sequence[Packing]) -> None:
    """A branch in all lanes, of which those where its condition holds are stored one behind the other."""
    branch = packings[0].branch
    with at.where(at.both(at.vector(branch.condition))):
        for op in branch.then:
            if any(isinstance(op, arith.Cast) and op.operand is of.carried for of in packings):
                at.emit(op)
            elif isinstance(op, memref.Store) and any(_place(op.indices[-1], of) is not None for of in packings):
                assert at.mask is not None
                value = at.vector(op.value)
                at.emit(vector.CompressStore(op.memref, op.indices, at.mask, value, location=op.location))
            elif not op.is_terminator:
                widen_op(at, op)


def counted_on(at: Lanes, packing: Packing) -> Value:
    """How many elements a loop has kept after these lanes."""
    mask = at.both(at.vector(packing.branch.condition))
    bytes, found = Value(at.vector_of_type(BYTE)), Value(BYTE)
    more, total = Value(packing.carried.type), Value(packing.carried.type, packing.carried.hint)
    at.emit(arith.Cast(bytes, "extui", mask))
    at.emit(vector.Reduction(found, "add", bytes))
    match more.type:
        case IntegerType(width=BYTE.width):
            more = found
        case IntegerType(width=width):
            at.emit(arith.Cast(more, "extui" if width > BYTE.width else "trunci", found))
        case _:
            at.emit(arith.Cast(more, "index_castui", found))
    at.emit(arith.Binary(total, "addi", packing.carried, more))
    return total
