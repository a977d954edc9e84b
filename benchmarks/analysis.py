"""How fast dependences are found, next to mlir-opt's test pass: all pairs of accesses, at all depths.

    python -m benchmarks.analysis [rounds] [length,...]

Both read the same text, decide for each pair of accesses and each depth whether there is a dependence and at which
distances, and print a remark for each answer. What is measured are chains of 4, 16, 64 and 256 loop nests (see
`benchmarks.chains`).

The commands take turns, and medians over the rounds are compared: the machine may be busy, the ratio holds. Besides
`affdsl opt` as a whole, start-up of Python included, its analysis alone is timed inside a process: reading, verifying
and all answers. Growth is how much longer it takes than the chain before, which has sixteen times fewer pairs. Without
mlir-opt, affdsl is measured alone.
"""

from __future__ import annotations

import subprocess
import sys
from statistics import median

from benchmarks.chains import chain
from benchmarks.commands import MLIR_OPT, OURS, Place, place, ratio, timed

LENGTHS = (4, 16, 64, 256)
KINDS = ("one memref", "own memrefs", "varied", "stencil")
ROUNDS = 3
FLAGS = ("--test-memref-dependence-check", "--mlir-print-op-on-diagnostic=false", "-o", "/dev/null")
ALONE = """
import sys
from time import perf_counter
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.mlir_opt.memref_dependence_check import memref_dependence_check
with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
start = perf_counter()
module = parse(text)
verify(module)
count = sum(len(remarks.messages) for remarks in memref_dependence_check(module))
print(perf_counter() - start)
"""


def whole(command: tuple[str, ...], at: Place) -> tuple[float, int]:
    """Seconds for a command, and how many remarks it prints."""
    seconds, said = timed(command, FLAGS, at)
    return seconds, said.count(b": remark: ")


def alone(at: Place) -> float:
    """Seconds for reading, verifying and the answers, in a process that has imported all of it."""
    command = [sys.executable, "-c", ALONE, str(at.file)]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, env=at.environment, text=True).stdout)


def measure(at: Place, rounds: int) -> tuple[int, list[float], list[float], list[float]]:
    """The number of remarks; seconds of affdsl, of its analysis alone, and of mlir-opt."""
    ours: list[float] = []
    inside: list[float] = []
    theirs: list[float] = []
    for _ in range(rounds):
        seconds, count = whole(OURS, at)
        ours.append(seconds)
        inside.append(alone(at))
        if MLIR_OPT is not None:
            seconds, other = whole((MLIR_OPT,), at)
            theirs.append(seconds)
            if other != count:
                sys.exit(f"affdsl prints {count} remarks, mlir-opt {other}")
    return count, ours, inside, theirs


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    lengths = [int(n) for n in sys.argv[2].split(",")] if len(sys.argv) > 2 else LENGTHS
    if MLIR_OPT is None:
        print("mlir-opt not on PATH, not measured")
    with place() as at:
        at.file.write_text(chain("one memref", 2), encoding="utf-8")
        measure(at, 1)
        print(f"seconds, medians of {rounds} rounds; ratios are affdsl / mlir-opt, medians of the pairs")
        print("chain         nests  remarks   affdsl (growth)   analysis alone (growth)   mlir-opt (growth)   ratio")
        for kind in KINDS:
            before: list[float] = []
            for length in lengths:
                at.file.write_text(chain(kind, length), encoding="utf-8")
                count, *columns = measure(at, rounds)
                middles = [median(column) for column in columns if column]
                growth = [f"{new / old:.1f}" for new, old in zip(middles, before or middles, strict=True)]
                shown = [f"{s:9.3f} ({by if before else '-':>4})" for s, by in zip(middles, growth, strict=True)]
                compared = ratio(columns[0], columns[2])
                print(f"{kind:12} {length:6} {count:8} {'   '.join(shown)} {compared:>7}", flush=True)
                before = middles


if __name__ == "__main__":
    main()
