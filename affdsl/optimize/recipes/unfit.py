"""What a recipe raises where it does not fit, why a step was refused, in one line, and what says so to the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from affdsl.errors import ProgramError

if TYPE_CHECKING:  # a decision that was kept needs neither steps nor isl
    from affdsl.passes.legality.refusal import IllegalTransform
    from affdsl.schedule.loops import ScheduleError


class UnfitError(Exception):
    """A recipe does not fit a nest; the text says why, as the end of a sentence, or nothing."""


class RecipeWarning(UserWarning):
    """A recipe of `optimize()` took a step that was refused, and was left out: a fault of affdsl, but nothing is wrong.

    The kernel is right, as each step of its schedule is proved; it may be slower than it could be. Please report it.

    >>> import affdsl as af
    >>> issubclass(af.RecipeWarning, UserWarning)
    True
    """


TOO_SHORT = "it runs once or twice at most"
"""Why a loop is left alone that is too short for anything, as the ends of a loop are that was split."""


def in_one_line(error: IllegalTransform | ScheduleError) -> str:
    """Why a step was refused: the dependence, or what is not known. Not which step: the user has asked for none.

    >>> from affdsl.ir.dialects.func import Module
    >>> from affdsl.passes.legality.refusal import IllegalTransform
    >>> print(in_one_line(IllegalTransform(Module(()), "make i parallel", "a feeds b,\\ne.g. ...")))
    a feeds b
    """
    if isinstance(error, ProgramError):
        what, *more = (error.unplaced or str(error)).splitlines()
        return ": ".join([what, *(line.strip().rstrip(",:") for line in more[:1])])
    return error.briefly
