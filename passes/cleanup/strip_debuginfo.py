"""Forgets where operations and values were written."""

from __future__ import annotations

from affdsl.ir.dialects.func import Module
from affdsl.ir.expr import Term, Value
from affdsl.ir.traverse import OpT, clone, rewrite, with_fields


def strip_debuginfo(module: Module) -> Module:
    """The same program, with no location on any operation, argument or result.

    >>> from affdsl.ir.location import Location
    >>> print(strip_debuginfo(Module((), location=Location("a.mlir", 1))).location)
    None
    """
    copies: dict[Value, Term] = {}
    copy = clone(module, copies)
    for value in copies.values():
        assert isinstance(value, Value), "clone maps values to fresh values"
        value.location = None  # nobody else holds them yet
    return _unplaced(rewrite(copy, _unplaced))


def _unplaced(op: OpT) -> OpT:
    return with_fields(op, location=None)
