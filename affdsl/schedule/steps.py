"""Steps on the loops of a function, each of which gives the loops that it made: what schedules give names to.

A loop is its counter. A step that changes a loop keeps its counter, so that whoever holds a loop holds it afterwards,
too; where only a copy is left, that is told, as are the loops that are new. So nothing has to be looked up by a name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field, replace

from affdsl.frozen import Frozen, FrozenValue
from affdsl.ir.dialects import affine, scf
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.traverse import holders
from affdsl.passes.advice.alternatives import alternatives_are_wanted
from affdsl.passes.advice.verbs import done
from affdsl.passes.legality.proposals import Request, Step
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.settle import Fate, settled
from affdsl.passes.transforms.share import shared
from affdsl.passes.transforms.squares import squares_turned
from affdsl.schedule.alone import alone, path_to, restored
from affdsl.schedule.loops import counters


class After(FrozenValue):
    """What follows a step of a kind.

    Attributes
    ----------
    settles
        Whether it makes bounds, which may say more than their place needs.
    copies
        Whether it makes copies of a body, which may compute the same, or load a square column by column.
    opens
        Whether it may be legal when loops carry no values, and is not where they do.
    advises
        Whether its refusals say of other loops what is legal, for which it needs the nests beside.
    """

    settles: bool = False
    copies: bool = False
    opens: bool = False
    advises: bool = False


_PLAIN, _BOUNDS, _COPIES = After(), After(settles=True), After(settles=True, copies=True)
_REORDERS = After(settles=True, opens=True)
AFTER: Mapping[str, After] = {
    **dict.fromkeys(("reverse", "distribute", "coalesce", "reroll", "make_perfect", "sink"), After(opens=True)),
    **dict.fromkeys(("tile", "permute", "interchange", "skew", "normalize", "map_gpu"), _REORDERS),
    **dict.fromkeys(("strip_mine", "fuse", "index_set_split", "locate", "peel", "vectorize", "data_copy"), _BOUNDS),
    **dict.fromkeys(("compute_at", "precompute", "fold", "inline"), _BOUNDS),
    **dict.fromkeys(("unroll", "unroll_full"), _COPIES),
    "unroll_jam": replace(_COPIES, opens=True),
    "parallelize": After(advises=True),
}
"""What follows the steps, by their primitives; nothing where one is not there."""


class Taken(Frozen):
    """What a step has made of a function.

    Attributes
    ----------
    step
        The step.
    function
        The function after it.
    made
        The loops that it made, by their counters, in the order of the text.
    gone
        What became of those that it left out, because they run once or never.
    moved
        The copies that stand for loops where these are no more, as in the parts of a loop that is distributed: the
        first new loop of the same name, which is how a schedule calls it, too.
    """

    step: Step
    function: Func = field(repr=False)
    made: tuple[Value, ...] = ()
    gone: Mapping[Value, Fate] = field(default_factory=dict, repr=False)
    moved: Mapping[Value, Value] = field(default_factory=dict, repr=False)

    def of(self, loop: Value) -> Value | None:
        """Where a loop of before is: itself, or the copy that stands for it; None where there is none any more."""
        now = self.moved.get(loop, loop)
        return now if now in counters(self.function) else None


def taken(function: Func, module: Module, step: Step, called: str = "") -> Taken:
    """A step after which the function is settled; only the nest that it changes is looked at, where that suffices.

    Parameters
    ----------
    called
        What the person who asks calls the step.

    Raises
    ------
    IllegalTransform
        As the transformation does.
    """
    path = path_to(function, step)
    if path:
        small = alone(path)
        try:
            made, gone = _made(Request(step, small, module), called)
        except IllegalTransform as error:
            if not AFTER.get(step.verb, _PLAIN).advises or not alternatives_are_wanted():
                error.request = Request(step, function, module)
                raise
        else:
            whole = restored(path, small, made)
            if whole is not None:
                return _taken(step, function, whole, gone)
    return _taken(step, function, *_made(Request(step, function, module), called))


def _taken(step: Step, before: Func, after: Func, gone: Mapping[Value, Fate]) -> Taken:
    old, new = counters(before), counters(after)
    known, left = {*old}, {*new}
    made = {iv: None for iv in new if iv not in known}
    moved: dict[Value, Value] = {}
    for iv in old:
        if iv not in left and iv not in gone:
            copied = next((each for each in made if each.hint == iv.hint), None)
            if copied is not None:
                moved[iv] = copied
                del made[copied]
    return Taken(step, after, (*made,), gone, moved)


def _made(request: Request, called: str) -> tuple[Func, Mapping[Value, Fate]]:
    after = AFTER.get(request.step.verb, _PLAIN)
    made = done(request, called)
    if after.copies:
        made = shared(made, request.function, request.module)
        made = squares_turned(made, request.function, request.module)
    if not after.settles:
        return made, {}
    found = settled(made, request.function)
    return found.function, found.gone


def carrying(function: Func, verb: str, loops: Collection[Value]) -> Value | None:
    """The first loop that carries a value and that a step is given, or that is inside of one that it is given.

    None if there is none, or if the step asks for nothing of what loops carry.
    """
    if not AFTER.get(verb, _PLAIN).opens:
        return None
    every = [op for op in holders(function) if isinstance(op, affine.For | scf.For)]
    given = [loop for loop in every if loop.iv in loops]
    inside = [op for loop in given for op in holders(loop) if isinstance(op, affine.For | scf.For)]
    return next((loop.iv for loop in (*given, *inside) if loop.results), None)
