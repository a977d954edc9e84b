"""The page of results, and the table of the README: both are made of the data, and of nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.results.rows import BEHIND, ROWS, Results, Row, names

START, END = "<!-- results: python -m benchmarks.results -->", "<!-- end of results -->"
"""Between these stands the table in the README."""


@dataclass(frozen=True)
class About:
    """A suite in words: what is measured, beside whom, what both rows mean, and the benchmark that does it."""

    title: str
    what: str
    peers: str
    rows: str
    command: str


SUITES: Mapping[str, About] = {
    "polybench": About(
        "PolyBench",
        "The 30 kernels of PolyBench 4.2.1, as loops over NumPy's arrays.",
        "the best of gcc, clang and Polly",
        "*Strict*: nothing rounds in another way, and all results are the same to the bit. *Everything allowed*: sums "
        "in any order, fused products, reciprocals; `-ffast-math` for the peers. They know all sizes when they compile "
        "(`-O3 -march=native`), ours are compiled for any. The best right peer counts.",
        "python -m benchmarks.polybench --race",
    ),
    "everyday": About(
        "Everyday loops",
        "Loops of numerical Python: particles, grids, images, sequences, tables.",
        "numba",
        "*Strict*: as the loops are written, for both. *Everything allowed*: numba with `fastmath=True`.",
        "python -m benchmarks.everyday",
    ),
    "matmul": About(
        "Matrix product",
        "Three loops after `optimize()`: rows, columns and the length of the sums.",
        "OpenBLAS (NumPy)",
        "*Strict* may not make a product and a sum one operation, which the library always does; *everything allowed* "
        "may.",
        "python -m benchmarks.matmul",
    ),
    "pipelines": About(
        "Images and layers",
        "Pipelines on an image of 2048 x 2048, and layers of networks.",
        "the best of numba and Halide",
        "*Strict*: as the loops are written; Halide by `strict_float`. *Everything allowed*: `fastmath` there. Halide "
        "has blur, unsharp and harris: by its autoschedulers, and by hand.",
        "python -m benchmarks.pipelines",
    ),
    "patterns": About(
        "Patterns",
        "Loops that vectorizers are tried with. Nothing is timed: it is asked whether a loop runs on vectors.",
        "gcc and clang",
        "*Strict*: in the order of the text. *Everything allowed*: sums in another order; `-ffast-math` for the "
        "compilers. Ours is after the steps of a schedule that each pattern has; the compilers find theirs themselves.",
        "python -m benchmarks.patterns",
    ),
}
TIMED = ("polybench", "everyday", "matmul", "pipelines")
TITLES = {"strict": "strict", "allowed": "everything allowed"}


INTRODUCTION = """\
Every number here is printed by `{command}`, which also writes this page. A ratio is how many times longer the peer
takes, the median over rounds in which all take turns: **above 1, affdsl is faster**. All run on one thread, and the
time of the processor is what counts; what anybody needs to compile does not. What all of them compute is compared."""


def page(results: Results) -> str:
    """The whole page."""
    parts = [
        "# Results",
        INTRODUCTION.format(command=results.machine["command"]),
        "![How many times longer peers take, for each kernel](plots/results.svg)",
        "\n".join(table(results)),
        f"A row counts as slower below {BEHIND}: what is between that and 1 takes as long, as far as can be told here.",
        "## Where and when",
        "\n".join(machine(results)),
        noise(results),
        "## Slower than peers",
        "\n".join(slower(results)),
    ]
    for suite, about in SUITES.items():
        parts += [f"## {about.title}", f"{about.what} Beside {about.peers}: `{about.command}`. {about.rows}"]
        parts.append("\n".join(verdicts(results) if suite == "patterns" else each(results, suite)))
    return "\n\n".join(parts) + "\n"


def noise(results: Results) -> str:
    """How far ratios of the same program are apart, where that is known."""
    why = (
        "Whatever else runs on a machine takes its caches and its memory, and some programs bear that less than others."
    )
    spreads = sorted(row.spread for row in results.rows if row.spread)
    if not spreads:
        return f"{why} Each was measured once, so single rows are to be read with care; means are less in danger."
    middle, high = (spreads[round(share * (len(spreads) - 1))] - 1 for share in (0.5, 0.9))
    return (
        f"{why} All was measured several times, and medians are shown: from one time to another, ratios differed by "
        f"{middle:.0%} or less in half of the rows, and by {high:.0%} or less in nine of ten."
    )


def table(results: Results) -> Iterator[str]:
    """A line for each suite: what the README claims."""
    yield "| | beside | strict | everything allowed | slower |"
    yield "|---|---|---|---|---|"
    for suite in TIMED:
        found = {row: results.of(suite, row) for row in ROWS}
        means = [f"**{results.mean(suite, row):.2f}**, {min(r.ratio for r in found[row]):.2f} to "
                 f"{max(r.ratio for r in found[row]):.2f}" for row in ROWS]  # fmt: skip
        behind = [f"{sum(r.ratio < BEHIND for r in found[row])} of {len(found[row])}" for row in ROWS]
        yield f"| {SUITES[suite].title} | {SUITES[suite].peers} | {means[0]} | {means[1]} | {', '.join(behind)} |"


def with_table(readme: str, results: Results) -> str:
    """The README with the table as it is now. Raises ValueError where there is no place for it."""
    before, start, rest = readme.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise ValueError(f"README.md has no place for the table: {START} and {END}")
    return f"{before}{START}\n{chr(10).join(table(results))}\n{END}{after}"


def machine(results: Results) -> Iterator[str]:
    """What it was measured on and with."""
    yield from ("| | |", "|---|---|")
    for name, value in results.machine.items():
        yield f"| {name} | {f'`{value}`' if name == 'command' else value} |"


def slower(results: Results) -> Iterator[str]:
    """What is slower than a peer, the slowest first, and what could not be measured."""
    yield from ("| | row | ratio | peer |", "|---|---|---|---|")
    behind = [row for suite in TIMED for kind in ROWS for row in results.of(suite, kind) if row.ratio < BEHIND]
    for row in sorted(behind, key=lambda row: row.ratio):
        yield f"| {SUITES[row.suite].title}: {row.name} | {TITLES[row.row]} | {row.ratio:.2f} | {row.best} |"
    failed = [row for row in results.rows if row.note]
    if failed:
        yield ""
    for row in failed:
        yield f"Not measured: {SUITES[row.suite].title}, {row.name}: {row.note}"


def each(results: Results, suite: str) -> Iterator[str]:
    """All programs of a suite, with both rows."""
    found = {(row.name, row.row): row for kind in ROWS for row in results.of(suite, kind)}
    programs = names(found.values())
    size = next(iter(found.values())).size
    if suite == "polybench":
        yield from (f"The sizes are {size}.", "")
    yield from ("| | strict | peer | everything allowed | peer | ours, ms |", "|---|---|---|---|---|---|")
    for name in programs:
        strict, allowed = found.get((name, "strict")), found.get((name, "allowed"))
        yield f"| {name} | {_cells(strict)} | {_cells(allowed)} | {_milliseconds(allowed)} |"


def verdicts(results: Results) -> Iterator[str]:
    """How many patterns run on vectors."""
    count: Counter[tuple[str, str]] = Counter()
    rows = [row for row in results.rows if row.vectorized]
    for row in rows:
        count.update((row.row, name) for name, said in row.vectorized.items() if said == "yes")
    who = list(dict.fromkeys(name for row in rows for name in row.vectorized))
    yield from (f"| of {len(names(rows))} patterns | {' | '.join(who)} |", f"|---|{'---|' * len(who)}")
    for kind in ROWS:
        yield f"| {TITLES[kind]} | {' | '.join(str(count[kind, name]) for name in who)} |"
    yield ""
    yield _missed(rows)


def _missed(rows: Sequence[Row]) -> str:
    """Which patterns a compiler has on vectors and a schedule has not."""
    found = [
        f"{row.name} ({TITLES[row.row]})"
        for row in rows
        if row.vectorized["affdsl"] != "yes" and "yes" in row.vectorized.values()
    ]
    return f"On vectors by a compiler, and not, or in part, by ours: {'; '.join(found) or 'none'}."


def _cells(row: Row | None) -> str:
    if row is None:
        return " | "
    shown = f"{row.ratio:.2f}"
    others = ", ".join(f"{name} {ratio:.2f}" for name, ratio in row.ratios.items() if name != row.best)
    return f"{f'*{shown}*' if row.ratio < BEHIND else shown} | {row.best}{f' ({others})' if others else ''}"


def _milliseconds(row: Row | None) -> str:
    return f"{row.milliseconds:.3g}" if row is not None and row.milliseconds else ""
