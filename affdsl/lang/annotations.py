"""What a kernel's arguments are: arrays with symbolic shapes, scalars, sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from affdsl.errors import ProgramNameError, ProgramTypeError
from affdsl.frozen import FrozenValue
from affdsl.ir.expr import Affine, Constraint, Product, Value
from affdsl.ir.location import Location
from affdsl.ir.spelling import spell
from affdsl.ir.types import MemRefType, StridedLayout
from affdsl.lang.builder import Builder, active
from affdsl.lang.dtypes import DType, OneType, require_index
from affdsl.lang.indices import Index
from affdsl.lang.numpy_types import TYPES
from affdsl.lang.source import problem
from affdsl.lang.type_variables import DTypes, Types, being_made, united


class ArrayType(OneType, FrozenValue):
    """An array: element type, sizes as expressions over symbols, and what is said of it as an argument."""

    dtype: DType
    shape: tuple[Affine, ...]
    const: bool = False
    """Whether the kernel may only read it."""
    strided: bool = False
    """Whether each call says how far apart its elements lie; they are neighbours, row by row, if not."""

    @staticmethod
    def of(dtype: DType | DTypes, sizes: tuple[object, ...]) -> ArrayType:
        """The type that `dtype[sizes]` means; for several types, or any rank, a `Form`, which type checkers need not
        know apart."""
        builder, has_any_rank = active(), len(sizes) == 1 and sizes[0] is ...
        if has_any_rank and builder is not None:
            return ArrayType(being_made(dtype), _any_shape(builder))
        shape = None if has_any_rank else tuple(_size(dtype, size) for size in sizes)
        if shape is None or isinstance(dtype, DTypes):
            return cast("ArrayType", Form(dtype, shape))
        return ArrayType(dtype, shape)

    @property
    def memref(self) -> MemRefType:
        """The IR's type: sizes that are not numbers are dynamic, as are all strides of an array that has some."""
        layout = StridedLayout((None,) * len(self.shape), None) if self.strided else None
        return MemRefType(tuple(e.constant if e.is_constant else None for e in self.shape), self.dtype.type, layout)

    def __repr__(self) -> str:
        shown = f"{self.dtype}[{', '.join(map(spell, self.shape)) or '()'}]"
        shown = f"strided({shown})" if self.strided else shown
        return f"const({shown})" if self.const else shown


DType.array = ArrayType.of


class Form(OneType, FrozenValue):
    """An array of one of several types, or of any rank: what is said of it as an argument, before one of them is made.

    >>> from affdsl.lang.dtypes import f32, f64
    >>> f32[...], f32[4] | f64[4]
    (f32[...], f32[4] | f64[4])
    """

    dtype: DType | DTypes
    shape: tuple[Affine, ...] | None
    """Its sizes; None for any rank."""
    const: bool = False
    strided: bool = False

    def made(self, types: Types) -> ArrayType:
        """The type of the array in the kernel for some types."""
        dtype = types.of(self.dtype) if isinstance(self.dtype, DTypes) else self.dtype
        shape = types.shape if self.shape is None else self.shape
        assert dtype is not None, "a kernel is made for all of its variables"
        assert shape is not None, "and for a rank"
        return ArrayType(dtype, shape, self.const, self.strided)

    def __repr__(self) -> str:
        sizes = "..." if self.shape is None else ", ".join(map(spell, self.shape)) or "()"
        is_union = isinstance(self.dtype, DTypes) and self.dtype.is_union
        names = self.dtype.types if isinstance(self.dtype, DTypes) and is_union else (self.dtype,)
        shown = " | ".join(f"{name}[{sizes}]" for name in names)
        shown = f"strided({shown})" if self.strided else shown
        return f"const({shown})" if self.const else shown


def _united(left: object, right: object) -> Form | DTypes:
    """What `left | right` means. Raises ProgramTypeError where that is no choice among types of the same arrays."""
    forms = [_form(x) for x in (left, right)]
    parts = [dtype for x in forms for dtype in _types(x)]
    named = next((x for x in map(_dtype, forms) if isinstance(x, DTypes) and not x.is_union), None)
    if named is not None or not all(map(_types, forms)):
        advice = "write affdsl.f32 | affdsl.f64, or affdsl.f32[N] | affdsl.f64[N]; no argument may be left out"
        if named is not None:
            advice = f'{named} is one already: write all of its types in affdsl.dtypes("{named}", ...)'
        raise problem(ProgramTypeError, f"{left!r} | {right!r} is no choice among types", advice)
    if not all(isinstance(x, Form) for x in forms):
        if any(isinstance(x, Form) for x in forms):
            what = ["an array" if isinstance(x, Form) else "a number" for x in forms]
            raise problem(
                ProgramTypeError, f"{left!r} | {right!r}: one is {what[0]}, and one is {what[1]}", "write two kernels"
            )
        return united(parts)
    first, second = (replace(x, dtype=parts[0]) for x in forms if isinstance(x, Form))
    if first != second:
        raise problem(
            ProgramTypeError,
            f"{left!r} | {right!r}: arrays of one choice differ in their element type alone",
            "write the same sizes in each, and const(...) or strided(...) around the whole choice",
        )
    return replace(first, dtype=united(parts))


