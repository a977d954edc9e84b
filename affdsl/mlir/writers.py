"""Operations as MLIR text: `print_op`."""

from __future__ import annotations

from affdsl.ir.core import Op
from affdsl.ir.dialects import func
from affdsl.mlir import custom, irregular, kept
from affdsl.mlir.known_versions import LAST, Version
from affdsl.mlir.numbering import numbered as names_by_number
from affdsl.mlir.printer import Printer, Writer
from affdsl.mlir.versions import spelling

WRITERS: dict[type[Op], Writer] = {**custom.WRITERS, **irregular.WRITERS}


def print_op(
    op: Op,
    *,
    generic: bool = False,
    locations: bool = False,
    local_scope: bool | None = None,
    version: Version = LAST,
    numbered: bool = False,
) -> str:
    """op and everything inside as MLIR text.

    A module is printed as mlir-opt prints it, maps and sets as aliases (`#map`) at the top. In a function or a
    single operation they stand where they are used, which is what a person wants to read. A function is a whole
    program for mlir-opt; a single operation is not: values that nothing in it defines are called by their hints,
    and taken for symbols.

    Parameters
    ----------
    generic
        Every operation in the form that all of MLIR shares, `"name"(operands) <{properties}> : types`.
    locations
        With `loc(...)` after each operation and argument that has a place.
    local_scope
        Whether maps and sets stand where they are used; by default unless op is a module.
    version
        The version of MLIR that is to read the text, of an operation that has nothing which that version has not; xDSL
        is given the generic form.
    numbered
        Whether values are called as mlir-opt calls them, %0 and %arg0, instead of by the user's names.

    >>> from affdsl.ir.dialects import affine
    >>> from affdsl.ir.expr import Affine, Value
    >>> from affdsl.ir.types import INDEX, MemRefType
    >>> i, A = Value(INDEX, "i"), Value(MemRefType((None,), INDEX), "A")
    >>> print_op(affine.Store(i, A, (Affine.of(i) * 2 + 1,)))
    'affine.store %i, %A[%i * 2 + 1] : memref<?xindex>'
    """
    local = not isinstance(op, func.Module) if local_scope is None else local_scope
    printer = Printer(
        WRITERS,
        aliases=not local,
        generic=generic or not isinstance(version, int),
        locations=locations,
        spelling=spelling(version),
        names=names_by_number(op) if numbered else None,
        opaque={**kept.OPAQUE_WRITERS, **irregular.OPAQUE_WRITERS} if version == LAST else irregular.OPAQUE_WRITERS,
    )
    return printer.print(op)
