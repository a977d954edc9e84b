"""Tries every primitive on random programs: `python -m tests.transformations.run --count 5000 --seed 1`.

What is accepted must leave the same results to the last bit, and the validator must agree; what is refused by a
counterexample is made all the same, and mostly gives other results. Prints a row for each primitive, then the failures.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import partial
from multiprocessing import Pipe, Process
from multiprocessing.connection import Connection, wait

from passes.analysis.dependence import AnalysisWarning
from tests.transformations.check import NUMBERS, Failure, Report, Row, check
from tests.transformations.primitives import PRIMITIVES
from tests.transformations.reducing import reduced
from tests.transformations.subjects import subject

SHOWN = 3
"""So many failures of one kind are made small and shown; further ones are counted."""
CHUNK = 25
"""So many programs one process tries, where there are several: what is kept of all of them takes much memory."""
SHOWN_LINES = 30
"""So many forced steps are shown that changed nothing and should have, and so many that the validator cannot judge."""
HEADINGS = {
    "asked": "asked", "accepted": "accepted", "validated": "validated", "unchecked": "unchecked",
    "counterexamples": "refused by counterexample", "others": "refused for other reasons", "confirmed": "confirmed",
    "forced": "forced", "changed": "changed", "failures": "failures",
}  # fmt: skip


def table(report: Report) -> str:
    """A row for each primitive, and one for all."""
    total = Row()
    for row in report.rows.values():
        total.add(row)
    rows = [*((name, report.rows[name]) for name in PRIMITIVES if name in report.rows), ("all", total)]
    width = max(len(name) for name, _ in rows)
    lines = [" ".join([" " * width, *HEADINGS.values()])]
    lines += [
        " ".join([name.ljust(width), *(str(getattr(row, n)).rjust(len(HEADINGS[n])) for n in NUMBERS)])
        for name, row in rows
    ]
    for why, n in total.unchanged.most_common():
        lines.append(f"{n:6} {'not forced' if why.startswith('cannot be made') else 'forced and unchanged'}, {why}")
    return "\n".join(lines)


def tried(
    seeds: Sequence[int], names: Sequence[str] = (), *, validations: int | None = None, minutes: float = 1e9,
    progress: int = 0, processes: int = 1,
) -> Report:  # fmt: skip
    """What is found in the programs of some seeds, of as many as the time allows.

    progress
        After so many programs a line goes to stderr, and what fails or is not known at once; 0 for none.
    processes
        So many programs are tried at once.
    """
    total, start = Report(), time.monotonic()
    one = partial(_one, names=tuple(names), validations=validations)
    with closing(_in_processes(one, seeds, processes) if processes > 1 else _here(one, seeds)) as reports:
        for report in reports:
            total.add(report)
            seconds = time.monotonic() - start
            for found in (*report.failures, *report.unchecked) if progress else ():
                print(found, file=sys.stderr, flush=True)
            if progress and total.programs % progress == 0:
                line = f"{seconds:.0f} s: {total.programs} programs, {len(total.failures)} failures"
                print(line, file=sys.stderr, flush=True)
            if seconds > 60 * minutes:
                break
    return total


def _one(seed: int, names: Sequence[str], validations: int | None) -> Report:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnalysisWarning)  # what is not known is refused, and that is counted
        return check(seed, names, validations)


def _here(one: Callable[[int], Report], seeds: Sequence[int]) -> Generator[Report, None, None]:
    yield from map(one, seeds)


def _in_processes(one: Callable[[int], Report], seeds: Sequence[int], processes: int) -> Generator[Report, None, None]:
    """The reports as they come. A process that dies is a failure of its program, and another one does the rest."""
    left = deque(list(seeds[k : k + CHUNK]) for k in range(0, len(seeds), CHUNK))
    running: dict[Connection, tuple[Process, list[int]]] = {}
    try:
        while left or running:
            while left and len(running) < processes:
                ours, theirs = Pipe(duplex=False)
                chunk = left.popleft()
                process = Process(target=_sent, args=(one, tuple(chunk), theirs), daemon=True)
                process.start()
                theirs.close()
                running[ours] = process, chunk
            for connection in wait([*running]):
                assert isinstance(connection, Connection)
                process, missing = running[connection]
                try:
                    report: Report = connection.recv()
                except EOFError:
                    del running[connection]
                    process.join()
                    if missing:
                        yield _dead(missing[0], process.exitcode)
                        left.appendleft(missing[1:])
                else:
                    missing.pop(0)
                    yield report
    finally:
        for process, _ in running.values():
            process.kill()


def _sent(one: Callable[[int], Report], seeds: Sequence[int], to: Connection) -> None:
    for seed in seeds:
        to.send(one(seed))


def _dead(seed: int, status: int | None) -> Report:
    kind = f"the process ended with status {status}"
    return Report(programs=1, failures=[Failure(seed, "", ((), ()), kind, "in some step", str(subject(seed).module))])


def shown(failures: Sequence[Failure]) -> str:
    """The first failures of each kind, made small, and how many there are of each."""
    kinds = Counter[tuple[str, str]]()
    parts: list[str] = []
    for failure in failures:
        kinds[failure.primitive, failure.kind] += 1
        if kinds[failure.primitive, failure.kind] <= SHOWN:
            small = f"\nthe same, made small:\n{reduced(failure)}" if failure.primitive else ""
            parts.append(f"{failure}{small}")
    parts += [f"{n:6} {primitive}: {kind}" for (primitive, kind), n in kinds.most_common()]
    return "\n\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> int:
    """Try as many programs as asked for; the exit status says whether there was no failure."""
    parser = argparse.ArgumentParser(prog="python -m tests.transformations.run", description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so long")
    parser.add_argument("--primitives", default="", help="only these, with commas between them")
    parser.add_argument("--processes", type=int, default=1, help="try so many programs at once")
    parser.add_argument("--validations", type=int, help="accepted steps of each program to validate; default all")
    chosen = parser.parse_args(arguments)
    names = [name for name in chosen.primitives.split(",") if name]
    if unknown := set(names) - set(PRIMITIVES):
        parser.error(f"there is no primitive {', '.join(sorted(unknown))}, only {', '.join(PRIMITIVES)}")
    seeds = range(chosen.seed, chosen.seed + chosen.count)
    start = time.monotonic()
    report = tried(
        seeds, names, validations=chosen.validations, minutes=chosen.minutes, progress=20, processes=chosen.processes
    )
    print(table(report))
    seconds = time.monotonic() - start
    for line in (*report.unexplained[:SHOWN_LINES], *report.unchecked[:SHOWN_LINES]):
        print(line)
    print(f"{report.programs} programs from seed {chosen.seed} on, {seconds:.0f} s")
    if report.failures:
        print(shown(report.failures))
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
