"""Plants faults and counts how many validation finds, by which half; and how often it finds one where there is none.

python -m tests.passes.faults --count 300 --seed 1
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from random import Random

from tests.harness.command import parser
from tests.passes.faults.count import Tally, tally


def main(arguments: Sequence[str]) -> int:
    """Run the command: 0 if no alarm is false, nothing wrong was proved right, and 95 of 100 faults were found."""
    options = parser("tests.passes.faults", __doc__, 300)
    options.add_argument("--verbose", action="store_true", help="say of each fault how it was found")
    given = options.parse_args(arguments)
    found = tally(Random(given.seed), given.count, print if given.verbose else None)
    print(shown(found))
    return int(bool(found.false_alarms or found.wrongly_proved or len(found.missed) > 0.05 * found.planted))


def shown(found: Tally) -> str:
    """A table of what was found, and the rest one by one."""
    classes = {fault: Counter(how for f, how in found.found if f == fault) for fault, _ in found.found}
    for fault, _ in found.missed:
        classes.setdefault(fault, Counter())["missed"] += 1
    columns = ("proof, shown by a run", "proof of a race", "runs alone", "missed")
    lines = [f"{'fault':24}" + "".join(f"{c:>23}" for c in columns) + f"{'all':>6}"]
    for name, row in [*sorted(classes.items()), ("together", sum(classes.values(), Counter()))]:
        lines.append(f"{name:24}" + "".join(f"{row[c]:>23}" for c in columns) + f"{row.total():>6}")
    later, unchecked = found.planted - found.plain, found.right - found.proved - found.ran
    lines += [
        f"found: {len(found.found)} of {found.planted}",
        f"planted into programs as they are: {found.plain}, after transformations: {later}",
        f"more that changed nothing: {found.no_fault}",
        f"transformed without a fault: {found.right}, of these proved {found.proved}, run {found.ran}",
        f"transformed and not checked: {unchecked}; false alarms: {len(found.false_alarms)}",
    ]
    lines += [f"missed: {fault}: {why}" for fault, why in found.missed]
    lines += [f"proved though wrong: {title}" for title in found.wrongly_proved]
    lines += [f"false alarm: {title}" for title in found.false_alarms]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
