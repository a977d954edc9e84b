"""Counts random affine programs: `python -m tests.seeing.run --count 2000 --seed 1`.

What is counted from the loops of each program must be what a run by the interpreter does: how many elements are loaded
and stored, and which bytes are touched.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import with_fields
from affdsl.mlir.readers import parse
from affdsl.seeing.counting import counted
from affdsl.seeing.nests import nests_of
from tests.fuzz.generator import generate
from tests.fuzz.judges import arguments
from tests.fuzz.mlir import entry_name, mlir
from tests.harness.command import Watch, parser, seeds
from tests.seeing.tracing import elements, total, tracing


def wrong(seed: int) -> tuple[str, bool]:
    """What is wrong with the program of a seed, and whether all of it was counted."""
    program = generate(seed)
    module = parse(mlir(program))
    entry = next(f for f in module.functions if f.symbol == entry_name(program))
    complete = True
    for number in range(len(program.valuations)):
        said, whole = differs(module, entry, arguments(program, number))
        complete = complete and whole
        if said:
            return said, complete
    return "", complete


def differs(module: Module, entry: Func, given: Sequence[np.ndarray[Any, Any] | int]) -> tuple[str, bool]:
    """What is counted otherwise than it is in a run, and whether all was counted."""
    others = (op for op in module.body if op is not entry)
    nests = nests_of(with_fields(module, body=(*others, entry)))
    pairs = [*zip(entry.args, given, strict=True)]
    known = {value: int(x) for value, x in pairs if isinstance(x, int | np.integer)}
    found = counted(nests, known, {value: x.shape for value, x in pairs if isinstance(x, np.ndarray)})
    with tracing() as trace:
        run(entry, *given, module=module)
    if found.why:
        return "", False
    work, touched = total(nests, found)
    seen = elements(work, "load"), elements(work, "store")
    if seen != (trace.loads, trace.stores):
        return f"{trace.loads} elements are loaded and {trace.stores} stored, and not {seen}", True
    there, bytes_seen = (len(trace.read), len(trace.written)), (touched.read, touched.written)
    exact = bytes_seen == there and touched.together == len(trace.read | trace.written)
    bounded = touched.at_most and bytes_seen[0] >= there[0] and bytes_seen[1] >= there[1]
    return "" if exact or bounded else f"{there} bytes are touched, and not {bytes_seen}", True


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the seeds; the exit status says whether all was right."""
    chosen, watch = parser("tests.seeing.run", __doc__, 2000).parse_args(arguments), Watch()
    failures, complete = 0, 0
    for seed in seeds(chosen):
        said, is_complete = wrong(seed)
        complete += is_complete
        if said:
            failures += 1
            print(f"seed {seed}: {said}")
    watch.say(chosen.count, f"programs, of which {complete} were counted", failures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
