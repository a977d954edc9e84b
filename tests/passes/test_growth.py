"""Programs twice as long take twice the work: counted in calls, not in seconds."""

import sys
from collections.abc import Callable

import pytest

from affdsl.mlir.readers import parse
from affdsl.passes.analysis import region
from affdsl.passes.cleanup.canonicalize.graph import OpNode
from affdsl.passes.pipeline.language import run_pipeline
from benchmarks.straight import PROGRAMS


def calls(do: Callable[[], object]) -> int:
    """How many functions of Python are called."""
    count = 0

    def seen(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        do()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize(
    ("program", "pipeline", "size"),
    [
        ("constants", "canonicalize", 300),
        ("stores", "canonicalize", 100),
    ],
)
def test_a_program_twice_as_long_takes_at_most_a_bit_more_than_twice_the_calls(program, pipeline, size, monkeypatch):
    monkeypatch.setattr(OpNode, "__eq__", lambda a, b: a is b)  # a comparison is a call, too
    counts = []
    for n in (size, 2 * size):
        module = parse(PROGRAMS[program].text(n))
        counts.append(calls(lambda m=module: run_pipeline(m, f"builtin.module(func.func({pipeline}))")))
    assert counts[0] > size
    assert counts[1] <= 2.2 * counts[0]


class Joined:
    """Stands for a union of so many maps, which a join copies."""

    copied = 0

    def __init__(self, size: int = 1) -> None:
        self.size = size

    def union(self, other: "Joined") -> "Joined":
        Joined.copied += self.size + other.size
        return Joined(self.size + other.size)


@pytest.mark.parametrize("count", [1, 2, 7, 1000])
def test_the_regions_that_data_copy_joins_are_copied_few_times(count, monkeypatch):
    monkeypatch.setattr(Joined, "copied", 0)
    assert region._union([Joined() for _ in range(count)]).size == count
    assert count - 1 <= Joined.copied <= count * count.bit_length()
