"""The steps of a schedule, taken and refused, and what each of them changed, loop by loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property

from affdsl.frozen import Frozen
from affdsl.ir.dialects import affine, scf
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.location import Location
from affdsl.ir.traverse import walk
from affdsl.passes.analysis.relations import Alternatives
from affdsl.passes.legality.assumptions import assuming_all
from affdsl.passes.legality.words import Message
from affdsl.passes.transforms.settle import Fate
from affdsl.schedule.loops import Tree, tree_of
from affdsl.schedule.vectors import vectors
from affdsl.schedule.verbs import VerbCall


class Entry(Frozen):
    """A step that was taken, with the program after it; or that was refused: then `refusal` says why.

    Attributes
    ----------
    call
        What was asked for.
    location
        Where in the user's source.
    module
        The program after it. Its last function is the kernel.
    names
        What the loops of that are called.
    refusal
        Why it was refused, in parts; None if it was not.
    gone
        Of the names of loops that this step or one before left out, because they run once or never: that in words.
    made
        The loops that the step made, by their counters, in the order of the text.
    """

    call: VerbCall
    location: Location
    module: Module = field(repr=False)
    names: Mapping[Value, str] = field(repr=False)
    refusal: Message | None = None
    gone: Mapping[str, str] = field(default_factory=dict, repr=False)
    made: tuple[Value, ...] = field(default=(), repr=False)

    @property
    def error(self) -> str:
        """Why it was refused, as the user was told; empty if it was not."""
        return "" if self.refusal is None else str(self.refusal)

    @property
    def function(self) -> Func:
        """The kernel's function after the step."""
        return self.module.functions[-1]

    @cached_property
    def loops(self) -> Tree:
        """The loops after the step, as a tree."""
        return tree_of(self.function, self.names)

    def __str__(self) -> str:
        """The step as a call, without the schedule before it."""
        return self.call.text


def explained(start: Entry, history: Sequence[Entry], accepted: Alternatives = ((),)) -> str:
    """What each step did to which loop, what was refused and why, the loops as they are in the end, and their vectors.

    Parameters
    ----------
    start
        The program before all steps.
    history
        The steps, taken and refused, in order.
    accepted
        What each call checks of the sizes.
    """
    done = [step for step in history if step.refusal is None]
    lines = [f"{counted(len(done), 'step')}, {len(history) - len(done)} refused"]
    before, number = start, 0
    touched: dict[str, list[str]] = {}
    for step in history:
        place = str(step.location)
        if step.refusal is not None:
            lines += [f"refused  {step}  ({place})", *(f"    {line}" for line in step.refusal.unplaced.splitlines())]
            continue
        number += 1
        lines.append(f"{number}. {step}  ({place})")
        for name, what in changes(before, step):
            lines.append(f"    {what}")
            touched.setdefault(name, []).append(str(number))
        before = step
    lines.append("the loops now:")
    for row in before.loops:
        by = dict.fromkeys(number for name in row.names for number in touched.get(name, ()))
        note = f"  (step{'s' * (len(by) > 1)} {', '.join(by)})" if by else ""
        lines.append(f"    {'  ' * row.depth}{row.text}{note}")
    function = assuming_all(before.function, accepted)
    lines += ["vectors:", *(f"    {line}" for line in vectors(function, before.names, before.module))]
    return "\n".join(lines)


def counted(number: int, noun: str) -> str:
    """How many there are of something.

    >>> counted(1, "step"), counted(0, "step")
    ('1 step', '0 steps')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def with_gone(before: Entry, call: VerbCall, names: Mapping[Value, str], gone: Mapping[Value, Fate]) -> dict[str, str]:
    """What became of the loops that are gone after a step, which those that are new may be, too, by their names."""
    said = dict(before.gone)
    for iv, fate in gone.items():
        what = "it runs once, and its body stands in its place" if fate == "runs once" else f"it {fate}"
        said[before.names.get(iv, names.get(iv, iv.hint))] = f"{what} (since {call.text})"
    return said


def changes(before: Entry, after: Entry) -> Iterator[tuple[str, str]]:
    """Which loop was made, changed, moved or taken away, by its name, and that in words."""
    old, new = _rows(before), _rows(after)
    for name, (text, around) in new.items():
        if name not in old:
            yield name, f"new loop {text}"
            continue
        was, around_before = old[name]
        kept = [outer for outer in around if outer in old]
        if text == f"parallel {was}":
            yield name, f"{name} runs in parallel"
        elif was != text:
            yield name, f"{text}, which was {was}"
        elif kept[-1:] != [outer for outer in around_before if outer in new][-1:]:
            yield name, f"{text}, now {f'inside of {around[-1]}' if around else 'outermost'}"
    for name in old:
        if name not in new:
            yield name, f"no loop {name} any more{f': {after.gone[name]}' if name in after.gone else ''}"
    still = set(_carrying(after))
    for name in _carrying(before):
        if name in new and name not in still:
            yield name, f"{name} carries no values any more"


def _carrying(at: Entry) -> Iterator[str]:
    """The loops that carry values."""
    for op in walk(at.function):
        if isinstance(op, affine.For | scf.For) and op.results:
            yield at.names[op.iv]


def _rows(at: Entry) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Each loop in words, with the names of those around it."""
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    around: list[str] = []
    for row in at.loops:
        del around[row.depth :]
        for name in row.names:
            found[name] = (row.text, tuple(around))
        around.append(row.names[0])
    return found
