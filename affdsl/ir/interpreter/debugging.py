"""Printing and assertions as steps."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from affdsl.errors import FailedAssertionError, public
from affdsl.ir.core import Op
from affdsl.ir.debugging import Printed, asserted, printed
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Value
from affdsl.ir.interpreter.environment import Env, InterpreterError, Step, error
from affdsl.ir.messages import where
from affdsl.ir.reports import shown_float, with_report
from affdsl.ir.types import FloatType, IndexType, IntegerType, Type, VectorType, element_of


@public
class InterpretedAssertionError(FailedAssertionError, InterpreterError):
    """An assertion that did not hold in the interpreter.

    >>> import affdsl as af
    >>> @af.kernel
    ... def root(x: af.f64):
    ...     af.assert_(x >= 0, "not negative", x)
    ...     return af.sqrt(x)
    >>> try:
    ...     root.interpret(-1.0)
    ... except af.InterpretedAssertionError as error:
    ...     print(str(error).partition(": ")[2])
    not negative (x = -1)
    """


def print_step(op: Opaque) -> Step:
    """What it prints goes to the standard output."""
    says = printed(op)
    assert says is not None, "asked of vector.print only"
    _require_scalar(op, says.value)

    def step(env: Env) -> None:
        sys.stdout.write(_text(env, [says]))
        sys.stdout.flush()

    return step


def assertion(op: Opaque, before: Sequence[Op]) -> Step:
    """Raise with its message, and what is printed right before it, where its condition does not hold."""
    message, condition, place = asserted(op), op.operands[0], op.location or where(op)
    says = [each for each in map(printed, before) if each is not None]
    for each in says:
        _require_scalar(op, each.value)
    assert message is not None, "asked of cf.assert only"

    def step(env: Env) -> None:
        if not env[condition]:
            raise InterpretedAssertionError(f"{place}: {with_report(message, _text(env, says))}")

    return step


def _require_scalar(op: Opaque, value: Value | None) -> None:
    if value is None:
        return
    element = element_of(value.type)
    if not isinstance(element, FloatType | IntegerType | IndexType):
        raise error(op, f"the interpreter prints numbers only, not {value.type}")


def _text(env: Env, says: Sequence[Printed]) -> str:
    return "".join((_shown(env, each.value) if each.value is not None else "") + each.text for each in says)


def _shown(env: Env, value: Value) -> str:
    if isinstance(value.type, VectorType):
        return _rows(np.atleast_1d(env[value]), value.type.element)
    return _number(env[value], value.type)


def _rows(lanes: Any, element: Type) -> str:  # noqa: ANN401
    """`( ( 1, 2 ), ( 3, 4 ) )`"""
    if not np.ndim(lanes):
        return _number(lanes, element)
    return f"( {', '.join([_rows(row, element) for row in lanes])} )"


def _number(number: Any, type: Type) -> str:  # noqa: ANN401
    if isinstance(type, FloatType):
        return shown_float(float(number), 32 if type.width == 32 else 64)
    return str(int(number))
