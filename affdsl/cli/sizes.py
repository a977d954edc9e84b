"""Gives the sizes of arrays to functions that do not take them, as C needs them.

func.func @f(%A: memref<?x4xf32>)    ->    func.func @f(%A_0: index, %A: memref<?x4xf32>)  with A of A_0 times 4
call @f(%B)                          ->    call @f(the first size of %B, %B)
"""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.codegen.c.plan import C_INTERFACE
from affdsl.ir.core import Op
from affdsl.ir.dialects.arith import Constant
from affdsl.ir.dialects.func import Call, Func, Module
from affdsl.ir.dialects.memref import Dim
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import rewrite, with_fields
from affdsl.ir.types import INDEX, MemRefType

Sizes = tuple[tuple[int, int], ...]
"""Argument positions and dimensions."""


def with_sizes(module: Module) -> tuple[Module, Mapping[str, int]]:
    """module with an index argument for each size that no function's contract tells, and how many each function got.

    They come first, in the order of the arrays and their dimensions. Functions whose contract says all stay as they
    are, and so do those without a body that take arrays by MLIR's C interface, which have their sizes with them.
    """
    missing = {f.symbol: _missing(f) for f in module.functions}
    missing = {symbol: sizes for symbol, sizes in missing.items() if sizes}
    if not missing:
        return module, {}

    def pass_sizes(op: Op) -> tuple[Op, ...] | None:
        if not isinstance(op, Call) or op.callee not in missing:
            return None
        made: list[Op] = []
        values: list[Value] = []
        for position, dimension in missing[op.callee]:
            number, size = Value(INDEX), Value(INDEX)
            made += [
                Constant(number, dimension, location=op.location),
                Dim(size, op.args[position], number, location=op.location),
            ]
            values.append(size)
        return (*made, with_fields(op, args=(*values, *op.args)))

    body = tuple(
        _with_arguments(rewrite(op, pass_sizes), missing.get(op.symbol, ())) if isinstance(op, Func) else op
        for op in module.body
    )
    return with_fields(module, body=body), {symbol: len(sizes) for symbol, sizes in missing.items()}


def _missing(function: Func) -> Sizes:
    found: list[tuple[int, int]] = []
    if function.external and any(name == C_INTERFACE for name, _ in function.attributes):
        return ()
    for position, value in enumerate(function.args):
        promised = function.shapes[position] if function.shapes else None
        if promised is None and isinstance(value.type, MemRefType):
            found += [(position, d) for d, size in enumerate(value.type.shape) if size is None]
    return tuple(found)


def _with_arguments(function: Func, sizes: Sizes) -> Func:
    if not sizes:
        return function
    made = {
        (position, dimension): Value(INDEX, f"{function.args[position].hint or f'arg{position}'}_{dimension}")
        for position, dimension in sizes
    }
    shapes: list[tuple[Affine, ...] | None] = [None] * len(sizes)
    for position, value in enumerate(function.args):
        promised = function.shapes[position] if function.shapes else None
        if promised is None and isinstance(value.type, MemRefType):
            promised = tuple(
                Affine.of(made[position, d] if size is None else size) for d, size in enumerate(value.type.shape)
            )
        shapes.append(promised)
    new: dict[str, object] = {
        "args": (*made.values(), *function.args),
        "shapes": tuple(shapes),
        "unsigned": frozenset(position + len(sizes) for position in function.unsigned),
    }
    if function.argument_attributes:
        new["argument_attributes"] = (*((),) * len(sizes), *function.argument_attributes)
    return with_fields(function, **new)
