"""The ways to run random programs beside the interpreter: as C by some compiler, and as MLIR through LLVM."""

from __future__ import annotations

import struct
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from affdsl.errors import UnsupportedError
from affdsl.ir.dialects import func
from affdsl.mlir.writers import print_op
from codegen.arguments import ArrayResult, Signature
from codegen.c.emit import emit, emit_jit
from codegen.c.entry import signature
from codegen.c.sites import Sites
from tests.differential.generator import Program
from tests.differential.outcome import Outcome, copies, outcome
from tests.native import Results
from tests.oracles import require, run_mlir

WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-Wconversion")
STRICT = ("-std=c11", "-ffp-contract=off", *WARNINGS)
TIME_LIMIT = 120  # seconds, for one run of a compiler or of a batch

Verdict = Outcome | str
"""What a call gave, or what went wrong instead."""


@dataclass(frozen=True)
class C:
    """A C compiler with its flags."""

    compiler: str
    flags: tuple[str, ...]
    checked: bool = False
    """Whether every access is checked."""

    def __str__(self) -> str:
        return f"{self.compiler} {' '.join(self.flags)}{' with checks' if self.checked else ''}"


# Warnings that gcc makes up where it optimizes, about paths that no call takes.
UNREACHABLE = (
    "-Wno-array-bounds",
    "-Wno-stringop-overflow",
    "-Wno-restrict",
    "-Wno-aggressive-loop-optimizations",
    "-Wno-maybe-uninitialized",
)
CHECKED = C("gcc", ("-O1", "-fopenmp", "-fwrapv", *UNREACHABLE), checked=True)
LEVELS = tuple(C("gcc", (level, *UNREACHABLE)) for level in ("-O1", "-O2", "-Os"))
"""People compile what they are given as they like: right at one level is not right at all."""
GCC = LEVELS[0]
COMPILERS = (
    *LEVELS,
    C("gcc", ("-O2", "-fopenmp", *UNREACHABLE)),
    C("clang-22", ("-Os",)),
    C("clang-22", ("-O2",)),
    C("gcc", ("-O3", "-march=native", *UNREACHABLE)),
    CHECKED,
    C("gcc", ("-O0", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")),
    C("clang-22", ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")),
)


def by_c(programs: Sequence[Program], expected: Sequence[Sequence[Outcome]], how: C) -> list[list[Verdict]]:
    """The outcome of each call of each program, compiled together; `expected` says how large results are."""
    with tempfile.TemporaryDirectory(prefix="differential-") as name:
        folder = Path(name)
        failed = _compile(programs, how, folder)
        cases: list[tuple[int, int, bytes]] = []
        answers: list[list[Verdict]] = [[failed.get(k, "not run") for _ in p.calls] for k, p in enumerate(programs)]
        for k, program in enumerate(programs):
            if k not in failed:
                for n, given in enumerate(program.calls):
                    cases.append((k, n, _case(k, program, given, expected[k][n])))
        while cases:
            done = subprocess.run(
                [str(folder / "batch")], input=b"".join(c[2] for c in cases), capture_output=True, timeout=TIME_LIMIT
            )
            output = done.stdout
            while cases:
                k, n, data = cases[0]
                size = 8 + _payload(data)
                if len(output) < size:
                    break
                answers[k][n] = _answer(programs[k], programs[k].calls[n], data, output[:size])
                output = output[size:]
                cases.pop(0)
            if cases:
                said = done.stderr.decode(errors="replace").strip() or f"exit status {done.returncode}"
                k, n, _ = cases.pop(0)
                answers[k][n] = f"crash: {said[:1500]}"
        return answers


def _compile(programs: Sequence[Program], how: C, folder: Path) -> dict[int, str]:
    """Compile programs into folder/batch; gives what the compiler said to those that it refused."""
    compiler = require(how.compiler, how.flags)
    failed: dict[int, str] = {}
    tables: dict[str, list[str]] = {"entry": [], "results": []}
    declared: list[str] = []
    names: list[str] = []
    for k, program in enumerate(programs):
        try:
            sites = Sites() if how.checked else None
            text = emit_jit(program.module, program.entry, sizes=program.sizes, sites=sites)
        except UnsupportedError as problem:
            failed[k] = f"unsupported: {problem}"
        if k in failed:
            tables["entry"].append("NULL")
            tables["results"].append("NULL")
            continue
        names.append(f"p{k}")
        renamed = "".join(f"#define affdsl_{part} {part}_{k}\n" for part in (*tables, "failure"))
        (folder / f"p{k}.c").write_text(renamed + text)
        for part, table in tables.items():
            is_there = f"affdsl_{part}(" in text
            table.append(f"{part}_{k}" if is_there else "NULL")
            if is_there:
                declared.append(f"extern {part}_function {part}_{k};")
    done = subprocess.run(
        [compiler, *STRICT, *how.flags, "-c", *(f"{n}.c" for n in names)], cwd=folder, capture_output=True,
        timeout=TIME_LIMIT, text=True,
    )  # fmt: skip
    if done.returncode or done.stderr:
        for k in range(len(programs)):
            lines = [line for line in done.stderr.splitlines() if line.startswith(f"p{k}.c")]
            if k not in failed and (lines or not (folder / f"p{k}.o").exists()):
                failed[k] = "compiler: " + "\n".join(lines[:8])
                (folder / f"p{k}.o").unlink(missing_ok=True)
                for table in tables.values():
                    table[k] = "NULL"
    driver = Path(__file__).with_name("batch.c").read_text().replace(
        "extern entry_function *const entries[];\nextern results_function *const results[];\n",
        "\n".join(declared) + "".join(
            f"\nstatic {part}_function *const {name}[] = {{{', '.join(tables[part])}}};"
            for part, name in (("entry", "entries"), ("results", "results"))
        ) + "\n",
    )  # fmt: skip
    (folder / "batch.c").write_text(driver)
    objects = [f"p{k}.o" for k in range(len(programs)) if k not in failed]
    subprocess.run(
        [compiler, *how.flags, "-o", "batch", "batch.c", *objects, "-lm"], cwd=folder, check=True, timeout=TIME_LIMIT
    )
    return failed


def _case(number: int, program: Program, given: Sequence[object], expected: Outcome) -> bytes:
    """A call as batch.c reads it."""
    types = _signature(program)
    passed = list(given)[program.sizes :]
    held = [
        x if isinstance(x, np.ndarray) else np.array(x, t.dtype) for x, t in zip(passed, types.arguments, strict=True)
    ]
    dims = [n for x in passed if isinstance(x, np.ndarray) for n in x.shape]
    made: list[int] = []
    for array, type in zip(expected.results, types.results, strict=True):
        held.append(np.full(array.shape, 7, type.dtype))
        made += array.shape if isinstance(type, ArrayResult) else ()
    parts = [struct.pack("<qq", number, len(held))]
    for array in held:
        data = array.tobytes()
        parts += [struct.pack("<q", len(data)), data]
    for numbers in (dims, made):
        parts.append(struct.pack(f"<q{len(numbers)}q", len(numbers), *numbers))
    return b"".join(parts)


def _signature(program: Program) -> Signature:
    names = [f"a{k}" for k in range(len(program.function.args) - program.sizes)]
    return signature(program.module, program.entry, sizes=program.sizes, names=names)


def _payload(data: bytes) -> int:
    """How many bytes all pointers of a case have."""
    total, at = 0, 16
    for _ in range(struct.unpack_from("<q", data, 8)[0]):
        (size,) = struct.unpack_from("<q", data, at)
        total, at = total + size, at + 8 + size
    return total


def _answer(program: Program, given: Sequence[object], data: bytes, output: bytes) -> Verdict:
    (status,) = struct.unpack_from("<q", output)
    if status:
        return f"status {status}"
    types = _signature(program)
    changed, results, at, read = copies(given), [], 16, 8
    shapes = [x.shape if isinstance(x, np.ndarray) else () for x in changed[program.sizes :]]
    dtypes = [t.dtype for t in (*types.arguments, *types.results)]
    (count,) = struct.unpack_from("<q", data, 8)
    tail = at
    for _ in range(count):
        tail += 8 + struct.unpack_from("<q", data, tail)[0]
    tail += 8 + 8 * struct.unpack_from("<q", data, tail)[0]
    (made,) = struct.unpack_from("<q", data, tail)
    dims = list(struct.unpack_from(f"<{made}q", data, tail + 8))
    for result in types.results:
        rank = result.rank if isinstance(result, ArrayResult) else 0
        shapes.append(tuple(dims[:rank]))
        dims = dims[rank:]
    for k, (shape, kind) in enumerate(zip(shapes, dtypes, strict=True)):
        (size,) = struct.unpack_from("<q", data, at)
        array = np.frombuffer(output[read : read + size], kind).reshape(shape)
        at, read = at + 8 + size, read + size
        if k >= len(types.arguments):
            results.append(array)
        elif isinstance(changed[program.sizes + k], np.ndarray):
            changed[program.sizes + k] = array
    return outcome(program.function, changed, results)


def by_mlir(programs: Sequence[Program]) -> list[list[Verdict]]:
    """The outcome of each call of each program, as one MLIR module; what MLIR refuses is looked for by halves."""
    text = print_op(func.Module(tuple(f for p in programs for f in p.module.functions)))
    answers: list[list[Verdict]] = []
    for program in programs:
        found: list[Verdict] = []
        for given in program.calls:
            changed = copies(given)
            try:
                results = run_mlir(text, program.entry, changed)  # type: ignore[arg-type]
            except AssertionError as problem:
                if not _is_call(problem):
                    if len(programs) == 1:
                        return [[f"mlir: {str(problem)[:1500]}" for _ in p.calls] for p in programs]
                    half = len(programs) // 2
                    return by_mlir(programs[:half]) + by_mlir(programs[half:])
                found.append(f"crash: {problem}")
                continue
            found.append(outcome(program.function, changed, _listed(results)))
        answers.append(found)
    return answers


def _is_call(problem: AssertionError) -> bool:
    return str(problem).startswith(("@", "the call of"))


def _listed(results: Results) -> tuple[object, ...]:
    if results is None:
        return ()
    return results if isinstance(results, tuple) else (results,)


def header_compiles(program: Program, folder: Path) -> str:
    """What a compiler says to the standalone C of a program and to its header as C++; nothing where all is well."""
    made = emit(program.module, program.entry, sizes=program.sizes)
    (folder / f"{made.name}.c").write_text(made.source)
    (folder / f"{made.name}.h").write_text(made.header)
    (folder / "use.cpp").write_text(f'#include "{made.name}.h"\n')
    said = ""
    for command in (
        [require("gcc"), *STRICT, "-O1", "-c", f"{made.name}.c", "-o", "kernel.o"],
        [require("gcc", ("-x", "c++")), "-x", "c++", "-fsyntax-only", *WARNINGS, "use.cpp"],
    ):
        said += subprocess.run(command, cwd=folder, capture_output=True, timeout=TIME_LIMIT, text=True).stderr
    return said
