"""Bounds and conditions: affine expressions as functions of the environment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, scf
from affdsl.ir.expr import Affine, Value
from affdsl.ir.interpreter.environment import Env, Step, error
from affdsl.ir.interpreter.evaluation import Evaluator, evaluator, tuple_of
from affdsl.ir.messages import shown
from affdsl.ir.numeric import unsigned, width, wrap
from affdsl.ir.types import IndexType, IntegerType


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


def scf_range(op: scf.For) -> Callable[[Env], Iterable[int]]:
    """The values of a loop's induction variable, its bounds read once."""
    if op.is_unsigned:
        return _unsigned_range(op)

    def iterations(env: Env) -> range:
        step = env[op.step]
        if step <= 0:
            raise error(op, f"the step {shown(op.step)} must be positive, got {step}")
        return range(env[op.lower], env[op.upper], step)

    return iterations


def _unsigned_range(op: scf.For) -> Callable[[Env], Iterable[int]]:
    type = op.iv.type
    assert isinstance(type, IndexType | IntegerType), "the verifier refuses other counters"
    bits = width(type)

    def iterations(env: Env) -> Iterable[int]:
        lower, upper, step = (unsigned(env[v], bits) for v in (op.lower, op.upper, op.step))
        if step == 0:
            raise error(op, f"the step {shown(op.step)} must be positive, got 0")
        return (wrap(number, bits) for number in range(lower, upper, step))

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


def scf_box(op: scf.Parallel) -> Callable[[Env], list[range]]:
    """The values of each induction variable of a band whose bounds are values."""

    def ranges(env: Env) -> list[range]:
        found = []
        for lower, upper, step in zip(op.lower, op.upper, op.steps, strict=True):
            if env[step] <= 0:
                raise error(op, f"the step {shown(step)} must be positive, got {env[step]}")
            found.append(range(env[lower], env[upper], env[step]))
        return found

    return ranges


def delinearized(op: affine.DelinearizeIndex) -> Step:
    """results = the digits of a number"""
    radices = [*op.radices[1:]] if len(op.radices) == len(op.results) else [*op.radices]

    def step(env: Env) -> None:
        basis = [env[r] if isinstance(r, Value) else r for r in op.radices]
        if any(number <= 0 for number in basis):
            raise error(op, f"the numbers of the basis must be positive, but are {', '.join(map(str, basis))}")
        if prod(basis) >= 1 << 63:
            raise error(op, "the product of the basis does not fit into 64 bits")
        rest, digits = env[op.linear_index], []
        for number in reversed(basis[len(basis) - len(radices) :]):
            rest, digit = divmod(rest, number)
            digits.append(digit)
        env.update(zip(op.results, [rest, *reversed(digits)], strict=True))

    return step


def linearized(op: affine.LinearizeIndex) -> Step:
    """result = the number of which some numbers are the digits"""
    outer = len(op.radices) == len(op.indices)

    def number(env: Env) -> int:
        basis = [env[r] if isinstance(r, Value) else r for r in op.radices]
        indices = [env[i] for i in op.indices]
        if op.disjoint:
            for digit, radix in zip(reversed(indices), reversed(basis), strict=False):
                if not 0 <= digit < radix:
                    raise error(op, f"says disjoint, but {digit} is not at least 0 and below {radix}")
        total = 0
        for k, digit in enumerate(indices):
            radix = basis[k if outer else k - 1] if k else 1
            total = total * radix + digit
        return total

    return index_result(op, op.result, number)


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
