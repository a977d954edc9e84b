"""An index as several, and several as one: `delinearize_index` and `linearize_index`."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.errors import ProgramTypeError
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Value
from affdsl.ir.mixed import unmixed
from affdsl.ir.types import INDEX
from affdsl.lang.builder import current
from affdsl.lang.indices import Index, as_value, index_of
from affdsl.lang.source import assigned_name, assigned_names, here, problem, user_frame


def delinearize_index(linear: object, basis: Sequence[object]) -> tuple[Index, ...]:
    """The digits of an index, the most significant one first: `i, j, k = delinearize_index(n, (4, M, 8))`.

        i, j, k = affdsl.delinearize_index(n, (4, M, 8))        n = (i * M + j) * 8 + k,  0 <= j < M,  0 <= k < 8

    Parameters
    ----------
    linear
        The index.
    basis
        A number for each digit, all of them positive: numbers, sizes or indices. The first is what the index is
        promised to stay below; nothing is computed with it.

    Raises
    ------
    ProgramTypeError
        For what is no index, and for a number that is not positive.

    >>> import affdsl as af
    >>> @af.kernel
    ... def f(n: af.index):
    ...     i, j = af.delinearize_index(n, (4, 8))
    ...     return i, j
    >>> print(*f.interpret(19))
    2 3
    """
    numbers = _basis("delinearize_index", basis)
    if not numbers:
        raise problem(ProgramTypeError, "delinearize_index needs a number for each digit, got none", "write (4, 8)")
    for n in numbers:
        if isinstance(n, int) and n <= 0:
            raise problem(
                ProgramTypeError, f"delinearize_index has {n} in its basis", "the numbers of a basis are positive"
            )
    static, values = unmixed(numbers)
    value = as_value(index_of(linear, "the number of delinearize_index"))
    names = assigned_names(user_frame())
    hints = names if len(names) == len(numbers) else ("",) * len(numbers)
    results = tuple(Value(INDEX, hint, here()) for hint in hints)
    _emit(affine.DelinearizeIndex(results, value, values, static), results, (value, *values))
    return tuple(Index(v + 0) for v in results)


def linearize_index(indices: Sequence[object], basis: Sequence[object], *, disjoint: bool = False) -> Index:
    """One index made of digits, the most significant one first: `linearize_index((i, j, k), (4, M, 8))`.

        n = affdsl.linearize_index((i, j, k), (4, M, 8))        n = (i * M + j) * 8 + k

    Parameters
    ----------
    indices
        The digits: indices.
    basis
        A number for each digit. The first may be left out; nothing is computed with it.
    disjoint
        Whether each digit is promised to be at least 0 and below its number.

    Raises
    ------
    ProgramTypeError
        For what is no index, and where the numbers are neither as many as the digits nor one fewer.

    >>> import affdsl as af
    >>> @af.kernel
    ... def f(i: af.index, j: af.index):
    ...     return af.linearize_index((i, j), (4, 8))
    >>> print(f.interpret(2, 3))
    19
    """
    numbers = _basis("linearize_index", basis)
    given = tuple(as_value(index_of(x, f"digit {k} of linearize_index")) for k, x in enumerate(_items(indices)))
    if not len(numbers) <= len(given) <= len(numbers) + 1:
        raise problem(
            ProgramTypeError,
            f"linearize_index has {len(given)} digits, but {len(numbers)} numbers in its basis",
            "give a number for each digit, or for each but the first",
        )
    static, values = unmixed(numbers)
    result = Value(INDEX, assigned_name(), here())
    _emit(affine.LinearizeIndex(result, given, values, static, bool(disjoint)), (result,), (*given, *values))
    return Index(result + 0)


def _emit(op: affine.DelinearizeIndex | affine.LinearizeIndex, results: Sequence[Value], read: Sequence[Value]) -> None:
    """Emit op; its results vary with a loop, or are symbols, as what they are computed from does."""
    builder = current()
    builder.emit(op)
    if all(v in builder.symbols for v in read):
        builder.symbols.update(results)
    elif all(v in builder.symbols or v in builder.varying for v in read):
        builder.varying.update(results)


def _basis(what: str, basis: Sequence[object]) -> tuple[int | Value, ...]:
    found: list[int | Value] = []
    for k, x in enumerate(_items(basis)):
        number = index_of(x, f"number {k} of the basis of {what}")
        known = isinstance(number, Index) and number.expr.is_constant
        found.append(number.expr.constant if known and isinstance(number, Index) else as_value(number))
    return tuple(found)


def _items(x: object) -> Sequence[object]:
    if not isinstance(x, tuple | list):
        raise problem(ProgramTypeError, f"indices and numbers of a basis stand in parentheses, got {x!r}",
                      "write (i, j) and (4, 8)")  # fmt: skip
    return x
