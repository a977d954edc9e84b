"""Extremes of integers that one iteration hands to the next, each the first lane of a vector: nobody branches then.

See `extremes_handed_on`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from affdsl.ir.attributes import UnitAttr
from affdsl.ir.blocks import yielded
from affdsl.ir.core import Block, Op, Pure
from affdsl.ir.dialects import affine, arith, scf, vector
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Value
from affdsl.ir.traverse import definitions, map_blocks, rewrite, users, walk, with_fields
from affdsl.ir.types import IntegerType, VectorType

ELEMENT = IntegerType(32)
LANE = VectorType((4,), ELEMENT)
"""As short as the vectors of all processors are."""
BY_CHANCE = "affdsl.by_chance"
"""What marks a choice between numbers that nobody can foresee: the quirk `choices_by_chance`."""
_EXTREMES = frozenset(("maxsi", "minsi", "maxui", "minui"))
_SUMS = frozenset(("addi", "subi"))
If = affine.If | scf.If
_LOOPS = (affine.For, affine.Parallel, scf.For, scf.Parallel, scf.While)


def lone_lanes(function: Func) -> Func:
    """A function where loops keep extremes of i32 in vectors if an iteration waits for that of the one before it.

        left = max(max(left, up) - 2, x)   ->   the same on vectors of four lanes, of which the first one counts

    Compilers may compute such a number by branches that nobody can foresee, or by two instructions in place of one.
    What is late is the last operand: `max(max(late, a), b)` becomes `max(max(a, b), late)`, and one extreme waits.

    A loop stays as it is where a number that it hands on is used for more than sums, extremes, stores and the next
    iteration, and where it only chooses one number of many: compilers do that in lanes.

    >>> from affdsl.mlir.readers import parse
    >>> module = parse('''func.func @f(%x: memref<?xi32>, %n: index, %t: i32) {
    ...   affine.for %i = 0 to %n iter_args(%left = %t) -> (i32) {
    ...     %up = affine.load %x[%i] : memref<?xi32>
    ...     %least = arith.minsi %left, %up : i32
    ...     %next = arith.addi %least, %t : i32
    ...     affine.store %next, %x[%i] : memref<?xi32>
    ...     affine.yield %next : i32
    ...   }
    ...   return
    ... }''')
    >>> print(lone_lanes(module.functions[0]))
    func.func @f(%x: memref<?xi32>, %n: index, %t: i32) {
      %0 = vector.from_elements %t, %t, %t, %t : vector<4xi32>
      %1 = affine.for %i = 0 to %n iter_args(%left = %0) -> (vector<4xi32>) {
        %up = affine.load %x[%i] : memref<?xi32>
        %2 = vector.from_elements %up, %up, %up, %up : vector<4xi32>
        %least = arith.minsi %2, %left : vector<4xi32>
        %3 = vector.from_elements %t, %t, %t, %t : vector<4xi32>
        %next = arith.addi %least, %3 : vector<4xi32>
        %next_0 = vector.extract %next[0] : i32 from vector<4xi32>
        affine.store %next_0, %x[%i] : memref<?xi32>
        affine.yield %next : vector<4xi32>
      }
      return
    }
    """
    if not any(map(_is_extreme, walk(function))):
        return function
    used = users(function)

    def rule(op: Op) -> tuple[Op, ...] | None:
        if not isinstance(op, affine.For) or any(isinstance(each, _LOOPS) for each in walk(op) if each is not op):
            return None
        ops = [*_inside(op)]
        if not any(map(_is_extreme, ops)):
            return None
        found = _Recurrence(op, ops, used, definitions(op))
        return tuple(found.in_lanes()) if found.is_one() else None

    return rewrite(function, rule)


def is_by_chance(op: arith.Select) -> bool:
    """Whether nobody can foresee a choice."""
    return any(name == BY_CHANCE for name, _ in op.attributes)


def _inside(op: Op) -> Iterator[Op]:
    """What stands inside of an operation, each after what it holds."""
    for block in op.blocks():
        for each in block:
            yield from _inside(each)
            yield each


def _is_extreme(op: Op) -> bool:
    return isinstance(op, arith.Binary) and op.kind in _EXTREMES and op.result.type == ELEMENT


@dataclass
class _Recurrence:
    """A loop without others inside, and which of its numbers wait for those of the iteration before."""

    loop: affine.For
    ops: list[Op]
    used: Mapping[Value, list[Op]]
    made: Mapping[Value, Op]
    taken: set[Value] = field(default_factory=set)
    """The results that become vectors."""
    depth: dict[Value, int] = field(default_factory=dict)
    """How many operations there are from what is handed on to a number that waits for it."""
    lanes: dict[Value, Value] = field(default_factory=dict)
    """The vectors that they are."""
    carried: list[bool] = field(default_factory=list)
    """Which of what the loop carries is one."""

    def __post_init__(self) -> None:
        branches = [op for op in self.ops if isinstance(op, If) and op.results]
        self.results = {block[-1]: op.results for op in branches for block in op.blocks()}
        """What becomes of the numbers that the branches of conditions end with."""

    def is_one(self) -> bool:
        """Whether an extreme is handed on, and nothing else is done with what becomes a vector."""
        loop = self.loop
        self.carried = [v.type == ELEMENT and self._stays(v) for v in loop.carried]
        late = {
            v for v, is_taken in zip(loop.carried, self.carried, strict=True) if is_taken and not self._is_chosen(v)
        }
        while True:
            chosen = self._follow(late)
            waiting = {
                c for v, c in zip(yielded(loop.body), loop.carried, strict=True) if c in late and v in self.depth
            }
            if waiting == late:
                break
            late = waiting  # what is only kept for the next iteration waits for nothing
        handed_on = {v for v, c in zip(yielded(loop.body), loop.carried, strict=True) if c in late}
        return not chosen.isdisjoint(handed_on) and all(map(self._stays, self.taken))

    def _follow(self, late: set[Value]) -> set[Value]:
        """Note what waits for late numbers, and what becomes a vector; gives what comes of an extreme that waits."""
        self.taken.clear()
        lanes = {v for v, is_taken in zip(self.loop.carried, self.carried, strict=True) if is_taken}
        self.depth = dict.fromkeys(late, 1)
        chosen = set[Value]()
        for op in self.ops:
            ways: Iterable[tuple[Value, Sequence[Value]]] = ()
            if isinstance(op, If) and op.results:
                ways = zip(op.results, zip(op.then[-1].reads(), op.orelse[-1].reads(), strict=True), strict=True)
            elif isinstance(op, arith.Binary) and op.kind in _EXTREMES | _SUMS:
                ways = [(op.result, (op.left, op.right))]
            for result, values in ways:
                depth = max(self.depth.get(v, 0) for v in values)
                if result.type != ELEMENT:
                    continue
                if depth or _is_extreme(op) or not lanes.isdisjoint(values):
                    self.taken.add(result)
                    lanes.add(result)
                if depth:
                    self.depth[result] = depth + 1
                    if _is_extreme(op) or not chosen.isdisjoint(values):
                        chosen.add(result)
        return chosen

    def _stays(self, value: Value) -> bool:
        """Whether a number is used for what vectors do, and for stores, and what conditions make of it is, too."""
        return all(
            op is self.loop.body[-1]
            or isinstance(op, affine.Store)
            or (isinstance(op, arith.Binary) and op.kind in _EXTREMES | _SUMS)
            or (op in self.results and all(map(self._stays, self._becomes(op, value))))
            for op in self.used[value]
        )

    def _becomes(self, end: Op, value: Value) -> Iterator[Value]:
        """The results of a condition that are a number where a branch ends."""
        return (result for result, v in zip(self.results[end], end.reads(), strict=True) if v is value)

    def _is_chosen(self, value: Value) -> bool:
        """Whether a carried number is only one of many that a loop chooses, which compilers do in lanes."""
        last, kind = self.loop.body[-1], None
        while len(self.used[value]) == 1:
            (op,) = self.used[value]
            if op is last:
                return kind is not None
            if not isinstance(op, arith.Binary) or op.kind not in _EXTREMES or kind not in (None, op.kind):
                return False
            value, kind = op.result, op.kind
        return False

    def in_lanes(self) -> Iterator[Op]:
        """The loop on vectors, between operations that make what it carries vectors and numbers again."""
        loop = self.loop
        before: list[Op] = []
        inits, carried, results, after = [*loop.inits], [*loop.carried], [*loop.results], list[Op]()
        for k, is_taken in enumerate(self.carried):
            if is_taken:
                inits[k] = self._lane(inits[k], before)
                self.lanes[carried[k]] = carried[k] = Value(LANE, carried[k].hint)
                results[k] = Value(LANE, results[k].hint)
                if self.used[loop.results[k]]:
                    after.append(self._number(results[k], loop.results[k]))
        made = map_blocks(loop, self._block)
        yield from before
        yield with_fields(made, inits=tuple(inits), carried=tuple(carried), results=tuple(results))
        yield from after

    def _block(self, block: Block) -> Block:
        found: list[Op] = []
        stored: affine.Store | None = None  # what the next load of the same element gets
        for op in block:
            if isinstance(op, affine.Load) and stored and (op.memref, op.index) == (stored.memref, stored.index):
                self.lanes[op.result] = self.lanes[stored.value]
            if not isinstance(op, Pure | affine.Load):
                stored = op if isinstance(op, affine.Store) and op.value in self.lanes else None
            if isinstance(op, arith.Binary) and op.result in self.taken:
                if not self._is_inner(op):
                    self._compute(op, found)
            elif isinstance(op, affine.Store):
                found.append(with_fields(op, value=self._known(op.value, found)))
            elif isinstance(op, arith.Select) and op.result.type == ELEMENT and not self._is_counted(op):
                found.append(with_fields(op, attributes=(*op.attributes, (BY_CHANCE, UnitAttr()))))
            elif op in self.results:
                given = zip(op.reads(), self.results[op], strict=True)
                values = tuple(self._lane(v, found) if r in self.taken else self._known(v, found) for v, r in given)
                found.append(with_fields(op, values=values))
            elif isinstance(op, If):
                inside = map_blocks(op, self._block)
                self.lanes |= {v: Value(LANE, v.hint) for v in op.results if v in self.taken}
                found.append(with_fields(inside, results=tuple(self.lanes.get(v, v) for v in op.results)))
            elif op is self.loop.body[-1] and self.carried:
                becomes = zip(yielded(self.loop.body), self.carried, strict=True)
                values = tuple(self._lane(v, found) if is_taken else self._known(v, found) for v, is_taken in becomes)
                found.append(with_fields(op, values=values))
            else:
                found.append(map_blocks(op, self._block))
        return tuple(found)

    def _is_counted(self, choice: arith.Select) -> bool:
        """Whether a choice is that between a number and the next one, which the condition is added to."""
        ways = [self.made.get(v) for v in (choice.if_true, choice.if_false)]
        numbers = [op.value for op in ways if isinstance(op, arith.Constant) and isinstance(op.value, int)]
        return len(numbers) == 2 and abs(numbers[0] - numbers[1]) == 1

    def _compute(self, op: arith.Binary, found: list[Op]) -> None:
        """An operation on vectors; of several extremes of one kind the last operand is what is there last."""
        operands = sorted(self._operands(op), key=lambda v: self.depth.get(v, 0)) if _is_extreme(op) else [*op.reads()]
        first, *others = [self._lane(v, found) for v in operands]
        for k, other in enumerate(others):
            result = Value(LANE, op.result.hint if k == len(others) - 1 else "")
            found.append(with_fields(op, result=result, left=first, right=other))
            first = result
        self.lanes[op.result] = first

    def _operands(self, op: arith.Binary) -> Iterator[Value]:
        for value in op.reads():
            inner = self.made.get(value)
            if isinstance(inner, arith.Binary) and inner.kind == op.kind and self._is_inner(inner):
                yield from self._operands(inner)
            else:
                yield value

    def _is_inner(self, op: arith.Binary) -> bool:
        """Whether an extreme is an operand of one other operation, which is of the same kind."""
        around = self.used[op.result]
        (other, *more) = around or [op]
        return (
            _is_extreme(op) and not more and isinstance(other, arith.Binary) and other is not op
            and other.kind == op.kind and other.left is not other.right
        )  # fmt: skip

    def _lane(self, value: Value, found: list[Op]) -> Value:
        """A vector with a number in all lanes, or the one that has it in its first lane already."""
        if value in self.lanes:
            return self.lanes[value]
        lane = Value(LANE)
        found.append(vector.FromElements(lane, (value,) * 4, location=self.loop.location))
        return lane

    def _known(self, value: Value, found: list[Op]) -> Value:
        """A number outside of vectors."""
        if value not in self.lanes:
            return value
        number = Value(ELEMENT, value.hint)
        found.append(self._number(self.lanes[value], number))
        return number

    def _number(self, lane: Value, result: Value) -> Op:
        return vector.Extract(result, lane, (), (0,), location=self.loop.location)
