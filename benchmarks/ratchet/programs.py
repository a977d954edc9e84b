"""What is raced: kernels of all suites, with arguments for one or several sizes.

A suite is imported when it is asked for, since that makes all of its kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import affdsl as af

if TYPE_CHECKING:
    from benchmarks.idioms import Idiom

POLYBENCH_SIZES = ("SMALL", "MEDIUM", "LARGE")


@dataclass(frozen=True)
class Raced:
    """A kernel, and its arguments by the name of a size: made anew by each call, and always the same ones."""

    suite: str
    name: str
    kernel: af.Kernel
    arguments: Mapping[str, Callable[[], list[object]]]


def programs(suite: str) -> list[Raced]:
    """All programs of a suite. Raises KeyError where there is no such suite."""
    return list(SUITES[suite]())


def _polybench() -> Iterator[Raced]:
    from benchmarks.polybench.suite import SUITE  # noqa: PLC0415

    for benchmark in SUITE:
        sizes = {size: partial(_values, benchmark.arrays, benchmark.sizes[size]) for size in POLYBENCH_SIZES}
        yield Raced("polybench", benchmark.name, benchmark.kernel, sizes)


def _values(arrays: Callable[..., Mapping[str, object]], sizes: Mapping[str, int]) -> list[object]:
    return list(arrays(sizes).values())


def _pipelines() -> Iterator[Raced]:
    from benchmarks.pipelines.kernels import KERNELS  # noqa: PLC0415

    for name, stage in KERNELS.items():
        made = partial(_drawn, stage.arguments)
        yield Raced("pipelines", name, stage.kernel, {"as it is": made})


def _everyday() -> Iterator[Raced]:
    from benchmarks.everyday import LOOPS  # noqa: PLC0415

    for loop in LOOPS:
        made = partial(_drawn, loop.arguments, loop.size)
        yield Raced("everyday", loop.name, loop.kernel, {"as it is": made})


def _drawn(arguments: Callable[..., Iterable[object]], *sizes: int) -> list[object]:
    return list(arguments(np.random.default_rng(0), *sizes))


def _patterns(suite: str) -> Iterator[Raced]:
    from benchmarks.patterns import SUITES  # noqa: PLC0415
    from benchmarks.patterns.arguments import arguments, side  # noqa: PLC0415

    for pattern in SUITES[suite]:
        made = partial(_values_of, arguments, pattern.kernel, side(pattern.kernel))
        yield Raced(suite, pattern.name, pattern.kernel, {"as it is": made})


def _idioms() -> Iterator[Raced]:
    from benchmarks.idioms import IDIOMS  # noqa: PLC0415

    yield from _of_idioms("idioms", IDIOMS)


def _fields() -> Iterator[Raced]:
    from benchmarks.fields import LOOPS  # noqa: PLC0415

    yield from _of_idioms("fields", LOOPS)


def _of_idioms(suite: str, idioms: Iterable[Idiom]) -> Iterator[Raced]:
    for idiom in idioms:
        made = partial(_listed, idiom.arguments, idiom.sizes)
        yield Raced(suite, idiom.name, idiom.kernel, {"as it is": made})


def _listed(arguments: Callable[..., Iterable[object]], sizes: Mapping[str, int]) -> list[object]:
    return list(arguments(sizes))


def _values_of(arguments: Callable[..., Iterable[object]], kernel: af.Kernel, side: int) -> list[object]:
    return list(arguments(kernel, side, side))


SUITES: Mapping[str, Callable[[], Iterator[Raced]]] = {
    "polybench": _polybench,
    "pipelines": _pipelines,
    "everyday": _everyday,
    "patterns": partial(_patterns, "patterns"),
    "reworded": partial(_patterns, "reworded"),
    "idioms": _idioms,
    "fields": _fields,
}
