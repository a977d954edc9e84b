"""Types that stand for one of several: `T = dtypes("T", f32, f64)`, and which one each is in the kernel being made."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from affdsl.errors import ProgramAttributeError, ProgramNameError, ProgramTypeError
from affdsl.frozen import FrozenValue
from affdsl.ir.expr import Affine
from affdsl.ir.types import INDEX
from affdsl.lang.builder import SymbolValue, active
from affdsl.lang.dtypes import DType, Kind, OneType
from affdsl.lang.numpy_types import TYPES
from affdsl.lang.source import here, problem

if TYPE_CHECKING:
    from affdsl.lang.annotations import ArrayType
    from affdsl.lang.scalars import Scalar
    from affdsl.lang.traced import Operand


class DTypes(OneType):
    """One of several element types, which `affdsl.dtypes` makes: each kernel that is made has one of them in its place.

    In annotations `T` is the type of a number and `T[M, N]` that of an array. In the body it is the type that is being
    made: `T(x)` converts, `T[N]` is what `alloc` makes, and `T == affdsl.f32` is True or False.

    Attributes
    ----------
    name, types
        What it is called, and the types that it stands for.
    dtype, kind
        In a body: the type that is being made, and what kind of numbers that has, as "float".

    >>> import affdsl as af
    >>> T = af.dtypes("T", af.f32, af.f64)
    >>> T, T.types
    (T, (f32, f64))
    """

    def __init__(self, name: str, types: tuple[DType, ...], *, is_union: bool = False) -> None:
        self.name = name
        self.types = types
        self.is_union = is_union

    def __getitem__(self, shape: object) -> ArrayType:
        return DType.array(self.made() or self, shape if isinstance(shape, tuple) else (shape,))

    def __call__(self, x: Operand) -> Scalar:
        return DType.convert(x, self)

    def made(self) -> DType | None:
        """The type that it is in the kernel that is being made; None where none is made.

        Raises ProgramTypeError where it is no type of that kernel's arguments.
        """
        builder = active()
        if builder is None:
            return None
        found = builder.types.of(self)
        if found is None:
            raise problem(
                ProgramTypeError,
                f"{self.name} is {listed(self.types)}, and nothing says which in kernel {builder.name}",
                f"annotate an argument with {self.name}, or write one of the types",
            )
        return found

    @property
    def dtype(self) -> DType:
        """The type that it is in the kernel that is being made. Raises ProgramAttributeError where none is made."""
        try:
            found = self.made()
        except ProgramTypeError as error:  # as an attribute that is not there, for who looks whether it is
            raise problem(ProgramAttributeError, *error.unplaced.split("\n    ")) from None
        if found is None:
            raise problem(
                ProgramAttributeError,
                f"{self.name} is {listed(self.types)}: which one is known while a kernel is made",
                f"ask for it in the body of a kernel, or for all of them: {self.name}.types",
            )
        return found

    @property
    def kind(self) -> Kind:
        """The kind of numbers of the type that it is in the kernel that is being made."""
        return self.dtype.kind

    def __eq__(self, other: object) -> bool:
        mine = self.made() if active() is not None else None
        if mine is None or self is other:
            return self is other
        return mine == (other.made() if isinstance(other, DTypes) else other)

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str | tuple[object, ...]:
        return (united, (self.types,)) if self.is_union else (DTypes, (self.name, self.types))


class Types(FrozenValue):
    """Which type each variable is in a kernel, and how many dimensions arrays of any rank have."""

    pairs: tuple[tuple[DTypes, DType], ...] = ()
    rank: int | None = None

    def of(self, variable: DTypes) -> DType | None:
        """The type that a variable is; None where it is none of the kernel's."""
        return next((dtype for each, dtype in self.pairs if each is variable), None)

    @property
    def shape(self) -> tuple[Affine, ...] | None:
        """The sizes of arrays of any rank; None where the kernel has no such arrays."""
        return None if self.rank is None else _any_shape(self.rank)

    def __repr__(self) -> str:
        said = [f"{each} = {dtype}" for each, dtype in self.pairs if not each.is_union]
        said += [f"{dtype}" for each, dtype in self.pairs if each.is_union]
        return ", ".join([*said, *([f"rank {self.rank}"] if self.rank is not None else [])])


def dtypes(name: str, *types: DType) -> DTypes:
    """A type that stands for one of several: `T = dtypes("T", f32, f64)`.

    A kernel whose arguments are annotated with it, `x: T[N]` or `a: T`, is one kernel for each type. A call takes the
    one for the types of its arrays, which is made at the first such call; `kernel[affdsl.f32]` is one of them.

    Parameters
    ----------
    name
        What it is called: as the variable that it is assigned to.
    types
        The element types.

    Raises
    ------
    ProgramTypeError, ProgramNameError
        For what is no element type or stands there twice, and for what is no name of Python.

    >>> import numpy as np, affdsl as af
    >>> N, T = af.symbols("N"), af.dtypes("T", af.f32, af.f64)
    >>> @af.kernel
    ... def axpy(a: T, x: T[N], y: T[N]):
    ...     with af.for_(N) as i:
    ...         y[i] += a * x[i]
    >>> y = np.ones(3, "f4")
    >>> axpy(2.0, np.arange(3, dtype="f4"), y)
    >>> y
    array([1., 3., 5.], dtype=float32)
    >>> axpy[af.f64]
    <affdsl kernel axpy_f64(a: f64, x: f64[N], y: f64[N])>
    """
    called: object = name
    if not isinstance(called, str) or not called.isidentifier():
        raise problem(ProgramNameError, f"dtypes takes a name first, like T, got {name!r}",
                      'write T = affdsl.dtypes("T", affdsl.f32, affdsl.f64)')  # fmt: skip
    if not types:
        raise problem(ProgramTypeError, f"dtypes has no types for {name}", "write them behind the name")
    given: tuple[object, ...] = types
    for k, dtype in enumerate(given):
        if not isinstance(dtype, DType) or dtype not in TYPES:
            why = "an index has one type" if isinstance(dtype, DType) else ""
            raise problem(ProgramTypeError, f"{name} cannot be {dtype!r}", why,
                          f"it is some of {', '.join(map(repr, TYPES))}")  # fmt: skip
        if dtype in given[:k]:
            raise problem(ProgramTypeError, f"{name} is {dtype} twice", "write each type once")
    return DTypes(name, types)


def united(types: Sequence[DType]) -> DTypes:
    """What `f32 | f64` stands for: the same for the same types, in whatever order.

    >>> from affdsl.lang.dtypes import f32, f64
    >>> united([f64, f32]), united([f64, f32]) is united([f32, f64])
    (f32 | f64, True)
    """
    return _united(tuple(sorted(dict.fromkeys(types), key=TYPES.index)))


@cache
def _united(types: tuple[DType, ...]) -> DTypes:
    return DTypes(" | ".join(map(repr, types)), types, is_union=True)


def listed(types: Sequence[object]) -> str:
    """Types in words.

    >>> listed(["f16", "f32", "f64"])
    'f16, f32 or f64'
    """
    *names, last = map(str, types)
    return f"{', '.join(names)} or {last}" if names else last


def being_made(dtype: DType | DTypes) -> DType:
    """The type that is meant where one is needed: for a variable the one that is being made."""
    return dtype.made() or dtype.dtype if isinstance(dtype, DTypes) else dtype


@cache
def _any_shape(rank: int) -> tuple[Affine, ...]:
    """The sizes of all arrays of any rank, if they have so many dimensions: symbols that all kernels share."""
    return tuple(Affine.of(SymbolValue(INDEX, f"size{d}", here())) for d in range(rank))
