"""All of PolyBench through `optimize()`, in all ways: `python -m tests.optimize.run`."""

from __future__ import annotations

import argparse

from benchmarks.polybench.suite import SUITE, named
from tests.harness.command import Watch
from tests.optimize.check import WAYS, wrong


def main() -> None:
    """Try kernels, and print what was wrong."""
    made = argparse.ArgumentParser(prog="python -m tests.optimize.run", description=__doc__)
    made.add_argument("kernels", nargs="*", default=[each.name for each in SUITE], help="names; all if none are given")
    made.add_argument("--seed", type=int, default=1, help="of the random arguments")
    given = made.parse_args()
    watch, count = Watch(), 0
    for name in given.kernels:
        for said in wrong([named(name)], WAYS, given.seed):
            count += 1
            print(f"    {said}", flush=True)
        print(f"{name}: {len(WAYS)} ways; {watch.seconds:.0f} s", flush=True)
    print(f"{count} wrong")
    raise SystemExit(bool(count))


if __name__ == "__main__":
    main()
