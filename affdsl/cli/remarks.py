"""What passes say of operations, as mlir-opt prints it: in the text of the input, the operation below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from affdsl.cli.diagnostics import Diagnostic
from affdsl.cli.text import texts_of
from affdsl.frozen import FrozenValue, replace
from affdsl.ir.core import Op
from affdsl.ir.dialects.func import Func
from affdsl.passes.mlir_opt.remarks import Remarks
from affdsl.passes.pipeline.manager import Root


class Said(FrozenValue):
    """Messages at one place, and `operation`: the text of what they are about, empty where it is not to be shown."""

    remarks: Remarks
    operation: str = ""

    def shown(self, text: str, file: str) -> str:
        """All messages, each with its line of `text` if it is in `file`, and the operation below it."""
        place = self._place
        before, _, after = Diagnostic(self.remarks.severity, "\0", *place).shown(text, file).partition("\0")
        if self.operation:
            note = Diagnostic("note", f"see current operation: {self.operation}", *place).shown("", file)
            after = f"{after}\n{note}"
        return "\n".join([f"{before}{message}{after}" for message in self.remarks.messages])

    def diagnostics(self) -> Iterator[Diagnostic]:
        """The messages one by one, without the operation."""
        return (Diagnostic(self.remarks.severity, message, *self._place) for message in self.remarks.messages)

    @property
    def _place(self) -> tuple[str, int, int]:
        at = self.remarks.op.location
        return ("", 0, 0) if at is None else (at.file, at.line, at.column)


class Listener:
    """Takes down what the passes of one run say; with `show_operations`, what each message is about as well."""

    def __init__(self, *, show_operations: bool, numbered: bool = False) -> None:
        self.said: list[Said] = []
        self._show_operations = show_operations
        self._numbered = numbered

    def hear(self, remarks: Iterator[Remarks], root: Root) -> None:
        """Take down what is said of operations inside of root."""
        found = [r for r in remarks if r.messages]

        @cache
        def texts(generic: bool) -> Mapping[Op, str]:
            return texts_of(root, generic=generic, numbered=self._numbered)

        for each in found:
            shown = ""
            if self._show_operations and not isinstance(each.op, Func):
                # mlir-opt prints what may be broken, as it says, in the form that all operations share.
                shown = texts(each.severity == "error")[each.op]
            if each.named:
                words = [texts(False)[op] for op in each.named]
                each = replace(each, messages=tuple([m.format(*words) for m in each.messages]))
            self.said.append(Said(each, shown))
