"""Kernels in pickles: by their name where a module leads other processes to them, by what they are otherwise."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from types import FunctionType

from affdsl.family import Family, Parameters
from affdsl.kernel import Kernel
from affdsl.lang.annotations import Form, OpenParameter, Parameter
from affdsl.lang.dtypes import DType, index
from affdsl.lang.packed import Packed, packed, packed_module, unpacked, unpacked_module
from affdsl.lang.trace import Program

Names = tuple[str, str, str, str | None]
"""Of a kernel's function: its name, its qualified name, its module, and its docstring."""


def reduced(
    kernel: Kernel, function: FunctionType, program: Program | None, written: Kernel
) -> str | tuple[object, ...]:
    """What `__reduce__` gives: a name of the kernel's module, or how to make the kernel again.

    A kernel that has no program yet, a method, has only a name.
    """
    if program is None or (_leads_to(function) is kernel and not _is_elsewhere_another(function.__module__)):
        return function.__qualname__
    names: Names = (function.__name__, function.__qualname__, function.__module__, function.__doc__)
    made = packed_module(program) if kernel.is_derived else None
    return unpickled, (names, packed(written.program), made)


def reduced_family(family: Family, function: FunctionType, parameters: Parameters) -> str | tuple[object, ...]:
    """What `__reduce__` of a family gives: a name, or all of its kernels, and how a call tells them apart.

    A method that is not reached through an object has only a name.
    """
    if family._awaits_owner or (_leads_to(function) is family and not _is_elsewhere_another(function.__module__)):
        return function.__qualname__
    names: Names = (function.__name__, function.__qualname__, function.__module__, function.__doc__)
    kernels = {key: family[key] for key in family._keys()}
    return unpickled_family, (names, family._shown, tuple(map(_plain, parameters)), kernels)


def _plain(p: Parameter | OpenParameter) -> Parameter | OpenParameter:
    """An argument without its sizes, which are symbols of this process: calls are told apart by types and ranks."""
    if isinstance(p, Parameter):
        return Parameter(p.name, index, p.default)
    if isinstance(p.type, Form) and p.type.shape is not None:
        return replace(p, type=replace(p.type, shape=()))
    return p


def unpickled_family(
    names: Names, said: str, parameters: Parameters, kernels: dict[tuple[DType | int, ...], Kernel]
) -> Family:
    """The family that a pickle holds by value, with the kernels that it had."""
    return Family(_function(names), {}, parameters=parameters, made=kernels, is_closed=True, said=said)


@lru_cache(maxsize=512)
def unpickled(names: Names, data: Packed, made: str | None) -> Kernel:
    """The kernel that a pickle holds by value; one pickle after the other gives the same, compiled once."""

    written = Kernel(_function(names), {}, program=unpacked(data))
    return written if made is None else written.with_module(unpacked_module(made, written.program))


def _function(names: Names) -> FunctionType:
    """What stands in the place of a kernel's function, which no pickle holds."""

    def function() -> None:
        raise AssertionError("a kernel is built once")

    assert isinstance(function, FunctionType), "defined with def"
    function.__name__, function.__qualname__, function.__module__, function.__doc__ = names
    return function


def _leads_to(function: FunctionType) -> object:
    """What the name of a function in its module, if that is loaded, stands for, or None."""
    found: object = sys.modules.get(function.__module__)
    for part in function.__qualname__.split("."):
        found = getattr(found, part, None)
    return found


def _is_elsewhere_another(module: str) -> bool:
    """Whether a name of a module says nothing in other processes: of the script or notebook that runs, or of a module
    that the user gave to `cloudpickle.register_pickle_by_value`."""
    if module == "__main__":
        return True
    registry: Callable[[], set[str]] = getattr(sys.modules.get("cloudpickle"), "list_registry_pickle_by_value", set)
    return any(module == each or module.startswith(f"{each}.") for each in registry())
