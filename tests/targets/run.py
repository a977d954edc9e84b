"""Every kernel of the examples and of PolyBench, vectorized, for every instruction set: `python -m tests.targets.run`.

The C is compiled by gcc and by clang with strict warnings, and run natively or emulated between pages that nobody may
touch; what it leaves must be what the loops as written leave, to the bit.
"""

from __future__ import annotations

import argparse

from tests.harness.command import Watch, chosen_from
from tests.targets.check import WAYS, Report, check, prepared, subjects


def main() -> None:
    """Try kernels, and print what ran where and what was wrong."""
    made = argparse.ArgumentParser(prog="python -m tests.targets.run", description=__doc__)
    known = {subject.name: subject for subject in subjects(1)}
    made.add_argument("--kernels", default=",".join(known), help="names with commas; all of them if none are given")
    made.add_argument("--targets", default=",".join(WAYS), help="names with commas, of: " + ", ".join(WAYS))
    made.add_argument("--seed", type=int, default=1, help="of the random arguments")
    made.add_argument("--level", default="-O2", help="how much compilers optimize")
    made.add_argument("--minutes", type=float, default=1e9, help="begin no further target after so many")
    given = made.parse_args()
    names = chosen_from(made, "kernel", given.kernels, list(known))
    targets = chosen_from(made, "target", given.targets, list(WAYS))
    watch, report = Watch(), Report()
    ready = [prepared(subject, report) for subject in subjects(given.seed) if subject.name in names]
    print(
        f"{report.kernels} kernels, {report.innermost} innermost loops: {report.vectorized} nests vectorized, "
        f"{report.outer} of them at an outer loop; {watch.seconds:.0f} s",
        flush=True,
    )
    for said in report.plain:
        print(f"    without vectors: {said}", flush=True)
    for name in targets:
        for which in range(len(WAYS[name])):
            if watch.seconds > 60 * given.minutes:
                print(f"{name} {which}: out of time")
                continue
            before = len(report.wrong)
            check(ready, name, which, report, level=given.level)
            print(f"{name}: {WAYS[name][which]}: {len(ready)} kernels, {len(report.wrong) - before} wrong; "
                  f"{watch.seconds:.0f} s", flush=True)  # fmt: skip
            for kernel, said in report.wrong[before:]:
                print(f"    {kernel}: {said}")
    print("kernels run:", ", ".join(f"{name} {count}" for name, count in report.ran.items()))
    print(f"{len(report.wrong)} wrong")
    raise SystemExit(bool(report.wrong))


if __name__ == "__main__":
    main()
