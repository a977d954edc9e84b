"""The text of the small static functions that emitted C may call, by name: each without undefined behaviour.

The name of a helper is its stem and the type that it works on: `add_i32`, `maximum_f64`.
"""

from __future__ import annotations

import re
from functools import cache

from affdsl.codegen.c.float_helpers import ON_FLOATS
from affdsl.codegen.c.helper import Helper, inline_function
from affdsl.codegen.c.memory_helpers import ON_MEMORY
from affdsl.codegen.c.quirks import IN_ORDER, condition
from affdsl.codegen.c.types import container
from affdsl.errors import InternalError

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
# clang hears of __builtin_unpredictable in a statement alone, and makes one vector of several choices, whose lanes it
# then tests one by one: a number in a register is none.
_CHOSEN = """\
T found = b;
#if defined(__clang__)
if (__builtin_unpredictable(first)) found = a;
__asm__("" : "+r"(found));
#else
if (first) found = a;
#endif
return found;"""
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
    "chosen": ("int first, T a, T b", _CHOSEN),
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
# Without a branch but for what is no number, where what waits for the result could be foreseen by nobody: one of two
# zeros that are equal is made of both.
_LATE = (
    "const T m = b {0} a ? b : a, n = a {0} b ? a : b;\n"
    f"#if defined(__AVX__) && {condition('bits_moved')}\n"
    "T e = m;\n"
    '__asm__("{4} %1, %0, %0" : "+x"(e) : "x"(n));\n'
    "return isunordered(a, b) ? (b != b ? {2} : {3}) : e;\n"
    "#else\n"
    "return isunordered(a, b) ? (b != b ? {2} : {3}) : VALUE(BITS(m) {1} BITS(n));\n"
    "#endif"
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
    "late_maximum": ("T a, T b", _LATE.format(">", "&", "b", "a", "vandps")),
    "late_minimum": ("T a, T b", _LATE.format("<", "|", "b", "a", "vorps")),
    "late_maxnum": ("T a, T b", _LATE.format(">", "&", "a", "b", "vandps")),
    "late_minnum": ("T a, T b", _LATE.format("<", "|", "a", "b", "vorps")),
    # A narrower number would be widened again and again, and gcc 12 would not see that it chooses: 2.6 times as long.
    "masked": ("INT keep, T a, T other", "return VALUE((BITS(a) & -keep) | (BITS(other) & ~-keep));"),
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


def _integer_helper(name: str, stem: str, bits: int) -> Helper:
    if stem in _AFFINE:
        return Helper(inline_function("int64_t", name, "int64_t a, int64_t b", _AFFINE[stem]))
    if stem in _AFFINE_ANY:
        text = inline_function("int64_t", name, "int64_t a, int64_t b", _AFFINE_ANY[stem])
        return Helper(f"/* for every b; {stem.removesuffix('_any')} by 0 is 0 */\n{text}")
    if stem in _FROM_FLOAT:
        return _from_float(name, stem, bits)
    if stem in _EXTENDED:
        return _extended(name, stem, bits)
    if bits == 1:
        return Helper(inline_function("bool", name, "bool a, bool b", f"return {_BOOL[stem]};"), headers=("stdbool.h",))
    if stem in _INTEGER_PREDICATES:
        text = inline_function("bool", name, "T a, T b", f"return {_INTEGER_PREDICATES[stem]};")
        return Helper(_instantiate(text, bits), headers=("stdint.h", "stdbool.h"))
    if stem not in _INTEGER:
        raise InternalError(f"no C helper is called {name!r}")
    parameters, body = _INTEGER[stem]
    return Helper(_instantiate(inline_function("T", name, parameters, body), bits))


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
            return Helper(inline_function("bool", name, "bool s, bool a", "return !s && a;"), headers=("stdbool.h",))
        return Helper(
            _instantiate(inline_function("bool", name, "T s, T a", body), bits), headers=("stdint.h", "stdbool.h")
        )
    signed = stem == "mulhi"
    if bits <= 32:
        product = "(uint64_t)((int64_t)a * (int64_t)b)" if signed else "(uint64_t)Z(a) * (uint64_t)Z(b)"
        return Helper(_instantiate(inline_function("T", name, "T a, T b", f"return W[(U)({product} >> N)];"), bits))
    correction = " - (a < 0 ? y : 0u) - (b < 0 ? x : 0u)" if signed else ""
    operand = "(uint64_t){}" if signed else "Z({})"
    body = f"const uint64_t x = {operand.format('a')}, y = {operand.format('b')};\n"
    body += f"const uint64_t high = mulhi_u64(x, y){correction};\n"
    body += "return W[high];" if bits == 64 else "return W[high << (64 - N) | x * y >> N];"
    return Helper(_instantiate(inline_function("T", name, "T a, T b", body), bits), ("mulhi_u64",))


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
        return Helper(inline_function("bool", name, "double a", test), headers=("stdbool.h",))
    return Helper(_instantiate(inline_function("T", name, "double a", body), bits), headers=headers)


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
        headers = ("math.h",) if "isunordered" in body else ("stdint.h",)
        parameters = re.sub(r"\bT\b", type, parameters).replace("INT", f"int{on[1:]}_t")
        return Helper(inline_function(type, name, parameters, body), (bits, value), headers)
    return Helper(inline_function(type, name, parameters.replace("T", type), body), headers=("math.h",))


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
        + inline_function("void", "finish_streams", "void", "#if defined(__SSE__)\n__builtin_ia32_sfence();\n#endif")
    ),
    "is_true": Helper(
        "/* whether an element is true: bool arrays from elsewhere may hold any byte */\n"
        + inline_function("int", "is_true", "const void *element", "return *(const unsigned char *)element != 0;"),
    ),
    "mulhi_u64": Helper(
        "/* the upper half of the product */\n"
        + inline_function(
            "uint64_t",
            "mulhi_u64",
            "uint64_t a, uint64_t b",
            "const uint64_t al = a & 0xffffffffu, ah = a >> 32, bl = b & 0xffffffffu, bh = b >> 32;\n"
            "const uint64_t middle = ah * bl + (al * bl >> 32), cross = (middle & 0xffffffffu) + al * bh;\n"
            "return ah * bh + (middle >> 32) + (cross >> 32);",
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
    **ON_FLOATS,
    **ON_MEMORY,
}
