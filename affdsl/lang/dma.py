"""Copies that run beside the kernel, and hints about what it will use: `dma_start`, `dma_wait`, `prefetch`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from affdsl.errors import ProgramIndexError, ProgramTypeError
from affdsl.ir.dialects import affine, memref
from affdsl.ir.expr import Affine, Value
from affdsl.lang.arrays import Array
from affdsl.lang.builder import current
from affdsl.lang.indices import as_value, index_of
from affdsl.lang.source import problem

if TYPE_CHECKING:
    from affdsl.lang import annotated


def dma_start(
    source: annotated.Array,
    source_index: object,
    target: annotated.Array,
    target_index: object,
    tag: annotated.Array,
    tag_index: object,
    elements: object,
    stride: object = None,
    per_stride: object = None,
) -> None:
    """Begin to copy elements of one array to another: neighbours in memory, from one index on to another.

    With a stride, the array in the memory space of the lower number is read or written in chunks: a tile of it. Until
    the wait for its tag, the target must not be used, nor the source be written.

    Parameters
    ----------
    source, source_index
        The array that is read, and the index of its first element: `(i, 0)`.
    target, target_index
        The array that is written, and the index of its first element.
    tag, tag_index
        An array of integers, and the element of it that stands for this copy.
    elements
        How many elements are copied.
    stride, per_stride
        How many elements lie between the beginnings of two chunks, and how many are in each. Both or none.

    Raises
    ------
    ProgramTypeError, ProgramIndexError
        For what is no array, no index or no number, and for arrays of two types, with strides, or one and the same.

    >>> import numpy as np, affdsl as af
    >>> @af.kernel
    ... def f(x: af.f64[8], y: af.f64[8]):
    ...     tag = af.alloc(af.i32[1])
    ...     af.dma_start(x, 2, y, 0, tag, 0, 4)
    ...     af.dma_wait(tag, 0, 4)
    >>> y = np.zeros(8)
    >>> f.interpret(np.arange(8.0), y)
    >>> y
    array([2., 3., 4., 5., 0., 0., 0., 0.])
    """
    source, target = _array("dma_start", "source", source), _array("dma_start", "target", target)
    tag = _array("dma_start", "tag", tag)
    if source.type.dtype != target.type.dtype:
        raise problem(
            ProgramTypeError,
            f"dma_start from {source!r} to {target!r}: the types of the elements differ",
            "copy between arrays of one type",
        )
    for x in (source, target):
        if x.type.strided:
            raise problem(
                ProgramTypeError,
                f"dma_start copies neighbours in memory, and {x.name} has any strides",
                "copy with affdsl.copy, or with loops",
            )
        if x.is_part:
            raise problem(
                ProgramTypeError,
                f"dma_start copies between whole arrays, and {x.name} is a part of one",
                "give it the array, and the index of the element at which the copy begins",
            )
    if source.value is target.value:
        raise problem(ProgramTypeError, f"dma_start of {source.name} to itself", "copy to another array")
    if (stride is None) != (per_stride is None):
        raise problem(ProgramTypeError, "dma_start has a stride without per_stride, or the other way round",
                      "give both, as in stride=N, per_stride=32, or none")  # fmt: skip
    if stride is not None and _space(source) == _space(target):
        raise problem(
            ProgramTypeError,
            f"dma_start with a stride between {source.name} and {target.name}, which lie in one memory space",
            "the stride is that of the space with the lower number: affdsl.alloc(type, space=1) is in another one",
        )
    target.require_writable()
    begin, end = _place(source, source_index), _place(target, target_index)
    busy = _place(tag, tag_index)
    count = _count(elements, "elements")
    steps = () if stride is None else (_count(stride, "stride"), _count(per_stride, "per_stride"))
    current().written.update((target.whole.value, tag.whole.value))
    current().emit(affine.DmaStart(source.value, begin, target.value, end, tag.value, busy, count, steps))


def dma_wait(tag: annotated.Array, tag_index: object, elements: object) -> None:
    """Wait until the copy that was begun with a tag is complete.

    Parameters
    ----------
    tag, tag_index
        The array and the index of the element that stand for the copy, as `dma_start` was given them.
    elements
        How many elements it copies.

    Raises
    ------
    ProgramTypeError, ProgramIndexError
        For what is no array, no index or no number.

    >>> import affdsl as af
    >>> @af.kernel
    ... def f(x: af.f64[8], y: af.f64[8]):
    ...     tag = af.alloc(af.i32[1])
    ...     af.dma_start(x, 0, y, 0, tag, 0, 8)
    ...     af.dma_wait(tag, 0, 8)
    >>> "affine.dma_wait %tag[0], %" in f.mlir()
    True
    """
    tag = _array("dma_wait", "tag", tag)
    current().emit(affine.DmaWait(tag.value, _place(tag, tag_index), _count(elements, "elements")))


def prefetch(
    array: annotated.Array, index: object, *, write: bool = False, locality: int = 3, data: bool = True
) -> None:
    """Say that an element will be read, or written, soon: `prefetch(A, (i + 8, j))`. It computes nothing.

    Parameters
    ----------
    array
        The array.
    index
        The index of the element, which may lie outside of the array.
    write
        Whether it will be written.
    locality
        From 0 for what is used once to 3 for what is used often.
    data
        Whether it is for the cache of data; that of instructions otherwise.

    Raises
    ------
    ProgramTypeError, ProgramIndexError
        For what is no array, no index or no locality.

    >>> import affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def double(x: af.f64[N]):
    ...     with af.for_(N) as i:
    ...         af.prefetch(x, i + 64, write=True)
    ...         x[i] *= 2.0
    >>> "affine.prefetch %x[%i + 64], write, locality<3>, data" in double.mlir()
    True
    """
    array = _array("prefetch", "first argument", array)
    if locality not in (0, 1, 2, 3):
        raise problem(ProgramTypeError, f"the locality of prefetch is a number from 0 to 3, got {locality!r}")
    place = array.place(index, inside=False)
    exprs = array.affine(place)
    if exprs is not None:
        current().emit(affine.Prefetch(array.value, exprs, bool(write), locality, bool(data)))
    else:
        indices = tuple(as_value(x) for x in place)
        current().emit(memref.Prefetch(array.value, indices, bool(write), locality, bool(data)))


def _array(function: str, what: str, x: object) -> Array:
    if not isinstance(x, Array):
        raise problem(ProgramTypeError, f"the {what} of {function} is an array, got {x!r}")
    return x


def _place(array: Array, index: object) -> tuple[Affine, ...]:
    exprs = array.affine(array.place(index))
    if exprs is None:
        raise problem(
            ProgramIndexError,
            f"a copy begins at {array.name}[{index!r}], which is computed from data",
            "its indices are made of loop variables, sizes and numbers",
        )
    return exprs


def _count(x: object, what: str) -> Value:
    return as_value(index_of(x, f"{what} of the copy"))


def _space(array: Array) -> object:
    return getattr(array.value.type, "space", 0)
