"""Integers that certainly fit into 16 bits, as what is computed of bytes: twice as many fit into a vector then."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, math
from affdsl.ir.expr import Value
from affdsl.ir.traverse import substitute, walk, with_fields
from affdsl.ir.types import IntegerType

SHORT = IntegerType(16)
LEAST, MOST = -(2**15), 2**15 - 1
Ends = tuple[int, int]
"""The least and the greatest that a number can be."""
_WIDE = (IntegerType(32), IntegerType(64))
_TWO = ("addi", "subi", "muli", "minsi", "maxsi", "andi", "shrsi", "shrui")


def in_short_integers(loop: affine.For) -> affine.For:
    """The loop where integers that certainly fit into 16 bits have so many, as far as that spares operations.

        t: i32 = extui x; u = t + 60; v = min(u, 255); y: i8 = trunci v   ->   the same with t, u, v: i16

    It is the same object where there are none, or as many would have to be made long again.
    """
    ends = _ends(loop)
    if not ends:
        return loop
    makers = {v: op for op in loop.body for v in op.defines()}
    short = _short(ends, makers)
    long = _needed_long(loop, short)
    again = [v for v in short if v in long and not isinstance(makers[v], arith.Constant)]
    computing = sum(isinstance(makers[v], arith.Binary | math.Unary | arith.Select) for v in short)
    if computing <= len(again):
        return loop
    return with_fields(loop, body=tuple(_made(loop, short, long)))


def _ends(loop: affine.For) -> dict[Value, Ends]:
    """What is known of integers of more than 16 bits, and of what these are compared with."""
    found: dict[Value, Ends] = {}
    has_bytes = False
    for op in loop.body:
        match op:
            case arith.Constant(result=result, value=int() as number) if result.type in _WIDE:
                found[result] = number, number
            case arith.Cast(kind="extui" | "extsi" as kind, operand=operand, result=result):
                if operand.type == IntegerType(8) and result.type in _WIDE:
                    found[result] = (0, 255) if kind == "extui" else (-128, 127)
                    has_bytes = True
            case arith.Binary(kind=kind, left=left, right=right, result=result):
                if left in found and right in found and kind in _TWO:
                    ends = _computed(kind, found[left], found[right])
                    if ends is not None:
                        found[result] = ends
            case math.Unary(kind="absi", operand=operand, result=result) if operand in found:
                low, high = found[operand]
                found[result] = max(0, low, -high), max(-low, high)
            case arith.Select(if_true=yes, if_false=no, result=result) if yes in found and no in found:
                found[result] = min(found[yes][0], found[no][0]), max(found[yes][1], found[no][1])
    return found if has_bytes else {}


def _computed(kind: str, a: Ends, b: Ends) -> Ends | None:
    """What two numbers make, if that is exact; None where nothing is known of it."""
    match kind:
        case "addi":
            return a[0] + b[0], a[1] + b[1]
        case "subi":
            return a[0] - b[1], a[1] - b[0]
        case "muli":
            products = [x * y for x in a for y in b]
            return min(products), max(products)
        case "minsi":
            return min(a[0], b[0]), min(a[1], b[1])
        case "maxsi":
            return max(a[0], b[0]), max(a[1], b[1])
        case "andi" if min(a[0], b[0]) >= 0:
            return 0, min(a[1], b[1])
        case "shrsi" | "shrui" if (kind == "shrsi" or a[0] >= 0) and 0 <= b[0] == b[1] < SHORT.width:
            return a[0] >> b[0], a[1] >> b[0]
    return None


def _short(ends: Mapping[Value, Ends], makers: Mapping[Value, Op]) -> dict[Value, Ends]:
    """The integers that fit into 16 bits, with all of which they are made: those are in front of them."""
    found: dict[Value, Ends] = {}
    for v, each in ends.items():
        op = makers[v]
        operands = [o for o in op.reads() if o.type in _WIDE]
        if each[0] >= LEAST and each[1] <= MOST and all(o in found for o in operands):
            found[v] = each
    return found


def _needed_long(loop: affine.For, short: Mapping[Value, Ends]) -> set[Value]:
    """What operations read that do not take numbers of 16 bits."""
    others = [op for op in loop.body if not _takes(op, short)]
    return {v for op in others for each in walk(op) for v in each.mentions()}


def _takes(op: Op, short: Mapping[Value, Ends]) -> bool:
    """Whether an operation is one on numbers of 16 bits as well."""
    if any(v in short for v in op.defines()):
        return True
    if isinstance(op, arith.Compare):
        return op.kind == "cmpi" and all(v in short for v in op.reads())
    if not isinstance(op, arith.Cast) or op.operand not in short:
        return False
    return op.kind in ("extsi", "sitofp") or (op.kind == "trunci" and op.result.type == IntegerType(8))


def _made(loop: affine.For, short: Mapping[Value, Ends], long: Collection[Value]) -> Iterator[Op]:
    """The body with short numbers, each of those that are needed long made so behind it, and constants in both."""
    new = {v: Value(SHORT, v.hint, v.location) for v in short}
    for op in loop.body:
        if not _takes(op, short):
            yield op
            continue
        found = next((v for v in op.defines() if v in new), None)
        made = substitute(op, {v: new[v] for v in op.reads() if v in new})
        yield made if found is None else with_fields(made, result=new[found])
        if found not in long:
            continue
        if isinstance(op, arith.Constant):
            yield op
        elif found is not None:
            yield arith.Cast(found, "extsi", new[found], location=op.location)
