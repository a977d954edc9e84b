"""Vectors in a kernel: several neighbouring elements of an array as one value."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from affdsl.errors import ProgramTypeError
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, vector
from affdsl.ir.dialects.vector import MOST_LANES
from affdsl.ir.expr import Value
from affdsl.ir.types import ComplexType, VectorType
from affdsl.lang.arrays import Array
from affdsl.lang.builder import current
from affdsl.lang.dtypes import NUMBERS, DType, bool_, literal
from affdsl.lang.indices import Index, as_value
from affdsl.lang.scalars import Scalar, emit_scalar, kind_of, predicate_of
from affdsl.lang.source import assigned_name, here, problem
from affdsl.lang.traced import Operand, Wide

if TYPE_CHECKING:
    from affdsl.lang import annotated
    from affdsl.lang.annotated import Subscript


class Vector(Wide["Vector"]):
    """Some numbers of one element type, computed together: what `vector_load` and `broadcast` give.

    Operators work on each lane. A number or a scalar beside a vector stands for a vector that has it in every lane.
    `sum()`, `min()` and `max()` make one number of all lanes.

    Attributes
    ----------
    dtype
        The type of a lane.
    lanes
        How many, along each dimension.

    >>> import numpy as np, affdsl as af
    >>> @af.kernel
    ... def norm(x: af.f64[4]):
    ...     v = af.vector_load(x, 0, 4)
    ...     return af.sqrt((v * v).sum())
    >>> print(norm.interpret(np.array([1.0, 1.0, 1.0, 1.0])))
    2.0
    """

    __slots__ = ("dtype", "lanes", "value")
    instead: ClassVar[str] = "a vector has the operators of its elements; take its elements apart with loops"

    def __init__(self, value: Value, dtype: DType, lanes: tuple[int, ...]) -> None:
        self.value = value
        self.dtype = dtype
        self.lanes = lanes

    def bind(self, value: Value) -> None:
        """Stand for another value from now on: a carried value becomes the loop's result."""
        self.value = value

    def like(self, value: Value) -> Vector:
        """Another vector of the same type and number of lanes."""
        return Vector(value, self.dtype, self.lanes)

    def describe(self) -> str:
        """What messages call it."""
        shown = f"{self.dtype} vector of {' x '.join(map(str, self.lanes))} lanes"
        return f"{self.value.hint} (a {shown})" if self.value.hint else f"a {shown}"

    def scalar(self) -> Scalar:
        """Raise ProgramTypeError: a vector is no number."""
        raise problem(
            ProgramTypeError,
            f"{self.describe()} is no single number",
            "store it with affdsl.vector_store(v, A, (i, j)), or make one number of it with v.sum(), v.min(), v.max()",
        )

    def combine(self, symbol: str, left: Operand, right: Operand) -> Vector:
        """left <symbol> right, lane by lane."""
        a, b = _both(symbol, left, right)
        kind = kind_of(symbol, a.dtype)
        return _vector(a.dtype, a.lanes, lambda r: arith.Binary(r, kind, a.value, b.value))

    def compared(self, symbol: str, left: Operand, right: Operand) -> Vector:
        """left <symbol> right, lane by lane, as a vector of bool_."""
        a, b = _both(symbol, left, right)
        kind, predicate = predicate_of(symbol, a.dtype)
        return _vector(bool_, a.lanes, lambda r: arith.Compare(r, kind, predicate, a.value, b.value))

    def extreme(self, name: str, left: Operand, right: Operand) -> Vector:
        """The smaller or larger of each two lanes."""
        a, b = _both(name, left, right)
        kind = _EXTREMES[a.dtype.kind].format(name)
        return _vector(a.dtype, a.lanes, lambda r: arith.Binary(r, kind, a.value, b.value))

    def fused(self, a: Operand, b: Operand, c: Operand) -> Vector:
        """a * b + c, each lane rounded once."""
        like = next(x for x in (a, b, c) if isinstance(x, Vector))
        if like.dtype.kind != "float":
            raise problem(
                ProgramTypeError, f"fma needs floats, got {like.describe()}", "load them from an array of floats"
            )
        x, y, z = (same_lanes(like, part, "fma") for part in (a, b, c))
        return _vector(like.dtype, like.lanes, lambda r: vector.Fma(r, x.value, y.value, z.value))

    def chosen(self, condition: Operand, if_true: Operand, if_false: Operand) -> Vector:
        """if_true where condition holds, lane by lane, else if_false."""
        values = [x for x in (if_true, if_false) if isinstance(x, Vector)]
        mask = condition if isinstance(condition, Vector) else None
        if not values:
            assert mask is not None, "one of the three is a vector"
            found = next((x for x in (if_true, if_false) if isinstance(x, Scalar)), None)
            if found is None:
                raise problem(
                    ProgramTypeError,
                    "select of Python numbers alone has no type",
                    "write affdsl.f64(x) for one of them",
                )
            values = [_splat(found.value, found.dtype, mask.lanes)]
        like = values[0]
        a, b = same_lanes(like, if_true, "select"), same_lanes(like, if_false, "select")
        if mask is not None and (mask.dtype != bool_ or mask.lanes != like.lanes):
            raise problem(ProgramTypeError, f"select needs a condition for each lane, got {mask.describe()}",
                          "compare vectors of as many lanes: v > 0")  # fmt: skip
        test = mask.value if mask is not None else condition.scalar().value  # type: ignore[union-attr]
        return _vector(like.dtype, like.lanes, lambda r: arith.Select(r, test, a.value, b.value))

    def sum(self) -> Scalar:
        """The sum of all lanes, from the first to the last."""
        return self._reduced("add", "sum")

    def min(self) -> Scalar:
        """The smallest lane; NaN wins."""
        return self._reduced(_REDUCTIONS[self.dtype.kind].format("min"), "min")

    def max(self) -> Scalar:
        """The largest lane; NaN wins."""
        return self._reduced(_REDUCTIONS[self.dtype.kind].format("max"), "max")

    def _reduced(self, kind: str, name: str) -> Scalar:
        if len(self.lanes) != 1 or self.dtype.kind == "bool":
            raise problem(
                ProgramTypeError,
                f"{name} of {self.describe()} has no meaning here",
                "it works on the numbers of one row of lanes: affdsl.vector_load(A, (i, j), 8)",
            )
        return emit_scalar(self.dtype, lambda r: vector.Reduction(r, kind, self.value))

    def __neg__(self) -> Vector:
        if self.dtype.kind != "float":
            return self.combine("-", 0, self)
        return _vector(self.dtype, self.lanes, lambda r: arith.Negate(r, self.value))

    def __pos__(self) -> Vector:
        return Vector(self.value, self.dtype, self.lanes)


