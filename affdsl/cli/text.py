"""MLIR text in and out, as the commands want it: the one place that knows the reader and the printer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from affdsl.errors import AffdslError
from affdsl.frozen import FrozenValue
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.messages import op_name
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.known_versions import LAST, Version
from affdsl.mlir.numbering import numbered as names_by_number
from affdsl.mlir.printer import Printer, Writer
from affdsl.mlir.readers import parse
from affdsl.mlir.registry import is_registered
from affdsl.mlir.writers import WRITERS, print_op

DIALECTS = ("affine", "arith", "builtin", "func", "math", "memref", "scf", "ub", "vector")
"""The dialects whose operations the IR has."""


class Style(FrozenValue):
    """How IR is printed."""

    generic: bool = False
    locations: bool = False
    local_scope: bool = False
    version: Version = LAST
    numbered: bool = False


def read(text: str, file: str, *, allow_unregistered: bool = False) -> Module:
    """The module of a text, verified.

    Raises ParseError or VerificationError, and AffdslError for an operation of a dialect that nobody knows, unless
    `allow_unregistered`.
    """
    module = parse(text, file)
    if not allow_unregistered:
        _refuse_unregistered(module)
    verify(module)
    return module


def read_without_module(text: str, file: str, *, allow_unregistered: bool = False) -> Module | Func:
    """The only operation of a text, verified, with no module around it that the text does not have.

    Raises what `read` raises, and AffdslError if there is another number of operations or one of another kind.
    """
    # The reader wraps several operations: with one more it always does, and the others are those of the text.
    module = parse(f"{text}\nmodule {{\n}}\n", file)
    *found, _ = module.body
    if len(found) != 1:
        raise AffdslError(f"{file}:0:0: source must contain a single top-level operation, found: {len(found)}")
    root = found[0]
    if not isinstance(root, Module | Func):
        raise AffdslError(f"{file}:0:0: passes run on a module or a function, not on {op_name(root)}")
    if not allow_unregistered:
        _refuse_unregistered(root)
    verify(root)
    return root


def show(op: Op, style: Style) -> str:
    """op as text, as mlir-opt ends it: an empty line follows what has aliases of its own."""
    text = print_op(
        op, generic=style.generic, locations=style.locations, local_scope=style.local_scope, version=style.version,
        numbered=style.numbered,
    )  # fmt: skip
    return text + ("\n" if style.local_scope else "\n\n")


def texts_of(root: Op, *, generic: bool = False, numbered: bool = False) -> dict[Op, str]:
    """The text of each operation with all that it holds, by the names that these have inside of root."""
    printer = _Texts(WRITERS, aliases=False, generic=generic, names=names_by_number(root) if numbered else None)
    printer.print(root)
    return printer.texts


class _Texts(Printer):
    """A printer that remembers which lines are which operation's."""

    def __init__(self, *writers: Mapping[type[Op], Writer], **options: Any) -> None:  # noqa: ANN401 - of any printer
        super().__init__(*writers, **options)
        self.texts: dict[Op, str] = {}
        self._begun: dict[Op, int] = {}

    def _op(self, op: Op) -> Iterator[Block] | None:
        self._begun[op] = len(self._lines)
        return super()._op(op)

    def line(self, op: Op | None, text: str) -> None:
        """Print a line, and remember those of an operation that ends with it."""
        super().line(op, text)
        if op in self._begun:
            indent = "  " * self.depth
            self.texts[op] = "\n".join([each.removeprefix(indent) for each in self._lines[self._begun[op] :]])


def _refuse_unregistered(root: Op) -> None:
    for op in walk(root):
        if isinstance(op, Opaque) and not is_registered(op.kind):
            at = op.location
            where = f"{at.file}:{at.line}:{at.column}: " if at is not None else ""
            raise AffdslError(
                f"{where}operation being parsed with an unregistered dialect: {op.kind}. If this is intended, please "
                "use --allow-unregistered-dialect"
            )
