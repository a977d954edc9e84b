"""Libraries for other systems: what is asked for, and, where zig is, what is built, exported and run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from platform import machine
from typing import NoReturn

import pytest

import affdsl as af
from affdsl.codegen import toolchain
from affdsl.codegen.aot import platforms
from tests import oracles
from tests.shipping import kernels

BUILT = {
    "linux-x86_64": ("libsome.so.0.1.0", b"\x7fELF", "manylinux_2_17_x86_64"),
    "linux-aarch64": ("libsome.so.0.1.0", b"\x7fELF", "manylinux_2_17_aarch64"),
    "macos-x86_64": ("libsome.dylib", b"\xcf\xfa\xed\xfe\x07\0\0\x01", "macosx_11_0_x86_64"),
    "macos-aarch64": ("libsome.dylib", b"\xcf\xfa\xed\xfe\x0c\0\0\x01", "macosx_11_0_arm64"),
    "windows-x86_64": ("some.dll", b"MZ", "win_amd64"),
    "windows-aarch64": ("some.dll", b"MZ", "win_arm64"),
}
"""The shared library, how it begins, and for what the wheel is."""


def here() -> list[str]:
    """What runs a program for this system and CPU: nothing."""
    if sys.platform != "linux" or machine() != "x86_64":
        not_here("Linux on x86-64")
    return []


def emulated() -> list[str]:
    """What runs a program for Linux on 64-bit ARM, with the C library of a compiler for it."""
    return [
        oracles.require("qemu-aarch64"),
        "-L",
        str(Path(oracles.require("aarch64-linux-gnu-gcc")).parents[1] / "aarch64-linux-gnu"),
    ]


def on_wine() -> list[str]:
    """What runs a program for Windows; distributions put it beside what is on PATH."""
    wine = shutil.which("wine64", path=f"{os.environ['PATH']}:/usr/lib/wine")
    return [wine] if wine else not_here("wine64 (package wine64)")


RUN = {"linux-x86_64": here, "linux-aarch64": emulated, "windows-x86_64": on_wine}
"""How programs for a platform are run, where they can be."""
PROGRAM = """\
#include <stdio.h>
#include "some.h"

int main(void)
{
    const float a[2][3] = {{1, 2, 3}, {4, 5, 6}}, b[3][2] = {{1, 0}, {2, 1}, {0, 3}};
    float c[2][2];
    product(2, 3, 2, &a[0][0], &b[0][0], &c[0][0]);
    printf("%g %g %g %g\\n", c[0][0], c[0][1], c[1][0], c[1][1]);
    return 0;
}
"""


def test_all_platforms_are_tried():
    assert [*platforms.PLATFORMS] == [*BUILT, "wasm32"]  # of which there are no wheels: test_wasm.py


def test_a_platform_that_is_not_known_is_refused(tmp_path):
    with pytest.raises(af.BuildError) as error:
        af.build(kernels.product, tmp_path / "out", platform="plan9-mips")
    assert str(error.value) == f"there is no platform 'plan9-mips': they are {', '.join(BUILT)}, wasm32"
    assert not (tmp_path / "out").exists()


def test_without_zig_it_is_said_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(platforms, "zig", lambda: None)
    monkeypatch.setattr(platforms, "find_compiler", lambda: toolchain.Command(Path("/usr/bin/gcc"), ()))
    with pytest.raises(af.ToolchainError) as error:
        af.build(kernels.product, tmp_path / "out", platform="macos-aarch64")
    assert "macos-aarch64 is built by zig, which is not installed: run pip install 'affdsl[zig]'" in str(error.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("program", "words"), [("/usr/bin/zig", ("cc", "-O1")), ("/bin/python", ("-m", "ziglang", "cc"))]
)
@pytest.mark.parametrize("packaged", [None, Path("/packages/ziglang/zig")])
def test_the_zig_of_the_environment_is_told_the_platform(program, words, packaged, monkeypatch):
    monkeypatch.setattr(platforms, "zig", lambda: packaged)
    monkeypatch.setattr(platforms, "find_compiler", lambda: toolchain.Command(Path(program), words))
    made = platforms.compiler_for(platforms.platform("windows-x86_64"))
    told = ("cc", "-target", "x86_64-windows-gnu", "-mcpu=baseline")
    assert (made.path, made.arguments) == (Path(program), (*words[: words.index("cc")], *told))


def test_the_zig_of_the_package_is_taken_where_the_environment_has_another_compiler(monkeypatch):
    monkeypatch.setattr(platforms, "zig", lambda: Path("/packages/ziglang/zig"))
    monkeypatch.setattr(platforms, "find_compiler", lambda: toolchain.Command(Path("/usr/bin/gcc"), ()))
    made = platforms.compiler_for(platforms.platform("linux-aarch64"))
    told = ("cc", "-target", "aarch64-linux-gnu.2.17", "-mcpu=baseline")
    assert (made.path, made.arguments) == (Path("/packages/ziglang/zig"), told)


@pytest.mark.parametrize("name", BUILT)
def test_a_library_is_built_for_a_platform(name, tmp_path):
    require_zig()
    shared, begin, wheel = BUILT[name]
    listed = [kernels.product, kernels.halves]
    files = {file.name for file in af.build(listed, tmp_path, name="some", platform=name, python=True)}
    assert {shared, "libsome.a", "some.h", f"some-0.1.0-py3-none-{wheel}.whl"} <= files
    image = (tmp_path / shared).read_bytes()
    assert image.startswith(begin)
    assert all(word in image for word in (b"product\0", b"halves\0"))


@pytest.mark.parametrize("name", RUN)
def test_a_program_uses_a_library_for_a_platform(name, tmp_path):
    require_zig()
    words = RUN[name]()
    af.build([kernels.product, kernels.halves], tmp_path, name="some", platform=name)
    (tmp_path / "main.c").write_text(PROGRAM)
    command = platforms.compiler_for(platforms.platform(name))
    linked = "some.lib" if name.startswith("windows") else "libsome.so"
    made = [command.path, *command.arguments, "-O1", "main.c", linked, "-Wl,-rpath,.", "-o", "main.exe"]
    subprocess.run(made, cwd=tmp_path, check=True, timeout=300)
    environment = {**os.environ, "WINEPREFIX": str(tmp_path / "wine"), "WINEDEBUG": "-all"}
    done = subprocess.run(
        [*words, "./main.exe"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout == "5 11 14 23\n"


def require_zig() -> None:
    """Skip the running test where zig is not."""
    if toolchain.zig() is None:
        not_here("zig (pip install ziglang)")


def not_here(what: str) -> NoReturn:
    """Skip the running test, and count it: the long run asks for more than what `.ci/run` installs."""
    pytest.skip(f"{oracles.MISSING_ORACLE}needs {what}")
