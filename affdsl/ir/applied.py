"""Maps and sets with their operands: what operations carry as it was written, and what passes rewrite."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from affdsl.frozen import FrozenValue, replace
from affdsl.ir.expr import Affine, Constraint, Term, Value
from affdsl.ir.written import Tree, spell_tree


class Applied(FrozenValue):
    """Trees over positions, and the values that stand there: "d0" is dims[0], "s0" is symbols[0].

    For a set, `equalities` says which trees equal zero where the others are at least zero; None for a map.
    """

    trees: tuple[Tree, ...]
    dims: tuple[Value, ...]
    symbols: tuple[Value, ...]
    equalities: tuple[bool, ...] | None = None

    @cached_property
    def means(self) -> tuple[Affine, ...] | tuple[Constraint, ...]:
        """What the trees stand for. Raises ZeroDivisionError if a divisor is a number that is not positive."""
        exprs = tuple([meaning(tree, self.dims, self.symbols) for tree in self.trees])
        if self.equalities is None:
            return exprs
        return tuple([Constraint(expr, e) for expr, e in zip(exprs, self.equalities, strict=True)])

    @property
    def exprs(self) -> tuple[Affine, ...]:
        """What the trees of a map stand for."""
        return tuple([e for e in self.means if isinstance(e, Affine)])

    @property
    def operands(self) -> tuple[Value, ...]:
        """The values of all positions, dimensions first."""
        return (*self.dims, *self.symbols)

    @property
    def values(self) -> dict[str, Value]:
        """The value at each position."""
        return {f"d{k}": v for k, v in enumerate(self.dims)} | {f"s{k}": v for k, v in enumerate(self.symbols)}

    @property
    def constants(self) -> tuple[int, ...] | None:
        """The numbers that the trees are; None if one of them is not a number."""
        numbers = tuple([t for t in self.trees if isinstance(t, int)])
        return numbers if len(numbers) == len(self.trees) else None

    @property
    def text(self) -> str:
        """`affine_map<...>` or `affine_set<...>`"""
        heading = positional_heading(len(self.dims), len(self.symbols))
        if self.equalities is None:
            return f"affine_map<{heading} -> ({', '.join([spell_tree(t) for t in self.trees])})>"
        shown = [spell_tree(t) + (" == 0" if e else " >= 0") for t, e in zip(self.trees, self.equalities, strict=True)]
        return f"affine_set<{heading} : ({', '.join(shown)})>"

    def value(self, position: str) -> Value:
        """The value at a position."""
        return (self.dims if position[0] == "d" else self.symbols)[int(position[1:])]

    def with_values(self, new: Callable[[Value], Value]) -> Applied:
        """The same trees over other values."""
        return replace(self, dims=tuple(map(new, self.dims)), symbols=tuple(map(new, self.symbols)))

    def renamed(self, new: Mapping[Value, Term]) -> Applied | None:
        """self with other operands, and its meaning; None if one of them becomes an expression."""
        old = self.operands
        if not any(v in new for v in old):
            return self
        values = [by if isinstance(by := new.get(v, v), Value) else Affine.of(by).value for v in old]
        operands = tuple([v for v in values if v is not None])
        if len(operands) < len(values):
            return None
        count = len(self.dims)
        made = Applied(self.trees, operands[:count], operands[count:], self.equalities)
        vars(made)["means"] = tuple([each.substitute(new) for each in self.means])
        return made


def applied(
    trees: tuple[Tree, ...],
    dims: tuple[Value, ...],
    symbols: tuple[Value, ...],
    equalities: tuple[bool, ...] | None = None,
) -> Applied:
    """A map or set with its operands. Raises ZeroDivisionError if a divisor is a number that is not positive."""
    made = Applied(trees, dims, symbols, equalities)
    _ = made.means
    return made


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
