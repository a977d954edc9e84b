"""Helpers that compute with narrow floats and complex numbers, round, raise to powers, and print."""

from __future__ import annotations

import re
from collections.abc import Mapping

from affdsl.codegen.c.helper import Helper, inline_function
from affdsl.codegen.c.quirks import condition
from affdsl.codegen.c.sines import PAIRED

# Without a branch: a compiler copies these into each place and each lane, and what follows a branch for each way.
_TO_F16 = """\
uint32_t u, v;
memcpy(&u, &a, sizeof u);
const uint32_t sign = u >> 16 & 0x8000u;
u &= 0x7fffffffu;
float shifted;
memcpy(&shifted, &u, sizeof shifted);
shifted += 0.5f; /* rounds what is subnormal */
memcpy(&v, &shifted, sizeof v);
const uint32_t is_tiny = MASK(u < 0x38800000u), is_large = MASK(u > 0x477fffffu), is_nan = MASK(u > 0x7f800000u);
const uint32_t normal = (u + 0xc8000fffu + (u >> 13 & 1u)) >> 13;
const uint32_t large = 0x7c00u | (is_nan & (0x200u | (u >> 13 & 0x3ffu)));
const uint32_t found = (is_tiny & (v - 0x3f000000u)) | (~is_tiny & normal);
return (uint16_t)(sign | (is_large & large) | (~is_large & found));"""

_TO_BF16 = """\
uint32_t u;
memcpy(&u, &a, sizeof u);
const uint32_t is_nan = MASK((u & 0x7fffffffu) > 0x7f800000u), nearest = (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
return (uint16_t)((is_nan & (u >> 16 | 0x40u)) | (~is_nan & nearest));"""

_OF_F16 = """\
const uint32_t rest = bits & 0x7fffu, is_tiny = MASK(rest < 0x400u), is_large = MASK(rest > 0x7bffu);
const float tiny = (float)(int32_t)rest * 0x1p-24f;
uint32_t u;
memcpy(&u, &tiny, sizeof u);
u = (is_tiny & u) | (~is_tiny & ((rest << 13) + 0x38000000u + (is_large & 0x38000000u)));
u |= (uint32_t)(bits & 0x8000u) << 16;
float value;
memcpy(&value, &u, sizeof value);
return value;"""

_OF_BF16 = """\
const uint32_t u = (uint32_t)bits << 16;
float value;
memcpy(&value, &u, sizeof value);
return value;"""

_F16_BITS = """\
#if defined(__F16C__) && defined(__FLT16_MANT_DIG__) /* there is an instruction */
__extension__ const _Float16 b = (_Float16)a;
uint16_t bits;
memcpy(&bits, &b, sizeof bits);
return bits;
#else
{}
#endif"""

_ROUNDED_F16 = """\
#if defined(__F16C__) && defined(__FLT16_MANT_DIG__)
return __extension__(float)(_Float16)a;
#else
{}
#endif"""


def _narrow_float(name: str, to_bits: str, of_bits: str) -> dict[str, Helper]:
    """Conversions between the bits of a narrow float and floats, to nearest, ties to even."""
    headers = ("stdint.h", "string.h")
    rounded = f"return {name}_value({name}_bits(a));"
    if name == "f16":
        to_bits, rounded = _F16_BITS.format(to_bits), _ROUNDED_F16.format(rounded)
    to_bits, of_bits = (re.sub(r"MASK(\(.*?\))", r"0u - (uint32_t)\1", body) for body in (to_bits, of_bits))
    return {
        f"{name}_bits": Helper(inline_function("uint16_t", f"{name}_bits", "float a", to_bits), headers=headers),
        f"{name}_value": Helper(inline_function("float", f"{name}_value", "uint16_t bits", of_bits), headers=headers),
        f"round_{name}": Helper(
            inline_function("float", f"round_{name}", "float a", rounded), (f"{name}_bits", f"{name}_value")
        ),
    }


def _directed(name: str) -> dict[str, Helper]:
    """Roundings from double to a narrower float that are not to nearest, ties to even."""
    nearest, after = {
        "f16": ("round_f16(odd_f32(a))", "return f16_value((uint16_t)(f16_bits(a) + (uint32_t)away));"),
        "bf16": ("round_bf16(odd_f32(a))", "return bf16_value((uint16_t)(bf16_bits(a) + (uint32_t)away));"),
        "f32": (
            "(float)a",
            "uint32_t u;\nmemcpy(&u, &a, sizeof u);\nu += (uint32_t)away;\nmemcpy(&a, &u, sizeof a);\nreturn a;",
        ),
    }[name]
    narrow = () if name == "f32" else ("odd_f32", f"round_{name}", f"{name}_bits", f"{name}_value")
    beside = f"beside_{name}"
    modes = {
        "downward": f"return (double)b > a ? {beside}(b, b > 0 ? -1 : 1) : b;",
        "upward": f"return (double)b < a ? {beside}(b, b < 0 ? -1 : 1) : b;",
        "toward_zero": f"return fabs((double)b) > fabs(a) ? {beside}(b, -1) : b;",
        "to_nearest_away": f"if (!(fabs((double)b) < fabs(a)))\n    return b;\nconst float c = {beside}(b, 1);\n"
        "return (double)b + (double)c == 2 * a ? c : b;",
    }
    return {
        beside: Helper(
            "/* the number next to a: away from zero for 1, toward it for -1 */\n"
            + inline_function("float", beside, "float a, int away", after),
            narrow[2:],
            headers=("stdint.h", "string.h"),
        ),
        **{
            f"truncf_{mode}_{name}": Helper(
                inline_function("float", f"truncf_{mode}_{name}", "double a", f"const float b = {nearest};\n{body}"),
                (*narrow, beside),
                headers=("math.h",),
            )
            for mode, body in modes.items()
        },
    }


