"""Operations: frozen dataclasses that read values, define values and hold blocks.

The annotations in a subclass of `Op` are its fields. Each says by its type which role the field has; fields without a
role are attributes:

    Operand, Operands, Exprs, ...   what it reads
    Result, Results                 what it defines for the operations after it
    Argument, Arguments             what it defines inside its own blocks
    Region                          a block that it holds
    Shapes, Facts                   what it promises about the values that it defines inside (its contract)

A block is a tuple of operations. A terminator that carries no value is not stored.

Three things every operation may carry beside its fields: `attributes`, which MLIR text had and no field holds;
`written`, how its affine maps were written; and `ends`, the places of the terminators that are not stored, by block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Annotated, ClassVar, TypeAlias

from affdsl.frozen import Frozen, FrozenValue, field, fields
from affdsl.ir.applied import Applied
from affdsl.ir.attributes import Attribute
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.location import Location


class Role(Enum):
    """What a field of an operation is."""

    OPERAND = "operand"
    RESULT = "result"
    ARGUMENT = "argument"
    REGION = "region"
    CONTRACT = "contract"


class Memory(FrozenValue):
    """What operations of a class do to memory: the field that holds the buffer they read, write, make or free."""

    reads: str | None = None
    writes: str | None = None
    allocates: str | None = None
    frees: str | None = None


UNTOUCHED = Memory()
READS = Memory(reads="memref")
WRITES = Memory(writes="memref")


class Op(Frozen):
    """One operation. Two operations are the same only if they are the same object.

    `memory` is what it does to memory itself, without its blocks; an operation that does not say so may do anything.
    """

    name: ClassVar[str] = ""
    is_terminator: ClassVar[bool] = False
    memory: ClassVar[Memory | None] = None
    block_fields: ClassVar[tuple[str, ...]] = ()
    """The fields that are blocks: what walks over operations asks it of each."""

    location: Location | None = field(default=None, kw_only=True, repr=False)
    attributes: tuple[tuple[str, Attribute], ...] = field(default=(), kw_only=True, repr=False)
    written: Mapping[str, Applied] | None = field(default=None, kw_only=True, repr=False)
    ends: tuple[Location | None, ...] = field(default=(), kw_only=True, repr=False)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.block_fields = tuple(f.name for f in fields(cls) if f.type == "Region")

    def spelling(self, name: str) -> Applied | None:
        """How the expressions of a field were written; None if nobody wrote them, or they have changed since."""
        if self.written is None or (applied := self.written.get(name)) is None:
            return None
        return applied if applied.means == _flat(getattr(self, name)) else None

    def reads(self) -> Iterator[Value]:
        """The values that this operation itself reads, in order, repeated where read again."""
        return self._values("_reads", roles(type(self)).operands)

    def mentions(self) -> Iterator[Value]:
        """The values that it reads, and those that its maps, as they were written, take without need: (d0) -> (0)."""
        yield from self.reads()
        for name in self.written or ():
            applied = self.spelling(name)
            if applied is not None:
                yield from applied.dims
                yield from applied.symbols

    def defines(self) -> Iterator[Value]:
        """The values that this operation defines for those after it."""
        return self._values("_defines", roles(type(self)).results)

    def binds(self) -> Iterator[Value]:
        """The values that this operation defines inside its own blocks."""
        return self._values("_binds", roles(type(self)).arguments)

    def _values(self, kind: str, names: tuple[str, ...]) -> Iterator[Value]:
        if not names:
            return iter(())
        if (kept := self.__dict__.get(kind)) is not None:
            return iter(kept)
        found: list[Value] = []  # a list is much faster than generators inside generators
        for name in names:
            part = getattr(self, name)
            if isinstance(part, Value):
                found.append(part)
            elif part is not _NOTHING:
                _collect(part, found)
        self.__dict__[kind] = found
        return iter(found)

    def blocks(self) -> Iterator[Block]:
        """The blocks that this operation holds."""
        for name in self.block_fields:
            block: Block | None = getattr(self, name)
            if block is not None:
                yield block

    def __str__(self) -> str:
        return _printer(self) if _printer is not None else repr(self)


class Pure(Op):
    """An operation that only computes values from values, or hands them on."""

    memory = UNTOUCHED


class Lanewise(Pure):
    """An operation on scalars that does the same to each lane of a vector."""


class KeptInPlace(Op):
    """An operation that may do anything, as far as its place goes, although its accesses are known."""


class Nested(Op):
    """An operation that does what its blocks do, and nothing else."""

    memory = UNTOUCHED


Block: TypeAlias = tuple[Op, ...]

Operand: TypeAlias = Annotated[Value, Role.OPERAND]
Operands: TypeAlias = Annotated[tuple[Value, ...], Role.OPERAND]
Expr: TypeAlias = Annotated[Affine, Role.OPERAND]
Exprs: TypeAlias = Annotated[tuple[Affine, ...], Role.OPERAND]
ExprGroups: TypeAlias = Annotated[tuple[tuple[Affine, ...], ...], Role.OPERAND]
Constraints: TypeAlias = Annotated[tuple[Constraint, ...], Role.OPERAND]
Result: TypeAlias = Annotated[Value, Role.RESULT]
Results: TypeAlias = Annotated[tuple[Value, ...], Role.RESULT]
Argument: TypeAlias = Annotated[Value, Role.ARGUMENT]
Arguments: TypeAlias = Annotated[tuple[Value, ...], Role.ARGUMENT]
Region: TypeAlias = Annotated[Block, Role.REGION]
Shapes: TypeAlias = Annotated[tuple[tuple[Affine, ...] | None, ...], Role.CONTRACT]
Facts: TypeAlias = Annotated[tuple[Constraint, ...], Role.CONTRACT]


class Roles(FrozenValue):
    """The fields of one class of operations, by role."""

    operands: tuple[str, ...]
    results: tuple[str, ...]
    arguments: tuple[str, ...]
    regions: tuple[str, ...]
    contract: tuple[str, ...]


class _RolesOf(dict[type[Op], Roles]):
    """The roles of classes, read when they are first asked for."""

    def __missing__(self, cls: type[Op]) -> Roles:
        found = self[cls] = _read_roles(cls)
        return found


roles: Callable[[type[Op]], Roles] = _RolesOf().__getitem__
"""What the fields of a class of operations are, from its annotations: read once for each class."""


def _read_roles(cls: type[Op]) -> Roles:
    # An annotation is its text, and what says a role is a name of this module: nothing needs to be evaluated.
    role_of = {f.name: next(iter(getattr(globals().get(str(f.type)), "__metadata__", ())), None) for f in fields(cls)}

    def named(role: Role) -> tuple[str, ...]:
        return tuple(name for name, r in role_of.items() if r is role)

    return Roles(*(named(role) for role in Role))


_printer: Callable[[Op], str] | None = None


def set_printer(printer: Callable[[Op], str]) -> None:
    """Make str(op) call `printer`: the layer above, which owns the textual form, hands it down once."""
    global _printer
    _printer = printer


def _flat(part: object) -> tuple[object, ...]:
    """The expressions of a field in one tuple, where it has one or groups of them."""
    match part:
        case tuple():
            return tuple(x for item in part for x in item) if part and isinstance(part[0], tuple) else part
        case _:
            return (part,)


KEPT = ("_reads", "_defines", "_binds")
"""What an operation keeps beside its fields once somebody has asked: it is for these fields alone."""
_NOTHING: object = ()
"""What most fields with several values have."""


def _collect(part: object, values: list[Value]) -> None:
    """Add the values in a part of a field, in order."""
    if isinstance(part, tuple):
        for item in part:
            if isinstance(item, Value):
                values.append(item)
            else:
                _collect(item, values)
    elif isinstance(part, Affine):
        values.extend(part.values())
    elif isinstance(part, Constraint):
        values.extend(part.expr.values())
    elif isinstance(part, Value):
        values.append(part)
    else:
        raise TypeError(f"neither a value nor an expression: {part!r}")
