"""Every float there is, by the functions on vectors that are computed in doubles: `python -m tests.every_float.run`.

What each gives must be, to the bit, what the function of the C library gives for a double, rounded to float. On each
instruction set that has a form of its own, by gcc and by clang, once more where the compiler may fuse products and
sums. All floats take a minute or two, for each function and each way; `--step` leaves out others.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from affdsl.codegen.c.in_doubles import NEAR
from affdsl.codegen.c.vector_helpers import TARGETS
from tests.every_float.program import FLOATS, Trial, compiled, found, fused_by_compilers, trials
from tests.harness.command import Watch, chosen_from

NATIVE = ("avx512", "avx2", "sse4.2")


def main() -> None:
    """Try all floats, and print which have other results."""
    known = [target.name for target in TARGETS]
    made = argparse.ArgumentParser(prog="python -m tests.every_float.run", description=__doc__)
    made.add_argument("--functions", default=",".join(NEAR), help="names with commas, of: " + ", ".join(NEAR))
    made.add_argument("--machines", default=",".join(NATIVE), help="names with commas, of: " + ", ".join(known))
    made.add_argument("--step", type=int, default=1, help="how far apart floats are that are tried")
    made.add_argument("--hard", action="store_true", help="print those with results near the middle of two floats")
    made.add_argument("--once", action="store_true", help="by the first compiler alone, which fuses nothing by itself")
    given = made.parse_args()
    kinds = chosen_from(made, "function", given.functions, list(NEAR))
    machines = chosen_from(made, "machine", given.machines, known)
    watch, wrong = Watch(), 0
    tried = trials(machines)
    for trial in (each for each in tried if each.way.compiler != "clang-22") if given.once else _twice(tried):
        with tempfile.TemporaryDirectory() as folder:
            program = compiled(trial, kinds, Path(folder), hard=given.hard)
            print(f"{trial}: {len(range(0, FLOATS, given.step))} floats", flush=True)
            for kind in kinds:
                answer = found(program, trial, kind, given.step)
                wrong += answer.wrong
                print(f"    {kind}: {answer.wrong} wrong, doubles at most {answer.apart} apart; {watch.seconds:.0f} s")
                print("".join(f"        {line}\n" for line in answer.said), end="", flush=True)
    raise SystemExit(wrong > 0)


def _twice(each: Iterator[Trial]) -> Iterator[Trial]:
    for trial in each:
        yield trial
        yield fused_by_compilers(trial)


if __name__ == "__main__":
    main()