def _power(name: str, type: str, before: str, after: str) -> Helper:
    """x to an integer power by squaring, each product rounded."""
    body = (
        f"uint64_t left = n < 0 ? 0u - (uint64_t)n : (uint64_t)n;\n"
        f"{type} result = 1, square = x;\n"
        "while (left != 0) {\n"
        "    if (left % 2 != 0)\n"
        f"        result = {before}result * square{after};\n"
        "    left /= 2;\n"
        "    if (left != 0)\n"
        f"        square = {before}square * square{after};\n"
        "}\n"
        f"return n < 0 ? {before}1 / result{after} : result;"
    )
    needs = (before.rstrip("("),) if before else ()
    return Helper(inline_function(type, name, f"{type} x, int64_t n", body), needs)


def _complex(name: str, part: str, suffix: str) -> dict[str, Helper]:
    """Products and quotients of complex numbers, whose parts are of a type and have functions with a suffix."""
    type, made = f"{part} _Complex", f"CMPLX{suffix.upper()}"
    parts = (
        f"const {part} a = creal{suffix}(x), b = cimag{suffix}(x);\n"
        f"const {part} c = creal{suffix}(y), d = cimag{suffix}(y);\n"
    )
    product = f"return {made}(ROUNDED(a * c) - b * d, a * d + b * c);"
    fabs = f"fabs{suffix}"
    quotient = (
        f"if ({fabs}(c) >= {fabs}(d)) {{\n"
        f"    if (c == 0)\n        return {made}(a / {fabs}(c), b / {fabs}(c));\n"
        f"    const {part} ratio = d / c, divisor = c + d * ratio;\n"
        f"    return {made}((a + b * ratio) / divisor, (b - a * ratio) / divisor);\n"
        "}\n"
        f"const {part} ratio = c / d, divisor = c * ratio + d;\n"
        f"return {made}((a * ratio + b) / divisor, (ROUNDED(b * ratio) - a) / divisor);"
    )
    return {
        f"mul_{name}": Helper(
            inline_function(type, f"mul_{name}", f"{type} x, {type} y", parts + product),
            ("CMPLX", "ROUNDED"),
            headers=("complex.h",),
        ),
        f"div_{name}": Helper(
            "/* by the formula of R. L. Smith, which does not overflow where y is large */\n"
            + inline_function(type, f"div_{name}", f"{type} x, {type} y", parts + quotient),
            ("CMPLX", "ROUNDED"),
            headers=("complex.h", "math.h"),
        ),
    }


def _reinterpret(name: str, source: str, target: str) -> Helper:
    body = f"{target} b;\nmemcpy(&b, &a, sizeof b);\nreturn b;"
    return Helper(inline_function(target, name, f"{source} a", body), headers=("stdint.h", "string.h"))


def _printer(bits: int) -> Helper:
    type, read, digits = ("float", "strtof", 9) if bits == 32 else ("double", "strtod", 17)
    return Helper(
        "/* prints a number with as few digits as tell it from all others */\n"
        f"static void affdsl_print_f{bits}({type} a)\n{{\n"
        "    char text[32];\n"
        f"    for (int digits = 1; digits <= {digits}; ++digits) {{\n"
        '        (void)snprintf(text, sizeof text, "%.*g", digits, (double)a);\n'
        f"        if ({read}(text, NULL) == a)\n"
        "            break;\n"
        "    }\n"
        '    (void)fputs(a != a ? "nan" : text, stdout);\n'
        "}",
        headers=("stdio.h", "stdlib.h"),
    )


