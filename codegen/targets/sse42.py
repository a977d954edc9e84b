"""SSE4.2, which every x86-64 machine since 2009 has: no masks in memory, but all lanes at once where all are set."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.codegen.targets.in_doubles import in_doubles
from affdsl.codegen.targets.portable import all_or_each
from affdsl.codegen.targets.target import LANE_BITS, Row, Target
from affdsl.codegen.targets.x86 import (
    any_lane,
    extremes,
    float_extremes,
    integer_extremes,
    of_widths,
    rounded,
    streamed,
    truncating,
    widening,
)


def _rows() -> Iterator[tuple[Row, str]]:
    are_set = "_mm_movemask_epi8((__m128i)*mask) == 0xFFFF"
    for element, bits in LANE_BITS.items():
        load = "return (V)_mm_loadu_si128((const __m128i *)(const void *)at);"
        store = "_mm_storeu_si128((__m128i *)(void *)at, (__m128i)*value);"
        yield from all_or_each(element, 128 // bits, are_set, load, store)


SSE42 = Target(
    "sse4.2",
    ("__SSE4_2__",),
    "immintrin.h",
    width=128,
    registers=16,
    has_fma=False,
    has_masks=False,
    streams=True,
    rows={
        **dict(_rows()),
        **of_widths(
            (128,),
            extremes,
            rounded,
            any_lane,
            float_extremes,
            integer_extremes,
            widening,
            truncating,
            in_doubles,
            streamed,
        ),
    },
    flags=("-msse4.2",),
    machine="__x86_64__",
)
