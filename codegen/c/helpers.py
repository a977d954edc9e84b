"""The text of the small static functions that emitted C may call, by name: each without undefined behaviour.

The name of a helper is its stem and the type that it works on: `add_i32`, `maximum_f64`.
"""

from __future__ import annotations

import re
from functools import cache

from affdsl.codegen.c.quirks import IN_ORDER, condition
from affdsl.codegen.c.types import container
from affdsl.errors import InternalError
from affdsl.frozen import FrozenValue


class Helper(FrozenValue):
    """A function's text, the other helpers that it calls, and the headers that it needs."""

    text: str
    needs: tuple[str, ...] = ()
    headers: tuple[str, ...] = ("stdint.h",)


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


# In the bodies below T is the type, N its width, U an unsigned type that is at least as wide and never promoted,
# Z(x) the value of x read as unsigned, and W[u] the number of type T that is u modulo 2**N. No helper computes a % b,
# nor what a compiler takes for it, as a - a / b * b: the quirk `remainders_beside_quotients`, docs/decisions/0015.
_REMAINDER = "const T r = W[(U)a - (U)(a / b) * (U)b];\n"
_NEGATED = "if (b == 0 || b == -1) return b == 0 ? 0 : W[0u - (U)a];\n"
_POWER = """\
if (b < 0) return a == 1 ? 1 : a == -1 ? (T)(b % 2 == 0 ? 1 : -1) : 0;
U result = 1, square = (U)a;
for (T n = b; n != 0; n = (T)(n / 2)) {
    if (n % 2 != 0) result *= square;
    square *= square;
}
return W[result];"""
_INTEGER = {
    "add": ("T a, T b", "return W[(U)a + (U)b];"),
    "sub": ("T a, T b", "return W[(U)a - (U)b];"),
    "mul": ("T a, T b", "return W[(U)a * (U)b];"),
    "and": ("T a, T b", "return (T)(a & b);"),
    "or": ("T a, T b", "return (T)(a | b);"),
    "xor": ("T a, T b", "return (T)(a ^ b);"),
    "div": ("T a, T b", "return b == 0 ? 0 : b == -1 ? W[0u - (U)a] : (T)(a / b);"),
    "rem": ("T a, T b", "if (b == 0 || b == -1) return 0;\n" + _REMAINDER + "return r;"),
    "divu": ("T a, T b", "return b == 0 ? 0 : W[Z(a) / Z(b)];"),
    "remu": ("T a, T b", "if (b == 0) return 0;\nconst U q = Z(a) / Z(b);\nreturn W[Z(a) + Z(b) + ~q * Z(b)];"),
    "divceil": (
        "T a, T b",
        _NEGATED + "const T q = (T)(a / b);\nreturn (T)(q + (q * b != a && (a < 0) == (b < 0) ? 1 : 0));",
    ),
    "divfloor": (
        "T a, T b",
        _NEGATED + "const T q = (T)(a / b);\nreturn (T)(q - (q * b != a && (a < 0) != (b < 0) ? 1 : 0));",
    ),
    "divuceil": (
        "T a, T b",
        "if (b == 0) return 0;\nconst U q = Z(a) / Z(b);\nreturn W[q + (q * Z(b) != Z(a) ? 1u : 0u)];",
    ),
    "shl": ("T a, T b", "return Z(b) >= N ? 0 : W[(U)a << Z(b)];"),
    "shru": ("T a, T b", "return Z(b) >= N ? 0 : W[Z(a) >> Z(b)];"),
    "shr": ("T a, T b", "return (T)(a >> (Z(b) >= N ? N - 1 : Z(b)));"),
    "max": ("T a, T b", "return a > b ? a : b;"),
    "min": ("T a, T b", "return a < b ? a : b;"),
    "maxu": ("T a, T b", "return Z(a) > Z(b) ? a : b;"),
    "minu": ("T a, T b", "return Z(a) < Z(b) ? a : b;"),
    "abs": ("T a", "return a < 0 ? W[0u - (U)a] : a;"),
    "popcount": ("T a", "int n = 0;\nfor (U x = Z(a); x != 0; x &= x - 1) ++n;\nreturn W[(U)n];"),
    "clz": (
        "T a",
        "int n = 0;\nfor (U bit = (U)1 << (N - 1); bit != 0 && (Z(a) & bit) == 0; bit >>= 1) ++n;\nreturn W[(U)n];",
    ),
    "ctz": ("T a", "int n = 0;\nwhile (n < N && (Z(a) >> n & 1u) == 0) ++n;\nreturn W[(U)n];"),
    "power": ("T a, T b", _POWER),
    "extend": ("T a", "return W[(U)a];"),
}
_INTEGER_PREDICATES = {"eq": "a == b", "ne": "a != b", "slt": "a < b", "sle": "a <= b", "sgt": "a > b", "sge": "a >= b"}
_INTEGER_PREDICATES |= {p.replace("s", "u"): f"Z(a) {op} Z(b)" for p, op in
                        {"slt": "<", "sle": "<=", "sgt": ">", "sge": ">="}.items()}  # fmt: skip
