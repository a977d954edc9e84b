"""What the with-blocks of the language have in common: they open, they yield, they close."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from types import TracebackType
from typing import Generic, NoReturn, TypeVar, cast

from affdsl.errors import ProgramError, ProgramTypeError
from affdsl.ir.core import Block
from affdsl.ir.dialects import affine, scf
from affdsl.ir.expr import Value
from affdsl.ir.location import Location
from affdsl.lang.builder import Builder, OpenBlock, current
from affdsl.lang.dtypes import NUMBERS, DType
from affdsl.lang.rebinding import Names
from affdsl.lang.scalars import constant
from affdsl.lang.source import assigned_names, here, leaves_early, problem, user_frame
from affdsl.lang.traced import Operand, Traced
from affdsl.lang.vectors import Vector, same_lanes

Bound = TypeVar("Bound")
"""What `as` binds."""


class WithBlock(ABC, Generic[Bound]):
    """A with-block that becomes an operation when it ends without an exception."""

    what = ""
    advice = ""
    repeats = True
    """Whether the block may run more than once."""

    def __init__(self) -> None:
        self.location = here()
        self.entered = False
        self.made_in = current().block
        self.made_in.unentered[self] = (self.what, self.location)

    def __enter__(self) -> Bound:
        if self.entered:
            raise problem(ProgramError, f"this {self.what} has been built already; call affdsl.{self.what}(...) again")
        return self.entered_as(assigned_names(user_frame()))

    def entered_as(self, names: tuple[str, ...]) -> Bound:
        """Enter it with the names that `as` binds."""
        gives = f"this {self.what} gives {self.gives() or 'no'} value{'s' if self.gives() != 1 else ''}"
        if any(name.startswith("(") for name in names):
            said = f"{gives} side by side, but `as` puts some in parentheses: {', '.join(names)}"
            raise problem(ProgramTypeError, said, self.advice)
        if len(names) > 1 and len(names) != self.gives():
            said = f"{gives}, but `as` has {len(names)} names: {', '.join(names)}"
            raise problem(ProgramTypeError, said, self.advice)
        self.entered = True
        self.made_in.unentered.pop(self, None)
        self.bound = Names()
        result = self.begin(names)
        self.opened = current().block
        return cast(Bound, result)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        builder = current()
        try:
            if kind is None:
                self._require_whole(builder)
                self.bound.require_kept(self.opened, repeats=self.repeats)
                self.end()
        finally:
            while self.opened in builder.blocks:
                builder.discard()

    def _require_whole(self, builder: Builder) -> None:
        """Raise ProgramError unless the block has run to its end, and all blocks inside of it have ended."""
        if builder.block is not self.opened:
            raise problem(
                ProgramError,
                f"{self.opened.what} ends before {builder.block.what} inside of it",
                "blocks end in the opposite order in which they begin; enter each with its own `with`",
            )
        if leaves_early(user_frame()):
            raise problem(
                ProgramError,
                f"a return, break or continue leaves {self.opened.what}",
                "the block runs once, while the kernel is built, for all of its iterations: what follows would be lost",
                "put a return after all with-blocks; affdsl.break_() and affdsl.continue_(), in the block of an "
                "affdsl.if_, end a loop of the kernel, or one of its iterations",
            )

    def __iter__(self) -> NoReturn:
        raise problem(
            ProgramTypeError,
            f"affdsl.{self.what} is a with-block and cannot be iterated over",
            f"write `with affdsl.{self.what}(...) as ...:` instead of `for ... in affdsl.{self.what}(...):`",
        )

    def __repr__(self) -> str:
        return f"affdsl.{self.what}(...) without its `with`"

    @abstractmethod
    def gives(self) -> int:
        """How many values `as` binds."""

    @abstractmethod
    def begin(self, names: tuple[str, ...]) -> object:
        """Open the block; what `as` binds."""

    @abstractmethod
    def end(self) -> None:
        """Close the block and emit the operation."""


def yield_(*values: Operand | Sequence[Operand]) -> None:
    """Hand values to the loop or branch around, as the last thing in its block.

    Parameters
    ----------
    values
        As many as the block takes, of its types: one by one, or as a tuple. Python numbers take the type.

    Raises
    ------
    ProgramError
        Where the block takes none, or was handed some already.
    ProgramTypeError
        Where number or types differ.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def total(x: af.f64[N]):
    ...     with af.for_(N, iter_args=af.f64(0)) as (i, s):
    ...         af.yield_(s + x[i])
    ...     return s
    >>> print(total.interpret(np.array([1.0, 2.5])))
    3.5
    """
    block = current().block
    current().require_reached()
    if block.yielded is not None:
        raise problem(ProgramError, f"{block.what} yields twice; yield_ once, as the last thing in the block")
    if len(current().blocks) == 1 or not block.yields:
        raise problem(
            ProgramError,
            f"{block.what} takes no yield_",
            "declare what it carries: affdsl.for_(n, iter_args=[x]), affdsl.if_(c, affdsl.f32), or "
            'affdsl.parallel(n, reduce=[("addf", affdsl.f32)]); a kernel gives its results with return',
        )
    expected = [d for d in block.yields if isinstance(d, DType | Vector)]
    given = [x for value in values for x in (value if isinstance(value, tuple | list) else (value,))]
    if len(given) != len(expected):
        raise problem(ProgramTypeError, f"{block.what} takes {len(expected)} yielded values, got {len(given)}")
    block.yielded = tuple(_converted(x, dtype, block) for x, dtype in zip(given, expected, strict=True))


def _converted(x: object, dtype: DType | Vector, block: OpenBlock) -> Value:
    if isinstance(dtype, Vector):
        return same_lanes(dtype, x, "yield_").value
    if isinstance(x, NUMBERS):
        return constant(x, dtype).value
    scalar = x.scalar() if isinstance(x, Traced) else None
    if scalar is None or scalar.dtype != dtype:
        got = x.describe() if isinstance(x, Traced) else repr(x)
        raise problem(
            ProgramTypeError, f"{block.what} takes a yielded {dtype}, got {got}", f"convert it: affdsl.{dtype}(...)"
        )
    return scalar.value


def yielded_values(block: OpenBlock) -> tuple[Value, ...]:
    """What the block yielded. Raises ProgramError where it must yield and did not, nor ended before."""
    if block.yields and block.yielded is None and block.ended is None:
        types = ", ".join(d.describe() if isinstance(d, Vector) else str(d) for d in block.yields)
        raise problem(
            ProgramError,
            f"{block.what} must end with yield_({types})",
            "each of its iterations or branches hands on the values that it declares",
            location=block.location,
        )
    return block.yielded or ()


def closed(terminator: type[affine.Yield] | type[scf.Yield], yielded: tuple[Value, ...], location: Location) -> Block:
    """The innermost block, ended, with its terminator where it yields."""
    for value in yielded:
        current().require(value)
    block = current().close()
    return (*block, terminator(yielded, location=location)) if yielded else block
