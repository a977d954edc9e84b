"""Fuses programs of every kind beside mlir-opt: `python -m tests.passes.mlir_opt.fusion.compare` writes the table.

What both make is run. Where mlir-opt's result is right, ours has the same loops in the same nests and no more memory
between them, or it runs no more operations and keeps fewer elements, or it keeps fewer elements within the tolerance.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np

from affdsl.errors import AffdslError
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, func, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.interpreter import Prepared
from affdsl.ir.traverse import walk
from affdsl.ir.types import INDEX
from affdsl.mlir.readers import parse
from affdsl.passes.pipeline.language import run_pipeline
from affdsl.passes.validation import Validator
from tests.mlir.batches import judge
from tests.passes.mlir_opt.fusion.short import Program, programs

HERE = Path(__file__).parent
TABLE = HERE / "table.txt"
SIZES = (0, 1, 5, 9)
COUNTED = 9
"""The size at which operations and elements are counted."""
HEAD = ("program", "before", "theirs", "ours", "verdict", "loops of theirs", "of ours", "why")


@dataclass(frozen=True)
class Measured:
    """What a version of a program is: its loops, how many operations run, and how many elements it keeps for itself."""

    loops: str
    operations: int
    elements: int

    def __str__(self) -> str:
        return f"{self.operations}, {self.elements}"

    @property
    def nests(self) -> int:
        """How many loops stand beside others."""
        return self.loops.count(")(")


@dataclass(frozen=True)
class Comparison:
    """A program after nothing, after mlir-opt, and after us; None where mlir-opt's result is wrong, or it crashes."""

    program: Program
    before: Measured
    theirs: Measured | None
    ours: Measured
    is_right: bool

    @property
    def verdict(self) -> str:
        """Which of the two is better, and in what."""
        if not self.is_right:
            return "OURS IS WRONG"
        if self.theirs is None:
            return "theirs is wrong"
        ours, theirs = self.ours, self.theirs
        if ours.loops == theirs.loops and ours.operations == theirs.operations and ours.elements <= theirs.elements:
            return "the same" if ours.elements == theirs.elements else "the same loops, less memory"
        if ours.operations <= theirs.operations and ours.elements <= theirs.elements:
            is_same = (ours.operations, ours.elements) == (theirs.operations, theirs.elements)
            if not is_same:
                return "ours is cheaper"
            return "ours fuses more" if ours.nests < theirs.nests else "OTHER LOOPS"
        if ours.elements < theirs.elements:
            return f"less memory for {100 * (ours.operations / self.before.operations - 1):.0f} % more computed"
        return "THEIRS IS CHEAPER"

    @property
    def is_no_worse(self) -> bool:
        """Whether ours is right, and at least as good."""
        return not self.verdict.isupper()

    @property
    def is_another(self) -> bool:
        """Whether the loops are others than those of mlir-opt."""
        return not self.verdict.startswith("the same")

    @property
    def cells(self) -> tuple[str, ...]:
        theirs = "-" if self.theirs is None else str(self.theirs)
        loops = "-" if self.theirs is None else self.theirs.loops
        others = (loops, self.ours.loops) if self.is_another else ("", "")
        return (self.program.title, str(self.before), theirs, str(self.ours), self.verdict, *others, self.program.why)


def comparisons() -> Iterator[Comparison]:
    """Each program beside what both make of it."""
    grouped: dict[str, list[Program]] = {}
    for program in programs((HERE / "programs.txt").read_text(encoding="utf-8")):
        options = re.search(r"{(.*)}", program.title)
        grouped.setdefault(options[1] if options else "", []).append(program)
    for options, group in grouped.items():
        flag = f"--affine-loop-fusion={options}"
        for program, verdict in zip(group, judge([each.mlir for each in group], flag), strict=True):
            assert not verdict.errors, f"{program.title}: {verdict.errors}"
            theirs = None if verdict.output is None else parse(verdict.output)
            module = parse(program.mlir)
            made = run_pipeline(module, f"builtin.module(affine-loop-fusion{{{options}}})")
            yield compared(program, module, theirs, made)


