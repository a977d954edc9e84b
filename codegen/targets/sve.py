"""SVE of 64-bit ARM: masks in memory, in registers whose width is known when it runs."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.codegen.targets.target import LANE_BITS, Row, Target

_WANTED = """\
    const svbool_t inside = svwhilelt_b{bits}_s32(k, N);
    const svint{bits}_t given = svld1_s{bits}(inside, (const int{bits}_t *)(const void *)mask + k);
    const svbool_t wanted = svcmpne_n_s{bits}(inside, given, 0);
"""
_LOAD = """\
V found;
for (int k = 0; k < N; k += (int)svcnt{letter}()) {{
{wanted}    const sv{type}_t other = svld1_{end}(inside, (const T *)(const void *)otherwise + k);
    svst1_{end}(inside, (T *)(void *)&found + k, svsel_{end}(wanted, svld1_{end}(wanted, at + k), other));
}}
return found;"""
_STORE = """\
for (int k = 0; k < N; k += (int)svcnt{letter}()) {{
{wanted}    svst1_{end}(wanted, at + k, svld1_{end}(inside, (const T *)(const void *)value + k));
}}"""


def _rows() -> Iterator[tuple[Row, str]]:
    for element, bits in LANE_BITS.items():
        words = {
            "letter": {8: "b", 16: "h", 32: "w", 64: "d"}[bits],
            "type": f"{'float' if element[0] == 'f' else 'int'}{bits}",
            "end": element.replace("i", "s"),
            "wanted": _WANTED.format(bits=bits),
        }
        for width in (128, 256, 512):
            yield ("masked_load", element, width // bits), _LOAD.format_map(words)
            yield ("masked_store", element, width // bits), _STORE.format_map(words)


SVE = Target(
    "sve",
    ("__AARCH64EL__", "__ARM_FEATURE_SVE"),
    "arm_sve.h",
    width=128,
    registers=32,
    has_fma=True,
    has_masks=True,
    rows=dict(_rows()),
    flags=("-march=armv8.2-a+sve",),
    is_scalable=True,
    machine="__aarch64__",
)
