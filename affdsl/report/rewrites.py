"""Kernels that do nearly the same without one thing that makes them slow: what a user might write instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from affdsl.errors import AffdslError
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Term, Value
from affdsl.ir.traverse import clone, rewrite, substitute, walk, with_fields
from affdsl.ir.types import F32, F64, I1, FloatType, MemRefType, Type
from affdsl.ir.verifier import verify
from affdsl.kernel import Kernel
from affdsl.lang.annotations import ArrayType, Parameter
from affdsl.lang.dtypes import DType, f32, f64
from affdsl.lang.trace import Program

Convert = Callable[[tuple[object, ...]], tuple[object, ...]]
"""Makes the arguments of the other kernel from those of a call."""
_ORDERED = {"minimumf": "olt", "maximumf": "ogt"}
_NUMBERS = {"minimumf": "minnumf", "maximumf": "maxnumf"}
NARROW: Mapping[FloatType, FloatType] = {F64: F32}
WIDE: Mapping[FloatType, FloatType] = {F32: F64}
_DTYPES = {F32: f32, F64: f64}


def selecting(kernel: Kernel) -> Kernel | None:
    """The kernel with `af.select(a < b, a, b)` for each `af.min(a, b)`, and so for `af.max`; None if it has none."""

    def rule(op: Op) -> tuple[Op, ...] | None:
        if not isinstance(op, arith.Binary) or op.kind not in _ORDERED:
            return None
        is_first = Value(I1, "", op.location)
        compared = arith.Compare(is_first, "cmpf", _ORDERED[op.kind], op.left, op.right, location=op.location)
        chosen = arith.Select(op.result, is_first, op.left, op.right, location=op.location)
        return compared, chosen

    return _made(kernel, rewrite(kernel.func, rule))


def ignoring_nan(kernel: Kernel) -> Kernel | None:
    """The kernel with `af.fmin` and `af.fmax` for each `af.min` and `af.max` of floats; None if it has none."""

    def rule(op: Op) -> Op | None:
        if not isinstance(op, arith.Binary) or op.kind not in _NUMBERS:
            return None
        return with_fields(op, kind=_NUMBERS[op.kind])

    return _made(kernel, rewrite(kernel.func, rule))


def of_other_type(kernel: Kernel, types: Mapping[FloatType, FloatType]) -> tuple[Kernel, Convert] | None:
    """The kernel with other types of floats everywhere, without the conversions between them; None if it has none."""
    function, program = kernel.func, kernel.program
    if not _is_alone(program) or not any(isinstance(v.type, MemRefType) for v in function.args):
        return None
    new: dict[Value, Term] = {}
    made = clone(function, new)
    for value in new.values():
        assert isinstance(value, Value), "a copy is a value"
        value.type = _retyped(value.type, types)
    made = _without_casts(with_fields(made, result_types=tuple(_retyped(t, types) for t in made.result_types)))
    parameters = tuple(_of_type(p, types) for p in program.parameters)
    if parameters == program.parameters:
        return None
    results = tuple(
        replace(type, dtype=_dtype(type.dtype, types)) if isinstance(type, ArrayType) else _dtype(type, types)
        for type in program.results
    )
    numbers = [p.type.dtype.numpy if isinstance(p.type, ArrayType) else None for p in parameters]

    def convert(values: tuple[object, ...]) -> tuple[object, ...]:
        pairs = zip(values, numbers, strict=True)
        return tuple(np.array(x, type) if isinstance(x, np.ndarray) else x for x, type in pairs)

    found = _kernel(kernel, replace(program, func=made, parameters=parameters, results=results))
    return None if found is None else (found, convert)


def transposed(kernel: Kernel, name: str) -> tuple[Kernel, Convert] | None:
    """The kernel whose array of that name, which has two dimensions, lies in memory by columns; None if none can."""
    function, program = kernel.func, kernel.program
    first = len(program.sizes)
    place = next((k for k, p in enumerate(program.parameters) if p.name == name), None)
    if place is None or not _is_alone(program):
        return None
    array, parameter = function.args[first + place], program.parameters[place]
    type = parameter.type
    if not isinstance(type, ArrayType) or len(type.shape) != 2 or type.strided or function.shapes == ():
        return None
    users = [op for op in walk(function) if array in op.reads()]
    if not all(isinstance(op, affine.Load | affine.Store) for op in users):
        return None
    turned = Value(replace(type, shape=type.shape[::-1]).memref, array.hint, array.location)

    def rule(op: Op) -> Op | None:
        if not isinstance(op, affine.Load | affine.Store) or op.memref is not array:
            return None
        return with_fields(op, memref=turned, index=op.index[::-1], written=None)

    args = tuple(turned if v is array else v for v in function.args)
    shapes = tuple(
        shape[::-1] if k == first + place and shape is not None else shape for k, shape in enumerate(function.shapes)
    )
    made = with_fields(rewrite(function, rule), args=args, shapes=shapes)
    parameters = tuple(
        replace(p, type=replace(type, shape=type.shape[::-1])) if p is parameter else p for p in program.parameters
    )

    def convert(values: tuple[object, ...]) -> tuple[object, ...]:
        return tuple(_turned(x) if k == place else x for k, x in enumerate(values))

    found = _kernel(kernel, replace(program, func=made, parameters=parameters))
    return None if found is None else (found, convert)


def _turned(x: object) -> object:
    return np.ascontiguousarray(x.T) if isinstance(x, np.ndarray) else x


def _is_alone(program: Program) -> bool:
    """Whether a program calls no other kernel and has no tables, of which types and layouts would have to follow."""
    return not program.callees and not program.constants


def _made(kernel: Kernel, function: Func) -> Kernel | None:
    """The kernel with another function; None where it is the same, or wrong."""
    if function is kernel.func:
        return None
    body = tuple(function if op is kernel.func else op for op in kernel.module.body)
    module: Module = with_fields(kernel.module, body=body)
    try:
        verify(module)
        return kernel.with_module(module)
    except AffdslError:
        return None


def _kernel(kernel: Kernel, program: Program) -> Kernel | None:
    """A kernel of another program; None where that is wrong, as with a constant that has no such type."""
    try:
        verify(program.module)
        made = Kernel(kernel._function, {}, program=program)
        made.check()
    except AffdslError:
        return None
    return made


def _retyped(type: Type, types: Mapping[FloatType, FloatType]) -> Type:
    if isinstance(type, MemRefType) and isinstance(type.element, FloatType):
        return replace(type, element=types.get(type.element, type.element))
    return types.get(type, type) if isinstance(type, FloatType) else type


def _without_casts(function: Func) -> Func:
    """The function without conversions of a type to itself, and with its constants rounded to their types."""
    same: dict[Value, Term] = {}

    def rule(op: Op) -> Op | tuple[()] | None:
        op = substitute(op, same)
        if isinstance(op, arith.Cast) and op.kind in ("extf", "truncf") and op.operand.type == op.result.type:
            same[op.result] = op.operand
            return ()
        if isinstance(op, arith.Constant) and op.result.type == F32 and isinstance(op.value, float):
            return with_fields(op, value=float(np.float32(op.value)))
        return op

    made = rewrite(function, rule)
    return with_fields(made, body=tuple(substitute(op, same) for op in made.body))


def _dtype(dtype: DType, types: Mapping[FloatType, FloatType]) -> DType:
    found = next((after for before, after in types.items() if dtype.type == before), None)
    return dtype if found is None else _DTYPES[found]


def _of_type(p: Parameter, types: Mapping[FloatType, FloatType]) -> Parameter:
    if isinstance(p.type, ArrayType):
        dtype = _dtype(p.type.dtype, types)
        return p if dtype is p.type.dtype else replace(p, type=replace(p.type, dtype=dtype))
    if isinstance(p.type, DType) and _dtype(p.type, types) is not p.type:
        return replace(p, type=_dtype(p.type, types))
    return p
