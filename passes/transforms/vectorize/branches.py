"""What a loop carries through a condition, chosen by a selection instead: a chain of operations on numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeGuard

from affdsl.frozen import FrozenValue
from affdsl.ir.blocks import yielded
from affdsl.ir.core import Block, Lanewise, Op, roles
from affdsl.ir.dialects import affine, arith, math, scf
from affdsl.ir.expr import Value
from affdsl.ir.semantics import neutral
from affdsl.ir.traverse import like, substitute, walk, with_fields
from affdsl.ir.types import I1, FloatType, IndexType, IntegerType
from affdsl.passes.analysis.reduction import DECLARED
from affdsl.passes.transforms.hoist.faults import OPEN_CASTS, OPEN_KINDS

HAS_NEUTRAL = {kind: declared for declared, kind in DECLARED.items() if kind not in ("maxnumf", "minnumf")}
"""The kinds of arith for which some number changes no other, and what reductions call them."""
_DIFFERENCES = ("subf", "subi")
_SMALL = ("index_cast", "extsi", "trunci", "addi", "subi")
"""What may as well be computed where a condition does not hold."""

If = affine.If | scf.If


def without_branches(loop: affine.For, *, everything: bool = False) -> affine.For:
    """The loop where what it carries goes through no condition, as far as that can be.

        r = if c: t = s + x; yield t else: yield s   ->   r = s + select(c, x, 0)

    Operations that read what is carried, cannot fail and touch nothing move out of the branches, or `everything` that
    such are made of. It is the same object where none do.
    """
    moving = _Moving(_dependent(loop), everything)
    body = moving.block(loop.body)
    return with_fields(loop, body=_needed(body)) if moving.has_moved else loop


def is_total(op: Op) -> bool:
    """Whether an operation on numbers may run where it did not: it has a result for all operands, in LLVM, too."""
    if not isinstance(op, Lanewise):
        return False
    is_power = isinstance(op, math.Binary) and op.kind == "ipowi"
    return not is_power and getattr(op, "kind", "") not in (*OPEN_KINDS, *OPEN_CASTS)


def _dependent(loop: affine.For) -> set[Value]:
    """The values in a loop that depend on what it carries."""
    found = set(loop.carried)
    before = -1
    while before != len(found):
        before = len(found)
        for op in walk(loop):
            if op is not loop and any(v in found for inner in walk(op) for v in inner.reads()):
                found.update(op.defines())
    return found


class _Moving:
    """Takes operations on values that depend on what a loop carries out of conditions."""

    def __init__(self, dependent: set[Value], everything: bool) -> None:
        self.dependent, self.everything = dependent, everything
        self.has_moved = False

    def block(self, block: Block) -> Block:
        """A block with the conditions in it replaced."""
        found: list[Op] = []
        for op in block:
            found += self._condition(op) if isinstance(op, affine.If | scf.If) else [op]
        return tuple(found)

    def _condition(self, op: If) -> Sequence[Op]:
        op = with_fields(op, then=self.block(op.then), orelse=self.block(op.orelse))
        if not op.results or not any(v in self.dependent for block in op.blocks() for v in yielded(block)):
            return [op]
        everything = self.everything or (isinstance(op, scf.If) and op.condition in self.dependent)
        branches = [self._branch(block, everything=everything) for block in op.blocks()]
        if len(branches) != 2 or not all(isinstance(v.type, IntegerType | FloatType | IndexType) for v in op.results):
            return [op]
        then, orelse = branches
        if then is None or orelse is None:
            return [op]
        self.has_moved = True
        found = _selected(op, then, orelse)
        for each in found:
            if any(v in self.dependent for inner in walk(each) for v in inner.reads()):
                self.dependent.update(each.defines())
        return found

    def _branch(self, block: Block, *, everything: bool) -> _Branch | None:
        """What moves out of a block; None if what it yields needs something that may not move.

        That is everything on which what it yields depends, or only what depends on what the loop carries.
        """
        inside = {v: each for each in block for v in each.defines()}
        late: list[Op] = []
        given: list[Value] = []
        waiting, seen = list(yielded(block)), set[Value]()
        while waiting:
            value = waiting.pop()
            maker = inside.get(value)
            if value in seen or maker is None:
                continue
            seen.add(value)
            is_small = isinstance(maker, arith.Constant) or getattr(maker, "kind", "") in _SMALL
            may_move = is_small or is_total(maker)
            if value not in self.dependent and not is_small and not (everything and may_move):
                given.append(value)
            elif may_move:
                late.append(maker)
                waiting += maker.reads()
            else:
                return None
        order = {op: k for k, op in enumerate(block)}
        late.sort(key=order.__getitem__)
        return _Branch(block, late, given)


class _Branch(FrozenValue):
    """A block, the operations of it that move out, and the values that it gives to them and to what follows."""

    block: Block
    late: Sequence[Op]
    given: Sequence[Value]


def _selected(op: If, then: _Branch, orelse: _Branch) -> list[Op]:
    """A condition that yields what its branches give, and behind it what has moved out of them."""
    results: list[Value] = []
    rows: tuple[list[Value], list[Value]] = ([], [])
    extra: tuple[list[Op], list[Op]] = ([], [])

    def constant(side: int, like: Value, number: float | bool) -> Value:
        made = Value(like.type)
        extra[side].append(arith.Constant(made, number))
        return made

    outside: tuple[dict[Value, Value], dict[Value, Value]] = ({}, {})
    for side, branch in enumerate((then, orelse)):
        for value in branch.given:
            results.append(like(value))
            outside[side][value] = results[-1]
            rows[side].append(value)
            rows[1 - side].append(constant(1 - side, value, 0.0 if isinstance(value.type, FloatType) else 0))
    if isinstance(op, scf.If):
        condition = op.condition
    else:
        condition = Value(I1)
        results.append(condition)
        for side in (0, 1):
            rows[side].append(constant(side, condition, side == 0))
    made: list[Op] = []
    ending = scf.Yield if isinstance(op, scf.If) else affine.Yield
    ends = [(ending(tuple(row)),) if results else () for row in rows]
    blocks = [_needed((*b.block[:-1], *extra[k], *ends[k])) for k, b in enumerate((then, orelse))]
    if results or any(blocks):
        made.append(with_fields(op, then=blocks[0], orelse=blocks[1], results=tuple(results)))
    for side, branch in enumerate((then, orelse)):
        for each in branch.late:
            moved = {getattr(each, name): Value(getattr(each, name).type) for name in roles(type(each)).results}
            outside[side].update(moved)
            made.append(with_fields(substitute(each, dict(outside[side])), **_named(each, moved)))
    sides = [[outside[k].get(v, v) for v in yielded(b.block)] for k, b in enumerate((then, orelse))]
    for result, a, b in zip(op.results, *sides, strict=True):
        made += _chosen(made, result, condition, a, b)
    return made


def _named(op: Op, new: Mapping[Value, Value]) -> dict[str, Value]:
    return {name: new[getattr(op, name)] for name in roles(type(op)).results}


def _chosen(before: Sequence[Op], result: Value, condition: Value, a: Value, b: Value) -> list[Op]:
    """One of two values; where one is the other combined with something, that is combined with what is neutral.

    A value that two conditions choose is chosen by both together.
    """
    for changed, kept, is_else in ((a, b, False), (b, a, True)):
        maker = next((op for op in before if changed in op.defines()), None)
        if isinstance(maker, arith.Select) and maker.if_false is kept and not is_else:
            both = arith.Binary(Value(I1), "andi", condition, maker.condition)
            known = next((op for op in before if _is_same(op, both)), both)
            choice = arith.Select(result, known.result, maker.if_true, kept)
            return [choice] if known is not both else [both, choice]
        place = place_of(maker, kept)
        if maker is None or not place:
            continue
        other: Value = getattr(maker, place)
        none, mixed = Value(other.type), Value(other.type)
        pair = (none, other) if is_else else (other, none)
        return [
            arith.Constant(none, neutral_of(getattr(maker, "kind", ""), other)),
            arith.Select(mixed, condition, *pair),
            with_fields(maker, result=result, **{place: mixed}),
        ]
    return [arith.Select(result, condition, a, b)]


def _is_same(op: Op, other: arith.Binary) -> TypeGuard[arith.Binary]:
    return isinstance(op, arith.Binary) and (op.kind, op.left, op.right) == (other.kind, other.left, other.right)


def place_of(op: Op | None, kept: Value) -> str:
    """Which operand of an operation is combined with a value; none if something neutral would change that value."""
    if not isinstance(op, arith.Binary) or op.left is op.right:
        return ""
    if op.left is kept and op.kind in (*HAS_NEUTRAL, *_DIFFERENCES):
        return "right"
    return "left" if op.right is kept and op.kind in HAS_NEUTRAL else ""


def neutral_of(kind: str, value: Value) -> int | float:
    """What combined with any number of the type of a value, as a kind of arith says, gives that number to the bit."""
    assert isinstance(value.type, IntegerType | FloatType | IndexType)
    if kind in _DIFFERENCES:
        return 0.0 if isinstance(value.type, FloatType) else 0
    number = neutral(HAS_NEUTRAL[kind], value.type)
    return float(number) if isinstance(value.type, FloatType) else int(number)


def _needed(block: Block) -> Block:
    """A block without operations that touch nothing and whose results nothing in it reads."""
    used: set[Value] = set()
    found: list[Op] = []
    for op in reversed(block):
        if not isinstance(op, Lanewise | arith.Constant) or not used.isdisjoint(op.defines()):
            found.append(op)
            used.update(v for inner in walk(op) for v in inner.mentions())
    return tuple(reversed(found))
