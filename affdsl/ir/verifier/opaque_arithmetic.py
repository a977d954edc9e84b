"""The rules of arithmetic on types that the IR has no class for: tensors, wide integers, floats of other formats."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.ir.dialects import arith, math
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Value
from affdsl.ir.messages import shown
from affdsl.ir.opaque_types import element_text, scalar, shaped
from affdsl.ir.types import OpaqueType, Type, VectorType


def arithmetic(op: Opaque) -> Iterator[str]:
    """An operation of arith or math: the numbers of its operands and results, and the classes of their types."""
    kind = op.kind.partition(".")[2]
    name = "arith" if op.kind.startswith("arith.") else "math"
    operands, results = list(op.operands), list(op.results)
    wanted = _numbers_of(name, kind)
    if wanted is not None and (len(operands), len(results)) != wanted:
        yield f"takes {wanted[0]} operands and gives {wanted[1]} results, not {len(operands)} and {len(results)}"
        return
    if kind in arith.CASTS and name == "arith":
        source, target = arith.CASTS[kind]
        yield from _number(source, operands[:1])
        yield from _number(target, results[:1])
        if _sizes(operands[0].type) != _sizes(results[0].type):
            yield f"there is no {kind} from {operands[0].type} to {results[0].type}"
        return
    kinds = _class_of(name, kind)
    if kinds is None:
        return
    yield from _number(kinds, operands)
    same = [*operands, *results] if kind not in ("cmpi", "cmpf", "addui_extended", *math.FLOAT_TESTS) else operands
    for value in same[1:]:
        if value.type != same[0].type and kind != "fpowi":
            yield f"{shown(value)} has type {value.type}, but {shown(same[0])} has type {same[0].type}"


def _numbers_of(dialect: str, kind: str) -> tuple[int, int] | None:
    """How many operands and results an operation has."""
    if dialect == "arith":
        if kind in arith.EXTENDED:
            return 2, 2
        if kind in (*arith.INTEGER_BINARY, *arith.FLOAT_BINARY, "cmpi", "cmpf"):
            return 2, 1
        return {"constant": (0, 1), "select": (3, 1)}.get(kind, (1, 1)) if kind in _ARITH else None
    if kind in (*math.FLOAT_BINARY, "fpowi", "ipowi"):
        return 2, 1
    if kind == "fma":
        return 3, 1
    return (1, 1) if kind in (*math.FLOAT_UNARY, *math.FLOAT_TESTS, *math.INTEGER_UNARY) else None


_ARITH = (*arith.CASTS, "constant", "negf", "select")


def _class_of(dialect: str, kind: str) -> str | None:
    """The class of the operands of an operation; None where they have several."""
    if dialect == "arith":
        if kind in (*arith.FLOAT_BINARY, "negf", "cmpf"):
            return "float"
        return "integer or index" if kind in (*arith.INTEGER_BINARY, *arith.EXTENDED, "cmpi") else None
    if kind in (*math.FLOAT_UNARY, *math.FLOAT_TESTS, *math.FLOAT_BINARY, "fma", "clampf", "sincos"):
        return "float"
    return "integer or index" if kind in (*math.INTEGER_UNARY, "ipowi") else None


def _number(wanted: str, values: list[Value]) -> Iterator[str]:
    for value in values:
        of = shaped(value.type) if wanted == "integer or float" else None  # what arith.bitcast takes: buffers too
        found = scalar(element_text(value.type) if of is None else of.element)
        if found is None or found.kind not in wanted.split(" or ") or found.sign:
            yield f"{shown(value)} must be {'an' if wanted[0] == 'i' else 'a'} {wanted}, but has type {value.type}"


def _sizes(type: Type) -> tuple[str, tuple[int | None, ...] | None]:
    """What a type is of numbers, a vector or a tensor, and its sizes; those of buffers may differ."""
    found = shaped(type) if isinstance(type, OpaqueType | VectorType) else None
    what = str(type).partition("<")[0] if shaped(type) is not None else ""
    return what, None if found is None else found.shape
