"""For each pattern whether it is vectorized: by a schedule of ours, and by gcc and clang from the plain C.

python -m benchmarks.patterns
python -m benchmarks.patterns packing "control flow"
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence

from benchmarks.patterns import CATEGORIES, PATTERNS
from benchmarks.patterns.pattern import Pattern
from benchmarks.patterns.reports import FAST, IN_ORDER, IN_PART, STRICT, VECTORIZED, Compiler, compilers, verdict
from benchmarks.plain import plain

LEGEND = """\
ours          after the steps of its schedule, in the order of the text; "any order" with sums in another order
in order      elements are loaded and stored as vectors, and computed one after the other; in part: some of them
gcc, clang    whether they say that they vectorize a loop of the plain C: -O3 -march=native, fast with -ffast-math
"""


def main(words: Sequence[str] | None = None) -> None:
    """Print a line for each pattern, and how many of them are vectorized."""
    names = [category.name for category in CATEGORIES]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.patterns", description="Which loops are vectorized.")
    parser.add_argument("category", nargs="*", help=f"only these of {', '.join(names)}")
    chosen = parser.parse_args(words).category
    for name in chosen:
        if name not in names:
            parser.error(f"there is no category {name!r}: there are {', '.join(names)}")
    print(table([p for p in PATTERNS if p.category in (chosen or names)]))


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
