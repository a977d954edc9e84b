"""Loops on vectors, as the tests of `vectorize` look at them."""

from __future__ import annotations

from typing import Any

from affdsl.ir.dialects import affine, func
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.transforms.vectorize import vectorize


def wide(module: func.Module, width: int, tail: str = "scalar", **options: Any) -> func.Module:
    """The first function with its first loop on vectors, read again from its text."""
    function = module.functions[0]
    iv = next(op.iv for op in walk(function) if isinstance(op, affine.For))
    made = parse(print_op(vectorize(function, iv, width, tail=tail, module=module, **options)))
    verify(made)
    return made
