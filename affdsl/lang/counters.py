"""The counters of several loops, where one name stands for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from affdsl.errors import ProgramTypeError
from affdsl.lang.source import problem


class Counters(tuple[object, ...]):
    """What `with affdsl.parallel(M, N) as ij:` gives: a tuple, which as one number says that it is none."""

    bounds: tuple[object, ...] = ()
    """The bounds of the loops, as the user gave them."""

    def several(self) -> str:
        """What gives one number: `parallel(1, N)` may have been meant as a range."""
        if len(self.bounds) != 2 or len(self) != 2 or any(isinstance(bound, tuple) for bound in self.bounds):
            return f"one name stands for {len(self)} values: give each its own, `as (i, j)`"
        start, stop = self.bounds
        one = f"for one loop from {start!r} to {stop!r} write affdsl.parallel(({start!r}, {stop!r}))"
        return f"affdsl.parallel({start!r}, {stop!r}) is two loops, `as (i, j)`: {one}"

    if not TYPE_CHECKING:  # a tuple as it is otherwise: A[ij + (k,)] is one index for three dimensions

        def _refuse(self, other: object) -> NoReturn:
            raise problem(ProgramTypeError, f"{len(self)} counters are used as one number", self.several())

        __sub__ = __rsub__ = __radd__ = __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = __mod__ = __truediv__ = (
            _refuse
        )
        __lt__ = __le__ = __gt__ = __ge__ = _refuse

        def __add__(self, other: object) -> tuple[object, ...]:
            return super().__add__(other) if isinstance(other, tuple) else self._refuse(other)
