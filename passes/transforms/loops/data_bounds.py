"""Loops whose bounds come from data, in turns and in strips: where these end is computed before they run."""

from __future__ import annotations

from dataclasses import dataclass, field

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import arith, scf
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Term, Value
from affdsl.ir.traverse import clone, clone_block, fresh, walk, with_fields
from affdsl.ir.types import I1, INDEX
from affdsl.passes.affine.arithmetic import MOST
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.loops.nests import replaced
from affdsl.passes.transforms.loops.pieces import MOST_OPERATIONS, operations_in


def unrolled(func: Func, loop: scf.For, factor: int, what: str) -> Func:
    """Run several iterations in each turn, and what is left over in a loop behind.

    for k = a to b: S(k)   ->   m = a + (b - a) floordiv 2 * 2
                                for k = a to m step 2: S(k) S(k + 1)
                                for k_tail = m to b: S(k_tail)
    """
    step = _step(func, loop, what)
    if operations_in(loop.body) * factor > MOST_OPERATIONS or factor * step > MOST:
        raise refusal(loop, what, f"that makes more than {MOST_OPERATIONS} operations, or steps that do not fit")
    before = _Numbers(loop)
    length = before.constant(factor * step)
    whole = before.made("muli", before.made("divui", before.made("subi", loop.upper, loop.lower), length), length)
    end = before.chosen(before.made("addi", loop.lower, whole), loop.lower)
    body, handed_on = _parts(loop)
    turns = _Numbers(loop)
    values = loop.carried
    for k in range(factor):
        new: dict[Value, Term] = {}
        if k:
            new = dict(zip(loop.carried, values, strict=True))
            new[loop.iv] = turns.made("addi", loop.iv, turns.constant(k * step), loop.iv.hint)
        turns.ops += clone_block(body, new) if k else body
        values = tuple(_value(new, v) for v in handed_on)
    results = tuple(map(fresh, loop.results))
    main = with_fields(loop, upper=end, step=length, body=_ended(turns.ops, values, loop), results=results)
    tail = clone(loop, {})
    if tail.iv.hint:
        tail.iv.hint += "_tail"  # nobody else holds it yet
    tail = with_fields(tail, lower=end, inits=results, results=loop.results)
    return replaced(func, loop, *before.ops, main, tail)


def in_strips(func: Func, loop: scf.For, size: int, hint: str, what: str) -> Func:
    """Run a loop strip by strip.

    for k = a to b: S(k)   ->   for k_strip = a to b step 32:
                                    for k = k_strip to k_strip + min(b - k_strip, 32): S(k)
    """
    step = _step(func, loop, what)
    if size < 1 or size * step > MOST:
        raise refusal(loop, what, "a strip has at least 1 iteration, and its length must fit into 64 bits")
    before, inside = _Numbers(loop), _Numbers(loop)
    length = before.constant(size * step)
    strip = Value(INDEX, hint or (f"{loop.iv.hint}_strip" if loop.iv.hint else ""))
    carried, results = tuple(map(fresh, loop.carried)), tuple(map(fresh, loop.results))
    end = inside.made("addi", strip, inside.made("minui", inside.made("subi", loop.upper, strip), length))
    inner = with_fields(loop, lower=strip, upper=end, inits=carried, results=results)
    body = _ended([*inside.ops, inner], results, loop)
    outer = with_fields(loop, iv=strip, step=length, carried=carried, body=body)
    return replaced(func, loop, *before.ops, outer)


@dataclass(eq=False)
class _Numbers:
    """Operations that compute numbers for a loop.

    The difference of its bounds, where it runs, fits into 64 bits without a sign, so nothing here overflows.
    """

    loop: scf.For
    ops: list[Op] = field(default_factory=list)

    def constant(self, number: int) -> Value:
        value = Value(INDEX, f"c{number}")
        self.ops.append(arith.Constant(value, number, location=self.loop.location))
        return value

    def made(self, kind: str, left: Value, right: Value, hint: str = "") -> Value:
        value = Value(INDEX, hint)
        self.ops.append(arith.Binary(value, kind, left, right, location=self.loop.location))
        return value

    def chosen(self, if_it_runs: Value, otherwise: Value) -> Value:
        runs, value = Value(I1, "runs"), Value(INDEX, "end")
        at = self.loop.location
        self.ops.append(arith.Compare(runs, "cmpi", "slt", self.loop.lower, self.loop.upper, location=at))
        self.ops.append(arith.Select(value, runs, if_it_runs, otherwise, location=at))
        return value


def _step(func: Func, loop: scf.For, what: str) -> int:
    """The step of a loop. Raises IllegalTransform where it is no number, or the loop counts in another way."""
    maker = next((op for op in walk(func) if loop.step in op.defines()), None)
    if loop.iv.type != INDEX or loop.is_unsigned:
        raise refusal(loop, what, f"the loop {name(loop.iv)} counts by another type than index, or without a sign")
    if not isinstance(maker, arith.Constant) or not isinstance(maker.value, int) or maker.value < 1:
        raise refusal(loop, what, f"the step of the loop {name(loop.iv)} comes from data")
    return maker.value


def _parts(loop: scf.For) -> tuple[Block, tuple[Value, ...]]:
    if loop.body and isinstance(loop.body[-1], scf.Yield):
        return loop.body[:-1], loop.body[-1].values
    return loop.body, ()


def _ended(body: list[Op], values: tuple[Value, ...], loop: scf.For) -> Block:
    return (*body, scf.Yield(values, location=loop.location)) if values else tuple(body)


def _value(new: dict[Value, Term], value: Value) -> Value:
    found = new.get(value, value)
    assert isinstance(found, Value), "values become values here"
    return found
