"""How fast this machine computes and moves data at best, measured once and kept in the cache of compiled kernels."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from affdsl.codegen.cache import Cache, LoadedLibrary, default_cache
from affdsl.codegen.native import native_target
from affdsl.codegen.quiet import QUIET, Watch
from affdsl.codegen.threads import wanted
from affdsl.codegen.toolchain import Compiler, jit_flags, machine
from affdsl.frozen import FrozenValue
from affdsl.progress import progress

LARGEST = 256 << 20
"""So many bytes the arrays have at most by which memory is measured."""
BEYOND = 4
"""They have so many times the bytes of the last cache, so that it holds only a small part of them."""
FULL = 0.5
"""Such a part of a cache is used to measure it."""
SHARED = 32 << 20
"""So many bytes of a last cache one core counts on, however large that is: others fill the rest of it."""
LONG_ENOUGH = 3_000_000
"""Nanoseconds that a measurement takes at least."""
TRIES, MOST_TRIES = 6, 12
ALIKE = 0.02
"""The best of several tries is taken where two more are as fast but for such a part; others were in the way else."""
AGAIN = 5
"""A measurement that others were in the way of is not taken for a long one: it is so often."""
VECTOR = 512
"""So many bytes one step of the sum reads."""
CHAINS = 12
"""So many independent products and sums keep all units of a core busy, and leave registers for the factors."""


class Level(FrozenValue):
    """A cache, or the memory: its bytes for all threads together, None of the memory; and bytes a second."""

    name: str
    bytes: int | None
    bandwidth: float


class Roofline(FrozenValue):
    """What this machine can do with so many threads.

    Attributes
    ----------
    threads
        How many threads there were.
    flops
        Floating-point operations a second, by the type of the numbers: of products and sums in vector registers, in one
        instruction where there is such an instruction.
    levels
        Caches from the nearest on, and the memory: bytes a second of a[i] = b[i] + x * c[i], 24 for each element, or of
        a sum of all b[i], whichever are more.
    others
        How many cores other processes used on average while it was measured.
    """

    threads: int
    flops: dict[str, float]
    levels: tuple[Level, ...]
    others: float = 0.0

    @property
    def is_doubtful(self) -> bool:
        """Whether others were busy when it was measured, so that it may be too low."""
        return self.others > QUIET

    def moving(self, fetched: int, stored: int) -> tuple[float, str]:
        """How many seconds it takes at least to read so many bytes and to write so many, and to or from where.

        What the nearer caches hold may be there already, and may stay there.
        """
        best, name, near = 0.0, self.levels[0].name, 0
        for level in self.levels:
            seconds = (max(fetched - near, 0) + max(stored - near, 0)) / level.bandwidth
            best, name = max((best, name), (seconds, level.name), key=itemgetter(0))
            near += level.bytes or 0
        return best, name


def roofline(threads: int, *, again: bool = False) -> Roofline:
    """What this machine can do with so many threads: as it was measured before, or measured now, in some seconds.

    Measured again, what was faster before stays: nothing makes a machine faster than it is, and much makes it slower.

    Raises ToolchainError where there is no C compiler.
    """
    cache, caches = default_cache(), shared(native_target().caches, threads)
    compiler, source, flags = _program(cache)

    def make() -> bytes:
        with progress("measuring what this machine can do"):
            watch = Watch()
            flops, levels = _measured(cache.library(compiler, source, flags), threads, caches)
        found = Roofline(threads, flops, tuple(Level(*level) for level in levels), watch.others())
        if again:
            before = roofline(threads)
            found = replace(_at_least(found, before), others=min(found.others, before.others))
        return json.dumps(
            (found.flops, [(each.name, each.bytes, each.bandwidth) for each in found.levels], found.others)
        ).encode()

    alone = roofline(1, again=again) if threads > 1 else None
    key = (source, *flags, compiler.identity, machine(), str(threads), str(caches))
    flops, levels, others = json.loads(cache.record("roofline", *key, make=make, again=again))
    found = Roofline(threads, flops, tuple(Level(*level) for level in levels), others)
    return found if alone is None else _at_least(found, alone)


def shared(caches: Sequence[int], threads: int = 1) -> tuple[int, ...]:
    """The bytes of caches on which so many threads may count.

    >>> shared((48 << 10, 2 << 20, 480 << 20)) == (48 << 10, 2 << 20, SHARED)
    True
    """
    return (*caches[:-1], *(min(last, SHARED * threads) for last in caches[-1:]))


def _at_least(found: Roofline, other: Roofline) -> Roofline:
    """What was measured, but nothing below what was measured with fewer threads, or before."""
    rates = {kind: max(rate, other.flops[kind]) for kind, rate in found.flops.items()}
    pairs = zip(found.levels, other.levels, strict=True)
    levels = tuple(Level(of.name, of.bytes, max(of.bandwidth, one.bandwidth)) for of, one in pairs)
    return replace(found, flops=rates, levels=levels)


def most_threads() -> int:
    """How many threads parallel loops of kernels run on."""
    if number := wanted():
        return number
    cache = default_cache()
    return cache.library(*_program(cache)).call("affdsl_most_threads")


def _program(cache: Cache) -> tuple[Compiler, str, tuple[str, ...]]:
    """What is compiled to measure, by which compiler, and with which flags."""
    compiler = cache.compiler()
    flags = (*jit_flags(compiler), "-ffp-contract=fast", "-D_POSIX_C_SOURCE=200809L")
    return compiler, _source(native_target().width), flags


def _measured(
    library: LoadedLibrary, threads: int, caches: Sequence[int]
) -> tuple[dict[str, float], list[tuple[str, int | None, float]]]:
    flops = {}
    for kind, width in (("f32", 4), ("f64", 8)):
        run = partial(_flops, library, f"affdsl_flops_{kind}", threads, np.zeros(16 * width, np.uint8))
        flops[kind] = _best(run) * library.call(f"affdsl_lanes_{kind}") * 2 * CHAINS * threads
    levels: list[tuple[str, int | None, float]] = []
    last = max(caches, default=32 << 20)
    # The caches near to a core are its own; the last of several is shared.
    own = caches[:-1] if len(caches) > 2 else caches
    for k, size in enumerate(caches):
        room = size * threads if size in own else size
        levels.append((f"L{k + 1}", room, _bandwidth(library, threads, int(room * FULL))))
    levels.append(("memory", None, _bandwidth(library, threads, min(BEYOND * last, LARGEST))))
    return flops, levels


def _flops(library: LoadedLibrary, symbol: str, threads: int, sink: NDArray[np.generic], rounds: int) -> int:
    return library.call(symbol, rounds, threads, sink)


def _bandwidth(library: LoadedLibrary, threads: int, size: int) -> float:
    """Bytes a second where three arrays have so many bytes together, or one has."""
    elements = max(size // 24, 8 * threads)
    a, b, c = (np.empty(elements) for _ in range(3))
    triad = 24 * elements * _best(lambda n: library.call("affdsl_triad", n, elements, threads, a, b, c))
    vectors = max(size // VECTOR, 8 * threads)
    read = np.ones(vectors * VECTOR // 8)
    return max(triad, VECTOR * vectors * _best(lambda n: library.call("affdsl_sum", n, vectors, threads, read)))


def _best(run: Callable[[int], int]) -> float:
    """Rounds a second at best; a run of some rounds gives its nanoseconds."""
    rounds = 1
    while (taken := min(run(rounds) for _ in range(AGAIN))) < LONG_ENOUGH:
        rounds *= 2 if taken * 4 > LONG_ENOUGH else 4
    taken_by = [max(run(rounds), 1) for _ in range(TRIES)]
    while len(taken_by) < MOST_TRIES:
        first, _, third, *_ = sorted(taken_by)
        if third <= first * (1 + ALIKE):
            break
        taken_by.append(max(run(rounds), 1))
    return 1e9 * rounds / min(taken_by)


def _source(width: int) -> str:
    chains = "\n".join(f"        s{k} = s{k} * factor + summand;" for k in range(CHAINS))
    starts = " ".join(f"V s{k} = factor + (T){k};" for k in range(CHAINS))
    total = " + ".join(f"s{k}" for k in range(CHAINS))
    parts = [_HEAD, _SUM]
    for kind, type in (("f32", "float"), ("f64", "double")):
        text = _FLOPS.replace("KIND", kind).replace("STARTS", starts).replace("CHAINS", chains).replace("TOTAL", total)
        parts.append(text.replace("V ", f"V{kind} ").replace("T)", f"{type})").replace("TYPE", type))
    return "\n".join(parts).replace("WIDTH", str(width // 8))


_HEAD = """\
#include <stdint.h>
#include <time.h>
#if defined(_OPENMP)
#include <omp.h>
#endif