OneType.united = _united


def _form(x: object) -> object:
    return Form(x.dtype, x.shape, x.const, x.strided) if isinstance(x, ArrayType) else x


def _dtype(x: object) -> object:
    return x.dtype if isinstance(x, Form) else x


def _types(x: object) -> tuple[DType, ...]:
    """The types that one may be; none for what is no type of numbers."""
    dtype = _dtype(x)
    return dtype.types if isinstance(dtype, DTypes) else (dtype,) if isinstance(dtype, DType) and dtype in TYPES else ()


def _any_shape(builder: Builder) -> tuple[Affine, ...]:
    """The sizes that `[...]` stands for in a kernel that is being made."""
    shape = builder.types.shape
    if shape is None:
        raise problem(
            ProgramTypeError,
            f"nothing says what the sizes [...] are in kernel {builder.name}",
            "annotate an argument as an array of any rank, as in x: affdsl.f32[...]",
        )
    return shape


def const(array: ArrayType) -> ArrayType:
    """An array argument that the kernel promises only to read: `A: const(f32[N])`.

    Parameters
    ----------
    array
        An array type, also one that is `strided`.

    Raises
    ------
    ProgramTypeError
        For what is no array type; and in the kernel where it stores to the array.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def first(x: af.const(af.f64[N])):
    ...     af.assume(N >= 1)
    ...     return x[0]
    >>> print(first.interpret(np.array([2.5, 1.0])))
    2.5
    """
    return replace(_array_type("const", array), const=True)


def strided(array: ArrayType) -> ArrayType:
    """An array argument with any strides: `A: strided(f32[M, N])` takes rows, columns, crops, `.T`, `[::-1]`.

    An array without `strided` must be contiguous, and its kernel is fastest. The strides may be positive, negative,
    and zero where the kernel only reads; they are arguments of the C function, in elements, behind the pointer.
    `const(strided(...))` is both.

    Parameters
    ----------
    array
        An array type, also one that is `const`.

    Raises
    ------
    ProgramTypeError
        For what is no array type.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def double(x: af.strided(af.f64[N])):
    ...     with af.for_(N) as i:
    ...         x[i] *= 2.0
    >>> a = np.ones((2, 3))
    >>> double(a[:, 1])
    >>> a
    array([[1., 2., 1.],
           [1., 2., 1.]])
    """
    return replace(_array_type("strided", array), strided=True)


def _array_type(what: str, array: object) -> ArrayType:
    if not isinstance(array, ArrayType | Form):
        raise problem(ProgramTypeError, f"{what} takes an array type like affdsl.f32[N], got {array!r}")
    return cast("ArrayType", array)  # which a Form is to type checkers


class Parameter(FrozenValue):
    """One argument of a kernel: an array, a scalar, or the value of a symbol."""

    name: str
    type: ArrayType | DType | Index
    default: int | float | complex | None = None
    """The number that it is where a call does not give it."""

    @property
    def symbol(self) -> Value | None:
        """The symbol that this argument is the value of."""
        return self.type.expr.value if isinstance(self.type, Index) else None


class OpenParameter(FrozenValue):
    """One argument of a kernel of several types, or of any rank, before one of them is made."""

    name: str
    type: Form | DTypes
    default: object = None
    """What it is where a call does not give it, as it was written."""

    @property
    def variable(self) -> DTypes | None:
        """The types that its elements, or it, may have; None where there is one."""
        dtype = self.type.dtype if isinstance(self.type, Form) else self.type
        return dtype if isinstance(dtype, DTypes) else None

    @property
    def has_any_rank(self) -> bool:
        """Whether it is an array of any rank."""
        return isinstance(self.type, Form) and self.type.shape is None


def defaulted(
    parameters: Sequence[Parameter], arguments: Sequence[object], keywords: Mapping[str, object]
) -> dict[str, object] | None:
    """The keywords of a call with the defaults of what it does not give; None where that is nothing, or too much."""
    missing = {p.name: p.default for p in parameters[len(arguments) :] if p.name not in keywords}
    return None if not missing or None in missing.values() else {**keywords, **missing}


