"""The function being built: its open blocks, and which values may be used where."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from affdsl.errors import ProgramError, ProgramNameError
from affdsl.ir.core import Block, Nested, Op
from affdsl.ir.dialects import affine, arith, memref
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.location import Location
from affdsl.ir.nesting import DEEPEST, INSTEAD, TOO_DEEP
from affdsl.ir.spelling import spell
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import INDEX, IndexType, MemRefType, StridedLayout
from affdsl.lang.source import called, here, problem

if TYPE_CHECKING:
    from affdsl.lang.trace import Program
    from affdsl.lang.type_variables import Types


class SymbolValue(Value):
    """The value of a symbol: which number it is, each kernel finds in its arguments' shapes."""

    __slots__ = ()


@dataclass(eq=False)
class OpenBlock:
    """A block that is still growing."""

    what: str
    location: Location
    ops: list[Op] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    owned: list[Value] = field(default_factory=list)
    inputs: tuple[Value, ...] = ()
    around: int = 0
    """How many loops and branches stand around what is in it."""
    bound: int = 0
    """How many of the values its `as` binds: they come first."""
    yielded: tuple[Value, ...] | None = None
    yields: tuple[object, ...] = ()
    """The element types of what the block must yield."""
    is_parallel: bool = False
    """Whether its iterations may run at once."""
    is_loop: bool = False
    """Whether it is the body of a loop, which `break_` and `continue_` may end."""
    is_elements: bool = False
    """Whether it is the body of `elements`, of which `break_` would end the innermost loop alone."""
    is_branch: bool = False
    """Whether it is a block of a branch, with which they end what is around."""
    exits: set[str] = field(default_factory=set)
    """The words that end it, or its loop from inside of it, early."""
    ended: tuple[str, Location] | None = None
    """The word that ended it, and where: what stands behind that would never run."""
    last_closed: object = None
    """The branch that ended just before, which an `elif_` or `else_` may follow."""
    awaiting: Location | None = None
    """Where the branch began that cannot be emitted before its `else_`."""
    unentered: dict[object, tuple[str, Location]] = field(default_factory=dict)
    """The loops and branches that were made here and wait for their `with`."""


