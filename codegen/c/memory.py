"""Accesses to elements as C."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.codegen.c import tables
from affdsl.codegen.c.affine_values import product
from affdsl.codegen.c.buffers import Buffer
from affdsl.codegen.c.checks import index_of
from affdsl.codegen.c.context import Context
from affdsl.codegen.c.expressions import PRIMARY, UNARY, Code, number, plus, times
from affdsl.codegen.c.types import element
from affdsl.codegen.c.unit import Unit
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.integers import width
from affdsl.ir.traverse import subscripts
from affdsl.ir.types import ComplexType, FloatType, NumberType


def load(c: Context, op: affine.Load | memref.Load) -> None:
    """The value of an element."""
    buffer = c.buffers[op.memref]
    kind = element(buffer.type)
    lvalue = element_at(c, op, op.memref, subscripts(op))
    c.lines.read(buffer.name)
    c.values.define(op.result, tables.load_element(kind, lvalue, c.unit, unsigned=buffer.unsigned))


def store(c: Context, op: affine.Store | memref.Store) -> None:
    """Assign to an element."""
    buffer = c.buffers[op.memref]
    kind = element(buffer.type)
    value = c.values.of(op.value)
    target = element_at(c, op, op.memref, subscripts(op))
    c.writes(buffer)
    stored = tables.store(kind, value, c.unit, unsigned=buffer.unsigned)
    if assign(c, target.text, value, kind, stored, unsigned=buffer.unsigned):
        c.lines.unread(buffer.name)


def element_at(c: Context, op: Op, memref_value: Value, index: Sequence[Affine]) -> Code:
    """The element that an operation touches as an lvalue."""
    buffer = c.buffers[memref_value]
    codes = index_of(c, op, memref_value, index)
    if not codes and buffer.offset == 0:
        c.lines.read(buffer.name)  # to follow a pointer is to read it
        return Code(f"*{buffer.name}", UNARY, frozenset((buffer.root,)))
    place = place_in(c, buffer, codes)
    return Code(
        f"{buffer.name}[{place}]",
        PRIMARY,
        place.buffers | {buffer.root},
        place.variables,
        None,
        (Code(buffer.name), place),
    )


def place_in(c: Context, buffer: Buffer, index: Sequence[Code]) -> Code:
    """The number of an element in its buffer."""
    place = number(buffer.offset)
    for k, part in enumerate(index):
        if buffer.strides is not None and part.number == 0:
            continue
        elif buffer.strides is not None:
            stride = c.values.expression(buffer.strides[k])
            if stride.number == 0:
                c.lines.drop(part)
            place = plus(place, times(part, stride))
        elif k == 0 or place.number == 0:
            place = part
        else:
            size = c.values.expression(c.buffers.size(buffer, k))
            if size.number == 0:
                c.lines.drop(place)
            place = plus(times(place, size), part)
    return place


def strides_in(c: Context, buffer: Buffer, first: int = 0) -> tuple[Affine, ...]:
    """The strides of a buffer from a dimension on, those of a contiguous one from its sizes."""
    if buffer.strides is not None:
        return tuple(Affine.of(s) for s in buffer.strides[first:])
    strides: list[Affine] = []
    step = Affine.of(1)
    for k in range(buffer.type.rank - 1, first - 1, -1):
        strides.append(step)
        if k > first:
            step = product(c, step, c.buffers.size(buffer, k))
    return tuple(reversed(strides))


def assign(
    c: Context, target: str, value: Code, kind: NumberType, stored: Code | None = None, *, unsigned: bool = False
) -> bool:
    """target = value; `stored` is what memory gets. Whether it is written `target op= operand`, which does not read."""
    shown = None if value.binary is None else _compound(target, value, kind, unsigned=unsigned)
    if shown is not None:
        c.unit.uncalled(value.function)
    c.lines.add(shown or f"{target} = {value if stored is None else stored};")
    return shown is not None


def _compound(target: str, value: Code, kind: NumberType, *, unsigned: bool) -> str | None:
    assert value.binary is not None
    operator, left, right = value.binary
    bits = 0 if isinstance(kind, FloatType | ComplexType) else width(kind)
    wraps = operator.startswith("wrap")
    operator = operator.removeprefix("wrap")
    if isinstance(kind, FloatType):
        fits = operator in ("+", "-", "*", "/") and kind.name in ("f32", "f64")
        read = target
    elif isinstance(kind, ComplexType):
        fits, read = operator in ("+", "-"), target
    elif unsigned and bits in (32, 64):
        fits = operator in ("+", "-", "*", "&", "|", "^")
        read = f"(int{bits}_t){target}"
    else:
        fits = operator in ("&", "|", "^") and not wraps
        read = target
    if not fits:
        return None
    other = right if left.text == read else left if right.text == read and operator != "-" and operator != "/" else None
    if other is None:
        return None
    if unsigned and bits:
        other = tables.store(kind, other, Unit(), unsigned=True)
    return f"{target} {operator}= {other};"
