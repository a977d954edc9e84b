"""Which elements say nothing of two programs that round in different ways: those made of rounding errors alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from affdsl.ir.interpreter import Argument
from affdsl.passes.validation.inputs import Array
from affdsl.passes.validation.outcome import Outcome, differing

UNITS = 2**8
"""By so many units of the last place at most arguments are changed, to see what becomes of results."""
TRIES = 5


def with_unsteady_open(
    expected: Outcome, given: Sequence[Argument], call: Callable[[Sequence[Argument]], Outcome]
) -> Outcome:
    """The outcome of a call, where elements may be anything that a change of the last bits of arguments changes much.

    A sum that cancels, or a division by what should be zero, is made of rounding errors alone: another order gives
    another number, and both are as good. What is left decides.
    """
    open = dict(expected.open)
    for seed in range(TRIES):
        random = np.random.default_rng(seed)
        other = call([_nudged(a, random) for a in given])
        if other.error or [x.shape for *_, x in other.values] != [x.shape for *_, x in expected.values]:
            continue
        for k, wrong in enumerate(differing(expected, other, exact=False)):
            open[k] = wrong | open[k] if k in open else wrong
    return replace(expected, open=open)


def _nudged(argument: Argument, random: np.random.Generator) -> Argument:
    """An argument with its floats a little larger or smaller; zeros stay."""
    if not isinstance(argument, np.ndarray) or argument.dtype.kind != "f":
        return argument
    made: Array = argument.copy()
    with np.errstate(all="ignore"):
        made += np.where(made == 0, 0, np.spacing(made) * random.integers(-UNITS, UNITS + 1, made.shape))
    return made
