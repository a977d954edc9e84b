"""Calls random semi-affine kernels, compiled and interpreted: `python -m tests.semi_affine.run --count 2000 --seed 1`.

A call with negative, zero and huge numbers is refused by both, or leaves equal arrays; arrays lie between pages that
nobody can touch, in a process that may die. What would be fine and is refused is counted, too.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

BATCH = 50
SHOWN = 20


@dataclass
class Report:
    """What was counted, and what went wrong, by seed."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str]] = field(default_factory=list)
    needless: list[tuple[int, str]] = field(default_factory=list)

    def add(self, told: dict[str, object]) -> None:
        """Take in one line of a process."""
        seed = told["seed"]
        assert isinstance(seed, int)
        if "count" in told:
            self.counts[str(told["count"])] += 1
        if "failure" in told:
            self.failures.append((seed, str(told["failure"])))
        if "needless" in told:
            self.needless.append((seed, str(told["needless"])))

    def __str__(self) -> str:
        lines = [f"{number:7} {what}" for what, number in sorted(self.counts.items())]
        lines += [f"needless: seed {seed}: {text}" for seed, text in self.needless[:SHOWN]]
        lines += [f"FAILURE: seed {seed}: {text}" for seed, text in self.failures[:SHOWN]]
        return "\n".join([*lines, f"{len(self.needless)} needless refusals, {len(self.failures)} failures"])


def check(seeds: range) -> Report:
    """The kernels of some seeds, in processes of their own."""
    report = Report()
    for told in _told(seeds):
        report.add(told)
    return report


def _told(seeds: range) -> Iterator[dict[str, object]]:
    """What a process tells; where it dies, that, and another one goes on behind the seed."""
    start = seeds.start
    while start < seeds.stop:
        command = [sys.executable, "-m", "tests.semi_affine.check", str(start), str(seeds.stop)]
        doing, status = "", 0
        with (
            tempfile.TemporaryFile("w+") as errors,
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
        ):
            assert process.stdout is not None
            for line in process.stdout:
                told = json.loads(line)
                doing = str(told.get("doing", doing))
                if told.get("done"):
                    start = told["seed"] + 1
                yield told
            status = process.wait()
            errors.seek(0)
            said = errors.read()[-2000:]
        if not doing:
            raise RuntimeError(f"the process ended with {status} before it did anything: {said}")
        if status != 0:
            yield {"seed": start, "failure": f"the process ended with {status}: {doing}\n{said}"}
            start += 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Check as many kernels as asked for; the exit status says whether all was right."""
    parser = argparse.ArgumentParser(prog="python -m tests.semi_affine.run", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="kernels that are built; others do not count")
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    chosen = parser.parse_args(arguments)
    total, begun, seed = Report(), time.monotonic(), chosen.seed
    with ThreadPoolExecutor(chosen.jobs) as pool:
        while total.counts["kernels"] < chosen.count:
            missing = chosen.count - total.counts["kernels"]
            batches = [range(k, min(k + BATCH, seed + missing)) for k in range(seed, seed + missing, BATCH)]
            for report in pool.map(check, batches):
                total.counts += report.counts
                total.failures += report.failures
                total.needless += report.needless
                for found, text in report.failures[:SHOWN]:
                    print(f"seed {found}: {text}", file=sys.stderr)
                print(f"{time.monotonic() - begun:.0f} s: {total.counts['kernels']} kernels, "
                      f"{len(total.failures)} failures", file=sys.stderr, flush=True)  # fmt: skip
            seed = batches[-1].stop
    print(total)
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main())