_EXTREMES = {"float": "{}imumf", "signed": "{}si", "index": "{}si", "unsigned": "{}ui", "bool": "{}ui"}
_REDUCTIONS = {"float": "{}imumf", "signed": "{}si", "index": "{}si", "unsigned": "{}ui", "bool": "{}ui"}


def vector_load(source: annotated.Array, index: Subscript, lanes: int | tuple[int, ...]) -> Vector:
    """The elements of an array from an index on, so many along its last dimensions: `vector_load(A, (i, j), 8)`.

        v = affdsl.vector_load(A, (i, j), 8)        v[k] = A[i, j + k]
        w = affdsl.vector_load(A, (i, j), (2, 8))   w[l, k] = A[i + l, j + k]

    Parameters
    ----------
    source
        The array.
    index
        The index of the first element. All that are loaded must lie inside of the array.
    lanes
        How many elements, or how many along each of the last dimensions.

    Raises
    ------
    ProgramTypeError, ProgramIndexError
        For what is no array, no index or no number of lanes.

    >>> import numpy as np, affdsl as af
    >>> @af.kernel
    ... def total(x: af.f64[8]):
    ...     return af.vector_load(x, 2, 4).sum()
    >>> print(total.interpret(np.arange(8.0)))
    14.0
    """
    source = _array(source, "vector_load")
    counts = _lanes(source, lanes, "vector_load")
    place = source.place(index)
    exprs = source.affine(place)
    dtype = source.type.dtype
    if exprs is not None:
        return _vector(dtype, counts, lambda r: affine.VectorLoad(r, source.value, exprs))
    indices = tuple(as_value(x) for x in place)
    return _vector(dtype, counts, lambda r: vector.Load(r, source.value, indices))


def broadcast(x: annotated.Scalar, lanes: int | tuple[int, ...]) -> Vector:
    """A vector with a number in every lane: `broadcast(f32(0), 8)`.

    Parameters
    ----------
    x
        The number; a Python number needs a type, `affdsl.f32(0)`.
    lanes
        How many lanes, or how many along each dimension.

    Raises
    ------
    ProgramTypeError
        For what is no typed number or no number of lanes.

    >>> import numpy as np, affdsl as af
    >>> @af.kernel
    ... def fill(x: af.f64[4], a: af.f64):
    ...     af.vector_store(af.broadcast(a, 4), x, 0)
    >>> x = np.zeros(4)
    >>> fill.interpret(x, 2.5)
    >>> x
    array([2.5, 2.5, 2.5, 2.5])
    """
    if not isinstance(x, Scalar):
        raise problem(ProgramTypeError, f"broadcast needs a typed number, got {x!r}", "give it a type: affdsl.f32(0)")
    _require_lanes("broadcast", x.dtype)
    return _splat(x.value, x.dtype, _counts(lanes, "broadcast"))


