"""Numbers of other types in all lanes of vectors of C."""

from __future__ import annotations

from affdsl.codegen.c.context import Context
from affdsl.codegen.c.expressions import Code, call, cast, infix, number
from affdsl.codegen.c.masks import is_mask
from affdsl.codegen.c.quirks import is_written
from affdsl.codegen.c.types import suffix, value_type
from affdsl.codegen.c.vector_helpers import NARROW, has_row
from affdsl.codegen.c.vector_types import (
    address_of,
    by_way,
    converted,
    helped,
    helper_name,
    integers,
    lane_kind,
    lanes_of,
    mask_of,
    named,
    on_vectors,
    shortened,
    type_name,
    whole,
)
from affdsl.ir.dialects import arith
from affdsl.ir.dialects.arith import ROUNDING
from affdsl.ir.integers import width
from affdsl.ir.types import FloatType, IntegerType, ScalarType


def cast_lanes(c: Context, op: arith.Cast) -> Code | None:
    """A conversion of all lanes that is what C's conversion of a number is."""
    source, target, name = lane_kind(c, op.operand), lane_kind(c, op.result), type_name(c, op.result)
    size = width(source)
    if is_mask(op.result):
        return None
    if is_mask(op.operand):
        return _numbers_of(c, op)
    shown = whole(c, op.operand)
    if op.kind == "bitcast":
        return cast(name, shown)
    if op.kind == "uitofp" or (op.kind in ("extui", "index_castui") and size < width(target)):
        bits = width(source)
        shown = cast(c.unit.vector_type(f"u{bits}", f"uint{bits}_t", lanes_of(op.result)), shown)
    elif op.kind == "fptosi" and (size, width(target)) in ((32, 32), (64, 32), (64, 64)):
        return helped(c, f"trunc_f{size}", op.result, op.operand)
    elif op.kind in ("fptosi", "fptoui") and width(target) <= NARROW:
        return _saturated(c, op)
    elif op.kind in ("fptosi", "fptoui") or (op.kind == "truncf" and op.rounding != ROUNDING[0]):
        return None
    if source == target:
        return shown
    if isinstance(source, IntegerType) and isinstance(target, IntegerType) and source.width < target.width:
        return _widened(c, op, shown, "u" if op.kind in ("extui", "index_castui") else "i", target)
    is_short = isinstance(source, IntegerType) and source.width <= 16
    if is_short and isinstance(target, FloatType) and is_written("integers_made_floats"):
        wide = IntegerType(32)
        shown = _widened(c, op, shown, "u" if op.kind == "uitofp" else "i", wide)
        shown = c.lines.keep("", c.values.temporary, named(c, wide, lanes_of(op.result)), shown)
        source, size = wide, 32
    if target == FloatType("f64") and size == 32 and op.kind in ("extf", "sitofp", "index_cast"):
        kind = suffix(source)
        type = c.unit.vector_type(kind, value_type(source), lanes_of(op.result))
        return call(helper_name(c, f"from_{kind}", op.result), address_of(c, type, shown))
    if isinstance(source, IntegerType) and isinstance(target, IntegerType):
        return shortened(c, shown, source.width, target.width, lanes_of(op.result))
    return converted(name, shown)


def _numbers_of(c: Context, op: arith.Cast) -> Code | None:
    """A mask as numbers that are 1, or -1 with a sign, or 0: as a whole, see the quirk `truths_added`."""
    target = lane_kind(c, op.result)
    bits, lanes = width(target), lanes_of(op.result)
    if op.kind not in ("extui", "extsi", "uitofp", "sitofp"):
        return None
    shown = mask_of(c, op.operand, bits)
    if op.kind in ("extui", "uitofp"):
        shown = infix("&", shown, call(c.unit.vector_helper("all", f"i{bits}", lanes), number(1)))
    return converted(type_name(c, op.result), shown) if isinstance(target, FloatType) else shown


def _saturated(c: Context, op: arith.Cast) -> Code:
    """Floats as narrow integers, by way of wider ones: the nearest there is, and 0 for NaN."""
    source, lanes, wide = lane_kind(c, op.operand), lanes_of(op.result), IntegerType(32)
    bits, size = width(lane_kind(c, op.result)), width(source)
    stem = f"{'truncu' if op.kind == 'fptoui' else 'trunc'}_{suffix(source)}"
    if has_row(stem, f"i{bits}", lanes):
        return by_way(c, stem, source, bits, whole(c, op.operand), lanes)
    if op.kind == "fptoui":  # of NaN and 0, 0 is the greater one
        shown = _between(c, ("greater", "lesser"), source, whole(c, op.operand), (0, (1 << bits) - 1), lanes)
        return shortened(c, converted(named(c, wide, lanes), shown), wide.width, bits, lanes)
    integers(c, "u32", lanes)
    shown = on_vectors(c, f"trunc_f{size}", wide, lanes, op.operand)
    shown = _between(c, ("maxs", "mins"), wide, shown, (-1 << bits - 1, (1 << bits - 1) - 1), lanes)
    return shortened(c, shown, wide.width, bits, lanes)


def _between(
    c: Context, stems: tuple[str, str], kind: ScalarType, shown: Code, ends: tuple[int, int], lanes: int
) -> Code:
    """Each lane, or the nearer one of two numbers where it lies outside of them."""
    type = named(c, kind, lanes)
    for stem, end in zip(stems, ends, strict=True):
        edge = call(c.unit.vector_helper("all", suffix(kind), lanes), number(end))
        shown = call(c.unit.vector_helper(stem, suffix(kind), lanes), *(address_of(c, type, v) for v in (shown, edge)))
    return shown


def _widened(c: Context, op: arith.Cast, shown: Code, sign: str, target: IntegerType) -> Code:
    """Integers as wider ones, by a function that knows an instruction for it."""
    lanes, kind = lanes_of(op.result), f"{sign}{width(lane_kind(c, op.operand))}"
    helper = c.unit.vector_helper(f"from_{kind}", suffix(target), lanes)
    return call(helper, address_of(c, integers(c, kind, lanes), shown))
