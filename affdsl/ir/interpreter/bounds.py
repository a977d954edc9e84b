"""Bounds and conditions: affine expressions as functions of the environment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, scf
from affdsl.ir.expr import Affine, Value
from affdsl.ir.interpreter.environment import Env, Step, error
from affdsl.ir.interpreter.evaluation import Evaluator, evaluator, tuple_of
from affdsl.ir.messages import shown


def evaluator_of(expr: Affine, op: Op) -> Evaluator:
    """expr as a function of the environment; op is what its errors name."""
    return evaluator(expr, lambda text: error(op, text))


def index_result(op: Op, result: Value, function: Callable[[Env], int]) -> Step:
    """result = function(env), which must fit into the 64 bits of an index."""

    def step(env: Env) -> None:
        number = function(env)
        if not -(1 << 63) <= number < 1 << 63:
            raise error(op, f"{shown(result)} = {number} does not fit into 64 bits")
        env[result] = number

    return step


def extreme(exprs: Sequence[Affine], choose: Callable[[Iterable[int]], int], op: Op) -> Callable[[Env], int]:
    """The smallest or largest of exprs."""
    if not exprs:
        raise error(op, "needs at least one expression")
    if len(exprs) == 1:
        return evaluator_of(exprs[0], op)
    take = tuple_of([evaluator_of(e, op) for e in exprs])
    return lambda env: choose(take(env))


def affine_range(op: affine.For) -> Callable[[Env], range]:
    """The values of a loop's induction variable, its bounds evaluated once."""
    if op.step <= 0:
        raise error(op, f"the step must be positive, got {op.step}")
    lower, upper, step = extreme(op.lower, max, op), extreme(op.upper, min, op), op.step
    return lambda env: range(lower(env), upper(env), step)


def scf_range(op: scf.For) -> Callable[[Env], range]:
    """The values of a loop's induction variable, its bounds read once."""

    def iterations(env: Env) -> range:
        step = env[op.step]
        if step <= 0:
            raise error(op, f"the step {shown(op.step)} must be positive, got {step}")
        return range(env[op.lower], env[op.upper], step)

    return iterations


def box(op: affine.Parallel) -> Callable[[Env], list[range]]:
    """The values of each induction variable of a band."""
    if any(step <= 0 for step in op.steps):
        raise error(op, f"the steps must be positive, got {', '.join(map(str, op.steps))}")
    bounds = [
        (extreme(lower, max, op), extreme(upper, min, op), step)
        for lower, upper, step in zip(op.lower, op.upper, op.steps, strict=True)
    ]
    return lambda env: [range(lower(env), upper(env), step) for lower, upper, step in bounds]


def conjunction(op: affine.If) -> Callable[[Env], bool]:
    """Whether all constraints of a condition hold."""
    tests = [(evaluator_of(c.expr, op), c.equality) for c in op.condition]

    def holds(env: Env) -> bool:
        for number, equality in tests:
            n = number(env)
            if n < 0 or (equality and n):
                return False
        return True

    return holds
