"""The lines of a function's body: indentation, blocks, and which names their scopes declare."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from affdsl.codegen.c.expressions import Code
from affdsl.codegen.c.layout import indent_of, wrapped
from affdsl.codegen.c.names import Scope
from affdsl.codegen.c.origins import Origins
from affdsl.codegen.c.ranges import Ranges
from affdsl.ir.core import Op


class Lines:
    """What is written so far. With each block ends what was declared in it, and what was known of index values."""

    def __init__(
        self, scope: Scope, ranges: Ranges, uncalled: Callable[[str], None], origins: Origins | None = None
    ) -> None:
        self.scope = scope
        """The names of the innermost open block."""
        self.origin: tuple[Op, ...] = ()
        """The operation that is being written, behind those in whose blocks it stands."""
        self._origins = origins
        self._written_for: dict[int, tuple[Op, ...]] = {}
        self._ranges, self._uncalled = ranges, uncalled
        self._lines: list[str] = []
        self._indent = 1
        self._marks: list[int] = []  # what was known before each open block
        self._declared: dict[int, str] = {}  # the line of each declaration, and its name
        self._idle_if_unread: dict[int, tuple[Scope, tuple[Code, ...]]] = {}
        self._reads: Counter[int | str] = Counter()
        self._stored: set[str] = set()

    def add(self, text: str) -> None:
        """One more line."""
        if self._origins is not None:
            self._written_for[len(self._lines)] = self.origin
        self._lines.append(f"{'    ' * self._indent}{text}" if text else "")

    def open(self, text: str = "") -> None:
        """Open a block, behind some text."""
        self.add(f"{text} {{" if text else "{")
        self._enter()

    @property
    def count(self) -> int:
        """How many lines there are."""
        return len(self._lines)

    def reopened_as(self, text: str) -> None:
        """The block that was opened by the last line is opened behind another text."""
        self._lines[-1] = f"{'    ' * (self._indent - 1)}{text} {{"

    def close(self, text: str = "}") -> None:
        """Close the innermost block."""
        assert self.scope.parent is not None
        self.scope = self.scope.parent
        self._indent -= 1
        self._ranges.forget(self._marks.pop())
        self.add(text)

    def reopen(self, text: str) -> None:
        """Close a block, and open the one that follows it in the same line."""
        self.close(f"}} {text} {{")
        self._enter()

    @contextmanager
    def block(self, text: str = "") -> Iterator[None]:
        """A block around what is written in the meantime."""
        self.open(text)
        yield
        self.close()

    def loop(self, name: str, start: object, end: str, step: str = "1", also: str = "") -> None:
        """Open a loop that counts a new variable up to below an end, as long as a variable holds, if one is given."""
        increment = f"++{name}" if step == "1" else f"{name} += {step}"
        self.open(f"for (int64_t {name} = {start}; {name} < {end}{' && ' * bool(also)}{also}; {increment})")
        self.scope.reserve(name)

    def counter(self, hint: str, otherwise: str) -> str:
        """A name for the variable of a loop that is opened next."""
        return Scope(self.scope).declare(hint, otherwise)

    def directive(self, *lines: str) -> None:
        """Lines for compilers that know OpenMP: others would warn of them."""
        self._lines += ["#if defined(_OPENMP)", *lines, "#endif"]

    def declare(self, hint: str, otherwise: str, type: str, value: Code, *, const: bool = True) -> str:
        """Declare a variable with a value; gives its name, as near to hint as can be."""
        name = self.scope.declare(hint, otherwise)
        self.declaration(name, f"{'const ' if const else ''}{type} {name} = {value};")
        return name

    def declare_vector(self, name: str, declared: str, value: str, *parts: Code) -> None:
        """Declare a vector that is left out if nobody reads it; `parts` are what its value reads."""
        self._idle_if_unread[len(self._lines)] = self.scope, parts
        self.declaration(name, f"const {declared} = {value};")

    def keep(self, hint: str, otherwise: str, type: str, value: Code, *, const: bool = True) -> Code:
        """Declare a variable with a value that is read; gives the variable."""
        return Code(self.read(self.declare(hint, otherwise, type, value, const=const)))

    def without_value(self, hint: str, otherwise: str, type: str) -> str:
        """Declare a variable that gets its value later; gives its name."""
        name = self.scope.declare(hint, otherwise)
        self.declaration(name, f"{type} {name};")
        return name

    def declaration(self, name: str, text: str) -> None:
        """The line that declares a name of the innermost block."""
        self._declared[len(self._lines)] = name
        self.scope.declared[name] = len(self._lines)
        self.add(text)

    def read(self, *names: str) -> str:
        """Note that some variables are read; gives the first."""
        self._reads.update(map(self.scope.declaration_of, names))
        return names[0]

    def stored(self, name: str) -> None:
        """Note that there is a store through a pointer."""
        self._stored.add(name)

    def uses(self, parameter: str) -> bool:
        """Whether a statement reads a parameter of the function, or stores through it."""
        return self._reads[parameter] > 0 or parameter in self._stored

    def unread(self, name: str) -> None:
        """Note that one of the expressions that read a variable is not written."""
        self._reads[self.scope.declaration_of(name)] -= 1

    def drop(self, *codes: Code) -> None:
        """Note that expressions are not written after all."""
        for code in codes:
            self._uncalled(code.function)
            if code.parts:
                self.drop(*code.parts)
            else:
                self.unread(code.text)

    def finish(self) -> list[str]:
        """The lines, with what nobody reads marked as such: some operations do not read all of their operands."""
        lines: list[str] = []
        idle = self._idle()
        for at, line in enumerate(self._lines):
            if at in idle:
                continue
            shown = wrapped(line)
            lines += shown if self._origins is None else self._origins.marked(shown, self._written_for.get(at, ()))
            if at in self._declared and self._reads[at] <= 0:
                name = self._declared[at]
                what = name if " = " in line else f"&{name}"  # what has no value yet must not be read
                lines.append(f"{' ' * indent_of(line)}(void){what};")
        return lines

    def _enter(self) -> None:
        self._indent += 1
        self.scope = Scope(self.scope)
        self._marks.append(self._ranges.mark())

    def _idle(self) -> set[int]:
        """The lines that declare vectors which nobody reads, but for others that are left out."""
        idle: set[int] = set()
        for at, (scope, parts) in reversed(self._idle_if_unread.items()):
            if self._reads[at] <= 0 and not self._is_named_behind(at, idle):
                self.scope = scope
                self.drop(*parts)
                idle.add(at)
        return idle

    def _is_named_behind(self, at: int, idle: Collection[int]) -> bool:
        """Whether the block of a declaration names it once more: what was not noted as read is there all the same."""
        indent, name = indent_of(self._lines[at]), re.compile(rf"\b{self._declared[at]}\b")
        for other in range(at + 1, len(self._lines)):
            line = self._lines[other]
            if line and not line.startswith("#") and indent_of(line) < indent:
                return False  # the block ends
            if other not in idle and name.search(line):
                return True
        return False
