"""Which kernel of several types a call means: by the types of its arrays, then of its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from affdsl.errors import AffdslError, ProgramTypeError
from affdsl.frozen import Frozen
from affdsl.lang.annotations import Form, OpenParameter, Parameter
from affdsl.lang.arrays import Array
from affdsl.lang.dtypes import NUMBERS, DType, Number, bool_, c128, f64, i64, literal
from affdsl.lang.numpy_types import found_dtype
from affdsl.lang.traced import Traced
from affdsl.lang.type_variables import DTypes, Types, listed

MOST_DIMENSIONS = 32
"""Of arrays that are called with."""
Error = Callable[[str], AffdslError]
"""What makes the error to raise of what is wrong."""


class Seen(Frozen):
    """An argument of a call, and what it says of a variable: the name of the argument, its type, and that in words."""

    name: str
    dtype: DType | None
    words: str


def variables_of(parameters: Sequence[Parameter | OpenParameter]) -> tuple[DTypes, ...]:
    """The variables in the order in which arguments have them."""
    found = (p.variable for p in parameters if isinstance(p, OpenParameter))
    return tuple(dict.fromkeys(v for v in found if v is not None))


def has_any_rank(parameters: Sequence[Parameter | OpenParameter]) -> bool:
    """Whether an array of them has any rank."""
    return any(p.has_any_rank for p in parameters if isinstance(p, OpenParameter))


def chosen(parameters: Sequence[Parameter | OpenParameter], given: Mapping[str, object], error: Error) -> Types | None:
    """The types that a call means, by what it gives for arguments; None where it gives too little to say.

    Raises what `error` makes where arguments disagree, or have none of the types.
    """
    pairs: list[tuple[DTypes, DType]] = []
    for variable in variables_of(parameters):
        own = [p for p in parameters if isinstance(p, OpenParameter) and p.variable is variable]
        dtype = _of_arrays(variable, own, given, error) or _of_numbers(variable, own, given, error)
        if dtype is None:
            return None
        pairs.append((variable, dtype))
    rank = _rank(parameters, given, error) if has_any_rank(parameters) else None
    return None if rank is None and has_any_rank(parameters) else Types(tuple(pairs), rank)


def _of_arrays(
    variable: DTypes, own: Sequence[OpenParameter], given: Mapping[str, object], error: Error
) -> DType | None:
    """The type of the arrays of a call; None where there are none."""
    seen = list(_arrays(own, given))
    for each in seen:
        if each.dtype not in variable.types:
            raise error(
                f"argument {each.name!r} must be an array of {_listed(variable)}, got {each.words}"
                + ("" if variable.is_union else f": these are what {variable} may be")
            )
    return _agreed(variable, seen, error)


def _of_numbers(
    variable: DTypes, own: Sequence[OpenParameter], given: Mapping[str, object], error: Error
) -> DType | None:
    """The type of the numbers of a call, where no array says it: numbers of Python fit several."""
    numbers = {p.name: given[p.name] for p in own if not isinstance(p.type, Form) and p.name in given}
    typed = [seen for name, x in numbers.items() if (seen := _typed(name, x)) is not None]
    decided = _agreed(variable, [seen for seen in typed if seen.dtype in variable.types], error)
    if decided is not None:
        return decided
    for seen in typed:
        if isinstance(numbers[seen.name], Traced):  # of which nothing is converted in silence
            raise error(f"argument {seen.name!r} must be {_listed(variable)}, got {seen.words}; convert it")
    plain = [x for x in numbers.values() if isinstance(x, NUMBERS)]
    if not plain:
        return None
    usual = [dtype for kinds, dtype in _USUAL if any(isinstance(x, kinds) for x in plain)][:1]
    for dtype in (*(d for d in usual if d in variable.types), *variable.types):
        if all(_holds(dtype, x) for x in plain):
            return dtype
    raise error(f"none of {_listed(variable)} holds {' and '.join(f'{n} = {x!r}' for n, x in numbers.items())}")


_USUAL = (((complex,), c128), ((float,), f64), ((bool, np.bool_), bool_), ((int,), i64))
"""The type that Python's own numbers have, from the one that holds the others."""


def _agreed(variable: DTypes, seen: Sequence[Seen], error: Error) -> DType | None:
    """The one type of all arguments that say one. Raises where two differ."""
    for first, second in pairwise(seen):
        if first.dtype != second.dtype:
            what = "the two have" if variable.is_union else f"both are {variable},"
            raise error(
                f"argument {first.name!r} is {first.words}, and {second.name!r} is {second.words}, but {what} one "
                "type; convert one of them, or let the kernel take two: annotate it with another affdsl.dtypes"
            )
    return seen[0].dtype if seen else None


def _arrays(own: Sequence[OpenParameter], given: Mapping[str, object]) -> Iterator[Seen]:
    """The arrays of a call that say the type of a variable."""
    for p in own:
        x = given.get(p.name)
        if isinstance(p.type, Form) and isinstance(x, np.ndarray):
            yield Seen(p.name, found_dtype(x.dtype), str(x.dtype))
        elif isinstance(p.type, Form) and isinstance(x, Array):
            yield Seen(p.name, x.type.dtype, repr(x.type.dtype))
        elif isinstance(p.type, Form) and p.name in given:
            yield Seen(p.name, None, "None" if x is None else f"a {type(x).__name__}")


def _typed(name: str, x: object) -> Seen | None:
    """What a number says that has a type; None for one of Python."""
    if isinstance(x, np.generic):
        return Seen(name, found_dtype(x.dtype), str(x.dtype))
    if isinstance(x, Traced):
        dtype = x.scalar().dtype
        return Seen(name, dtype, repr(dtype))
    return None


def _rank(parameters: Sequence[Parameter | OpenParameter], given: Mapping[str, object], error: Error) -> int | None:
    """How many dimensions the arrays of any rank have; None where there are none. Raises where two differ."""
    found = {
        p.name: x.ndim for p in parameters
        if isinstance(p, OpenParameter) and p.has_any_rank and isinstance(x := given.get(p.name), np.ndarray | Array)
    }  # fmt: skip
    for name, rank in found.items():
        if rank > MOST_DIMENSIONS:
            raise error(f"argument {name!r} has {rank} dimensions, and kernels take at most {MOST_DIMENSIONS}")
    for (first, rank), (second, other) in pairwise(found.items()):
        if rank != other:
            raise error(
                f"argument {first!r} has {rank} dimensions, and {second!r} has {other}: all arrays of any rank "
                "have the same shape"
            )
    return next(iter(found.values()), None)


def _holds(dtype: DType, x: Number) -> bool:
    try:
        literal(x, dtype)
    except ProgramTypeError:
        return False
    return True


def _listed(variable: DTypes) -> str:
    return listed([d if d.numpy is None else d.numpy for d in variable.types])
