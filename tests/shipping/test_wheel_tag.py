"""For which machines a wheel says that it is, and that nothing in it speaks of what is not in it."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from affdsl.codegen import advice
from affdsl.codegen.aot import no_advice
from affdsl.codegen.aot.elf import needed
from affdsl.codegen.aot.wheel import copies
from tests.oracles import require

CPU = platform.machine()
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="its libraries are those of Linux")


def said_by_objdump(file: Path) -> dict[str, set[str]]:
    """What binutils reads of a library."""
    text = subprocess.run([require("objdump"), "-p", file], capture_output=True, text=True, check=True).stdout
    found: dict[str, set[str]] = {name: set() for name in re.findall(r"^  NEEDED +(\S+)$", text, re.M)}
    at = ""
    for line in text.partition("Version References:")[2].splitlines():
        if match := re.match(r"  required from (\S+):", line):
            at = match[1]
        elif match := re.match(r"    0x\w+ 0x\w+ \d+ (\S+)", line):
            found[at].add(match[1])
    return found


def test_what_a_library_needs_is_what_binutils_read(all_kinds, threaded):
    others = [*Path(np.__file__).parent.rglob("*.so")][:12]
    for file in (all_kinds / "liball_kinds.so", threaded / "libthreaded.so", *others):
        assert needed(file.read_bytes()) == said_by_objdump(file)


def test_a_wheel_is_for_the_systems_that_have_what_it_needs(all_kinds):
    (wheel,) = all_kinds.glob("*.whl")
    versions = [v for listed in said_by_objdump(all_kinds / "liball_kinds.so").values() for v in listed]
    numbers = [tuple(map(int, v.removeprefix("GLIBC_").split("."))) for v in versions]
    major, minor = max((2, 17), *(n[:2] for n in numbers))
    assert wheel.name == f"all_kinds-1.2.3-py3-none-manylinux_{major}_{minor}_{CPU}.whl"


def test_a_wheel_with_threads_needs_what_no_system_must_have(threaded):
    (wheel,) = threaded.glob("*.whl")
    assert wheel.name == f"threaded-0.1.0-py3-none-linux_{CPU}.whl"
    assert "libgomp.so.1" in needed((threaded / "libthreaded.so").read_bytes())


def test_auditwheel_says_so_too(all_kinds):
    (wheel,) = all_kinds.glob("*.whl")
    done = subprocess.run([require("auditwheel"), "show", wheel], capture_output=True, text=True, check=True)
    tag = wheel.name.removesuffix(".whl").rpartition("-")[2]
    assert f'is consistent with the following platform tag: "{tag}"' in " ".join(done.stdout.split())


def test_there_is_no_advice_for_each_advice():
    assert {n for n in vars(advice) if n.isupper()} == {n for n in vars(no_advice) if n.isupper()}


def test_modules_of_a_wheel_show_no_examples_and_advise_nothing_that_needs_us():
    for name, text in copies().items():
        compile(text, name, "exec")
        assert ">>>" not in text, name
        assert not re.search(r"affdsl\.(strided|c64|c128|f64|kernel)", text), name
        assert "import affdsl" not in text, name