_BOOL = {
    "add": "a != b", "sub": "a != b", "mul": "a && b", "and": "a && b", "or": "a || b", "xor": "a != b",
    "div": "a && b", "divu": "a && b", "divceil": "a && b", "divfloor": "a && b", "divuceil": "a && b",
    "shl": "a && !b", "shru": "a && !b", "max": "a && b", "min": "a || b", "maxu": "a || b", "minu": "a && b",
    "power": "a || !b",
    "eq": "a == b", "ne": "a != b", "slt": "a && !b", "sle": "a || !b", "sgt": "!a && b", "sge": "!a || b",
    "ult": "!a && b", "ule": "!a || b", "ugt": "a && !b", "uge": "a || !b",
}  # fmt: skip
"""On one bit, where true is -1 as a signed number and 1 as an unsigned one."""

# Numbers without a sign are divided: a compiler that knows one instruction for quotient and remainder does not take
# such a quotient together with a plain x % n of the program.
_SIGN = "const uint64_t s = a < 0 ? UINT64_MAX : 0;\n"
_FLOOR = "(((uint64_t)a ^ s) / (uint64_t)b) ^ s"
_AFFINE = {
    "floordiv": f"{_SIGN}return (int64_t)({_FLOOR});",
    "ceildiv": "const uint64_t s = a > 0 ? UINT64_MAX : 0;\n"
    "return (int64_t)(0u - ((((0u - (uint64_t)a) ^ s) / (uint64_t)b) ^ s));",
    "mod": f"{_SIGN}return (int64_t)((uint64_t)a - ({_FLOOR}) * (uint64_t)b);",
}
"""For b > 0."""

_FLOOR_ANY = """\
if (a == 0 || b == 0) return 0;
const uint64_t x = a < 0 ? 0u - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0u - (uint64_t)b : (uint64_t)b;
const uint64_t q = (a < 0) == (b < 0) ? x / y : ~((x - 1) / y);
"""
_AFFINE_ANY = {
    "floordiv_any": _FLOOR_ANY + "return (int64_t)q;",
    "mod_any": _FLOOR_ANY + "return (int64_t)((uint64_t)a - q * (uint64_t)b);",
}
"""For every b; what is divided by 0 gives 0, and leaves 0."""

# Without a branch: compilers make a vector instruction, a comparison and a choice of each line. Numbers that are equal
# have the same bits, or are two zeros: a sign that both have is that of the larger, one that any has of the smaller.
_EXTREME = "const T m = {0} ? {1} : {2}, e = a == b ? VALUE(BITS(a) {3} BITS(b)) : m;\nreturn b != b ? {4} : e;"
# With branches, which the processor foresees where a loop goes on with the result: then it need not wait for it.
_CARRIED = (
    "if (a {0} b) return a;\nif (b {0} a) return b;\n"
    "if (a == b) return VALUE(BITS(a) {1} BITS(b));\nreturn b != b ? {2} : {3};"
)
_FLOAT = {
    "maximum": ("T a, T b", _EXTREME.format("b > a", "b", "a", "&", "b")),
    "minimum": ("T a, T b", _EXTREME.format("b < a", "b", "a", "|", "b")),
    "maxnum": ("T a, T b", _EXTREME.format("a > b", "a", "b", "&", "a")),
    "minnum": ("T a, T b", _EXTREME.format("a < b", "a", "b", "|", "a")),
    "carried_maximum": ("T a, T b", _CARRIED.format(">", "&", "b", "a")),
    "carried_minimum": ("T a, T b", _CARRIED.format("<", "|", "b", "a")),
    "carried_maxnum": ("T a, T b", _CARRIED.format(">", "&", "a", "b")),
    "carried_minnum": ("T a, T b", _CARRIED.format("<", "|", "a", "b")),
    "roundeven": ("T a", "return FABS(a - TRUNC(a)) == HALF ? 2 * ROUND(a / 2) : ROUND(a);"),
}


