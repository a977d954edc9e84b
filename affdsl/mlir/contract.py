"""The contract of a function as attributes: affdsl.shape, affdsl.assume, affdsl.unsigned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn, cast

from affdsl.ir.attributes import Attributes, MapAttr, OpaqueAttr, UnitAttr, without
from affdsl.ir.core import Block
from affdsl.ir.dialects import func
from affdsl.ir.dialects.opaque import may_end
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.location import Location
from affdsl.ir.maps import AffineMap, IntegerSet
from affdsl.ir.spelling import spell, spell_constraint
from affdsl.ir.types import INDEX, MemRefType, Type
from affdsl.mlir.names import bare_names

Refuse = Callable[[str], NoReturn]


def function(
    refuse: Refuse,
    symbol: str,
    args: Sequence[Value],
    body: Block,
    results: Sequence[tuple[Type, Attributes]],
    of_args: Sequence[Attributes],
    attributes: Attributes,
    private: bool,
    external: bool,
    location: Location | None,
) -> func.Func:
    """A function whose contract stands in its attributes; `refuse` raises what is wrong with that."""
    given = [_without_contract(a) for a in of_args]
    returned = [_without_contract(a) for _, a in results]
    return func.Func(
        symbol, tuple(args), body, tuple([type for type, _ in results]),
        _shapes(refuse, args, of_args), _assumes(refuse, args, attributes),
        frozenset(n for n, a in enumerate(of_args) if ("affdsl.unsigned", UnitAttr()) in a),
        frozenset(n for n, (_, a) in enumerate(results) if ("affdsl.unsigned", UnitAttr()) in a),
        private, external,
        tuple(given) if any(given) else (), tuple(returned) if any(returned) else (),
        location=location, attributes=without(attributes, "affdsl.assume"),
    )  # fmt: skip


def ends_itself(op: func.Func) -> bool:
    """Whether the last operation of a function is its terminator: one that yields values, or an unknown one."""
    if not op.body or op.body[-1].is_terminator:
        return bool(op.body)
    return may_end(op.body[-1]) and not any(op.ends)


def contract_attributes(
    op: func.Func, names: Sequence[str] = ()
) -> tuple[list[Attributes], list[Attributes], Attributes]:
    """The attributes of each argument, of each result, and of the function, those of the contract among them.

    `names` are what the arguments are called; without them the symbols of the maps have numbers.
    """
    heading, sizes = _heading(op, names)
    of_args: list[Attributes] = []
    for position in range(len(op.args)):
        found = op.argument_attributes[position] if op.argument_attributes else ()
        if _promises(op, position):
            shown = ", ".join([spell(size, sizes.__getitem__) for size in op.shapes[position] or ()])
            found = (("affdsl.shape", OpaqueAttr(f"affine_map<{heading} -> ({shown})>")), *found)
        of_args.append((*found, ("affdsl.unsigned", UnitAttr())) if position in op.unsigned else found)
    of_results: list[Attributes] = []
    for position in range(len(op.result_types)):
        found = op.result_attributes[position] if op.result_attributes else ()
        of_results.append((*found, ("affdsl.unsigned", UnitAttr())) if position in op.unsigned_results else found)
    facts = ", ".join([spell_constraint(c, sizes.__getitem__) for c in op.assumes])
    assumed = (("affdsl.assume", OpaqueAttr(f"affine_set<{heading} : ({facts})>")),) if op.assumes else ()
    return of_args, of_results, assumed


def _heading(op: func.Func, names: Sequence[str]) -> tuple[str, dict[Value, str]]:
    """The index arguments, all of them, as the symbols of a map or set."""
    indices = [(position, v) for position, v in enumerate(op.args) if v.type == INDEX]
    shown = bare_names(names[position] if names else f"%s{n}" for n, (position, _) in enumerate(indices))
    heading = f"()[{', '.join(shown)}]" if shown else "()"
    return heading, {v: name for (_, v), name in zip(indices, shown, strict=True)}


def _promises(op: func.Func, position: int) -> bool:
    """Whether the contract has sizes for an argument that its type does not already tell."""
    sizes = op.shapes[position] if op.shapes else None
    type = op.args[position].type
    if sizes is None:
        return False
    known = type.shape if isinstance(type, MemRefType) else ()
    return None in known or tuple(s.constant if s.is_constant else None for s in sizes) != known


def _without_contract(attributes: Attributes) -> Attributes:
    return without(attributes, "affdsl.shape", "affdsl.unsigned")


def _assumes(refuse: Refuse, args: Sequence[Value], attributes: Attributes) -> tuple[Constraint, ...]:
    match dict(attributes).get("affdsl.assume"):
        case None:
            return ()
        case MapAttr(IntegerSet() as facts):
            indices = _indices(refuse, facts, args)
            return facts.apply((), indices)
    refuse("affdsl.assume must be an integer set over the index arguments")


def _shapes(
    refuse: Refuse, args: Sequence[Value], of_args: Sequence[Attributes]
) -> tuple[tuple[Affine, ...] | None, ...]:
    """The contract's sizes; those of static types are not written out."""
    given = [dict(a).get("affdsl.shape") for a in of_args]
    if all(shape is None for shape in given):
        return ()
    shapes: list[tuple[Affine, ...] | None] = []
    for arg, shape in zip(args, given, strict=True):
        match shape:
            case MapAttr(AffineMap() as map):
                shapes.append(map.apply((), _indices(refuse, map, args)))
            case None if isinstance(arg.type, MemRefType) and None not in arg.type.shape:
                shapes.append(tuple([Affine((), cast("int", size)) for size in arg.type.shape]))
            case None:
                shapes.append(None)
            case _:
                refuse("affdsl.shape must be an affine map over the index arguments")
    return tuple(shapes)


def _indices(refuse: Refuse, of: AffineMap | IntegerSet, args: Sequence[Value]) -> list[Value]:
    indices = [a for a in args if a.type == INDEX]
    if (of.dims, of.symbols) != (0, len(indices)):
        refuse(f"the contract takes {of.dims} dims and {of.symbols} symbols, got 0 and {len(indices)}")
    return indices
