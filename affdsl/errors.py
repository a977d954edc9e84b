"""The errors a user can meet, in one tree: each is caught as `affdsl.X`, and tracebacks call it so.

AffdslError
├── ProgramError            the kernel as written is wrong; names the user's file and line
│   ├── ProgramTypeError    ... because of a type, rank or dtype (also a TypeError)
│   ├── ProgramIndexError   ... because of an index or a bound (also an IndexError)
│   ├── ProgramNameError    ... because of a name: a symbol, an argument, a value out of scope (also a NameError)
│   ├── ProgramAttributeError   ... because of a method that a value has not (also an AttributeError)
│   └── ScheduleError       a step of a schedule names no loop, several, or no such size
├── ArgumentError           a call gives the wrong arguments: how many, which names, of which type (also a TypeError)
├── SizeError               an array has the wrong rank; sizes disagree, or break a promise (also a ValueError)
├── RangeError              the type of a scalar argument cannot hold the value (also a ValueError)
├── LayoutError             an array is not contiguous, not aligned, or read-only (also a ValueError)
├── OverlapError            two arrays share memory, and one of them is written (also a ValueError)
├── OutOfBoundsError        a kernel with `boundscheck=True` met an access outside of its array (also an IndexError)
├── DivisorError            ... or a divisor of an index that is not positive (also a ZeroDivisionError)
├── FailedAssertionError    what a kernel asserts did not hold when it ran (also an AssertionError)
├── InterpreterError        `kernel.interpret` met what means nothing, as an index out of bounds
│   └── InterpretedAssertionError   ... or what a kernel asserts did not hold (also a FailedAssertionError)
├── IllegalTransform        the request would change what the program does, or may
├── PipelineError           a pipeline of passes that cannot be read, or that is not for what it was given
├── OptionError             an option that a pass does not have, or a value that it does not take
├── PassError               a pass refused what it was given
├── ValidationError         what passes, or steps of a schedule, made does something else; a bug of ours
├── GraphError              a question about a node, a buffer or a block that a graph does not have
├── DrawingError            a drawing cannot be made, or not here
├── UnknownError            isl has no answer, within its budget
├── ParseError              text that is not MLIR of the dialects we know
├── VerificationError       the IR breaks a rule of its dialect
├── UnsupportedError        the program is right, but this output cannot express it
├── ToolchainError          the C compiler is missing, failed, or built what cannot be loaded (also a RuntimeError)
├── BuildError              a library cannot be built as it was asked for (also a RuntimeError and a ValueError)
├── CacheError              the cache folder cannot be trusted, or its settings make no sense (also a RuntimeError)
└── InternalError           a bug of ours

A class is written beside what raises it, and `public` gives it its name. There are others that no user meets, since
who asks catches them; `tests/names/test_errors.py` lists these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

K = TypeVar("K", bound=type[Exception])


def public(kind: K) -> K:
    """An error or a warning that is called `affdsl.X` in tracebacks and pickles, wherever it is written.

    >>> public(type("OddError", (AffdslError,), {}))
    <class 'affdsl.OddError'>
    """
    kind.__module__ = __name__.partition(".")[0]
    return kind


@public
class AffdslError(Exception):
    """The root of every error that affdsl raises on purpose.

    In a pickle, as between the processes of a pool, an error keeps its type, its text and its attributes.

    >>> import affdsl as af
    >>> try:
    ...     af.parse("func.func @f(")
    ... except af.AffdslError as error:
    ...     print(type(error))
    <class 'affdsl.ParseError'>
    """

    place: tuple[str, int] | None = None
    """The file and the line of the user that are at fault, where it is about a line."""

    def __reduce__(self) -> tuple[Callable[..., AffdslError], tuple[object, ...]]:
        return again, (type(self), str(self), vars(self))


def again(kind: type[AffdslError], text: str, attributes: dict[str, object]) -> AffdslError:
    """An error as it comes out of a pickle: made without its `__init__`, which takes what it was found out by."""
    error = kind.__new__(kind, text)
    error.args = (text,)
    vars(error).update(attributes)
    return error


@public
class ProgramError(AffdslError):
    """The kernel as written is wrong: what, where, why, and what to write instead.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> try:
    ...     @af.kernel
    ...     def wrong(x: af.f64[N]):
    ...         with af.for_(N) as i:
    ...             af.yield_(x[i])
    ... except af.ProgramError as error:
    ...     print(str(error).splitlines()[0].partition(": ")[2])
    the loop i takes no yield_
    """

    unplaced = ""
    """What it says without the place, where it begins with one."""


@public
class ProgramTypeError(ProgramError, TypeError):
    """A wrong type, rank or dtype in a kernel.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> try:
    ...     @af.kernel
    ...     def wrong(x: af.f64[N]):
    ...         with af.for_(N) as i:
    ...             x[i] = "one"
    ... except af.ProgramTypeError as error:
    ...     print(str(error).partition(": ")[2])
    x holds f64 and cannot store 'one'
        store a number of the kernel
    """


@public
class ProgramIndexError(ProgramError, IndexError):
    """A wrong index or bound in a kernel.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> try:
    ...     @af.kernel
    ...     def wrong(x: af.f64[N]):
    ...         with af.for_(N) as i:
    ...             x[i + 1] = 0.0
    ... except af.ProgramIndexError as error:
    ...     print(str(error).splitlines()[0].partition(": ")[2])
    x[i + 1] writes x[N] when i = N - 1
    """


@public
class ProgramNameError(ProgramError, NameError):
    """A name that is unknown, used twice, or out of scope in a kernel.

    >>> import affdsl as af
    >>> try:
    ...     af.symbols("N M N")
    ... except af.ProgramNameError as error:
    ...     print(str(error).partition(": ")[2])
    the symbol N is named twice; give each its own name
    """


@public
class OutOfBoundsError(AffdslError, IndexError):
    """A kernel whose accesses are all checked met one outside of its array, which it did not perform.

    Attributes
    ----------
    array
        The array as the kernel calls it.
    index, sizes
        Of the element that does not exist, and of the array. Empty where a view or a copy does not fit.
    dimension
        The first one in which the index is no index; None where a view or a copy does not fit.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel(boundscheck=True)
    ... def scatter(x: af.f64[N], at: af.i64[N]):
    ...     with af.for_(N) as i:
    ...         x[at[i]] = 1.0
    >>> try:
    ...     scatter(np.zeros(2), np.array([1, 5]))
    ... except af.OutOfBoundsError as error:
    ...     print(error.array, error.index, error.sizes)
    x (5,) (2,)
    """

    def __init__(
        self,
        message: str,
        array: str = "",
        index: tuple[int, ...] = (),
        sizes: tuple[int, ...] = (),
        dimension: int | None = None,
    ) -> None:
        super().__init__(message)
        self.array, self.index, self.sizes, self.dimension = array, index, sizes, dimension


@public
class DivisorError(AffdslError, ZeroDivisionError):
    """A kernel whose accesses are all checked divides an index by what is not positive.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel(boundscheck=True)
    ... def divide(x: af.f64[N], by: af.index):
    ...     with af.for_(N) as i, af.if_(x[i] > 0), af.if_(i % by == 0):
    ...         x[i] = 2.0
    >>> try:
    ...     divide(np.ones(2), 0)
    ... except af.DivisorError as error:
    ...     print("0" in str(error))
    True
    """


@public
class FailedAssertionError(AffdslError, AssertionError):
    """What a kernel asserts did not hold when it ran: the file and line, the text, and the values.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def root(x: af.f64):
    ...     af.assert_(x >= 0, "not negative", x)
    ...     return af.sqrt(x)
    >>> try:
    ...     root(-1.0)
    ... except af.FailedAssertionError as error:
    ...     print(str(error).partition(": ")[2])
    not negative (x = -1)
    """


@public
class ProgramAttributeError(ProgramError, AttributeError):
    """A method or attribute that what a kernel computes has not.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> try:
    ...     @af.kernel
    ...     def wrong(x: af.f64[N]):
    ...         with af.for_(N) as i:
    ...             x[i].sum()
    ... except af.ProgramAttributeError as error:
    ...     print(str(error).splitlines()[0].partition(": ")[2])
    a number of type f64 has no attribute sum
    """


@public
class VerificationError(AffdslError):
    """The IR breaks a rule of its dialect.

    >>> import affdsl as af
    >>> from affdsl.ir.verifier import verify
    >>> try:
    ...     verify(af.parse("func.func @f() -> f32 { func.return }"))
    ... except af.VerificationError as error:
    ...     print(len(str(error)) > 0)
    True
    """


@public
class UnsupportedError(AffdslError):
    """The program is right, but the chosen output has no way to say it.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def copy(x: af.f64[N], y: af.f64[N]):
    ...     with af.for_(N) as i:
    ...         y[i] = x[i]
    >>> @af.kernel
    ... def other(x: af.f64[N]):
    ...     x[0] = 1.0
    >>> try:
    ...     copy.with_module(other.module)
    ... except af.UnsupportedError as error:
    ...     print(error)
    copy: there is no function @copy any more, so nothing can be called
    """


@public
class InternalError(AffdslError):
    """A bug of affdsl: please report it with the kernel that shows it.

    >>> import affdsl as af
    >>> issubclass(af.InternalError, af.AffdslError)
    True
    """