class Builder:
    """What one kernel's body has built so far.

    Blocks open and close like a stack; a value may be used while the block that defined it is open.
    """

    def __init__(self, name: str, location: Location, values: Iterable[Value], types: Types) -> None:
        self.name = name
        self.types = types
        self.location = location
        inputs = tuple(values)
        self.blocks = [OpenBlock(f"kernel {name}", location, values=list(inputs), inputs=inputs)]
        self.visible: set[Value] = set(self.blocks[0].values)
        self.gone: dict[Value, OpenBlock] = {}
        self.varying: set[Value] = set()
        self.downward: dict[Value, Affine] = {}
        """Of the counters of loops that run down, where these start: outer loops first."""
        self.renamed: dict[Value, str] = {}
        """Of values that took the name of a number from outside of their block, the variable to make of that number."""
        self.symbols: set[Value] = {v for v in self.visible if isinstance(v.type, IndexType)}
        self.assumes: list[Constraint] = []
        self.written: set[Value] = set()
        self.callees: dict[str, Program] = {}
        self.constants: list[memref.Global] = []
        self.means_itself = False
        """Whether the kernel's name, in its body, is the kernel itself."""

    @property
    def block(self) -> OpenBlock:
        """The innermost open block."""
        return self.blocks[-1]

    def emit(self, op: Op) -> None:
        """Append op to the innermost block; what it reads must be usable here."""
        self.require_reached()
        if not _only_computes(op):  # a condition of an elif_ may
            self.require_complete()
        for value in op.reads():
            self.require(value)
        if op.location is None:
            op = with_fields(op, location=here())
        self.block.ops.append(op)
        if not _only_computes(op):
            self.block.last_closed = None
        self.define(op.defines())

    def allocate_once(self, op: memref.Alloca) -> None:
        """Make a buffer before all loops around; where iterations may run at once, each makes its own.

        LLVM gives what is allocated in a loop back when the function ends, and not before.
        """
        if len(self.blocks) == 1 or any(block.is_parallel for block in self.blocks):
            self.emit(op)
            return
        self.blocks[0].ops.append(op)
        self.blocks[0].values.append(op.result)
        self.visible.add(op.result)

    def define(self, values: Iterable[Value]) -> None:
        """Make values usable until the innermost block closes."""
        for value in values:
            self.visible.add(value)
            self.block.values.append(value)
            if len(self.blocks) == 1 and isinstance(value.type, IndexType):
                self.symbols.add(value)

    def withdraw(self, position: int) -> list[Value]:
        """Take back the operations of the innermost block from a position on; the values that they defined."""
        values = [v for op in self.block.ops[position:] for v in op.defines()]
        del self.block.ops[position:]
        for value in values:
            self.block.values.remove(value)
            self.visible.discard(value)
        return values

    def constant(self, name: str, make: Callable[[str], memref.Global]) -> str:
        """Keep a constant array, called like `name`; gives its symbol, which is new in this kernel."""
        taken = {made.symbol for made in self.constants}
        symbol = next(s for s in (f"{self.name}_{name}{k or ''}" for k in count()) if s not in taken)
        self.constants.append(make(symbol))
        return symbol

    def require_complete(self) -> None:
        """Raise ProgramError if the innermost block still waits for an `else_`."""
        if self.block.awaiting is not None:
            raise problem(
                ProgramError,
                "an if_ with results needs an else_ right after it, which yields them too",
                "write `with affdsl.else_():` and `affdsl.yield_(...)` directly after its block",
                location=self.block.awaiting,
            )

    def require_reached(self) -> None:
        """Raise ProgramError if a break_ or continue_ has ended the innermost block."""
        if self.block.ended is None:
            return
        word, location = self.block.ended
        raise problem(
            ProgramError,
            f"what stands behind {word}() of line {location.line} would never run",
            f"{word}() ends {self.block.what} there, as Python's {word.rstrip('_')} would",
            f"write {word}() last, in the block of an affdsl.if_ where it depends on something, or remove what follows",
        )

    def require_entered(self) -> None:
        """Raise ProgramError if a loop or branch was made in the innermost block and never became a with-block."""
        for what, location in self.block.unentered.values():
            raise problem(
                ProgramError,
                f"{what}(...) is called, but no with-block is made of it",
                f"without its block it does nothing; write `with affdsl.{what}(...):`",
                location=location,
            )

    def open(self, what: str, values: Iterable[Value] = (), more: int = 0) -> OpenBlock:
        """Begin a block inside the innermost one, in which the given values are defined: one level deeper, or more."""
        self.require_reached()
        around = self.block.around + 1 + more
        if around > DEEPEST:
            cases = "a choice among many cases by elif_ is as deep as it is long: read what differs from an array"
            raise problem(ProgramError, TOO_DEEP, INSTEAD, cases if what in ("the elif_", "the else_") else "")
        self.blocks.append(OpenBlock(what, here(), around=around))
        self.define(values)
        self.block.bound = len(self.block.values)
        return self.block

    def close(self) -> Block:
        """End the innermost block: its buffers are given back, its values are gone."""
        self.require_complete()
        self.require_entered()
        block = self.blocks[-1]
        for buffer in reversed(block.owned):
            block.ops.append(memref.Dealloc(buffer, location=block.location))
        self.discard()
        return tuple(block.ops)

    def discard(self) -> None:
        """Drop the innermost block, as after an exception."""
        block = self.blocks.pop()
        for value in block.values:
            self.visible.discard(value)
            self.gone[value] = block

    def require(self, value: Value) -> None:
        """Raise ProgramNameError unless value may be used here."""
        if value in self.visible:
            return
        name = value.hint or "a value"
        if value in self.gone:
            block, variable = self.gone[value], self.renamed.get(value, "")
            raise problem(
                ProgramNameError,
                f"{name} is used outside of {block.what}, where it is defined",
                f"{block.what} of line {block.location.line} has ended; {_rescue(value, block, variable)}",
            )
        if isinstance(value, SymbolValue):
            if any(isinstance(v, SymbolValue) and v.hint == name for v in self.blocks[0].inputs):
                raise problem(
                    ProgramNameError,
                    f"two different symbols are called {name}: this one is not that of {self.name}'s arguments",
                    f'each call of affdsl.symbols("{name}") makes a new symbol; call it once and use the same {name}',
                )
            raise problem(
                ProgramNameError,
                f"the symbol {name} is not bound by any argument of {self.name}",
                f"use {name} as a size of an argument, as in affdsl.f32[{name}], or add an argument annotated {name}",
            )
        raise problem(
            ProgramNameError,
            f"{name} does not belong to kernel {self.name}",
            "it was computed in another kernel; pass it as an argument",
        )

    def is_affine(self, expr: Affine) -> bool:
        """Whether expr reads only loop variables and symbols, as an affine subscript or bound must."""
        return all(v in self.varying or v in self.symbols for v in expr.values())

    def operand(self, expr: Affine) -> Value:
        """expr as one value, computed here if it is not one yet."""
        if expr.value is not None:
            return expr.value
        if not self.is_affine(expr):
            return self._by_arithmetic(expr)
        result = Value(INDEX, location=here())
        self.emit(arith.Constant(result, expr.constant) if expr.is_constant else affine.Apply(result, expr))
        return result

    def _by_arithmetic(self, expr: Affine) -> Value:
        """The value of an expression of what no affine expression may have: the length of a part up to a minimum."""
        total = self.operand(Affine.of(expr.constant))
        for atom, factor in expr.terms:
            if not isinstance(atom, Value):
                raise problem(
                    ProgramError,
                    f"{spell(expr)} divides or multiplies the length of a part that ends at a minimum",
                    "compute it as a number, which begins with affdsl.index(af.i64(n)) instead of n",
                )
            product = Value(INDEX, location=here())
            self.emit(arith.Binary(product, "muli", atom, self.operand(Affine.of(factor))))
            before, total = total, Value(INDEX, location=here())
            self.emit(arith.Binary(total, "addi", before, product))
        return total