def sizes_of(kernel: str, parameters: tuple[Parameter, ...], location: Location) -> tuple[Value, ...]:
    """The symbols that the shapes of the arguments give, in the order in which the arguments name them first.

    Where a dimension has several that no one before it has, they are in the order of their names: an expression does
    not know which of its terms was written first.

    Raises ProgramNameError for a symbol whose value no shape and no argument gives.
    """
    given: dict[Value, str] = {}
    for p in parameters:
        if p.symbol is not None and p.symbol in given:
            raise problem(
                ProgramNameError,
                f"arguments {given[p.symbol]} and {p.name} of kernel {kernel} are both the value of {p.symbol.hint}",
                "give each its own symbol, or annotate one with affdsl.index",
                location=location,
            )
        if p.symbol is not None:
            given[p.symbol] = p.name
    shapes = [p.type.shape for p in parameters if isinstance(p.type, ArrayType)]
    dimensions = [sorted(e.values(), key=lambda symbol: symbol.hint) for shape in shapes for e in shape]
    found = dict.fromkeys(v for values in dimensions for v in values if v not in given)
    hints = [v.hint for v in (*given, *found)]
    twice = next((hint for hint in hints if hints.count(hint) > 1), None)
    if twice is not None:
        raise problem(
            ProgramNameError,
            f"the arguments of kernel {kernel} use two different symbols that are both called {twice}",
            f'each call of affdsl.symbols("{twice}") makes a new symbol; call it once and use the same {twice}',
            location=location,
        )
    for symbol in found:
        if not any(solves(e, symbol) for shape in shapes for e in shape):
            raise problem(
                ProgramNameError,
                f"nothing says what {symbol.hint} is when {kernel} is called",
                f"no argument has {symbol.hint} alone, or a multiple of it plus a number, as one of its sizes",
                f"add an argument `{symbol.hint.lower()}: {symbol.hint}`, or an array with the size {symbol.hint}",
                location=location,
            )
    return tuple(found)


def solves(expr: Affine, symbol: Value) -> bool:
    """Whether the value of `symbol` follows from that of expr: it is c * symbol + k with c > 0."""
    return len(expr.terms) == 1 and expr.terms[0][0] is symbol and expr.terms[0][1] > 0


def natural(
    inputs: Iterable[Value], shapes: Iterable[tuple[Affine, ...] | None], assumes: Sequence[Constraint]
) -> tuple[Constraint, ...]:
    """What a kernel assumes, and that its sizes are at least 0, where no shape and no assumption says so already.

    Sizes are the symbols that give a dimension of an array, alone or with others that they multiply: those of N, N + 4
    and N * M, but not of HI - LO, which are the ends of a range, nor of arguments that are in no shape.

    >>> from affdsl.ir.types import INDEX
    >>> n, m = Value(INDEX, "N"), Value(INDEX, "M")
    >>> natural([n, m], [(Affine.of(n), m + 4)], ()) == (Constraint(Affine.of(m)),)
    True
    """
    dimensions = [e for shape in shapes for e in shape or ()]
    said = [*dimensions, *(c.expr for c in assumes if not c.equality)]
    sizes = {v for e in dimensions for v in e.values() if solves(e, v)}
    sizes |= {
        v for e in dimensions for atom, _ in e.terms if isinstance(atom, Product) for v in Affine.of(atom).values()
    }
    left = [v for v in inputs if v in sizes and not any(solves(e, v) and e.constant <= 0 for e in said)]
    return (*assumes, *(Constraint(Affine.of(v)) for v in left))


def _size(dtype: DType | DTypes, size: object) -> Affine:
    if isinstance(size, Index):
        return size.expr
    if isinstance(size, int | np.integer) and not isinstance(size, bool):
        if size < 0:
            raise problem(ProgramTypeError, f"affdsl.{dtype}[...]: a size cannot be negative, got {size}")
        return Affine((), require_index(int(size)))
    if size is ...:
        raise problem(
            ProgramTypeError,
            f"affdsl.{dtype}[...] has sizes beside the three dots",
            f"affdsl.{dtype}[...] is an array of any rank, affdsl.{dtype}[M, N] one of two",
        )
    raise problem(
        ProgramTypeError,
        f"affdsl.{dtype}[...] takes sizes, got {size!r}",
        "a size is a whole number, a symbol from affdsl.symbols, or an affine expression of symbols like N + 1",
    )
