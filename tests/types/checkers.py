"""Runs the type checkers on files, and gives where they find something."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path

from tests import oracles

ROOT = Path(__file__).parents[2]
Found = dict[tuple[str, int], str]
"""What is said of a line, by file and line."""


def mypy(files: Sequence[Path], folder: Path) -> Found:
    """What `mypy --strict` says, with the options of `make lint`, so that what that found of affdsl holds here too."""
    if importlib.util.find_spec("mypy") is None:
        oracles.missing("mypy (pip install 'affdsl[dev]')")
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--no-pretty", "--hide-error-context"]
    command += ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(ROOT / ".mypy_cache")]
    for file in files:
        redefined = folder / "redefined" / file.name
        redefined.parent.mkdir(exist_ok=True)
        redefined.write_text(file.read_text(encoding="utf-8") + "# mypy: allow-redefinition\n", encoding="utf-8")
        command.append(str(redefined))
    said = _said(command, folder)
    lines = re.findall(r"^(.*?\.py):(\d+): error: (.*)$", said, re.M)
    return {(Path(file).name, int(line)): text for file, line, text in lines}


def pyright(files: Sequence[Path], folder: Path) -> Found:
    """What pyright says in its basic mode, which is the usual one in editors."""
    found = shutil.which("basedpyright", path=sysconfig.get_path("scripts"))
    if found is None:
        oracles.missing("basedpyright (pip install 'affdsl[dev]')")
    project = folder / "pyrightconfig.json"
    project.write_text(json.dumps({
        "include": [str(file) for file in files], "extraPaths": [str(ROOT)], "typeCheckingMode": "basic",
        "reportMissingModuleSource": "none",
    }))  # fmt: skip
    said = json.loads(_said([found, "--outputjson", "--pythonpath", sys.executable, "-p", str(project)], folder))
    assert said["summary"]["filesAnalyzed"] >= len(files), said
    errors = [each for each in said["generalDiagnostics"] if each["severity"] == "error"]
    return {(Path(each["file"]).name, each["range"]["start"]["line"] + 1): each["message"] for each in errors}


CHECKERS: dict[str, Callable[[Sequence[Path], Path], Found]] = {"mypy": mypy, "pyright": pyright}


def _said(command: Sequence[str], folder: Path, **environment: str) -> str:
    done = subprocess.run(
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout
