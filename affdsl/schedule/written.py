"""The steps of a schedule as text that says all of them, which is read and taken again: no Python runs."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence

from affdsl.errors import ProgramError
from affdsl.lang.indices import Index, symbols
from affdsl.lang.source import here
from affdsl.passes.legality.words import Message
from affdsl.schedule.history import Entry
from affdsl.schedule.schedule import Schedule
from affdsl.schedule.spelling import literal, symbols_in
from affdsl.schedule.verbs import VERBS, VerbCall

Step = tuple[str, str, tuple[str, ...]]
"""A step as text; the names of its symbols, the oldest first, by which terms are ordered; and why it was refused: the
parts of the message but for the place of whoever asked, and none if it was not."""


def written(schedule: Schedule) -> tuple[Step, ...]:
    """The steps of a schedule, taken and refused. Raises ValueError for one that nobody could read again."""
    steps: list[Step] = []
    for step in schedule._history:
        text, names = text_of(step.call), _names(step.call)
        call_of(text, names)
        refusal = step.refusal
        if refusal is not None and refusal.place != str(step.location):
            raise ValueError(f"refused elsewhere: {refusal}")
        why = () if refusal is None else (refusal.what, refusal.of, refusal.alternative, *refusal.reasons)
        steps.append((text, names, why))
    return tuple(steps)


def take(schedule: Schedule, steps: Sequence[Step]) -> None:
    """Take steps of another schedule of the same kernel; those that were refused there are not tried.

    Raises ValueError for what are no steps, and as steps do for others.
    """
    for text, names, why in steps:
        call, now = call_of(text, names), schedule._now
        if why:
            what, of, alternative, *reasons = why
            message = Message(str(here()), what, tuple(reasons), alternative, of)
            schedule._history.append(Entry(call, here(), now.module, now.names, message, now.gone))
        else:
            schedule._take(call.verb, *call.arguments, **dict(call.options))


def text_of(call: VerbCall) -> str:
    """A step with all of its options, also those that are nothing.

    >>> text_of(VerbCall("tile", (("i", "j"), 32), (("names", ()), ("grid", False))))
    'tile(("i", "j"), 32, names=(), grid=False)'
    """
    options = [f"{name}={literal(value)}" for name, value in call.options]
    return f"{call.verb}({', '.join([*map(literal, call.arguments), *options])})"


def call_of(text: str, names: str = "") -> VerbCall:
    """The step that a text says, with symbols of these names. Raises ValueError for another text.

    >>> call_of('specialize("i", (N >= 64) & (N <= 99))', "N").arguments[0]
    'i'
    >>> text_of(call_of('split("i", 2 * (N // 8) - 1)', "N"))
    'split("i", 2 * (N // 8) - 1)'
    """
    try:
        match ast.parse(text, mode="eval").body:
            case ast.Call(func=ast.Name(id=verb), args=arguments, keywords=options) if verb in VERBS:
                meaning = _Meaning({name: symbols(name) for name in names.split()})
                given = tuple(meaning.of(each) for each in arguments)
                call = VerbCall(verb, given, tuple((str(each.arg), meaning.of(each.value)) for each in options))
                if text_of(call) == text:
                    return call
    except (SyntaxError, ValueError, TypeError, LookupError, ProgramError, RecursionError, MemoryError):
        pass
    raise ValueError(f"no step: {text}")


def _names(call: VerbCall) -> str:
    found = {value for each in (*call.arguments, *dict(call.options).values()) for value in symbols_in(each)}
    return " ".join(dict.fromkeys(value.hint for value in sorted(found, key=lambda value: value.id)))


class _Meaning:
    """What the arguments of one step mean."""

    def __init__(self, symbols: Mapping[str, Index]) -> None:
        self._symbols = symbols

    def of(self, written: ast.expr) -> object:
        """What an argument, or a part of one, means."""
        match written:
            case ast.Constant(value=None | bool() | int() | str() as value):
                return value
            case ast.Tuple(elts=parts):
                return tuple(map(self.of, parts))
            case ast.Dict(keys=keys, values=values) if None not in keys:
                return {self.of(key): self.of(value) for key, value in zip(keys, values, strict=True) if key}
            case ast.Name(id=name):
                return self._symbols[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return _BINARY[ast.Sub](0, self.of(operand))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return _BINARY[type(op)](self.of(left), self.of(right))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _BINARY:
                return _BINARY[type(op)](self.of(left), self.of(right))
        raise ValueError(f"no argument of a step: {ast.unparse(written)}")


_BINARY: Mapping[type, Callable[..., object]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.BitAnd: operator.and_, ast.GtE: operator.ge, ast.LtE: operator.le, ast.Eq: operator.eq,
}  # fmt: skip
