"""The errors a user can meet, in one tree.

AffdslError
├── ProgramError            the kernel as written is wrong; names the user's file and line
│   ├── ProgramTypeError    ... because of a type, rank or dtype (also a TypeError)
│   ├── ProgramIndexError   ... because of an index or a bound (also an IndexError)
│   ├── ProgramNameError    ... because of a name: a symbol, an argument, a value out of scope (also a NameError)
│   ├── ProgramAttributeError   ... because of a method that a value has not (also an AttributeError)
│   └── ScheduleError       in `affdsl.schedule.loops`: a step of a schedule names no loop, several, or no such size
├── OutOfBoundsError        a kernel with `boundscheck=True` met an access outside of its array (also an IndexError)
├── DivisorError            ... or a divisor of an index that is not positive (also a ZeroDivisionError)
├── FailedAssertionError    what a kernel asserts did not hold when it ran (also an AssertionError)
├── VerificationError       the IR breaks a rule of its dialect
├── UnsupportedError        the program is right, but this output cannot express it
├── InternalError           a bug of ours
├── InterpreterError        in `affdsl.ir.interpreter`: a run that means nothing, as with an index out of bounds
├── IllegalTransform        in `affdsl.passes.legality.refusal`: the request would change what the program does, or may
├── ValidationError         in `affdsl.passes.validation.pipeline`: what passes made does something else; a bug of ours
├── ParseError              in `affdsl.mlir`: text that is not MLIR of the dialects we know
└── ToolchainError, ...     in `affdsl.codegen.errors`: of the compiler, the cache, and the arguments of a call
"""

from __future__ import annotations


class AffdslError(Exception):
    """The root of every error that affdsl raises on purpose."""


class ProgramError(AffdslError):
    """The kernel as written is wrong: what, where, why, and what to write instead."""


class ProgramTypeError(ProgramError, TypeError):
    """A wrong type, rank or dtype in a kernel."""


class ProgramIndexError(ProgramError, IndexError):
    """A wrong index or bound in a kernel."""


class ProgramNameError(ProgramError, NameError):
    """A name that is unknown, used twice, or out of scope in a kernel."""


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


class DivisorError(AffdslError, ZeroDivisionError):
    """A kernel whose accesses are all checked divides an index by what is not positive."""


class FailedAssertionError(AffdslError, AssertionError):
    """What a kernel asserts did not hold when it ran: the file and line, the text, and the values."""


class ProgramAttributeError(ProgramError, AttributeError):
    """A method or attribute that what a kernel computes has not."""


class VerificationError(AffdslError):
    """The IR breaks a rule of its dialect."""


class UnsupportedError(AffdslError):
    """The program is right, but the chosen output has no way to say it."""


class InternalError(AffdslError):
    """A bug of affdsl: please report it with the kernel that shows it."""
