"""Fuses random programs in all modes beside mlir-opt: `python -m tests.fuzz.fusion --count 5000 --seed 1`.

What both make of each program is run, with several sizes and data, and must leave what the program's reference says.
Then random requests are made: see `tests.transformations.fusing`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tests.fuzz import amounts
from tests.fuzz.counts import details, table, tallies
from tests.fuzz.features import FUSING
from tests.fuzz.trials import INTERPRETED, Row
from tests.harness.command import Watch, parser, seeds
from tests.transformations.fusing import requested

MODES = ("", "{mode=producer}", "{mode=sibling}", "{maximal=1}")
ROWS = tuple(Row(f"affine-loop-fusion{mode}", "nests fused", amounts.nests_fused, INTERPRETED) for mode in MODES)


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuse programs; the exit status says whether ours is right, and fuses no less, in every mode."""
    options = parser("tests.fuzz.fusion", __doc__, 100)
    options.add_argument("--requests", type=int, default=40, help="how many")
    options.add_argument("--minutes", type=float, default=1e9, help="stop each of the two after so long")
    chosen = options.parse_args(arguments)
    watch = Watch()
    found = tallies(seeds(chosen), ROWS, FUSING, chosen.minutes)
    print("\n".join([table(found), *filter(None, map(details, found))]))
    print(f"{len(found[0].all)} programs from seed {chosen.seed} on, {watch.seconds:.0f} s")
    requests = requested(chosen.requests, chosen.seed, chosen.minutes)
    print(requests)
    return 0 if all(tally.is_not_fewer for tally in found) and not requests.failures else 1


if __name__ == "__main__":
    sys.exit(main())