def _only_computes(op: Op) -> bool:
    """Whether an operation computes from values and elements, and changes nothing."""
    does = op.memory
    changes = does is None or does.writes or does.allocates or does.frees
    return not changes and not isinstance(op, Nested)


def _rescue(value: Value, block: OpenBlock, variable: str) -> str:
    """How a value could be had after its block."""
    name = value.hint or "the value"
    if isinstance(value.type, MemRefType):
        is_part = isinstance(value.type.layout, StridedLayout)
        return "take the part of the array again where it is needed" if is_part else f"allocate {name} before it"
    if any(v.hint == value.hint != "" for v in block.values[: block.bound] if v is not value):
        return f"`{name} = ...` hides the {name} of its `as`: write yield_(...) of the new value under another name"
    if variable:
        return f"write {variable} before it, and {name}.set(...) in it"
    if block.what in ("the branch", "the elif_", "the else_"):
        return (
            f"use {name} inside of it, or give if_ a result type, as in affdsl.if_(c, affdsl.f32), and yield_ in both"
        )
    return f"use {name} inside of it, or carry its value out with iter_args and yield_"


_current: ContextVar[Builder | None] = ContextVar("affdsl_builder", default=None)


def active() -> Builder | None:
    """The builder of the kernel being traced in this thread, if there is one."""
    return _current.get()


def current() -> Builder:
    """The builder of the kernel being traced. Raises ProgramError outside of a kernel."""
    builder = _current.get()
    if builder is None:
        raise problem(
            ProgramError,
            f"{called()} can be used only while a kernel is built",
            "write it inside a function decorated with @affdsl.kernel",
        )
    return builder


@contextmanager
def building(builder: Builder) -> Iterator[Builder]:
    """Make builder the current one; whatever happens, the previous one is current again afterwards."""
    token = _current.set(builder)
    try:
        yield builder
    finally:
        _current.reset(token)
