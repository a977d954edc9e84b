"""The ways to run a kernel: by the interpreter, compiled and called, and as MLIR that mlir-opt lowers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import affdsl as af
from affdsl.codegen.jit import check_sizes
from tests.harness.judges import copied
from tests.oracles import run_mlir


def lowered(kernel: af.Kernel) -> Callable[..., object]:
    """The kernel's MLIR, lowered by mlir-opt, as a callable on the kernel's arguments."""

    def run(*arguments: object) -> object:
        program = kernel.program
        shapes = [x.shape for x in arguments if isinstance(x, np.ndarray)]
        found = check_sizes(program, shapes, [x for x in arguments if not isinstance(x, np.ndarray)])
        return run_mlir(kernel.mlir(), kernel.name, [*(found[v] for v in program.sizes), *arguments])

    return run


Way = Callable[[af.Kernel], Callable[..., object]]
WAYS: tuple[Way, ...] = (
    lambda kernel: kernel.interpret,
    lambda kernel: kernel,
    lowered,
)


def agree(kernel: af.Kernel, wanted: Callable[..., object], *arguments: object, ways: Sequence[Way] = WAYS) -> None:
    """Fail unless the kernel does to copies of its arguments, and gives, what `wanted` does and gives, in all ways."""
    expected = copied(arguments)
    result = wanted(*expected)
    for way in ways:
        given = copied(arguments)
        found = way(kernel)(*given)
        for a, b in zip((*expected, *_several(result)), (*given, *_several(found)), strict=True):
            np.testing.assert_array_equal(a, b)
    assert str(af.parse(kernel.mlir())) == kernel.mlir()


def _several(result: object) -> tuple[object, ...]:
    return () if result is None else result if isinstance(result, tuple) else (result,)
