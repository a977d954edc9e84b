"""What a recipe raises where it does not fit, why a step was refused, in one line, and what says so to the user."""

import re


class UnfitError(Exception):
    """A recipe does not fit a nest; the text says why, as the end of a sentence, or nothing."""


class RecipeWarning(UserWarning):
    """A recipe of `optimize()` took a step that was refused, and was left out: a fault of affdsl, but nothing is wrong.

    The kernel is right, as each step of its schedule is proved; it may be slower than it could be. Please report it.

    >>> import affdsl as af
    >>> issubclass(af.RecipeWarning, UserWarning)
    True
    """


_OF = re.compile(r" \(of \w+, [^()]*\)$")
"""The kernel, which whoever explains it knows."""


def in_one_line(error: Exception) -> str:
    """What was refused, and the first reason: the dependence, or what is not known.

    >>> print(in_one_line(ValueError("k.py:4: cannot make i parallel (of f, k.py:2)\\n    a feeds b,\\n    e.g. ...")))
    cannot make i parallel: a feeds b
    """
    what, *more = (str(error).partition(": ")[2] or str(error)).splitlines()
    reasons = [line.strip().rstrip(",:") for line in more[:1] if not line.lstrip().startswith(("legal:", "e.g."))]
    return ": ".join([_OF.sub("", what), *reasons])
