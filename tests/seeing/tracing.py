"""What a run of a kernel by the interpreter loads and stores: the oracle for what is counted from its loops."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np

import affdsl as af
from affdsl.ir.interpreter import memory
from affdsl.ir.interpreter.program import forget
from affdsl.passes.analysis.touched import Touched, joined, summary
from affdsl.passes.analysis.work import Work
from affdsl.seeing.counting import Counted, counted
from affdsl.seeing.nests import Nests, nests_of
from affdsl.seeing.profile import Call


@dataclass
class Trace:
    """How many loads and stores there were, and the bytes that they touched."""

    loads: int = 0
    stores: int = 0
    read: set[int] = field(default_factory=set)
    written: set[int] = field(default_factory=set)
    read_first: set[int] = field(default_factory=set)
    """Read before it was written."""

    @property
    def moved(self) -> int:
        """Bytes that come from elsewhere, and bytes that go there."""
        return len(self.read_first) + len(self.written)


@contextmanager
def tracing() -> Iterator[Trace]:
    """Everything that is loaded and stored one by one in the meantime, by the interpreter."""
    trace = Trace()
    reader, writer = memory.reader, memory.writer

    def address(array: Any, index: Any) -> range:
        start = array.ctypes.data + sum(i * s for i, s in zip(index, array.strides, strict=True))
        return range(start, start + array.itemsize)

    def traced_reader(type: Any) -> Any:
        read = reader(type)

        def step(array: Any, index: Any) -> Any:
            trace.loads += 1
            trace.read.update(address(array, index))
            trace.read_first.update(a for a in address(array, index) if a not in trace.written)
            return read(array, index)

        return step

    def traced_writer(type: Any) -> Any:
        write = writer(type)

        def step(array: Any, index: Any, value: Any) -> None:
            trace.stores += 1
            trace.written.update(address(array, index))
            write(array, index, value)

        return step

    forget()
    try:
        with patch.object(memory, "reader", traced_reader), patch.object(memory, "writer", traced_writer):
            yield trace
    finally:
        forget()


def traced(kernel: af.Kernel, arguments: tuple[object, ...]) -> Trace:
    """A run on copies of the arrays."""
    given = [x.copy() if isinstance(x, np.ndarray) else x for x in arguments]
    with tracing() as trace:
        kernel.interpret(*given)
    return trace


def found_in(kernel: af.Kernel, arguments: tuple[object, ...], *, width: int | None = None) -> tuple[Nests, Counted]:
    """What is counted of the nests of a call, without a run."""
    call = Call(kernel.program, kernel.check(), arguments, {})
    nests = nests_of(kernel.module, width=width)
    return nests, counted(nests, call.known, call.shapes)


def total(_: Nests, found: Counted) -> tuple[Work, Touched]:
    """What a call does, and what it touches."""
    work = Work(found.beside)
    for each in found.work.values():
        assert each is not None, found.why
        work += each
    return work, summary(joined(found.footprints.values()))


def elements(work: Work, kind: str) -> int:
    """How many elements were loaded, or stored."""
    return sum(count for (each, _), count in work.items() if each == kind)
