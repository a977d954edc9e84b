"""Runs compiled entry points on the cases of random programs, in a process of their own, between red zones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz.program import Program
from tests.harness.batch import RED_ZONE, Answer, Case, execute

DTYPES: dict[str, np.dtype[Any]] = {"i32": np.dtype(np.int32), "i64": np.dtype(np.int64), "f64": np.dtype(np.float64)}

Contents = tuple[Mapping[str, Sequence[int]], ...]
"""What stands in each buffer argument after the run with each valuation."""


def arguments(program: Program, run: int) -> list[np.ndarray | int]:
    """What the entry of a program takes in a run: fresh buffers, then the sizes."""
    kind = DTYPES[program.element]
    buffers = [np.array(b.initial(), kind).reshape(b.shape) for b in program.arguments]
    return [*buffers, *program.given(run)]


def mismatch(program: Program, run: int, given: Sequence[np.ndarray | int], expected: Contents) -> str:
    """Where buffers after a run differ from what they should hold, or an empty text."""
    for b, array in zip(program.arguments, given, strict=False):
        assert isinstance(array, np.ndarray)
        wanted = np.array(expected[run][b.name], array.dtype).reshape(b.shape)
        if not np.array_equal(array, wanted):
            places = np.argwhere(array != wanted)
            at = tuple(int(n) for n in places[0])
            return (
                f"mismatch: {b.name}{list(at)} is {array[at].item()} instead of {wanted[at].item()} "
                f"({len(places)} of {b.size} differ){_where(program, run)}"
            )
    return ""


def judged(folder: Path, runs: Sequence[tuple[int, Program]], expected: Sequence[Contents]) -> list[str]:
    """Run folder/batch: for each number of an entry with its program, what went wrong, or an empty text."""
    calls = [(k, n) for k, (_, program) in enumerate(runs) for n in range(len(program.valuations))]
    cases = [_case(*runs[k], n) for k, n in calls]
    said = [""] * len(runs)
    for (k, n), answer in zip(calls, execute(folder, cases, RED_ZONE), strict=True):
        said[k] = said[k] or _said(runs[k][1], n, answer, expected[k])
    return said


def _case(number: int, program: Program, run: int) -> Case:
    shape = [n for b in program.arguments for n in b.shape]
    return Case(number, [np.asarray(x).tobytes() for x in arguments(program, run)], shape)


def _said(program: Program, run: int, answer: Answer, expected: Contents) -> str:
    if answer.crash:
        return f"{answer.crash}{_where(program, run)}"
    if answer.status:
        return f"refused: the call gave status {answer.status}{_where(program, run)}"
    if answer.spoilt is not None:
        side, k = answer.spoilt
        names = [*(b.name for b in program.arguments), *program.symbols]
        return f"red zone: something was written {side} {names[k]}{_where(program, run)}"
    kind = DTYPES[program.element]
    arrays = [np.frombuffer(d, kind).reshape(b.shape) for d, b in zip(answer.buffers, program.arguments, strict=False)]
    return mismatch(program, run, arrays, expected)


def _where(program: Program, run: int) -> str:
    sizes = ", ".join(f"{s} = {n}" for s, n in zip(program.symbols, program.valuations[run], strict=True))
    return f" where {sizes}" if sizes else ""
