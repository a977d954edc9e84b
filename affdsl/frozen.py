"""Frozen dataclasses that share their methods, so that it is quick to make the classes.

`@dataclass(frozen=True)` writes and compiles six methods for each class. With four hundred classes, nearly all
of which `optimize()` needs, that took a third of the time to import them. Classes of which there are very many objects
keep methods of their own.

`dataclasses` itself, and what it imports, takes a tenth of the time of a short command. So it is imported when somebody
asks it about such a class; `field`, `fields` and `replace` here are for these classes what its own are, and its own may
be used as well.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, cast, dataclass_transform

_NONE = object()
"""The default of a field that has none."""

if TYPE_CHECKING:
    from dataclasses import Field as Field
    from dataclasses import field as field
    from dataclasses import fields as fields
    from dataclasses import replace as replace
else:

    class Field:
        """A field of a class."""

        def __init__(self, default, default_factory, kw_only, repr, compare):
            self.default, self.default_factory = default, default_factory
            self.kw_only, self.repr, self.compare = kw_only, repr, compare

    def field(*, default=_NONE, default_factory=_NONE, kw_only=False, repr=True, compare=True):
        """A field with a default or what makes one, by keyword alone, or left out of `repr` or of comparisons."""
        return Field(default, default_factory, kw_only, repr, compare)

    def fields(of):
        """The fields of a class, or of an object of it."""
        return tuple(of._all.values())

    def replace(of, /, **new):
        """An object with some fields replaced."""
        return type(of)(**{name: getattr(of, name) for name in of._all} | new)


class _Later:
    """The fields of a class, for `dataclasses`."""

    def __get__(self, of: object, cls: type[Frozen]) -> object:
        return _as_dataclass(cls)  # type: ignore[arg-type]  # a class has a hash


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
class Frozen:
    """A base whose subclasses are what `@dataclass(frozen=True, eq=False)` makes.

    >>> class Point(Frozen):
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(x=1) == Point(x=1)
    (Point(x=1, y=0), False)
    """

    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    else:
        __dataclass_fields__ = _Later()
    _all: ClassVar[dict[str, Field[Any]]] = {}
    __match_args__: ClassVar[tuple[str, ...]] = ()
    _fields: ClassVar[frozenset[str]] = frozenset()
    _defaults: ClassVar[Mapping[str, object]] = {}
    _factories: ClassVar[Mapping[str, Callable[[], object]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        every = {name: f for base in cls.__mro__[:0:-1] for name, f in base.__dict__.get("_all", {}).items()}
        for name, written in cls.__annotations__.items():
            if not str(written).startswith(("ClassVar", "typing.ClassVar")):
                every[name] = _own_field(cls, name, written)
        cls._all = every
        cls._fields = frozenset(every)
        cls._defaults = {name: f.default for name, f in every.items() if f.default is not _NONE}
        cls._factories = {name: f.default_factory for name, f in every.items() if f.default_factory is not _NONE}
        if "__match_args__" not in cls.__dict__:
            cls.__match_args__ = tuple([name for name, f in every.items() if not f.kw_only])  # type: ignore[misc]

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
        raise _frozen_error(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise _frozen_error(f"cannot delete field {name!r}")

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


def _own_field(cls: type[Frozen], name: str, written: object) -> Field[Any]:
    """The field of a name that a class has; in the class, the name then stands for the default."""
    found: Any = cls.__dict__.get(name, _NONE)
    make: Any = field
    if type(found).__name__ != "Field":
        found = make(default=found)
    elif not isinstance(found, Field):  # of `dataclasses`, which says in its own way that there is no default
        missing = sys.modules["dataclasses"].MISSING
        default, factory = (_NONE if each is missing else each for each in (found.default, found.default_factory))
        found = make(
            default=default,
            default_factory=factory,
            kw_only=found.kw_only is True,
            repr=found.repr,
            compare=found.compare,
        )
    found.name, found.type = name, written
    if found.default is not _NONE:
        setattr(cls, name, found.default)
    elif name in cls.__dict__:
        delattr(cls, name)
    return cast("Field[Any]", found)


@cache
def _as_dataclass(cls: type[Frozen]) -> object:
    """The fields of a class as `dataclasses` has them."""
    own = import_module("dataclasses")
    names = "kw_only", "repr", "compare"
    rows = []
    for name, f in cls._all.items():
        given = {k: getattr(f, k) for k in ("default", "default_factory") if getattr(f, k) is not _NONE}
        rows.append((name, f.type, own.field(**given, **{k: getattr(f, k) for k in names})))
    return own.make_dataclass(cls.__name__, rows, init=False, repr=False, eq=False).__dataclass_fields__


def _frozen_error(message: str) -> Exception:
    error: Exception = import_module("dataclasses").FrozenInstanceError(message)
    return error


def _wrong_call(cls: type[Frozen], positional: tuple[object, ...], named: Mapping[str, object]) -> str:
    """What is wrong with the arguments of a constructor."""
    names = cls.__match_args__
    filled = names[: len(positional)]
    unknown = [n for n in named if n not in cls._fields]
    twice = [n for n in named if n in filled]
    given = {*filled, *named, *cls._defaults, *cls._factories}
    missing = [n for n in cls._all if n in cls._fields - given]
    if len(positional) > len(names):
        why = f"takes {len(names)} fields by position, got {len(positional)}"
    elif unknown:
        why = f"has no field {', '.join(unknown)}"
    elif twice:
        why = f"is given {', '.join(twice)} twice"
    else:
        why = f"needs {', '.join(missing)}"
    return f"{cls.__qualname__} {why}"
