"""A refusal as the author of a schedule reads it: at the line of the step, and with steps of the schedule as advice."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Value
from affdsl.ir.messages import in_language
from affdsl.ir.spelling import spell
from affdsl.ir.traverse import definitions
from affdsl.ir.types import MemRefType
from affdsl.lang.source import here
from affdsl.mlir.naming import numbered
from affdsl.passes.legality.proposals import Proposal, Step
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.legality.words import Message, made_by
from affdsl.schedule.loops import arrays_made
from affdsl.schedule.verbs import OF_PRIMITIVE, VerbCall


def refused(
    error: IllegalTransform, call: VerbCall, schedule: str, symbol: str, names: Mapping[Value, str]
) -> IllegalTransform:
    """The refusal of a step in the words of its schedule.

        tune.py:14: cannot interchange loops t and i (of seidel, kernels.py:7)
            ...
            legal: s.skew("t", "i", 1) first

    Parameters
    ----------
    call
        The step that was asked for.
    schedule
        The variable that holds the schedule.
    symbol
        The function, whose loops are called as `names` says.
    """
    place = str(error.op.location) if error.op.location is not None else ""
    file, near = place.rpartition(":")[0], _shown(place).rpartition(":")[0]
    reason = error.reason.text.replace(file, near) if file else error.reason.text
    of = f" (of {symbol}{f', {_shown(place)}' if place else ''})"
    alternative = advice(error, call, schedule, symbol, names)
    reasons = tuple(_as_called(line) for line in reason.splitlines())
    message = Message(str(here()), _as_called(error.what), reasons, _as_called(alternative), _as_called(of))
    return error.instead(error.proposal or alternative, message, alternative)


def advice(error: IllegalTransform, call: VerbCall, schedule: str, symbol: str, names: Mapping[Value, str]) -> str:
    """What can be done instead, as steps of the schedule."""
    if error.proposal is None:
        return error.alternative
    return _proposed(error.proposal, call, schedule, symbol, names)


def called(function: Func, names: Mapping[Value, str]) -> Callable[[Value], str]:
    """What messages about a function call its values: loops by their names, and what has none by what makes it."""
    found: dict[Value, str] = {}
    makers: dict[Value, Op] = {}

    def name(value: Value) -> str:
        if value in names:
            return names[value]
        if not found:
            given = [v for v in function.args if isinstance(v.type, MemRefType)]
            arrays = [v for v in (*given, *arrays_made(function)) if v.hint]
            found.update(zip(arrays, numbered([v.hint for v in arrays]), strict=True))
        if value not in found:
            if not value.hint and not makers:
                makers.update(definitions(function))
            found[value] = made(value, makers.get(value))
        return found[value]

    def made(value: Value, op: Op | None) -> str:
        if op is None or value.hint:
            return ""
        if isinstance(op, affine.Apply):
            text = spell(op.expr, lambda v: v.hint or name(v))
            return text if op.expr.value is not None else f"({text})"
        return made_by(value, op)

    return name


def _proposed(proposal: Proposal, call: VerbCall, schedule: str, symbol: str, names: Mapping[Value, str]) -> str:
    steps = "".join(f".{_step(step, names).text}" for step in proposal.steps)
    again = f".{call.given(**dict(proposal.options)).text}" if proposal.asks_again else ""
    if proposal.assumes:
        return f"affdsl.assume({proposal.promise}) in {symbol}, then {schedule}{steps}{again}"
    if proposal.asks_again and not proposal.options:
        return f"{schedule}{steps} first"
    return f"{schedule}{steps}{again}"


def _step(step: Step, names: Mapping[Value, str]) -> VerbCall:
    options = tuple((key, _named(value, names)) for key, value in step.options)
    arguments = tuple(_named(value, names) for value in step.arguments)
    return VerbCall(OF_PRIMITIVE.get(step.verb, step.verb), arguments, options)


def _named(argument: object, names: Mapping[Value, str]) -> object:
    match argument:
        case Value():
            return names.get(argument, argument.hint)
        case tuple():
            return tuple(_named(each, names) for each in argument)
    return argument


_SIGIL = re.compile(r"%(?=[A-Za-z_])")
"""What MLIR writes before names, which a schedule does not."""


def _as_called(text: str) -> str:
    return _SIGIL.sub("", in_language(text))


def _shown(place: str) -> str:
    file, _, line = place.rpartition(":")
    return str(replace(here(), file=file, line=int(line))) if line.isdecimal() else place
