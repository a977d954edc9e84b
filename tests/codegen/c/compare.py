"""Compiles emitted C with every warning an error, runs it, and compares with the interpreter."""

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import numpy as np

from affdsl.codegen.arguments import ArrayResult
from affdsl.codegen.c.emit import emit, emit_jit
from affdsl.codegen.c.entry import signature
from affdsl.ir.dialects.func import Module
from affdsl.ir.interpreter import run
from affdsl.ir.types import MemRefType
from tests.effort import TRIES_ALL, some
from tests.harness.judges import copied
from tests.oracles import require

WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-Wconversion")
STRICT = ("-std=c11", "-ffp-contract=off", *WARNINGS)
WAYS = (("-O2",), ("-O0", "-fopenmp"))

_compiled: set[tuple[str, str]] = set()
"""Sources and headers that compiled: others that are the same do so, too."""


def compilers(*flags: str) -> list[str]:
    return [require("gcc", flags), require("clang-22", flags)]


def compile_silently(
    source: str,
    folder: Path,
    compiler: str,
    *flags: str,
    header: tuple[str, str] | None = None,
    kind: Sequence[str] = ("-shared", "-lm"),
) -> Path:
    """Compile to a shared library, or with kind ("-c",) without linking; fails with the compiler's message if any."""
    folder.mkdir(exist_ok=True)
    (folder / "kernel.c").write_text(source)
    if header is not None:
        (folder / header[0]).write_text(header[1])
    library = folder / f"kernel{len(list(folder.iterdir()))}.so"
    command = [compiler, *STRICT, *flags, "-fPIC", "kernel.c", "-o", str(library), *kind]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    message = f"{' '.join(command)}\n{done.stderr}\n{source}"
    assert done.returncode == 0, message
    assert not done.stderr, message
    return library


def check_compiles(module: Module, entry: str, folder: Path, *, sizes: int = 0) -> str:
    """Compile what emit gives with every compiler, with and without OpenMP, and its header as C++; gives the source.

    Unless all is tried, each compiler has one of both, and one compiler reads the header: sources take turns.
    """
    made = emit(module, entry, sizes=sizes)
    if (made.source, made.header) in _compiled:
        return made.source
    turn = crc32(made.source.encode()) % 2
    for number, compiler in enumerate(compilers("-fopenmp", "-x", "c++")):
        for flags in some(WAYS[:: 1 if (turn + number) % 2 else -1], 1):
            header = f"{made.name}.h", made.header
            compile_silently(made.source, folder, compiler, *flags, header=header, kind=("-c",))
        if number != turn and not TRIES_ALL:
            continue
        (folder / "use.cpp").write_text(f'#include "{made.name}.h"\n#include "{made.name}.h"\n')
        language = ["-x", "c++", "-fsyntax-only", *WARNINGS]
        done = subprocess.run([compiler, *language, "use.cpp"], cwd=folder, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), f"{done.stderr}\n{made.header}"
    _compiled.add((made.source, made.header))
    return made.source


def run_c(
    module: Module,
    entry: str,
    arguments: Sequence[object],
    folder: Path,
    *,
    sizes: int = 0,
    flags: Sequence[str] = ("-O1", "-fopenmp"),
    vector_types: bool = True,
) -> tuple[object, ...]:
    """Compile with gcc and call through the packed entry points."""
    compiler = require("gcc", flags)
    text = emit_jit(module, entry, sizes=sizes, vector_types=vector_types)
    library = ctypes.CDLL(str(compile_silently(text, folder, compiler, *flags)))
    status, results = call(library, module, entry, arguments, sizes=sizes)
    assert status == 0
    return results


def call(
    library: ctypes.CDLL, module: Module, entry: str, arguments: Sequence[object], *, sizes: int = 0
) -> tuple[int, tuple[object, ...]]:
    """Call a compiled module; gives the status and the results."""
    types = signature(module, entry, sizes=sizes, names=[f"a{k}" for k in range(len(arguments))])
    held: list[np.ndarray] = []
    dimensions: list[int] = []
    for argument, type in zip(arguments, types.arguments, strict=True):
        array = argument if isinstance(argument, np.ndarray) else np.array(argument, type.dtype)
        assert array.dtype == type.dtype, (array.dtype, type)
        held.append(array)
        if isinstance(argument, np.ndarray):
            dimensions += array.shape
    c_sizes = (ctypes.c_int64 * max(len(dimensions), 1))(*dimensions)

    def pointers(arrays: Sequence[np.ndarray]) -> object:
        return (ctypes.c_void_p * max(len(arrays), 1))(*(a.ctypes.data for a in arrays))

    arrays = [r for r in types.results if isinstance(r, ArrayResult)]
    made = (ctypes.c_int64 * max(sum(r.rank for r in arrays), 1))()
    if arrays:
        status = library.affdsl_results(c_sizes, pointers(held), made)
        if status != 0:
            return status, ()
    shapes = iter(made)
    results = [
        np.empty([next(shapes) for _ in range(r.rank)] if isinstance(r, ArrayResult) else (), r.dtype)
        for r in types.results
    ]
    status = library.affdsl_entry(pointers([*held, *results]), c_sizes)
    return status, tuple(
        a if isinstance(r, ArrayResult) else a[()] for a, r in zip(results, types.results, strict=True)
    )


def check(
    module: Module,
    entry: str,
    arguments: Sequence[object],
    folder: Path,
    *,
    sizes: Sequence[int] = (),
    exact: bool = True,
) -> tuple[object, ...]:
    """Run the interpreter and the C on the same arguments; all arrays and results must agree."""
    func = next(f for f in module.functions if f.symbol == entry)
    first, second = (copied(arguments) for _ in range(2))
    expected = run(func, *sizes, *first, module=module, uninitialised="poison")
    check_compiles(module, entry, folder, sizes=len(sizes))
    results = run_c(module, entry, second, folder, sizes=len(sizes))
    for kind, a, b in zip(func.args[len(sizes) :], first, second, strict=True):
        if isinstance(kind.type, MemRefType):
            _agree(a, b, exact=exact)
    assert len(expected) == len(results)
    for a, b in zip(expected, results, strict=True):
        _agree(np.asarray(a), np.asarray(b), exact=exact)
    return results


def _agree(expected: np.ndarray, got: np.ndarray, *, exact: bool) -> None:
    if exact or expected.dtype.kind != "f":
        np.testing.assert_array_equal(got, expected, strict=False)
        if expected.dtype.kind == "f":
            np.testing.assert_array_equal(np.signbit(got) | np.isnan(got), np.signbit(expected) | np.isnan(expected))
    else:
        np.testing.assert_allclose(got, expected, rtol=4 * np.finfo(expected.dtype).eps)
