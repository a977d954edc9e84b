"""What belongs to an object and is forgotten with it: the kernels that are made for the objects of a method."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class OfOwners(Generic[T]):
    """What was made for each object: for itself, and not for one that is equal, which may have other values.

    An object without a hash may change its values and say so, and one that cannot be referred to weakly cannot be
    forgotten: for those it is made anew each time. What is made must not refer to the object, which would never end.

    >>> class Thing: pass
    >>> thing, things = Thing(), OfOwners()
    >>> things.of(thing, lambda: "made"), things.of(thing, lambda: "made again")
    ('made', 'made')
    >>> del thing
    >>> len(things)
    0
    """

    def __init__(self) -> None:
        self._made: dict[int, tuple[weakref.ref[object], T]] = {}

    def of(self, owner: object, make: Callable[[], T]) -> T:
        """What belongs to an object, made where it has none yet."""
        found = self._made.get(id(owner))
        if found is not None and found[0]() is owner:
            return found[1]
        made = make()
        here, key = self._made, id(owner)

        def forget(reference: weakref.ref[object]) -> None:
            if key in here and here[key][0] is reference:
                del here[key]

        try:
            hash(owner)
            reference = weakref.ref(owner, forget)
        except TypeError:
            return made
        held, first = here.setdefault(key, (reference, made))  # another thread may have made it meanwhile
        return first if held() is owner else made

    def __len__(self) -> int:
        return len(self._made)
