"""A program for arrays that lie in Fortran order: the same on what NumPy calls their transposes."""

from __future__ import annotations

from dataclasses import replace

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Term, Value
from affdsl.ir.traverse import rewrite, substitute, walk, with_fields
from affdsl.lang.annotations import ArrayType, Parameter
from affdsl.lang.trace import Program

_ACCESSES = (affine.Load, affine.Store, memref.Load, memref.Store)


def is_turned(parameter: Parameter) -> bool:
    """Whether an argument is an array of which the order of dimensions says how it may lie: strided, of two or more."""
    return isinstance(parameter.type, ArrayType) and parameter.type.strided and len(parameter.type.shape) > 1


def turned(program: Program) -> Program | None:
    """The program that takes the transposes of its strided arrays, and reads and writes the same elements of them.

    None where it has no such arrays, or does something else with one than to load and to store elements.

    >>> import affdsl as af
    >>> M, N = af.symbols("M N")
    >>> @af.kernel
    ... def cleared(a: af.strided(af.f32[M, N])):
    ...     with af.for_(M) as i, af.for_(N) as j:
    ...         a[i, j] = 0.0
    >>> found = turned(cleared.program)
    >>> found.parameters[0].type
    strided(f32[N, M])
    >>> turned(found).parameters == cleared.program.parameters
    True
    """
    args = program.func.args[len(program.sizes) :]
    arrays = {arg: p for arg, p in zip(args, program.parameters, strict=True) if is_turned(p)}
    if not arrays or not all(
        _is_access(op) for op in walk(program.func) if not arrays.keys().isdisjoint(op.mentions())
    ):
        return None
    parameters = {p: _turned(p) for p in arrays.values()}
    new: dict[Value, Value] = {}
    for arg, p in arrays.items():
        type = parameters[p].type
        assert isinstance(type, ArrayType)
        new[arg] = Value(type.memref, arg.hint, arg.location)

    def rule(op: Op) -> Op | None:
        match op:
            case affine.Load() | affine.Store() if op.memref in arrays:
                return with_fields(op, index=op.index[::-1], written=None)
            case memref.Load() | memref.Store() if op.memref in arrays:
                return with_fields(op, indices=op.indices[::-1])
        return None

    terms: dict[Value, Term] = {**new}
    made: Func = substitute(rewrite(program.func, rule), terms)
    shapes = tuple(
        shape[::-1] if arg in arrays and shape is not None else shape
        for arg, shape in zip(program.func.args, program.func.shapes, strict=False)
    )
    func = with_fields(made, args=tuple(new.get(arg, arg) for arg in program.func.args), shapes=shapes)
    return replace(program, func=func, parameters=tuple(parameters.get(p, p) for p in program.parameters))


def _is_access(op: Op) -> bool:
    return isinstance(op, (*_ACCESSES, Func))


def _turned(parameter: Parameter) -> Parameter:
    assert isinstance(parameter.type, ArrayType)
    return replace(parameter, type=replace(parameter.type, shape=parameter.type.shape[::-1]))
