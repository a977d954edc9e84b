"""NEON of 64-bit ARM: no masks in memory, but all lanes at once where all are set."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.codegen.targets.in_doubles import in_doubles_of_arm
from affdsl.codegen.targets.portable import all_or_each
from affdsl.codegen.targets.target import LANE_BITS, Row, Target


def _rows() -> Iterator[tuple[Row, str]]:
    are_set = "vminvq_u8((uint8x16_t)*mask) == 255"
    for element, bits in LANE_BITS.items():
        load = "return (V)vld1q_u8((const uint8_t *)(const void *)at);"
        store = "vst1q_u8((uint8_t *)(void *)at, (uint8x16_t)*value);"
        yield from all_or_each(element, 128 // bits, are_set, load, store)
    yield from _widening()
    yield from _tables()
    yield from in_doubles_of_arm()


def _widening() -> Iterator[tuple[Row, str]]:
    """Integers of half the width, of which half a register is loaded."""
    for bits in (8, 16, 32):
        for sign, letter, type in (("i", "s", "int"), ("u", "u", "uint")):
            loaded = f"vld1_{letter}{bits}((const {type}{bits}_t *)(const void *)a)"
            row = (f"from_{sign}{bits}", f"i{2 * bits}", 64 // bits)
            yield row, f"return (V)vmovl_{letter}{bits}({loaded});"


def _tables() -> Iterator[tuple[Row, str]]:
    """Bytes of a table of 256, whose middle is given: of each quarter, four registers, where a byte lies in that."""
    lines = ["const uint8x16_t at = veorq_u8((uint8x16_t)*offsets, vdupq_n_u8(128));", "uint8x16_t found = {0};"]
    for quarter in range(4):
        parts = (f"vld1q_u8((const uint8_t *)(middle + {64 * quarter + 16 * part - 128}))" for part in range(4))
        lines.append(f"const uint8x16x4_t part_{quarter} = {{{{{', '.join(parts)}}}}};")
        inside = f"veorq_u8(at, vdupq_n_u8({64 * quarter}))"
        lines.append(f"found = vqtbx4q_u8(found, part_{quarter}, {inside});")
    yield ("looked_up", "i8", 16), "\n".join([*lines, "return (V)found;"])


NEON = Target(
    "neon",
    ("__AARCH64EL__", "__ARM_NEON"),
    "arm_neon.h",
    width=128,
    registers=32,
    has_fma=True,
    has_masks=False,
    rows=dict(_rows()),
    machine="__aarch64__",
)
