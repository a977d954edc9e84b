"""The choices of affine and scf as C statements."""

from __future__ import annotations

from dataclasses import replace

from affdsl.codegen.c import tables
from affdsl.codegen.c.checks import check_divisors
from affdsl.codegen.c.context import Context, Target
from affdsl.codegen.c.early import always_leaves
from affdsl.codegen.c.expressions import Code, conjunction, invert, number, opposite
from affdsl.codegen.c.fallible import symbolic
from affdsl.codegen.c.lanes import new_vector
from affdsl.codegen.c.loops import without_values
from affdsl.codegen.c.masks import is_mask
from affdsl.codegen.c.plan import effects
from affdsl.codegen.c.types import value_type
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, memref, scf, vector
from affdsl.ir.expr import Constraint, Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import VectorType

SUMS_OF_A_TILE = 8
"""So many vectors that a loop carries fill most registers of a machine with 16."""


def branch(c: Context, op: affine.If | scf.If) -> None:
    """`if (condition) { ... } else { ... }`"""
    if c.targets and op in c.targets[-1].tails:
        last_branch(c, op)
        return
    target = Target(tuple(_uninitialised(c, result) for result in op.results))
    condition = all_hold(c, op) if isinstance(op, affine.If) else c.values.of(op.condition)
    c.values.name_readers(effects(op, c.plan, c.plans))
    if _is_empty(op.then) and not _is_empty(op.orelse):
        c.lines.open(f"if ({opposite(condition) if isinstance(op, affine.If) else invert(condition)})")
        know_not(c, op)
        c.block_to(op.orelse, target)
    else:
        likely = c.unit.has_vector_types and (_is_whole_tile(op) or _is_load_for_lanes(c, op))
        c.lines.open(f"if (__builtin_expect({condition}, 1))" if likely else f"if ({condition})")
        if isinstance(op, affine.If):
            c.ranges.know_constraints(_resolved(c, op))
        c.block_to(op.then, target)
        if not _is_empty(op.orelse):
            c.lines.reopen("else")
            know_not(c, op)
            c.block_to(op.orelse, target)
    c.lines.close()
    for result, name in zip(op.results, target.names, strict=True):
        c.values.codes[result] = Code(name)


def last_branch(c: Context, op: affine.If | scf.If) -> None:
    """The last branch of an iteration of a loop that may end early: `if (condition) { ...; break; } ...`"""
    target = c.targets[-1]
    condition = all_hold(c, op) if isinstance(op, affine.If) else c.values.of(op.condition)
    c.values.name_readers(effects(op, c.plan, c.plans))
    opposed = opposite(condition) if isinstance(op, affine.If) else invert(condition)
    if always_leaves(c, op.then, target):
        with c.lines.block(f"if ({condition})"):
            if isinstance(op, affine.If):
                c.ranges.know_constraints(_resolved(c, op))
            c.block_to(op.then, target)
        know_not(c, op)
        c.block_to(op.orelse, target)
    elif always_leaves(c, op.orelse, target):
        with c.lines.block(f"if ({opposed})"):
            know_not(c, op)
            c.block_to(op.orelse, target)
        if isinstance(op, affine.If):
            c.ranges.know_constraints(_resolved(c, op))
        c.block_to(op.then, target)
    else:
        c.lines.open(f"if ({condition})")
        if isinstance(op, affine.If):
            c.ranges.know_constraints(_resolved(c, op))
        c.block_to(op.then, target)
        c.lines.reopen("else")
        know_not(c, op)
        c.block_to(op.orelse, target)
        c.lines.close()


def _is_whole_tile(op: affine.If | scf.If) -> bool:
    """Whether a branch adds up a tile in registers, and the other one, with masks, what is left at an edge.

    Compilers are told that it is the likely one: gcc 12 would keep the numbers of which masks are made in registers
    across the tile, and one of its sums in memory (the quirk `masks_across_tiles`).
    """
    rest = [inner for other in op.orelse for inner in walk(other)]
    return any(map(_is_tile, op.then)) and bool(rest) and not any(map(_is_tile, rest))


def _is_load_for_lanes(c: Context, op: affine.If | scf.If) -> bool:
    """Whether a branch loads what is the same in all lanes of a mask, if some lane is set.

    gcc 12 takes the zero that is there otherwise out of all loops, so that a sum of a tile is in memory, as above.
    """
    some = c.definitions.get(op.condition) if isinstance(op, scf.If) and op.results else None
    loads = any(isinstance(inner, affine.Load | memref.Load) for inner in op.then)
    return loads and isinstance(some, vector.Reduction) and some.combine == "or" and is_mask(some.source)


def _is_tile(op: Op) -> bool:
    """Whether a loop carries as many vectors as a tile in registers has."""
    return isinstance(op, affine.For) and sum(isinstance(v.type, VectorType) for v in op.carried) >= SUMS_OF_A_TILE


def _uninitialised(c: Context, result: Value) -> str:
    if isinstance(result.type, VectorType):
        return new_vector(c, result)
    return c.lines.without_value(result.hint, c.values.temporary, value_type(result.type))


def _resolved(c: Context, op: affine.If) -> list[Constraint]:
    return [replace(constraint, expr=c.values.resolve(constraint.expr)) for constraint in op.condition]


def know_not(c: Context, op: affine.If | scf.If) -> None:
    """Here the condition of op is false."""
    if isinstance(op, affine.If) and len(op.condition) == 1 and not op.condition[0].equality:
        c.ranges.know_constraints([Constraint(-c.values.resolve(op.condition[0].expr) - 1)])


def all_hold(c: Context, op: affine.If) -> Code:
    """The constraints of a condition; where a divisor is checked, each by itself, if those before it hold."""
    constraints = _resolved(c, op)
    if not c.is_checked or not symbolic([constraint.expr for constraint in constraints]):
        parts = dict.fromkeys(map(c.values.constraint, constraints))
        found = conjunction(list(parts))
        if not found.parts:
            c.lines.drop(*parts)
        return tables.headers_of(found, c.unit)
    c.values.steady_all(constraint.expr for constraint in constraints)
    holds = c.lines.keep("", "holds", "bool", tables.headers_of(Code("true"), c.unit), const=False)
    for constraint in constraints:
        with c.lines.block(f"if ({holds})"):
            check_divisors(c, op, [constraint.expr])
            c.lines.add(f"{holds} = {c.values.constraint(constraint)};")
    return holds


def index_switch(c: Context, op: scf.IndexSwitch) -> None:
    """`if (x == 1) { ... } else if (x == 2) { ... } else { ... }`"""
    target = Target(without_values(c, op.results))
    chosen = c.values.stable(op.argument)
    c.values.name_readers(effects(op, c.plan, c.plans))
    cases = [case for case in op.cases if isinstance(case, scf.Case)]
    for position, case in enumerate(cases):
        head = f"if ({chosen} == {number(case.number)})"
        if position:
            c.lines.reopen(f"else {head}")
        else:
            c.lines.open(head)
        c.block_to(case.body, target)
    if cases and op.default:
        c.lines.reopen("else")
    elif not cases:
        c.lines.open()
    if op.default or not cases:
        c.block_to(op.default, target)
    c.lines.close()


def execute_region(c: Context, op: scf.ExecuteRegion) -> None:
    """`{ ... }`"""
    target = Target(without_values(c, op.results))
    with c.lines.block():
        c.block_to(op.body, target)


def _is_empty(block: Block) -> bool:
    return all(op.is_terminator and not any(True for _ in op.reads()) for op in block)
