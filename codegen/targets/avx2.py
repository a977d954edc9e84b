"""AVX2 and FMA, which came together, with masks for lanes of 32 and 64 bits."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.codegen.targets.in_doubles import in_doubles
from affdsl.codegen.targets.target import LANE_BITS, Row, Target
from affdsl.codegen.targets.x86 import (
    any_lane,
    counting,
    dots,
    extremes,
    float_extremes,
    integer_extremes,
    loaded,
    magnitudes,
    packed,
    register,
    register_type,
    shifting,
    streamed,
    truncating,
    widening,
)

_POINTER = {"f32": "float *", "f64": "double *", "i32": "int *", "i64": "long long *"}


def _rows() -> Iterator[tuple[Row, str]]:
    for element, pointer in _POINTER.items():
        for bits in (128, 256):
            lanes, mm, end = bits // LANE_BITS[element], register(bits), packed(element)
            if element in ("f32", "f64"):
                operands = ", ".join(f"({register_type(element, bits)})*{name}" for name in "abc")
                yield ("fma", element, lanes), f"return (V){mm}_fmadd_{end}({operands});"
            mask, integers, kind = f"(__m{bits}i)*mask", f"__m{bits}i", register_type(element, bits)
            load = f"const {integers} found = ({integers}){mm}_maskload_{end}((const {pointer})at, {mask});\n"
            chosen = f"return (V){mm}_blendv_epi8(({integers})*otherwise, found, {mask});"
            yield ("masked_load", element, lanes), load + chosen
            yield ("masked_store", element, lanes), f"{mm}_maskstore_{end}(({pointer})at, {mask}, ({kind})*value);"


AVX2 = Target(
    "avx2",
    ("__AVX2__", "__FMA__"),
    "immintrin.h",
    width=256,
    registers=16,
    has_fma=True,
    has_masks=False,
    streams=True,
    rows={
        **dict(_rows()),
        **dict(extremes(128)),
        **dict(extremes(256)),
        **dict(any_lane(128)),
        **dict(any_lane(256)),
        **dict(counting(128)),
        **dict(counting(256)),
        **dict(float_extremes(128)),
        **dict(float_extremes(256)),
        **dict(integer_extremes(128)),
        **dict(integer_extremes(256)),
        **dict(loaded(256)),
        **dict(shifting(128)),
        **dict(shifting(256)),
        **dict(streamed(256)),
        **dict(dots(256)),
        **dict(magnitudes(256)),
        **dict(widening(256)),
        **dict(truncating(128)),
        **dict(truncating(256)),
        **dict(in_doubles(256)),
    },
    flags=("-mavx2", "-mfma"),
    machine="__x86_64__",
)
