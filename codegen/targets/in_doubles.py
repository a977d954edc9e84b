"""How a function of floats is computed in doubles: halves of a register are widened, and narrowed again.

`near_KIND` of `affdsl.codegen.c.in_doubles` is the function on doubles.
"""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.codegen.targets.target import Row

KINDS = ("exp",)
"""The functions, by the kinds of math."""

_X86 = {
    128: (
        ("_mm_cvtps_pd(given)", "_mm_cvtps_pd(_mm_movehl_ps(given, given))"),
        "_mm_movelh_ps(_mm_cvtpd_ps((__m128d)first), _mm_cvtpd_ps((__m128d)second))",
    ),
    256: (
        ("_mm256_cvtps_pd(_mm256_castps256_ps128(given))", "_mm256_cvtps_pd(_mm256_extractf128_ps(given, 1))"),
        "_mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps((__m256d)first)),\n"
        "    _mm256_cvtpd_ps((__m256d)second), 1)",
    ),
    512: (
        ("_mm512_cvtps_pd(_mm512_castps512_ps256(given))", "_mm512_cvtps_pd(_mm512_extractf32x8_ps(given, 1))"),
        "_mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)first)),\n"
        "    _mm512_cvtpd_ps((__m512d)second), 1)",
    ),
}
"""The halves of a register as doubles, and a register of two halves."""


def in_doubles(width: int) -> Iterator[tuple[Row, str]]:
    """Functions of floats on x86, in two registers of so many bits."""
    yield from _rows(width, f"__m{width}", *_X86[width])


def in_doubles_of_arm() -> Iterator[tuple[Row, str]]:
    """Functions of floats on 64-bit ARM."""
    halves = "vcvt_f64_f32(vget_low_f32(given))", "vcvt_high_f64_f32(given)"
    yield from _rows(128, "float32x4_t", halves, "vcvt_high_f32_f64(vcvt_f32_f64((float64x2_t)first), (float64x2_t)second)")


def _rows(width: int, kind: str, halves: tuple[str, str], joined: str) -> Iterator[tuple[Row, str]]:
    lanes = width // 32
    wide = f"f64x{lanes // 2}"
    for function in KINDS:
        body = f"const {kind} given = ({kind})*a;\n"
        body += "".join(f"const {wide} {name} = ({wide}){half};\n" for name, half in zip(("low", "high"), halves, strict=True))
        body += f"const {wide} first = near_{function}_{wide}(&low), second = near_{function}_{wide}(&high);\n"
        yield (function, "f32", lanes), f"{body}return (V){joined};"
