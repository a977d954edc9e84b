"""Checks that a view of a buffer, or what moves many of its elements, stays inside of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

from affdsl.codegen.c.affine_values import product
from affdsl.codegen.c.buffers import Buffer
from affdsl.codegen.c.checks import called, misfit, same_size, sizes_of
from affdsl.codegen.c.context import Context
from affdsl.codegen.c.expressions import Code, number
from affdsl.codegen.c.types import element
from affdsl.errors import UnsupportedError
from affdsl.ir.dialects import memref
from affdsl.ir.expr import Affine
from affdsl.ir.numeric import dtype
from affdsl.ir.types import MemRefType


def check_part(
    c: Context, op: memref.SubView, offsets: Sequence[Affine], sizes: Sequence[Affine], strides: Sequence[Affine]
) -> None:
    """Every so many elements of an array are elements of it, along each dimension."""
    if not c.is_checked:
        return
    name = called(c, op.source)
    for k, size in enumerate(sizes_of(c, c.buffers[op.source])):
        offset, count, jump = _steadied(c, [offsets[k], sizes[k], strides[k]])
        test = f"{c.unit.helper('affdsl_is_span')}({size}, {offset}, {count}, {jump}) == 0"
        words = f"the part of {name} with {{1}} elements {{2}} apart from {{0}} on is out of bounds for dimension "
        words = f"{words}{k} of {name}, which has size {{3}}"
        misfit(c, op, op.source, words, [test], [offset, count, jump, size])


def check_reach(
    c: Context,
    op: memref.ReinterpretCast,
    source: Buffer,
    offset: Affine,
    sizes: Sequence[Affine],
    strides: Sequence[Affine],
) -> None:
    """The elements of a buffer under other strides are elements of it."""
    if not c.is_checked:
        return
    whole = whole_shape(source)
    if (source.whole is None and source.strides is not None) or None in whole:
        raise UnsupportedError(f"how large the buffer of {source.name!r} is, which is reinterpreted, is not known")
    count = count_of(c, [s for s in whole if s is not None])
    start, lengths, steps = c.values.steady(c.values.expression(offset)), _steadied(c, sizes), _steadied(c, strides)
    listed = f"{len(sizes)}, {_array_of(c, lengths)}, {_array_of(c, steps)}"
    test = f"{c.unit.helper('affdsl_reach')}({count}, {start}, {listed}) == 0"
    names = called(c, op.result), called(c, op.source)
    words = f"{names[0]} from element {{0}} on reaches out of the buffer of {names[1]}, which has {{1}} elements"
    misfit(c, op, op.source, words, [test], [start, count])


def check_product(
    c: Context, op: memref.ExpandShape | memref.Reshape, source: Buffer, axes: Sequence[int], sizes: Sequence[Affine]
) -> None:
    """Some dimensions of an array have as many elements as sizes say."""
    if not c.is_checked:
        return
    old, new = count_of(c, [c.buffers.size(source, k) for k in axes]), count_of(c, sizes)
    if old.text == new.text:
        c.lines.drop(old, new)
        return
    along = ", ".join(map(str, axes))
    words = f"{called(c, op.source)} has {{0}} elements along dimension {along}, and its new shape {{1}}"
    misfit(c, op, op.source, words, [f"{old} != {new}"], [old, new])


def check_bytes(c: Context, op: memref.View, source: Buffer, shift: Code, shape: Sequence[Affine]) -> None:
    """The bytes of an array are as many as the view of them has, which begins where an element may."""
    if not c.is_checked:
        return
    assert isinstance(op.result.type, MemRefType)
    (size,) = sizes_of(c, source)
    shift, width = c.values.steady(shift), Affine.of(dtype(element(op.result.type)).itemsize)
    bytes = count_of(c, [*shape, width])
    tests = [f"{shift} < 0", f"{bytes} < 0", f"{shift} % {c.values.expression(width)} != 0"]
    tests += [f"{bytes} > {size}", f"{shift} > {size} - {bytes}"]
    words = f"the view of {{1}} bytes of {called(c, op.source)} from byte {{0}} on does not fit: it has {{2}}"
    misfit(c, op, op.source, words, tests, [shift, bytes, size])


def check_contiguous(
    c: Context, op: memref.CollapseShape, sizes: Sequence[Affine], strides: Sequence[Affine], axes: Sequence[int]
) -> None:
    """Dimensions that become one lie behind one another in memory."""
    if not c.is_checked:
        return
    for outer, inner in pairwise(axes):
        wanted = product(c, sizes[inner], strides[inner])
        words = f"dimensions {outer} and {inner} of {called(c, op.source)} cannot become one: the stride is {{0}}"
        same_size(c, op, op.source, strides[outer], wanted, f"{words}, and must be {{1}}")


def _array_of(c: Context, codes: Sequence[Code]) -> str:
    """Numbers as an array in C."""
    return f"(const int64_t[{len(codes) or 1}]){{{', '.join(c.text for c in codes) or '1'}}}"


def _steadied(c: Context, exprs: Sequence[Affine]) -> list[Code]:
    return [c.values.steady(c.values.expression(e)) for e in exprs]


def count_of(c: Context, sizes: Sequence[Affine]) -> Code:
    """The product of sizes, -1 where it is none."""
    known = [s.constant for s in sizes if s.is_constant]
    if len(known) == len(sizes):
        return number(prod(known))
    call = f"{c.unit.helper('affdsl_product')}({len(sizes)}, {_array_of(c, _steadied(c, sizes))})"
    return c.lines.keep("", "count", "int64_t", Code(call))


def whole_shape(buffer: Buffer) -> tuple[Affine | None, ...]:
    """The shape of the whole buffer that this one is a part of."""
    return buffer.shape if buffer.whole is None else buffer.whole