_FROM_FLOAT = ("fptosi", "fptoui")
_EXTENDED = ("carry", "mulhi", "mulhiu")
_STEMS = frozenset((*_INTEGER, *_INTEGER_PREDICATES, *_BOOL, *_AFFINE, *_AFFINE_ANY, *_FLOAT, *_FROM_FLOAT, *_EXTENDED))
_NAMED = re.compile(r"([a-z_0-9]+?)_(i\d+|f32|f64)")


def is_helper(name: str) -> bool:
    """Whether a helper is called so."""
    match = _NAMED.fullmatch(name)
    return name in _FIXED or (match is not None and match[1] in _STEMS)


@cache
def helper(name: str) -> Helper:
    """The helper of that name."""
    if name in _FIXED:
        return _FIXED[name]
    match = _NAMED.fullmatch(name)
    if match is None:
        raise InternalError(f"no C helper is called {name!r}")
    stem, on = match.groups()
    if on[0] == "f":
        return _float_helper(name, stem, on)
    return _integer_helper(name, stem, int(on[1:]))


def _function(result: str, name: str, parameters: str, body: str) -> str:
    lines = "\n".join(line if line[:1] == "#" else f"    {line}" for line in _one_statement_a_line(body))
    return f"static inline {result} {name}({parameters})\n{{\n{lines}\n}}"


def _one_statement_a_line(body: str) -> list[str]:
    lines: list[str] = []
    for line in body.split("\n"):
        match = re.fullmatch(r"((?:if|for|while) \(.*\)) ((?:return\b|\+\+|result).*;)", line.strip())
        indent = line[: len(line) - len(line.lstrip())]
        lines += [line] if match is None else [f"{indent}{match[1]}", f"{indent}    {match[2]}"]
    return lines


def _integer_helper(name: str, stem: str, bits: int) -> Helper:
    if stem in _AFFINE:
        return Helper(_function("int64_t", name, "int64_t a, int64_t b", _AFFINE[stem]))
    if stem in _AFFINE_ANY:
        text = _function("int64_t", name, "int64_t a, int64_t b", _AFFINE_ANY[stem])
        return Helper(f"/* for every b; {stem.removesuffix('_any')} by 0 is 0 */\n{text}")
    if stem in _FROM_FLOAT:
        return _from_float(name, stem, bits)
    if stem in _EXTENDED:
        return _extended(name, stem, bits)
    if bits == 1:
        return Helper(_function("bool", name, "bool a, bool b", f"return {_BOOL[stem]};"), headers=("stdbool.h",))
    if stem in _INTEGER_PREDICATES:
        text = _function("bool", name, "T a, T b", f"return {_INTEGER_PREDICATES[stem]};")
        return Helper(_instantiate(text, bits), headers=("stdint.h", "stdbool.h"))
    if stem not in _INTEGER:
        raise InternalError(f"no C helper is called {name!r}")
    parameters, body = _INTEGER[stem]
    return Helper(_instantiate(_function("T", name, parameters, body), bits))


def _instantiate(text: str, bits: int) -> str:
    size = container(bits)
    wide = max(32, size)
    exact = size == bits
    narrow = f"(uint{wide}_t)(uint{size}_t)" if size < 32 else f"(uint{wide}_t)"
    mask, sign = f"0x{(1 << bits) - 1:x}u", f"0x{1 << bits - 1:x}u"
    if wide == 64:
        mask, sign = f"UINT64_C(0x{(1 << bits) - 1:x})", f"UINT64_C(0x{1 << bits - 1:x})"
    text = re.sub(r"Z\((\w)\)", rf"{narrow}\1" if exact else rf"((uint{wide}_t)\1 & {mask})", text)
    wrap = rf"(int{size}_t)(\1)" if exact else rf"(int{size}_t)(int{wide}_t)((((\1) & {mask}) ^ {sign}) - {sign})"
    text = re.sub(r"W\[([^\]]*)\]", wrap, text)
    if size < 32:  # C computes choices in int
        text = re.sub(r"return ([^;]*\? -?[01] :[^;]*);", rf"return (int{size}_t)(\1);", text)
    for token, meaning in (("T", f"int{size}_t"), ("U", f"uint{wide}_t"), ("N", str(bits))):
        text = re.sub(rf"\b{token}\b", meaning, text)
    return text


