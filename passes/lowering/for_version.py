"""The text of a module for a version of MLIR, or for xDSL."""

from __future__ import annotations

from affdsl.ir.dialects.func import Module
from affdsl.mlir.known_versions import LAST, Version
from affdsl.mlir.writers import print_op
from affdsl.passes.lowering.earlier_mlir import earlier_mlir
from affdsl.passes.lowering.for_xdsl import for_xdsl


def for_version(module: Module, version: Version) -> Module:
    """The same program in operations that a version has. Raises UnsupportedError where one cannot be said in it."""
    return earlier_mlir(module, version) if isinstance(version, int) else for_xdsl(module)


def text_for(module: Module, version: Version = LAST, *, numbered: bool = False) -> str:
    """The text of a module that a version reads, with values called as mlir-opt calls them if that is asked.

    Raises
    ------
    UnsupportedError
        As `for_version`.
    """
    return print_op(for_version(module, version), version=version, numbered=numbered)
