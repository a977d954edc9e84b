"""The ways to run random programs beside the interpreter: as C by some compiler, and as MLIR through LLVM."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from affdsl.codegen.arguments import ArrayResult, Signature
from affdsl.codegen.c.emit import emit, emit_jit
from affdsl.codegen.c.entry import signature
from affdsl.codegen.c.sites import Sites
from affdsl.errors import UnsupportedError
from affdsl.ir.dialects import func
from affdsl.mlir.writers import print_op
from tests.differential.generator import Program
from tests.differential.outcome import Outcome, outcome
from tests.harness.batch import STRICT, TIME_LIMIT, WARNINGS, Answer, C, Case, build, execute
from tests.harness.judges import copied
from tests.native import Results
from tests.oracles import require, run_mlir

Verdict = Outcome | str
"""What a call gave, or what went wrong instead."""


def by_c(programs: Sequence[Program], expected: Sequence[Sequence[Outcome]], how: C) -> list[list[Verdict]]:
    """The outcome of each call of each program, compiled together; `expected` says how large results are."""
    failed: dict[int, str] = {}
    texts: list[str] = []
    for k, program in enumerate(programs):
        sites = Sites() if how.checked else None
        try:
            texts.append(emit_jit(program.module, program.entry, sizes=program.sizes, sites=sites))
        except UnsupportedError as problem:
            failed[k] = f"unsupported: {problem}"
            texts.append("#include <stdint.h>\nextern int32_t nothing;\n")
    with tempfile.TemporaryDirectory(prefix="differential-") as name:
        failed = build(Path(name), texts, [how]) | failed
        runs = [(k, n) for k, p in enumerate(programs) if k not in failed for n in range(len(p.calls))]
        found = execute(Path(name), [_case(k, programs[k], programs[k].calls[n], expected[k][n]) for k, n in runs])
    answers: list[list[Verdict]] = [[failed.get(k, "not run") for _ in p.calls] for k, p in enumerate(programs)]
    for (k, n), answer in zip(runs, found, strict=True):
        answers[k][n] = _outcome(programs[k], programs[k].calls[n], expected[k][n], answer)
    return answers


def _case(number: int, program: Program, given: Sequence[object], expected: Outcome) -> Case:
    """A call as it is run: pointers to arrays, to scalars, and to room for the results."""
    types, passed = _signature(program), given[program.sizes :]
    held = [
        np.asarray(x, t.dtype) if not isinstance(x, np.ndarray) else x
        for x, t in zip(passed, types.arguments, strict=True)
    ]
    held += [np.full(array.shape, 7, t.dtype) for array, t in zip(expected.results, types.results, strict=True)]
    made = [
        n
        for array, t in zip(expected.results, types.results, strict=True)
        if isinstance(t, ArrayResult)
        for n in array.shape
    ]
    sizes = [n for x in passed if isinstance(x, np.ndarray) for n in x.shape]
    return Case(number, [array.tobytes() for array in held], sizes, made)


def _outcome(program: Program, given: Sequence[object], expected: Outcome, answer: Answer) -> Verdict:
    if answer.crash or answer.status:
        return answer.crash or f"status {answer.status}"
    types, changed = _signature(program), copied(given)
    count = len(types.arguments)
    for k, (data, type) in enumerate(zip(answer.buffers, types.arguments, strict=False), program.sizes):
        if isinstance(array := changed[k], np.ndarray):
            changed[k] = np.frombuffer(data, type.dtype).reshape(array.shape)
    results = [
        np.frombuffer(data, type.dtype).reshape(array.shape)
        for data, type, array in zip(answer.buffers[count:], types.results, expected.results, strict=True)
    ]
    return outcome(program.function, changed, results)


def _signature(program: Program) -> Signature:
    names = [f"a{k}" for k in range(len(program.function.args) - program.sizes)]
    return signature(program.module, program.entry, sizes=program.sizes, names=names)


def by_mlir(programs: Sequence[Program]) -> list[list[Verdict]]:
    """The outcome of each call of each program, as one MLIR module; what MLIR refuses is looked for by halves."""
    text = print_op(func.Module(tuple(f for p in programs for f in p.module.functions)))
    answers: list[list[Verdict]] = []
    for program in programs:
        found: list[Verdict] = []
        for given in program.calls:
            changed = copied(given)
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
