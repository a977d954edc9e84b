"""Runs compiled entry points on the cases of random programs, in a process of their own, between red zones."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz.program import Program
from tests.oracles import require

RED_ZONE = b"\xa5" * 128  # as long as batch.c has it
TIME_LIMIT = 120  # seconds, for one run of a compiler, of a batch, or of the interpreter
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


def link(folder: Path, symbols: Sequence[str | None], objects: Sequence[str]) -> None:
    """Make folder/batch from batch.c, objects, and the names of the entry points in them."""
    declared = [f"extern entry_function {s};" for s in symbols if s]
    table = ", ".join(s or "0" for s in symbols)
    (folder / "entries.c").write_text(
        "#include <stdint.h>\ntypedef int32_t entry_function(void *const *pointers, const int64_t *sizes);\n"
        + "\n".join(declared)
        + f"\nentry_function *const entries[] = {{{table}}};\n"
    )
    driver = str(Path(__file__).with_name("batch.c"))
    command = [require("gcc"), "-o", "batch", driver, "entries.c", *objects, "-lm"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=TIME_LIMIT)


def execute(folder: Path, runs: Sequence[tuple[int, Program]], expected: Sequence[Contents]) -> list[str]:
    """Run folder/batch: for each number of an entry with its program, what went wrong, or an empty text."""
    answers = [""] * len(runs)
    cases = [
        (k, n, _case(number, program, n))
        for k, (number, program) in enumerate(runs)
        for n in range(len(program.valuations))
    ]
    while cases:
        done = subprocess.run(
            [str(folder / "batch")], input=b"".join(data for _, _, data in cases), capture_output=True,
            timeout=TIME_LIMIT,
        )  # fmt: skip
        output, start = done.stdout, 0
        while cases:
            k, n, _ = cases[0]
            program = runs[k][1]
            size = 8 + sum(_bytes(program))
            if len(output) < start + size:
                answers[k] = answers[k] or f"crash: exit status {done.returncode}{_where(program, n)}"
                cases.pop(0)
                break
            answers[k] = answers[k] or _answer(program, n, output[start : start + size], expected[k])
            start += size
            cases.pop(0)
    return answers


def _where(program: Program, run: int) -> str:
    sizes = ", ".join(f"{s} = {n}" for s, n in zip(program.symbols, program.valuations[run], strict=True))
    return f" where {sizes}" if sizes else ""


def _bytes(program: Program) -> list[int]:
    """The length of each buffer of a case, red zones included; a size is a buffer of one number."""
    item = DTYPES[program.element].itemsize
    return [2 * len(RED_ZONE) + n for n in [*(b.size * item for b in program.arguments), *(8 for _ in program.sizes)]]


def _case(number: int, program: Program, run: int) -> bytes:
    given = [np.asarray(x).tobytes() for x in arguments(program, run)]
    parts = [struct.pack("<qq", number, len(given))]
    for data in given:
        parts += [struct.pack("<q", len(data) + 2 * len(RED_ZONE)), RED_ZONE, data, RED_ZONE]
    shape = [n for b in program.arguments for n in b.shape]
    return b"".join([*parts, struct.pack(f"<q{len(shape)}q", len(shape), *shape)])


def _answer(program: Program, run: int, output: bytes, expected: Contents) -> str:
    (status,) = struct.unpack_from("<q", output)
    if status:
        return f"refused: the call gave status {status}{_where(program, run)}"
    start, arrays = 8, []
    for b, size in zip(program.arguments, _bytes(program), strict=False):
        data, edge = output[start : start + size], len(RED_ZONE)
        for side, zone in (("before", data[:edge]), ("after", data[-edge:])):
            if zone != RED_ZONE:
                return f"red zone: something was written {side} {b.name}{_where(program, run)}"
        arrays.append(np.frombuffer(data[edge:-edge], DTYPES[program.element]).reshape(b.shape))
        start += size
    return mismatch(program, run, arrays, expected)
