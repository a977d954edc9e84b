"""What aliases stand for in MLIR text, and lists and nesting there: the base of what reads types and attributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from affdsl.mlir.scanner import Scanner

T = TypeVar("T")
_LARGEST = 100_000
_DEEPEST = 100  # brackets inside each other
_MOST_COPIES = 1_000_000  # tokens read anew where aliases stand, beside a hundred for each token of the text


class Aliases:
    """Knows the aliases of a text, and where each of them is defined."""

    def __init__(self, scanner: Scanner) -> None:
        self.scanner = scanner
        self._depth = 0
        self._copied = 0  # tokens read where an alias defines them
        self._aliases: dict[str, int] = {}  # where the text of each begins; those defined so far
        self._sizes: dict[str, int] = {}  # how many words each of them stands for
        self._all_aliases: dict[str, int] | None = None
        self._ahead = False  # whether a location is being read that stands below where it is used

    def nested(self, read: Callable[[], T]) -> T:
        """What `read` reads, one level deeper; text that is nested without end is refused."""
        self._depth += 1
        if self._depth > _DEEPEST:
            self.scanner.fail("this is nested too deeply")
        found = read()
        self._depth -= 1
        return found

    def listed(self, item: Callable[[], T], opening: str = "(", closing: str = ")") -> tuple[T, ...]:
        """Items between brackets, separated by commas."""
        s = self.scanner
        s.expect(opening)
        if s.accept(closing):
            return ()
        items = [item()]
        while s.accept(","):
            items.append(item())
        s.expect(closing)
        return tuple(items)

    def define_alias(self, name: str, place: int) -> None:
        """Make an alias known, whose text begins at a token and ends before the current one."""
        s = self.scanner
        own = s.tokens[place : s.place]
        self._sizes[name] = size = sum([self._sizes.get(token, 1) for token in own])
        if size > _LARGEST + len(own):  # aliases of aliases, each of them used twice
            s.go_to(place)
            s.fail(f"{name} stands for too much text, more than {_LARGEST} words")
        self._aliases[name] = place

    def later(self, name: str) -> int | None:
        """Where the text of an alias begins, though it may be defined only below."""
        if self._all_aliases is None:
            self._all_aliases = _alias_places(self.scanner.tokens)
        return self._all_aliases.get(name)

    def aliased(self, name: str, read: Callable[[], T], place: int | None = None) -> T:
        """What an alias stands for: read where the text defines it, above, or at a place."""
        s = self.scanner
        place = self._aliases.get(name, place)
        if place is None and self._ahead and (found_below := self.later(name)) is not None and found_below < s.place:
            place = found_below
        if place is None:
            s.fail(f"{name} is not defined above")
        here = s.place
        if self._depth > _DEEPEST:
            s.fail(f"{name} is defined by itself")
        self._depth += 1
        s.go_to(place)
        found = read()
        self._copied += s.place - place
        if self._copied > _MOST_COPIES + 100 * len(s.tokens):  # each made of two others, and these of two others ...
            s.fail(f"{name} and other aliases stand for too much text")
        s.go_to(here)
        self._depth -= 1
        s.advance()
        return found

    def is_alias(self, name: str) -> bool:
        """Whether a name is that of an alias defined above."""
        return name in self._aliases


def _alias_places(tokens: list[str]) -> dict[str, int]:
    """Where the text of each alias begins: `#name = ...` and `!name = ...`."""
    signs = [place for place, token in enumerate(tokens) if token == "=" and place]
    return {tokens[sign - 1]: sign + 1 for sign in signs if tokens[sign - 1][0] in "#!"}
