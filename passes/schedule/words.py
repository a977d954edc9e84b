"""A refusal as the author of a schedule reads it: at the line of the step, and with steps of the schedule as advice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from affdsl.ir.expr import Value
from affdsl.lang.source import here, shown_place
from passes.legality import IllegalTransform
from passes.schedule.spelling import literal
from passes.schedule.verbs import OF_PRIMITIVE, VERBS, Call
from passes.steps import Proposal, Step


def refused(
    error: IllegalTransform, call: Call, schedule: str, symbol: str, names: Mapping[Value, str]
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
    first, *rest = str(error).splitlines()
    place, found, what = first.partition(": cannot ")
    if not found:
        place, what = "", first.removeprefix("cannot ")
    if error.alternative:
        rest = "\n".join(rest).rpartition("    legal: ")[0].splitlines()
    file, near = place.rpartition(":")[0], _shown(place).rpartition(":")[0]
    if file:
        rest = [line.replace(file, near) for line in rest]
    of = f" (of {symbol}{f', {_shown(place)}' if place else ''})"
    alternative = advice(error, call, schedule, names)
    lines = [f"{shown_place(here())}: cannot {what}{of}", *rest]
    if alternative:
        lines.append(f"    legal: {alternative}")
    made = IllegalTransform(
        _SIGIL.sub("", "\n".join(lines)),
        dependence=error.dependence,
        witness=error.witness,
        alternative=error.proposal or alternative,
    )
    made.alternative = alternative
    return made


def advice(error: IllegalTransform, call: Call, schedule: str, names: Mapping[Value, str]) -> str:
    """What can be done instead, as steps of the schedule."""
    if error.proposal is not None:
        return _proposed(error.proposal, call, schedule, names)
    own = {each.partition("#")[0]: each for each in _texts(call.arguments)}
    return _CALL.sub(lambda found: _as_step(found, schedule, own), error.alternative)


# --- Below: how


def _proposed(proposal: Proposal, call: Call, schedule: str, names: Mapping[Value, str]) -> str:
    steps = "".join(f".{_step(step, names).text}" for step in proposal.steps)
    again = call.given(**dict(proposal.options)).text if proposal.options else ""
    if not proposal.asks_again:
        return f"{schedule}{steps}"
    if not again:
        return f"{schedule}{steps} first"
    return f"{schedule}{steps}.{again}"


def _step(step: Step, names: Mapping[Value, str]) -> Call:
    options = tuple((key, _named(value, names)) for key, value in step.options)
    arguments = tuple(_named(value, names) for value in step.arguments)
    return Call(OF_PRIMITIVE.get(step.verb, step.verb), arguments, options)


def _named(argument: object, names: Mapping[Value, str]) -> object:
    match argument:
        case Value():
            return names.get(argument, argument.hint)
        case tuple():
            return tuple(_named(each, names) for each in argument)
    return argument


_SIGIL = re.compile(r"%(?=[A-Za-z_])")
"""What MLIR writes before names, which a schedule does not."""
_CALL = re.compile(r"\b(\w+)\(func, ([^()]*)\)")
"""A call of a primitive in words that are no data."""


def _as_step(found: re.Match[str], schedule: str, own: Mapping[str, str]) -> str:
    """A call of a primitive as a step; loops that the request names are called as it calls them."""
    verb = OF_PRIMITIVE.get(found[1], found[1])
    if verb not in VERBS:
        return found[0]
    given = [each.strip().removeprefix("%") for each in found[2].split(",")]
    shown = [literal(own.get(each, each)) if each.isidentifier() else each for each in given]
    return f"{schedule}.{verb}({', '.join(shown)})"


def _texts(argument: object) -> Iterator[str]:
    match argument:
        case str():
            yield argument
        case tuple():
            for each in argument:
                yield from _texts(each)


def _shown(place: str) -> str:
    file, _, line = place.rpartition(":")
    return shown_place(replace(here(), file=file, line=int(line))) if line.isdecimal() else place