def vector_store(value: Vector, target: annotated.Array, index: Subscript) -> None:
    """The elements of an array from an index on = the lanes of a vector: `vector_store(v, A, (i, j))`.

    Parameters
    ----------
    value
        A vector of elements of the array.
    target
        The array.
    index
        The index of the first element. All that are stored must lie inside of the array.

    Raises
    ------
    ProgramTypeError, ProgramIndexError
        For what is no vector of the array's elements, no array or no index.

    >>> import numpy as np, affdsl as af
    >>> @af.kernel
    ... def double(x: af.f64[4]):
    ...     v = af.vector_load(x, 0, 4)
    ...     af.vector_store(v + v, x, 0)
    >>> x = np.arange(4.0)
    >>> double.interpret(x)
    >>> x
    array([0., 2., 4., 6.])
    """
    if not isinstance(value, Vector):
        raise problem(ProgramTypeError, f"vector_store takes a vector, got {value!r}",
                      "one number is stored with A[i, j] = x")  # fmt: skip
    target = _array(target, "vector_store")
    _lanes(target, value.lanes, "vector_store")
    if value.dtype != target.type.dtype:
        raise problem(
            ProgramTypeError,
            f"{target.name} holds {target.type.dtype} and cannot store {value.describe()}",
            "load the vector from an array of the same type",
        )
    target.require_writable()
    place = target.place(index)
    exprs = target.affine(place)
    current().written.add(target.whole.value)
    if exprs is not None:
        current().emit(affine.VectorStore(value.value, target.value, exprs))
    else:
        current().emit(vector.Store(value.value, target.value, tuple(as_value(x) for x in place)))


def _require_lanes(what: str, dtype: DType) -> None:
    if dtype.kind == "complex":
        raise problem(
            ProgramTypeError,
            f"{what} of {dtype}: the lanes of a vector are real numbers",
            "keep the real and the imaginary parts in arrays of their own, or compute with one number at a time",
        )


def _array(array: object, what: str) -> Array:
    if not isinstance(array, Array):
        raise problem(ProgramTypeError, f"{what} takes an array, got {array!r}")
    return array


def _lanes(array: Array, lanes: object, what: str) -> tuple[int, ...]:
    """The numbers of lanes, checked against the array."""
    _require_lanes(what, array.type.dtype)
    found = _counts(lanes, what)
    if len(found) > array.ndim:
        raise problem(
            ProgramTypeError,
            f"a vector of {' x '.join(map(str, found))} lanes has {len(found)} dimensions, "
            f"{array.name} has {array.ndim}",
            "give as many numbers of lanes as the array has dimensions, or fewer",
        )
    return found


def _counts(lanes: object, what: str) -> tuple[int, ...]:
    """The numbers of lanes along each dimension of a vector."""
    counts = lanes if isinstance(lanes, tuple) else (lanes,)
    found = tuple(int(n) for n in counts if isinstance(n, int | np.integer) and not isinstance(n, bool) and n > 0)
    if prod(found) > MOST_LANES:
        wrong = f"a vector of {' x '.join(map(str, found))} lanes: it may have {MOST_LANES} lanes at most"
        raise problem(ProgramTypeError, wrong, "let a loop go over parts of it, of some 8 or 16 lanes each")
    if len(found) != len(counts) or not found:
        raise problem(
            ProgramTypeError,
            f"{what} takes a positive number of lanes, got {lanes!r}",
            "write a Python number, or one for each of several dimensions: 8, or (2, 8)",
        )
    return found


def _type(lanes: tuple[int, ...], dtype: DType) -> VectorType:
    assert not isinstance(dtype.type, ComplexType), "no lane of a vector is complex"
    return VectorType(lanes, dtype.type)


def _vector(dtype: DType, lanes: tuple[int, ...], make: Callable[[Value], Op]) -> Vector:
    result = Value(_type(lanes, dtype), assigned_name(), here())
    current().emit(make(result))
    return Vector(result, dtype, lanes)


def _splat(value: Value, dtype: DType, lanes: tuple[int, ...]) -> Vector:
    result = Value(_type(lanes, dtype), "", here())
    current().emit(vector.Broadcast(result, value))
    return Vector(result, dtype, lanes)


def _both(what: str, left: Operand, right: Operand) -> tuple[Vector, Vector]:
    like = left if isinstance(left, Vector) else right
    assert isinstance(like, Vector), "one of the two is a vector"
    return same_lanes(like, left, what), same_lanes(like, right, what)


def same_lanes(like: Vector, x: object, what: str) -> Vector:
    """x as a vector of the same type and number of lanes."""
    if isinstance(x, Vector):
        if (x.dtype, x.lanes) != (like.dtype, like.lanes):
            raise problem(
                ProgramTypeError,
                f"{what} of {like.describe()} and {x.describe()}: they differ",
                "both need the same element type and as many lanes",
            )
        return x
    if isinstance(x, NUMBERS):
        number = literal(x, like.dtype)
        assert not isinstance(number, complex), "no lane of a vector is complex"
        result = Value(_type(like.lanes, like.dtype), "", here())
        current().emit(arith.Constant(result, number))
        return Vector(result, like.dtype, like.lanes)
    if isinstance(x, Scalar | Index):
        scalar = x.scalar()
        if scalar.dtype == like.dtype:
            return _splat(scalar.value, like.dtype, like.lanes)
        raise problem(
            ProgramTypeError,
            f"{what} of {like.describe()} and {scalar.describe()}: the types differ",
            f"convert the number: affdsl.{like.dtype}(...)",
        )
    raise problem(ProgramTypeError, f"{what} of {like.describe()} needs a number beside it, got {x!r}")
