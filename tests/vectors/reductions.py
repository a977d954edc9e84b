"""Every reduction on vectors, of every type, beside what NumPy makes of the numbers in the order that is stated.

    python -m tests.vectors.reductions [--widths 2 16] [--only NAME ...] [--no-c]

For each reduction, width and tail, strict and with `reassociate`: all trip counts from 0 to 40 that are known at run
time, and one that is known before, with starts that change nothing, others, and for floats NaN, infinities and zeros.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from affdsl.ir.dialects.func import Module
from affdsl.ir.interpreter.program import Prepared
from affdsl.ir.traverse import with_fields
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.scalar_replace.carried import scalar_replace
from affdsl.passes.transforms.vectorize import vectorize
from tests.harness.batch import UNREACHABLE, C
from tests.harness.counts import Counts
from tests.harness.reading import iv
from tests.vectors.models import Type
from tests.vectors.reduction_rows import ROWS, Row
from tests.vectors.together import by_c

MOST = 40
"""Iterations of the longest loop."""
WIDTHS = range(2, 17)
TAILS = ("scalar", "masked", "folded")
COMPILERS = (C("gcc", ("-O1", "-march=native", *UNREACHABLE)), C("gcc", ("-O1", *UNREACHABLE)))
BATCH = 100


@dataclass(frozen=True)
class Asked:
    """A reduction, and how it is vectorized; `trips` is the number of iterations where it is known before."""

    row: Row
    width: int
    tail: str
    reassociate: bool
    trips: int | None = None

    def __str__(self) -> str:
        order = "reassociate" if self.reassociate else "strict"
        trips = "" if self.trips is None else f", {self.trips} iterations"
        return f"{self.row} by {self.width}, {self.tail}, {order}{trips}"


def every(rows: Sequence[Row], widths: Sequence[int]) -> Iterator[Asked]:
    """All that the table asks for."""
    for row, width, tail in itertools.product(rows, widths, TAILS):
        trips = Random(f"{row} {width} {tail}").randint(width if tail == "scalar" else 0, MOST)
        for reassociate, known in itertools.product((False, True)[: 1 + row.is_rounded], (None, trips)):
            yield Asked(row, width, tail, reassociate, known)


def module_of(asked: Asked) -> Module:
    """The reduction on vectors."""
    module = parse(asked.row.text(MOST, asked.trips), "reduction.mlir")
    verify(module)
    (function,) = module.functions
    if asked.row.in_memory and asked.trips not in (0, 1):
        function = scalar_replace(function, iv(function, "i"))
    made = vectorize(
        function, iv(function, "i"), asked.width, tail=asked.tail, reassociate=asked.reassociate  # type: ignore[arg-type]
    )  # fmt: skip
    found: Module = with_fields(module, body=(made,))
    verify(found)
    return found


@dataclass(frozen=True)
class Data:
    """What a reduction reads, starts with, and must leave in place of what stands in the results at first."""

    given: tuple[np.ndarray[Any, Any], ...]
    wanted: tuple[np.ndarray[Any, Any], ...]


def data_of(asked: Asked) -> Iterator[Data]:
    """The runs of a reduction: with plain numbers, and for floats with special ones."""
    row = asked.row
    for special in (False, True)[: 1 + row.type.is_float]:
        arrays = row.numbers(MOST, special=special)
        starts = row.starts()
        counts = range(MOST + 1) if asked.trips is None else [asked.trips]
        results = [np.zeros((len(starts), MOST + 1), each.stored) for each in row.types]
        wanted = [each.copy() for each in results]
        for s, start in enumerate(starts):
            for n, found in row.model(start, arrays, counts, asked.width, asked.tail, reassociate=asked.reassociate):
                for array, type, number in zip(wanted, row.types, found, strict=True):
                    array[s, n] = type.store(np.asarray(number, type.computed).reshape(1))[0]
        columns = [
            type.store(np.array([start[k] for start in starts], type.computed)) for k, type in enumerate(row.types)
        ]
        stored = [row.type.store(each) for each in arrays]
        yield Data((*stored, *columns, *results), (*stored, *columns, *wanted))


def difference(row: Row, wanted: Sequence[np.ndarray[Any, Any]], found: Sequence[np.ndarray[Any, Any]]) -> str:
    """Where results differ; one NaN is as good as another."""
    for k, type in enumerate(row.types):
        a, b = (row_of(type, arrays[2 + len(row.types) + k]) for arrays in (wanted, found))
        if not np.array_equal(a, b):
            s, n = np.argwhere(a != b)[0]
            start, number = [arrays[2 + len(row.types) + k][s, n] for arrays in (wanted, found)]
            return f"result {k} of {n} iterations, start {s}: {number} instead of {start}"
    return ""


def row_of(type: Type, stored: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Bits that are the same where numbers are."""
    numbers = type.load(stored)
    if type.is_float:
        numbers = np.where(np.isnan(numbers), np.array(np.nan, numbers.dtype), numbers)
    return np.ascontiguousarray(numbers).view(f"u{numbers.dtype.itemsize}")


