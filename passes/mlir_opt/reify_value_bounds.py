"""Bounds of values as operations, in mlir-opt's test of them: what `test.reify_bound` asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from affdsl.ir.applied import Applied
from affdsl.ir.attributes import IntegerAttr, StringAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, func
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Affine, Value
from affdsl.ir.opaque_types import shaped
from affdsl.ir.renaming import renamed
from affdsl.ir.spelling import tree_of
from affdsl.ir.traverse import rewrite, walk
from affdsl.ir.types import INDEX
from affdsl.ir.verifier.positions import Positions
from affdsl.passes.affine.arithmetic import MACHINE, Arithmetic
from affdsl.passes.affine.maps import flattened
from affdsl.passes.affine.positions import PositionNames, exprs_of, positions_of, spelled
from affdsl.passes.affine.value_bounds import ValueBounds
from affdsl.passes.mlir_opt.remarks import Remarks

_KIND = "test.reify_bound"


def reify_value_bounds(
    module: func.Module, *, reify_to_func_args: bool = False, use_arith_ops: bool = False
) -> func.Module:
    """The same program with a bound in the place of each `test.reify_bound`, where one is known.

        %b = "test.reify_bound"(%s) {type = "UB"}       ->      %b = affine.apply (n - m + 1)

    `type` is "EQ", what the value is, "LB", what it is at least, or "UB", one more than it is at most; `dim` asks for a
    size of a tensor, `constant` for a number.

    Parameters
    ----------
    reify_to_func_args
        In terms of arguments of functions, instead of any values but the one that is asked for.
    use_arith_ops
        Compute it by arith, instead of affine.apply.
    """
    bounds, positions = ValueBounds(module), positions_of(module)
    arguments = _arguments(module) if reify_to_func_args else None
    replaced: dict[Value, Value] = {}

    def rule(op: Op) -> Iterable[Op] | None:
        if not isinstance(op, Opaque) or op.kind != _KIND or _problem(op):
            return None
        found = _bound(op, bounds, arguments)
        if found is None:
            return None
        (old,) = op.results
        if found.value is not None:
            replaced[old] = found.value
            return ()
        if found.is_constant:
            return (arith.Constant(old, found.constant, location=op.location),)
        if not use_arith_ops:
            map = _in_order(found, bounds.index(op.operands[0]), positions)
            return (affine.Apply(old, *exprs_of(map), location=op.location, written={"expr": map}),)
        arithmetic = Arithmetic(lambda value: MACHINE, op.location)
        replaced[old] = arithmetic.value_of(found)
        return arithmetic.ops

    return renamed(rewrite(module, rule), replaced)


def unknown_bounds(
    module: func.Module,
    context: func.Module | None = None,
    *,
    reify_to_func_args: bool = False,
    use_arith_ops: bool = False,
) -> Iterator[Remarks]:
    """What is wrong with each `test.reify_bound`, or that its bound is not known; all as in `reify_value_bounds`."""
    bounds, arguments = ValueBounds(module), _arguments(module) if reify_to_func_args else None
    for op in walk(module):
        if isinstance(op, Opaque) and op.kind == _KIND:
            problem = _problem(op)
            if not problem and _bound(op, bounds, arguments) is None:
                problem = "could not reify bound"
            if problem:
                yield Remarks(op, "error", (problem,))


def _in_order(found: Affine, asked: Affine, positions: Positions) -> Applied:
    """An expression as a map: first of the values in what was asked for, then of those that bound others."""
    names = PositionNames()
    for value in (*asked.values(), *found.values()):
        _ = names[value]
    return flattened(spelled([tree_of(found, names.__getitem__)], names.values, positions))


def _arguments(module: func.Module) -> set[Value]:
    return {value for f in walk(module) if isinstance(f, func.Func) for value in f.args}


def _problem(op: Opaque) -> str:
    """What is wrong with the question; empty if nothing is."""
    (value,), said = op.operands, dict((*op.properties, *op.attributes))
    type, axis = shaped(value.type), said.get("dim")
    text = ""
    match axis:
        case IntegerAttr(value=number) if type is None:
            text = "unexpected 'dim' attribute for index variable"
        case IntegerAttr(value=number) if number < 0:
            text = "dim must be non-negative"
        case IntegerAttr(value=number) if type is not None and type.shape is not None and number >= len(type.shape):
            text = "invalid dim for shaped type"
        case None if type is not None:
            text = "expected 'dim' attribute for shaped type variable"
    return f"'{_KIND}' op {text}" if text else ""


def _bound(op: Opaque, bounds: ValueBounds, arguments: set[Value] | None) -> Affine | None:
    (value,), said = op.operands, dict((*op.properties, *op.attributes))
    match said.get("dim"):
        case IntegerAttr(value=axis):
            expr = bounds.size(value, axis)
        case _:
            expr = bounds.index(value) if value.type == INDEX else None
    if expr is None:
        return None
    kind = said.get("type")
    asked = kind.value if isinstance(kind, StringAttr) else "EQ"

    def allowed(v: Value) -> bool:
        return "constant" not in said and (v is not value if arguments is None else v in arguments)

    match asked:
        case "UB":
            found = bounds.upper(expr, allowed)
            return None if found is None else found + 1
        case "LB":
            return bounds.lower(expr, allowed)
    number = bounds.range_of(expr).value
    if number is not None:
        return Affine((), number)
    return expr if all(map(allowed, expr.values())) else None
