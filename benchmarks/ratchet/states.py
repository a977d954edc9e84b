"""States of the project that race: a commit in a folder of its own, or the working tree."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "ratchet"
PRODUCT = ("affdsl", "passes", "codegen")
OF_BENCHMARKS = ("scipy",)
"""What the benchmarks that are raced import, beside what affdsl needs."""


@dataclass(frozen=True)
class State:
    """A state of the product.

    Attributes
    ----------
    name
        Its commit; of the working tree the last commit, and whether files differ from it.
    contents
        A number of what its files hold.
    python
        The interpreter that has what it depends on.
    path
        Where it finds affdsl and, of the working tree, the benchmarks.
    """

    name: str
    contents: str
    python: Path
    path: tuple[Path, ...]
    cache: Path


def commit(revision: str) -> State:
    """A commit, taken out of the repository and installed beside it, unless it is there already.

    Raises ValueError where there is no such commit.
    """
    name = _git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if not name:
        raise ValueError(f"the repository has no commit {revision!r}")
    folder = FOLDER / name[:8]
    if not (folder / "done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        archive = folder / "archive.tar"
        _git("archive", "--format=tar", "-o", str(archive), name, "--", *PRODUCT, "pyproject.toml")
        with tarfile.open(archive) as files:
            files.extractall(folder / "tree", filter="tar")
        archive.unlink()
        (folder / "benchmarks_of_today").mkdir(exist_ok=True)
        link = folder / "benchmarks_of_today" / "benchmarks"
        link.unlink(missing_ok=True)
        link.symlink_to(ROOT / "benchmarks")
        with (folder / "tree" / "pyproject.toml").open("rb") as file:
            needed = [*tomllib.load(file)["project"]["dependencies"], *OF_BENCHMARKS]
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        install = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", *needed)
        subprocess.run([folder / "venv" / "bin" / "python", *install], check=True)
        (folder / "done").touch()
    path = (folder / "tree", folder / "benchmarks_of_today")
    return State(name[:8], contents(folder / "tree"), folder / "venv" / "bin" / "python", path, folder / "cache")


def working_tree() -> State:
    """What stands in the files now."""
    name, held = _git("rev-parse", "HEAD")[:8], contents(ROOT)
    if _git("status", "--porcelain", "--", *PRODUCT):
        name += " and changes"
    return State(name, held, Path(sys.executable), (ROOT,), FOLDER / "cache_of_today" / held)


def contents(tree: Path, folders: Sequence[str] = PRODUCT) -> str:
    """A short number of what the files of some folders hold, of the product if none are named."""
    digest = hashlib.sha256()
    for file in sorted(f for folder in folders for f in (tree / folder).rglob("*.py")):
        digest.update(f"{file.relative_to(tree)}\n".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:8]


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode and words[0] != "rev-parse":
        raise ValueError(f"git {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout.strip()
