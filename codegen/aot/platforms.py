"""The systems and CPUs for which libraries are built here by `zig cc`, which has the C libraries of all of them."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.codegen.errors import BuildError, ToolchainError
from affdsl.codegen.toolchain import Command, find_compiler, is_zig, zig
from affdsl.frozen import FrozenValue


class Platform(FrozenValue):
    """A system on a CPU, of which zig and wheels have names of their own; there are none where there are no wheels."""

    name: str
    triple: str
    wheel: str


PLATFORMS: Mapping[str, Platform] = {
    each.name: each
    for each in (
        Platform("linux-x86_64", "x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64"),
        Platform("linux-aarch64", "aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64"),
        Platform("macos-x86_64", "x86_64-macos.11.0", "macosx_11_0_x86_64"),
        Platform("macos-aarch64", "aarch64-macos.11.0", "macosx_11_0_arm64"),
        Platform("windows-x86_64", "x86_64-windows-gnu", "win_amd64"),
        Platform("windows-aarch64", "aarch64-windows-gnu", "win_arm64"),
        Platform("wasm32", "wasm32-wasi", ""),
    )
}
"""By their names. Linux is that of glibc 2.17 and newer, macOS 11 and newer, wasm32 any engine of WebAssembly."""


def platform(name: str) -> Platform:
    """The platform of that name. Raises BuildError where there is none.

    >>> platform("windows-x86_64").triple
    'x86_64-windows-gnu'
    """
    if name not in PLATFORMS:
        raise BuildError(f"there is no platform {name!r}: they are {', '.join(PLATFORMS)}")
    return PLATFORMS[name]


def compiler_for(wanted: Platform) -> Command:
    """The command of zig that makes code for a platform: that of the environment, or else of the package ziglang.

    Raises ToolchainError where there is no zig, and as `find_compiler` does.
    """
    # The CPU is always the same one, since zig makes the C library anew for each that it meets.
    told = ("cc", "-target", wanted.triple, "-mcpu=baseline")
    found = find_compiler()
    if is_zig((str(found.path), *found.arguments)) and "cc" in found.arguments:
        return Command(found.path, (*found.arguments[: found.arguments.index("cc")], *told))
    if packaged := zig():
        return Command(packaged, told)
    raise ToolchainError(
        f"a library for {wanted.name} is built by zig, which is not installed: run pip install 'affdsl[zig]', "
        "or set AFFDSL_CC to 'zig cc'"
    )
