"""Annotations that type checkers take for types: `A: Annotated[affdsl.Array, affdsl.f32[M, N]]`.

`A: affdsl.f32[M, N]` is a value, which no type checker takes for a type. `Annotated` has both: the type first, and
after it, what no type checker looks at, what the argument is. The type says what a call may pass and what the kernel
may do with it, so one class cannot be it: a call passes arrays of NumPy, and a kernel has indices of its own to
subscript them with. So to type checkers the three names are wider than the classes that they are when a kernel runs.

    affdsl.Array     an array of NumPy in a call; in the kernel, elements by indices are numbers, parts by slices arrays
    affdsl.Scalar    a number of Python or NumPy; in the kernel, operators give numbers of it
    affdsl.Index     a whole number; in the kernel, an index

Of a union one of these is enough: `Annotated[affdsl.Scalar | complex, affdsl.c128]` is for numbers that have no order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, get_args, get_origin

from affdsl.errors import ProgramTypeError
from affdsl.ir.location import Location
from affdsl.lang import arrays, indices, scalars
from affdsl.lang.annotations import ArrayType, Form
from affdsl.lang.dtypes import DType
from affdsl.lang.source import problem
from affdsl.lang.type_variables import DTypes

if TYPE_CHECKING:
    from types import EllipsisType
    from typing import Protocol, SupportsIndex, TypeAlias, overload, runtime_checkable

    import numpy as np

    from affdsl.lang.traced import Traced

    Subscript: TypeAlias = SupportsIndex | tuple[SupportsIndex, ...]
    Number: TypeAlias = int | np.integer | Traced
    """What is an index, said so that no array of NumPy is one: they have `__index__`, too."""
    Element: TypeAlias = Number | tuple[Number, ...]
    Some: TypeAlias = slice | EllipsisType | tuple[Number | slice | EllipsisType, ...]
    """Which elements of an array a part of it has: no type says how many dimensions an array has, so that a row is
    `A[i, :]` to type checkers, and `A[i]` an element."""

    @runtime_checkable
    class Array(Protocol):
        """What kernels and their callers may both take for an array."""

        @property
        def shape(self) -> tuple[indices.Index | int, ...]:
            """The sizes."""

        @property
        def ndim(self) -> int:
            """The number of dimensions."""

        @overload
        def __getitem__(self, key: Element, /) -> scalars.Scalar: ...  # type: ignore[overload-overlap]
        @overload
        def __getitem__(self, key: Some, /) -> Array: ...

        def __setitem__(self, key: Subscript, value: Traced | complex | np.number, /) -> None: ...

    Scalar: TypeAlias = scalars.Scalar | float | np.floating | np.integer
    Index: TypeAlias = indices.Index | int | np.integer
else:
    Array, Scalar, Index = arrays.Array, scalars.Scalar, indices.Index

MEANING = (
    "write Annotated[affdsl.Array, affdsl.f32[M, N]] for an array, Annotated[affdsl.Scalar, affdsl.f32] for a number, "
    "Annotated[affdsl.Index, affdsl.index] or Annotated[affdsl.Index, N] for a size"
)


def meant(annotation: object, what: str, location: Location) -> object:
    """What an annotation says of an argument: of `Annotated[type, x]` it is x, if that is what the type says it is.

    Raises
    ------
    ProgramTypeError
        Where `Annotated` says nothing of the argument, or several things, or its type is for other arguments.

    >>> from affdsl.lang.dtypes import f32
    >>> from affdsl.ir.location import Location
    >>> meant(Annotated[Scalar, f32], "argument x of kernel f", Location("f.py", 1))
    f32
    """
    if get_origin(annotation) is not Annotated:
        return annotation
    kind, *metadata = get_args(annotation)
    found = [x for x in metadata if isinstance(x, ArrayType | DType | indices.Index | Form | DTypes)]
    if len(found) != 1:
        said = "no type of affdsl" if not found else f"{len(found)} types of affdsl"
        raise problem(ProgramTypeError, f"{what} is annotated with {said}: {annotation!r}", MEANING, location=location)
    wanted = _kind_of(found[0])
    if wanted not in (kind, *get_args(kind)):
        shown = f"affdsl.{found[0]!r}" if isinstance(found[0], ArrayType | DType) else repr(found[0])
        raise problem(
            ProgramTypeError,
            f"{what} is {getattr(kind, '__name__', kind)} to type checkers, but {found[0]!r}",
            f"write Annotated[affdsl.{wanted.__name__}, {shown}]",
            location=location,
        )
    return found[0]


def _kind_of(meaning: ArrayType | DType | indices.Index | Form | DTypes) -> type:
    """The class that the kernel has for an argument, and that type checkers are to be told."""
    match meaning:
        case ArrayType() | Form():
            return arrays.Array
        case DType(kind="index") | indices.Index():
            return indices.Index
        case _:
            return scalars.Scalar
