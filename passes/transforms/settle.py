"""Loops made simpler by what encloses them: bounds that never decide, loops that run once or never, quotients."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Literal

from affdsl.frozen import FrozenValue, field
from affdsl.ir.blocks import split_body
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Atom, Constraint, FloorDiv, Value, parts_of
from affdsl.ir.renaming import renamed
from affdsl.ir.traverse import affine_exprs, fresh, holders, rewrite, walk, with_fields
from affdsl.ir.types import INDEX
from affdsl.passes.affine.positions import are_valid, positions_of
from affdsl.passes.affine.subscripts import Indices, with_affine_subscripts
from affdsl.passes.simplify import (
    Conditions,
    Context,
    rewrite_within,
    simplify,
    simplify_bounds,
    without_unread_conditions,
)
from affdsl.passes.transforms.loops.nests import counted

Fate = Literal["runs once", "never runs", "does nothing"]


class Settled(FrozenValue):
    """A function after it was settled, and what became of the loops that are gone, by their induction variables."""

    function: Func
    gone: dict[Value, Fate] = field(default_factory=dict)


def settled(function: Func, before: Func) -> Settled:
    """The function where what a step has changed since before is as simple as its place allows.

        for i = 0 to min(N, k): S(i)   ->   for i = 0 to k: S(i)      where k < N, as a loop around says
        for i = k to k + 1: S(i)       ->   S(k)
        for i = k to k: S(i)           ->
        A[i floordiv 16, i mod 16]     ->   A[k floordiv 16, i - k]   where k <= i < k + 16, and 16 divides k
        for i = d floordiv 2 to n      ->   for i = k to n            where d = 2 * k
        A[(i + k) mod 4]               ->   A[k mod 4]                where 4 divides i, as the steps of its loop say
        if (i + k) mod 4 == 0: S(i)    ->   if k mod 4 == 0: S(i)     where 4 divides i, as the steps of its loop say
        A[max(i - 1, 0)]               ->   A[i - 1]                  where i >= 1, as the loop says
        if i < N: S(i)                 ->   S(i)                      where i < N, as the loop says
        if i == 0 or A[i] > x: S(i)    ->   if A[i] > x: S(i)         where i >= 1, as the loop says
        for i = N to M: if i < N: S(i) ->

    What is looked at are the loops that `before` has not, or has with other bounds, and all loops inside of these, with
    their conditions, minima and maxima, and of accesses those with quotients over the counters of these loops.
    Nothing is refused: what is not proved, with a budget, stays. Where several lower bounds are left, a loop stays even
    if it runs once: nothing that may stand in a subscript says which of them counts.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<9xf32>, %x: f32) {
    ...     affine.for %i = 0 to 9 {
    ...       affine.for %j = affine_map<(d) -> (d)>(%i) to min affine_map<(d) -> (d + 1, 9)>(%i) {
    ...         affine.store %x, %A[%j] : memref<9xf32>
    ...       }
    ...     }
    ...     return
    ... }''').functions[0]
    >>> made = settled(f, Func("g", (), ()))
    >>> print(made.function)
    func.func @f(%A: memref<9xf32>, %x: f32) {
      affine.for %i = 0 to 9 {
        affine.store %x, %A[%i] : memref<9xf32>
      }
      return
    }
    >>> [(iv.hint, fate) for iv, fate in made.gone.items()]
    [('j', 'runs once')]
    """
    old, new = {*before.body}, {*function.body}
    changed = [op for op in function.body if op not in old]
    touched = _touched(changed, [op for op in before.body if op not in new])
    if not touched:
        return Settled(function)
    gone: dict[Value, Fate] = {}
    values: dict[Value, Value] = {}
    within = (op for each in changed for op in walk(each))
    inside = {inner for op in within if isinstance(op, affine.For) and op.iv in touched for inner in walk(op)}
    copies: set[Op] = set()  # the bodies of loops that ran once
    known: dict[Value, Affine] = {}  # minima and maxima that are one of their numbers
    conditions = Conditions(values)

    def rule(op: Op, context: Context) -> Op | Iterable[Op] | None:
        if (op in inside or op in copies) and (left := conditions.decided(op, context)) is not None:
            return left
        if isinstance(op, affine.Min | affine.Max):
            return _chosen(op, context, known) if op in inside or op in copies else None
        if isinstance(op, arith.Binary):
            chosen = _of_known(op, context, known)
            if chosen is not None and are_valid(chosen.exprs, positions_of(function)):
                inside.add(chosen)
                return chosen
            return None
        if isinstance(op, affine.If) and op in inside and (chosen_block := _decided(op, context, values)) is not None:
            return chosen_block
        if isinstance(op, affine.Access | affine.Apply | affine.If):
            if op not in copies and not (op in inside and _divides(op, touched)):
                return None
            simpler = _with_quotients(op, context)
            if simpler is not None:
                inside.add(simpler)  # it is asked again: what it is over now may be in a tile itself
            return simpler
        if not isinstance(op, affine.For) or op.iv not in touched or context.is_contradictory:
            return None
        lower = simplify_bounds([_of_counters(e, context) for e in op.lower], "max", context)
        upper = simplify_bounds([_of_counters(e, context) for e in op.upper], "min", context)
        runs_again = not _excluded(lower, upper, op.step + 1, context)  # most do, and that says that they run at all
        if not runs_again and _excluded(lower, upper, 1, context):
            gone[op.iv] = "never runs"
            values.update(zip(op.results, op.inits, strict=True))
            return ()
        if not runs_again and len(lower) == 1 and _runs(lower[0], upper, context):
            gone[op.iv] = "runs once"
            once = _once(op, lower[0], values)
            new = {inner for each in once for inner in walk(each)}
            copies.update(new)
            inside.update(new)
            entered.update(new)
            return once
        return None if lower == op.lower and upper == op.upper else _with_bounds(op, lower, upper)

    around: set[Op] = set()
    _find_around(changed, inside, around)
    entered = {*around, *inside}
    made = renamed(rewrite_within(function, rule, entered, {*changed}), values)
    made = with_affine_subscripts(made, Indices({}, known), positions_of(made)) if known else made
    made = without_unread_conditions(made) if conditions.are_any else made
    idle = {op: _without_idle(op, touched, gone) for op in made.body if op not in old}
    if all(new == (op,) for op, new in idle.items()):
        return Settled(made, gone)
    return Settled(with_fields(made, body=tuple([new for op in made.body for new in idle.get(op, (op,))])), gone)


def _chosen(op: affine.Min | affine.Max, context: Context, known: dict[Value, Affine]) -> Op | None:
    """A minimum or maximum without the numbers that never decide; one that is left alone is added to what is known."""
    if context.is_contradictory:
        return None
    kind: Literal["min", "max"] = "min" if isinstance(op, affine.Min) else "max"
    exprs = simplify_bounds([e.substitute(known) for e in op.exprs], kind, context)
    if len(exprs) == 1:
        known[op.result] = exprs[0]
        return affine.Apply(op.result, exprs[0], location=op.location)
    return None if exprs == op.exprs else with_fields(op, exprs=exprs, written=None)


def _of_known(op: arith.Binary, context: Context, known: Mapping[Value, Affine]) -> affine.Min | affine.Max | None:
    """A minimum or maximum of what is affine now; None where it is something else, or nothing of it is known."""
    if op.kind not in ("minsi", "maxsi") or op.result.type != INDEX or known.keys().isdisjoint(op.reads()):
        return None
    exprs = tuple(known.get(v, context.meant(v)) for v in (op.left, op.right))
    return (affine.Min if op.kind == "minsi" else affine.Max)(op.result, exprs, location=op.location)


def _without_idle(root: Op, touched: Collection[Value], gone: dict[Value, Fate]) -> Block:
    """An operation without loops in which nothing is left; they are added to those that are gone."""

    def rule(op: Op) -> Block | None:
        if not isinstance(op, affine.For) or op.iv not in touched or op.body or op.results:
            return None
        gone[op.iv] = "does nothing"
        return ()

    return rewrite(Module((root,)), rule).body if root.block_fields else (root,)


def _find_around(block: Iterable[Op], some: Collection[Op], found: set[Op]) -> bool:
    """Whether some operations stand in a block; those inside of which they stand are added to what was found."""
    is_there = False
    for op in block:
        if op in some:
            is_there = True
        elif op.block_fields:
            for inner in op.blocks():
                if _find_around(inner, some, found):
                    found.add(op)
                    is_there = True
    return is_there


def _touched(changed: Iterable[Op], before: Iterable[Op]) -> set[Value]:
    """The induction variables of loops that are new, or stand or run elsewhere, and of all inside of these."""
    old = {op.iv: op for each in before for op in holders(each) if isinstance(op, affine.For)}
    found: set[Value] = set()

    def visit(block: Iterable[Op], *, inside: bool) -> None:
        for op in block:
            if not op.block_fields:
                continue
            here = inside
            if isinstance(op, affine.For):
                was = old.get(op.iv)
                if was is op and not inside:
                    continue
                here = inside or was is None or (was.lower, was.upper, was.step) != (op.lower, op.upper, op.step)
                if here:
                    found.add(op.iv)
            for inner in op.blocks():
                visit(inner, inside=here)

    visit(changed, inside=False)
    return found


def _decided(op: affine.If, context: Context, values: dict[Value, Value]) -> Block | None:
    """What runs of a condition that is the same in every iteration; None if it may be either way."""
    if context.is_contradictory:
        return None
    if all(map(context.proves, op.condition)):
        body, yielded = split_body(op.then)
    elif context.excludes(op.condition):
        body, yielded = split_body(op.orelse)
    else:
        return None
    values.update(zip(op.results, yielded, strict=True))
    return body


def _divides(op: affine.Access | affine.Apply | affine.If, touched: Collection[Value]) -> bool:
    """Whether an operation has quotients over the counters of loops that were touched."""
    quotients = (part for e in affine_exprs(op) for part in parts_of(e) if isinstance(part, FloorDiv))
    return any(value in touched for atom in quotients for value in atom.reads)


def _with_quotients(op: affine.Access | affine.Apply | affine.If, context: Context) -> Op | None:
    """An operation with quotients over a tile as those of its first point; None if it has none."""
    if context.is_contradictory:
        return None
    if isinstance(op, affine.If):
        asked = tuple(replace(each, expr=simplify(_grouped(each.expr, context), context)) for each in op.condition)
        return None if asked == op.condition else with_fields(op, condition=asked, written=None)
    if isinstance(op, affine.Apply):
        expr = simplify(_grouped(op.expr, context), context)
        return None if expr == op.expr else with_fields(op, expr=expr, written=None)
    index = tuple(simplify(_grouped(e, context), context) for e in op.index)
    return None if index == op.index else with_fields(op, index=index, written=None)


def _of_counters(expr: Affine, context: Context) -> Affine:
    """An expression with quotients over what values are made of: (d + n) // 2 is k + n // 2 where d is 2 * k."""
    quotients = (part for part in parts_of(expr) if isinstance(part, FloorDiv))
    return expr.substitute({v: context.meant(v) for part in quotients for v in part.reads})


def _grouped(expr: Affine, context: Context) -> Affine:
    """An expression whose quotients have the place where a loop starts for its counter, where that is the same."""
    result = Affine((), expr.constant)
    for atom, factor in expr.terms:
        result += (_quotient(atom, context) if isinstance(atom, FloorDiv) else Affine(((atom, 1),))) * factor
    return result


def _quotient(atom: FloorDiv, context: Context) -> Affine:
    dividend, divisor = Affine.of(atom.dividend), atom.divisor
    found = Affine(((atom, 1),))
    if not isinstance(divisor, int):
        return found
    factors: Mapping[Atom, int] = dict(dividend.terms)
    for value in dict.fromkeys(dividend.values()):
        if factors.get(value, 1) < 0:  # its first point is not that of the dividend
            continue
        for fact in context.starts_of(value):
            start = dividend.substitute({value: value - fact.expr}) // divisor
            rest = dividend - start * divisor
            if context.proves(Constraint(rest)) and context.proves(Constraint(divisor - 1 - rest)):
                return start
    terms = (Affine(((term, factor),)) for term, factor in dividend.terms)
    whole = Affine()  # what the divisor divides, as the steps of loops say
    for term in terms:
        where = context.range_of(term)
        if not where.modulus % divisor:
            whole += term - where.residue % divisor
    rest = dividend - whole
    return whole // divisor + rest // divisor if rest.terms else found


def _runs(low: Affine, upper: Collection[Affine], context: Context) -> bool:
    return all(context.proves(Constraint(high - low - 1)) for high in upper)


def _excluded(lower: Collection[Affine], upper: Collection[Affine], distance: int, context: Context) -> bool:
    """Whether all upper bounds are certainly never so far above all lower bounds together."""
    return context.excludes([Constraint(high - low - distance) for high in upper for low in lower])


def _with_bounds(op: affine.For, lower: tuple[Affine, ...], upper: tuple[Affine, ...]) -> affine.For:
    changed = {name for name, new in (("lower", lower), ("upper", upper)) if new != getattr(op, name)}
    written = {name: applied for name, applied in (op.written or {}).items() if name not in changed}
    return with_fields(op, lower=lower, upper=upper, written=written or None)


def _once(op: affine.For, at: Affine, values: dict[Value, Value]) -> Block:
    """The body of a loop, for its only iteration."""
    body = op.body
    if op.results:
        last = body[-1]
        assert isinstance(last, affine.Yield), "a loop with results ends with affine.yield"
        body, handed_on = body[:-1], last.values
        if op.iv in handed_on:  # it is gone: what is read behind the loop is a number of its own
            number = fresh(op.iv)
            body = (*body, affine.Apply(number, Affine.of(op.iv), location=last.location))
            handed_on = tuple(number if v is op.iv else v for v in handed_on)
        values.update(zip(op.carried, op.inits, strict=True))
        values.update(zip(op.results, handed_on, strict=True))
    elif body and body[-1].is_terminator:
        body = body[:-1]
    return counted(body, op.iv, at) if body else ()