def _extended(name: str, stem: str, bits: int) -> Helper:
    if stem == "carry":  # of a sum: the sum and one of its operands
        body = "return Z(sum) < Z(a);".replace("Z(sum)", "Z(s)")
        if bits == 1:
            return Helper(_function("bool", name, "bool s, bool a", "return !s && a;"), headers=("stdbool.h",))
        return Helper(_instantiate(_function("bool", name, "T s, T a", body), bits), headers=("stdint.h", "stdbool.h"))
    signed = stem == "mulhi"
    if bits <= 32:
        product = "(uint64_t)((int64_t)a * (int64_t)b)" if signed else "(uint64_t)Z(a) * (uint64_t)Z(b)"
        return Helper(_instantiate(_function("T", name, "T a, T b", f"return W[(U)({product} >> N)];"), bits))
    correction = " - (a < 0 ? y : 0u) - (b < 0 ? x : 0u)" if signed else ""
    operand = "(uint64_t){}" if signed else "Z({})"
    body = f"const uint64_t x = {operand.format('a')}, y = {operand.format('b')};\n"
    body += f"const uint64_t high = mulhi_u64(x, y){correction};\n"
    body += "return W[high];" if bits == 64 else "return W[high << (64 - N) | x * y >> N];"
    return Helper(_instantiate(_function("T", name, "T a, T b", body), bits), ("mulhi_u64",))


def _from_float(name: str, stem: str, bits: int) -> Helper:
    size, wide = container(bits), max(32, container(bits))
    if stem == "fptosi":
        top = bits - 1
        least = "INT64_MIN" if bits == 64 else f"(int{size}_t)-INT64_C({1 << top})"
        body = (
            f"if (a >= -0x1p{top} && a < 0x1p{top}) return (int{size}_t)a;\n"
            f"if (isnan(a)) return 0;\nreturn a > 0.0 ? (int{size}_t)INT64_C({(1 << top) - 1}) : {least};"
        )
    else:
        body = f"if (!(a > 0)) return 0;\nreturn a >= 0x1p{bits} ? -1 : W[(uint{wide}_t)a];"
    headers = ("stdint.h", "math.h") if stem == "fptosi" else ("stdint.h",)
    if bits == 1:
        test = "return a <= -1.0;" if stem == "fptosi" else "return a >= 1.0;"
        return Helper(_function("bool", name, "double a", test), headers=("stdbool.h",))
    return Helper(_instantiate(_function("T", name, "double a", body), bits), headers=headers)


def _float_helper(name: str, stem: str, on: str) -> Helper:
    type, end = ("float", "f") if on == "f32" else ("double", "")
    if stem not in _FLOAT:
        raise InternalError(f"no C helper is called {name!r}")
    parameters, body = _FLOAT[stem]
    for function in ("fabs", "trunc", "round"):
        body = body.replace(function.upper(), f"{function}{end}")
    body = re.sub(r"\bT\b", type, body.replace("HALF", f"0.5{end}"))
    if "BITS" in body:
        bits, value = f"bits_{on}", f"float_{on.replace('f', 'i')}"
        body = body.replace("BITS", bits).replace("VALUE", value)
        return Helper(_function(type, name, parameters.replace("T", type), body), (bits, value))
    return Helper(_function(type, name, parameters.replace("T", type), body), headers=("math.h",))


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
        f"{name}_bits": Helper(_function("uint16_t", f"{name}_bits", "float a", to_bits), headers=headers),
        f"{name}_value": Helper(_function("float", f"{name}_value", "uint16_t bits", of_bits), headers=headers),
        f"round_{name}": Helper(
            _function("float", f"round_{name}", "float a", rounded), (f"{name}_bits", f"{name}_value")
        ),
    }


