"""MLIR's assembly text. Where this package is imported, operations print as that text."""

from importlib import import_module

from affdsl.ir.core import Op, set_printer


def _print(op: Op) -> str:
    """The text of an operation: what makes it is imported when it is first asked for."""
    text: str = import_module("affdsl.mlir.writers").print_op(op)
    return text


set_printer(_print)
