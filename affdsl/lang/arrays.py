"""Arrays in a kernel: `a[i, j]` loads, `a[i, j] = x` stores; allocation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn, overload

import numpy as np

from affdsl.errors import ProgramIndexError, ProgramTypeError
from affdsl.ir.dialects import affine, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.spelling import spell
from affdsl.lang.annotations import ArrayType
from affdsl.lang.builder import current
from affdsl.lang.counters import Counters
from affdsl.lang.dtypes import NUMBERS
from affdsl.lang.indices import Index, as_value, index_of
from affdsl.lang.scalars import Scalar, constant, emit_scalar
from affdsl.lang.source import assigned_name, here, problem
from affdsl.lang.traced import Operand, Traced, attribute_problem, numpy_problem
from affdsl.lang.views import Reach, is_contiguous, part_of, spans_of, within

if TYPE_CHECKING:
    from affdsl.lang import annotated


class Array:
    """An array of a kernel: an argument, what `alloc`, `alloca` and `constant` give, or a part of one.

    `A[i, j]` loads an element, and `A[i, j] = x` stores to it. With fewer indices, or slices among them, it is a part:
    `A[i]` a row, `A[:, j]` a column, `A[i0:i1, ::2]` every second column of some rows. A part shares the elements of
    its array. It is an array to other kernels, `f(A[i])`, and of its own, `row = A[i]; row[j] = 0.0`.

    For type checkers it is also what a call passes: `A: Annotated[affdsl.Array, affdsl.f32[M, N]]`.

    Attributes
    ----------
    name
        What the user called it.
    shape, ndim
        The sizes, as indices, and how many they are.
    value, type
        The value of the IR, and what is known of it: element type, sizes, const, strided.
    whole
        The array of which it is a part; itself where it is no part.

    >>> import numpy as np, affdsl as af
    >>> M, N = af.symbols("M N")
    >>> @af.kernel
    ... def corner(A: af.f64[M, N]):
    ...     af.assume((M >= 1) & (N >= 1))
    ...     return A[A.shape[0] - 1, A.shape[1] - 1]
    >>> print(corner.interpret(np.array([[1.0, 2.0], [3.0, 4.0]])))
    4.0
    """

    def __init__(self, value: Value, type: ArrayType) -> None:
        self.value = value
        self.type = type
        self.whole = self
        self._written = "the array"
        self._reaches: tuple[Reach, ...] = tuple("all" for _ in type.shape)

    @property
    def name(self) -> str:
        """What the user called it, or how it was written."""
        return self.value.hint or self._written

    @property
    def is_part(self) -> bool:
        """Whether it is a part of another array."""
        return self.whole is not self

    @property
    def shape(self) -> tuple[Index, ...]:
        """The sizes, as indices."""
        return tuple(Index(e) for e in self.type.shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.type.shape)

    @overload
    def __getitem__(self, index: annotated.Element, /) -> Scalar: ...  # type: ignore[overload-overlap]
    @overload
    def __getitem__(self, index: annotated.Some, /) -> Array: ...
    def __getitem__(self, index: object, /) -> Scalar | Array:
        part = None if isinstance(index, Counters) else self._part(index)
        return self._load(index) if part is None else part

    def _part(self, index: object) -> Array | None:
        """The part that an index names; None where it names an element, or nothing."""
        spans = spans_of(self.name, self.type.shape, index)
        if spans is None:
            return None
        for n, span in enumerate(spans):
            if span.reach == "one":
                self._require_inside(n, span.start)
        if all(span.reach == "all" for span in spans):
            return self
        reaches = within(self._reaches, [span.reach for span in spans])
        shape = tuple(span.count for span in spans if span.reach != "one")
        strided = self.whole.type.strided or not is_contiguous(reaches)
        made = Array(part_of(self.value, spans), replace(self.type, shape=shape, strided=strided))
        made.whole, made._reaches = self.whole, reaches
        made._written = f"{self.name}[{', '.join(span.text for span in spans)}]"
        return made

    def _load(self, index: object) -> Scalar:
        place = self.place(index)
        exprs = self.affine(place)
        if exprs is not None:
            return emit_scalar(self.type.dtype, lambda r: affine.Load(r, self.value, exprs))
        indices = tuple(as_value(x) for x in place)
        return emit_scalar(self.type.dtype, lambda r: memref.Load(r, self.value, indices))

    def __setitem__(self, index: object, x: Operand) -> None:
        self.require_writable()
        place = self.place(index)
        value = self._element(x).value
        current().written.add(self.whole.value)
        exprs = self.affine(place)
        if exprs is not None:
            current().emit(affine.Store(value, self.value, exprs))
        else:
            current().emit(memref.Store(value, self.value, tuple(as_value(x) for x in place)))

    def _element(self, x: Operand) -> Scalar:
        """x as an element of this array. Raises ProgramTypeError: nothing is converted in silence."""
        dtype = self.type.dtype
        if isinstance(x, Array):
            raise problem(
                ProgramTypeError,
                f"one element of {self.name} cannot hold the array {x.name}",
                f"store its elements one by one, or all with affdsl.copy({x.name}, {self.name})",
            )
        if not isinstance(x, Traced):
            if not isinstance(x, NUMBERS):
                raise problem(
                    ProgramTypeError,
                    f"{self.name} holds {dtype} and cannot store {x!r}",
                    "store a number of the kernel",
                )
            return constant(x, dtype)
        scalar = x.scalar()
        if scalar.dtype != dtype:
            raise problem(
                ProgramTypeError,
                f"{self.name} holds {dtype} and cannot store {x.describe()}",
                f"convert it: affdsl.{dtype}(...)",
            )
        return scalar

    def require_writable(self) -> None:
        """Raise ProgramTypeError if the kernel promised only to read."""
        if self.type.const:
            raise problem(
                ProgramTypeError,
                f"{self.whole.name} is declared const and cannot be stored to",
                f"annotate it as {self.whole.name}: affdsl.{replace(self.whole.type, const=False)!r} to write to it",
            )

    def affine(self, place: tuple[Index | Scalar, ...]) -> tuple[Affine, ...] | None:
        """The subscripts as expressions if the affine dialect takes them all."""
        exprs = []
        for x in place:
            if not isinstance(x, Index):
                return None
            for value in x.expr.values():
                current().require(value)
            if not current().is_affine(x.expr):
                return None
            exprs.append(x.expr)
        return tuple(exprs)

    def place(self, index: object, *, inside: bool = True) -> tuple[Index | Scalar, ...]:
        """The subscripts for an index, one for each dimension; `inside` asks that they may lie inside of the array.

        Raises ProgramIndexError where they do not fit.
        """
        items = index if isinstance(index, tuple) else (index,)
        if self.ndim == 0 and len(items) == 1 and items[0] is ...:
            items = ()
        for item in items:
            if item is ... or item is None or isinstance(item, slice):
                raise problem(
                    ProgramIndexError,
                    f"{self.name} is indexed element by element, not by slices",
                    "write loops with affdsl.for_ over the elements; affdsl.copy(x, A[1:]) copies an array to a part",
                )
        if len(items) != self.ndim:
            raise problem(
                ProgramIndexError,
                f"{self.name} has {self.ndim} dimension{'s' if self.ndim != 1 else ''} and needs as many indices, "
                f"got {len(items)}",
                index.several()
                if isinstance(index, Counters)
                else f"its type is {self.type!r}; write them in one bracket, as in {self.name}[{self._subscripts()}]",
            )
        for n, item in enumerate(items if inside else ()):
            self._require_inside(n, item)
        return tuple(index_of(item, f"index {n} of {self.name}") for n, item in enumerate(items))

    def _require_inside(self, n: int, item: object) -> None:
        """Raise ProgramIndexError where index n is outside of its dimension whatever the sizes are."""
        is_number = isinstance(item, int | np.integer) and not isinstance(item, bool)
        expr = item.expr if isinstance(item, Index) else Affine((), int(item)) if is_number else None  # type: ignore[call-overload]
        if expr is None:
            return
        size = self.type.shape[n]
        if expr.is_constant and expr.constant < 0:
            raise problem(
                ProgramIndexError,
                f"index {n} of {self.name} is {expr.constant}, before its first element",
                f"there is no counting from the end: write {spell(size + expr.constant)}",
            )
        beyond = expr - size
        if beyond.is_constant and beyond.constant >= 0:
            raise problem(
                ProgramIndexError,
                f"index {n} of {self.name} is {spell(expr)}, but that dimension has {spell(size)} elements",
                f"the last one is {spell(size - 1)}" if size != Affine() else "",
            )

    def _subscripts(self) -> str:
        return ", ".join("ijklmn"[n] if n < 6 else f"i{n}" for n in range(self.ndim)) or "()"

    __hash__ = object.__hash__

    # What follows only says what is not possible. Type checkers do not see it, and so say the same.
    if not TYPE_CHECKING:

        def __iter__(self) -> NoReturn:
            raise problem(
                ProgramTypeError,
                f"{self.name} cannot be iterated over while the kernel is built",
                f"write `with affdsl.for_({self.name}.shape[0]) as i:` and use {self.name}[i]",
            )

        def __contains__(self, x: object) -> NoReturn:
            raise problem(
                ProgramTypeError,
                f"what {self.name} holds is known only when the kernel runs",
                f"write a loop over its elements and compare {self.name}[{self._subscripts()}]",
            )

        def __len__(self) -> int:
            raise problem(
                ProgramTypeError,
                f"the length of {self.name} is known only when the kernel runs",
                f"use {self.name}.shape[0]",
            )

        def _arithmetic(self, *_: object) -> NoReturn:
            raise problem(
                ProgramTypeError,
                f"{self.name} is an array: operators work on its elements",
                f"write a loop and use {self.name}[{self._subscripts()}]",
            )

        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _arithmetic
        __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _arithmetic
        __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __lshift__ = __rshift__ = _arithmetic
        __rlshift__ = __rrshift__ = __divmod__ = __rdivmod__ = __trunc__ = __ceil__ = __floor__ = __complex__ = (
            _arithmetic
        )
        __neg__ = __pos__ = __abs__ = __invert__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = _arithmetic
        __int__ = __float__ = __index__ = __round__ = _arithmetic

        def __eq__(self, other: object) -> bool:
            self._arithmetic()

        def __ne__(self, other: object) -> bool:
            self._arithmetic()

        def __call__(self, *_: object, **keywords: object) -> NoReturn:
            raise problem(
                ProgramTypeError,
                f"{self.name} is an array and cannot be called",
                f"an element is {self.name}[{self._subscripts()}], with brackets",
            )

        def __delitem__(self, index: object) -> NoReturn:
            raise problem(ProgramTypeError, f"an element of {self.name} cannot be deleted", "an array keeps its sizes")

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("__") or name in (
                "value",
                "type",
            ):  # Python asks for its own, and for all while it copies
                raise AttributeError(f"Array has no attribute {name}")
            loop = f"write a loop and use {self.name}[{self._subscripts()}]"
            raise attribute_problem(name, f"the array {self.name}", _ATTRIBUTES | dict.fromkeys(_OF_ELEMENTS, loop))

        def __format__(self, form: str) -> str:
            if form:
                self._arithmetic()
            return str(self)

    def __array_ufunc__(self, ufunc: np.ufunc, *_: object, **keywords: object) -> NoReturn:
        raise numpy_problem(ufunc.__name__, self.name)

    def __array_function__(self, function: Callable[..., object], *_: object) -> NoReturn:
        raise numpy_problem(function.__name__, self.name)

    def __array__(self, *_: object, **keywords: object) -> NoReturn:
        raise numpy_problem("array", self.name)

    def __repr__(self) -> str:
        return f"{self.name}: {self.type!r}"


_OF_ELEMENTS = (
    "sum prod mean min max any all dot astype ceildiv floordiv flatten ravel reshape sort argmax argmin "
    "real imag conj conjugate".split()
)
_ATTRIBUTES = {
    "T": "exchange the indices instead: A[j, i]", "transpose": "exchange the indices instead: A[j, i]",
    "dtype": "a kernel's annotations say the types of its arrays",
    "size": "multiply the sizes A.shape[0], A.shape[1], ...",
    "copy": "write affdsl.copy(a, b), with b = affdsl.alloc(...)", "fill": "write a loop that stores to each element",
}  # fmt: skip
"""What to write instead of what arrays have in NumPy."""


def alloc(type: ArrayType, *, space: int = 0) -> Array:
    """A new array on the heap, its elements not set: `alloc(f32[M, N + 1])`.

    It lives until the with-block around ends, or is returned by the kernel.

    Parameters
    ----------
    type
        The type of its elements, and its sizes: numbers, symbols, or affine expressions of sizes and loop variables.
    space
        The number of a memory space: 0 is that of the arguments; what a fast memory has the number of, the tools that
        follow know.

    Raises
    ------
    ProgramTypeError
        For what is no array type, one with strides, or no number of a space.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def doubled(x: af.f64[N]):
    ...     y = af.alloc(af.f64[N])
    ...     with af.for_(N) as i:
    ...         y[i] = x[i] * 2.0
    ...     return y
    >>> doubled.interpret(np.array([1.0, 2.5]))
    array([2., 5.])
    """
    array = _new("alloc", type, memref.Alloc, space)
    current().block.owned.append(array.value)
    return array


def alloca(type: ArrayType, *, space: int = 0) -> Array:
    """A new small array on the stack, its elements not set. It lives until the with-block around ends.

    C takes the heap instead where the size is large, or known only when the kernel runs.

    Parameters
    ----------
    type
        The type of its elements, and its sizes, as `alloc` takes them.
    space
        The number of a memory space, as `alloc` takes it.

    Raises
    ------
    ProgramTypeError
        For what is no array type, one with strides, or no number of a space.

    >>> import numpy as np, affdsl as af
    >>> @af.kernel
    ... def swap(x: af.f64[2]):
    ...     t = af.alloca(af.f64[1])
    ...     t[0] = x[0]
    ...     x[0] = x[1]
    ...     x[1] = t[0]
    >>> x = np.array([1.0, 2.0])
    >>> swap.interpret(x)
    >>> x
    array([2., 1.])
    """
    return _new("alloca", type, memref.Alloca, space)


def _new(what: str, type: ArrayType, op: type[memref.Alloc] | type[memref.Alloca], space: object) -> Array:
    if not isinstance(type, ArrayType):
        raise problem(ProgramTypeError, f"{what} takes an array type like affdsl.f32[M, N], got {type!r}")
    if type.strided:
        advice = f"{what} makes contiguous arrays: write affdsl.{what}(affdsl.{replace(type, strided=False)!r})"
        raise problem(ProgramTypeError, f"{what} of {type!r}", advice)
    if not isinstance(space, int) or isinstance(space, bool) or space < 0:
        raise problem(
            ProgramTypeError, f"a memory space is a number, 0 or more, got {space!r}", "write space=1, or leave it out"
        )
    sizes = tuple(as_value(Index(e)) for e in type.shape if not e.is_constant)
    result = Value(replace(type.memref, space=space), assigned_name(), here())
    current().emit(op(result, sizes))
    return Array(result, ArrayType(type.dtype, type.shape))


def copy(source: annotated.Array, target: annotated.Array) -> None:
    """Copy all elements of an array to another (`memref.copy`).

    Parameters
    ----------
    source, target
        Arrays of the same element type and the same sizes, which do not overlap.

    Raises
    ------
    ProgramTypeError
        For what is no array, where types or sizes differ, and where the target is const or the source itself.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def f(x: af.f64[N], y: af.f64[N]):
    ...     af.copy(x, y)
    >>> y = np.zeros(2)
    >>> f.interpret(np.array([1.0, 2.0]), y)
    >>> y
    array([1., 2.])
    """
    if not isinstance(source, Array) or not isinstance(target, Array):
        wrong = target if isinstance(source, Array) else source
        raise problem(ProgramTypeError, f"copy takes two arrays, got {wrong!r}")
    if (source.type.dtype, source.type.shape) != (target.type.dtype, target.type.shape):
        raise problem(
            ProgramTypeError,
            f"copy from {source!r} to {target!r}: type and shape must be the same",
            "copy the elements with loops",
        )
    target.require_writable()
    if source.value is target.value:
        raise problem(ProgramTypeError, f"copy of {source.name} to itself")
    current().written.add(target.whole.value)
    current().emit(memref.Copy(source.value, target.value))