def _allocator(name: str, parameter: str, result: str) -> str:
    body = (
        "size_t bytes = element;\n"
        "for (int d = 0; d < rank; ++d) {\n"
        "    if (sizes[d] < 0 || (bytes > 0 && (uint64_t)sizes[d] > (size_t)(PTRDIFF_MAX / 2) / bytes))\n"
        "        return NULL;\n"
        "    bytes *= (size_t)sizes[d];\n"
        "}\n"
        f"return {result};"
    )
    text = _function("void *", name, f"{parameter}size_t element, int rank, const int64_t *sizes", body)
    return text.replace("void * ", "void *")


def _reinterpret(name: str, source: str, target: str) -> Helper:
    body = f"{target} b;\nmemcpy(&b, &a, sizeof b);\nreturn b;"
    return Helper(_function(target, name, f"{source} a", body), headers=("stdint.h", "string.h"))


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
    return Helper(_function(type, name, f"{type} x, int64_t n", body), needs)


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
            _function(type, f"mul_{name}", f"{type} x, {type} y", parts + product),
            ("CMPLX", "ROUNDED"),
            headers=("complex.h",),
        ),
        f"div_{name}": Helper(
            "/* by the formula of R. L. Smith, which does not overflow where y is large */\n"
            + _function(type, f"div_{name}", f"{type} x, {type} y", parts + quotient),
            ("CMPLX", "ROUNDED"),
            headers=("complex.h", "math.h"),
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
            + _function("float", beside, "float a, int away", after),
            narrow[2:],
            headers=("stdint.h", "string.h"),
        ),
        **{
            f"truncf_{mode}_{name}": Helper(
                _function("float", f"truncf_{mode}_{name}", "double a", f"const float b = {nearest};\n{body}"),
                (*narrow, beside),
                headers=("math.h",),
            )
            for mode, body in modes.items()
        },
    }


