"""How a schedule is written in Python: the lines before its steps, and what to write instead of what it has not."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from difflib import get_close_matches

from affdsl.kernel import Kernel
from affdsl.schedule.loops import unused
from affdsl.schedule.verbs import OF_PRIMITIVE

_NOT_YET = ("optimize", "optimise", "tune")
_CALLED_HERE = {
    "reorder": "permute", "swap": "interchange", "exchange": "interchange", "fission": "distribute", "block": "tile",
    "stripmine": "strip_mine", "unroll_and_jam": "unroll_jam", "collapse": "coalesce",
    "flatten": "coalesce", "stage": "copy", "cache_read": "copy", "cache_write": "copy", "pack": "copy",
    "fma": "contract", "set_parallel": "parallel", "parallelise": "parallel", "rollback": "undo",
    "licm": "hoist", "vectorise": "vectorize", "vectorization": "vectorize", "simd": "vectorize",
    "fusion": "fuse",
    "array_expansion": "expand", "double_buffer": "pipeline",
}  # fmt: skip
"""What other tools call the steps."""


def instead(name: str, schedule: str, known: Iterable[str]) -> str:
    """What to write instead of an attribute that schedules have not; `known` are those that they have."""
    if name in _NOT_YET:
        return " yet"
    if hasattr(Kernel, name) and not name.startswith("_"):
        return f": the kernel that comes out has; write {schedule}.kernel().{name}"
    verb = next((verb for primitive, verb in OF_PRIMITIVE.items() if primitive == name), "")
    verb = verb or _CALLED_HERE.get(name, "")
    close = [verb] if verb else get_close_matches(name, [each for each in known if each[0] != "_"], 1, 0.7)
    return f"; did you mean {schedule}.{close[0]}?" if close else ""


def begun(kernel: Kernel, schedule: str, symbols: Iterable[str], *, inline: bool) -> tuple[str, list[str]]:
    """The name of a schedule in Python where no other one is in its way, and the lines that begin it."""
    own = _variable(kernel)
    module = unused("af", {own, *symbols})
    name = unused(schedule, {module, own, *symbols})
    start = f"{module}.Schedule({own}{', inline=True' * inline})"
    lines = [f"import affdsl as {module}", *_import(kernel), "", f"{name} = {start}"]
    return name, [*lines, *(f'{symbol} = {module}.symbols("{symbol}")' for symbol in symbols)]


def _variable(kernel: Kernel) -> str:
    """What a kernel is called where it was defined."""
    return _qualified(kernel).rpartition("<locals>.")[2]


def _qualified(kernel: Kernel) -> str:
    return str(getattr(kernel, "__qualname__", kernel.name))


def _import(kernel: Kernel) -> list[str]:
    """The line that imports a kernel, or one that says where it was made."""
    found: object = sys.modules.get(kernel.__module__)
    path, _, types = _qualified(kernel).partition('["')  # types where it is one of a family
    top, *rest = path.split(".")
    if kernel.__module__ != "__main__":
        for name in (top, *rest):
            found = getattr(found, name, None)
        if isinstance(found, Kernel) and types:
            found = found[types.removesuffix('"]')]
        if found is kernel:
            return [f"from {kernel.__module__} import {top}"]
    place = kernel.func.location
    what = "what a schedule or a pass made of the kernel" if kernel.is_derived else "the kernel"
    return [f"# {_variable(kernel)} is {what}{f' of {place}' if place is not None else ''}"]
