"""Like terms of sums, taken together: what is added several times, and what is multiplied by the same number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite
from typing import TypeVar

import numpy as np

from affdsl.frozen import Frozen
from affdsl.ir.core import Block, Op, Pure
from affdsl.ir.dialects import affine, arith, scf, vector
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Value
from affdsl.ir.traverse import kept, map_blocks, walk, with_fields, without_unread
from affdsl.ir.types import FloatType, Type, element_of

OpT = TypeVar("OpT", bound=Op)
MOST_OPERATIONS = 64
"""Of a longer sum, that many are looked at together."""
MOST_CANCELLED = 16
"""A sum stays as it is where the numbers that multiply a value, without their signs, add up to more than so many times
what they are in all: then they nearly cancel out."""
CARRIED = 1 << 20
"""How many operations a value waits for that a loop carries: all of an iteration before."""


def with_like_terms(loop: OpT, function: Func, uses: Mapping[Value, int]) -> OpT:
    """The loop, where the sums have their like terms together that take fewer operations so.

        0.5 * (a - 2 * b + c) + 0.5 * (d - 2 * b + e) + b   ->   0.5 * (a + c + d + e) - b

    A product counts as one operation with a sum that takes it. Numbers are exact: a sum stays as it is where what a
    value is multiplied by in all is no number of its type, or nearly cancels out. No value that the loop carries waits
    for more operations than before.

    Parameters
    ----------
    function
        What the loop stands in.
    uses
        How often that reads each value: what is read twice is a term, unless it is a multiple of another value.
    """
    collector = _Collector(loop, function, uses)
    made = map_blocks(loop, collector.block)
    left = {op for op in walk(made) if op in collector.passed_by or isinstance(op, arith.Constant | vector.Broadcast)}
    return made if made is loop else without_unread(made, left.__contains__)


@dataclass
class _Sum:
    """A sum as it is computed."""

    terms: dict[Value, Fraction] = field(default_factory=dict)
    """What multiplies each term in all."""
    unsigned: dict[Value, Fraction] = field(default_factory=dict)
    """The numbers that are added up for that, added without their signs."""
    made_of: list[Op] = field(default_factory=list)
    """The operations that compute it, which nothing else needs but for the last one."""
    added: int = 0
    """How many multiples of terms are added."""
    is_whole: bool = True
    """Whether all of it was looked at: not where it has more operations than `MOST_OPERATIONS`."""

    @property
    def has_like_terms(self) -> bool:
        """Whether something is added several times, or multiplied by a number that multiplies something else, too."""
        factors = [abs(c) for c in self.terms.values() if abs(c) != 1]
        return self.added > len(self.terms) or len({*factors}) < len(factors)

    def add(self, value: Value, factor: Fraction) -> None:
        """Add a multiple of a value."""
        self.added += 1
        self.terms[value] = self.terms.get(value, Fraction(0)) + factor
        self.unsigned[value] = self.unsigned.get(value, Fraction(0)) + abs(factor)


class _Term(Frozen):
    """A value that is added or subtracted, and for how many operations it waits."""

    value: Value
    late: int
    is_added: bool


_Group = tuple[Fraction, Sequence[_Term]]
"""Terms, and what multiplies them."""


class _Collector:
    """Takes like terms together in the blocks of a loop."""

    def __init__(self, loop: Op, function: Func, uses: Mapping[Value, int]) -> None:
        self._uses = uses
        self._made = {v: op for op in walk(function) for v in op.defines()}
        self._late = _lateness(loop)
        self._again = _computed_again(loop)
        self.passed_by: set[Op] = set()
        """The multiples of values that sums may read no longer."""

    def block(self, block: Block) -> Block:
        """A block with such sums."""
        inner = tuple([map_blocks(op, self.block) for op in block])
        here = {*inner}
        done: set[Op] = set()
        gone: set[Op] = set()
        new: list[Op] = []
        for op in reversed(inner):  # the last sum of a chain comes first
            if op not in done and isinstance(op, arith.Binary) and op.kind in ("addf", "subf"):
                found = self._found(op, here)
                made = self._together(op, found)
                if made:
                    gone.update(found.made_of)
                    new += made
                if made or not found.is_whole:
                    done.update(found.made_of)
        if not new:
            return kept(block, inner)
        return _placed([op for op in inner if op not in gone], new)

    def _found(self, root: Op, here: set[Op]) -> _Sum:
        """The terms of the sum that an operation gives, of what is made in its block for nothing else."""
        found = _Sum()
        waiting = [(root, Fraction(1))]
        while waiting:
            op, factor = waiting.pop()
            found.made_of.append(op)
            for value, of_value in self._parts(op):
                maker = self._made.get(value)
                parts = [*self._parts(maker)] if maker is not None else []
                if maker is not None and parts and maker in here and self._uses[value] == 1:
                    if len(found.made_of) + len(waiting) < MOST_OPERATIONS:
                        waiting.append((maker, factor * of_value))
                        continue
                    found.is_whole = False
                elif maker is not None and len(parts) == 1:  # a multiple of another value, which others read too
                    self.passed_by.add(maker)
                    ((value, multiple),) = parts
                    of_value *= multiple
                found.add(value, factor * of_value)
        return found

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
        """The number that a value is in all lanes, if it is a constant: of its type, which may be narrow."""
        match self._made.get(value):
            case arith.Constant(value=float() as number):
                return _nearest(number, value.type)
            case vector.Broadcast(source=source):
                return self._number(source)
        return None

    def _together(self, root: arith.Binary, found: _Sum) -> list[Op]:
        """The operations that compute a sum with like terms together; none unless these are fewer."""
        terms, type = found.terms, root.result.type
        numbers = [*dict.fromkeys(abs(c) for c in terms.values())]
        is_exact = all(n and _nearest(n, type) == n for n in numbers)
        cancels = any(found.unsigned[v] > MOST_CANCELLED * abs(c) for v, c in terms.items())
        if not (found.has_like_terms and is_exact) or cancels or not self._again.isdisjoint(found.made_of):
            return []
        products = {v for v in terms if self._uses[v] == 1 and _is_product(self._made.get(v))}
        last = {v for v, c in terms.items() if abs(c) == 1 and self._late.get(v, 0) >= CARRIED}
        groups = [(n, [self._term(v, c) for v, c in terms.items() if abs(c) == n and v not in last]) for n in numbers]
        groups += [(Fraction(1), [self._term(v, terms[v]) for v in terms if v in last])]
        in_order = sorted(
            [group for group in groups if group[1]],
            key=lambda group: (max(t.late for t in group[1]) >= CARRIED, group[0] != 1, max(t.late for t in group[1])),
        )
        made, late = _computed(root, in_order, products)
        is_less = _count(made, products) < _count(found.made_of, products)
        return made if is_less and late <= max(self._late.get(root.result, 0), CARRIED) else []

    def _term(self, value: Value, factor: Fraction) -> _Term:
        return _Term(value, self._late.get(value, 0), factor > 0)


def _is_product(op: Op | None) -> bool:
    return isinstance(op, arith.Binary) and op.kind == "mulf"


def _count(ops: Sequence[Op], products: set[Value]) -> int:
    """How many operations these are, with products that they read, if a sum is one with one product that it takes."""
    sums = [op for op in ops if isinstance(op, arith.Binary) and op.kind != "mulf"]
    made = products | {op.result for op in ops if isinstance(op, arith.Binary) and op.kind == "mulf"}
    return len(sums) + len(made) - sum(not made.isdisjoint((op.left, op.right)) for op in sums)


def _nearest(number: float | Fraction, type: Type) -> Fraction | None:
    """The nearest number of a type of floats, or of vectors of these; None where it is not known or not finite."""
    element = element_of(type)
    if not isinstance(element, FloatType) or element.name not in ("f32", "f64"):
        return None
    with suppress(OverflowError), np.errstate(over="ignore"):
        rounded = float(np.float32(float(number))) if element.name == "f32" else float(number)
        return Fraction(rounded) if isfinite(rounded) else None
    return None


def _computed(root: arith.Binary, groups: Sequence[_Group], products: set[Value]) -> tuple[list[Op], int]:
    """The operations for a sum of groups, which are added one after the other, and for how many the result waits."""
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
        part = _added(terms, products, of)
        if number != 1:
            factor, product = Value(type), Value(type)
            made.append(arith.Constant(factor, float(number if part.is_added else -number), location=location))
            made.append(arith.Binary(product, "mulf", factor, part.value, location=location))
            part = _Term(product, part.late + (total is None), is_added=True)  # later it is one with the sum
        total = part if total is None else of(total, part)
    if total is not None and not total.is_added:
        made.append(arith.Negate(Value(type), total.value, location=location))
    late = total.late if total is not None else 0
    return [*made[:-1], *(with_fields(last, result=root.result) for last in made[-1:])], late


def _added(terms: Sequence[_Term], products: set[Value], of: Callable[[_Term, _Term], _Term]) -> _Term:
    """Some terms, added: those that are there first, so that few wait for others, and a product to what is none."""
    waiting = sorted(terms, key=lambda term: term.late)
    while len(waiting) > 1:
        first = waiting.pop(0)
        second = next((t for t in waiting if (t.value in products) != (first.value in products)), waiting[0])
        waiting.remove(second)
        waiting = sorted((*waiting, of(first, second)), key=lambda term: term.late)
    return waiting[0]


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


def _lateness(loop: Op) -> dict[Value, int]:
    """For how many operations each value waits that is computed in a loop; what a loop carries waits for more."""
    late: dict[Value, int] = {}
    for op in walk(loop):
        if isinstance(op, affine.For | scf.For):
            late |= dict.fromkeys(op.carried, CARRIED)
        if isinstance(op, Pure):
            late |= dict.fromkeys(op.defines(), 1 + max((late.get(v, 0) for v in op.reads()), default=-1))
    return late


def _computed_again(loop: Op) -> set[Op]:
    """The sums, products and differences that another one is equal to: the C compiler computes both once."""
    equal: dict[Value, Value] = {}
    same: dict[object, list[arith.Binary | arith.Negate]] = {}
    for op in walk(loop):
        if isinstance(op, arith.Binary | arith.Negate):
            kind = op.kind if isinstance(op, arith.Binary) else "negf"
            read = [equal.get(v, v) for v in op.reads()]
            found = same.setdefault((kind, frozenset(read) if kind in ("addf", "mulf") else tuple(read)), [])
            found.append(op)
            equal[op.result] = found[0].result
    return {op for ops in same.values() if len(ops) > 1 for op in ops}
