"""How long loops compute: in instructions on registers, of which sums wait for those before them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from affdsl.codegen.native import native_target
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func, scf
from affdsl.ir.expr import Affine, Value
from affdsl.ir.types import FloatType, MemRefType, VectorType
from affdsl.passes.analysis.boxes import width_of
from affdsl.passes.analysis.iterations import Iterations, Lanes, UncountedError
from affdsl.passes.analysis.work import functions, work_of

Loop: TypeAlias = "affine.For | affine.Parallel | scf.For | scf.Parallel"
AT_ONCE = 2
"""How many operations a core begins in a cycle, and how many vectors it loads or stores."""
WAIT = 4
"""After how many cycles the result of a sum or product of floats is there, and the next sum of a chain begins."""
SLOW = 8
"""How many operations a quotient or a square root takes the time of."""
FUNCTION = 40
"""How many operations a function such as exp takes the time of."""
SAMPLE = 64
"""So many iterations stand for all of those that differ in bounds inside of them."""

_SLOW = frozenset(("divf", "sqrt", "rsqrt"))


def slots(of: Iterations, op: Op, lanes: Lanes) -> float:
    """The time of an operation with all that is inside of it, in that of one instruction which waits for nothing."""
    match op:
        case affine.For() | affine.Parallel() | scf.For() | scf.Parallel():
            inside = _inside(of, op, lanes)
            total = _of_block(of, op.body, inside) / _lanes_of(op)
            return max(total, inside.total * AT_ONCE * WAIT) if _waits(op) else total
        case affine.If() | scf.If() | scf.IndexSwitch():
            try:
                return sum(_of_block(of, block, chosen) for block, chosen in of.branches(op, lanes))
            except UncountedError:  # data decides: at most all of it
                return sum(_of_block(of, block, lanes) for block in op.blocks())
        case func.Call() if not of.functions[op.callee].external:
            callee, inside = of.called(op, lanes)
            return _of_block(of, callee.body, inside)
    return sum(_of_block(of, block, lanes) for block in op.blocks())


def _inside(of: Iterations, op: Loop, lanes: Lanes) -> Lanes:
    """The iterations of a loop; of those that differ in what runs inside of them some stand for all."""
    needed = of.needed(op.body) | {v for each in of.ranges(op) for v in each.reads}
    for each in of.ranges(op):
        count = each.count(lanes)
        if each.iv not in needed:
            lanes = Lanes(lanes.values, lanes.often * count)
            continue
        taken = np.minimum(count, max(1, SAMPLE // max(1, count.size)))
        lane = np.repeat(np.arange(count.size), taken)
        kth = np.arange(lane.size) - np.repeat(np.cumsum(taken) - taken, taken)
        place = (2 * kth + 1) * count[lane] // (2 * taken[lane])
        lower, step = (np.broadcast_to(part(lanes), count.shape)[lane] for part in (each.lower, each.step))
        values = {v: np.broadcast_to(numbers, count.shape)[lane] for v, numbers in lanes.values.items()}
        often = lanes.often[lane] * (count[lane] / taken[lane])
        lanes = Lanes({**values, each.iv: lower + step * place}, often)
    return lanes


def _lanes_of(op: Loop) -> int:
    """How many iterations of a loop C compilers put into a register: of an innermost one whose accesses lie in a row.

    What is stored may be loaded in the same iteration only.
    """
    plain = [each for each in op.body if isinstance(each, affine.Load | affine.Store)]
    stored = {each.memref: each.index for each in plain if isinstance(each, affine.Store)}
    has_inner = any(any(each.blocks()) or _calls(each) for each in op.body)
    if not isinstance(op, affine.For) or has_inner or op.results or not stored:
        return 1
    if any(isinstance(v.type, VectorType) for each in op.body for v in each.defines()):
        return 1
    if any(each.memref in stored and each.index != stored[each.memref] for each in plain):
        return 1
    steps = {tuple(_step(e, op.iv) for e in each.index) for each in plain}
    if not all(not any(step) or (step[-1] == 1 and not any(step[:-1])) for step in steps):
        return 1
    if not all(any(_step(e, op.iv) for e in index) for index in stored.values()):
        return 1
    types = [each.memref.type for each in plain]
    widths = [width_of(type.element) or 64 for type in types if isinstance(type, MemRefType)]
    return max(1, native_target().width // 8 // max(widths, default=64))


def _waits(op: Loop) -> bool:
    """Whether an iteration of a loop needs what the one before has computed, handed on or by way of memory."""
    if any(_is_float(v) for v in op.results) or not isinstance(op, affine.For):
        return bool(op.results)
    loads = {(each.memref, each.index) for each in op.body if isinstance(each, affine.Load)}
    for each in op.body:
        if isinstance(each, affine.Store) and _is_float(each.value):
            before = tuple(e.substitute({op.iv: op.iv - 1}) for e in each.index)
            if (each.memref, before) in loads:
                return True
    return False


def _step(expr: Affine, iv: Value) -> int | None:
    """How much an expression grows with a counter; None if that is not always as much."""
    by = expr.substitute({iv: iv + 1}) - expr
    return by.constant if by.is_constant else None


def _of_block(of: Iterations, block: Block, lanes: Lanes) -> float:
    """The time of the operations of a block: loads and stores beside the others, and then what is inside of them."""
    if not lanes.total:
        return 0.0
    memory = sum(any(kind in ("load", "store") for kind, _ in work_of(op)) for op in block)
    others = sum(_weight(op) for op in block)
    return max(memory, others) * lanes.total + sum(
        slots(of, op, lanes) for op in block if any(op.blocks()) or _calls(op)
    )


def _calls(op: Op) -> bool:
    return isinstance(op, func.Call)


def _weight(op: Op) -> float:
    """How many operations on floats one takes the time of; vectors are as wide as registers here."""
    work = {kind: n for (kind, type), n in work_of(op).items() if kind not in ("load", "store") and type[0] in "fb"}
    if not work:
        return 0.0
    if functions(work_of(op)):
        return float(FUNCTION * max(work.values()))  # lane after lane
    return SLOW if not _SLOW.isdisjoint(work) else 1.0


def _is_float(v: Value) -> bool:
    type = v.type.element if isinstance(v.type, VectorType) else v.type
    return isinstance(type, FloatType)
