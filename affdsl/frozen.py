"""Frozen dataclasses that share their methods, so that it is quick to make the classes.

`@dataclass(frozen=True)` writes and compiles six methods for each class. With four hundred classes, nearly all
of which `optimize()` needs, that took a third of the time to import them. Classes of which there are very many objects
keep methods of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import Any, ClassVar, NoReturn, dataclass_transform


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
class Frozen:
    """A base whose subclasses are what `@dataclass(frozen=True, eq=False)` makes.

    >>> class Point(Frozen):
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(x=1) == Point(x=1)
    (Point(x=1, y=0), False)
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    __match_args__: ClassVar[tuple[str, ...]] = ()
    _fields: ClassVar[frozenset[str]] = frozenset()
    _defaults: ClassVar[Mapping[str, object]] = {}
    _factories: ClassVar[Mapping[str, Callable[[], object]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own = fields(dataclass(init=False, repr=False, eq=False)(cls))
        cls._fields = frozenset(f.name for f in own)
        cls._defaults = {f.name: f.default for f in own if f.default is not MISSING}
        cls._factories = {f.name: f.default_factory for f in own if f.default_factory is not MISSING}

    def __init__(self, *positional: object, **named: object) -> None:
        given = {**dict(zip(self.__match_args__, positional)), **named} if positional else named  # noqa: B905 - counted below
        values = {**self._defaults, **given}
        for name, make in self._factories.items():
            if name not in given:
                values[name] = make()
        if len(given) != len(positional) + len(named) or values.keys() != self._fields:
            raise TypeError(_wrong_call(type(self), positional, named))
        self.__dict__.update(values)
        self.__post_init__()

    def __post_init__(self) -> None:
        """For subclasses that check their fields."""

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __repr__(self) -> str:
        shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
        return f"{type(self).__qualname__}({shown})"


class FrozenValue(Frozen):
    """A base whose subclasses are what `@dataclass(frozen=True)` makes: those of one class with equal fields are equal.

    >>> class Point(FrozenValue):
    ...     x: int
    ...     y: int = 0
    >>> Point(1) == Point(1, 0), Point(1) == Point(2), hash(Point(1)) == hash(Point(1)), Point(1) == (1, 0)
    (True, False, True, False)
    """

    _compared: ClassVar[Callable[[object], object]] = type

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        names = [f.name for f in fields(cls) if f.compare]
        cls._compared = attrgetter(*names) if names else type

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return False if isinstance(other, FrozenValue) else NotImplemented
        return type(self)._compared(self) == type(self)._compared(other)

    def __hash__(self) -> int:
        return hash(type(self)._compared(self))


def _wrong_call(cls: type[Frozen], positional: tuple[object, ...], named: Mapping[str, object]) -> str:
    """What is wrong with the arguments of a constructor."""
    names = cls.__match_args__
    filled = names[: len(positional)]
    unknown = [n for n in named if n not in cls._fields]
    twice = [n for n in named if n in filled]
    given = {*filled, *named, *cls._defaults, *cls._factories}
    missing = [n for n in cls.__dataclass_fields__ if n in cls._fields - given]
    if len(positional) > len(names):
        why = f"takes {len(names)} fields by position, got {len(positional)}"
    elif unknown:
        why = f"has no field {', '.join(unknown)}"
    elif twice:
        why = f"is given {', '.join(twice)} twice"
    else:
        why = f"needs {', '.join(missing)}"
    return f"{cls.__qualname__} {why}"
