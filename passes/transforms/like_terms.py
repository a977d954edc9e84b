"""Like terms of sums, taken together: what is added several times, and what is multiplied by the same number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from fractions import Fraction
from math import isfinite
from typing import TypeVar

import numpy as np

from affdsl.frozen import Frozen
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import arith, vector
from affdsl.ir.expr import Value
from affdsl.ir.traverse import map_blocks, rewrite, walk, with_fields
from affdsl.ir.types import FloatType, Type, VectorType

OpT = TypeVar("OpT", bound=Op)
MOST_TERMS = 64
"""Longer sums stay as they are."""


def with_like_terms(loop: OpT, uses: Mapping[Value, int], late: Mapping[Value, int]) -> OpT:
    """The loop, where the sums have their like terms together that take fewer operations so.

        0.5 * (a - 2 * b + c) + 0.5 * (d - 2 * b + e) + b   ->   0.5 * (a + c + d + e) - b

    A product of which a sum is made counts as one operation with it. Numbers are exact: a sum stays as it is where what
    a value is multiplied by in all is no number of its type, or is 0, since 0 times infinity is not 0.

    Parameters
    ----------
    uses
        How often the function reads each value: what is read twice is a term, whatever it is made of.
    late
        How many operations each value waits for: what comes later is added later.
    """
    collector = _Collector(loop, uses, late)
    made = map_blocks(loop, collector.block)
    read = {v for op in walk(made) for v in op.reads()}
    unread = {op for op in collector.passed_by if read.isdisjoint(op.defines())}
    return rewrite(made, lambda op: () if op in unread else None)


class _Sum(Frozen):
    """A sum as it is computed: its terms, by what they are multiplied, and the operations that it is made of."""

    terms: dict[Value, Fraction] = field(default_factory=dict)
    made_of: list[Op] = field(default_factory=list)


class _Collector:
    """Takes like terms together in the blocks of a loop."""

    def __init__(self, loop: Op, uses: Mapping[Value, int], late: Mapping[Value, int]) -> None:
        self._uses, self._late = uses, late
        self._made = {v: op for op in walk(loop) for v in op.defines()}
        self._again = _computed_again(loop)
        self.passed_by: set[Op] = set()
        """The multiples of values that sums may read no longer."""

    def block(self, block: Block) -> Block:
        """A block with such sums."""
        inner = tuple([map_blocks(op, self.block) for op in block])
        here = {*inner}
        gone: set[Op] = set()
        new: list[Op] = []
        for op in reversed(inner):  # the last sum of a chain comes first
            if op not in gone and isinstance(op, arith.Binary) and op.kind in ("addf", "subf"):
                found = _Sum()
                self._add(op, Fraction(1), found, here)
                made = self._collected(op, found)
                if made:
                    gone.update(found.made_of)
                    new += made
        if not new:
            return block if all(a is b for a, b in zip(inner, block, strict=True)) else inner
        return _placed([op for op in inner if op not in gone], new)

    def _add(self, op: Op, factor: Fraction, found: _Sum, here: set[Op]) -> None:
        """Add the terms of an operation, multiplied by a factor."""
        found.made_of.append(op)
        for value, of_value in self._parts(op):
            maker = self._made.get(value)
            parts = [*self._parts(maker)] if maker is not None else []
            if maker is not None and parts and maker in here and self._uses[value] == 1:
                self._add(maker, factor * of_value, found, here)
                continue
            if maker is not None and len(parts) == 1:  # a multiple of another value, which others read too
                self.passed_by.add(maker)
                value, of_value = parts[0][0], of_value * parts[0][1]
            found.terms[value] = found.terms.get(value, Fraction(0)) + factor * of_value

    def _parts(self, op: Op) -> Iterator[tuple[Value, Fraction]]:
        """What an operation adds, and how often; nothing if it does something else."""
        match op:
            case arith.Negate(operand=value):
                yield value, Fraction(-1)
            case arith.Binary(kind="addf" | "subf" as kind, left=left, right=right):
                yield left, Fraction(1)
                yield right, Fraction(1 if kind == "addf" else -1)
            case arith.Binary(kind="mulf", left=left, right=right):
                for value, other in ((left, right), (right, left)):
                    number = self._number(other)
                    if number is not None:
                        yield value, number
                        return

    def _number(self, value: Value) -> Fraction | None:
        """The number that a value is in all lanes, if it is a constant."""
        match self._made.get(value):
            case arith.Constant(value=float() as number) if isfinite(number):
                return Fraction(number)
            case vector.Broadcast(source=source):
                return self._number(source)
        return None

    def _collected(self, root: arith.Binary, found: _Sum) -> list[Op] | None:
        """The operations that compute a sum with like terms together, if these are fewer."""
        terms, type = found.terms, root.result.type
        numbers = [*dict.fromkeys(abs(c) for c in terms.values())]
        if (
            len(terms) > MOST_TERMS
            or not all(_is_of_type(c, type) for c in numbers)
            or any(op in self._again for op in found.made_of)
            or _cost(terms) >= self._cost_now(found.made_of)
        ):
            return None
        groups = [[_Term(v, self._late.get(v, 0), c > 0) for v, c in terms.items() if abs(c) == n] for n in numbers]
        in_order = sorted(
            zip(numbers, groups, strict=True), key=lambda group: (group[0] != 1, max(t.late for t in group[1]))
        )
        return _computed(root, in_order) or None

    def _cost_now(self, made_of: Sequence[Op]) -> int:
        """How many operations a sum takes now, if one product of each sum is one with it."""
        sums = [op for op in made_of if isinstance(op, arith.Binary) and op.kind != "mulf"]
        products = {op.result for op in made_of if isinstance(op, arith.Binary) and op.kind == "mulf"}
        return len(sums) + len(products) - sum(not products.isdisjoint((op.left, op.right)) for op in sums)


def _cost(terms: Mapping[Value, Fraction]) -> int:
    """How many operations a sum takes that has the terms together which are multiplied by one number."""
    of_one = [c for c in terms.values() if abs(c) == 1]
    needs_another = not of_one or (len(of_one) == len(terms) and all(c < 0 for c in of_one))
    return len(terms) - 1 + needs_another


def _is_of_type(number: Fraction, type: Type) -> bool:
    """Whether floats of a type, or of the lanes of a vector, have a number, which is not 0."""
    element = type.element if isinstance(type, VectorType) else type
    if number == 0 or not isinstance(element, FloatType) or element.name not in ("f32", "f64"):
        return False
    with suppress(OverflowError):
        nearest = float(number)
        return Fraction(float(np.float32(nearest)) if element.name == "f32" else nearest) == number
    return False


class _Term(Frozen):
    """A value that is added or subtracted, and how many operations it waits for."""

    value: Value
    late: int
    is_added: bool


def _computed(root: arith.Binary, groups: Sequence[tuple[Fraction, Sequence[_Term]]]) -> list[Op]:
    """The operations for a sum of groups: numbers, and the terms that each multiplies; 1 is the first, if it is one."""
    made: list[Op] = []
    type, location = root.result.type, root.location

    def of(left: _Term, right: _Term) -> _Term:
        is_sum = left.is_added == right.is_added
        first, second = (left, right) if is_sum or left.is_added else (right, left)
        result = Value(type)
        made.append(arith.Binary(result, "addf" if is_sum else "subf", first.value, second.value, location=location))
        return _Term(result, 1 + max(left.late, right.late), first.is_added)

    total: _Term | None = None
    for number, terms in groups:
        waiting = sorted(terms, key=lambda term: term.late)
        while len(waiting) > 1:  # what is there first is added first, so that few wait for each other
            first, second, *others = waiting
            waiting = sorted((*others, of(first, second)), key=lambda term: term.late)
        part = waiting[0]
        if number != 1:
            factor, product = Value(type), Value(type)
            made.append(arith.Constant(factor, float(number if part.is_added else -number), location=location))
            made.append(arith.Binary(product, "mulf", factor, part.value, location=location))
            part = _Term(product, part.late + 1, is_added=True)
        total = part if total is None else of(total, part)
    if total is not None and not total.is_added:
        made.append(arith.Negate(Value(type), total.value, location=location))
    return [*made[:-1], *(with_fields(last, result=root.result) for last in made[-1:])]


def _placed(block: Sequence[Op], new: Sequence[Op]) -> Block:
    """A block with new operations, each as soon as all that it reads is there; they may be in any order."""
    waits: dict[Op, int] = {}
    readers: dict[Value, list[Op]] = {}
    made = {v for op in (*block, *new) for v in op.defines()}
    for op in new:
        read = [v for v in dict.fromkeys(op.reads()) if v in made]
        waits[op] = len(read)
        for value in read:
            readers.setdefault(value, []).append(op)
    out: list[Op] = []
    for op in (*(each for each in new if not waits[each]), *block):
        ready = [op]
        while ready:
            out.append(ready.pop(0))
            for value in out[-1].defines():
                for reader in readers.get(value, ()):
                    waits[reader] -= 1
                    if not waits[reader]:
                        ready.append(reader)
    return tuple(out)


def _computed_again(loop: Op) -> set[Op]:
    """The sums, products and differences that another one is equal to: the C compiler computes both once."""
    equal: dict[Value, Value] = {}
    same: dict[object, list[Op]] = {}
    for op in walk(loop):
        if isinstance(op, arith.Binary | arith.Negate):
            kind = op.kind if isinstance(op, arith.Binary) else "negf"
            found = same.setdefault((kind, *(equal.get(v, v) for v in op.reads())), [])
            found.append(op)
            equal[op.result] = next(found[0].defines())
    return {op for ops in same.values() if len(ops) > 1 for op in ops}