def compared(program: Program, module: func.Module, theirs: func.Module | None, ours: func.Module) -> Comparison:
    """What both sides made of a program, which is run to see whether that is right; None is a crash."""
    expected = leaves(module)
    is_right = leaves(ours) == expected and Validator(module).validate(ours).failure is None
    other = measured(theirs) if theirs is not None and leaves(theirs) == expected else None
    return Comparison(program, measured(module), other, measured(ours), is_right)


def leaves(module: func.Module) -> list[bytes | str]:
    """What a program leaves in its arguments, for some sizes; what goes wrong where something does."""
    function = module.functions[0]
    prepared = Prepared(function, module=module, uninitialised="poison")
    found: list[bytes | str] = []
    for size in SIZES if any(None in a.type.shape for a in _arrays(function)) else SIZES[-1:]:
        args = [_argument(value, k, size) for k, value in enumerate(function.args)]
        try:
            prepared.run(*args)
        except AffdslError as error:
            found.append(str(error))
        found += [a.tobytes() for a in args if isinstance(a, np.ndarray)]
    return found


def _arrays(function: func.Func) -> list[Value]:
    return [a for a in function.args if a.type != INDEX]


def _argument(value: Value, k: int, size: int) -> np.ndarray | int:
    if value.type == INDEX:
        return size
    shape = tuple(size if n is None else n for n in value.type.shape)
    return np.random.default_rng(k).integers(-99, 99, shape)


def measured(module: func.Module) -> Measured:
    """What a version of a program is, where sizes are `COUNTED`."""
    function = module.functions[0]
    used = {op.memref for op in walk(function) if isinstance(op, affine.Access)}
    elements = 0
    for op in walk(function):
        if isinstance(op, memref.Allocation) and op.result in used:
            elements += prod(COUNTED if n is None else n for n in op.result.type.shape)
    sizes = {a: COUNTED for a in function.args if a.type == INDEX}
    return Measured(_loops(function.body), _operations(function.body, sizes), elements)


def _loops(block: Block) -> str:
    """The loops of a block, each as a pair of parentheses around those that it holds."""
    return "".join(
        f"({inner})" if isinstance(op, affine.For | affine.Parallel) else inner
        for op in block
        for inner in ["".join(map(_loops, op.blocks()))]
    )


def _operations(block: Block, env: dict[Value, int]) -> int:
    """How many loads, stores and operations of arithmetic run."""
    found = 0
    for op in block:
        match op:
            case affine.Apply():
                env[op.result] = op.expr.evaluate(env)
            case affine.For() | affine.Parallel():
                found += _of_loop(op, env)
            case affine.If():
                holds = all(each.holds(env) for each in op.condition)
                found += _operations(op.then if holds else op.orelse, env)
            case arith.Constant() | memref.Allocation() | memref.Dealloc():
                pass
            case _:
                found += not op.is_terminator
    return found


def _of_loop(op: Op, env: dict[Value, int]) -> int:
    if isinstance(op, affine.Parallel):
        loops = list(zip(op.ivs, op.lower, op.upper, op.steps, strict=True))
    else:
        assert isinstance(op, affine.For)
        loops = [(op.iv, op.lower, op.upper, op.step)]

    def run(rest: Sequence[tuple[Value, Sequence[Affine], Sequence[Affine], int]]) -> int:
        if not rest:
            return _operations(op.body, env)
        (iv, lower, upper, step), *inner = rest
        found = 0
        for number in range(max(e.evaluate(env) for e in lower), min(e.evaluate(env) for e in upper), step):
            env[iv] = number
            found += run(inner)
        return found

    return run(loops)


def table(found: Sequence[Comparison]) -> str:
    """A row for each program: operations that run, and elements that are kept, before and after."""
    rows = [HEAD, *(each.cells for each in found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows) + "\n"


def main() -> int:
    """Write the table; the exit status says whether ours is right and no worse in every row."""
    found = list(comparisons())
    TABLE.write_text(table(found), encoding="utf-8")
    print(table(found))
    return 0 if all(each.is_no_worse for each in found) else 1


if __name__ == "__main__":
    sys.exit(main())
