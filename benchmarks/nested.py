"""How time grows with the depth of affine expressions: at most linear-and-a-bit, said by an exponent.

    python -m benchmarks.nested [name ...]

Each row of ROWS is a kind of program with one size, and what is done with it. The size doubles from its first value on;
the exponent is that of a power of the size that fits the last doublings (1 is linear), taken from the quickest of
some runs. Rows of expressions nested in each other end where the reader refuses to go deeper.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from math import log2
from time import perf_counter

from affdsl.ir.dialects.func import Module
from affdsl.ir.verifier import verify
from affdsl.mlir.printer import print_op
from affdsl.mlir.readers import parse
from passes.canonicalize import canonicalize

RUNS = 3


@dataclass(frozen=True)
class Row:
    """A program of a size, as text, and what is done with it; `sizes` are the first one and the number of doublings."""

    name: str
    text: Callable[[int], str]
    action: Callable[[str], object]
    sizes: tuple[int, int]


def nested(step: str) -> Callable[[int], str]:
    """One subscript in which `step` is put around itself, e standing for what is inside and k for how deep it is."""

    def text(depth: int) -> str:
        expr = "%i"
        for k in range(depth):
            expr = f"({step.replace('e', expr, 1).replace('k', str(k % 5 + 2))})"
        expr = expr.replace("FD", "floordiv").replace("MOD", "mod").replace("CD", "ceildiv")
        return (
            "func.func @f(%A: memref<?xf32>, %n: index) {\n  affine.for %i = 0 to %n {\n"
            f"    %0 = affine.load %A[{expr}] : memref<?xf32>\n"
            "    affine.store %0, %A[%i] : memref<?xf32>\n  }\n  return\n}\n"
        )

    return text


def functions(count: int) -> str:
    """Many small functions."""
    return "".join(
        f"func.func @f{k}(%A: memref<?xf32>, %n: index) {{\n  affine.for %i = 0 to %n {{\n"
        "    %0 = affine.load %A[%i + 1] : memref<?xf32>\n"
        "    affine.store %0, %A[%i] : memref<?xf32>\n  }\n  return\n}\n"
        for k in range(count)
    )


def read_and_print(text: str) -> str:
    """What affdsl opt does without a pass."""
    module = parse(text)
    verify(module)
    return print_op(module)


def canonical(text: str) -> Module:
    """What --canonicalize does."""
    return canonicalize(parse(text))


ROWS = (
    Row("text: floordiv of sums", nested("e FD k + %i MOD k"), read_and_print, (8, 4)),
    Row("text: mod of mod", nested("(e + k) MOD 97"), read_and_print, (6, 4)),
    Row("text: ceildiv", nested("(e + %i) CD k"), read_and_print, (6, 4)),
    Row("text: semi-affine", nested("(e + k) MOD symbol(%n)"), read_and_print, (5, 4)),
    Row("text: functions", functions, read_and_print, (100, 4)),
    Row("canonicalize: floordiv of sums", nested("e FD k + %i MOD k"), canonical, (8, 4)),
    Row("canonicalize: mod of mod", nested("(e + k) MOD 97"), canonical, (6, 4)),
)
"""The programs; a row more is a line more."""


def seconds(action: Callable[[str], object], text: str) -> float:
    """The quickest of some runs."""
    best = float("inf")
    for _ in range(RUNS):
        start = perf_counter()
        action(text)
        best = min(best, perf_counter() - start)
    return best


def main(names: list[str]) -> None:
    """Print a line for each row."""
    for row in ROWS:
        if names and not any(name in row.name for name in names):
            continue
        first, doublings = row.sizes
        sizes = [first << k for k in range(doublings)]
        row.action(row.text(first))  # what is imported and made once is not counted
        times = [seconds(row.action, row.text(size)) for size in sizes]
        exponent = log2(times[-1] / times[0]) / (doublings - 1)
        shown = "  ".join(f"{size}: {1000 * t:.1f} ms" for size, t in zip(sizes, times, strict=True))
        print(f"{row.name:32} exponent {exponent:.2f}   {shown}")


if __name__ == "__main__":
    main(sys.argv[1:])
