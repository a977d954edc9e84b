"""Affine expressions as Python functions, made once and called often."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from typing import TypeAlias

from affdsl.ir.expr import Affine, Atom, FloorDiv, Value

Evaluator: TypeAlias = Callable[[Mapping[Value, int]], int]
Complain: TypeAlias = Callable[[str], Exception]


def evaluator(expr: Affine, complain: Complain = ZeroDivisionError) -> Evaluator:
    """expr as a function of the values that it reads.

    The function raises what `complain` makes of the message where a symbolic divisor is not positive.
    """
    if expr.weight > _WORTH_REMEMBERING:
        return lambda env: _evaluated(expr, env, complain)
    k = expr.constant
    match expr.terms:
        case ():
            return lambda env: k
        case ((Value() as v, 1),) if k == 0:
            return itemgetter(v)
        case ((Value() as v, 1),):
            return lambda env: env[v] + k
        case ((Value() as v, c),):
            return lambda env: env[v] * c + k
        case ((Value() as v, c), (Value() as w, d)):
            return lambda env: env[v] * c + env[w] * d + k
    parts = [(_atom(atom, complain), c) for atom, c in expr.terms]
    if len(parts) == 1:
        ((f, c),) = parts
        return lambda env: f(env) * c + k
    return lambda env: sum([f(env) * c for f, c in parts], k)


_WORTH_REMEMBERING = 40
"""Atoms of an expression from which on those that stand in it several times are looked up, as `evaluate` does."""


def _evaluated(expr: Affine, env: Mapping[Value, int], complain: Complain) -> int:
    try:
        return expr.evaluate(env)
    except ZeroDivisionError as error:
        raise complain(str(error)) from None


def tuple_of(evaluators: list[Evaluator]) -> Callable[[Mapping[Value, int]], tuple[int, ...]]:
    """One function for the results of several."""
    match evaluators:
        case []:
            return lambda env: ()
        case [f]:
            return lambda env: (f(env),)
        case [f, g]:
            return lambda env: (f(env), g(env))
        case _:
            return lambda env: tuple([f(env) for f in evaluators])


def _atom(atom: Atom, complain: Complain) -> Evaluator:
    match atom:
        case Value():
            return itemgetter(atom)
        case FloorDiv(dividend, int() as divisor):
            f, number = evaluator(dividend, complain), divisor
            return lambda env: f(env) // number
        case FloorDiv(dividend, divisor):
            return _quotient(evaluator(dividend, complain), evaluator(Affine.of(divisor), complain), complain)
        case _:
            factors = [_atom(factor, complain) for factor in atom.factors]
            return lambda env: _product(f(env) for f in factors)


def _quotient(dividend: Evaluator, divisor: Evaluator, complain: Complain) -> Evaluator:
    def function(env: Mapping[Value, int]) -> int:
        number = divisor(env)
        if number <= 0:
            raise complain(f"the divisor of a floordiv or mod must be positive, but is {number}")
        return dividend(env) // number

    return function


def _product(factors: Iterable[int]) -> int:
    result = 1
    for factor in factors:
        result *= factor
    return result
