"""Runs the outside judges of our output: mlir-opt accepts it, LLVM executes it, gcc and clang compile it.

An oracle that is not installed skips the test that needs it; with AFFDSL_REQUIRE_ORACLES set it fails the test instead.
Whether a compiler can do what a test asks of it (sanitizers, OpenMP, C++) is found out by a tiny program, not guessed
from its version: distributions ship the parts in packages of their own.
"""

import atexit
import functools
import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

import pytest

from affdsl.codegen.toolchain import zig
from tests import native

MISSING_ORACLE = "oracle missing: "

# Tool -> (the version it must have, or None for any; the package that has it).
TOOLS = {
    "mlir-opt-22": ("22", "mlir-22-tools"),
    "mlir-translate-22": ("22", "mlir-22-tools"),
    "mlir-runner-22": ("22", "mlir-22-tools"),
    "llc-22": ("22", "llvm-22"),
    "clang-22": ("22", "clang-22"),
    "gcc": (None, "gcc"),
    "g++": (None, "g++"),
    "gfortran": (None, "gfortran"),
    "rustc": (None, "rustc"),
    "aarch64-linux-gnu-gcc": (None, "gcc-aarch64-linux-gnu"),
    "riscv64-linux-gnu-gcc": (None, "gcc-riscv64-linux-gnu"),
    "qemu-aarch64": (None, "qemu-user"),
    "qemu-riscv64": (None, "qemu-user"),
    "qemu-x86_64": (None, "qemu-user"),
    "cmake": (None, "cmake"),
    "make": (None, "make"),
    "pkg-config": (None, "pkg-config"),
    "objdump": (None, "binutils"),
    "nm": (None, "binutils"),
    "auditwheel": (None, "auditwheel"),
    "chromium": (None, "chromium"),
}
OPTIONAL = {
    "s390x-linux-gnu-gcc": "package gcc-s390x-linux-gnu",
    "powerpc64le-linux-gnu-gcc": "package gcc-powerpc64le-linux-gnu",
    "qemu-s390x": "package qemu-user",
    "qemu-ppc64le": "package qemu-user",
    "zig": "pip install ziglang",
    "wasmtime": "pip install wasmtime",
    "node": "package nodejs",
}
"""Tools of the long run, which `.ci/run` does not install, with what has them."""
COMPILERS = ("clang-22", "gcc", "g++")

# Flags that need more than the compiler's own package -> the package that has it, for gcc and for clang.
PARTS = {
    "-fsanitize": ("gcc", "libclang-rt-22-dev"),
    "-fopenmp": ("gcc", "libomp-22-dev"),
    "-march": ("gcc", "clang-22"),
    "-x": ("g++", "clang-22"),
}
PROBE = "int main(void);\nint main(void) { return 0; }\n"
"""A program that is right in C and in C++."""

TIMEOUT = 120  # seconds, for each run of a tool

# Every dialect that affdsl prints, down to LLVM. Functions get a C interface: one pointer for each memref, and one for
# the results where there are several or a memref.
LOWERING = """builtin.module(
    func.func(llvm-request-c-wrappers, lower-affine, convert-vector-to-scf, convert-complex-to-standard,
    convert-arith-to-llvm, arith-expand),
    convert-complex-to-llvm, convert-scf-to-cf, convert-math-to-funcs, convert-math-to-llvm{approximate-log1p=false},
    convert-math-to-libm, convert-vector-to-llvm, expand-strided-metadata, lower-affine, finalize-memref-to-llvm,
    convert-func-to-llvm, convert-cf-to-llvm, convert-arith-to-llvm, convert-index-to-llvm, convert-ub-to-llvm,
    reconcile-unrealized-casts)"""

# The same by threads of OpenMP: loops are OpenMP's first. Iterations are then scopes of what they make on the stack, of
# one block each: those that make nothing are gone after canonicalize, others once memory is LLVM's, before branches.
OPENMP = LOWERING.replace(
    "convert-complex-to-llvm, convert-scf-to-cf,",
    """convert-complex-to-llvm, convert-scf-to-openmp, canonicalize, expand-strided-metadata, lower-affine,
    finalize-memref-to-llvm, convert-scf-to-cf,""",
).replace("convert-func-to-llvm,", "convert-func-to-llvm, convert-openmp-to-llvm,")


