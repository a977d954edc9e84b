"""Whether kernels of PolyBench do the same after `optimize()`: at PolyBench's smallest sizes, and at tiny ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from affdsl.kernel import Kernel
from affdsl.passes.validation.pipeline import ValidationError
from benchmarks.polybench.benchmark import Array, Benchmark, Sizes
from tests.optimize.ways import ALLOWANCES, Way
from tests.polybench.test_polybench import dump, equal_to_the_bit

TINY = (1, 2, 3, 5, 9, 17)
"""What each size of a kernel is in turn, where it may be so small."""
SEVERAL_BLOCKS = 289
"""A size of more than two blocks of whatever is made of loops, the last one of which is not whole."""


WAYS = (Way(), Way(allowed=ALLOWANCES), Way(threads=2), Way("avx2"), Way("baseline", 2, ALLOWANCES))


def wrong(
    benchmarks: Iterable[Benchmark], ways: Sequence[Way], seed: int = 0, *, validate: bool = False
) -> Iterator[str]:
    """What kernels leave that is not what they left before, or what PolyBench leaves."""
    for benchmark in benchmarks:
        for way in ways:
            try:
                made = way.of(benchmark.kernel, validate=validate)
            except ValidationError as error:
                yield f"{benchmark.name}, {way}: {error}"
                continue
            yield from (f"{benchmark.name}, {way}: {said}" for said in _beside_dumps(benchmark, made, way))
            for sizes in sizes_of(benchmark):
                for said in _differences(benchmark, made, sizes, np.random.default_rng(seed), exact=not way.allowed):
                    yield f"{benchmark.name}, {way}, {dict(sizes)}: {said}"


def _beside_dumps(benchmark: Benchmark, made: Kernel, way: Way) -> Iterator[str]:
    """What is not as PolyBench itself has it; where rounding is open, the loops as written are what counts."""
    for size in ("MINI", "SMALL") if not way.allowed else ():
        given = benchmark.arrays(benchmark.sizes[size])
        made(*given.values())
        if not equal_to_the_bit(benchmark.dump(given), dump(benchmark.name, size)):
            yield f"{size} is not what PolyBench leaves"


def sizes_of(benchmark: Benchmark) -> Iterator[Sizes]:
    """PolyBench's smallest sizes, each of them large once; tiny ones, all the same and in turn."""
    smallest = benchmark.sizes["MINI"]
    yield smallest
    for k in TINY:
        yield {name: max(k, benchmark.least.get(name, 1)) for name in smallest}
    for name in smallest:
        if name != "TSTEPS":
            yield {**smallest, name: SEVERAL_BLOCKS}
    yield {name: max(TINY[n % len(TINY)], benchmark.least.get(name, 1)) for n, name in enumerate(reversed([*smallest]))}


def _differences(
    benchmark: Benchmark, made: Kernel, sizes: Sizes, random: np.random.Generator, *, exact: bool
) -> Iterator[str]:
    given = benchmark.random_arguments(sizes, random)
    kept = {name: x.copy() if isinstance(x, np.ndarray) else x for name, x in given.items()}
    benchmark.kernel(*kept.values())
    made(*given.values())
    for name in benchmark.live_out:
        wanted, found = kept[name], given[name]
        assert isinstance(wanted, np.ndarray)
        assert isinstance(found, np.ndarray)
        if exact and wanted.tobytes() != found.tobytes():
            yield f"{name} is not the same to the bit"
        elif not exact and not _is_close(wanted, found):
            yield f"{name} is far off"


def _is_close(wanted: Array, found: Array) -> bool:
    with np.errstate(all="ignore"):
        scale = np.max(np.abs(wanted), initial=0.0, where=np.isfinite(wanted))
    few = 2**12 * np.finfo(wanted.dtype).eps if wanted.dtype.kind == "f" else 0.0
    return bool(np.allclose(found, wanted, rtol=2**8 * few, atol=few * scale, equal_nan=True))
