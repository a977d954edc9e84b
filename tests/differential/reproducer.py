"""A program as Python that builds it again, so that a failure that was found by chance becomes a test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import numpy as np

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, func, math, memref, scf
from affdsl.ir.expr import Affine, FloorDiv, Product, Value
from affdsl.ir.traverse import walk
from tests.differential.generator import Program

_DIALECTS = {m.__name__.rpartition(".")[2]: m for m in (affine, arith, func, math, memref, scf)}

_START = '''"""{title}"""

import numpy as np

from affdsl.ir.dialects import affine, arith, func, math, memref, scf
from affdsl.ir.expr import Affine, Constraint, FloorDiv, Product, Value
from affdsl.ir.types import *
from tests.differential.generator import Program

inf, nan = float("inf"), float("nan")

'''


def reproducer(program: Program, title: str) -> str:
    """The text of a Python file that defines `program`."""
    names: dict[Value, str] = {}
    lines = [_START.format(title=title.replace("\\", "/").replace('"', "'"))]
    for op in (inner for f in program.module.functions for inner in walk(f)):
        for value in (*op.binds(), *op.defines()):
            if value not in names:
                names[value] = f"v{len(names)}"
                lines.append(f"{names[value]} = Value({value.type!r}, {value.hint!r})\n")
    symbols = []
    for k, function in enumerate(program.module.functions):
        symbols.append(f"f{k}")
        lines.append(f"f{k} = {_text(function, names, 0)}\n")
    module = f"func.Module(({', '.join(symbols)},))"
    calls = ", ".join(f"({''.join(f'{_argument(x)}, ' for x in call)})" for call in program.calls)
    last = f"{program.seed}, {module}, {program.entry!r}, {program.sizes}, ({calls},), {program.wild}"
    lines.append(f"program = Program({last})\n")
    return "".join(lines)


def _argument(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()!r}, {str(value.dtype)!r}).reshape({value.shape})"
    return repr(value)


def _text(part: object, names: dict[Value, str], depth: int) -> str:
    match part:
        case Value():
            return names[part]
        case Op():
            name = next(n for n, m in _DIALECTS.items() if type(part).__module__ == m.__name__)
            shown = ", ".join(_fields(part, names, depth))
            return f"{name}.{type(part).__name__}({shown})"
        case Affine() | FloorDiv() | Product():
            shown = ", ".join(_text(getattr(part, f.name), names, depth) for f in fields(part))
            return f"{type(part).__name__}({shown})"
        case tuple() if part and isinstance(part[0], Op):
            inside = "".join(f"\n{'    ' * (depth + 1)}{_text(p, names, depth + 1)}," for p in part)
            return f"({inside}\n{'    ' * depth})"
        case tuple():
            return f"({''.join(f'{_text(p, names, depth)}, ' for p in part)})"
        case _ if is_dataclass(part) and not isinstance(part, type) and hasattr(part, "equality"):
            return f"Constraint({_text(part.expr, names, depth)}, {part.equality})"
        case _:
            return repr(part)


def _fields(op: Op, names: dict[Value, str], depth: int) -> Iterator[str]:
    for f in fields(op):
        if f.name != "location":
            value = getattr(op, f.name)
            yield f"{f.name}={value!r}" if isinstance(value, frozenset) else f"{f.name}={_text(value, names, depth)}"
