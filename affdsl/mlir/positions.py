"""Affine expressions over values as MLIR's maps and sets over positions, with the values that fill them."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from affdsl.frozen import FrozenValue
from affdsl.ir.expr import Affine, Atom, Constraint, FloorDiv, Product, Value
from affdsl.ir.spelling import tree_of
from affdsl.ir.written import spell_tree


class Positional(FrozenValue):
    """A map or set as text, with the values that fill its dimensions and symbols: each is listed once."""

    text: str
    dims: tuple[Value, ...]
    symbols: tuple[Value, ...]


def map_of(results: Sequence[Affine], is_dim: Container[Value]) -> Positional:
    """`affine_map<(d0)[s0] -> (...)>`: values in is_dim become dimensions, others symbols, in order of their use."""
    dims, symbols, heading, name = _positions(results, is_dim)
    shown = ", ".join([spell_tree(tree_of(result, name)) for result in results])
    return Positional(f"affine_map<{heading} -> ({shown})>", dims, symbols)


def set_of(constraints: Sequence[Constraint], is_dim: Container[Value]) -> Positional:
    """`affine_set<(d0)[s0] : (...)>`; without constraints the set of everything, as mlir-opt writes it."""
    constraints = constraints or (Constraint(Affine(), equality=True),)
    dims, symbols, heading, name = _positions([c.expr for c in constraints], is_dim)
    signs = [" == 0" if c.equality else " >= 0" for c in constraints]
    shown = ", ".join([spell_tree(tree_of(c.expr, name)) + s for c, s in zip(constraints, signs, strict=True)])
    return Positional(f"affine_set<{heading} : ({shown})>", dims, symbols)


def symbolic_values(exprs: Sequence[Affine], is_dim: Container[Value]) -> set[Value]:
    """The values that must be symbols where they are not in is_dim: what stands in a divisor, or multiplies another."""
    found: set[Value] = set()
    atoms: list[Atom] = [atom for expr in exprs for atom, _ in expr.terms]
    seen: set[Atom] = set()
    while atoms:
        atom = atoms.pop()
        if atom in seen:
            continue
        seen.add(atom)
        match atom:
            case FloorDiv(dividend, divisor):
                atoms += [atom for atom, _ in dividend.terms]
                found.update(divisor.values() if isinstance(divisor, Affine) else ())
            case Product(factors):
                for factor in factors:
                    values = list(Affine.of(factor).values())
                    if any(v in is_dim for v in values):
                        atoms.append(factor)  # the one factor that may vary
                    else:
                        found.update(values)
    return found


def _positions(
    exprs: Sequence[Affine], is_dim: Container[Value]
) -> tuple[tuple[Value, ...], tuple[Value, ...], str, Callable[[Value], str]]:
    names: dict[Value, str] = {}
    dims: list[Value] = []
    symbols: list[Value] = []
    for expr in exprs:
        for value in expr.values():
            if value not in names:
                letter, group = ("d", dims) if value in is_dim else ("s", symbols)
                names[value] = f"{letter}{len(group)}"
                group.append(value)
    heading = f"({', '.join([names[d] for d in dims])})"
    if symbols:
        heading += f"[{', '.join([names[s] for s in symbols])}]"
    return tuple(dims), tuple(symbols), heading, names.__getitem__
