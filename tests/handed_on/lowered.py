"""What a version of MLIR makes of a kernel's text: read, lowered to LLVM, and called."""

from __future__ import annotations

import functools
import hashlib
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.jit import check_sizes
from affdsl.ir.types import FunctionType
from affdsl.mlir.known_versions import LAST, Version
from tests import native, oracles

_UNTIL_14 = """lower-affine convert-vector-to-scf convert-complex-to-standard arith-expand convert-complex-to-llvm
    convert-scf-to-std convert-math-to-llvm convert-math-to-libm convert-vector-to-llvm lower-affine
    convert-memref-to-llvm convert-std-to-llvm=emit-c-wrappers reconcile-unrealized-casts"""
_UNTIL_18 = """llvm-request-c-wrappers lower-affine convert-vector-to-scf convert-complex-to-standard arith-expand
    convert-complex-to-llvm convert-scf-to-cf convert-math-to-llvm convert-math-to-libm convert-vector-to-llvm
    {metadata} lower-affine convert-memref-to-llvm convert-func-to-llvm convert-cf-to-llvm convert-arith-to-llvm
    reconcile-unrealized-casts"""


def pipeline(version: int) -> list[str]:
    """The arguments of mlir-opt that lower all that a kernel is made of to the dialect of LLVM."""
    if version >= 19:
        return [f"--pass-pipeline={oracles.LOWERING}"]
    passes = _UNTIL_14 if version < 15 else _UNTIL_18.format(metadata="expand-strided-metadata" * (version > 15))
    return [f"--{name}" for name in passes.split()]


def tool(name: str, version: int) -> str:
    """A tool of a version. Tests of other versions than the newest are skipped where it is not there, and counted."""
    path = shutil.which(f"{name}-{version}")
    if path is None:
        package = f"llvm-{version}" if name == "llc" else f"mlir-{version}-tools"
        pytest.skip(f"{oracles.MISSING_ORACLE}needs {name}-{version} (package {package})")
    return path


def run(*command: str | Path, given: bytes = b"") -> bytes:
    """What a command prints. Raises AssertionError with what it complains of."""
    done = subprocess.run(command, input=given, capture_output=True, timeout=oracles.TIMEOUT)
    if done.returncode:
        raise AssertionError(
            f"{Path(command[0]).name}: {done.stderr.decode(errors='replace')}\n{given.decode(errors='replace')[:4000]}"
        )
    return done.stdout


@functools.cache
def lowered(text: str, version: int) -> bytes:
    """A module in the dialect of LLVM."""
    return run(tool("mlir-opt", version), *pipeline(version), "-", given=text.encode())


def tried_with(version: Version) -> int:
    """The version of mlir-opt that reads the text of a version; what has none of its own is read by that of today."""
    return version if isinstance(version, int) and version <= LAST else LAST


def called(kernel: af.Kernel, version: Version) -> Callable[..., object]:
    """The kernel as a version of MLIR lowers it, as a callable on the kernel's arguments."""
    library = _library(str(kernel.mlir(version=version)), tried_with(version))
    function = kernel.func
    types = native.signature(str(FunctionType(tuple(a.type for a in function.args), function.result_types)))

    def call(*arguments: native.Argument) -> object:
        return native.call(library, kernel.name, types, _given(kernel, arguments))

    return call


def by_openmp(kernel: af.Kernel) -> Callable[..., object]:
    """The kernel as MLIR lowers it to OpenMP, as a callable on the kernel's arguments."""

    def call(*arguments: native.Argument) -> object:
        return oracles.run_mlir(kernel.mlir(), kernel.name, _given(kernel, arguments), lowering=oracles.OPENMP)

    return call


def _given(kernel: af.Kernel, arguments: Sequence[native.Argument]) -> list[native.Argument]:
    """The arguments of a call with the sizes before them."""
    shapes = [x.shape for x in arguments if isinstance(x, np.ndarray)]
    found = check_sizes(kernel.program, shapes, [x for x in arguments if not isinstance(x, np.ndarray)])
    return [*(found[size] for size in kernel.program.sizes), *arguments]


@functools.cache
def _library(text: str, version: int) -> Path:
    code = run(tool("mlir-translate", version), "--mlir-to-llvmir", given=lowered(text, version))
    stem = oracles.scratch() / hashlib.sha256(f"{version} {text}".encode()).hexdigest()
    # LLVM 14 passes an f16 as an integer, and converts it by functions that gcc's library does not have any more.
    llc = [tool("llc", max(version, 15)), "-O0", "-filetype=obj", "-relocation-model=pic"]
    run(*llc, "-o", stem.with_suffix(".o"), given=code)
    library = stem.with_suffix(".so")
    linked = ["-shared", "-Wl,-z,defs", "-Wl,--as-needed", "-o", library, stem.with_suffix(".o")]
    run(oracles.require("gcc"), *linked, *oracles.runner_libraries(), "-lm")
    return library