_FIXED: dict[str, Helper] = {
    "affdsl_prefetch": Helper(
        "/* the address may lie outside of the array: nothing is read */\n"
        "#if defined(__GNUC__)\n"
        "#define affdsl_prefetch(array, index, write, locality) \\\n"
        "    __builtin_prefetch((const void *)((uintptr_t)(array) + (uintptr_t)(index) * sizeof *(array)), write, "
        "locality)\n"
        "#else\n"
        "#define affdsl_prefetch(array, index, write, locality) ((void)(array), (void)(index))\n"
        "#endif"
    ),
    "finish_streams": Helper(
        "/* what was stored past the caches comes before all that is stored later */\n"
        + _function("void", "finish_streams", "void", "#if defined(__SSE__)\n__builtin_ia32_sfence();\n#endif")
    ),
    "is_true": Helper(
        "/* whether an element is true: bool arrays from elsewhere may hold any byte */\n"
        + _function("int", "is_true", "const void *element", "return *(const unsigned char *)element != 0;"),
    ),
    "power_f64": Helper(
        "/* as pow, which takes a signalling NaN for a number that it does not know */\n"
        + _function("double", "power_f64", "double a, double b", "return a == 1 || b == 0 ? 1 : pow(a, b);"),
        headers=("math.h",),
    ),
    "mulhi_u64": Helper(
        "/* the upper half of the product */\n"
        + _function(
            "uint64_t",
            "mulhi_u64",
            "uint64_t a, uint64_t b",
            "const uint64_t al = a & 0xffffffffu, ah = a >> 32, bl = b & 0xffffffffu, bh = b >> 32;\n"
            "const uint64_t middle = ah * bl + (al * bl >> 32), cross = (middle & 0xffffffffu) + al * bh;\n"
            "return ah * bh + (middle >> 32) + (cross >> 32);",
        )
    ),
    **_narrow_float("f16", _TO_F16, _OF_F16),
    **_narrow_float("bf16", _TO_BF16, _OF_BF16),
    "odd_f32": Helper(
        "/* a as a float, rounded to odd: rounding it again to a narrower one is then exact */\n"
        + _function(
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
        + _function(
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
        + _function(
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
        + _function(
            "double",
            "odd_u64",
            "uint64_t a",
            "return (double)(a >> 53 != 0 ? (a >> 12 | ((a & 0xfffu) != 0 ? 1u : 0u)) << 12 : a);",
        )
    ),
    "affdsl_in_order": Helper(
        "/* no vectors of iterations: gcc 12 makes some that are wrong, and slow ones of lookups and sums in order */\n"
        f"#if {condition(*IN_ORDER)}\n"
        '#define affdsl_in_order() __asm__ volatile("")\n'
        "#else\n"
        "#define affdsl_in_order() ((void)0)\n"
        "#endif"
    ),
    "affdsl_loads_first": Helper(
        "/* what the next iteration works on is loaded before this one stores: compilers would swap them */\n"
        "#if defined(__GNUC__)\n"
        '#define affdsl_loads_first() __asm__ volatile("" : : : "memory")\n'
        "#else\n"
        "#define affdsl_loads_first() ((void)0)\n"
        "#endif"
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
        + _function(
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
        _function("bool", "isnormal_f16", "float a", "return isfinite(a) && fabsf(a) >= 0x1p-14f;"),
        headers=("math.h", "stdbool.h"),
    ),
    "bits_f32": _reinterpret("bits_f32", "float", "int32_t"),
    "bits_f64": _reinterpret("bits_f64", "double", "int64_t"),
    "float_i32": _reinterpret("float_i32", "int32_t", "float"),
    "float_i64": _reinterpret("float_i64", "int64_t", "double"),
    "new_buffer": Helper(
        "/* Memory for sizes[0] * sizes[1] * ... elements, or NULL if there is none. Never NULL for no elements.\n"
        "   What is long begins with a line of the cache, so that fewer vectors lie in two of them. */\n"
        + _allocator(
            "new_buffer",
            "",
            "bytes < 1024 ? malloc(bytes > 0 ? bytes : element) : aligned_alloc(64, (bytes + 63) / 64 * 64)",
        ),
        headers=("stdint.h", "stdlib.h"),
    ),
    "new_aligned": Helper(
        "/* As new_buffer, at an address that is a multiple of `alignment`, a power of two. */\n"
        + _allocator(
            "new_aligned", "size_t alignment, ", "aligned_alloc(alignment, (bytes / alignment + 1) * alignment)"
        ),
        headers=("stdint.h", "stdlib.h"),
    ),
    "affdsl_outside": Helper(
        "/* notes which check failed, and its numbers; the first one that comes here counts */\n"
        "#if defined(__GNUC__)\n__attribute__((noinline, cold))\n#endif\n"
        "static void affdsl_outside(int64_t *failure, int64_t site, int64_t count, const int64_t *numbers)\n{\n"
        "#if defined(_OPENMP)\n#pragma omp critical(affdsl_failure)\n#endif\n"
        "    {\n"
        "        if (failure[0] == 0) {\n"
        "            failure[0] = site;\n"
        "            for (int64_t k = 0; k < count; ++k)\n"
        "                failure[k + 1] = numbers[k];\n"
        "        }\n"
        "    }\n"
        "}"
    ),
    **{f"affdsl_print_f{bits}": _printer(bits) for bits in (32, 64)},
    "affdsl_is_behind": Helper(
        "/* whether the element `offset` behind index is one, in its row or, of a contiguous array, behind that */\n"
        + _function(
            "int32_t",
            "affdsl_is_behind",
            "int64_t rank, const int64_t *index, const int64_t *sizes, int64_t offset, int32_t contiguous",
            "int32_t failed = 0;\n"
            "const int64_t last = checked_add(index[rank - 1], offset, &failed);\n"
            "if (failed == 0 && last >= 0 && last < sizes[rank - 1]) {\n"
            "    for (int64_t k = 0; k < rank - 1; ++k)\n"
            "        if (index[k] < 0 || index[k] >= sizes[k])\n"
            "            return 0;\n"
            "    return 1;\n"
            "}\n"
            "int64_t place = 0, count = 1;\n"
            "failed = 0;\n"
            "for (int64_t k = 0; k < rank; ++k) {\n"
            "    place = checked_add(checked_mul(place, sizes[k], &failed), index[k], &failed);\n"
            "    count = checked_mul(count, sizes[k], &failed);\n"
            "}\n"
            "place = checked_add(place, offset, &failed);\n"
            "return contiguous != 0 && failed == 0 && place >= 0 && place < count;",
        ),
        needs=("checked_add", "checked_mul"),
    ),
    "affdsl_is_span": Helper(
        "/* whether count elements, jump apart from the one at offset on, lie among as many as size says */\n"
        + _function(
            "int32_t",
            "affdsl_is_span",
            "int64_t size, int64_t offset, int64_t count, int64_t jump",
            "int32_t failed = 0;\n"
            "if (count <= 0)\n"
            "    return count == 0;\n"
            "const int64_t last = checked_add(offset, checked_mul(count - 1, jump, &failed), &failed);\n"
            "return failed == 0 && offset >= 0 && offset < size && last >= 0 && last < size;",
        ),
        needs=("checked_add", "checked_mul"),
    ),
    "affdsl_is_chunked": Helper(
        "/* whether count elements, in chunks that start jump apart, from the one at offset on, lie among `size` */\n"
        + _function(
            "int32_t",
            "affdsl_is_chunked",
            "int64_t size, int64_t offset, int64_t count, int64_t jump, int64_t chunk",
            "const int64_t last = checked_add(offset, chunk - 1, &(int32_t){0});\n"
            "return count <= 0 || (affdsl_is_span(size, offset, count / chunk, jump) != 0 &&\n"
            "                      affdsl_is_span(size, last, count / chunk, jump) != 0);",
        ),
        needs=("affdsl_is_span", "checked_add"),
    ),
    "affdsl_reach": Helper(
        "/* whether an array of these sizes and strides, from the element at offset on, lies among `count` */\n"
        + _function(
            "int32_t",
            "affdsl_reach",
            "int64_t count, int64_t offset, int64_t rank, const int64_t *sizes, const int64_t *strides",
            "int32_t failed = 0, empty = 0;\n"
            "int64_t low = offset, high = offset;\n"
            "for (int64_t k = 0; k < rank; ++k) {\n"
            "    if (sizes[k] < 0)\n"
            "        return 0;\n"
            "    if (sizes[k] == 0) {\n"
            "        empty = 1;\n"
            "        continue;\n"
            "    }\n"
            "    const int64_t end = checked_mul(sizes[k] - 1, strides[k], &failed);\n"
            "    low = end < 0 ? checked_add(low, end, &failed) : low;\n"
            "    high = end > 0 ? checked_add(high, end, &failed) : high;\n"
            "}\n"
            "return empty != 0 || (failed == 0 && low >= 0 && high < count);",
        ),
        needs=("checked_add", "checked_mul"),
    ),
    "affdsl_product": Helper(
        "/* the product of sizes; -1 where one is negative or no int64_t holds it */\n"
        + _function(
            "int64_t",
            "affdsl_product",
            "int64_t rank, const int64_t *sizes",
            "int32_t failed = 0;\n"
            "int64_t count = 1;\n"
            "for (int64_t k = 0; k < rank; ++k) {\n"
            "    count = checked_mul(count, sizes[k], &failed);\n"
            "    failed = sizes[k] < 0 ? 1 : failed;\n"
            "}\n"
            "return failed != 0 ? -1 : count;",
        ),
        needs=("checked_mul",),
    ),
    "checked_add": Helper(
        "/* a + b; sets *failed where no int64_t holds it */\n"
        + _function(
            "int64_t",
            "checked_add",
            "int64_t a, int64_t b, int32_t *failed",
            "if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) {\n    *failed = 1;\n    return 0;\n}\nreturn a + b;",
        )
    ),
    "checked_divisor": Helper(
        "/* a; sets *failed where it is no divisor */\n"
        + _function(
            "int64_t",
            "checked_divisor",
            "int64_t a, int32_t *failed",
            "if (a <= 0)\n    *failed = 1;\nreturn a > 0 ? a : 1;",
        )
    ),
    "checked_mul": Helper(
        "/* a * b; sets *failed where no int64_t holds it */\n"
        + _function(
            "int64_t",
            "checked_mul",
            "int64_t a, int64_t b, int32_t *failed",
            "const uint64_t x = a < 0 ? 0u - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0u - (uint64_t)b : (uint64_t)b;\n"
            "if (y != 0 && x > (uint64_t)INT64_MAX / y) {\n"
            "    *failed = 1;\n"
            "    return 0;\n"
            "}\n"
            "return a * b;",
        )
    ),
}
