"""AVX-512 with its extensions F, BW, DQ and VL, as servers have had it since 2017."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.targets.target import Row, Target
from codegen.targets.x86 import LANE_BITS, loaded, packed, register, register_type, widening


def _rows() -> Iterator[tuple[Row, str]]:
    for element, lane in LANE_BITS.items():
        for bits in (128, 256, 512):
            lanes, mm, end, kind = bits // lane, register(bits), packed(element), register_type(element, bits)
            if lanes < 2:
                continue
            if element in ("f32", "f64"):
                operands = ", ".join(f"({kind})*{name}" for name in "abc")
                yield ("fma", element, lanes), f"return (V){mm}_fmadd_{end}({operands});"
                pair = ", ".join(f"({kind})*{name}" for name in "ab")
                yield ("lesser", element, lanes), f"return (V){mm}_min_{end}({pair});"
                yield ("greater", element, lanes), f"return (V){mm}_max_{end}({pair});"
            mask = f"{mm}_movepi{lane}_mask((__m{bits}i)*mask)"
            pointer = "" if element in ("f32", "f64") else "(const void *)"
            yield (
                ("masked_load", element, lanes),
                f"return (V){mm}_mask_loadu_{end}(({kind})*otherwise, {mask}, {pointer}at);",
            )
            yield (
                ("masked_store", element, lanes),
                f"{mm}_mask_storeu_{end}({pointer.replace('const ', '')}at, {mask}, ({kind})*value);",
            )


AVX512 = Target(
    "avx512",
    ("__AVX512F__", "__AVX512BW__", "__AVX512DQ__", "__AVX512VL__", "__FMA__"),
    "immintrin.h",
    width=512,
    registers=32,
    has_fma=True,
    has_masks=True,
    rows={**dict(_rows()), **dict(loaded(512)), **dict(widening(512)), **dict(widening(256))},
)
