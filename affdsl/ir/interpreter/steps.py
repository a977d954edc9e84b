"""The operations without blocks, as steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from affdsl.ir import complex_numbers, semantics
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, math, memref, ub
from affdsl.ir.dialects import complex as complex_
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Value
from affdsl.ir.interpreter import vector_access, views
from affdsl.ir.interpreter.bounds import delinearized, evaluator_of, extreme, index_result, linearized
from affdsl.ir.interpreter.debugging import print_step
from affdsl.ir.interpreter.environment import Env, Step, complex_type, error, number_type, scalar_type, taker
from affdsl.ir.interpreter.lanes import constant, has_vectors, lanewise, poison, vector_of, vector_type
from affdsl.ir.interpreter.memory import address, atomic_rmw, cast, copy, dealloc, dim, load, rank, store, subscripts
from affdsl.ir.interpreter.transfers import dma_start, dma_wait
from affdsl.ir.interpreter.vectors import STEPS
from affdsl.ir.numeric import complex_of, number_of
from affdsl.ir.types import FloatType, VectorType


def step_of(op: Op) -> Step:
    """An operation without blocks as a step."""
    if has_vectors(op):
        return lanewise(op, step_of)
    match op:
        case affine.Apply():
            return index_result(op, op.result, evaluator_of(op.expr, op))
        case affine.Min():
            return index_result(op, op.result, extreme(op.exprs, min, op))
        case affine.Max():
            return index_result(op, op.result, extreme(op.exprs, max, op))
        case arith.Constant(result=Value(type=VectorType())):
            return constant(op)
        case arith.Constant():
            assert not isinstance(op.value, tuple), "a scalar is one number"
            number = semantics.constant(op.value, scalar_type(op.result.type, op))
            return _pure(op.result, lambda: number)
        case arith.Binary() | math.Binary():
            return _pure(op.result, semantics.binary(op.kind, scalar_type(op.result.type, op)), op.left, op.right)
        case math.Unary():
            return _pure(op.result, semantics.unary(op.kind, scalar_type(op.operand.type, op)), op.operand)
        case arith.Negate():
            return _pure(op.result, semantics.unary("negf", scalar_type(op.result.type, op)), op.operand)
        case arith.Compare():
            return _pure(op.result, semantics.compare(op.predicate, scalar_type(op.left.type, op)), op.left, op.right)
        case arith.Cast():
            source, target = scalar_type(op.operand.type, op), scalar_type(op.result.type, op)
            return _pure(op.result, semantics.cast(op.kind, source, target, op.rounding), op.operand)
        case arith.Select():
            return _pure(op.result, lambda c, a, b: a if c else b, op.condition, op.if_true, op.if_false)
        case complex_.Constant():
            value = number_of(op.value, complex_type(op.result, op))
            return _pure(op.result, lambda: value)
        case complex_.Create():
            of_parts = complex_type(op.result, op)
            return _pure(op.result, lambda re, im: complex_of(re, im, of_parts), op.real, op.imaginary)
        case complex_.Part():
            return _pure(op.result, complex_numbers.part(op.kind, complex_type(op.operand, op)), op.operand)
        case complex_.Unary():
            return _pure(op.result, complex_numbers.unary(op.kind, complex_type(op.operand, op)), op.operand)
        case complex_.Binary():
            return _pure(op.result, complex_numbers.binary(op.kind, complex_type(op.left, op)), op.left, op.right)
        case complex_.Compare():
            return _pure(op.result, complex_numbers.compare(op.kind), op.left, op.right)
        case math.Fma():
            of = scalar_type(op.result.type, op)
            if not isinstance(of, FloatType):
                raise error(op, f"needs a float type, got {of}")
            return _pure(op.result, semantics.fma(of), op.a, op.b, op.c)
        case affine.VectorLoad():
            return vector_access.load(op, op.result, op.memref, subscripts(op))
        case affine.VectorStore():
            return vector_access.store(op, op.value, op.memref, subscripts(op))
        case affine.Prefetch() | memref.Prefetch():
            return lambda env: None
        case ub.Poison(result=Value(type=VectorType())):
            type = vector_type(op.result, op)
            lanes = vector_of(type.shape, [poison(type.element)] * prod(type.shape))
            return _pure(op.result, lanes.copy)
        case ub.Poison():
            number = poison(number_type(op.result.type, op))
            return _pure(op.result, lambda: number)
        case Opaque(kind="vector.print"):
            return print_step(op)
        case Opaque():
            raise error(op, "the interpreter does not know what this operation does")
        case _ if op.__class__ in _STEPS:
            return _STEPS[op.__class__](op)
        case _:
            raise error(op, "the interpreter does not know this operation")


def _pure(result: Value, function: Callable[..., Any], *operands: Value) -> Step:
    """result = function(operands)"""
    match operands:
        case ():
            number = function()
            return lambda env: env.__setitem__(result, number)
        case (a,):

            def unary(env: Env) -> None:
                env[result] = function(env[a])

            return unary
        case (a, b):

            def binary(env: Env) -> None:
                env[result] = function(env[a], env[b])

            return binary
    take = taker(operands)
    return lambda env: env.__setitem__(result, function(*take(env)))


def _extended(op: arith.Extended) -> Step:
    type = scalar_type(op.low.type, op)
    if isinstance(type, FloatType):
        raise error(op, f"needs an integer type, got {type}")
    function = semantics.extended(op.kind, type)

    def step(env: Env) -> None:
        env[op.low], env[op.high] = function(env[op.left], env[op.right])

    return step


_STEPS: Mapping[type[Op], Callable[[Any], Step]] = {
    affine.Load: load, memref.Load: load, affine.Store: store, memref.Store: store, memref.AtomicRMW: atomic_rmw,
    memref.Dealloc: dealloc, memref.Dim: dim, memref.Copy: copy, memref.Cast: cast, memref.Rank: rank,
    memref.ExtractAlignedPointerAsIndex: address,
    memref.ExtractStridedMetadata: views.extract_strided_metadata, memref.SubView: views.subview,
    memref.ReinterpretCast: views.reinterpret_cast, memref.ExpandShape: views.expand_shape,
    memref.CollapseShape: views.collapse_shape, memref.View: views.view, memref.Reshape: views.reshape,
    affine.DmaStart: dma_start, memref.DmaStart: dma_start, affine.DmaWait: dma_wait, memref.DmaWait: dma_wait,
    affine.DelinearizeIndex: delinearized, affine.LinearizeIndex: linearized, arith.Extended: _extended, **STEPS,
}  # fmt: skip
"""What makes a step of each class of operations of which nothing but the class decides."""
