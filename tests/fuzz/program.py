"""Random affine programs as data: buffers, sizes, and statements whose indices and bounds are affine expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Literal, TypeAlias, TypeVar

from tests.fuzz.affine import Expr

T = TypeVar("T")
Element = Literal["i32", "i64", "f64"]


@dataclass(frozen=True)
class Constant:
    number: int


@dataclass(frozen=True)
class Name:
    """A value computed before: of a Let, carried by a loop, or the result of one."""

    name: str


@dataclass(frozen=True)
class Cast:
    """An index as an element."""

    index: Expr


@dataclass(frozen=True)
class Extreme:
    """The least or the greatest of several indices, as an element."""

    kind: Literal["min", "max"]
    exprs: tuple[Expr, ...]


@dataclass(frozen=True)
class Load:
    """An element of a buffer, by affine.load or memref.load."""

    buffer: str
    index: tuple[Expr, ...]
    is_affine: bool = True


@dataclass(frozen=True)
class Binary:
    """An operation of arith on two elements."""

    kind: str
    left: Value
    right: Value


Value: TypeAlias = Constant | Name | Cast | Extreme | Load | Binary


@dataclass(frozen=True)
class Carried:
    """A value that a loop carries; after the loop it is known by the name with an `r` behind it."""

    name: str
    init: Value
    update: Value

    @property
    def result(self) -> str:
        return f"{self.name}r"


@dataclass(frozen=True)
class For:
    iv: str
    lower: tuple[Expr, ...]
    upper: tuple[Expr, ...]
    step: int
    carried: tuple[Carried, ...]
    body: tuple[Statement, ...]
    is_parallel: bool = False


@dataclass(frozen=True)
class Condition:
    """expr >= 0, or expr == 0."""

    expr: Expr
    is_equality: bool


@dataclass(frozen=True)
class If:
    conditions: tuple[Condition, ...]
    then: tuple[Statement, ...]
    orelse: tuple[Statement, ...]


@dataclass(frozen=True)
class Let:
    name: str
    value: Value


@dataclass(frozen=True)
class Apply:
    """A new index, which may stand in later indices."""

    name: str
    expr: Expr


@dataclass(frozen=True)
class Store:
    """An element of a buffer is set, by affine.store or memref.store."""

    buffer: str
    index: tuple[Expr, ...]
    value: Value
    is_affine: bool = True


@dataclass(frozen=True)
class Outlined:
    """Statements in a function of their own, which gets all buffers and sizes."""

    name: str
    body: tuple[Statement, ...]


Statement: TypeAlias = For | If | Let | Apply | Store | Outlined


@dataclass(frozen=True)
class Buffer:
    """An argument or a local buffer. `dynamic` says which sizes its type leaves open."""

    name: str
    shape: tuple[int, ...]
    dynamic: tuple[bool, ...]
    is_local: bool

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        size = 1
        for n in self.shape:
            size *= n
        return size

    def size_name(self, dimension: int) -> str:
        """What the argument is called that says the size of an open dimension."""
        return f"{self.name}_{dimension}"

    def initial(self) -> list[int]:
        """What stands in the buffer before the program runs, in row-major order."""
        return [(k * 7 + ord(self.name) * 13) % 23 - 9 for k in range(self.size)]


@dataclass(frozen=True)
class Program:
    """A program, and the sizes with which it is run: one number for each symbol in each valuation."""

    seed: int
    element: Element
    buffers: tuple[Buffer, ...]
    symbols: tuple[str, ...]
    valuations: tuple[tuple[int, ...], ...]
    body: tuple[Statement, ...]

    @property
    def arguments(self) -> tuple[Buffer, ...]:
        """The buffers that the caller passes, and sees changed."""
        return tuple(b for b in self.buffers if not b.is_local)

    @property
    def sizes(self) -> tuple[tuple[str, int | None], ...]:
        """The index arguments: symbols, then each size that the type of a buffer leaves open, which is known here."""
        symbols = [(s, None) for s in self.symbols]
        return (*symbols, *((b.size_name(k), b.shape[k]) for b in self.buffers for k in range(b.rank) if b.dynamic[k]))

    def given(self, run: int) -> tuple[int, ...]:
        """The index arguments of a run."""
        return (*self.valuations[run], *(n for _, n in self.sizes if n is not None))


def nodes(tree: object) -> Iterator[Any]:
    """Every dataclass object of a tree, outer ones first."""
    if isinstance(tree, tuple):
        for part in tree:
            yield from nodes(part)
    elif is_dataclass(tree):
        yield tree
        for field in fields(tree):
            yield from nodes(getattr(tree, field.name))


def rebuilt(tree: T, change: Callable[[Any], Any]) -> T:
    """The tree with `change` applied to each dataclass object, inner ones first; a tuple stands for several."""
    if isinstance(tree, tuple):
        made: list[Any] = []
        for part in tree:
            new = rebuilt(part, change)
            made += new if is_dataclass(part) and isinstance(new, tuple) else [new]
        return tuple(made)  # type: ignore[return-value]
    if not is_dataclass(tree):
        return tree
    node: Any = tree
    parts = {f.name: getattr(node, f.name) for f in fields(node)}
    new_parts = {key: rebuilt(part, change) for key, part in parts.items()}
    changed = {key: new for key, new in new_parts.items() if new is not parts[key] and new != parts[key]}
    return change(replace(node, **changed) if changed else node)  # type: ignore[no-any-return]


def with_indices(program: Program, shift: Mapping[str, tuple[int, ...]]) -> Program:
    """The program with every access to a buffer moved by as much in each dimension."""

    def moved(node: Any) -> Any:
        if not isinstance(node, Load | Store) or node.buffer not in shift:
            return node
        moves = shift[node.buffer]
        return replace(node, index=tuple(e.plus(n) for e, n in zip(node.index, moves, strict=True)))

    return rebuilt(program, moved)
