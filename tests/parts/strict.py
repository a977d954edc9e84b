"""Arrays as kernels have them, in plain Python: nothing is cut off or counted from the end, and arguments are apart."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


class WrongError(Exception):
    """A part leaves its array, or the arguments of a call do not fit or overlap."""


class Strict:
    """An array, or a part of one: its elements, and which elements of the whole array these are."""

    def __init__(self, values: np.ndarray, places: np.ndarray | None = None) -> None:
        self.values = values
        self.places = np.arange(values.size).reshape(values.shape) if places is None else places
        self.root = values if values.base is None else values.base

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    def __getitem__(self, index: object) -> object:
        items = self._items(index)
        if len(items) == self.values.ndim and not any(isinstance(x, slice) for x in items):
            return float(self.values[items])
        return Strict(self.values[items], self.places[items])

    def __setitem__(self, index: object, value: float) -> None:
        self.values[self._items(index)] = value

    def _items(self, index: object) -> tuple[object, ...]:
        """An index with all that it leaves open. Raises WrongError where it is outside."""
        items = index if isinstance(index, tuple) else (index,)
        if ... in items:
            at = items.index(...)
            items = (*items[:at], *(slice(None),) * (self.values.ndim - len(items) + 1), *items[at + 1 :])
        found: list[object] = []
        for item, size in zip(items, self.shape, strict=False):
            if isinstance(item, slice):
                start, stop = item.start or 0, size if item.stop is None else item.stop
                step = item.step or 1
                count = -(-(stop - start) // step)
                if count < 0 or (count and not (start >= 0 and start + (count - 1) * step < size)):
                    raise WrongError(f"{start}:{stop}:{step} of {size}")
                found.append(slice(start, start + count * step, step) if count else slice(0, 0))
            elif not 0 <= item < size:
                raise WrongError(f"{item} of {size}")
            else:
                found.append(item)
        return tuple(found)


def apart(*written: bool) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A function whose arguments overlap nothing that is written: says which ones are written."""

    def made(function: Callable[..., None]) -> Callable[..., None]:
        def called(*given: Strict) -> None:
            for n, a in enumerate(given):
                for m, b in enumerate(given[:n]):
                    if a.shape != b.shape:
                        raise WrongError(f"{a.shape} and {b.shape}")
                    is_shared = a.root is b.root and np.intersect1d(a.places, b.places).size > 0
                    if is_shared and (written[n] or written[m]):
                        raise WrongError("overlap")
            function(*(x.values for x in given))

        return called

    return made
