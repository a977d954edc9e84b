"""The operations without blocks, as steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from affdsl.ir import semantics
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, math, memref
from affdsl.ir.expr import Value
from affdsl.ir.interpreter.bounds import evaluator_of, extreme, index_result
from affdsl.ir.interpreter.environment import Env, Step, error, scalar_type, taker
from affdsl.ir.interpreter.memory import cast, copy, dealloc, dim, load, store
from affdsl.ir.types import FloatType


def step_of(op: Op) -> Step:
    """An operation without blocks as a step."""
    match op:
        case affine.Load() | memref.Load():
            return load(op)
        case affine.Store() | memref.Store():
            return store(op)
        case affine.Apply():
            return index_result(op, op.result, evaluator_of(op.expr, op))
        case affine.Min():
            return index_result(op, op.result, extreme(op.exprs, min, op))
        case affine.Max():
            return index_result(op, op.result, extreme(op.exprs, max, op))
        case arith.Constant():
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
            convert = semantics.cast(op.kind, scalar_type(op.operand.type, op), scalar_type(op.result.type, op))
            return _pure(op.result, convert, op.operand)
        case arith.Select():
            return _pure(op.result, lambda c, a, b: a if c else b, op.condition, op.if_true, op.if_false)
        case arith.Extended():
            return _extended(op)
        case math.Fma():
            type = scalar_type(op.result.type, op)
            if not isinstance(type, FloatType):
                raise error(op, f"needs a float type, got {type}")
            return _pure(op.result, semantics.fma(type), op.a, op.b, op.c)
        case memref.Dealloc():
            return dealloc(op)
        case memref.Dim():
            return dim(op)
        case memref.Copy():
            return copy(op)
        case memref.Cast():
            return cast(op)
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
