"""The page about shipping: its code is that of examples/ship, and its commands build and run the projects there."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.oracles import require
from tests.shipping.machine import X86

ROOT = Path(__file__).parents[2]
SHIP = ROOT / "examples" / "ship"
PAGE = (ROOT / "docs" / "shipping.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.M | re.S) for line in block.splitlines()]


def test_its_kernels_are_those_of_the_example():
    shown = re.search(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)[1]
    file = (SHIP / "filters.py").read_text(encoding="utf-8").partition('"""\n\n')[2]
    assert re.sub(r"\n{2,}", "\n\n", file) == shown


@pytest.fixture
def folder(tmp_path):
    """A folder with the projects of the example, and a command `affdsl`."""
    shutil.copytree(SHIP, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "affdsl").write_text(
        f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {sys.executable} -m affdsl "$@"\n'
    )
    (tmp_path / "bin" / "affdsl").chmod(0o755)
    return tmp_path


@X86
def test_its_commands_build_and_run_what_it_says(folder):
    for tool in ("gcc", "g++", "cmake", "make", "pkg-config", "aarch64-linux-gnu-gcc"):
        require(tool, ("-fopenmp",) if tool == "gcc" else ())
    environment = {**os.environ, "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    environment = {name: text for name, text in environment.items() if name not in ("CC", "CXX", "AFFDSL_CC")}
    # One shell, as a reader has one, in which each command must succeed.
    script = "set -e\n" + "".join(f"echo '+' {shlex.quote(line)}\n{line}\n" for line in COMMANDS)
    done = subprocess.run(
        ["sh", "-c", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    said = dict(re.findall(r"^\+ (.*)\n((?:(?!\+ ).*\n)*)", done.stdout, re.M))
    for program in ("./app", "build-c/app", "fat/app", "FILTERS_TARGET=baseline fat/app"):
        assert said[program] == "filters 1.2 in C: 0 wrong\n"
    assert said["build-cpp/app"] == "filters 1.2 in C++: 0 wrong\n"
    assert "out/filters.h\n" in said[COMMANDS[0]]
    installed = {str(path.relative_to(folder / "prefix")) for path in (folder / "prefix").rglob("*.*")}
    for name in ("include/filters.h", "cmake/filters/filtersConfig.cmake", "pkgconfig/filters.pc", "libfilters.a"):
        assert any(path.endswith(name) for path in installed), installed
    assert (folder / "arm" / "libfilters.a").exists()
