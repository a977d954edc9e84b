"""How a function of floats is computed in doubles: halves of a register are widened, and narrowed again.

`near_KIND` of `affdsl.codegen.c.in_doubles` is the function on doubles.
"""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.codegen.targets.target import Row
from affdsl.frozen import FrozenValue
from affdsl.passes.lowering.in_doubles import KINDS


class _Register(FrozenValue):
    """How C has what is done with a register of floats, `given`, and two of doubles, `first` and `second`."""

    width: int
    type: str
    between: str
    """The nearest numbers that are not below LEAST nor above MOST; NaN stays."""
    halves: tuple[str, str]
    joined: str
    any: str
    """Whether a mask of doubles, `close`, is set in some lane."""


_X86 = {
    128: _Register(
        128,
        "__m128",
        "_mm_max_ps(_mm_set1_ps(LEAST), _mm_min_ps(_mm_set1_ps(MOST), (__m128)*a))",
        ("_mm_cvtps_pd(given)", "_mm_cvtps_pd(_mm_movehl_ps(given, given))"),
        "_mm_movelh_ps(_mm_cvtpd_ps((__m128d)first), _mm_cvtpd_ps((__m128d)second))",
        "_mm_movemask_pd((__m128d)close) != 0",
    ),
    256: _Register(
        256,
        "__m256",
        "_mm256_max_ps(_mm256_set1_ps(LEAST), _mm256_min_ps(_mm256_set1_ps(MOST), (__m256)*a))",
        ("_mm256_cvtps_pd(_mm256_castps256_ps128(given))", "_mm256_cvtps_pd(_mm256_extractf128_ps(given, 1))"),
        "_mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps((__m256d)first)),\n"
        "    _mm256_cvtpd_ps((__m256d)second), 1)",
        "_mm256_movemask_pd((__m256d)close) != 0",
    ),
    512: _Register(
        512,
        "__m512",
        "_mm512_max_ps(_mm512_set1_ps(LEAST), _mm512_min_ps(_mm512_set1_ps(MOST), (__m512)*a))",
        ("_mm512_cvtps_pd(_mm512_castps512_ps256(given))", "_mm512_cvtps_pd(_mm512_extractf32x8_ps(given, 1))"),
        "_mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)first)),\n"
        "    _mm512_cvtpd_ps((__m512d)second), 1)",
        "_mm512_movepi64_mask((__m512i)close) != 0",
    ),
}
_ARM = _Register(
    128,
    "float32x4_t",
    "vmaxq_f32(vdupq_n_f32(LEAST), vminq_f32(vdupq_n_f32(MOST), (float32x4_t)*a))",
    ("vcvt_f64_f32(vget_low_f32(given))", "vcvt_high_f64_f32(given)"),
    "vcvt_high_f32_f64(vcvt_f32_f64((float64x2_t)first), (float64x2_t)second)",
    "vmaxvq_u32((uint32x4_t)close) != 0",
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
    for name, kind in KINDS.items():
        given = f"({register.type})*a"
        if kind.ends is not None:
            given = register.between.replace("LEAST", f"{kind.ends[0]}f").replace("MOST", f"{kind.ends[1]}f")
        body = f"const {register.type} given = {given};\n"
        for half, shown in zip(("low", "high"), register.halves, strict=True):
            body += f"const {wide} {half} = ({wide}){shown};\n"
        body += f"const {wide} first = near_{name}_{wide}(&low), second = near_{name}_{wide}(&high);\n"
        if not kind.is_exact:
            first, second = (f"CLOSE_TO_MIDDLE_{wide}({half})" for half in ("first", "second"))
            body += f"const i64x{lanes // 2} close = {first} | {second};\n"
            body += f"if ({register.any}) {{\n    {indented(one_by_one(name))}\n}}\n"
        yield (name, "f32", lanes), f"{body}return (V){register.joined};"


def one_by_one(kind: str) -> str:
    """C statements that ask the C library for each lane."""
    return f"V found;\nfor (int k = 0; k < N; ++k)\n    found[k] = (float){kind}((*a)[k]);\nreturn found;"


def indented(text: str) -> str:
    """Lines of a block, but for the first one."""
    return text.replace("\n", "\n    ")
