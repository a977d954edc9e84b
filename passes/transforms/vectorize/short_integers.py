"""Integers computed of bytes in 16 bits, where these are all that counts: twice as many fit into a vector then."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import TypeAlias

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, math
from affdsl.ir.expr import Value
from affdsl.ir.traverse import substitute, walk, with_fields
from affdsl.ir.types import IntegerType
from affdsl.passes.transforms.vectorize.ends import BYTE, WIDE, Ends, ends_of_bytes, fits

BITS = 16
SHORT = IntegerType(BITS)
LEAST = -(2 ** (BITS - 1))
WHOLE = 64
"""So many bits of a number are needed where it counts as it is."""
Known: TypeAlias = Mapping[Value, Ends]
_MODULO = ("addi", "subi", "muli", "andi", "ori", "xori")
"""The low bits of what these make come of the low bits of what they read."""
_ORDERED = ("minsi", "maxsi")
_DIVIDING = {"divsi": "divui", "floordivsi": "divui", "divui": "divui", "remsi": "remui", "remui": "remui"}
"""What divides, and what does the same to numbers that are not negative."""


def in_short_integers(loop: affine.For) -> affine.For:
    """The loop with integers of 16 bits where others are longer for no reason, as far as that spares operations.

    These are integers that certainly fit, and those of which nobody needs the upper bits: sums, products and shifts
    to the left make low bits of low bits.

        t: i32 = extui x; u = 300 * t; v = u >> 8; y: i8 = trunci v   ->   the same with t, u, v: i16, and shrui

    It is the same object where there are none, or as many would have to be made long again.
    """
    ends = ends_of_bytes(loop.body)
    if not ends:
        return loop
    constants = {op.result for op in loop.body if isinstance(op, arith.Constant)}
    short = _short(loop, constants, ends)
    taking = [_takes(op, short, constants, ends) for op in loop.body]
    others = [op for op, takes in zip(loop.body, taking, strict=True) if not takes]
    long = {v for op in others for each in walk(op) for v in each.mentions()}
    computing = sum(not isinstance(op, arith.Cast) for op in loop.body for v in op.defines() if v in short)
    if computing <= len(short & long):
        return loop
    return with_fields(loop, body=tuple(_made(loop, taking, short, long, ends)))


def _is_exact(v: Value, ends: Known) -> bool:
    """Whether a number is that of its low 16 bits, with their sign."""
    return v in ends and fits(ends[v], SHORT)


def _is_without_sign(v: Value, ends: Known) -> bool:
    """Whether a number is that of its low 16 bits, without a sign."""
    low, high = ends.get(v, (-1, 0))
    return low >= 0 and high < 2**BITS


def _short(loop: affine.For, constants: Set[Value], ends: Known) -> set[Value]:
    """What is computed in 16 bits: all that is needed of it, and of what it is made, are so many."""
    needed: dict[Value, int] = defaultdict(int)
    for op in reversed(loop.body):
        for v, bits in _reads(op, _bits(op, needed, ends), ends):
            needed[v] = max(needed[v], bits)
    found = set[Value]()
    for op in loop.body:
        bits = _bits(op, needed, ends)
        if isinstance(op, arith.Cast):
            is_short = op.operand.type == BYTE and op.kind in ("extui", "extsi") and op.result.type in WIDE
        else:
            operands = [(v, n) for v, n in _reads(op, bits, ends) if v.type in WIDE]
            is_short = bits <= BITS and _is_computed(op, bits, ends)
            is_short &= all(v in found | constants and (n <= BITS or _is_exact(v, ends)) for v, n in operands)
        if is_short:
            found.update(op.defines())
    return found


def _bits(op: Op, needed: Mapping[Value, int], ends: Known) -> int:
    """How many low bits are needed of what an operation makes."""
    return max((min(needed[v], BITS) if _is_exact(v, ends) else needed[v] for v in op.defines()), default=0)


def _is_computed(op: Op, bits: int, ends: Known) -> bool:
    """Whether an operation on numbers of 16 bits makes the low bits that one on longer ones makes."""
    match op:
        case arith.Binary(kind="shli" | "shrsi" | "shrui" as kind, left=left, result=result):
            by, is_signed = _shifted_by(op, ends), ends.get(left, (-1, 0))[0] < 0
            return result.type in WIDE and by >= 0 and (kind != "shrui" or bits + by <= BITS or not is_signed)
        case arith.Binary(kind=kind, left=left, result=result) if kind in _DIVIDING:
            return result in ends and _is_without_sign(left, ends)
        case arith.Binary(kind=kind, result=result):
            return result.type in WIDE and kind in (*_MODULO, *_ORDERED)
        case math.Unary(kind="absi", result=result) | arith.Select(result=result):
            return result.type in WIDE
    return False


def _shifted_by(op: arith.Binary, ends: Known) -> int:
    """By how many bits an operation shifts; -1 where that is not known, or all of 16."""
    least, most = ends.get(op.right, (-1, -1))
    return least if least == most < BITS else -1


def _reads(op: Op, bits: int, ends: Known) -> Iterable[tuple[Value, int]]:
    """What an operation reads, and how many low bits of it are needed for so many of what it makes."""
    match op:
        case arith.Cast(kind="trunci", operand=operand, result=result) if result.type == BYTE:
            return [(operand, BYTE.width)]
        case arith.Binary(kind=kind, left=left, right=right) if kind in _MODULO:
            return [(left, bits), (right, bits)]
        case arith.Binary(kind="shli", left=left, right=right):
            return [(left, bits), (right, WHOLE)]
        case arith.Binary(kind="shrsi" | "shrui", left=left, right=right) if (by := _shifted_by(op, ends)) >= 0:
            is_low = bits + by <= BITS or (by > 0 and _is_without_sign(left, ends))
            return [(left, min(bits + by, BITS) if is_low else WHOLE), (right, WHOLE)]
        case arith.Binary(kind=kind, left=left, right=right) if kind in _DIVIDING and _is_without_sign(left, ends):
            return [(left, BITS), (right, WHOLE)]
        case arith.Select(condition=condition, if_true=yes, if_false=no):
            return [(condition, WHOLE), (yes, bits), (no, bits)]
    return [(v, WHOLE) for each in walk(op) for v in each.mentions()]


def _takes(op: Op, short: Set[Value], constants: Set[Value], ends: Known) -> bool:
    """Whether an operation is one on numbers of 16 bits now."""
    if any(v in short for v in op.defines()):
        return True
    if isinstance(op, arith.Compare):
        return op.kind == "cmpi" and all(v in short | constants and _is_exact(v, ends) for v in op.reads())
    if not isinstance(op, arith.Cast) or op.operand not in short:
        return False
    if op.kind == "trunci":
        return op.result.type == BYTE
    return op.kind in ("extsi", "sitofp") and _is_exact(op.operand, ends)


def _made(loop: affine.For, taking: Sequence[bool], short: Set[Value], long: Set[Value], ends: Known) -> Iterator[Op]:
    """The body with short numbers, each of those that are needed long made so behind it, and constants in both."""
    taken = {v for op, takes in zip(loop.body, taking, strict=True) if takes for v in op.reads()}
    new = {
        v: Value(SHORT, v.hint, v.location)
        for op in loop.body
        for v in op.defines()
        if v in short or (isinstance(op, arith.Constant) and v in taken)
    }
    for op, takes in zip(loop.body, taking, strict=True):
        if isinstance(op, arith.Constant) and op.result in new:
            assert isinstance(op.value, int)
            yield with_fields(op, result=new[op.result], value=(op.value - LEAST) % 2**BITS + LEAST)
            if op.result in long:
                yield op
            continue
        if not takes:
            yield op
            continue
        made = substitute(op, {v: new[v] for v in op.reads() if v in new})
        if isinstance(op, arith.Binary) and op.kind == "shrsi" and not _is_exact(op.left, ends):
            made = with_fields(made, kind="shrui")
        elif isinstance(op, arith.Binary):
            made = with_fields(made, kind=_DIVIDING.get(op.kind, op.kind))
        for v in op.defines():
            if v in short:
                yield with_fields(made, result=new[v])
                if v in long:
                    yield arith.Cast(v, "extsi", new[v], location=op.location)
            else:
                yield made
