"""Maps and sets with their operands, as some text had them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from affdsl.ir.expr import Affine, Constraint, Term, Value
from affdsl.ir.written import Tree, spell_tree


@dataclass(frozen=True, eq=False, slots=True)
class Applied:
    """The results of a map, or the constraints of a set, over operands; `means` is what they stand for.

    `equalities` is None for a map; for a set it says which trees equal zero, where the others are at least zero.
    """

    trees: tuple[Tree, ...]
    equalities: tuple[bool, ...] | None
    dims: tuple[Value, ...]
    symbols: tuple[Value, ...]
    means: tuple[Affine, ...] | tuple[Constraint, ...]

    @property
    def text(self) -> str:
        """`affine_map<...>` or `affine_set<...>`"""
        heading = positional_heading(len(self.dims), len(self.symbols))
        if self.equalities is None:
            return f"affine_map<{heading} -> ({', '.join([spell_tree(t) for t in self.trees])})>"
        shown = [spell_tree(t) + (" == 0" if e else " >= 0") for t, e in zip(self.trees, self.equalities, strict=True)]
        return f"affine_set<{heading} : ({', '.join(shown)})>"

    def renamed(self, new: Mapping[Value, Term]) -> Applied | None:
        """self with other operands; None if one of them becomes an expression."""
        old = (*self.dims, *self.symbols)
        if not any(v in new for v in old):
            return self
        values = [by if isinstance(by := new.get(v, v), Value) else Affine.of(by).value for v in old]
        operands = tuple([v for v in values if v is not None])
        if len(operands) < len(values):
            return None
        count = len(self.dims)
        means: tuple[Any, ...] = tuple([each.substitute(new) for each in self.means])  # expressions, or constraints
        return Applied(self.trees, self.equalities, operands[:count], operands[count:], means)


def applied(
    trees: tuple[Tree, ...],
    equalities: tuple[bool, ...] | None,
    dims: tuple[Value, ...],
    symbols: tuple[Value, ...],
) -> Applied:
    """A map or set with its operands. Raises ZeroDivisionError if a divisor is a number that is not positive."""
    means = tuple([meaning(tree, dims, symbols) for tree in trees])
    if equalities is None:
        return Applied(trees, None, dims, symbols, means)
    constraints = tuple(Constraint(expr, e) for expr, e in zip(means, equalities, strict=True))
    return Applied(trees, equalities, dims, symbols, constraints)


def meaning(tree: Tree, dims: tuple[Value, ...], symbols: tuple[Value, ...]) -> Affine:
    """The expression that a tree stands for."""
    match tree:
        case int():
            return Affine((), tree)
        case str():
            return Affine.of((dims if tree[0] == "d" else symbols)[int(tree[1:])])
        case ("*", str() as name, int(number)):
            return Affine((((dims if name[0] == "d" else symbols)[int(name[1:])], number),)) if number else Affine()
        case (operator, left, right):
            a, b = meaning(left, dims, symbols), meaning(right, dims, symbols)
            match operator:
                case "+":
                    return a + b
                case "*":
                    return a * b
                case "floordiv":
                    return a // b
                case "ceildiv":
                    return a.ceildiv(b)
                case _:
                    return a % b


def positional_heading(dims: int, symbols: int) -> str:
    """`(d0, d1)[s0]`"""
    text = f"({', '.join([f'd{i}' for i in range(dims)])})"
    return f"{text}[{', '.join([f's{i}' for i in range(symbols)])}]" if symbols else text
