"""Runs one program three ways: by the interpreter, as C, and lowered by mlir-opt; all must agree."""

from pathlib import Path
from zlib import crc32

import numpy as np

from affdsl.ir.dialects.func import Module
from affdsl.ir.interpreter import run
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from tests.codegen.c.compare import check
from tests.effort import some
from tests.harness.judges import copied
from tests.oracles import run_mlir


def interpreted(text: str, *arguments: object, **options: object) -> tuple[list[object], tuple[object, ...]]:
    """The arguments after a run of @f, and its results."""
    module = parse(text)
    verify(module)
    given = copied(arguments)
    return given, run(function(module), *given, module=module, **options)


def function(module: Module) -> object:
    return next(f for f in module.functions if f.symbol == "f")


def agree(text: str, folder: Path, *arguments: object, lowered: bool = True) -> tuple[list[object], tuple[object, ...]]:
    """Run @f of a module on copies of arguments; gives the arguments afterwards, and the results.

    mlir-opt reads it as it was given and as it is printed, every other program in one of both forms.
    """
    after, results = interpreted(text, *arguments)
    module = parse(text)
    if lowered:
        generic = crc32(text.encode()) % 2 == 1
        for shown in some((text, print_op(module, generic=generic), print_op(module, generic=not generic)), 2):
            given = copied(arguments)
            found = run_mlir(shown, "f", given)
            found = () if found is None else found if isinstance(found, tuple) else (found,)
            for a, b in zip((*after, *results), (*given, *found), strict=True):
                np.testing.assert_array_equal(a, b)
    check(module, "f", copied(arguments), folder)
    return after, results
