"""The options of a pass: what they are called, which values they take, and how they are read and printed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Literal, TypeAlias

from affdsl.errors import AffdslError, public
from affdsl.frozen import FrozenValue
from affdsl.ir.messages import nearest

OptionValue: TypeAlias = "bool | int | float | str | tuple[str, ...]"
Kind: TypeAlias = Literal["bool", "int", "uint", "ulong", "number", "choice", "text", "list"]

_TRUE, _FALSE = ("true", "TRUE", "True", "1"), ("false", "FALSE", "False", "0")
_RANGES = {"int": (-(2**63), 2**63 - 1), "uint": (0, 2**32 - 1), "ulong": (0, 2**64 - 1)}


@public
class OptionError(AffdslError):
    """An option that a pass does not have, or a value that it does not take.

    >>> import affdsl as af
    >>> from affdsl.passes.mlir_opt.affine_loop_tile import affine_loop_tile
    >>> try:
    ...     affine_loop_tile(af.parse(""), tile_sizes=("x",))
    ... except af.OptionError as error:
    ...     print(error)
    affine-loop-tile: option tile-sizes takes positive integers, got 'x'
    """


class Option(FrozenValue):
    """One option of a pass: `name=value`.

    A `fixed` option is known, printed and accepted at its default only: mlir-opt has it, and here nothing reads it.
    """

    name: str
    kind: Kind
    default: OptionValue
    summary: str = ""
    choices: tuple[str, ...] = ()
    fixed: bool = False

    @property
    def keyword(self) -> str:
        """What the function of the pass calls it."""
        return self.name.replace("-", "_")


def read_options(options: Sequence[Option], text: str, owner: str) -> dict[str, OptionValue]:
    """The values that `text` gives to options, the defaults for the others: by name, in the order of `options`.

    The text is what mlir-opt takes: `name=value` separated by spaces, a lone name for a truth, values in {}, '' or ""
    where they hold spaces. Of a value that is given twice the last counts.

    Raises
    ------
    OptionError
        With the owner of the options, the option, what was given and what it takes.

    >>> read_options((Option("factor", "int", 4), Option("full", "bool", False)), "full factor=8", "unroll")
    {'factor': 8, 'full': True}
    """
    known = {option.name: option for option in options}
    values = {option.name: option.default for option in options}
    for name, given in _split(text, owner):
        option = known.get(name)
        if option is None:
            raise OptionError(f"{owner}: no such option {name}; {_known(name, options)}")
        value = _value(option, given, owner)
        if option.fixed and value != option.default:
            raise OptionError(
                f"{owner}: option {name} is {_shown(option.default)!r} here and nothing else, "
                f"got {given!r}; leave it out"
            )
        values[name] = value
    return values


def print_options(options: Sequence[Option], values: Mapping[str, OptionValue]) -> str:
    """`{name=value ...}` in the order of the names, as mlir-opt prints them; nothing for a pass without options.

    >>> print_options((Option("factor", "int", 4), Option("all", "bool", False)), {"factor": 8, "all": True})
    '{all=true factor=8}'
    """
    if not options:
        return ""
    shown = [_assignment(o.name, values[o.name]) for o in sorted(options, key=lambda option: option.name)]
    return f"{{{' '.join(shown)}}}"


def describe_options(options: Sequence[Option]) -> list[tuple[str, str]]:
    """For each option `name=<what it takes>` and its meaning with the default, for a list that people read."""
    natural = "<integer, not negative>"
    takes = {"bool": "<true|false>", "int": "<integer>", "uint": natural, "ulong": natural, "text": "<text>",
             "number": "<number>"}  # fmt: skip
    return [
        (
            f"{o.name}={'|'.join(o.choices) if o.kind == 'choice' else takes.get(o.kind, '<name,...>')}",
            f"{o.summary} (default: {_shown(o.default) or 'none'}{', no other yet' if o.fixed else ''})".lstrip(),
        )
        for o in options
    ]


def boolean(text: str | None) -> bool | None:
    """What a truth value is written as; no text at all is true; None where it is none."""
    return True if text is None or text in _TRUE else False if text in _FALSE else None


def _known(name: str, options: Sequence[Option]) -> str:
    names = [option.name for option in options]
    listed = f"it takes {', '.join(names)}" if names else "it takes none"
    return listed + nearest(name, names)


def _split(text: str, owner: str) -> list[tuple[str, str | None]]:
    """Names with their values; None where no '=' follows."""
    found: list[tuple[str, str | None]] = []
    place = 0
    while (rest := text[place:].lstrip()) != "":
        place = len(text) - len(rest)
        name = re.match(r"[^\s=]*", rest)
        assert name is not None, "the pattern matches the empty text"
        place += name.end()
        if text[place : place + 1] != "=":
            found.append((name[0], None))
            continue
        end = _end_of_value(text, place + 1, owner)
        found.append((name[0], _unquoted(text[place + 1 : end])))
        place = end
    return found


def _end_of_value(text: str, place: int, owner: str) -> int:
    """Where a value ends: at a space that no brace, bracket or quote surrounds."""
    open_until: list[str] = []
    start = place
    while place < len(text):
        c = text[place]
        if open_until and c == open_until[-1]:
            open_until.pop()
        elif open_until and open_until[-1] in "\"'":
            pass
        elif c in "{(['\"":
            open_until.append({"{": "}", "(": ")", "[": "]"}.get(c, c))
        elif c.isspace() and not open_until:
            break
        place += 1
    if open_until:
        raise OptionError(f"{owner}: '{open_until[-1]}' is missing after {text[start:]!r}")
    return place


def _unquoted(text: str) -> str:
    pairs = {"{": "}", "'": "'", '"': '"'}
    return text[1:-1] if len(text) >= 2 and pairs.get(text[0]) == text[-1] else text


def _value(option: Option, text: str | None, owner: str) -> OptionValue:
    what = f"{owner}: for the option {option.name}:"
    if option.kind == "bool":
        truth = boolean(text)
        if truth is None:
            raise OptionError(f"{what} '{text}' is invalid value for boolean argument! Try 0 or 1")
        return truth
    if text is None:
        raise OptionError(f"{what} requires a value! Write {option.name}=...")
    match option.kind:
        case "int" | "uint" | "ulong":
            return _integer(option, text, what)
        case "number":
            return _number(text, what)
        case "choice":
            if text not in option.choices:
                raise OptionError(
                    f"{what} '{text}' is none of {', '.join(option.choices)}{nearest(text, option.choices)}"
                )
            return text
        case "list":
            return tuple(part for part in text.split(",") if part)
        case _:
            return text


def _integer(option: Option, text: str, what: str) -> int:
    low, high = _RANGES[option.kind]
    try:
        number = int(text, 0)
    except ValueError:
        raise OptionError(f"{what} '{text}' is not an integer") from None
    if not low <= number <= high:
        raise OptionError(f"{what} {number} does not lie between {low} and {high}")
    return number


def _number(text: str, what: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise OptionError(f"{what} '{text}' value invalid for floating point argument!") from None
    if not isfinite(number):
        raise OptionError(f"{what} '{text}' is no finite number")
    return number


def _assignment(name: str, value: OptionValue) -> str:
    if isinstance(value, tuple):
        return f"{name}={{{','.join(value)}}}" if value else ""
    return f"{name}={_shown(value)}"


def _shown(value: OptionValue) -> str:
    match value:
        case bool():
            return str(value).lower()
        case tuple():
            return ",".join(value)
        case float():
            return f"{value:e}"
        case _:
            return str(value)
