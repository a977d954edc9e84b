"""Ordinary loops after `optimize()`, beside the best of NumPy, gcc, clang and numba, on one thread.

    python -m benchmarks.idioms
    python -m benchmarks.idioms --quick "wrapped neighbours" extremes

Each is a loop that users of NumPy or numba write on a usual day, with arrays of a usual size. gcc and clang get C with
all sizes known and `restrict`, at -O3 for this machine; numba gets the expression of NumPy. Strict: nothing may round
in another way; fast: anything may, `-ffast-math` and `fastmath=True` there. All run in turns on the same arrays, which
each call finds filled as before; a ratio is the median over rounds of the time of the best peer over ours, above 1
where ours is faster. Results are compared with NumPy's, and strict ones with those of the loops as written, to the bit.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from statistics import geometric_mean

from benchmarks.idioms import IDIOMS, Idiom
from benchmarks.idioms.race import OPTIONS, SECONDS, Result, measured

BEHIND = 0.9
WANTED = 1.5
QUICK_SECONDS = 0.1


def main(words: Sequence[str] | None = None) -> None:
    """Print a line for each idiom and row, the means, and what is behind."""
    command("benchmarks.idioms", __doc__, IDIOMS, words)


def command(module: str, description: str | None, suite: Sequence[Idiom], words: Sequence[str] | None) -> None:
    """Race the loops of a suite that are asked for by name or by group."""
    parser = argparse.ArgumentParser(
        f"python -m {module}", description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="of loops or groups of them; all if none are given")
    with_options(parser)
    line = parser.parse_args(words)
    known = {idiom.name for idiom in suite} | {idiom.group for idiom in suite}
    for name in line.names:
        if name not in known:
            parser.error(f"there is no loop or group {name!r}; they are {', '.join(sorted(known))}")
    race([i for i in suite if not line.names or {i.name, i.group} & set(line.names)], line)
    print(f"wanted: {WANTED} for both, and none below {BEHIND}")


def with_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a race."""
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--explain", action="store_true", help="all that optimize() says")


def race(idioms: Sequence[Idiom], line: argparse.Namespace) -> None:
    """Print a line for each idiom and row, and the means, with the options `quick` and `explain`."""
    os.environ["OMP_NUM_THREADS"] = "1"
    found = []
    print(f"{'microseconds of ours, of the best peer, and its time over ours':48}{'ours':>10}{'peer':>10}{'ratio':>8}")
    for idiom in idioms:
        for row in OPTIONS:
            found.append(measured(idiom, row, QUICK_SECONDS if line.quick else SECONDS))
            print(_line(found[-1]), flush=True)
            if line.explain:
                print(found[-1].kernel.explain())
    for row in OPTIONS:
        print(_total(row, [each for each in found if each.row == row]))


def _line(result: Result) -> str:
    others = ", ".join(f"{name} {time:.0f}" for name, time in result.times.items() if name not in ("ours", result.best))
    wrong = f"; wrong: {', '.join(result.wrong)}" if result.wrong else ""
    refused = f"; refused: {', '.join(result.refused)}" if result.refused else ""
    mark = "-" if result.ratio < BEHIND else " "
    times = f"{result.times['ours']:10.1f}{result.times[result.best]:10.1f}{result.ratio:8.2f}{mark}"
    return f"{result.idiom.name:40}{result.row:8}{times} {result.best} ({others}{wrong}{refused})"


def _total(row: str, found: Sequence[Result]) -> str:
    behind = [each for each in found if each.ratio < BEHIND]
    names = "".join(
        f"\n    {each.ratio:.2f}  {each.idiom.name}" for each in sorted(behind, key=lambda each: each.ratio)
    )
    mean, least = geometric_mean(each.ratio for each in found), min(each.ratio for each in found)
    return f"{row}: geometric mean {mean:.2f}, least {least:.2f}, {len(behind)} of {len(found)} below {BEHIND}{names}"


if __name__ == "__main__":
    main()
