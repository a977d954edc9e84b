"""Global buffers as C: static arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod

from affdsl.errors import UnsupportedError
from affdsl.ir.dialects import func, memref
from affdsl.ir.expr import Value
from affdsl.ir.numeric import number_of, quiet, to_bits
from affdsl.ir.types import FloatType, ScalarType
from codegen.c import tables
from codegen.c.names import Scope, function_identifier
from codegen.c.types import element, stored_type
from codegen.c.unit import Unit

_A_LINE = 12


@dataclass(frozen=True, eq=False)
class GlobalBuffer:
    """A global buffer: what it is called in C, and the value that stands for it in every function."""

    definition: memref.Global
    name: str
    root: Value

    def text(self, unit: Unit) -> str:
        """Its definition; `unit` gets the headers that it needs."""
        op = self.definition
        kind = element(op.type)
        count = max(1, prod(size or 0 for size in op.type.shape))
        constant = "const " if op.constant else ""
        align = "" if op.alignment is None else f"_Alignas({op.alignment}) "
        start = f"static {align}{constant}{stored_type(kind)} {self.name}[{count}]"
        if op.value is None:
            return f"{start};\n"
        numbers = op.value if isinstance(op.value, tuple) else (op.value,) * count
        shown = [_number(n, kind, unit) for n in numbers] or ["0"]
        lines = [", ".join(shown[k : k + _A_LINE]) for k in range(0, len(shown), _A_LINE)]
        inside = lines[0] if len(lines) == 1 else "\n    " + ",\n    ".join(lines) + "\n"
        return f"{start} = {{{inside}}};\n"


def global_buffers(module: func.Module, names: Scope) -> dict[str, GlobalBuffer]:
    """The global buffers of a module by their symbols."""
    return {
        op.symbol: GlobalBuffer(
            op, names.reserve(function_identifier(op.symbol)), Value(op.type, op.symbol)
        )
        for op in module.body
        if isinstance(op, memref.Global)
    }  # fmt: skip


def used(ops: Iterable[object], buffers: Mapping[str, GlobalBuffer]) -> set[str]:
    """The symbols of the global buffers that operations name."""
    found = set()
    for op in ops:
        if isinstance(op, memref.GetGlobal):
            buffer = buffers.get(op.symbol)
            if buffer is None or buffer.definition.external:
                raise UnsupportedError(f"the global buffer @{op.symbol} has no definition in the module")
            if buffer.definition.type.layout is not None:
                raise UnsupportedError(f"the global buffer @{op.symbol} has the layout {buffer.definition.type}")
            found.add(op.symbol)
    return found


def _number(number: int | float | bool, type: ScalarType, unit: Unit) -> str:
    with quiet():
        held = number_of(number, type)
    if isinstance(type, FloatType) and type.name in ("f16", "bf16"):
        return f"{to_bits(held, type):#06x}"
    shown = tables.literal(float(held) if isinstance(type, FloatType) else int(held), type)
    return tables.headers_of(shown, unit).text
