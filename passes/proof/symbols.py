"""Names for the symbols of a function that do not depend on its text: what two functions call so is one number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from affdsl.frozen import fields
from affdsl.ir.core import Op, roles
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.traverse import operands_first
from affdsl.ir.types import INDEX
from affdsl.passes.analysis.effects import is_pure
from affdsl.passes.analysis.polyhedral import Dim, Points, name_of
from affdsl.passes.analysis.relations import iterator
from affdsl.passes.analysis.scope import Scope

LONGEST = 10_000
"""What takes more characters to say has a name of its own: what is used again is said again."""
_COMMON = frozenset(("location", "attributes", "written", "ends"))


class Symbols:
    """The names of the symbols of one function: by the place of an argument, or by how others make it.

    A symbol that is made in another way has a name of its own; `mark` keeps those of two functions apart.
    """

    def __init__(self, function: Func, scope: Scope, mark: str) -> None:
        self.function = function
        self.scope = scope
        self.mark = mark
        self._names: dict[str, str] = {}
        self._keys: dict[Value, str | None] = {}
        self._taken: set[str] = set()

    def add(self, params: tuple[Value, ...]) -> None:
        """Get to know symbols, before something over them is renamed."""
        for value in params:
            own = name_of(value)
            if own in self._names:
                continue
            name = wanted = self.key(value) or f"{self.mark}_{own}"
            count = 1
            while name in self._taken:
                count += 1
                name = f"{wanted}.{count}"
            self._taken.add(name)
            self._names[own] = name

    def renamed(self, part: Points) -> Points:
        """A set or map with the names that other functions have for the same symbols."""
        for k in range(part.dim(Dim.param)):
            name = self._names.get(str(part.get_dim_name(Dim.param, k)))
            if name is not None:
                part = part.set_dim_name(Dim.param, k, name)
        return part

    def key(self, value: Value) -> str | None:
        """How a symbol is made from the arguments; None if it is not made of them alone, or that is long to say."""
        for each in operands_first(value, self._operands):
            if each not in self._keys:
                self._keys[each] = self._key(each)
        return self._keys[value]

    def _operands(self, value: Value) -> Iterable[Value]:
        maker = self._maker(value) if value not in self._keys else None
        return maker.reads() if maker is not None else ()

    def _maker(self, value: Value) -> Op | None:
        """What makes a symbol of others."""
        maker = self.scope.makers.get(value)
        if maker is None or self.scope.varies(value) or not is_pure(maker) or any(True for _ in maker.blocks()):
            return None
        return maker

    def _key(self, value: Value) -> str | None:
        """The same where the keys of what it is computed from are known."""
        if value in self.function.args:
            return f"arg{self.function.args.index(value)}"
        for (buffer, axis), symbol in self.scope.sizes.items():
            if symbol is value and buffer in self.function.args:
                return f"size{self.function.args.index(buffer)}_{axis}"
        maker = self._maker(value)
        if maker is None:
            return None
        parts = [self._keys.get(v) for v in maker.reads()]
        if None in parts:
            return None
        key = f"{signature(maker)}{parts}.{[*maker.defines()].index(value)}"
        return key if len(key) <= LONGEST else None

    def spelled(self, expr: Affine) -> object:
        """An expression of symbols, equal in two functions where it is the same number."""
        new: dict[Value, Affine] = {}
        for value in expr.values():
            key = self.key(value)
            if key is None:
                return expr
            new[value] = Affine.of(_standing_for(key))
        return expr.substitute(new)

    def facts(self) -> tuple[object, ...]:
        """What the contract of the function says, over the places of the arguments."""
        places = {a: Affine.of(iterator(k)) for k, a in enumerate(self.function.args)}
        shapes = [
            None if shape is None else tuple(e.substitute(places) for e in shape) for shape in self.function.shapes
        ]
        return (*shapes, frozenset(c.substitute(places) for c in self.function.assumes))


@cache
def _standing_for(key: str) -> Value:
    return Value(INDEX, key)


def signature(op: Op) -> tuple[object, ...]:
    """What an operation without blocks computes from the values that it reads: equal for two that compute the same."""
    role = roles(type(op))
    values = [*op.reads()]
    attributes = tuple(
        repr(getattr(op, f.name))
        for f in fields(op)
        if f.name not in _COMMON and f.name not in role.operands and f.name not in role.results
    )
    places = {v: Affine.of(iterator(k)) for k, v in enumerate(dict.fromkeys(values))}
    exprs = tuple(_placed(getattr(op, name), places) for name in role.operands)
    types = tuple(str(v.type) for v in (*values, *op.defines()))
    return (type(op).__module__, type(op).__name__, attributes, repr(op.attributes), exprs, types)


def _placed(part: object, places: Mapping[Value, Affine]) -> object:
    """The form of what an operation reads, with places for values where it is an expression."""
    match part:
        case Affine() | Constraint():
            return part.substitute(places)
        case tuple():
            return tuple(_placed(each, places) for each in part)
    return ""
