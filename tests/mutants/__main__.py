"""Plants random faults into the source, one at a time, and says which of them the tests do not notice.

python -m tests.mutants --count 60 --seed 1
python -m tests.mutants --count 20 --seed 7 affdsl/passes/analysis/order.py

The tests nearby run once without a fault, which shows what functions each of them calls and how long it takes. Then
each fault is put in place of a function's code in a process of its own, where the tests that call this function run,
the quickest first, until one fails.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest

from tests.harness.command import parser
from tests.mutants.mutate import choose
from tests.mutants.session import Judge

SUBJECTS = ("affdsl/passes/analysis", "affdsl/passes/legality")
TESTS = (
    "tests/passes",
    "tests/transformations",
    "tests/soundness",
    "tests/lang",
    "tests/test_kernel.py",
    "tests/schedule",
    "affdsl/passes",
)


def main(arguments: Sequence[str]) -> int:
    """Run the command: 0 if every fault was noticed."""
    options = parser("tests.mutants", __doc__, 60)
    options.add_argument("files", nargs="*", default=SUBJECTS, help="files and folders to plant faults into")
    options.add_argument("--processes", type=int, default=2, help="how many faults at the same time")
    options.add_argument("--tests", nargs="*", default=TESTS, help="files and folders of tests")
    given = options.parse_args(arguments)
    judge = Judge(choose(given.files, given.count, given.seed), given.processes)
    code = pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", *given.tests], plugins=[judge])
    return int(code) or int(bool(judge.unnoticed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