def require(tool: str, flags: Sequence[str] = ()) -> str:
    """The path of a tool, under its versioned name or the plain one if that has the right version.

    A compiler must also make a program that runs, with those of `flags` that need more than the compiler.
    """
    path = _find(tool)
    if path is None:
        missing(f"{tool} (package {TOOLS[tool][1]})")
    if tool in COMPILERS:
        asked = _asking(flags)
        if said := _refusal(path, asked):
            packages = dict.fromkeys(PARTS[_part(flag)][tool == "clang-22"] for flag in asked if _part(flag) in PARTS)
            missing(
                f"a {tool} whose programs run{f' with {shlex.join(asked)}' if asked else ''} "
                f"(package {', '.join(packages) or 'libc6-dev'}); it said: {said}"
            )
    return path


def missing(what: str) -> NoReturn:
    """Skip the running test for want of something of this machine, or fail it where everything must be there."""
    message = f"{MISSING_ORACLE}needs {what}"
    if os.environ.get("AFFDSL_REQUIRE_ORACLES"):
        pytest.fail(message)
    pytest.skip(message)


def optional(tool: str) -> str:
    """The path of a tool of `OPTIONAL`; skips the running test, and counts it, where the tool is not installed.

    zig and wasmtime are packages of Python: of the latter it is the package itself.
    """
    if tool == "zig":
        found = zig()
    elif tool == "wasmtime":
        spec = importlib.util.find_spec(tool)
        found = spec and spec.origin
    else:
        found = shutil.which(tool)
    if found is None:
        pytest.skip(f"{MISSING_ORACLE}needs {tool} ({OPTIONAL[tool]})")
    return str(found)


def require_headers() -> None:
    """Python's header files, with which the compiled caller is built."""
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        missing("Python.h (package python3-dev)")


def call_by(caller: str, patch: pytest.MonkeyPatch) -> None:
    """Have kernels called by the compiled caller or that of ctypes; the former is built with header files of Python."""
    if caller == "compiled":
        require_headers()
    patch.setenv("AFFDSL_CALLER", caller)


def mlir_opt(text: str, *arguments: str) -> str:
    """What mlir-opt prints for a module; fails with its diagnostics where it refuses the text."""
    return _run([require("mlir-opt-22"), *arguments, "-"], text).decode()


def run_mlir(
    text: str, function: str, arguments: Sequence[native.Argument] = (), *, lowering: str = LOWERING
) -> native.Results:
    """Lower a module with mlir-opt, compile it with LLVM, and call one of its functions on NumPy arrays, in place.

    Takes and returns what native.call does: arrays for memrefs, numbers for scalars; None, one result, or a tuple.
    The call is made in a forked child, so that a crash is a failure of one test. What is lowered to OpenMP runs on two
    threads.
    """
    library, types = _lowered(text, lowering)
    if function not in types:
        raise AssertionError(f"no function @{function} in the module, only {', '.join(types)}:\n{text}")
    return native.call(library, function, native.signature(types[function]), arguments)


def compile_c(
    sources: Mapping[str, str], compiler: str = "gcc", flags: Sequence[str] = (), *, shared: bool = True
) -> Path:
    """A shared library (or a program, with shared=False) made of C or C++ files; headers are written next to them.

    Fails with the command and what the compiler said if it said anything at all.
    """
    path = require(compiler, flags)
    folder = Path(tempfile.mkdtemp(dir=scratch()))
    for name, text in sources.items():
        (folder / name).write_text(text, encoding="utf-8")
    units = [name for name in sources if not name.endswith((".h", ".hpp"))]
    kind = ["-shared", "-fPIC"] if shared else []
    output = folder / ("lib.so" if shared else "program")
    command = [path, *flags, *kind, "-o", str(output), *units, "-lm"]
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT)
    if done.returncode or done.stderr or done.stdout:
        said = (done.stdout + done.stderr).decode(errors="replace")
        raise AssertionError(f"{shlex.join(command)}\n{said}\n" + _listing(sources))
    return output


@functools.cache
def _find(tool: str) -> str | None:
    version, _ = TOOLS[tool]
    for name in dict.fromkeys((tool, tool.removesuffix(f"-{version}"))):
        path = shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))
        if path is not None and (version is None or _version(path) == version):
            return path
    return None


