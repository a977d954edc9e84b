"""Plants random faults into the source, one at a time, and says which of them the tests do not notice.

python -m tests.mutants --count 60 --seed 1
python -m tests.mutants --count 20 --seed 7 passes/analysis/order.py

Each fault is planted into a copy of the tree. The tests that import the file run first, then those of its layer, and
with --everything all others.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from tests.mutants.mutate import Mutant, mutants

ROOT = Path(__file__).parents[2]
FOLDERS = ("affdsl", "passes", "codegen", "tests", "examples", "benchmarks", "docs")
FILES = ("pyproject.toml", "README.md", "Makefile")
SUBJECTS = ("passes/analysis", "passes/legality.py", "passes/new_order.py", "passes/effects.py", "passes/running.py")
QUICK = (
    "tests/test_schedule.py",
    "tests/transformations/test_cases.py",
    "tests/passes/test_legality.py",
    "tests/passes/test_reordering.py",
    "tests/lang",
)
LAYER = ("tests/analysis", "tests/passes", "tests/transformations", "tests/soundness", "tests/test_kernel.py")


def main(arguments: Sequence[str]) -> int:
    """Run the command: 0 if every fault was noticed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("files", nargs="*", default=SUBJECTS, help="files and folders to plant faults into")
    parser.add_argument("--count", type=int, default=60, help="how many faults")
    parser.add_argument("--seed", type=int, default=1, help="of the choice")
    parser.add_argument("--start", type=int, default=0, help="leave out so many of them")
    parser.add_argument("--everything", action="store_true", help="ask all tests where those nearby are silent")
    given = parser.parse_args(arguments)
    chosen = choose(given.files, given.count, given.seed)[given.start :]
    survivors = []
    with tempfile.TemporaryDirectory(prefix="affdsl-mutants-") as folder:
        tree = copied(Path(folder, "tree"))
        for number, mutant in enumerate(chosen, given.start + 1):
            since = time.monotonic()
            noticed = noticed_by(mutant, tree, given.everything)
            print(f"{number:3} {noticed or 'NOT NOTICED':40} {time.monotonic() - since:5.0f} s  {mutant}", flush=True)
            if not noticed:
                survivors.append(mutant)
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} noticed")
    return int(bool(survivors))


def choose(files: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """So many faults, each as likely as every other."""
    paths = sorted(p for f in files for p in ([ROOT / f] if f.endswith(".py") else (ROOT / f).rglob("*.py")))
    found = [m for p in paths for m in mutants(str(p.relative_to(ROOT)), p.read_text(encoding="utf-8"))]
    return Random(seed).sample(found, min(count, len(found)))


def copied(tree: Path) -> Path:
    """A copy of what the tests need."""
    tree.mkdir()
    for name in FOLDERS:
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    for name in FILES:
        shutil.copy(ROOT / name, tree / name)
    return tree


def noticed_by(mutant: Mutant, tree: Path, everything: bool) -> str:
    """The first test that fails with a fault; "" if none does."""
    path = tree / mutant.file
    before = path.read_text(encoding="utf-8")
    path.write_text(mutant.source, encoding="utf-8")
    try:
        for places in _stages(mutant.file, tree, everything):
            failed = _failing(places, tree)
            if failed:
                return failed
        return ""
    finally:
        path.write_text(before, encoding="utf-8")


def _stages(file: str, tree: Path, everything: bool) -> Iterator[tuple[str, ...]]:
    """Where to look first, then, and last."""
    module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    package, name = module.rpartition(".")[::2]
    near = [
        str(p.relative_to(tree))
        for p in sorted((tree / "tests").rglob("test_*.py"))
        if f"from {module} import" in (text := p.read_text(encoding="utf-8")) or f"from {package} import {name}" in text
    ]
    yield (file, *near)
    yield QUICK
    yield LAYER
    if everything:
        yield ()


def _failing(places: tuple[str, ...], tree: Path) -> str:
    """The first test that fails of those in some places."""
    options = ("-x", "-q", "-n", "2", "--dist", "load", "-p", "no:cacheprovider")
    command = [sys.executable, "-m", "pytest", *options, *places]
    try:
        done = subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=1200, check=False)
    except subprocess.TimeoutExpired:
        return "(does not end)"
    if done.returncode in (0, 5):
        return ""
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0].split(" - ")[0].split("::")[-1].removeprefix("ERROR ") if failed else f"(exit {done.returncode})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
