"""The vector extension of RISC-V, version 1.0: masks in memory, in registers whose width is known when it runs."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.codegen.targets.target import LANE_BITS, Row, Target

_WANTED = """\
    n = __riscv_vsetvl_e{bits}m1((size_t)(N - k));
    const vint{bits}m1_t given = __riscv_vle{bits}_v_i{bits}m1((const int{bits}_t *)(const void *)mask + k, n);
    const vbool{bits}_t wanted = __riscv_vmsne_vx_i{bits}m1_b{bits}(given, 0, n);
"""
_LOAD = """\
V found;
size_t n;
for (int k = 0; k < N; k += (int)n) {{
{wanted}    const {type} other = __riscv_vle{bits}_v_{end}((const T *)(const void *)otherwise + k, n);
    const {type} loaded = __riscv_vle{bits}_v_{end}_mu(wanted, other, at + k, n);
    __riscv_vse{bits}_v_{end}((T *)(void *)&found + k, loaded, n);
}}
return found;"""
_STORE = """\
size_t n;
for (int k = 0; k < N; k += (int)n) {{
{wanted}    const {type} stored = __riscv_vle{bits}_v_{end}((const T *)(const void *)value + k, n);
    __riscv_vse{bits}_v_{end}_m(wanted, at + k, stored, n);
}}"""


def _rows() -> Iterator[tuple[Row, str]]:
    for element, bits in LANE_BITS.items():
        words = {
            "bits": str(bits),
            "type": f"v{'float' if element[0] == 'f' else 'int'}{bits}m1_t",
            "end": f"{element}m1",
            "wanted": _WANTED.format(bits=bits),
        }
        for width in (128, 256, 512):
            yield ("masked_load", element, width // bits), _LOAD.format_map(words)
            yield ("masked_store", element, width // bits), _STORE.format_map(words)


RVV = Target(
    "rvv",
    ("__riscv_v", "__riscv_v_intrinsic"),
    "riscv_vector.h",
    width=128,
    registers=32,
    has_fma=True,
    has_masks=True,
    rows=dict(_rows()),
    flags=("-march=rv64gcv",),
    is_scalable=True,
    machine="__riscv",
)
