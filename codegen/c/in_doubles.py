"""Functions of doubles that are floats, so near the exact ones that rounding them to float gives what libm's give.

They have no branch and no table, so that all lanes of a vector are computed at once. See docs/decisions/0055.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

from affdsl.codegen.targets.avx2 import AVX2
from affdsl.codegen.targets.avx512 import AVX512
from affdsl.codegen.targets.neon import NEON
from affdsl.ir.formats import F64

_FUSED = {
    8: ((AVX512, "_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c))"),),
    4: ((AVX2, "_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c))"),),
    2: (
        (AVX2, "_mm_fmadd_pd((__m128d)(a), (__m128d)(b), (__m128d)(c))"),
        (NEON, "vfmaq_f64((float64x2_t)(c), (float64x2_t)(a), (float64x2_t)(b))"),
    ),
}
"""a * b + c on so many lanes where it is one instruction."""


def macros(lanes: int) -> str:
    """The text of macros: a vector of equal numbers; a * b + c, rounded once where there is an instruction for it."""
    name = f"MULTIPLY_ADD_f64x{lanes}(a, b, c)"
    ways = [f"if {target.condition}\n#define {name} ((f64x{lanes}){call})\n" for target, call in _FUSED[lanes]]
    repeated = f"#define ALL_f64x{lanes}(a) ((f64x{lanes}){{{', '.join('a' * lanes)}}})\n"
    return f"{repeated}#{'#el'.join(ways)}#else\n#define {name} ((a) * (b) + (c))\n#endif"


def _polynomial(coefficients: Sequence[float], x: str, found: str) -> str:
    """C statements by which `found` is the first coefficient + the second one times x + ..."""
    *others, last = coefficients
    steps = [f"{found} = FUSED({found}, {x}, ALL({c!r}));" for c in reversed(others)]
    return "\n".join([f"V {found} = ALL({last!r});", *steps])


# In what follows V is the type of the vectors, U that of as many integers without a sign, ALL and FUSED are the macros.
# e**x = 2**n e**r, where n is the integer nearest to x / ln(2), which the last bits of `turned` are.
_EXP = f"""\
const V rounder = ALL({F64.rounder!r});
const V turned = FUSED(*a, ALL({1 / log(2)!r}), rounder), n = turned - rounder;
V r = FUSED(n, ALL({-F64.ln2[0]!r}), *a);
r = FUSED(n, ALL({-F64.ln2[1]!r}), r);
{_polynomial(F64.exp, "r", "power")}
power = FUSED(r * r, power, r) + ALL(1.0);
return (V)((U)power + ((U)turned << 52));"""

NEAR: Mapping[str, str] = {"exp": _EXP}
"""The bodies of the functions, by kinds of math."""
