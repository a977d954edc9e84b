"""For each pattern whether it is vectorized: by a schedule of ours, and by gcc and clang from the plain C.

    python -m benchmarks.patterns
    python -m benchmarks.patterns packing "control flow"
    python -m benchmarks.patterns --race --suite reworded

The suite "patterns" has the steps of a schedule for each loop; "reworded" has other loops, which `optimize()` gets as
they are. With `--race` both suites are optimized and called in turns with the plain C by gcc and clang, as the idioms
are (`python -m benchmarks.idioms --help`).
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

import affdsl as af
from benchmarks.idioms.__main__ import race, with_options
from benchmarks.idioms.idiom import Idiom
from benchmarks.patterns import CATEGORIES, SUITES
from benchmarks.patterns.arguments import arguments, side
from benchmarks.patterns.pattern import Pattern
from benchmarks.patterns.reports import FAST, IN_ORDER, IN_PART, STRICT, VECTORIZED, Compiler, compilers, verdict
from benchmarks.plain import plain

TOLERANCE = 1e-3
"""How far apart sums in another order may be, relative to the largest number of an array."""
LEGEND = """\
ours          after its steps, in the order of the text; "any order" with sums in another order
in order      elements are loaded and stored as vectors, and computed one after the other; in part: some of them
gcc, clang    whether they say that they vectorize a loop of the plain C: -O3 -march=native, fast with -ffast-math
"""


def main(words: Sequence[str] | None = None) -> None:
    """Print a line for each pattern, and how many of them are vectorized."""
    names = [category.name for category in CATEGORIES]
    parser = argparse.ArgumentParser(
        "python -m benchmarks.patterns", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help=f"only these loops, or those of {', '.join(names)}")
    parser.add_argument("--suite", choices=SUITES, help="only this one")
    parser.add_argument("--race", action="store_true", help="how fast they are after optimize(), beside gcc and clang")
    with_options(parser)
    line = parser.parse_args(words)
    for name in line.names:
        if name not in {*names, *(pattern.name for suite in SUITES.values() for pattern in suite)}:
            parser.error(f"there is no category {name!r}: there are {', '.join(names)}")
    for suite in [line.suite] if line.suite else SUITES:
        chosen = [p for p in SUITES[suite] if not line.names or {p.category, p.name} & set(line.names)]
        if chosen and line.race:
            race([raced(pattern) for pattern in chosen], line)
        elif chosen:
            print(table(chosen))


def raced(pattern: Pattern) -> Idiom:
    """A pattern to be raced: what its loops as written compute is right."""
    n = side(pattern.kernel)
    given = {
        parameter.name: partial(_argument, pattern.kernel, place)
        for place, parameter in enumerate(pattern.kernel.program.parameters)
    }
    return Idiom(pattern.category, pattern.kernel, pattern.kernel, {"N": n, "M": n}, given, "", TOLERANCE)


def _argument(kernel: af.Kernel, place: int, _: object, sizes: Mapping[str, int]) -> object:
    return [*arguments(kernel, sizes["N"], sizes["M"])][place]


def table(patterns: Sequence[Pattern]) -> str:
    """What becomes of each pattern, and totals."""
    found = compilers()
    columns = ["ours", "any order", *(f"{each.name}{how}" for each in found for how in ("", " fast"))]
    lines, totals = [LEGEND, _line("", columns)], Counter[tuple[str, str]]()
    category = ""
    for pattern in patterns:
        if pattern.category != category:
            category = pattern.category
            lines += ["", category]
        cells, why = _cells(pattern, found)
        totals.update((name, cell) for name, cell in zip(columns, cells, strict=True))
        lines.append(_line(f"  {pattern.name}", cells))
        if why:
            lines.append(f"    refused: {why}")
    lines.append("")
    for how, words in ((VECTORIZED, f"vectorized, of {len(patterns)}"), (IN_PART, IN_PART), (IN_ORDER, IN_ORDER)):
        lines.append(_line(words, [str(totals[name, how]) for name in columns]))
    missing = {"gcc", "clang"} - {each.name for each in found}
    return "\n".join([*lines, *(f"{name} is not on PATH" for name in sorted(missing))])


def _cells(pattern: Pattern, found: Sequence[Compiler]) -> tuple[list[str], str]:
    """The columns of a pattern, and why it is refused if it is."""
    ours = [verdict(pattern, reassociate=reassociate) for reassociate in (False, True)]
    cells = [each if each in (VECTORIZED, IN_PART, IN_ORDER) else "no" for each in ours]
    why = ours[0] if cells[0] == "no" else ""
    source = plain(pattern.kernel)
    theirs = [each.vectorizes(source, flags) for each in found for flags in (STRICT, FAST)]
    return cells + ["yes" if each else "-" for each in theirs], why


def _line(name: str, cells: Sequence[str]) -> str:
    return f"{name:<54}" + "".join(f"{cell:>12}" for cell in cells)


if __name__ == "__main__":
    main()