#define EXPORT __attribute__((visibility("default")))

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

EXPORT int64_t affdsl_most_threads(void);
int64_t affdsl_most_threads(void)
{
#if defined(_OPENMP)
    return omp_get_max_threads();
#else
    return 1;
#endif
}

EXPORT int64_t affdsl_triad(int64_t rounds, int64_t n, int64_t threads, double *a, double *b, double *c);
int64_t affdsl_triad(int64_t rounds, int64_t n, int64_t threads, double *a, double *b, double *c)
{
    int64_t begun = INT64_MAX, ended = 0;
    (void)threads;
#if defined(_OPENMP)
#pragma omp parallel num_threads((int)threads)
#endif
    {
        int64_t first = 0, last = n;
#if defined(_OPENMP)
        first = n * omp_get_thread_num() / omp_get_num_threads();
        last = n * (omp_get_thread_num() + 1) / omp_get_num_threads();
#endif
        double *restrict x = a;
        const double *restrict y = b, *restrict z = c;
        for (int64_t i = first; i < last; ++i) {
            a[i] = 0.0;
            b[i] = 1.0;
            c[i] = 2.0;
        }
#if defined(_OPENMP)
#pragma omp barrier
#endif
        const int64_t start = now();
        for (int64_t r = 0; r < rounds; ++r) {
            for (int64_t i = first; i < last; ++i)
                x[i] = y[i] + 3.0 * z[i];
            __asm__ volatile("" : : "r"(x), "r"(y), "r"(z) : "memory");
        }
        const int64_t end = now();
#if defined(_OPENMP)
#pragma omp critical
#endif
        {
            begun = start < begun ? start : begun;
            ended = end > ended ? end : ended;
        }
    }
    return ended - begun;
}
"""
_SUM = """\
typedef double VREAD __attribute__((vector_size(64), aligned(8)));

