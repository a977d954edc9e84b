"""A kernel of fixed size as C++ that MLIR's emitc makes of it, compiled and called."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

import affdsl as af
from affdsl.ir.types import MemRefType
from tests import native, oracles
from tests.handed_on.lowered import run, tool

PIPELINE = """builtin.module(func.func(lower-affine, scf-parallel-for-to-nested-fors), convert-math-to-libm,
    arith-expand, expand-strided-metadata, lower-affine, convert-to-emitc, canonicalize)"""
"""Bands become loops, since emitc has no other; functions are those of the C library."""
_HEAD = '#include <cmath>\n#include <cstddef>\n#include <cstdint>\nextern "C" {\n'


def emitted(kernel: af.Kernel) -> str:
    """C++ of a kernel whose sizes are numbers."""
    made = oracles.mlir_opt(kernel.mlir(), f"--pass-pipeline={PIPELINE}")
    return run(tool("mlir-translate", 22), "--mlir-to-cpp", given=made.encode()).decode()


def called(kernel: af.Kernel) -> Callable[..., object]:
    """The kernel by that C++, as a callable on the kernel's arguments."""
    text = f"{_HEAD}{emitted(kernel)}}}\n"
    source = oracles.scratch() / f"{hashlib.sha256(text.encode()).hexdigest()}.cpp"
    source.write_text(text)
    library = source.with_suffix(".so")
    run(oracles.require("g++"), "-shared", "-fPIC", "-O1", "-ffp-contract=off", "-o", library, source)
    return lambda *arguments: _call(library, kernel, arguments)


def _call(library: Path, kernel: af.Kernel, arguments: tuple[object, ...]) -> object:
    function = ctypes.CDLL(str(library))[kernel.name]
    types = [native._type(str(p.type)) for p in kernel.func.args]
    assert len(types) == len(arguments), "its sizes are numbers"
    given: list[object] = []
    for x, type in zip(arguments, types, strict=True):
        kind = np.ctypeslib.as_ctypes_type(type.dtype)
        given.append(x.ctypes.data_as(ctypes.c_void_p) if isinstance(x, np.ndarray) else kind(x))
    results = [native._type(str(t)) for t in kernel.func.result_types if not isinstance(t, MemRefType)]
    function.restype = np.ctypeslib.as_ctypes_type(results[0].dtype) if results else None
    return function(*given)
