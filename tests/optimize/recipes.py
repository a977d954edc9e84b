"""Small kernels with what `optimize()` is to choose for them: the texts of `recipes/`, a file for each room.

How they are written says `tests.harness.rows`. A row begins with the way to optimize: `avx2 2 M=32 reassociate` is for
that target and two threads, with a size fixed, where sums may be in any order. `only` is looked at and not run; of
`unfit` the recipe itself (`take` of a file, or another function that is named) refuses the kernel, with the reason; in
front of either, `long` is for the long run.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

import affdsl as af
from benchmarks.everyday import LOOPS
from benchmarks.fusion import CHAINS
from benchmarks.polybench.suite import SUITE
from tests.harness import rows as texts
from tests.harness.rows import Expected, Program
from tests.optimize.ways import Way

FILES = {path.stem: path for path in sorted(Path(__file__).with_name("recipes").glob("*.txt"))}
SIZE = 77
"""How large the loops of `benchmarks.everyday` are with arguments of their own."""
ELSEWHERE = {
    each.name: each
    for each in (
        *(Program(f"everyday.{x.name}", x.kernel, own=lambda random, x=x: x.arguments(random, SIZE)) for x in LOOPS),
        *(Program(f"fusion.{name}", x.kernel) for name, x in CHAINS.items()),
        *(Program(f"polybench.{x.name}", x.kernel) for x in SUITE),
    )
}


@dataclass(frozen=True)
class Row:
    """A kernel, how it is optimized, and what must come out.

    Attributes
    ----------
    kind
        Whether it is run ("runs"), only looked at ("only"), or refused by a recipe ("unfit").
    """

    program: Program
    kind: str
    is_long: bool
    way: Way
    fixed: dict[str, int]
    expected: Expected
    recipe: str = ""
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.program.name}: {self.recipe} {self.way}"

    def optimized(self) -> af.Kernel:
        """The kernel, optimized so."""
        kernel = self.program.kernel
        return self.way.of(kernel.specialize(**self.fixed) if self.fixed else kernel)


def _row(program: Program, line: str) -> Row:
    head, _, rest = line.partition(": ")
    words = head.split()
    if is_long := words[0] == "long":
        words.pop(0)
    kind = words.pop(0) if words[0] in ("only", "unfit") else "runs"
    recipe = words.pop(0) if kind == "unfit" else ""
    target, words = (words[0], words[1:]) if words else ("avx512", [])
    threads = int(words.pop(0)) if words and words[0].isdigit() else 1
    fixed = {name: int(size) for name, _, size in (word.partition("=") for word in words if "=" in word)}
    way = Way(target, threads, tuple(word for word in words if "=" not in word))
    if kind == "unfit":
        return Row(program, kind, is_long, way, fixed, [], recipe, ast.literal_eval(rest))
    return Row(program, kind, is_long, way, fixed, texts.expected(rest))


def kernels(file: str) -> dict[str, af.Kernel]:
    """The kernels of a file of `recipes`, by name."""
    return texts.kernels(FILES[file])


def rows() -> list[Row]:
    """All rows of all files."""
    found = [each for path in FILES.values() for each in texts.programs(path, ELSEWHERE)]
    return [_row(program, line) for program, lines in found for line in lines]
