"""How fast passes are, next to those of mlir-opt; and how soon a primitive answers where nothing else is asked.

    python -m benchmarks.passes [rounds] [length,...] [row,...]

Both commands read the same text, run one pass on each function, and print the result. What is measured are chains of
4, 16, 64 and 256 loop nests (see `benchmarks.chains`); 16,32,64,128,256,512 shows how the times grow:

    print         none: the text is read, verified and printed; for 4 nests, little but the start of the commands
    canonicalize  canonicalize

    tile          affine-loop-tile: sizes by how much the data exceed a cache of 4 KiB; tiles of 32
    unroll-jam    affine-loop-unroll-jam, which in both takes the first nest of each function: so there also is a chain
                  of functions
    scalrep       affine-scalrep
    fusion        affine-loop-fusion
    vectorize     affine-super-vectorize: 8 lanes

Commands take turns, and medians over the rounds are compared, start-up included: the machine may be busy, the ratio
holds. Growth is the power of the number of nests by which the time has grown since the chain before: 1 is linear, 2 is
quadratic. Loops and accesses count what stands in the results, in brackets where mlir-opt's has another number. Without
mlir-opt, affdsl is measured alone.

The primitives are those that a schedule calls, on one matrix product of three loops with sizes that are symbols, and
with sizes that are numbers. Each answer is timed with all dependences found anew, and once more in the same process.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter

from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func
from affdsl.ir.traverse import walk
from affdsl.mlir.readers import parse
from affdsl.passes.analysis.relations import forget
from affdsl.passes.transforms.interchange import interchange
from affdsl.passes.transforms.parallelize import parallelize
from affdsl.passes.transforms.tile import tile
from affdsl.passes.transforms.unroll_jam import unroll_jam
from benchmarks.chains import chain
from benchmarks.commands import MLIR_OPT, OURS, Place, exponents, place, printed, ratio, timed

LENGTHS = (4, 16, 64, 256)
ROUNDS = 3
PASSES = (
    ("print", "", ("private",)),
    ("canonicalize", "canonicalize", ("private",)),
    ("tile, cache", "affine-loop-tile{cache-size=4}", ("own memrefs", "one memref")),
    ("tile, 32", "affine-loop-tile{tile-size=32}", ("own memrefs", "one memref")),
    ("unroll-jam", "affine-loop-unroll-jam", ("own memrefs", "functions")),
    ("scalrep", "affine-scalrep", ("reloaded", "one memref")),
    ("fusion", "affine-loop-fusion", ("private", "constants", "reloaded", "own memrefs", "stencil")),
    ("vectorize", "affine-super-vectorize{virtual-vector-size=8}", ("private", "varied")),
)
"""What a row is called, the pass with its options, and the chains that it is given."""
PRODUCT = """
func.func @gemm(%A: memref<{m}x{k}xf64>, %B: memref<{k}x{n}xf64>, %C: memref<{m}x{n}xf64>{sizes}) {{
  affine.for %i = 0 to {M} {{
    affine.for %j = 0 to {N} {{
      affine.for %k = 0 to {K} {{
        %a = affine.load %A[%i, %k] : memref<{m}x{k}xf64>
        %b = affine.load %B[%k, %j] : memref<{k}x{n}xf64>
        %c = affine.load %C[%i, %j] : memref<{m}x{n}xf64>
        %p = arith.mulf %a, %b : f64
        %s = arith.addf %c, %p : f64
        affine.store %s, %C[%i, %j] : memref<{m}x{n}xf64>
      }}
    }}
  }}
  return
}}
"""
SIZES = {
    "symbols": {"m": "?", "n": "?", "k": "?", "M": "%m", "N": "%n", "K": "%k0",
                "sizes": ", %m: index, %n: index, %k0: index"},
    "numbers": {"m": 500, "n": 600, "k": 700, "M": 500, "N": 600, "K": 700, "sizes": ""},
}  # fmt: skip
BURST = 7


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    lengths = [int(n) for n in sys.argv[2].split(",")] if len(sys.argv) > 2 else LENGTHS
    rows = sys.argv[3].split(",") if len(sys.argv) > 3 else [name for name, _, _ in PASSES]
    if MLIR_OPT is None:
        print("mlir-opt not on PATH, not measured")
    print(f"seconds, medians of {rounds} rounds; ratios are affdsl / mlir-opt, medians of the pairs")
    print(
        "pass         chain         nests           loops        accesses   affdsl (growth)   mlir-opt (growth)   ratio"
    )
    with place() as at:
        for name, row, kinds in (each for each in PASSES if each[0] in rows):
            at.file.write_text(chain(kinds[0], 2), encoding="utf-8")
            measure(row, at, 1)
            for kind in kinds:
                report(name, row, kind, lengths, rounds, at)
    if len(sys.argv) > 3:
        return
    print(f"\nmilliseconds for one answer on a matrix product, medians of {BURST}")
    print("primitive                     sizes      anew   again")
    for sizes, given in SIZES.items():
        function = parse(PRODUCT.format(**given)).functions[0]
        for name, ask in primitives(function).items():
            anew, again = answers(ask)
            print(f"{name:28}  {sizes:8} {anew * 1e3:6.1f}  {again * 1e3:6.1f}")


def report(name: str, row: str, kind: str, lengths: list[int] | tuple[int, ...], rounds: int, at: Place) -> None:
    """The lines of one pass and one kind of chain."""
    medians: list[list[float]] = []
    for n, length in enumerate(lengths):
        at.file.write_text(chain(kind, length), encoding="utf-8")
        made, ours, theirs = measure(row, at, rounds)
        medians.append([median(column) for column in (ours, theirs) if column])
        growth = [exponents(column, lengths)[n] for column in zip(*medians, strict=True)]
        shown = [f"{seconds:9.3f} ({by:>4})" for seconds, by in zip(medians[-1], growth, strict=True)]
        loops, accesses = ("/".join(dict.fromkeys(map(str, counts))) for counts in zip(*made, strict=True))
        counted = f"{length:6} {loops:>15} {accesses:>15}"
        print(f"{name:12} {kind:12} {counted} {'   '.join(shown)} {ratio(ours, theirs):>9}", flush=True)


def measure(row: str, at: Place, rounds: int) -> tuple[list[tuple[int, int]], list[float], list[float]]:
    """The numbers of loops and accesses in the results of affdsl and of mlir-opt; their seconds."""
    flags = (f"--pass-pipeline=builtin.module(func.func({row}))",) if row else ()
    commands = [OURS] if MLIR_OPT is None else [OURS, (MLIR_OPT,)]
    texts = [printed(command, flags, at) for command in commands]
    made = [(text.count("affine.for"), text.count("affine.load") + text.count("affine.store")) for text in texts]
    seconds: list[list[float]] = [[], []]
    for _ in range(rounds):
        for command, column in zip(commands, seconds, strict=False):
            column.append(timed(command, (*flags, "-o", "/dev/null"), at)[0])
    return made, seconds[0], seconds[1]


def primitives(function: Func) -> dict[str, Callable[[], object]]:
    """What a person asks of a product of three loops."""
    i, j, k = (op.iv for op in walk(function) if isinstance(op, affine.For))
    return {
        "interchange i, j": lambda: interchange(function, i, j),
        "tile i, j, k by 64, 64, 256": lambda: tile(function, (i, j, k), (64, 64, 256)),
        "unroll_jam i by 4": lambda: unroll_jam(function, i, 4),
        "parallelize i": lambda: parallelize(function, i),
    }


def answers(ask: Callable[[], object]) -> tuple[float, float]:
    """Seconds for an answer where nothing is known, and where all has been asked before."""
    times: list[list[float]] = [[], []]
    for _ in range(BURST):
        forget()
        for column in times:
            start = perf_counter()
            ask()
            column.append(perf_counter() - start)
    anew, again = map(median, times)
    return anew, again


if __name__ == "__main__":
    main()