ON_FLOATS: Mapping[str, Helper] = {
    "power_f64": Helper(
        "/* as pow, which takes a signalling NaN for a number that it does not know */\n"
        + inline_function("double", "power_f64", "double a, double b", "return a == 1 || b == 0 ? 1 : pow(a, b);"),
        headers=("math.h",),
    ),
    **PAIRED,
    **_narrow_float("f16", _TO_F16, _OF_F16),
    **_narrow_float("bf16", _TO_BF16, _OF_BF16),
    "odd_f32": Helper(
        "/* a as a float, rounded to odd: rounding it again to a narrower one is then exact */\n"
        + inline_function(
            "float",
            "odd_f32",
            "double a",
            "float b = (float)a;\n"
            "const double c = (double)b;\n"
            "uint32_t u;\n"
            "memcpy(&u, &b, sizeof u);\n"
            "const uint32_t less = fabs(c) < fabs(a), more = fabs(c) > fabs(a);\n"
            "u += (0u - (~u & 1u)) & (less - more);\n"
            "memcpy(&b, &u, sizeof b);\n"
            "return b;",
        ),
        headers=("stdint.h", "string.h", "math.h"),
    ),
    **_directed("f16"),
    **_directed("bf16"),
    **_directed("f32"),
    "odd_fma": Helper(
        "/* a * b + c for numbers of at most 16 significant bits, rounded to odd: rounding it again is then exact */\n"
        + inline_function(
            "double",
            "odd_fma",
            "float a, float b, float c",
            "const double p = (double)a * (double)b, s = p + (double)c;\n"
            "const double d = s - p, error = (p - (s - d)) + ((double)c - d);\n"
            "uint64_t u;\n"
            "memcpy(&u, &s, sizeof u);\n"
            "if (!isfinite(s) || error == 0 || u % 2 == 1)\n"
            "    return s;\n"
            "u = (error > 0) == (s > 0) ? u + 1 : u - 1;\n"
            "double odd;\n"
            "memcpy(&odd, &u, sizeof odd);\n"
            "return odd;",
        ),
        headers=("stdint.h", "string.h", "math.h"),
    ),
    "odd_i64": Helper(
        "/* a with so few significant bits that a double holds it, rounded to odd: rounding it again is then exact */\n"
        + inline_function(
            "double",
            "odd_i64",
            "int64_t a",
            "uint64_t u = a < 0 ? 0u - (uint64_t)a : (uint64_t)a;\n"
            "if (u >> 53 != 0)\n"
            "    u = (u >> 12 | ((u & 0xfffu) != 0 ? 1u : 0u)) << 12;\n"
            "return a < 0 ? -(double)u : (double)u;",
        )
    ),
    "odd_u64": Helper(
        "/* a with so few significant bits that a double holds it, rounded to odd: rounding it again is then exact */\n"
        + inline_function(
            "double",
            "odd_u64",
            "uint64_t a",
            "return (double)(a >> 53 != 0 ? (a >> 12 | ((a & 0xfffu) != 0 ? 1u : 0u)) << 12 : a);",
        )
    ),
    "ROUNDED": Helper(
        "/* a product that is rounded before something is subtracted: gcc 12 fuses a * b - c beside d * e + f */\n"
        f"#if {condition('products_beside_sums')}\n"
        "#define ROUNDED(product) __builtin_assoc_barrier(product)\n"
        "#else\n"
        "#define ROUNDED(product) (product)\n"
        "#endif"
    ),
    "CMPLX": Helper(
        # The quirk `complex_macros`: what is not there is asked for, whatever the compiler is called.
        "#if !defined(CMPLX) /* clang, with a C library that defines it for gcc alone */\n"
        "#define CMPLX(re, im) __builtin_complex(re, im)\n"
        "#define CMPLXF(re, im) __builtin_complex(re, im)\n"
        "#endif",
        headers=("complex.h",),
    ),
    **_complex("c64", "float", "f"),
    **_complex("c128", "double", ""),
    "pow_c128": Helper(
        "/* exp(y * log(x)); 1 where y is 0, and 0 where only x is 0, and y positive */\n"
        + inline_function(
            "double _Complex",
            "pow_c128",
            "double _Complex x, double _Complex y",
            "if (y == 0) return CMPLX(1.0, 0.0);\n"
            "if (x == 0) return creal(y) > 0 && cimag(y) == 0 ? CMPLX(0.0, 0.0) : CMPLX(NAN, NAN);\n"
            "return cexp(mul_c128(y, clog(x)));",
        ),
        ("CMPLX", "mul_c128"),
        headers=("complex.h", "math.h"),
    ),
    "fpowi_f16": _power("fpowi_f16", "float", "round_f16(", ")"),
    "fpowi_bf16": _power("fpowi_bf16", "float", "round_bf16(", ")"),
    "fpowi_f32": _power("fpowi_f32", "float", "", ""),
    "fpowi_f64": _power("fpowi_f64", "double", "", ""),
    "isnormal_f16": Helper(
        inline_function("bool", "isnormal_f16", "float a", "return isfinite(a) && fabsf(a) >= 0x1p-14f;"),
        headers=("math.h", "stdbool.h"),
    ),
    "bits_f32": _reinterpret("bits_f32", "float", "int32_t"),
    "bits_f64": _reinterpret("bits_f64", "double", "int64_t"),
    "float_i32": _reinterpret("float_i32", "int32_t", "float"),
    "float_i64": _reinterpret("float_i64", "int64_t", "double"),
    **{f"affdsl_print_f{bits}": _printer(bits) for bits in (32, 64)},
}
"""By their names."""
