"""Global buffers as C: static arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod

import numpy as np

from affdsl.codegen.c import tables
from affdsl.codegen.c.names import Scope, function_identifier
from affdsl.codegen.c.types import decimal, element, stored_type
from affdsl.codegen.c.unit import Unit
from affdsl.errors import UnsupportedError
from affdsl.frozen import Frozen
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, func, memref
from affdsl.ir.expr import Value
from affdsl.ir.messages import where
from affdsl.ir.numeric import dtype, number_of, quiet, to_bits
from affdsl.ir.traverse import rewrite, walk
from affdsl.ir.types import FloatType, NumberType

_A_LINE = 12
LONGEST_LIST = 2**20
"""So many elements are written one by one, where all are the same."""
LONGEST_CONSTANT = 2**12
"""A larger buffer of one constant that is only loaded from is no array: its loads are that number."""
LARGEST = 2**31 - 1
"""So many bytes a static array has at most: compilers address no larger ones in programs as they usually make them."""


class GlobalBuffer(Frozen):
    """A global buffer: what it is called in C, and the value that stands for it in every function."""

    definition: memref.Global
    name: str
    root: Value

    def text(self, unit: Unit) -> str:
        """Its definition; `unit` gets the headers that it needs."""
        op = self.definition
        kind = element(op.type)
        count = max(1, prod(size or 0 for size in op.type.shape))
        whose = f"{where(op)}: the global buffer @{op.symbol} of {op.type}"
        if count * dtype(kind).itemsize > LARGEST:
            raise UnsupportedError(f"{whose} is too large for a static array: memref.alloc takes any size")
        is_zero = op.value is not None and not isinstance(op.value, tuple) and _is_zero(op.value, kind)
        is_zero = is_zero and count > LONGEST_CONSTANT
        constant = (
            "const " if op.constant and not is_zero else ""
        )  # zeros of constants would stand in the program's file
        align = "" if op.alignment is None else f"_Alignas({op.alignment}) "
        start = f"static {align}{constant}{stored_type(kind)} {self.name}[{count}]"
        if op.value is None or is_zero:
            return f"{start};\n"
        if not isinstance(op.value, tuple) and count > LONGEST_LIST:
            raise UnsupportedError(
                f"{whose} would be a list of {count} numbers in C: fill it in a loop, or a memref.alloc"
            )
        numbers = op.value if isinstance(op.value, tuple) else (op.value,) * count
        shown = _numbers(numbers, kind, unit) or ["0"]
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


def with_constants(f: func.Func, module: func.Module) -> func.Func:
    """f, where loads from a large constant buffer that has one number everywhere are that number."""
    numbers = {
        op.symbol: op.value
        for op in module.body
        if isinstance(op, memref.Global)
        and op.constant
        and isinstance(op.value, bool | int | float)
        and prod(size or 0 for size in op.type.shape) > LONGEST_CONSTANT
    }
    if not numbers:
        return f
    known = {op.result: op for op in walk(f) if isinstance(op, memref.GetGlobal) and op.symbol in numbers}
    if not known:
        return f

    def loaded(op: Op) -> Op | None:
        if isinstance(op, affine.Load | memref.Load) and op.memref in known:
            return arith.Constant(op.result, numbers[known[op.memref].symbol], location=op.location)
        return None

    changed = rewrite(f, loaded)
    read = {value for op in walk(changed) for value in op.reads()}
    return rewrite(changed, lambda op: () if op in known.values() and not read & {*op.defines()} else None)


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


def _is_zero(number: memref.Number, type: NumberType) -> bool:
    with quiet():
        return to_bits(number_of(number, type), type) == 0


def _numbers(numbers: Sequence[memref.Number], type: NumberType, unit: Unit) -> list[str]:
    """Numbers one by one; many floats that need no header at once."""
    if isinstance(type, FloatType) and type.name in ("f32", "f64"):
        with quiet():
            held = np.array(numbers, dtype(type))
        if np.isfinite(held).all():
            return list(map(repr, held.tolist())) if type.name == "f64" else [f"{decimal(n)}f" for n in held]
    return [_number(n, type, unit) for n in numbers]


def _number(number: memref.Number, type: NumberType, unit: Unit) -> str:
    with quiet():
        held = number_of(number, type)
    if isinstance(type, FloatType) and type.name in ("f16", "bf16"):
        return f"{to_bits(held, type):#06x}"
    shown = tables.literal(held.item() if isinstance(held, np.generic) else held, type)
    return tables.headers_of(shown, unit).text
