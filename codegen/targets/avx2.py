"""AVX2 and FMA, which came together, with masks for lanes of 32 and 64 bits."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.codegen.targets.in_doubles import in_doubles
from affdsl.codegen.targets.target import LANE_BITS, Row, Target
from affdsl.codegen.targets.x86 import (
    any_lane,
    counting,
    dividing,
    dots,
    extremes,
    float_extremes,
    integer_extremes,
    loaded,
    magnitudes,
    of_widths,
    packed,
    register,
    register_type,
    rounded,
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
            # Of zeros nothing but the load is left: gcc 12 keeps zeros in a register for _mm256_blendv_epi8.
            chosen = f"return (V)(found | (~{mask} & ({integers})*otherwise));"
            yield ("masked_load", element, lanes), load + chosen
            yield ("masked_store", element, lanes), f"{mm}_maskstore_{end}(({pointer})at, {mask}, ({kind})*value);"


def _first(width: int) -> Iterator[tuple[Row, str]]:
    """A mask of the first lanes, out of a table: the numbers of lanes would stay in a register across all tiles."""
    for element, lanes in ((kind, width // bits) for kind, bits in LANE_BITS.items() if kind[0] == "i"):
        body = f"static const T set[2 * N] = {{{', '.join(['-1'] * lanes)}}};\n"
        body += "const int64_t end = count < 0 ? 0 : count < N ? count : N;\n"
        body += "V found;\n__builtin_memcpy(&found, set + N - end, sizeof found);\nreturn found;"
        yield ("first", element, lanes), body


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
        **of_widths((128, 256), extremes, rounded, any_lane, counting, float_extremes, integer_extremes),
        **of_widths((128, 256), shifting, truncating),
        **of_widths((256,), dividing, loaded, streamed, dots, magnitudes, widening, in_doubles, _first),
    },
    flags=("-mavx2", "-mfma"),
    machine="__x86_64__",
)