def _version(path: str) -> str | None:
    said = subprocess.run([path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT)
    found = re.search(r"version (\d+)\.", said.stdout.decode(errors="replace"))
    return found[1] if found else None


def _asking(flags: Sequence[str]) -> tuple[str, ...]:
    """The flags of PARTS, each with its value."""
    found: list[str] = []
    for flag, value in pairwise((*flags, "")):
        if _part(flag) in PARTS:
            found += [flag, value] if flag == "-x" else [flag]
    return tuple(found)


def _part(flag: str) -> str:
    return flag.partition("=")[0]


@functools.cache
def _refusal(path: str, flags: tuple[str, ...]) -> str:
    """What went wrong with a program that does nothing, compiled with some flags and run; nothing where it is well."""
    folder = Path(tempfile.mkdtemp(dir=scratch()))
    (folder / "probe.c").write_text(PROBE)
    for command in ([path, *flags, "probe.c", "-o", "probe"], ["./probe"]):
        try:
            done = subprocess.run(
                command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT, check=False
            )
        except OSError as error:
            return str(error)
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            return said[0] if said else f"exit status {done.returncode}"
    return ""


@functools.cache
def _lowered(text: str, lowering: str = LOWERING) -> tuple[Path, dict[str, str]]:
    """The shared library of a module, and the types of its functions."""
    shown_first = lowering.replace("(", "(print-ir,", 1)  # on the standard error, with the types as they are written
    done = _ran([require("mlir-opt-22"), f"--pass-pipeline={shown_first}", "--mlir-print-op-generic", "-"], text)
    return _library(done.stdout.decode()), native.function_types(done.stderr.decode())


@functools.cache
def _library(lowered: str) -> Path:
    """The shared library of a module of the LLVM dialect: one for all spellings of a program."""
    llvm = _run([require("mlir-translate-22"), "--mlir-to-llvmir"], lowered)
    stem = scratch() / hashlib.sha256(lowered.encode()).hexdigest()
    code, library = stem.with_suffix(".o"), stem.with_suffix(".so")
    _run([require("llc-22"), "-O0", "-filetype=obj", "-relocation-model=pic", "-o", str(code)], llvm)
    # A reference that nothing defines must fail here, not end the process at the call.
    command = [require("gcc"), "-shared", "-Wl,-z,defs", "-Wl,--as-needed", "-o", str(library), str(code)]
    _run([*command, *runner_libraries(), *(_openmp() if "omp." in lowered else ()), "-lm"], "")
    return library


def _openmp() -> list[str]:
    """LLVM's own run-time of OpenMP."""
    folder = Path(require("mlir-opt-22")).resolve().parent.parent / "lib"
    if not (folder / "libomp.so").exists():
        missing("libomp.so of LLVM 22 (package libomp-22-dev)")
    return [f"-Wl,-rpath,{folder}", str(folder / "libomp.so")]


def runner_libraries() -> list[str]:
    """MLIR's own run-time support (memrefCopy, printing, bf16 conversions), linked only where a module needs it."""
    folder = Path(require("mlir-opt-22")).resolve().parent.parent / "lib"
    found = [
        next(iter(sorted(folder.glob(f"libmlir_{name}_utils.so*"))), None) for name in ("c_runner", "runner", "float16")
    ]
    return [f"-Wl,-rpath,{folder}", *(str(path) for path in found if path is not None)]


def _run(command: Sequence[str], given: str | bytes) -> bytes:
    return _ran(command, given).stdout


def _ran(command: Sequence[str], given: str | bytes) -> subprocess.CompletedProcess[bytes]:
    given = given.encode() if isinstance(given, str) else given
    done = subprocess.run(command, input=given, capture_output=True, timeout=TIMEOUT)
    if done.returncode:
        said = done.stderr.decode(errors="replace")
        raise AssertionError(f"{shlex.join(command)}\n{said}\n" + _listing({"input": given.decode(errors="replace")}))
    return done


def _listing(sources: Mapping[str, str]) -> str:
    """Sources with line numbers, as the tools' messages count them."""
    return "\n".join(
        f"{name}:\n" + "\n".join(f"{number:4} {line}" for number, line in enumerate(text.splitlines(), 1))
        for name, text in sources.items()
    )


@functools.cache
def scratch() -> Path:
    folder = tempfile.mkdtemp(prefix="affdsl-oracles-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