def interpreted(asked: Asked, module: Module) -> str:
    """What is wrong by the interpreter."""
    prepared = Prepared(module.functions[0], module=module)
    for data in data_of(asked):
        given = [array.copy() for array in data.given]
        prepared.run(*given)
        if said := difference(asked.row, data.wanted, given):
            return said
    return ""


def compiled(batch: Sequence[tuple[Asked, Module]], way: C) -> dict[int, str]:
    """What is wrong in C, by the number in the batch."""
    data = [[*data_of(asked)] for asked, _ in batch]
    most = max(len(each) for each in data)
    data = [(each * most)[:most] for each in data]
    left = by_c([module.functions[0] for _, module in batch], [[each.given for each in runs] for runs in data], way)
    wrong: dict[int, str] = {}
    for k, (asked, _) in enumerate(batch):
        for found, wanted in zip(left[k], data[k], strict=True):
            if said := found if isinstance(found, str) else difference(asked.row, wanted.wanted, found):
                wrong.setdefault(k, said)
    return wrong


@dataclass
class Report(Counts):
    """How many loops were tried, by whom each was run, and what was wrong."""

    tried: int = 0
    runs: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def check(of: Sequence[Asked], compilers: Sequence[C] = COMPILERS) -> Report:
    """Vectorize, run and compare."""
    report, made = Report(), list[tuple[Asked, Module]]()
    for asked in of:
        report.tried += 1
        try:
            made.append((asked, module_of(asked)))
        except IllegalTransform as refusal:
            report.refused[f"{asked}: {refusal}"] += 1
            continue
        said = interpreted(*made[-1])
        report.runs["interpreter"] += 1
        report.wrong += [f"{asked}, interpreter: {said}"] if said else []
    for way in compilers:
        report.wrong += [f"{made[k][0]}, {way}: {said}" for k, said in compiled(made, way).items()]
        report.runs[str(way)] += len(made)
    return report


def main() -> None:
    """Try the table, and print what was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.vectors.reductions", description=__doc__)
    parser.add_argument("--widths", type=int, nargs=2, default=(WIDTHS[0], WIDTHS[-1]), metavar=("LEAST", "MOST"))
    parser.add_argument("--only", nargs="*", default=[], help="names of reductions")
    parser.add_argument("--no-c", action="store_true", help="by the interpreter alone")
    given = parser.parse_args()
    rows = [row for row in ROWS if not given.only or row.name in given.only]
    asked = list(every(rows, range(given.widths[0], given.widths[1] + 1)))
    total, since = Report(), time.monotonic()
    for at in range(0, len(asked), BATCH):
        way = COMPILERS[at // BATCH % len(COMPILERS)]
        report = check(asked[at : at + BATCH], () if given.no_c else (way,))
        total.add(report)
        print(f"{time.monotonic() - since:.0f} s: {total.tried} of {len(asked)}, {len(total.wrong)} wrong", flush=True)
        for said in report.wrong:
            print(said, flush=True)
    names = Counter(row.name for row in rows)
    print(f"{len(rows)} rows of {len(names)} kinds; {total.tried} loops, {len(total.refused)} refused:")
    print("\n".join(total.refused))
    print(", ".join(f"{way}: {count}" for way, count in total.runs.items()), f"; wrong: {len(total.wrong)}")
    raise SystemExit(bool(total.wrong))


if __name__ == "__main__":
    main()
