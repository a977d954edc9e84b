"""Vectors of WebAssembly: registers of 128 bits, no masks in memory, and no product and sum in one."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.codegen.targets.portable import all_or_each
from affdsl.codegen.targets.target import LANE_BITS, Row, Target


def _rows() -> Iterator[tuple[Row, str]]:
    for element, bits in LANE_BITS.items():
        lanes = 128 // bits
        are_set = f"wasm_i{bits}x{lanes}_all_true((v128_t)*mask)"
        store = "wasm_v128_store(at, (v128_t)*value);"
        yield from all_or_each(element, lanes, are_set, "return (V)wasm_v128_load(at);", store)
        if element[0] == "i":
            yield ("any", element, lanes), "return wasm_v128_any_true((v128_t)*mask);"
    for bits in (8, 16, 32):
        for sign in ("i", "u"):
            lanes = 64 // bits
            loaded = f"wasm_{sign}{2 * bits}x{lanes}_load{bits}x{lanes}(a)"
            yield (f"from_{sign}{bits}", f"i{2 * bits}", lanes), f"return (V){loaded};"


SIMD128 = Target(
    "simd128",
    ("__wasm_simd128__",),
    "wasm_simd128.h",
    width=128,
    registers=16,
    has_fma=False,
    has_masks=False,
    rows=dict(_rows()),
    flags=("-msimd128",),
    machine="__wasm__",
)
