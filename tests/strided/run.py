"""Calls kernels with random strides under ASan: `python -m tests.strided.run --count 2000 --seed 1`.

Each array lies on memory that ends where its elements do, of which all that is no element holds NaN or the largest
integer. Kernels leave there what NumPy leaves, and nothing outside is touched.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np

from affdsl.codegen.c.emit import emit_jit
from affdsl.codegen.overlap import strides_of
from tests.harness.batch import UNREACHABLE, Answer, C, build, execute
from tests.harness.batch import Case as Call
from tests.harness.command import Watch, parser, seeds
from tests.strided.kernels import CASES, Case
from tests.strided.views import View

SANITIZED = C("gcc", ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", *UNREACHABLE))
SIZES = (0, 1, 1, 2, 3, 5, 7, 8, 13, 35)


def wrong(numbers: Sequence[int], cases: Sequence[Case] = CASES) -> dict[int, str]:
    """What is wrong with the calls of some seeds, each of which calls one of the kernels."""
    drawn = [_drawn(seed, cases[seed % len(cases)]) for seed in numbers]
    calls = [
        _call(seed % len(cases), cases[seed % len(cases)], given) for seed, given in zip(numbers, drawn, strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        refused = build(Path(folder), [_text(case) for case in cases], (SANITIZED,))
        assert not refused, refused
        answers = execute(Path(folder), calls, way=SANITIZED)
    said = [_said(cases[seed % len(cases)], *of) for seed, *of in zip(numbers, drawn, answers, strict=True)]
    return {seed: text for seed, text in zip(numbers, said, strict=True) if text}


def _drawn(seed: int, case: Case) -> list[object]:
    return case.drawn(seed, Random(seed).choice(SIZES))


def _text(case: Case) -> str:
    program = case.kernel.program
    return emit_jit(program.module, program.func.symbol, sizes=len(program.sizes), checked=program.checked)


def _call(number: int, case: Case, given: Sequence[object]) -> Call:
    """The call as the batch reads it: results come last, and have the size of the first argument."""
    parameters = case.kernel.program.parameters
    buffers, sizes, firsts = [], [], []
    for p, x in zip(parameters, given, strict=True):
        if isinstance(x, View):
            buffers.append(x.memory.tobytes())
            sizes += x.array.shape
            sizes += strides_of(x.array) if p.type.strided else ()
            firsts.append(x.first)
        else:
            buffers.append(np.float64(x).tobytes())
            firsts.append(0)
    results = _expected(case, given)[1]
    for result in results:
        buffers.append(bytes(result.nbytes))
        firsts.append(0)
    return Call(number, buffers, sizes, [n for r in results for n in r.shape], firsts)


def _expected(case: Case, given: Sequence[object]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The memory after a call, and the results."""
    own = [x.copy() if isinstance(x, View) else x for x in given]
    result = case.wanted(*(x.array if isinstance(x, View) else x for x in own))
    left = [x.memory if isinstance(x, View) else np.array([x], np.float64) for x in own]
    return left, [] if result is None else [np.asarray(result)]


def _said(case: Case, given: Sequence[object], answer: Answer) -> str:
    if answer.crash or answer.status != 0:
        return f"{case}: {answer.crash or answer.status}"
    left, results = _expected(case, given)
    for k, (wanted, found) in enumerate(zip((*left, *results), answer.buffers, strict=True)):
        got = np.frombuffer(found, wanted.dtype).reshape(wanted.shape)
        if not np.array_equal(got, wanted, equal_nan=wanted.dtype.kind == "f"):
            return f"{case}: buffer {k} has {got.tolist()} instead of {wanted.tolist()}"
    return ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the seeds; the exit status says whether all was right."""
    chosen, watch = parser("tests.strided.run", __doc__, 2000).parse_args(arguments), Watch()
    found = wrong(seeds(chosen))
    for seed, text in found.items():
        print(f"seed {seed}: {text}")
    watch.say(chosen.count, "calls", len(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
