"""IR as plain data that JSON can hold, and back: the same in every name, place, and order of terms.

MLIR text says less: not which value was made first, by which the terms of expressions are ordered, nor where a value
was made, and that an operation has no place. What is kept here is a list of nodes, each a number, a text, a truth,
nothing, or the name of a class with the numbers of the nodes before it that its fields are:

    ["f32", ["types.FloatType", 0], 7, ["tuple", 1, 2]]

Nodes that are equal are one, but for operations and values, which are the same only if they are the same object.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache, partial
from types import ModuleType
from typing import TypeAlias

from affdsl.frozen import Frozen
from affdsl.ir import applied, attributes, maps, types
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, func, math, memref, opaque, scf, ub, vector
from affdsl.ir.dialects import complex as complex_numbers
from affdsl.ir.expr import Affine, Constraint, FloorDiv, Product, Value
from affdsl.ir.location import Location
from affdsl.ir.traverse import walk

Node: TypeAlias = "int | str | bool | list[int | str] | None"

_MODULES: tuple[ModuleType, ...] = (
    affine, applied, arith, attributes, complex_numbers, func, maps, math, memref, opaque, scf, types, ub, vector,
)  # fmt: skip


def plain(
    op: Op, known: Sequence[object] = (), files: Mapping[str, str] | None = None, beside: Sequence[object] = ()
) -> list[Node]:
    """An operation, with all that it holds, as plain data.

    Parameters
    ----------
    known
        Values and operations that whoever reads it has: they stand for themselves. No other value is older.
    files
        What files of locations are called instead; all of them, where it is given.
    beside
        What else of its values is kept: then a tuple comes back, the operation first.

    Raises
    ------
    ValueError
        Where something in it is no plain data, or it has a file without a name.
    """
    made = _Plain(files)
    for number, each in enumerate(known):
        made.of_object[id(each)] = made.node("known", (number,))
    latest = max((each.id for each in known if isinstance(each, Value)), default=-1)
    for value in values_of(op, known):
        if value.id <= latest or type(value) is not Value:
            raise ValueError(f"a value of its own that is older than those that are known: {value!r}")
        made.of_object[id(value)] = made.node("Value", (value.type, value.hint, value.location), is_shared=False)
    made.put((op, *beside) if beside else op)
    return made.nodes


def restored(nodes: Sequence[object], known: Sequence[object] = (), files: Mapping[str, str] | None = None) -> object:
    """What `plain` has made data of; `files` says for its names what they are here.

    What is no such data raises some exception, or gives something else: only the verifier tells what is IR.
    """

    def location(file: str, line: int, column: int, text: str) -> Location:
        return Location(file if files is None else files[file], line, column, text)

    def of_whoever_reads(number: int) -> object:
        return known[number]

    build: dict[str, Callable[..., object]] = {**_builders(), "known": of_whoever_reads, "Location": location}
    made: list[object] = []
    for node in nodes:
        if isinstance(node, list):
            head, *parts = node
            made.append(build[head](*[made[part] for part in parts]))
        else:
            made.append(node)
    return made[-1]


def files_of(op: Op) -> set[str]:
    """The files of the locations in an operation, and of its values."""
    places = (place for each in walk(op) for place in (each.location, *each.ends))
    values = (value.location for value in values_of(op))
    return {place.file for some in (places, values) for place in some if place is not None}


def values_of(op: Op, known: Sequence[object] = ()) -> list[Value]:
    """The values in an operation, the oldest first, without known ones and those in known operations."""
    ours = {id(each) for each in known}
    found: set[Value] = set()
    left: list[Op] = [op]
    while left:
        each = left.pop()
        if id(each) not in ours:
            left += [inner for block in each.blocks() for inner in block]
            written = each.written.values() if each.written is not None else ()
            for values in (each.defines(), each.binds(), each.reads(), *(spelled.operands for spelled in written)):
                found.update(values)
    return sorted((v for v in found if id(v) not in ours and v.id >= 0), key=lambda value: value.id)


class _Plain:
    """The nodes so far, and which stands for what."""

    def __init__(self, files: Mapping[str, str] | None) -> None:
        self.nodes: list[Node] = []
        self.of_object: dict[int, int] = {}
        """By the id of what lives as long as this."""
        self._of_key: dict[object, int] = {}
        self._files = files
        self._alive: list[object] = []

    def put(self, part: object) -> int:
        """The number of the node for a part."""
        found = self.of_object.get(id(part))
        if found is not None:
            return found
        kind = type(part)
        if part is None or (isinstance(part, int | str) and kind in (int, str, bool)):  # no enumeration, for one
            return self._added((kind, part), part)
        if isinstance(part, tuple):
            return self.node("tuple", part)
        head, parts = self._taken_apart(part)
        number = self.node(head, parts, is_shared=not isinstance(part, Op))
        self.of_object[id(part)] = number
        self._alive.append(part)  # the real part of a complex number is a new object, whose id would be another's soon
        return number

    def node(self, head: str, parts: Iterable[object], *, is_shared: bool = True) -> int:
        """The number of a node of parts, one that there is already unless it is not to be shared."""
        numbers = [self.put(part) for part in parts]
        return self._added((head, *numbers) if is_shared else None, [head, *numbers])

    def _added(self, key: object, node: Node) -> int:
        found = self._of_key.get(key) if key is not None else None
        if found is None:
            found = len(self.nodes)
            self.nodes.append(node)
            if key is not None:
                self._of_key[key] = found
        return found

    def _taken_apart(self, part: object) -> tuple[str, Iterable[object]]:
        match part:
            case Value() if part.id < 0:
                return _position(part)
            case Location():
                return "Location", (self._file(part.file), part.line, part.column, part.text)
            case float():
                return "float", (struct.pack("<d", part).hex(),)
            case complex():
                return "complex", (part.real, part.imag)
            case Mapping():
                return "dict", (each for item in part.items() for each in item)
            case frozenset():
                return "frozenset", sorted(part)
            case Affine():
                return "Affine", (part.terms, part.constant)
            case Constraint():
                return "Constraint", (part.expr, part.equality)
            case FloorDiv():
                return "FloorDiv", (part.dividend, part.divisor)
            case Product():
                return "Product", (part.factors,)
            case Frozen() if (head := _name(type(part))) in _builders():
                return head, [getattr(part, name) for name in _fields[type(part)]]
        raise ValueError(f"no plain data: {type(part).__name__}")

    def _file(self, file: str) -> str:
        if self._files is None:
            return file
        if file not in self._files:
            raise ValueError(f"a file without a name: {file}")
        return self._files[file]


def _position(value: Value) -> tuple[str, tuple[int]]:
    """The placeholder of a position in a map."""
    place = value.hint[:1], int(value.hint[1:])
    of = {"d": ("dim", maps.dim), "s": ("symbol", maps.symbol)}
    head, made = of[place[0]]
    assert made(place[1]) is value, "of each position there is one"
    return head, (place[1],)


@cache
def _builders() -> Mapping[str, Callable[..., object]]:
    """What makes a part of its parts, by the first word of its node."""
    classes = [each for module in _MODULES for each in vars(module).values() if isinstance(each, type)]
    return {
        **{_name(each): partial(_made, each, _fields[each]) for each in classes if issubclass(each, Frozen)},
        **{each.__name__: each for each in (Affine, Constraint, FloorDiv, Product, Value)},
        "complex": complex,
        "dim": maps.dim,
        "symbol": maps.symbol,
        "tuple": lambda *parts: parts,
        "frozenset": lambda *parts: frozenset(parts),
        "dict": lambda *parts: dict(zip(parts[::2], parts[1::2], strict=True)),
        "float": lambda digits: struct.unpack("<d", bytes.fromhex(digits))[0],
    }


def _made(cls: type[Frozen], names: Sequence[str], *parts: object) -> Frozen:
    return cls(**dict(zip(names, parts, strict=True)))


def _name(cls: type) -> str:
    return f"{cls.__module__.rpartition('.')[2]}.{cls.__name__}"


class _FieldsOf(dict[type[Frozen], tuple[str, ...]]):
    """The names of the fields of classes, found when they are first asked for."""

    def __missing__(self, cls: type[Frozen]) -> tuple[str, ...]:
        found = self[cls] = tuple(each.name for each in fields(cls))
        return found


_fields = _FieldsOf()
