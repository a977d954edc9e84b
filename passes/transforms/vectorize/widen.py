"""The body of a loop for several of its iterations at once: each operation, in the order of the text, on vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from affdsl.ir.blocks import yielded
from affdsl.ir.core import Block, Lanewise, Op, roles
from affdsl.ir.debugging import why_in_order
from affdsl.ir.dialects import affine, arith, math, memref, scf, vector
from affdsl.ir.dialects import complex as complex_
from affdsl.ir.expr import Affine, Constraint, Term, Value
from affdsl.ir.messages import op_name, shown
from affdsl.ir.traverse import clone, substitute, with_fields
from affdsl.ir.types import I1
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.transforms.approximate.circular import is_near
from affdsl.passes.transforms.hoist.faults import OPEN_CASTS, OPEN_KINDS, never_fails
from affdsl.passes.transforms.vectorize.accesses import access
from affdsl.passes.transforms.vectorize.even import is_even
from affdsl.passes.transforms.vectorize.lanes import AS_COMPLEX, Lanes
from affdsl.passes.transforms.vectorize.varying import bounds_of
from affdsl.passes.transforms.vectorize.whiles import widen_while

PURE = (Lanewise, arith.Constant, complex_.ComplexOp, affine.Min, affine.Max, memref.Dim, memref.GetGlobal)
"""The operations that stay as they are where all lanes read the same."""
_For = TypeVar("_For", bound=affine.For | scf.For)


def widen(at: Lanes, block: Block) -> None:
    """The operations of a block, without its terminator, added to the block that is being made."""
    for op in block:
        if not op.is_terminator:
            widen_op(at, op)


def widen_op(at: Lanes, op: Op) -> None:
    """One operation in all lanes."""
    match op:
        case affine.Apply():
            _apply(at, op)
        case affine.Load() | affine.Store() | memref.Load() | memref.Store():
            access(at, op)
        case affine.For():
            _loop(at, op)
        case scf.For():
            _of_data(at, op)
        case affine.If() | scf.If():
            _condition(at, op)
        case scf.While():
            widen_while(at, op, widen)
        case _ if not at.varying.of(op) and isinstance(op, PURE):
            at.emit(op)
        case affine.Min() | affine.Max():
            _per_lane(at, op)
        case _ if is_even(at, op):
            pass
        case _ if isinstance(op, Lanewise):
            _lanewise(at, op)
        case complex_.ComplexOp():
            reason = f"{op_name(op)} computes with complex numbers, and lanes are real ones"
            raise refusal(op, at.what, reason, AS_COMPLEX)
        case _:
            data = "how often a loop runs is data, and " if isinstance(op, scf.While) else ""
            ordered = why_in_order(op, at.loop)
            raise refusal(op, at.what, ordered or f"{data}{op_name(op)} has no form on vectors")


def _apply(at: Lanes, op: affine.Apply) -> None:
    expr = at.expr(op.expr)
    if not at.varying.of(op):
        at.emit(op)
    elif all(at.is_affine(v) for v in expr.values()):
        at.exprs[op.result] = expr
    else:
        _per_lane(at, op)


def _per_lane(at: Lanes, op: affine.Apply | affine.Min | affine.Max) -> None:
    """A pure operation once for each lane."""
    made: list[Value] = []
    for k in range(at.width):
        new: dict[Value, Term] = {
            v: at.lane(at.exprs[v], k) if v in at.exprs else at.in_lane(v, k) for v in op.reads() if at.varies(v)
        }
        made.append(Value(op.result.type))
        at.emit(with_fields(substitute(op, new), result=made[-1], written=None))
    at.define_lanes(op.result, made)


def _lanewise(at: Lanes, op: Op) -> None:
    role = roles(type(op))
    changed: dict[str, object] = {
        name: at.vector(getattr(op, name)) for name in role.operands if not _chooses_all(at, op, name)
    }
    if at.mask is not None:
        changed.update(_harmless(at, op, changed))
    for name in role.results:
        value: Value = getattr(op, name)
        made = Value(at.vector_type(value), value.hint, value.location)
        changed[name] = made
        at.define(value, made)
    at.emit(with_fields(op, **changed))


def _chooses_all(at: Lanes, op: Op, name: str) -> bool:
    """Whether an operand chooses between two vectors as a whole, since it is the same in all lanes."""
    return isinstance(op, arith.Select) and name == "condition" and not at.varies(op.condition) and op.result.type != I1


def _harmless(at: Lanes, op: Op, operands: Mapping[str, object]) -> dict[str, object]:
    """Operands with which lanes that do not run cannot fail."""
    if never_fails(op, at.constants):
        return {}
    match op:
        case arith.Binary(kind=kind) if kind in OPEN_KINDS:
            name, number = "right", 1
        case arith.Cast(kind=kind) if kind in OPEN_CASTS:
            name, number = "operand", 0
        case math.Binary(kind="ipowi"):
            raise refusal(op, at.what, "a power of integers may fail where its iteration does not run")
        case _:
            return {}
    given = operands[name]
    assert isinstance(given, Value)
    return {name: at.chosen(given, number)}


def _loop(at: Lanes, op: affine.For) -> None:
    """A loop inside: where bounds differ, all lanes run the iterations in the middle, and some those at the ends."""
    lower, upper = (tuple(at.expr(e) for e in bounds) for bounds in (op.lower, op.upper))
    _require_steps(at, op, (*lower, *upper))
    runs = _between(at, op, lower, upper)
    wide, values = _carried(at, op)
    pieces = [*_pieces(at, lower, upper)]
    for bounds, differs in pieces:
        made = with_fields(_piece(at, op, runs if differs else [], wide), inits=values, written=None, **bounds)
        made = clone(made, {}) if len(pieces) > 1 else made  # then all that it carries varies
        at.emit(made)
        values = made.results
    _define(at, op, wide, values)


def _of_data(at: Lanes, op: scf.For) -> None:
    """A loop inside with bounds that are data, the same for all lanes: they run its iterations together."""
    moving = next(filter(at.varies, bounds_of(op)), None)
    if moving is not None:
        reason = f"the bounds of loop {shown(op.iv)} are data that differs from lane to lane"
        raise refusal(op, at.what, reason)
    wide, values = _carried(at, op)
    made = with_fields(_piece(at, op, [], wide), inits=values)
    at.emit(made)
    _define(at, op, wide, made.results)


def _carried(at: Lanes, op: _For) -> tuple[list[bool], tuple[Value, ...]]:
    """Of what a loop inside carries, which values differ from lane to lane, and what all begin with."""
    wide = [at.varies(v) for v in op.carried]
    return wide, tuple(at.vector(v) if w else v for v, w in zip(op.inits, wide, strict=True))


def _define(at: Lanes, op: _For, wide: Sequence[bool], values: Sequence[Value]) -> None:
    """Let what a loop leaves in all lanes stand for its results."""
    for old, new, w in zip(op.results, values, wide, strict=True):
        if w:
            at.define(old, new)


def _pieces(
    at: Lanes, lower: Sequence[Affine], upper: Sequence[Affine]
) -> Iterator[tuple[dict[str, tuple[Affine, ...]], bool]]:
    """The bounds of loops that run after one another, and whether only some lanes run their iterations.

    Those in the middle have no mask. There is one loop alone, with a mask, where it is known that no iteration
    runs in all lanes, and where two lower bounds, or two upper ones, differ from lane to lane.
    """
    first, begin = ([pick(at, e) for e in lower] for pick in (_least, _most))
    end, last = ([pick(at, e) for e in upper] for pick in (_least, _most))
    before, behind = ([pick(at, e) for e in bounds if at.step(e)] for pick, bounds in ((_most, lower), (_least, upper)))
    none = any((b - a).is_constant and (b - a).constant <= 0 for a in begin for b in end)
    if none or max(len(before), len(behind)) > 1 or not (before or behind):
        yield {"lower": tuple(first), "upper": tuple(last)}, bool(before or behind)
        return
    if before:
        yield {"lower": tuple(first), "upper": (*last, *before)}, True
    yield {"lower": tuple(begin), "upper": tuple(end)}, False
    if behind:
        yield {"lower": (*begin, *behind), "upper": tuple(last)}, True


def _piece(at: Lanes, op: _For, runs: Sequence[Constraint], wide: Sequence[bool]) -> _For:
    """A loop inside in all lanes, those of them alone for which some constraints hold."""
    carried, results = (
        tuple(Value(at.vector_type(v), v.hint, v.location) if w else v for v, w in zip(values, wide, strict=True))
        for values in (op.carried, op.results)
    )
    with at.new_block() as inside:
        for old, new, w in zip(op.carried, carried, wide, strict=True):
            if w:
                at.define(old, new)
        mask = None if not runs else at.both(at.holds(runs))
        with at.where(at.mask if mask is None else mask):
            widen(at, op.body)
        _yield(at, op.body, wide, mask, carried)
    return with_fields(op, body=tuple(inside), carried=carried, results=results)


def _require_steps(at: Lanes, op: affine.For, bounds: Sequence[Affine]) -> None:
    """Raise IllegalTransform unless the lanes of a loop inside run some of the same iterations, as bounds say."""
    for e in bounds:
        moving = next((v for v in e.values() if not at.is_affine(v)), None)
        step = None if moving is not None else at.step(e)
        if step is None or (step and op.step > 1):
            moving = moving or next(v for v in e.values() if at.varies(v))
            reason = f"the bounds of loop {shown(op.iv)} differ from lane to lane: they depend on {shown(moving)}"
            raise refusal(op, at.what, reason)


def _between(at: Lanes, op: affine.For, lower: Sequence[Affine], upper: Sequence[Affine]) -> list[Constraint]:
    """What holds in lanes that run an iteration of a loop inside, where bounds differ from lane to lane."""
    above = [Constraint(op.iv - e) for e in lower if at.step(e)]
    return above + [Constraint(e - op.iv - 1) for e in upper if at.step(e)]


def _least(at: Lanes, expr: Affine) -> Affine:
    """The least that an expression is in any lane."""
    return at.lane(expr, 0 if (at.step(expr) or 0) >= 0 else at.width - 1)


def _most(at: Lanes, expr: Affine) -> Affine:
    """The most that an expression is in any lane."""
    return at.lane(expr, 0 if (at.step(expr) or 0) <= 0 else at.width - 1)


def _yield(
    at: Lanes, block: Block, wide: Sequence[bool], mask: Value | None = None, carried: Sequence[Value] = ()
) -> None:
    """The terminator of a block with values, some of them in all lanes: those that a mask does not set keep theirs."""
    if block and isinstance(last := block[-1], affine.Yield | scf.Yield):
        values = [at.vector(v) if w else v for v, w in zip(last.values, wide, strict=True)]
        if mask is not None:
            values = [at.select(mask, new, old) for new, old in zip(values, carried, strict=True)]
        at.emit(with_fields(last, values=tuple(values)))


def _condition(at: Lanes, op: affine.If | scf.If) -> None:
    if at.varying.of(op) and isinstance(op, scf.If) and is_near(op):
        _near(at, op)
        return
    if at.varying.of(op):
        _masked(at, op)
        return
    wide = [at.varies(v) for v in op.results]
    new: dict[str, object] = {}
    for name in ("then", "orelse"):
        block: Block = getattr(op, name)
        with at.new_block() as inside:
            widen(at, block)
            _yield(at, block, wide)
        new[name] = tuple(inside)
    results = tuple(Value(at.vector_type(v), v.hint) if w else v for v, w in zip(op.results, wide, strict=True))
    at.emit(with_fields(op, results=results, written=op.written, **new))
    for old, made, w in zip(op.results, results, wide, strict=True):
        if w:
            at.define(old, made)


def _near(at: Lanes, op: scf.If) -> None:
    """The polynomials of angles that are near in all lanes that run, or else what the C library makes of them."""
    condition, everywhere = at.vector(op.condition), Value(I1)
    if at.mask is not None:
        idle = at.binary("xori", at.mask, at.constant([True] * at.width, I1))
        condition = at.binary("ori", idle, condition)
    at.emit(vector.Reduction(everywhere, "and", condition, (), location=op.location))
    blocks: list[Block] = []
    for block in op.blocks():
        with at.new_block() as inside:
            widen(at, block)
            _yield(at, block, [True] * len(op.results))
        blocks.append(tuple(inside))
    results = tuple(Value(at.vector_type(v), v.hint) for v in op.results)
    at.emit(with_fields(op, condition=everywhere, then=blocks[0], orelse=blocks[1], results=results))
    for old, made in zip(op.results, results, strict=True):
        at.define(old, made)


def _masked(at: Lanes, op: affine.If | scf.If) -> None:
    """A condition that differs from lane to lane: both branches, of which each lane runs one."""
    condition = at.vector(op.condition) if isinstance(op, scf.If) else at.holds(op.condition)
    sides: list[tuple[Value, ...]] = []
    for block, sign in ((op.then, True), *(((op.orelse, False),) if op.orelse else ())):
        mask = condition if sign else at.binary("xori", condition, at.constant([True] * at.width, I1))
        with at.where(at.both(mask)):
            widen(at, block)
        sides.append(yielded(block))
    for result, a, b in zip(op.results, *sides, strict=True):
        at.define(result, at.select(condition, at.vector(a), at.vector(b)))
