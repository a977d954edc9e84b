"""Measures all suites beside their peers, and writes what came out: the data, the page, the plots, the README's table.

    python -m benchmarks.results --quick              # about 25 minutes on two cores: smaller sizes, fewer rounds
    python -m benchmarks.results                      # some hours
    python -m benchmarks.results --quick --minutes 5  # as far as that goes; the next call goes on from there
    python -m benchmarks.results --write              # nothing is measured: what is known is written again

Each program is measured by the benchmark of its suite, on one thread. What is known of these files, on this machine,
is kept in `build/results` and not measured again: the command can be cut short at any time. As soon as nothing is
missing, it writes `docs/results.json`, `docs/results.md`, `docs/plots` and the table in `README.md`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Timer

import affdsl
from benchmarks.ratchet.states import ROOT, working_tree
from benchmarks.results import machine, page, plots
from benchmarks.results.rows import Results, Row, combined

SUITES = tuple(page.SUITES)
KNOWN = ROOT / "build" / "results"
DATA, PAGE, README, PLOTS = (
    ROOT / name for name in ("docs/results.json", "docs/results.md", "README.md", "docs/plots")
)


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; 1 where something is missing still."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.results", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="smaller sizes and fewer rounds")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument("--passes", type=int, default=1, help="how often all is measured; medians count (default: 1)")
    parser.add_argument("--suites", nargs="+", choices=SUITES, default=SUITES, help="measure these only, for now")
    parser.add_argument("--anew", action="store_true", help="forget what is known")
    parser.add_argument("--write", action="store_true", help="measure nothing: write what docs/results.json holds")
    line = parser.parse_args(words)
    if line.write:
        write(Results.load(DATA))
        return 0
    about, tree = machine.about(), working_tree()
    stem = f"{tree.contents}-{machine.short(about)}-{'quick' if line.quick else 'all'}"
    files = [KNOWN / f"{stem}-{number}.jsonl" for number in range(line.passes)]
    ends, missing = time.monotonic() + 60 * line.minutes, 0
    for number, file in enumerate(files):
        if line.anew:
            file.unlink(missing_ok=True)
        for suite in line.suites:
            if number == 0 or suite in page.TIMED:
                missing += measured(suite, file, ends, quick=line.quick)
    rows = combined([read(file) for file in files])
    if missing or {row.suite for row in rows} != set(SUITES):
        print(f"{missing or 'some'} programs are missing; the same command goes on with them")
        return 1
    order = {suite: place for place, suite in enumerate(SUITES)}
    load = f"{os.getloadavg()[2]:.1f}"  # of the last quarter of an hour
    about |= {"running meanwhile, in the mean": load, "affdsl": f"{affdsl.__version__}, commit {tree.name}"}
    about |= {
        "command": command(quick=line.quick, passes=line.passes),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }
    results = Results(about, sorted(rows, key=lambda row: order[row.suite]))
    results.save(DATA)
    write(Results.load(DATA))
    return 0


def command(*, quick: bool, passes: int) -> str:
    """What measures all of it again."""
    return "python -m benchmarks.results" + " --quick" * quick + f" --passes {passes}" * (passes > 1)


def write(results: Results) -> None:
    """Write all that is made of the data."""
    PAGE.write_text(page.page(results), "utf-8")
    README.write_text(page.with_table(README.read_text("utf-8"), results), "utf-8")
    PLOTS.mkdir(exist_ok=True)
    for name, text in plots.drawn(results).items():
        (PLOTS / name).write_text(text, "utf-8")
    print(f"written: {', '.join(str(each.relative_to(ROOT)) for each in (PAGE, README, PLOTS))}")


def read(file: Path) -> list[Row]:
    """The rows that are known."""
    return [Row.of(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []


def measured(suite: str, file: Path, ends: float, *, quick: bool) -> int:
    """Measure what is missing of a suite, and keep each row as it comes; how many programs are missing still."""
    known = {row.name for row in read(file) if row.suite == suite}
    count, seen = 0, set(known)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as out:
        for answer in answers(suite, known, ends, quick=quick):
            if isinstance(answer, list):
                count = len(answer)
                continue
            rows = [Row(**each) for each in answer["rows"]]
            out.writelines(f"{row.line()}\n" for row in rows)
            out.flush()
            seen.add(rows[0].name)
            print(f"{suite:10}{len(seen):4} of {count}  {rows[0].name:44}{said(rows)}", flush=True)
    return (count or 1) - len(seen)


def said(rows: Sequence[Row]) -> str:
    """The numbers of a program on one line."""
    found = [
        row.note or f"{row.row} " + (f"{row.ratio:.2f} ({row.best})" if row.ratios else row.vectorized["affdsl"])
        for row in rows
    ]
    return ", ".join(found)


def answers(suite: str, known: set[str], ends: float, *, quick: bool) -> Iterator[list[str] | dict[str, list[dict]]]:
    """What the process of a suite says, until it is done or the time is over: first the names, then rows by program."""
    words = [sys.executable, "-m", "benchmarks.results.worker", suite, *["--quick"] * quick]
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=os.environ | machine.ONE_THREAD
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n".join(sorted(known)))
    process.stdin.close()
    clock = Timer(max(0.0, min(ends - time.monotonic(), 1e6)), process.kill)
    clock.start()
    try:
        for line in process.stdout:
            yield json.loads(line)
        if process.wait() > 0:
            print(
                f"{suite} ended with {process.returncode}; what it needs: pip install 'affdsl[bench]'", file=sys.stderr
            )
    finally:
        clock.cancel()
        process.kill()
        process.wait()


if __name__ == "__main__":
    sys.exit(main())
