"""Loops over all elements of an array, however many dimensions it has: `with elements(x) as e:`."""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType

from affdsl.errors import ProgramError, ProgramTypeError
from affdsl.lang import annotated
from affdsl.lang.arrays import Array
from affdsl.lang.builder import current
from affdsl.lang.control import for_
from affdsl.lang.indices import Index
from affdsl.lang.source import assigned_names, here, problem, user_frame


class elements:  # noqa: N801 - reads as for_ and parallel do
    """Loops over all elements of an array, row by row: `with elements(x) as e: y[e] = 2 * x[e]`.

    e is a tuple with an index for each dimension, so that `x[e]` is an element of any array of this shape, and `e[0]`
    the first index. The loops are ordinary ones, one inside the other, called e0, e1, ..., or as the names are called
    in `as (i, j)`. An array without dimensions has one element, `x[()]`: a loop runs once, and e is empty.

    `continue_()` goes on with the next element. `break_()` is refused: it would end the innermost loop, a row.

    Parameters
    ----------
    array
        An array of the kernel.

    Raises
    ------
    ProgramTypeError
        For what is no array of the kernel, and for more or fewer names than dimensions.

    >>> import numpy as np, affdsl as af
    >>> @af.kernel
    ... def double(x: af.f64[...], y: af.f64[...]):
    ...     with af.elements(x) as e:
    ...         y[e] = 2.0 * x[e]
    >>> y = np.empty((2, 2))
    >>> double.interpret(np.array([[1.0, 2.0], [3.0, 4.0]]), y)
    >>> y
    array([[2., 4.],
           [6., 8.]])
    """

    what = "elements"

    def __init__(self, array: annotated.Array) -> None:
        if not isinstance(array, Array):
            raise problem(
                ProgramTypeError,
                f"elements takes an array of the kernel, got {array!r}",
                "pass an argument that is an array, or what affdsl.alloc gives",
            )
        self._array = array
        self._entered = False
        self._loops = ExitStack()
        self._made_in = current().block
        self._made_in.unentered[self] = ("elements", here())

    def __enter__(self) -> tuple[Index, ...]:
        if self._entered:
            raise problem(ProgramError, "this elements has been built already; call affdsl.elements(...) again")
        rank, names = self._array.ndim, assigned_names(user_frame())
        if len(names) > 1 and len(names) != rank:
            raise problem(
                ProgramTypeError,
                f"{self._array.name} has {rank} dimensions, but `as` has {len(names)} names: {', '.join(names)}",
                "write one name, for the tuple of all indices: `as e`",
            )
        self._entered = True
        self._made_in.unentered.pop(self, None)
        base = names[0] if len(names) == 1 and names[0].isidentifier() else "e"
        # Without dimensions, too, there is an iteration for continue_() to end.
        sizes: tuple[Index | int, ...] = self._array.shape or (1,)
        own = names if len(names) > 1 else [f"{base}{d}" for d in range(len(sizes))]
        with ExitStack() as loops:  # which ends those that have begun where one cannot
            found = [loops.enter_context(_Loop(size, name)) for size, name in zip(sizes, own, strict=True)]
            self._loops = loops.pop_all()
        current().block.is_elements = True
        return tuple(found[:rank])

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loops.__exit__(kind, error, trace)

    def __repr__(self) -> str:
        return "affdsl.elements(...) without its `with`"


class _Loop(for_[Index]):
    """A loop over one dimension, which is called as it is said here."""

    what = "elements"

    def __init__(self, size: Index | int, name: str) -> None:
        super().__init__(size)
        self._name = name

    def __enter__(self) -> Index:
        return self.entered_as(())

    def begin(self, names: tuple[str, ...]) -> Index:
        made = super().begin((self._name,))
        assert isinstance(made, Index), "its bounds are sizes"
        return made
