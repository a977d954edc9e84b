"""How fast dependences are found, next to mlir-opt's test pass: all pairs of accesses, at all depths.

    python -m benchmarks.analysis [rounds] [length,...]

Both read the same text, decide for each pair of accesses and each depth whether there is a dependence and at which
distances, and print a remark for each answer. What is measured are chains of 4, 16, 64 and 256 loop nests, two deep:

    one memref    each nest reads and writes the one buffer: every pair may depend
    own memrefs   each reads what the one before wrote, and writes a buffer of its own
    varied        one buffer, and each nest has bounds, a step and subscripts of its own: hardly two pairs are alike
    stencil       five points of a buffer are read for each point of the next one

The commands take turns, and medians over the rounds are compared: the machine may be busy, the ratio holds. Besides
`affdsl opt` as a whole, start-up of Python included, its analysis alone is timed inside a process: reading, verifying
and all answers. Growth is how much longer it takes than the chain before, which has sixteen times fewer pairs. Without
mlir-opt, affdsl is measured alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter

LENGTHS = (4, 16, 64, 256)
ROUNDS = 3
FLAGS = ("--test-memref-dependence-check", "--mlir-print-op-on-diagnostic=false", "-o", "/dev/null")
MLIR_OPT = shutil.which("mlir-opt-22") or shutil.which("mlir-opt")
OURS = [sys.executable, "-m", "affdsl", "opt"]
ALONE = """
import sys
from time import perf_counter
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from passes.memref_dependence_check import memref_dependence_check
with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
start = perf_counter()
module = parse(text)
verify(module)
count = sum(len(remarks.messages) for remarks in memref_dependence_check(module))
print(perf_counter() - start)
"""
TYPE = "memref<64x64xf32>"
NEST = """\
  affine.for %i = {i} {{
    affine.for %j = {j} {{
{body}    }}
  }}
"""


def chain(kind: str, length: int) -> str:
    """A function with so many nests of a kind."""
    count = {"one memref": 1, "own memrefs": length + 1, "varied": 1, "stencil": length + 1}[kind]
    arguments = ", ".join(f"%A{k}: {TYPE}" for k in range(count))
    return f"func.func @f({arguments}) {{\n{''.join(_nests(kind, length))}  return\n}}\n"


def _nests(kind: str, length: int) -> Iterator[str]:
    for k in range(length):
        inside = {"i": "1 to 63", "j": "1 to 63"}
        match kind:
            case "one memref":
                yield NEST.format(**inside, body=_copied(0, "%i - 1, %j", 0, "%i, %j"))
            case "own memrefs":
                yield NEST.format(**inside, body=_copied(k, "%i - 1, %j", k + 1, "%i, %j"))
            case "varied":
                a, b, step = k % 29, (k * 7) % 31, 1 + k % 3
                i, j = f"{a} to {a + 30}", f"{b} to {33 + b} step {step}"
                yield NEST.format(i=i, j=j, body=_copied(0, f"%i + {k % 4}, %j", 0, f"%i, {63 - b // 2} - %j + {b}"))
            case "stencil":
                points = ("%i, %j", "%i - 1, %j", "%i + 1, %j", "%i, %j - 1", "%i, %j + 1")
                loads = [f"      %v{n} = affine.load %A{k}[{at}] : {TYPE}\n" for n, at in enumerate(points)]
                sums = [
                    f"      %s{n} = arith.addf {'%v0' if n == 1 else f'%s{n - 1}'}, %v{n} : f32\n" for n in range(1, 5)
                ]
                store = f"      affine.store %s4, %A{k + 1}[%i, %j] : {TYPE}\n"
                yield NEST.format(**inside, body="".join((*loads, *sums, store)))


def _copied(source: int, read: str, target: int, written: str) -> str:
    return (
        f"      %v = affine.load %A{source}[{read}] : {TYPE}\n      affine.store %v, %A{target}[{written}] : {TYPE}\n"
    )


def whole(command: list[str], path: Path, environment: dict[str, str]) -> tuple[float, int]:
    """Seconds for a command, and how many remarks it prints."""
    start = perf_counter()
    done = subprocess.run([*command, *FLAGS, str(path)], check=True, stderr=subprocess.PIPE, env=environment)
    return perf_counter() - start, done.stderr.count(b": remark: ")


def alone(path: Path, environment: dict[str, str]) -> float:
    """Seconds for reading, verifying and the answers, in a process that has imported all of it."""
    command = [sys.executable, "-c", ALONE, str(path)]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment, text=True).stdout)


def measure(path: Path, rounds: int, environment: dict[str, str]) -> tuple[int, list[float], list[float], list[float]]:
    """The number of remarks; seconds of affdsl, of its analysis alone, and of mlir-opt."""
    ours: list[float] = []
    inside: list[float] = []
    theirs: list[float] = []
    for _ in range(rounds):
        seconds, count = whole(OURS, path, environment)
        ours.append(seconds)
        inside.append(alone(path, environment))
        if MLIR_OPT is not None:
            seconds, other = whole([MLIR_OPT], path, environment)
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
    with tempfile.TemporaryDirectory() as folder:
        # An installed affdsl is compiled once; so is this one, by the run that warms up.
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        environment |= {"PYTHONPATH": str(Path(__file__).parent.parent), "PYTHONPYCACHEPREFIX": folder}
        path = Path(folder) / "chain.mlir"
        path.write_text(chain("one memref", 2), encoding="utf-8")
        measure(path, 1, environment)
        print(f"seconds, medians of {rounds} rounds; ratios are affdsl / mlir-opt, medians of the pairs")
        print("chain         nests  remarks   affdsl (growth)   analysis alone (growth)   mlir-opt (growth)   ratio")
        for kind in ("one memref", "own memrefs", "varied", "stencil"):
            before: list[float] = []
            for length in lengths:
                path.write_text(chain(kind, length), encoding="utf-8")
                count, *columns = measure(path, rounds, environment)
                middles = [median(column) for column in columns if column]
                growth = [f"{new / old:6.1f}" for new, old in zip(middles, before, strict=True)] if before else []
                shown = [
                    f"{seconds:9.3f} ({growth[n].strip() if growth else '-':>4})" for n, seconds in enumerate(middles)
                ]
                ratio = (
                    f"{median(a / b for a, b in zip(columns[0], columns[2], strict=True)):7.2f}" if columns[2] else ""
                )
                print(f"{kind:12} {length:6} {count:8} {'   '.join(shown)} {ratio}", flush=True)
                before = middles


if __name__ == "__main__":
    main()
