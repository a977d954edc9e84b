"""The best number of a loop and what goes with it, as the place of a maximum: in all lanes, then the best of lanes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from affdsl.frozen import FrozenValue
from affdsl.ir.blocks import yielded
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, vector
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import substitute, walk, with_fields
from affdsl.ir.types import I1, INDEX, VectorType

_STRICT = {
    "ogt": "ogt", "oge": "ogt", "olt": "olt", "ole": "olt",
    "sgt": "sgt", "sge": "sgt", "slt": "slt", "sle": "slt", "ugt": "ugt", "uge": "ugt", "ult": "ult", "ule": "ult",
}  # fmt: skip
"""The order of which a predicate is part, which is total but for NaN, of which nothing is better than anything."""
_TURNED = {"g": "l", "l": "g"}


class Choice(FrozenValue):
    """Values that a loop carries and replaces together, where a condition holds.

    Attributes
    ----------
    values
        Which of the carried values.
    key
        The one of them that the condition compares with; None where it asks something else, and the last one stays.
    predicate
        How a number compares that replaces the key.
    """

    values: tuple[int, ...]
    key: int | None = None
    kind: str = ""
    predicate: str = ""

    @property
    def is_last(self) -> bool:
        """Whether the last one stays of those that are as good, and not the first."""
        return self.key is None or self.predicate[1:] in ("ge", "le")


def choices(loop: affine.For, row: Mapping[Value, Value]) -> tuple[Choice, ...]:
    """What a loop chooses of its iterations, of that what goes from lane to lane.

        c = x > best; yield select(c, x, best), select(c, i, place)

    No iteration may see what is chosen other than by the comparison with the key.
    """
    makers = {v: op for op in loop.body for v in op.defines()}
    groups: dict[Value, dict[Value, arith.Select]] = {}
    for carried, value in row.items():
        maker = makers.get(value)
        if isinstance(maker, arith.Select) and maker.if_false is carried:
            groups.setdefault(maker.condition, {})[carried] = maker
    dependent = _dependent(loop, row)
    found = (_choice(loop, c, group, makers, dependent) for c, group in groups.items())
    return tuple(each for each in found if each is not None)


def selects_of(loop: affine.For, choice: Choice) -> list[arith.Select]:
    """What chooses each of the values."""
    made = {v: op for op in loop.body for v in op.defines()}
    found = (made[yielded(loop.body)[k]] for k in choice.values)
    return [op for op in found if isinstance(op, arith.Select)]


def set_to(loop: affine.For, choice: Choice) -> dict[int, Value | arith.Constant] | None:
    """What the values become, where that is the same in all iterations, so that the last of these need not be known.

        yield select(c, 1, found)

    None where it is not, or the condition compares with one of the values.
    """
    if choice.key is not None:
        return None
    found: dict[int, Value | arith.Constant] = {}
    inside = {v: op for op in loop.body for v in op.defines()} | dict.fromkeys(loop.binds())
    for k, select in zip(choice.values, selects_of(loop, choice), strict=True):
        made = inside.get(select.if_true)
        if select.if_true in inside and not isinstance(made, arith.Constant):
            return None
        found[k] = made if isinstance(made, arith.Constant) else select.if_true
    return found


def computing(loop: affine.For, values: Sequence[Value]) -> tuple[Op, ...]:
    """What computes some values in an iteration, in order."""
    needed, wanted = list[Op](), set(values)
    for op in reversed(loop.body[:-1]):
        if not wanted.isdisjoint(op.defines()):
            needed.append(op)
            wanted.update(op.reads())
            wanted.update(op.mentions())
    return tuple(reversed(needed))


def computed_of(loop: affine.For, value: Value) -> tuple[Op, ...] | None:
    """What computes a value of the number of its iteration and of what is known before a loop, in order.

    None where something else is needed, or it may fail: then the value has to be kept until the best one is known.
    """
    inside = {v: op for op in loop.body for v in op.defines()}
    needed, left = set[Op](), [value]
    while left:
        v = left.pop()
        op = inside.get(v)
        if op is None and v in loop.carried:
            return None
        if op is None or op in needed:
            continue
        match op:
            case arith.Constant() | arith.Cast(kind="index_cast" | "extsi" | "trunci"):
                pass
            case arith.Binary(kind="addi" | "subi" | "muli"):
                pass
            case affine.Apply(expr=expr) if expr - expr.constant == Affine.of(loop.iv):
                pass
            case _:
                return None
        needed.add(op)
        left += op.reads()
    return tuple(op for op in loop.body if op in needed)


def at_iteration(loop: affine.For, ops: Sequence[Op], value: Value, iteration: Value) -> tuple[list[Op], Value]:
    """The operations of `computed_of` for one iteration, after the loop, and the value that they compute."""
    known: dict[Value, Value] = {loop.iv: iteration}
    made: list[Op] = []
    for op in ops:
        (old,) = op.defines()
        known[old] = new = Value(old.type, old.hint)
        if isinstance(op, affine.Apply):  # MLIR wants a counter or a size there
            by = arith.Constant(Value(INDEX), op.expr.constant)
            made += [by, arith.Binary(new, "addi", iteration, by.result)]
        else:
            made.append(with_fields(substitute(op, {v: known[v] for v in op.reads() if v in known}), result=new))
    return made, known.get(value, value)


def _choice(
    loop: affine.For,
    condition: Value,
    group: Mapping[Value, arith.Select],
    makers: Mapping[Value, Op],
    dependent: set[Value],
) -> Choice | None:
    if any(select.if_true in dependent for select in group.values()):
        return None
    if any(select.result in op.mentions() for select in group.values() for op in _inside(loop) if not op.is_terminator):
        return None
    values = tuple(loop.carried.index(v) for v in group)
    compare = makers.get(condition)
    readers = {v: {op for op in _inside(loop) if v in op.mentions()} for v in (*group, condition)}
    if condition not in dependent:
        return Choice(values) if all(readers[v] == {group[v]} for v in group) else None
    if not isinstance(compare, arith.Compare):
        return None
    for key, other, predicate in (
        (compare.right, compare.left, compare.predicate),
        (compare.left, compare.right, _turned(compare.predicate)),
    ):
        if key not in group or predicate not in _STRICT or (predicate[0] == "o") != (compare.kind == "cmpf"):
            continue
        allowed = {v: {compare, group[v]} if v is key else {group[v]} for v in group}
        is_alone = all(readers[v] == allowed[v] for v in group) and readers[condition] == set(group.values())
        if is_alone and group[key].if_true is other:
            return Choice(values, loop.carried.index(key), compare.kind, predicate)
    return None


def _inside(loop: affine.For) -> Iterator[Op]:
    return (op for each in loop.body for op in walk(each))


def _turned(predicate: str) -> str:
    """The predicate with its operands exchanged."""
    return predicate[0] + _TURNED.get(predicate[1:2], "") + predicate[2:]


def _dependent(loop: affine.For, row: Mapping[Value, Value]) -> set[Value]:
    """The values that depend on those that go from lane to lane."""
    found = set(row)
    for op in loop.body:
        if any(v in found for inner in walk(op) for v in inner.mentions()):
            found.update(op.defines())
    return found


def best_of_lanes(
    choice: Choice, kept: Sequence[int], vectors: Sequence[Value], results: Sequence[Value], few: int
) -> list[Op]:
    """The values of the lane that has the best: of those that are as good, of that which was first, or last.

    Halves of the lanes are compared until few are left, and these one by one: which of two is better is an order.

    Parameters
    ----------
    kept
        Which of the carried values are compared, the key among them, or go along.
    vectors
        The lanes of each of these, and behind them the iterations that they are from.
    results
        The values to define, for all of these.
    """
    key = None if choice.key is None else kept.index(choice.key)
    made: list[Op] = []
    width = _width(vectors[0])
    while width > few and width % 2 == 0:
        width //= 2
        halves = [[_part(v, at, width) for v in vectors] for at in (0, width)]
        made += [op for half in halves for op in half]
        first, second = ([op.result for op in half] for half in halves)
        ops, vectors = better(choice, key, first, second)
        made += ops
    ops, lanes = lanes_of(vectors, width)
    made += ops
    best = lanes[0]
    for found in lanes[1:]:
        ops, best = better(choice, key, best, found)
        made += ops
    defined = dict(zip(best, results, strict=True))
    return [with_fields(op, result=defined[v]) if (v := next(op.defines())) in defined else op for op in made]


def _part(value: Value, first: int, width: int) -> vector.ExtractStridedSlice:
    """So many lanes of a vector, from one on."""
    assert isinstance(value.type, VectorType)
    return vector.ExtractStridedSlice(Value(VectorType((width,), value.type.element)), value, (first,), (width,), (1,))


def _width(value: Value) -> int:
    assert isinstance(value.type, VectorType)
    return value.type.shape[0]


def better(
    choice: Choice, key: int | None, best: Sequence[Value], found: Sequence[Value]
) -> tuple[list[Op], list[Value]]:
    """The better one of two, or of each two in vectors of them: what computes it, and its values."""
    like = best[-1].type
    type = VectorType(like.shape, I1) if isinstance(like, VectorType) else I1
    ops: list[Op] = [arith.Compare(Value(type), "cmpi", "sgt" if choice.is_last else "slt", found[-1], best[-1])]
    (when,) = ops[0].defines()
    if key is not None:
        better, same, later, either = (Value(type) for _ in range(4))
        equal = "oeq" if choice.kind == "cmpf" else "eq"
        ops += [
            arith.Compare(better, choice.kind, _STRICT[choice.predicate], found[key], best[key]),
            arith.Compare(same, choice.kind, equal, found[key], best[key]),
            arith.Binary(later, "andi", same, when),
            arith.Binary(either, "ori", better, later),
        ]
        when = either
    made = [Value(v.type) for v in best]
    ops += [arith.Select(*each) for each in zip(made, [when] * len(made), found, best, strict=True)]
    return ops, made


def lanes_of(values: Sequence[Value], width: int) -> tuple[list[Op], list[list[Value]]]:
    """Some vectors lane by lane."""
    ops: list[Op] = []
    lanes: list[list[Value]] = []
    for k in range(width):
        lanes.append([])
        for value in values:
            assert isinstance(value.type, VectorType)
            made = Value(value.type.element)
            ops.append(vector.Extract(made, value, (), (k,)))
            lanes[-1].append(made)
    return ops, lanes
