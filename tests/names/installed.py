"""What pip makes of the project: a wheel and a source archive, unpacked where a process of its own can use them."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Built:
    """A wheel and a source archive of the project."""

    wheel: Path
    source: Path


def build(tree: Path, folder: Path, *options: str) -> None:
    """Build what `options` say of a tree, into a folder."""
    command = [sys.executable, "-m", "hatchling", "build", *options, "-d", str(folder)]
    subprocess.run(command, cwd=tree, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=120)


def built(folder: Path) -> Built:
    """The wheel and the source archive of this tree."""
    build(ROOT, folder)
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return Built(wheel, source)


def files_of(wheel: Path) -> set[str]:
    """The files that a wheel installs, without what says where they come from."""
    with zipfile.ZipFile(wheel) as held:
        return {entry for entry in held.namelist() if ".dist-info/" not in entry}


def unpacked(archive: Path, folder: Path) -> Path:
    """The folder with what an archive holds; of a source archive the one folder in it."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as held:
            held.extractall(folder)
        return folder
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    (only,) = folder.iterdir()
    return only


def run(home: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python in a folder of a user, with the affdsl that stands in `home` and without the one of these tests.

    Links to editable projects are lines of `.pth` files, which `-S` does not read.
    """
    libraries = dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib")))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(home), *libraries])}
    command = [sys.executable, "-S", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
