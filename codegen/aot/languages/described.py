"""What other languages must know of the functions of a library: their parameters in order, each with type and use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from affdsl.codegen.aot.contract import required
from affdsl.codegen.aot.shipped import Library
from affdsl.codegen.aot.sources import Sources
from affdsl.codegen.c.header import contract_lines
from affdsl.codegen.c.library import Written
from affdsl.codegen.c.names import comment
from affdsl.frozen import FrozenValue
from affdsl.ir.expr import Affine, Value
from affdsl.ir.types import MemRefType

Use = Literal["value", "read", "changed", "given"]
"""What a function does with what it is handed: a value; or memory that it reads, changes, or only writes."""


class Parameter(FrozenValue):
    """A parameter of a function in C.

    Attributes
    ----------
    type
        That of the value, or of what it points to, as C has it.
    shape
        Of an array; None for one number. A dimension that nothing says is None.
    """

    name: str
    type: str
    use: Use
    shape: tuple[Affine | None, ...] | None = None


class Function(FrozenValue):
    """A function in C.

    Attributes
    ----------
    symbol
        Its name in C.
    returns
        A type of C, or "void".
    names
        What the values are called of which shapes are made.
    about
        What its caller must see to, as lines.
    """

    symbol: str
    returns: str
    parameters: tuple[Parameter, ...]
    names: Mapping[Value, str]
    about: tuple[str, ...]


Write = Callable[[Library, Sequence[Function]], str]
"""Writes a file with declarations for a language."""


def functions(library: Library, sources: Sources) -> list[Function]:
    """The functions that callers of a library see."""
    found = []
    for kernel, written in zip(library.kernels, sources.functions, strict=True):
        sites = sources.sites if written.plan.notes else None
        lines = contract_lines(written.plan, written.prototype, sites, required(kernel))
        said = [comment(line) for line in kernel.about.strip().splitlines()]
        about = (*lines[:2], *said, *([""] if said else []), *lines[2:])
        found.append(_described(written, sources.sites.room, about))
    return found


def _described(written: Written, room: int, about: Sequence[str]) -> Function:
    plan, made = written.plan, written.prototype
    shapes: dict[str, tuple[Affine | None, ...]] = {}
    for position, arg in enumerate(plan.func.args):
        if isinstance(arg.type, MemRefType):
            said = plan.func.shapes[position] if plan.func.shapes else None
            static = tuple(None if size is None else Affine.of(size) for size in arg.type.shape)
            is_packed = arg not in plan.strides
            shapes[made.parameters[arg]] = (said or static) if is_packed else (None,) * arg.type.rank
    given = set[str]()
    for result, output in zip(plan.results, made.outputs, strict=True):
        if output:
            given.add(output)
            shapes |= {output: result.shape} if result.is_array else {}
    if made.failure:
        shapes[made.failure] = (Affine.of(room),)
    parameters = []
    for p in made.all:
        is_pointer = p.type.endswith("*")
        use: Use = "value" if not is_pointer else "read" if p.type.startswith("const ") else "changed"
        use = "given" if p.name in given else use
        type = p.type.removeprefix("const ").removesuffix("*").strip()
        parameters.append(Parameter(p.name, type, use, shapes.get(p.name)))
    return Function(made.name, made.returns, tuple(parameters), made.parameters, tuple(about))
