"""All of PolyBench through `optimize()`, in all ways: `python -m tests.optimize.run --validate`.

Results are compared with those of the loops as written and, where nothing may round in another way, with the outputs of
PolyBench itself.
"""

from __future__ import annotations

import argparse
import warnings

from affdsl.optimize.unfit import RecipeWarning
from benchmarks.polybench.suite import SUITE, named
from tests.harness.command import Watch
from tests.optimize.check import WAYS, wrong


def main() -> None:
    """Try kernels, and print what was wrong."""
    made = argparse.ArgumentParser(prog="python -m tests.optimize.run", description=__doc__)
    made.add_argument("kernels", nargs="*", default=[each.name for each in SUITE], help="names; all if none are given")
    made.add_argument("--seed", type=int, default=1, help="of the random arguments")
    made.add_argument("--validate", action="store_true", help="validate what comes out, too")
    given = made.parse_args()
    warnings.simplefilter("error", RecipeWarning)
    watch, count = Watch(), 0
    for name in given.kernels:
        for said in wrong([named(name)], WAYS, given.seed, validate=given.validate):
            count += 1
            print(f"    {said}", flush=True)
        print(f"{name}: {len(WAYS)} ways; {watch.seconds:.0f} s", flush=True)
    print(f"{count} wrong")
    raise SystemExit(bool(count))


if __name__ == "__main__":
    main()
