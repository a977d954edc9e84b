"""What is called of a kernel for several types: it finds the kernel by the types of arrays in a dict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from affdsl.codegen.errors import ArgumentError, SizeError
from affdsl.frames import cut
from affdsl.lang.annotations import Form, OpenParameter, Parameter

Called: TypeAlias = Callable[..., object]
Choose: TypeAlias = Callable[[tuple[object, ...], Mapping[str, object]], tuple[Called, bool]]
"""Gives the kernel of a call, and whether the types of its NumPy arrays say that alone; raises where they disagree."""
KeyOf: TypeAlias = Callable[[tuple[Any, ...]], object]
"""Gives what tells calls apart, by their arguments in order."""
_NO_SUCH_ARRAY = (KeyError, AttributeError, IndexError)


def dispatcher(
    choose: Choose, parameters: Sequence[Parameter | OpenParameter], key_of: KeyOf, known: dict[object, Called]
) -> Called:
    """A function that calls the kernel that `choose` gives, and keeps it in `known` for arrays of these types.

    Such a call costs a look into a dict more than that of the kernel. Where a type is that of numbers alone, each call
    asks.
    """
    names = [p.name for p in parameters]

    def chosen(arguments: tuple[Any, ...], keywords: Mapping[str, object]) -> Called:
        key: object = None
        with suppress(*_NO_SUCH_ARRAY):  # too few are given, or other ones than arrays
            key = key_of((*arguments, *(keywords[name] for name in names[len(arguments) :])) if keywords else arguments)
            return known[key]
        found, is_of_arrays = choose(arguments, keywords)
        if key is not None and is_of_arrays:
            known[key] = found
        return found

    def call(*arguments: object, **keywords: object) -> object:
        try:
            try:
                found = known[key_of(arguments)]
            except _NO_SUCH_ARRAY:
                found = chosen(arguments, keywords)
            try:
                return found(*arguments, **keywords)
            except (ArgumentError, SizeError):
                choose(arguments, keywords)  # which says what is wrong of two arguments, if it is that
                raise
        except Exception as error:
            cut(error)
            raise

    return call


def key_of_calls(parameters: Sequence[Parameter | OpenParameter]) -> KeyOf:
    """What tells calls apart: the types of the first array of each variable, and the rank of the first of any rank.

    It raises one of _NO_SUCH_ARRAY for a call without such arrays.
    """
    first: dict[object, int | None] = {}
    rank = next((k for k, p in enumerate(parameters) if isinstance(p, OpenParameter) and p.has_any_rank), None)
    for k, p in enumerate(parameters):
        if isinstance(p, OpenParameter) and p.variable is not None and first.get(p.variable) is None:
            first[p.variable] = k if isinstance(p.type, Form) else None
    positions = [k for k in first.values() if k is not None]
    if len(positions) < len(first):

        def nothing(_: tuple[Any, ...]) -> object:
            raise KeyError("numbers say a type")

        return nothing
    if rank is None and len(positions) == 1:
        (only,) = positions
        return lambda arguments: arguments[only].dtype.num
    if rank is None:
        return lambda arguments: tuple([arguments[k].dtype.num for k in positions])
    return lambda arguments: (arguments[rank].ndim, *[arguments[k].dtype.num for k in positions])
