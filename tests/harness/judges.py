"""What a version of a program does, and whether two do the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from affdsl.ir.dialects import func
from affdsl.ir.interpreter import InterpreterError, run
from affdsl.ir.interpreter.externals import External
from affdsl.ir.traverse import with_fields
from affdsl.ir.verifier import verify


def copied(given: Iterable[Any]) -> list[Any]:
    """Arguments of which nobody else has the arrays."""
    return [x.copy() if isinstance(x, np.ndarray) else x for x in given]


def externals(module: func.Module) -> dict[str, External]:
    """What stands for the functions that are defined elsewhere: it reads and writes all that it is given."""
    return {f.symbol: _change for f in module.functions if f.external}


def _change(array: np.ndarray) -> None:
    array += 1


def instead(module: func.Module, old: func.Func, new: func.Func) -> func.Module:
    """A module with another version of one of its functions, which keeps the rules."""
    made: func.Module = with_fields(module, body=tuple(new if op is old else op for op in module.body))
    verify(made)
    return made


def left(function: func.Func, given: Iterable[Any], module: func.Module | None = None, **options: Any) -> list[Any]:
    """What a function returns and leaves in copies of its arguments."""
    passed = copied(given)
    return [*run(function, *passed, module=module, **options), *passed]


def bits(values: Iterable[Any]) -> list[bytes]:
    """Arrays and numbers to the last bit."""
    return [np.asarray(value).tobytes() for value in values]


def alike(given: Sequence[Any], *functions: func.Func, **options: Any) -> bool:
    """Whether all functions return the same and leave the same in these arguments, to the bit."""
    first, *others = (bits(left(f, given, **options)) for f in functions)
    return all(each == first for each in others)


def same(a: object, b: object) -> bool:
    """Whether two results are equal to the bit."""
    return np.asarray(a).tobytes() == np.asarray(b).tobytes()


def same_but_nan(a: object, b: object) -> bool:
    """The same, where one NaN is as good as another."""
    x, y = np.asarray(a), np.asarray(b)
    if x.dtype.kind == "f":
        signs = [np.signbit(z) & (z == z) for z in (x, y)]
        return bool(np.array_equal(x, y, equal_nan=True) and np.array_equal(*signs))
    return same(x, y)


def meaningful_runs(
    versions: Sequence[tuple[func.Func, func.Module]], inputs: Iterable[Sequence[Any]],
    agree: Callable[[object, object], bool] = same, **options: Any,
) -> int:  # fmt: skip
    """Run a function as it was and as it is; how many runs had a meaning, which must be the same.

    A run as it was that breaks a rule, as with an index out of bounds, says nothing.
    """
    (old, before), (new, after) = versions
    meant = 0
    for given in inputs:
        try:
            wanted = left(old, given, before, **options)
        except InterpreterError:
            continue
        found = left(new, given, after, **options)
        meant += 1
        for k, (a, b) in enumerate(zip(wanted, found, strict=True)):
            assert agree(a, b), f"@{old.symbol}({given}): number {k} is {b} instead of {a}\n{before}\n{after}"
    return meant
