"""Random kernels with planted accesses outside of arrays: `python -m tests.boundscheck.run --count 200 --seed 1`.

Each kernel is compiled with every access checked, and called on arrays between guard pages, so that an access that
nobody stopped ends the process. Without a planted access it must give what the interpreter gives; with one it must
raise with the line, the array, the index and the size, where the interpreter stops, too. With `--unchecked` the kernels
are compiled without checks, which shows that the guards do end a process.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

import affdsl as af
from affdsl.ir.interpreter.environment import InterpreterError
from tests.boundscheck.programs import Planted, Program, generate, plant
from tests.harness.command import parser, seeds
from tests.harness.guarded import SIDES, Side, guarded
from tests.harness.processes import Death, answers

PLANTED = 4
"""So many calls of each kernel have a planted access."""


@dataclass(frozen=True)
class Verdict:
    """What was found out about one kernel; `wrong` is empty if all is right."""

    seed: int
    planted: int = 0
    quiet: int = 0
    """Calls in which nothing is to be found: without a planted access, or with one that is not made."""
    wrong: str = ""


def build(program: Program, folder: Path, *, checked: bool) -> tuple[af.Kernel, Path]:
    """The kernel of a program, and the file that it was written in."""
    path = folder / "kernels.py"
    path.write_text(program.text, encoding="utf-8")
    names: dict[str, object] = {"CHECKED": checked, "__name__": "kernels"}
    exec(compile(program.text, str(path), "exec"), names)  # the text is ours
    made = names["kernel"]
    assert isinstance(made, af.Kernel)
    return made.apply(program.pipeline) if program.pipeline else made, path


def judge(seed: int, folder: Path, *, checked: bool = True) -> Verdict:
    """Build and call the kernel of a seed."""
    program, chance = generate(seed), random.Random(seed)
    kernel, path = build(program, folder, checked=checked)
    quiet, planted = 0, 0
    for side in SIDES:
        if wrong := _same(kernel, program.arguments, side):
            return Verdict(seed, wrong=f"nothing is planted, {wrong}")
        quiet += 1
    for k in range(PLANTED):
        arguments, what = plant(program, chance)
        if what is None:
            quiet += 1
            wrong = _same(kernel, arguments, SIDES[k % 2])
        else:
            planted += 1
            wrong = _found(kernel, arguments, SIDES[k % 2], what, path, program.text)
        if wrong:
            return Verdict(seed, wrong=f"{what}: {wrong}")
    return Verdict(seed, planted, quiet)


def _same(kernel: af.Kernel, arguments: dict[str, np.ndarray], side: Side) -> str:
    """What is wrong with a call in which nothing is to be found."""
    expected = {name: array.copy() for name, array in arguments.items()}
    given = {name: guarded(array, side) for name, array in arguments.items()}
    kernel.interpret(**expected)
    try:
        kernel(**given)
    except af.AffdslError as error:
        return f"{type(error).__name__}: {error}"
    different = [name for name in expected if not np.array_equal(expected[name], given[name])]
    return f"{', '.join(different)} differ from what the interpreter gives" if different else ""


def _found(
    kernel: af.Kernel, arguments: dict[str, np.ndarray], side: Side, planted: Planted, path: Path, text: str
) -> str:
    """What is wrong with a call that must raise."""
    given = {name: guarded(array, side) for name, array in arguments.items()}
    spot = planted.spot
    line = next(n for n, written in enumerate(text.splitlines(), 1) if written.strip() == spot.line.strip())
    try:
        kernel.interpret(**arguments)
    except InterpreterError as error:
        if f"{path}:{line}:" not in str(error) or "out of bounds" not in str(error):
            return f"the interpreter says {error}"
    else:
        return "the interpreter finds nothing"
    try:
        kernel(**given)
    except af.OutOfBoundsError as error:
        at = error.dimension
        if not str(error).startswith(f"{path}:{line}: {spot.array}["):
            return f"not {path}:{line} of {spot.array}: {error}"
        if at is None or (at, error.index[at], error.sizes[at]) != (spot.axis, planted.index, spot.size):
            return f"not index {planted.index}: {error}"
        words = f"index {planted.index}", f"dimension {spot.axis} of {spot.array}, which has size {spot.size}"
        lane = f" in lane {planted.lane} " if spot.lanes > 1 else ""
        return "" if all(part in str(error) for part in (*words, lane)) else f"not {words}, {lane!r}: {error}"
    return "nothing is raised"


def judged(seed: int, *, checked: bool = True) -> Verdict:
    """The verdict on the kernel of a seed, for which a folder is made."""
    with tempfile.TemporaryDirectory(prefix="boundscheck-") as folder:
        return judge(seed, Path(folder), checked=checked)


def main() -> int:
    """Judge many, and say how many planted accesses were found."""
    options = parser("tests.boundscheck.run", __doc__.split("\n", 1)[0], 200, processes=True)
    options.add_argument("--unchecked", action="store_true")
    chosen = options.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "4")
    verdicts = []
    found = answers(partial(judged, checked=not chosen.unchecked), seeds(chosen), chosen.processes)
    for seed, answer in zip(seeds(chosen), found, strict=True):
        verdict = Verdict(seed, wrong=str(answer)) if isinstance(answer, Death) else answer
        verdicts.append(verdict)
        if verdict.wrong:
            print(f"seed {verdict.seed}: {verdict.wrong}", flush=True)
    wrong = sum(bool(v.wrong) for v in verdicts)
    print(
        f"{len(verdicts)} kernels: {sum(v.planted for v in verdicts)} planted accesses found, each at its line with "
        f"array, index and size; {sum(v.quiet for v in verdicts)} calls with nothing to find, equal to the "
        f"interpreter; {wrong} kernels wrong"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
