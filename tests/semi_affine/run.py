"""Calls random semi-affine kernels, compiled and interpreted: `python -m tests.semi_affine.run --count 2000 --seed 1`.

A call with negative, zero and huge numbers is refused by both, or leaves equal arrays; arrays lie between pages that
nobody can touch, in a process that may die. What would be fine and is refused is counted, too.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tests.harness.command import Watch, parser
from tests.semi_affine.check import CHUNK, SHOWN, Report, check


def main(arguments: Sequence[str] | None = None) -> int:
    """Check until as many kernels were built as asked for; the exit status says whether all was right."""
    chosen = parser("tests.semi_affine.run", __doc__, 200, processes=True).parse_args(arguments)
    total, watch, seed = Report(), Watch(), chosen.seed
    while missing := chosen.count - total.counts["kernels"]:
        batch = range(seed, seed + min(missing, CHUNK * chosen.processes))
        report = check(batch, chosen.processes)
        total.add(report)
        for found, text in report.failures[:SHOWN]:
            print(f"seed {found}: {text}", file=sys.stderr)
        watch.say(total.counts["kernels"], "kernels", len(total.failures))
        seed = batch.stop
    print(total)
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main())
