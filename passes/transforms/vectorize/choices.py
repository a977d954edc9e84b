"""The best number of a loop and what goes with it, as the place of a maximum: in all lanes, then the best of lanes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, vector
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
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
    last = loop.body[-1]
    found = [made[last.values[k]] for k in choice.values] if isinstance(last, affine.Yield) else []
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


def best_of_lanes(choice: Choice, lanes: Sequence[Sequence[Value]], results: Sequence[Value]) -> Iterator[Op]:
    """The values of the lane that has the best: of those that are as good, of that which was first, or last.

    Parameters
    ----------
    lanes
        For each lane its values in the order of `choice.values`, and behind them the iteration that they are from.
    results
        The values to define.
    """
    best = list(lanes[0])
    for number, found in enumerate(lanes[1:], 2):
        when = Value(I1)
        yield arith.Compare(when, "cmpi", "sgt" if choice.is_last else "slt", found[-1], best[-1])
        if choice.key is not None:
            k = choice.values.index(choice.key)
            better, same, later, either = (Value(I1) for _ in range(4))
            equal = "oeq" if choice.kind == "cmpf" else "eq"
            yield arith.Compare(better, choice.kind, _STRICT[choice.predicate], found[k], best[k])
            yield arith.Compare(same, choice.kind, equal, found[k], best[k])
            yield arith.Binary(later, "andi", same, when)
            yield arith.Binary(either, "ori", better, later)
            when = either
        ends = number == len(lanes)
        made = [r if ends else Value(r.type) for r in results] + [Value(INDEX)]
        for new, a, b in zip(made, found, best, strict=True):
            yield arith.Select(new, when, a, b)
        best = made


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
