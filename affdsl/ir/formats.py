"""The formats of numbers that functions are approximated in, and what is constant in each."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.frozen import FrozenValue
from affdsl.ir.types import FloatType


class Format(FrozenValue):
    """A binary format of IEEE 754, and constants of the functions in it.

    Attributes
    ----------
    bits, fraction
        All bits of a number, and those behind the point.
    ln2, log10_2
        The logarithms of 2 in two parts, of which the first has so few bits that multiples by exponents are exact.
    exp
        (e**r - 1 - r) / r**2 as a polynomial of r, for |r| up to ln(2) / 2.
    log
        (2 atanh(s) / s - 2) / s**2 as a polynomial of s**2, for |s| up to 3 - 2 sqrt(2).
    half_pi
        pi / 2 in parts of 33 bits, of which multiples by numbers of 20 bits are exact, but for the last one. Those of
        f32 are numbers of f64.
    sin, cos
        (sin(r) / r - 1) / r**2, and (cos(r) - 1 + r**2 / 2) / r**4, as polynomials of r**2, for |r| up to pi / 4. The
        sine of f32 is for |r| up to pi / 2, which needs no cosine.
    tanh
        (tanh(r) / r - 1) / r**2 as a polynomial of r**2, for |r| up to 5/8.
    erf
        erf(r) / r - 1 as a polynomial of r**2, for |r| up to 1.
    erf_is_1
        From where on erf(r) rounds to 1.
    erfcx
        e**(r**2) (1 - erf(r)) as a polynomial of (r - 3) / (r + 3), for r from 1 to `erf_is_1`.

    The polynomials have the exact values at the Chebyshev points of their intervals.
    """

    type: FloatType
    bits: int
    fraction: int
    ln2: tuple[float, float]
    log10_2: tuple[float, float]
    exp: tuple[float, ...]
    log: tuple[float, ...]
    half_pi: tuple[float, ...]
    sin: tuple[float, ...]
    cos: tuple[float, ...]
    tanh: tuple[float, ...]
    erf: tuple[float, ...]
    erf_is_1: float
    erfcx: tuple[float, ...]

    @property
    def bias(self) -> int:
        """The exponent of 1, as it is stored."""
        return (1 << (self.bits - self.fraction - 2)) - 1

    @property
    def rounder(self) -> float:
        """A number so large that a sum with it is rounded to an integer, which its last bits then are."""
        return 1.5 * 2.0**self.fraction


F32 = Format(
    FloatType("f32"),
    bits=32,
    fraction=23,
    ln2=(0.693359375, -0.00021219444005469057),
    log10_2=(0.301025390625, 4.605038981195214e-06),
    exp=(0.5, 0.1666657702559799, 0.041666554662050534, 0.008363173074513711, 0.001392617611993558),
    log=(0.6666666655449709, 0.40000121839806124, 0.28550820815960665, 0.23330467216303835),
    half_pi=(1.5707963267341256, 6.077100506506192e-11),
    sin=(
        -0.1666666666387985, 0.008333332768529359, -0.0001984108650700057, 2.753645944364609e-06,
        -2.408009508712208e-08,
    ),
    cos=(),
    tanh=(
        -0.3333333317214036, 0.1333330355691574, -0.053959259577204544, 0.02176891865102821,
        -0.008343945515839153, 0.002292744816178142,
    ),
    erf=(
        0.12837916584835093, -0.37612626666720334, 0.11283594715160218, -0.026854212010626412,
        0.005189087423433974, -0.000801686428716587, 7.875875062685488e-05,
    ),
    erf_is_1=4.0,
    erfcx=(
        0.17900114450585103, -0.32623367423291655, 0.24560599224302346, -0.15009834297159,
        0.07160350390773605, -0.02507963778089453, 0.002742749070858971,
    ),
)  # fmt: skip
F64 = Format(
    FloatType("f64"),
    bits=64,
    fraction=52,
    ln2=(0.6931471806019545, -4.2009150726810846e-11),
    log10_2=(0.3010299955494702, 1.1451100898021838e-10),
    exp=(
        0.5000000000000001, 0.16666666666666669, 0.041666666666624164, 0.008333333333330065, 0.0013888888917196719,
        0.00019841269863040545, 2.4801521322368692e-05, 2.7557268480310024e-06, 2.7620075879983367e-07,
        2.5100375832561234e-08,
    ),
    log=(
        0.666666666666667, 0.39999999999899505, 0.28571428625975487, 0.2222221113479508, 0.18182889125261723,
        0.15331721600556042, 0.14616449685043406,
    ),
    half_pi=(1.5707963267341256, 6.077100506303966e-11, 2.0222662487111665e-21, 8.4784276603689e-32),
    sin=(
        -0.16666666666666666, 0.008333333333330948, -0.00019841269836756774, 2.7557316101617874e-06,
        -2.505113165023518e-08, 1.5918115263265974e-10,
    ),
    cos=(
        0.041666666666666664, -0.0013888888888887398, 2.480158729876456e-05, -2.7557317271145144e-07,
        2.087614614655861e-09, -1.1382623647474604e-11,
    ),
    tanh=(
        -0.3333333333333333, 0.13333333333333042, -0.05396825396789699, 0.021869488519008305,
        -0.008863235103240878, 0.0035921217511549622, -0.0014557754120478055, 0.0005896606577757043,
        -0.0002375906496055562, 9.257116129556769e-05, -3.12011014257974e-05, 6.485163482793113e-06,
    ),
    erf=(
        0.12837916709551256, -0.37612638903183543, 0.11283791670945006, -0.02686617064323777,
        0.0052239776071164225, -0.0008548325975389692, 0.00012055294904839707, -1.492473690741966e-05,
        1.6447424703317362e-06, -1.6208483801871705e-07, 1.3720064546777686e-08, -7.795898827002142e-10,
    ),
    erf_is_1=6.0,
    erfcx=(
        0.17900115118138996, -0.32623356004303716, 0.24560380171233195, -0.15011593650078744,
        0.07166583719774874, -0.024392499318273194, 0.004269136347508256, 0.0007077464443901538,
        -0.0005970623517093284, 4.525472635483354e-05, 6.406182073530546e-05, -1.284889451252353e-05,
        -8.008021319412685e-06, 2.023603179641757e-06, 1.2801900862962662e-06,
    ),
)  # fmt: skip
FORMATS: Mapping[str, Format] = {format.type.name: format for format in (F32, F64)}
