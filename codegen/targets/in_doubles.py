"""How a function of floats is computed in doubles: halves of a register are widened, and narrowed again.

`near_KIND` of `affdsl.codegen.c.in_doubles` is the function on doubles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from affdsl.codegen.targets.target import Row

KINDS: Mapping[str, tuple[str, str] | None] = {"exp": ("-104.0f", "89.0f")}
"""The functions, by the kinds of math, and two floats outside of which all results are those for these, if any are."""


@dataclass(frozen=True)
class _Register:
    """How C has what is done with a register of floats, `given`, and two of doubles, `first` and `second`."""

    width: int
    type: str
    between: str
    """The nearest numbers that are not below LEAST nor above MOST; NaN stays."""
    halves: tuple[str, str]
    joined: str


_X86 = {
    128: _Register(
        128,
        "__m128",
        "_mm_max_ps(_mm_set1_ps(LEAST), _mm_min_ps(_mm_set1_ps(MOST), (__m128)*a))",
        ("_mm_cvtps_pd(given)", "_mm_cvtps_pd(_mm_movehl_ps(given, given))"),
        "_mm_movelh_ps(_mm_cvtpd_ps((__m128d)first), _mm_cvtpd_ps((__m128d)second))",
    ),
    256: _Register(
        256,
        "__m256",
        "_mm256_max_ps(_mm256_set1_ps(LEAST), _mm256_min_ps(_mm256_set1_ps(MOST), (__m256)*a))",
        ("_mm256_cvtps_pd(_mm256_castps256_ps128(given))", "_mm256_cvtps_pd(_mm256_extractf128_ps(given, 1))"),
        "_mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps((__m256d)first)),\n"
        "    _mm256_cvtpd_ps((__m256d)second), 1)",
    ),
    512: _Register(
        512,
        "__m512",
        "_mm512_max_ps(_mm512_set1_ps(LEAST), _mm512_min_ps(_mm512_set1_ps(MOST), (__m512)*a))",
        ("_mm512_cvtps_pd(_mm512_castps512_ps256(given))", "_mm512_cvtps_pd(_mm512_extractf32x8_ps(given, 1))"),
        "_mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)first)),\n"
        "    _mm512_cvtpd_ps((__m512d)second), 1)",
    ),
}
_ARM = _Register(
    128,
    "float32x4_t",
    "vmaxq_f32(vdupq_n_f32(LEAST), vminq_f32(vdupq_n_f32(MOST), (float32x4_t)*a))",
    ("vcvt_f64_f32(vget_low_f32(given))", "vcvt_high_f64_f32(given)"),
    "vcvt_high_f32_f64(vcvt_f32_f64((float64x2_t)first), (float64x2_t)second)",
)


def in_doubles(width: int) -> Iterator[tuple[Row, str]]:
    """Functions of floats that fill a register of x86."""
    return _rows(_X86[width])


def in_doubles_of_arm() -> Iterator[tuple[Row, str]]:
    """Functions of floats that fill a register of 64-bit ARM."""
    return _rows(_ARM)


def _rows(register: _Register) -> Iterator[tuple[Row, str]]:
    lanes = register.width // 32
    wide = f"f64x{lanes // 2}"
    for kind, ends in KINDS.items():
        given = f"({register.type})*a"
        if ends is not None:
            given = register.between.replace("LEAST", ends[0]).replace("MOST", ends[1])
        low, high = register.halves
        body = f"const {register.type} given = {given};\n"
        body += "".join(f"const {wide} {name} = ({wide}){half};\n" for name, half in (("low", low), ("high", high)))
        body += f"const {wide} first = near_{kind}_{wide}(&low), second = near_{kind}_{wide}(&high);\n"
        yield (kind, "f32", lanes), f"{body}return (V){register.joined};"
