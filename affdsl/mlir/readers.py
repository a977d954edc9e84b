"""MLIR text as a module: `parse`."""

from __future__ import annotations

import affdsl.mlir.writers  # noqa: F401 - what was read can be printed
from affdsl.ir.dialects import func
from affdsl.ir.location import Location
from affdsl.ir.traverse import with_fields
from affdsl.mlir import custom, irregular
from affdsl.mlir.parser import Parser, Reader
from affdsl.mlir.reading import foreign, forms, legacy, opaque_func, opaque_memref, opaque_vector, verbatim
from affdsl.mlir.reading.generic import read_generic

READERS: dict[str, Reader] = {
    **custom.READERS, **irregular.READERS, **forms.READERS, **opaque_func.READERS, **opaque_memref.READERS,
    **opaque_vector.READERS, **foreign.READERS, **verbatim.READERS,
}  # fmt: skip


def parse(text: str, file: str = "<mlir>", *, allow_unregistered: bool = True) -> func.Module:
    """The module that the text holds; operations without a module around them make one.

    Operations, types and attributes that the IR has no class for are kept as they are, and printed again; of
    operations that holds for the generic form, in which all of MLIR can be written. What is read is not verified:
    `affdsl.ir.verifier.verify` does that.

    Parameters
    ----------
    text
        MLIR as `print_op` and mlir-opt print it, in custom or generic form, with or without locations. Spellings of
        2019 are read too (`addf`, `dim %A, 0`, maps without `affine_map`) and print as those of today.
    file
        What messages and locations call the text.
    allow_unregistered
        Whether operations of dialects that MLIR does not know are kept; otherwise they are refused.

    Raises
    ------
    ParseError
        With the place, the line and a caret under what was not expected.

    >>> module = parse("func.func @f(%A: memref<8xf32>) { affine.for %i = 0 to 8 { } return }")
    >>> module.functions[0].symbol
    'f'
    """
    parser = Parser(text, file, READERS, legacy.READERS, read_generic, verbatim.read_unknown)
    parser.allow_unregistered = allow_unregistered
    s = parser.scanner
    ops = parser.operations()
    if s.token:
        s.fail("expected an operation")
    match ops:
        case (func.Module() as module,):
            return with_fields(module, resources=parser.resources)
    return func.Module(ops, location=Location(file, 0), resources=parser.resources)