EXPORT int64_t affdsl_sum(int64_t rounds, int64_t n, int64_t threads, double *b);
int64_t affdsl_sum(int64_t rounds, int64_t n, int64_t threads, double *b)
{
    int64_t begun = INT64_MAX, ended = 0;
    (void)threads;
#if defined(_OPENMP)
#pragma omp parallel num_threads((int)threads)
#endif
    {
        int64_t first = 0, last = n;
#if defined(_OPENMP)
        first = n * omp_get_thread_num() / omp_get_num_threads();
        last = n * (omp_get_thread_num() + 1) / omp_get_num_threads();
#endif
        VREAD s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
        for (int64_t i = 64 * first; i < 64 * last; ++i)
            b[i] = 1.0;
#if defined(_OPENMP)
#pragma omp barrier
#endif
        const int64_t start = now();
        for (int64_t r = 0; r < rounds; ++r) {
            const VREAD *v = (const VREAD *)b;
            __asm__ volatile("" : "+r"(v) : : "memory");
            for (int64_t i = first; i < last; ++i) {
                const VREAD *w = v + 8 * i;
                s0 += w[0];
                s1 += w[1];
                s2 += w[2];
                s3 += w[3];
                s0 += w[4];
                s1 += w[5];
                s2 += w[6];
                s3 += w[7];
            }
        }
        const int64_t end = now();
#if defined(_OPENMP)
#pragma omp critical
#endif
        {
            begun = start < begun ? start : begun;
            ended = end > ended ? end : ended;
        }
        s0 += s1 + s2 + s3;
        __asm__ volatile("" : : "r"(&s0) : "memory");
    }
    return ended - begun;
}
"""
_FLOPS = """\
typedef TYPE V __attribute__((vector_size(WIDTH)));

EXPORT int64_t affdsl_lanes_KIND(void);
int64_t affdsl_lanes_KIND(void)
{
    return (int64_t)(sizeof(V ) / sizeof(TYPE));
}

EXPORT int64_t affdsl_flops_KIND(int64_t rounds, int64_t threads, TYPE *sink);
int64_t affdsl_flops_KIND(int64_t rounds, int64_t threads, TYPE *sink)
{
    int64_t begun = INT64_MAX, ended = 0;
    (void)threads;
#if defined(_OPENMP)
#pragma omp parallel num_threads((int)threads)
#endif
    {
        const V factor = (V ){0} + (T)0.999 + sink[0], summand = (V ){0} + (T)0.001 + sink[1];
        STARTS
#if defined(_OPENMP)
#pragma omp barrier
#endif
        const int64_t start = now();
        for (int64_t r = 0; r < rounds; ++r) {
CHAINS
        }
        const int64_t end = now();
#if defined(_OPENMP)
#pragma omp critical
#endif
        {
            begun = start < begun ? start : begun;
            ended = end > ended ? end : ended;
        }
        const V total = TOTAL;
        if (total[0] == (T)12345.0)  /* which the compiler does not know to be false */
            sink[2] = total[0];
    }
    return ended - begun;
}
"""
