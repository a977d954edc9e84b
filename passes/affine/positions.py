"""Which values may stand in affine expressions, whether expressions use them so, and how these are written.

An expression over values is spelled as a tree whose positions are named "v0", "v1", ... here, or "u0", ... where a map
has the value for a symbol, until `spelled` gives each value its place among dimensions and symbols.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from affdsl.ir.applied import Applied, applied
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, func
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import OpT, rewrite, with_fields
from affdsl.ir.types import INDEX
from affdsl.ir.verifier.positions import Position, Positions
from affdsl.ir.written import Tree, positions, replace
from affdsl.passes.affine.arithmetic import MACHINE, Arithmetic, written


def positions_of(root: Op) -> Positions:
    """The position of every value that is defined inside root, as the verifier knows it when it has seen all of it."""
    found = Positions()

    def visit(op: Op, parent: Op | None) -> None:
        found.bind(op)
        for block in op.blocks():
            for inner in block:
                visit(inner, op)
        found.define(op, top=isinstance(parent, func.Func))

    visit(root, None)
    return found


def are_valid(exprs: Iterable[Affine], positions: Positions) -> bool:
    """Whether dimensions and symbols stand where they may in subscripts, bounds and conditions."""
    return next(positions.misplaced(exprs), None) is None


def computed(expr: Affine, at: Op, before: list[Op], positions: Positions) -> Value:
    """The value of an expression before an operation; `before` gets what computes it, by affine.apply if that can."""
    if expr.value is not None:
        return expr.value
    if expr.is_constant:
        before.append(arith.Constant(result := Value(INDEX), expr.constant, location=at.location))
        return result
    if next(positions.misplaced([expr], dims=False), None) is None:
        before.append(affine.Apply(result := Value(INDEX), expr, location=at.location))
        return result
    arithmetic = Arithmetic(lambda value: MACHINE, at.location)
    result = arithmetic.value_of(expr)
    before += arithmetic.ops
    return result


class PositionNames:
    """Names for values in trees that are put together from several places."""

    def __init__(self) -> None:
        self.values: dict[str, Value] = {}
        self._names: dict[Value, str] = {}

    def __getitem__(self, value: Value) -> str:
        return self._named(value, "v")

    def _named(self, value: Value, letter: str) -> str:
        name = self._names.setdefault(value, f"{letter}{len(self._names)}")
        self.values[name] = value
        return name

    def trees(self, map: Applied, numbers: Mapping[Value, int] | None = None) -> list[Tree]:
        """The trees of a field over these names, with some of the values as numbers."""
        new: dict[str, Tree] = {}
        for position, value in map.values.items():
            number = None if numbers is None else numbers.get(value)
            new[position] = self._named(value, "v" if position[0] == "d" else "u") if number is None else number
        return [replace(tree, new.__getitem__) for tree in map.trees]


def spelled(
    trees: Sequence[Tree],
    values: Mapping[str, Value],
    where: Positions,
    equalities: tuple[bool, ...] | None = None,
) -> Applied:
    """A map or set over values: symbols where they may be symbols, otherwise dimensions, as MLIR puts them in order.

    They are in the order of their names; what was a symbol before stands before what becomes one.
    """
    names: dict[str, Tree] = {}
    groups: dict[str, list[Value]] = {"d": [], "s": []}
    for name in sorted({name for tree in trees for name in positions(tree)}, key=lambda n: (n[0], int(n[1:]))):
        letter = "s" if where.of(values[name]) is Position.SYMBOL else "d"
        names[name] = f"{letter}{len(groups[letter])}"
        groups[letter].append(values[name])
    shown = tuple(replace(tree, names.__getitem__) for tree in trees)
    return applied(shown, tuple(groups["d"]), tuple(groups["s"]), equalities)


def respelled(op: OpT, where: Positions) -> OpT:
    """op and all inside with maps and sets written anew where one has for a symbol what is only a dimension here."""
    inner = rewrite(op, lambda o: _respelled(o, where))
    return _respelled(inner, where) or inner


def _respelled(op: OpT, where: Positions) -> OpT | None:
    if op.written is None or all(
        where.of(v) is Position.SYMBOL for applied in op.written.values() for v in applied.symbols
    ):
        return None
    new: dict[str, Applied] = {}
    for field, old in op.written.items():
        names = PositionNames()
        trees = names.trees(written(op, field)) if op.spelling(field) is not None else None
        if trees is not None:
            new[field] = spelled(trees, names.values, where, old.equalities)
    return with_fields(op, written=new)


def exprs_of(map: Applied) -> tuple[Affine, ...]:
    """What the results of a map mean."""
    return tuple(e for e in map.means if isinstance(e, Affine))
