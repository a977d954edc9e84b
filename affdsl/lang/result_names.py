"""What the results of a kernel are called where its function in C takes pointers for them."""

from __future__ import annotations

import keyword
from collections.abc import Sequence

from affdsl.errors import ProgramNameError, ProgramTypeError
from affdsl.ir.location import Location
from affdsl.lang.source import problem

ADVICE = 'write the names in one text, in the order of the results, as in results="sums largest"'


def split(names: object) -> tuple[str, ...]:
    """The names in a text, with spaces or commas between them.

    Raises ProgramTypeError for what is no text, and ProgramNameError for what is no name or is there twice.
    """
    if not isinstance(names, str):
        raise problem(ProgramTypeError, f"results is {names!r}", ADVICE)
    found = tuple(names.replace(",", " ").split())
    for name in found:
        if not (name.isidentifier() and name.isascii()) or keyword.iskeyword(name):
            raise problem(ProgramNameError, f"results has {name!r}, which is no name", ADVICE)
        if found.count(name) > 1:
            raise problem(ProgramNameError, f"results has the name {name} twice", "give each result its own name")
    return found


def require(kernel: str, names: Sequence[str], count: int, taken: Sequence[str], location: Location) -> None:
    """Raise a ProgramNameError where names are not one for each of so many results, or name something else, too."""
    if names and len(names) != count:
        has = f"{count} result{'s' * (count != 1)}" if count else "no result"
        what = f"kernel {kernel} has {has}, and results names {len(names)}: {', '.join(names)}"
        raise problem(ProgramNameError, what, "give each result one name, or leave results out", location=location)
    for name in names:
        if name in taken:
            what = f"kernel {kernel} has a result and an argument or a size that are both called {name}"
            raise problem(ProgramNameError, what, "give the result another name", location=location)
