"""Every example, vectorized, on machines that are not here: `python -m tests.targets.machines`, with a table.

The C is compiled with strict warnings for each machine, and emulated: by qemu, between pages that nobody may touch, or
by wasmtime. What it leaves must be what the loops as written leave in C11 here, to the bit; functions as exp, which C
C libraries round in different ways, to some units in the last place. `--write` puts the table into docs/targets.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.harness.command import Watch, chosen_from
from tests.harness.machines import optimized
from tests.targets.check import Prepared, Report, check_in, prepared, subjects
from tests.targets.far import FAR, Far

PAGE = Path(__file__).parents[2] / "docs" / "targets.md"
BEGIN, END = "<!-- python -m tests.targets.machines --write -->\n", "<!-- end -->\n"
"""What stands around the table."""
HEAD = "| machine | compiled by | vectors | kernels | calls | wrong |\n|---|---|---|---|---|---|\n"
REGISTER = 128
"""Vectors are split into those of so many bits."""


def examples() -> tuple[list[Prepared], Report]:
    """All kernels of the examples, vectorized, and what was counted."""
    report = Report()
    return [prepared(subject, report) for subject in subjects(1) if "." in subject.name], report


def row(far: Far, ready: Sequence[Prepared], level: str) -> tuple[str, list[str]]:
    """The row of a machine, and what was wrong there. Skips as a test does where a tool is missing."""
    report = Report()
    way = optimized(far.way, level)
    check_in(ready, far.name, way, report, vector_types=far.vector_types, register_bits=REGISTER)
    calls = sum(len(made.cases) for made in ready)
    cells = [far.shown, f"`{far.compiled}`", far.vectors, str(report.ran[far.name]), str(calls), str(len(report.wrong))]
    return f"| {' | '.join(cells)} |\n", [f"{kernel}: {said}" for kernel, said in report.wrong]


def written(page: str, rows: Sequence[str]) -> str:
    """A page with other rows in its table."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return "".join([before, BEGIN, HEAD, *rows, END, after])


def rows_of(page: str) -> Iterator[list[str]]:
    """The cells of each row of the table of a page."""
    table = page.partition(BEGIN)[2].partition(END)[0].removeprefix(HEAD)
    for line in table.splitlines():
        yield [cell.strip() for cell in line.strip("|").split("|")]


def main() -> None:
    """Try all machines, and print the table."""
    made = argparse.ArgumentParser(prog="python -m tests.targets.machines", description=__doc__)
    known = {far.name: far for far in FAR}
    made.add_argument("--machines", default=",".join(known), help="names with commas, of: " + ", ".join(known))
    made.add_argument("--level", default="-O2", help="how much compilers optimize")
    made.add_argument("--write", action="store_true", help="put the table into docs/targets.md")
    given = made.parse_args()
    names = chosen_from(made, "machine", given.machines, list(known))
    if given.write and names != list(known):
        made.error("the table has all machines: leave out --machines")
    watch = Watch()
    ready, report = examples()
    print(
        f"{report.kernels} kernels, {report.innermost} innermost loops: {report.vectorized} nests vectorized, "
        f"{report.outer} of them at an outer loop; {watch.seconds:.0f} s"
    )
    for said in report.plain:
        print(f"    without vectors: {said}")
    rows, wrong = [], 0
    print(HEAD, end="", flush=True)
    for name in names:
        try:
            line, failures = row(known[name], ready, given.level)
        except pytest.skip.Exception as missing:
            line, failures = f"| {known[name].shown} | {missing} |\n", [f"{name} was not tried"]
        print(line, *(f"    {said}\n" for said in failures), sep="", end="", flush=True)
        rows.append(line)
        wrong += len(failures)
    print(f"{wrong} wrong or not tried; {watch.seconds:.0f} s")
    if given.write and not wrong:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
