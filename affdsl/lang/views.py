"""Parts of arrays: `A[m]` is a row, `A[:, j]` a column, `A[i0:i1, ::2]` every second column of some rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from affdsl.errors import ProgramIndexError
from affdsl.frozen import Frozen
from affdsl.ir import layouts
from affdsl.ir.dialects import affine, arith, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.mixed import unmixed
from affdsl.ir.spelling import spell
from affdsl.ir.types import INDEX, MemRefType, StridedLayout
from affdsl.lang.builder import current
from affdsl.lang.indices import Extremum, Index, as_value, index_of, require_known
from affdsl.lang.scalars import Scalar
from affdsl.lang.source import assigned_name, here, problem
from affdsl.lang.traced import Traced

Reach = Literal["one", "all", "run", "steps"]
"""Which elements a part has along a dimension of the array: one, all, neighbours, or some with gaps between them."""


class Span(Frozen):
    """Which elements a part has along one dimension: `count` of them, `step` apart, the first one at `start`."""

    start: Index | Scalar
    count: Affine
    step: int
    reach: Reach
    text: str
    """As the user writes it."""


def spans_of(name: str, shape: Sequence[Affine], index: object) -> tuple[Span, ...] | None:
    """What an index of an array takes of each dimension; None where it has no slice, and a number for each.

    Raises ProgramIndexError for what is no part of an array of this shape.
    """
    items = index if isinstance(index, tuple) else (index,)
    dots = [n for n, item in enumerate(items) if item is ...]
    missing = len(shape) - (len(items) - len(dots))
    if missing <= 0 and not any(isinstance(item, slice) for item in items):
        return None
    if any(item is None for item in items):
        raise problem(ProgramIndexError, f"{name} is indexed with None: a part has no more dimensions than its array",
                      "call a kernel that is written for an array of fewer dimensions")  # fmt: skip
    if missing < 0 or len(dots) > 1:
        dimensions = f"{len(shape)} dimension{'s' if len(shape) != 1 else ''}"
        has = "three dots more than once" if missing >= 0 else f"{len(items) - len(dots)} indices and slices"
        raise problem(ProgramIndexError, f"{name} has {dimensions}, and is indexed with {has}",
                      "write an index or a slice for each dimension, or fewer: all is taken of the others")  # fmt: skip
    at = dots[0] if dots else len(items)
    every = (*items[:at], *(slice(None),) * missing, *items[at + len(dots) :])
    return tuple(_span(name, n, size, item) for n, (size, item) in enumerate(zip(shape, every, strict=True)))


def _span(name: str, n: int, size: Affine, item: object) -> Span:
    if not isinstance(item, slice):
        start = index_of(item, f"index {n} of {name}")
        return Span(start, Affine.of(1), 1, "one", spell(start.expr) if isinstance(start, Index) else "...")
    step = _step(name, item.step)
    first, last = _start(name, n, size, item.start), _stop(name, n, size, item.stop)
    text = _written(item)
    if isinstance(last, Extremum):
        if step > 1:
            raise problem(
                ProgramIndexError,
                f"a slice of dimension {n} of {name} has the step {step} and ends at {last.describe()}",
                "a slice with a step ends at a size, a loop variable, or a number",
            )
        return Span(Index(first), _up_to(last, first), 1, "run", text)
    length = last - first
    if length.is_constant and length.constant < 0:
        raise problem(
            ProgramIndexError,
            f"the slice {text} of dimension {n} of {name} ends before it starts",
            "a slice runs upwards: write the smaller end first",
        )
    reach: Reach = "steps" if step > 1 else "all" if first == Affine() and last == size else "run"
    return Span(Index(first), length if step == 1 else length.ceildiv(step), step, reach, text)


def _step(name: str, step: object) -> int:
    """The step of a slice. Raises ProgramIndexError for one that is no positive number."""
    if step is None:
        return 1
    number = int(step) if isinstance(step, int | np.integer) and not isinstance(step, bool) else 0
    if number > 0:
        return number
    raise problem(
        ProgramIndexError,
        f"a slice of {name} has the step {_text(step)}, which is not 1, 2, 3, ...",
        "elements are taken upwards: let the kernel that is called run down, by affdsl.for_(n - 1, -1, -1)"
        if number < 0
        else "write a number: how far apart elements lie is known while the kernel is built",
    )


def _start(name: str, n: int, size: Affine, x: object) -> Affine:
    if isinstance(x, Extremum):
        raise problem(
            ProgramIndexError,
            f"a slice of dimension {n} of {name} starts at {x.describe()}",
            "a slice may end at a minimum, but it starts at a size, a loop variable, or a number: put the cases into "
            "branches of affdsl.if_",
        )
    return Affine() if x is None else _end(name, n, size, x, "starts")


def _stop(name: str, n: int, size: Affine, x: object) -> Affine | Extremum:
    if isinstance(x, Extremum):
        require_known(x.exprs)
        return x
    return size if x is None else _end(name, n, size, x, "ends")


def _end(name: str, n: int, size: Affine, x: object, verb: str) -> Affine:
    """Where a slice starts or ends. Raises ProgramIndexError where that is outside of the array whatever it is."""
    at = index_of(x, f"where a slice of {name} {verb}")
    what = f"a slice of dimension {n} of {name} {verb} at"
    if isinstance(x, Scalar):  # at the top of a kernel it would be a symbol, but no call knows its value beforehand
        raise problem(
            ProgramIndexError,
            f"{what} {x.describe()}, which is known only as data",
            "the ends of a slice are made of loop variables, sizes and numbers: pass the whole array, and the ends as "
            "arguments of type affdsl.index",
        )
    assert isinstance(at, Index), "what is no data is affine"
    require_known((at.expr,))
    if at.expr.is_constant and at.expr.constant < 0:
        raise problem(
            ProgramIndexError,
            f"{what} {at.expr.constant}, before its first element",
            f"there is no counting from the end: write {spell(size + at.expr.constant)}",
        )
    beyond = at.expr - size
    if beyond.is_constant and beyond.constant > 0:
        raise problem(
            ProgramIndexError,
            f"{what} {spell(at.expr)}, but that dimension has {spell(size)} elements",
            f"nothing is cut off: write {spell(size)}, or leave the end open",
        )
    return at.expr


def _up_to(last: Extremum, first: Affine) -> Affine:
    """How many elements there are up to the smallest, or largest, of some indices."""
    length = Value(INDEX, "length", here())
    current().emit(last.kind(length, tuple(e - first for e in last.exprs)))
    return Affine.of(length)


def _written(item: slice) -> str:
    """A slice as the user writes it."""
    ends = ":".join("" if x is None else _text(x) for x in (item.start, item.stop))
    return ends if item.step is None else f"{ends}:{_text(item.step)}"


def _text(x: object) -> str:
    match x:
        case Index():
            return spell(x.expr)
        case Extremum():
            return f"{'min' if x.kind is affine.Min else 'max'}({', '.join(map(spell, x.exprs))})"
        case Traced():
            return "..."
        case _:
            return repr(x)


def is_contiguous(reaches: Sequence[Reach]) -> bool:
    """Whether a part of a contiguous array is one: one element of the first dimensions, neighbours of the next one, and
    all of those behind that.

    >>> is_contiguous(["one", "run", "all"]), is_contiguous(["all", "one"]), is_contiguous(["run", "run"])
    (True, False, False)
    """
    left = [*reaches]
    while left and left[-1] == "all":
        left.pop()
    if left and left[-1] == "run":
        left.pop()
    return all(reach == "one" for reach in left)


def within(outer: Sequence[Reach], inner: Sequence[Reach]) -> tuple[Reach, ...]:
    """What a part of a part has of each dimension of the array: inner has a dimension for each that outer has left.

    >>> within(("one", "all", "steps"), ("one", "run"))
    ('one', 'one', 'steps')
    """
    left = iter(inner)
    return tuple(reach if reach == "one" else _WITHIN[reach, next(left)] for reach in outer)


_ORDER: tuple[Reach, ...] = ("all", "run", "steps", "one")
_WITHIN = {(a, b): max(a, b, key=_ORDER.index) for a in _ORDER[:3] for b in _ORDER}


def part_of(source: Value, spans: Sequence[Span]) -> Value:
    """The part of an array that spans say: a memref.subview without the dimensions of which it has one element."""
    type = source.type
    assert isinstance(type, MemRefType)
    layout = layouts.strided(type)
    assert layout is not None, "arrays of the language have strides"
    offsets, starts = unmixed(_begin(span, size) for span, size in zip(spans, type.shape, strict=True))
    sizes, counts = unmixed(_number(Index(span.count)) for span in spans)
    steps = tuple(span.step for span in spans)
    whole = layouts.subview(layout, offsets, steps)
    axes = [k for k, span in enumerate(spans) if span.reach != "one"]
    part = StridedLayout(tuple(whole.strides[k] for k in axes), whole.offset)
    made = MemRefType(tuple(sizes[k] for k in axes), type.element, part, type.space)
    result = Value(made, assigned_name(), here())
    current().emit(memref.SubView(result, source, starts, counts, (), offsets, sizes, steps))
    return result


def _begin(span: Span, size: int | None) -> int | Value:
    """Where a part begins. MLIR wants an element there, where it knows both numbers, also of a part that has none.

    Where only a call says whether the part has elements, the beginning is a value: what is out of bounds stays so.
    """
    begin = _number(span.start)
    if size is None or not isinstance(begin, int) or begin < size:
        return begin
    if size > 0 and span.count == Affine():
        return size - 1
    behind = Value(INDEX)
    current().emit(arith.Constant(behind, begin, location=here()))
    return behind


def _number(x: Index | Scalar) -> int | Value:
    if isinstance(x, Index) and x.expr.is_constant:
        return x.expr.constant
    return as_value(x)
