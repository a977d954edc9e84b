"""Whether mlir-opt makes a program touch elements in another order, though the contents at the end are right.

They are right by luck where what is stored too early or too late is overwritten later, or what is read is used by
nobody: the accesses depend on each other all the same, and no pass that asks for dependences may reorder them.
"""

from __future__ import annotations

import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from affdsl.errors import AffdslError
from affdsl.ir.core import Op
from affdsl.ir.dialects import func, memref
from affdsl.ir.traverse import walk
from affdsl.mlir.readers import parse
from tests.fuzz.elsewhere import Probe, probes
from tests.fuzz.mlir import entry_name, mlir
from tests.fuzz.program import Outlined, Program, rebuilt
from tests.harness.batch import TIME_LIMIT
from tests.oracles import require
from tests.passes.analysis.traced import Instance, trace

Line: TypeAlias = int
Touch: TypeAlias = tuple[Line, tuple[int, ...]]
"""One access in one iteration: where it is written, and the induction variables, whatever their order."""
Cell: TypeAlias = tuple[str, tuple[int, ...]]
Order: TypeAlias = Mapping[Cell, list["Touch | Counter[Touch]"]]
"""What touches each element: writes, and between them reads, whose order does not matter."""


def reordered(program: Program, pipeline: str) -> str:
    """An element whose accesses a pipeline of mlir-opt reorders; empty if there is none.

    For pipelines that do no more than to run the iterations of loops in another order.
    """
    flat = replace(program, body=rebuilt(program.body, lambda n: n.body if isinstance(n, Outlined) else n))
    text = mlir(flat)
    command = [require("mlir-opt-22"), "--mlir-print-debuginfo", f"--pass-pipeline={pipeline}", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=TIME_LIMIT, check=True)
    before, after = parse(text), parse(done.stdout)
    depths = _depths(before)
    for probe in probes(flat):
        try:
            old, new = (_order(module, probe, depths) for module in (before, after))
        except AffdslError as problem:
            return str(problem)
        for cell in old:
            if old[cell] != new.get(cell):
                return f"{cell[0]}{list(cell[1])} where {flat.symbols} = {probe.program.valuations[0]}"
    return ""


def _depths(module: func.Module) -> dict[Line, int]:
    """How many loops are around what stands in each line."""
    found: dict[Line, int] = {}

    def visit(op: Op, depth: int) -> None:
        inside = depth + len(getattr(op, "ivs", ())) + hasattr(op, "iv")
        for inner in (inner for block in op.blocks() for inner in block):
            if inner.location is not None:
                found[inner.location.line] = inside
            visit(inner, inside)

    visit(module, 0)
    return found


def _order(module: func.Module, probe: Probe, depths: Mapping[Line, int]) -> Order:
    """In which order the elements are touched in a run."""
    entry = next(f for f in module.functions if f.symbol == entry_name(probe.program))
    made = trace(entry, *probe.arguments, module=module)
    name = _names(entry)
    found: defaultdict[Cell, list[Touch | Counter[Touch]]] = defaultdict(list)
    for instance in made.instances:
        touch = _touch(instance, depths)
        for element in instance.elements:
            touched = found[name(instance), element]
            if instance.role == "write":
                touched.append(touch)
            elif touched and isinstance(touched[-1], Counter):
                touched[-1][touch] += 1
            else:
                touched.append(Counter([touch]))
    return found


def _touch(instance: Instance, depths: Mapping[Line, int]) -> Touch:
    assert instance.op.location is not None
    line = instance.op.location.line
    depth = depths[line]
    return line, tuple(sorted(instance.ivs[len(instance.ivs) - depth :]))


def _names(entry: func.Func) -> Callable[[Instance], str]:
    """What a buffer is called: its place among the arguments, or among those that are made."""
    made = [op.result for op in walk(entry) if isinstance(op, memref.Alloc)]
    names = {value: f"argument {k}" for k, value in enumerate(entry.args)}
    names |= {value: f"buffer {k}" for k, value in enumerate(made)}
    return lambda instance: names[instance.buffer.origin]  # type: ignore[index]
