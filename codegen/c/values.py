"""What the values of a function are in C: names, affine expressions, or code that waits for its one use."""

from __future__ import annotations

from collections.abc import Iterable

from affdsl.codegen.c.expressions import AffineWriter, Code
from affdsl.codegen.c.lines import Lines
from affdsl.codegen.c.liveness import Liveness
from affdsl.codegen.c.ranges import Ranges
from affdsl.codegen.c.types import value_type
from affdsl.codegen.c.unit import Unit
from affdsl.ir.dialects import func
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import INDEX

LONGEST = 240
"""A folded expression longer than this gets a name instead."""


class Values:
    """What each value is called or folded into; names are declared in the lines where that is so."""

    def __init__(self, function: func.Func, live: Liveness, lines: Lines, ranges: Ranges, unit: Unit) -> None:
        self.codes: dict[Value, Code] = {}
        """The names and literals of values, which may be read again and again."""
        self.affine: dict[Value, Affine] = {}
        """The values that are affine expressions of others."""
        self.splats: dict[Value, Code] = {}
        """The vectors whose lanes are all one expression."""
        self.pending: dict[Value, Code] = {}
        """The values that are read once, and are written there."""
        self.uses = live.uses
        """How often each value is read."""
        self._local, self._lines = live.local, lines
        writer = AffineWriter(self.of, ranges, unit.helper)
        self._write, self.constraint = writer.expression, writer.constraint
        hints = {v.hint for op in walk(function) for v in (*op.defines(), *op.binds())}
        self.temporary = next((name for name in ("t", "v", "u") if name not in hints), "tmp")
        """What a value without a name is called."""
        self.counter = next((name for name in "ijklmnpqrs" if name not in hints), "i")
        """What the variable of a loop without a name is called."""

    def of(self, value: Value) -> Code:
        """value as an expression, for one use."""
        if value in self.pending:
            return self.pending.pop(value)
        if value in self.affine:
            return self.expression(self.affine[value])
        found = self.codes[value]
        self._lines.read(found.text)
        return found

    def expression(self, expr: Affine | Value | int) -> Code:
        """An affine expression in C."""
        return self._write(self.resolve(expr))

    def resolve(self, expr: Affine | Value | int) -> Affine:
        """expr without the values that are affine expressions themselves."""
        expr = Affine.of(expr)
        while any(v in self.affine for v in expr.values()):
            expr = expr.substitute(self.affine)
        return expr

    def define(self, value: Value, shown: Code) -> None:
        """value is now known as shown: folded into its one use, or under a name."""
        if not value.hint and value in self._local and len(shown.text) <= LONGEST:
            self.pending[value] = shown
        else:
            self.name(value, shown)

    def name(self, value: Value, shown: Code) -> None:
        """value is now a variable."""
        name = self._lines.declare(value.hint, self.temporary, value_type(value.type), shown)
        self.codes[value] = Code(name)

    def named(self, shown: Code, hint: str) -> Affine:
        """An index that no value of the function is, under a name."""
        value = Value(INDEX, hint)
        self.codes[value] = Code(self._lines.declare(hint, hint, "int64_t", shown))
        return Affine.of(value)

    def variable(self, value: Value, name: str) -> None:
        """value is what a variable holds that is assigned again and again."""
        self.codes[value] = Code(name, variables=frozenset((name,)))

    def takes_over(self, init: Value) -> bool:
        """Whether nobody else reads what a loop begins with, so that the loop may go on with its variable."""
        return init in self._local and init not in self.pending

    def name_readers(self, written: Iterable[object]) -> None:
        """Give names to the pending values that read what is about to be written."""
        changed = frozenset(written)
        for value, shown in list(self.pending.items()):
            if shown.buffers & changed:
                del self.pending[value]
                self.name(value, shown)

    def stable(self, value: Value) -> Code:
        """value as an expression that may be written twice."""
        shown = self.of(value)
        if shown.text.isidentifier() and not shown.variables:
            return shown
        return self._lines.keep(value.hint, self.temporary, value_type(value.type), shown)  # for this one use

    def again(self, value: Value) -> Code:
        """A scalar as an expression that may be written in a loop over lanes: a literal or a name."""
        if value in self.codes and not self.codes[value].variables:
            return self.of(value)
        return self.stable(value)

    def steady(self, shown: Code) -> Code:
        """An index as an expression that may be written again and again."""
        if shown.number is not None or (shown.text.isidentifier() and not shown.variables):
            return shown
        return self._lines.keep("", "at", "int64_t", shown)

    def steady_all(self, exprs: Iterable[Affine]) -> None:
        """Give names to what expressions read and nobody has named yet: they may be written again and again then."""
        for value in {v: None for e in exprs for v in e.values()}:
            if value in self.pending:
                self.name(value, self.pending.pop(value))

    def fixed(self, value: Value) -> Affine:
        """A size as an expression that keeps its value: of arguments and constants, or under a name."""
        expr = self.resolve(value)
        if expr.value is None or value not in self.pending:
            return expr
        self.name(value, self.pending.pop(value))
        return Affine.of(value)

    def lasting(self, shown: Code, written: frozenset[object], hint: str) -> Code:
        """shown, to be evaluated again and again while `written` is written."""
        return self._lines.keep(hint, "end", "int64_t", shown) if shown.buffers & written else shown
