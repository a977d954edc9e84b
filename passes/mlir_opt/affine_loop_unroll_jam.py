"""mlir-opt's choice of what to unroll and jam: the loop that a function starts with."""

from __future__ import annotations

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.renaming import renamed
from affdsl.ir.traverse import map_blocks, with_fields
from affdsl.passes.analysis.access import Accesses
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.trip_count import trip_count
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.mlir_opt.function_like import on_function
from affdsl.passes.mlir_opt.options import OptionError
from affdsl.passes.transforms.loops.pieces import defined_inside
from affdsl.passes.transforms.loops.unrolling import in_full
from affdsl.passes.transforms.unroll_jam import body_of, jammed_loop, loops_in


def affine_loop_unroll_jam(module: Module, *, unroll_jam_factor: int = 4, context: Module | None = None) -> Module:
    """The same program with the loop that each function starts with unrolled and jammed, where that is legal.

    As in mlir-opt, a loop stays that is not the first operation of its function, that runs less often than the factor,
    that holds a loop whose bounds it moves, or of whose several upper bounds something may be left over; `unroll_jam`
    takes all of these but the second.

    Parameters
    ----------
    unroll_jam_factor
        How many iterations run together.
    context
        What the module is a part of: it shows which arguments may be one buffer, and what calls do. By default nothing
        stands around it.
    """
    if unroll_jam_factor < 1:
        raise OptionError(f"affine-loop-unroll-jam: option unroll-jam-factor is at least 1, got {unroll_jam_factor}")

    def jammed(function: Func) -> Func:
        first = function.body[0] if function.body else None
        if not isinstance(first, affine.For) or not body_of(first):
            return function
        dependences = Dependences(function, module if context is None else context)
        if unroll_jam_factor == 1:
            trips = trip_count(first, first.iv, dependences.accesses)
            return _in_place(function, (first,)) if trips.number == 1 else function
        inside = defined_inside(first)
        if any(v in inside for op in loops_in(first.body) for e in (*op.lower, *op.upper) for v in e.values()):
            return function
        try:
            loops = jammed_loop(first, unroll_jam_factor, dependences, one_upper=True)
        except IllegalTransform:
            return function
        return _in_place(with_fields(function, body=(*loops, *function.body[1:])), loops)

    body = tuple(on_function(op, jammed) or op for op in module.body)
    return map_blocks(module, lambda _: body)


def _in_place(function: Func, loops: Block) -> Func:
    """A function in which those of some loops that certainly run once are replaced by their bodies."""
    able = [op for op in loops if isinstance(op, affine.For) and _may_run_once(op)]
    counts = Accesses(function) if able else None
    once = [op for op in able if counts is not None and trip_count(op, op.iv, counts).number == 1]
    replaced: dict[Value, Value] = {}
    parts: list[Block] = []
    constants: list[Op] = []
    for op in reversed(function.body):  # the order in which mlir-opt meets them
        made = in_full(op, 1, constants) if isinstance(op, affine.For) and op in once else None
        parts.append((op,) if made is None else tuple(made[0]))
        replaced.update({} if made is None else made[1])
    body = (*reversed(constants), *(op for part in reversed(parts) for op in part))
    return renamed(with_fields(function, body=body), replaced) if once else function


def _may_run_once(loop: affine.For) -> bool:
    """Whether the bounds of a loop, at a first look, let it run once, from its one lower bound."""
    low, *others = loop.lower
    if others or not all(bound.is_constant for bound in (low, *loop.upper)):
        return not others
    return 0 < min(bound.constant for bound in loop.upper) - low.constant <= loop.step
