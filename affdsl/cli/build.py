"""`affdsl build`: kernels of Python modules as a library for C, C++ and Python."""

from __future__ import annotations

import re

from affdsl.cli.files import complain
from affdsl.cli.flags import CommandLine, Flag, UsageError
from affdsl.cli.kernels import kernel_of
from affdsl.errors import AffdslError
from affdsl.shipping import build

HELP = """usage: affdsl build [flags] module:kernel [module:kernel ...] -o folder

Makes a library of kernels, which needs no affdsl: its C and header, a static and a shared library, a CMakeLists.txt
that installs it, a file for pkg-config, and with --python a wheel. MODULE:KERNEL imports a Python module, as
`python -m` does, and takes a kernel of it. The compiler is the first of $AFFDSL_CC, $CC, gcc, clang, cc and the
`zig cc` of the Python package ziglang.

  affdsl build examples.gemm:gemm -o out
  affdsl build examples.gemm:gemm examples.conv2d:conv2d --name=kernels --optimize --targets=avx512,avx2,baseline -o out
  CC=aarch64-linux-gnu-gcc affdsl build examples.gemm:gemm --target=neon -o out"""
FLAGS = (
    Flag("o", "value", "The folder to write, made where it is missing", "folder"),
    Flag("name", "value", "What the library is called (default: as its only kernel)", "name"),
    Flag("version", "value", "The version of the library (default: 0.1.0)", "number.number.number"),
    Flag("prefix", "value", "What the functions in C are called, before the name of the kernel", "name"),
    Flag("target", "value", "The CPUs for which it is: baseline, native or an instruction set (default: baseline)",
         "target"),
    Flag("targets", "list", "Several, among which the library chooses when it runs; baseline is one of them",
         "target,target"),
    Flag("optimize", "optional", "Make loops fast first, for each target: threads=4, contract, reassociate, reciprocal",
         "options"),
    Flag("python", "switch", "Also write a wheel, which needs NumPy only"),
    Flag("checked", "switch", "Also write functions NAME_check, which say whether NAME may run with some sizes"),
    Flag("openmp", "switch", "Run parallel loops on threads (default: on)"),
    Flag("threads-parameter", "switch", "Let functions with parallel loops take the number of their threads"),
    Flag("platform", "value", "Where it will run, built by zig cc: windows-x86_64, macos-aarch64, wasm32, ...",
         "platform"),
    Flag("bindings", "list", "Also write declarations for other languages: fortran, rust, julia", "language,language"),
)  # fmt: skip

_SWITCHES = ("contract", "reassociate", "reciprocal")


def main(line: CommandLine) -> int:
    """Run the command; the exit status. Raises UsageError for a command line that means nothing."""
    folder = line.given("o")
    if not line.words:
        raise UsageError("affdsl build: needs MODULE:KERNEL, once or several times")
    if folder is None:
        raise UsageError("affdsl build: say where to write the library: -o out")
    try:
        files = build(
            [kernel_of(word) for word in line.words],
            folder,
            name=line.given("name"),
            version=line.given("version") or "0.1.0",
            prefix=line.given("prefix") or "",
            targets=(*line.values.get("target", ()), *line.listed("targets")) or "baseline",
            optimize=optimizing(line.given("optimize")),
            python=line.on("python"),
            checked=line.on("checked"),
            openmp=line.on("openmp", default=True),
            platform=line.given("platform"),
            bindings=line.listed("bindings"),
            threads_parameter=line.on("threads-parameter"),
        )
    except UsageError as error:
        raise UsageError(f"affdsl build: {error}") from None
    except AffdslError as error:
        complain(f"affdsl build: {error}")
        return 1
    for file in files:
        print(file)
    return 0


def optimizing(text: str | None) -> bool | dict[str, int]:
    """What is asked of `Kernel.optimize`; False if nothing is."""
    if text is None:
        return False
    found: dict[str, int] = {}
    for word in text.split():
        name, equals, number = word.partition("=")
        if name == "threads" and re.fullmatch(r"[1-9]\d{0,3}", number, re.ASCII):
            found[name] = int(number)
        elif name in _SWITCHES and not equals:
            found[name] = True
        else:
            raise UsageError(f"--optimize: '{word}' is no option: they are threads=4, {', '.join(_SWITCHES)}")
    return found
