"""Command lines with mlir-opt's manners: -flag and --flag, =value or a value that follows, passes in their order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from affdsl.errors import AffdslError
from affdsl.frozen import FrozenValue
from affdsl.ir.messages import nearest
from affdsl.passes.mlir_opt.options import boolean

Kind: TypeAlias = Literal["switch", "value", "optional", "list", "pass"]


class UsageError(AffdslError):
    """A command line that means nothing: the flag, and what would be right."""


class Flag(FrozenValue):
    """One flag: a `switch` is on or off; a `value` must follow, after = or as the next word; an `optional` value and
    that of a `pass` come after = only; a `list` has values between commas and may be given again."""

    name: str
    kind: Kind
    summary: str = ""
    takes: str = "text"
    choices: tuple[str, ...] = ()
    default: str = ""

    @property
    def spelled(self) -> str:
        """As the help shows it."""
        dashes = "-" if len(self.name) == 1 else "--"
        match self.kind:
            case "switch" | "pass":
                return f"{dashes}{self.name}"
            case "optional":
                return f"{dashes}{self.name}[=<{'|'.join(self.choices) or self.takes}>]"
            case _:
                return f"{dashes}{self.name}=<{'|'.join(self.choices) or self.takes}>"


class CommandLine(FrozenValue):
    """A command line, read: the values of its flags, the words that are no flags, and the passes in order.

    A switch is "true" or "false"; an optional value that was left out is the flag's default.
    """

    command: str
    values: Mapping[str, tuple[str, ...]]
    words: tuple[str, ...]
    passes: tuple[tuple[str, str], ...] = ()

    def on(self, name: str, *, default: bool = False) -> bool:
        """Whether a switch is on."""
        return self.values[name][-1] == "true" if name in self.values else default

    def given(self, name: str) -> str | None:
        """The value of a flag, the last where it is given again; None if it is not there."""
        return self.values[name][-1] if name in self.values else None

    def listed(self, name: str) -> tuple[str, ...]:
        """The values of a list, of all its flags together."""
        return tuple(part for value in self.values.get(name, ()) for part in value.split(",") if part)

    def only_word(self, default: str = "-") -> str:
        """The one word that is no flag. Raises UsageError if there are several."""
        if len(self.words) > 1:
            raise UsageError(
                f"affdsl {self.command}: too many positional arguments specified: it takes one file, got "
                f"{', '.join(map(repr, self.words))}"
            )
        return self.words[0] if self.words else default


def read_command_line(command: str, flags: Sequence[Flag], arguments: Sequence[str]) -> CommandLine:
    """The arguments of a command, by its flags; `--` ends the flags, and `-` alone is a word.

    Raises
    ------
    UsageError
        With the flag and the closest one that is known, or with the values that it takes.
    """
    known = {flag.name: flag for flag in flags}
    values: dict[str, list[str]] = {}
    words: list[str] = []
    passes: list[tuple[str, str]] = []
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if argument == "--":
            words += rest
            break
        if not argument.startswith("-") or argument == "-" or _is_number(argument):
            words.append(argument)
            continue
        name, equals, text = argument.lstrip("-").partition("=")
        flag = known.get("help" if name == "h" else name)
        if flag is None:
            close = nearest(name, [*known]).replace("'", "'--", 1)
            raise UsageError(
                f"affdsl {command}: unknown command line argument '{argument}'{close} Try: affdsl {command} --help"
            )
        value = text if equals else None
        if flag.kind in ("value", "list") and value is None:
            if not rest:
                raise UsageError(f"affdsl {command}: for the {_dashed(name)} option: requires a value!")
            value = rest.pop(0)
        if flag.kind == "pass":
            passes.append((name, value or ""))
        else:
            values.setdefault(flag.name, []).append(_checked(command, flag, value))
    return CommandLine(command, {name: tuple(v) for name, v in values.items()}, tuple(words), tuple(passes))


def describe(rows: Sequence[tuple[str, str]]) -> str:
    """Two columns, for the help."""
    wide = min(max((len(left) for left, _ in rows), default=0), 38)
    return "\n".join(f"  {left:<{wide}}  {right}".rstrip() for left, right in rows)


def _checked(command: str, flag: Flag, value: str | None) -> str:
    what = f"affdsl {command}: for the {_dashed(flag.name)} option:"
    if flag.kind == "switch":
        truth = boolean(value)
        if truth is None:
            raise UsageError(f"{what} '{value}' is invalid value for boolean argument! Try 0 or 1")
        return str(truth).lower()
    text = value or flag.default if flag.kind == "optional" else value or ""
    if flag.choices and text not in flag.choices:
        raise UsageError(f"{what} '{text}' is none of {', '.join(flag.choices)}{nearest(text, flag.choices)}")
    return text


def _dashed(name: str) -> str:
    return f"-{name}" if len(name) == 1 else f"--{name}"


def _is_number(argument: str) -> bool:
    return re.fullmatch(r"-(\d+\.?\d*(e[+-]?\d+)?|\.\d+|0[xob][\da-f]+|inf|nan)", argument, re.I) is not None
