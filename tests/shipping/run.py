"""Ships every example and every kernel of PolyBench, as it is and made fast for several CPUs, and calls the wheels.

    python -m tests.shipping.run --count 3 --as-written

takes the first ones only, and does not make them fast. Each wheel leaves what the kernel leaves.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Iterator

import numpy as np

import affdsl as af
from tests.harness.command import parser
from tests.targets.check import Subject, subjects

TARGETS = ("avx512", "avx2", "baseline")


def wrong(subject: Subject, number: int, *, optimized: bool) -> Iterator[str]:
    """What is wrong with the library of a subject; nothing where it cannot be shipped, which is said."""
    name = f"shipped_{number}{'_fast' * optimized}"
    with tempfile.TemporaryDirectory() as folder:
        options = {"optimize": {"threads": 2}, "targets": TARGETS} if optimized else {}
        try:
            files = af.build(subject.kernel, folder, name=name, python=True, **options)
        except af.UnsupportedError as error:
            print(f"{subject.name}: not shipped: {error}")
            return
        (wheel,) = [file for file in files if file.suffix == ".whl"]
        zipfile.ZipFile(wheel).extractall(folder)
        sys.path.insert(0, folder)
        try:
            function = getattr(importlib.import_module(name), subject.kernel.name)
        finally:
            sys.path.remove(folder)
        for call in subject.calls:
            ours, theirs = copied(call), copied(call)
            for way, arguments in ((function, ours), (subject.kernel, theirs)):
                try:
                    result = way(*arguments)
                except (TypeError, ValueError, IndexError, AssertionError) as error:
                    result = type(error).__name__
                arguments.append(result)
            for left, right in zip(flat(ours), flat(theirs), strict=True):
                if not np.array_equal(left, right, equal_nan=np.asarray(left).dtype.kind == "f"):
                    yield f"{subject.name}: differs{' made fast' * optimized}: {left} {right}"


def copied(call: tuple[object, ...]) -> list[object]:
    """Arguments of their own."""
    return [x.copy() if isinstance(x, np.ndarray) else x for x in call]


def flat(values: list[object]) -> list[object]:
    """Arguments and results in one list."""
    *arguments, result = values
    return [*arguments, *(result if isinstance(result, tuple) else [result])]


def main() -> int:
    """Run; 0 where nothing is wrong."""
    made = parser("tests.shipping.run", __doc__, 1000)
    made.add_argument("--as-written", action="store_true", help="not made fast for several CPUs")
    chosen = made.parse_args()
    found: list[str] = []
    count = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, subject in enumerate(subjects(chosen.seed)):
            if number >= chosen.count:
                break
            for optimized in (False, True)[: 2 - chosen.as_written]:
                found += wrong(subject, number, optimized=optimized)
                count += 1
            print(f"{count} libraries, {len(found)} wrong", flush=True)
    print("\n".join(found))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
