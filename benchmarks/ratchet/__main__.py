"""Races a commit of this project against the working tree: how many times longer calls of optimized kernels take there.

    python -m benchmarks.ratchet --against e01686d0
    python -m benchmarks.ratchet --against HEAD~3 --quick
    python -m benchmarks.ratchet --against e01686d0 --suites polybench --sizes LARGE --compilers clang --only atax mvt
    python -m benchmarks.ratchet --against written --rows all

The commit is taken out of the repository and installed beside it, in `build/ratchet`. Both sides make the same
kernels, those of today's benchmarks, each in a process of its own. They take turns on one core, with arrays at the same
places: where NumPy places them (large ones lie 16 bytes behind a page) and on lines of the cache. Above 1, the working
tree is faster; after the ratio are the quartiles of the turns. What strays by more than 10% is raced again in new
processes, twice, and what is in the middle counts. Strict results must be the same to the bit, others nearly so.

`--against written` races the kernels as they are written, by the working tree, against what `optimize()` makes of them;
`--against strict`, or names of permissions with commas between, what it makes of them with fewer permissions.

What is known of the same two states on the same machine is kept, and not raced again: the command can be cut short, and
goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from hashlib import sha256
from itertools import product
from pathlib import Path
from shutil import which
from statistics import geometric_mean, median

from benchmarks.ratchet.programs import POLYBENCH_SIZES, SUITES, programs
from benchmarks.ratchet.race import Cell, Group, Pairs, cells
from benchmarks.ratchet.states import FOLDER, ROOT, State, commit, contents, working_tree
from benchmarks.ratchet.worker import PERMISSIONS

FELL, ROSE, AGAIN = 0.9, 1.1, 2
QUICK = {"polybench": 3, "pipelines": 3, "everyday": 6, "patterns": 12, "reworded": 12, "idioms": 12, "fields": 12}
"""Of so many kernels of a suite a quick run races one."""


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; 1 where a result is wrong or a side fails."""
    line = options().parse_args(words)
    unknown = {*(line.only or ())} - {program.name for suite in line.suites for program in programs(suite)}
    if unknown:
        print(f"--only: {', '.join(line.suites)} have no kernel {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    newer = working_tree()
    is_commit = line.against not in ("written", "strict") and not set(line.against.split(",")) <= set(PERMISSIONS)
    try:
        older = commit(line.against) if is_commit else newer
    except (ValueError, subprocess.CalledProcessError) as error:
        print(f"--against {line.against}: {error}", file=sys.stderr)
        return 2
    compilers = {name: path for name in line.compilers if (path := compiler(name))}
    for name in sorted(set(line.compilers) - set(compilers)):
        print(f"{name} is not on PATH")
    if not compilers:
        return 2
    FOLDER.mkdir(parents=True, exist_ok=True)
    file = FOLDER / f"{line.against if not is_commit else older.contents}-{newer.contents}-{machine(compilers)}.jsonl"
    known = {} if line.anew or not file.exists() else {c.key: c for c in map(Cell.of, file.read_text().splitlines())}
    print(f"older: {older.name if is_commit else line.against}; newer: {newer.name}; {file.relative_to(FOLDER.parent)}")
    found: list[Cell] = []
    with file.open("w" if line.anew else "a", encoding="utf-8") as out:
        for cell in raced(line, list(compilers.values()), (older, newer), None if is_commit else line.against, known):
            if cell.key not in known and cell.ratio:
                print(kept(cell), file=out, flush=True)
            print(row(cell), flush=True)
            found.append(cell)
    print(summary(found))
    return int(any(cell.note for cell in found))


def options() -> argparse.ArgumentParser:
    """What the command takes."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.ratchet", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--against", required=True, help="a commit, or `written`, `strict`, or permissions")
    parser.add_argument("--suites", nargs="+", choices=SUITES, default=[*SUITES])
    parser.add_argument("--sizes", nargs="+", choices=POLYBENCH_SIZES, help="of PolyBench (default: all)")
    parser.add_argument("--rows", nargs="+", default=["strict", "all"], help="(default: strict all)")
    parser.add_argument("--compilers", nargs="+", choices=("gcc", "clang"), default=["gcc", "clang"])
    parser.add_argument("--placements", nargs="+", choices=("numpy", "lines"), default=["numpy", "lines"])
    parser.add_argument("--only", nargs="+", help="names of kernels")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a share of the kernels, at MEDIUM, as NumPy places them")
    parser.add_argument("--anew", action="store_true", help="forget what is known of these two states")
    return parser


def raced(
    line: argparse.Namespace,
    compilers: list[str],
    states: tuple[State, State],
    other: str | None,
    known: dict[str, Cell],
) -> Iterator[Cell]:
    """All cells, as soon as they are there; those that stray at last."""
    stray: list[Cell] = []
    sizes = ["MEDIUM"] if line.quick else line.sizes
    placements = ["numpy"] if line.quick else line.placements
    for path, suite, which_row in product(compilers, line.suites, line.rows):
        rows = None if other is None else (other, which_row)
        with closing(Pairs(*states, rows)) as pairs:
            for program in programs(suite)[:: QUICK[suite] if line.quick else 1]:
                if line.only and program.name not in line.only:
                    continue
                group = Group(suite, program.name, which_row, path, line.threads)
                at = [size for size in program.arguments if suite != "polybench" or not sizes or size in sizes]
                wanted = list(product(at, placements))
                old = [known[key] for each in wanted if (key := Cell(group, *each).key) in known]
                yield from old
                seen = {cell.key for cell in old}
                missing = [each for each in wanted if Cell(group, *each).key not in seen]
                for cell in cells(pairs, group, missing) if missing else ():
                    if cell.note or FELL <= cell.ratio <= ROSE:
                        yield cell
                    else:
                        stray.append(cell)
    for cell in stray:
        yield settled(cell, states, None if other is None else (other, cell.group.row))


def settled(cell: Cell, states: tuple[State, State], rows: tuple[str, str] | None) -> Cell:
    """The cell in the middle of this one and others, in new processes."""
    found = [cell]
    for _ in range(AGAIN):
        with closing(Pairs(*states, rows)) as pairs:
            found += cells(pairs, cell.group, [(cell.size, cell.placement)])
    middle = median(each.ratio for each in found)
    return next(each for each in found if each.note or each.ratio == middle)


def compiler(name: str) -> str | None:
    """The path of a compiler, if it is there."""
    return next(filter(None, map(which, ("clang-22", "clang") if name == "clang" else ("gcc",))), None)


def machine(compilers: dict[str, str]) -> str:
    """A short name of the processor, the compilers' versions, and the benchmarks that are raced."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text(encoding="utf-8").split("\n\n")[0].splitlines()
        wanted = ("cpu family", "model", "model name", "cache size")
        cpu = " ".join(line for line in lines if line.partition(":")[0].strip() in wanted)
    versions = [
        subprocess.run([p, "--version"], capture_output=True, text=True, check=True).stdout for p in compilers.values()
    ]
    return sha256("\n".join([cpu, *versions, contents(ROOT, ("benchmarks",))]).encode()).hexdigest()[:8]


def kept(cell: Cell) -> str:
    """The line of the file that `Cell.of` reads."""
    return json.dumps(asdict(cell))


def row(cell: Cell) -> str:
    """A line of the table."""
    group = cell.group
    what = (
        f"{group.suite:10}{group.name[:44]:45}{cell.size:9}{group.row:8}{Path(group.compiler).name:9}{cell.placement:6}"
    )
    if not cell.ratio:
        return f"{what}  {cell.note}"
    times = " ".join(f"{1e3 * each:10.4g}" for each in cell.seconds)
    return f"{what}{times} ms {cell.ratio:6.2f} ({cell.low:.2f} to {cell.high:.2f}) {cell.note}"


def summary(found: Sequence[Cell]) -> str:
    """Geometric means of each suite, what fell by more than 10%, and what is wrong."""
    groups: dict[str, list[float]] = defaultdict(list)
    for cell in found:
        if cell.ratio:
            suite = cell.group.suite + (f" {cell.size}" if cell.group.suite == "polybench" else "")
            name = f"{suite:18}{cell.group.row:8}{Path(cell.group.compiler).name:9}{cell.placement:6}"
            groups[name].append(cell.ratio)
    lines = ["", "geometric means, least, most, and how many"]
    lines += [
        f"{name}{geometric_mean(each):6.3f}{min(each):6.2f}{max(each):6.2f}{len(each):5}"
        for name, each in groups.items()
    ]
    fell = sorted((cell for cell in found if 0 < cell.ratio < FELL), key=lambda cell: cell.ratio)
    lines += ["", f"{len(fell)} fell by more than 10%:", *map(row, fell)]
    wrong = [cell for cell in found if cell.note]
    lines += [f"{len(wrong)} are wrong, or could not be raced:", *map(row, wrong)]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
