"""What type checkers know of a kernel's call: its arguments by name, as its function has them, and what it gives.

A function that returns arrays of the kernel makes a kernel that gives arrays of NumPy; numbers likewise. `P` and `R`
are the arguments and the result of a call; a `Kernel` of which nothing is known takes anything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypedDict, overload

if TYPE_CHECKING:
    import numpy as np
    from typing_extensions import ParamSpec, TypeVar

    from affdsl.kernel import Kernel
    from affdsl.lang import annotated
    from affdsl.lang.dtypes import DType
    from affdsl.lang.type_variables import DTypes

    P = ParamSpec("P", default=...)
    Q = ParamSpec("Q")
    R = TypeVar("R", default=object, covariant=True)
    Computed: TypeAlias = annotated.Scalar | annotated.Index
    Step: TypeAlias = Callable[[Kernel[Any, Any]], Kernel[Any, Any]]
    """What makes another kernel of a kernel."""
    Asked: TypeAlias = DType | DTypes | np.dtype[Any] | type[np.generic] | int | str
    """What one kernel of several types is asked for by."""
    Numbers: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[Any]]
    """An array that a kernel gives: its elements are what the kernel says."""
else:
    from typing import ParamSpec, TypeVar

    P, Q, R = ParamSpec("P"), ParamSpec("Q"), TypeVar("R", covariant=True)


class Options(TypedDict, total=False):
    """What `affdsl.kernel` takes beside the function; it says what each of them is."""

    boundscheck: bool
    contract: bool
    reciprocal: bool
    approximate: bool
    results: str


class Decorator(Protocol):
    """What `@affdsl.kernel(...)` does to a function."""

    @overload
    def __call__(self, function: Callable[Q, None], /) -> Kernel[Q, None]: ...
    @overload
    def __call__(self, function: Callable[Q, Computed], /) -> Kernel[Q, float]: ...
    @overload
    def __call__(self, function: Callable[Q, annotated.Array], /) -> Kernel[Q, Numbers]: ...
    @overload
    def __call__(self, function: Callable[Q, tuple[object, ...]], /) -> Kernel[Q, tuple[Any, ...]]: ...
