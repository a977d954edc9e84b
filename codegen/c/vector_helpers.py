"""Functions on vector types that emitted C may call: what has no operator there.

Each has a portable form, which is its meaning, and that of each instruction set which has an instruction for it. The
compiler chooses by what it may use, so that one text is right on all machines.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from affdsl.codegen.c import narrow_helpers
from affdsl.codegen.c.helper import Helper
from affdsl.codegen.c.in_doubles import MACROS, NEAR, called, macro
from affdsl.codegen.c.quirks import condition, is_written
from affdsl.codegen.targets.avx2 import AVX2
from affdsl.codegen.targets.avx512 import AVX512, AVX512FP16, AVX512VBMI, AVX512VNNI
from affdsl.codegen.targets.in_doubles import one_by_one
from affdsl.codegen.targets.neon import NEON
from affdsl.codegen.targets.portable import LOAD, STORE, STREAM
from affdsl.codegen.targets.rvv import RVV
from affdsl.codegen.targets.simd128 import SIMD128
from affdsl.codegen.targets.sse42 import SSE42
from affdsl.codegen.targets.sve import SVE
from affdsl.codegen.targets.target import SIGNS, Row, Target
from affdsl.errors import InternalError
from affdsl.passes.lowering.in_doubles import KINDS

TARGETS = (AVX512FP16, AVX512VBMI, AVX512VNNI, AVX512, AVX2, SSE42, SVE, NEON, RVV, SIMD128)
"""The best one of each machine first."""

GUARDED: Mapping[str, str] = {target.header: target.condition for target in (SSE42, NEON, SVE, RVV, SIMD128)}
"""The headers of instruction sets, and where they are needed."""

INLINED = f"""\
/* Functions that are always inlined: how their results would be passed does not matter. */
#if {condition("vectors_handed_in")}
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

"""
"""What comes before the functions on vectors."""

# In what follows V is the type of the vectors, T that of their lanes, N the number of these, M the type of masks: as
# many integers as wide as T, -1 or 0 each. Vectors are handed in by pointers: gcc has notes about all others.
_CHOICE = "return (V)((*mask & (M)*a) | (~*mask & (M)*b));"
_COMPRESSED = "for (int k = 0; k < N; ++k)\n    if ((*mask)[k])\n        *at++ = (*value)[k];"
_CHOSEN = "const M mask = *a {} *b;\nreturn (V)((mask & (M)*a) | (~mask & (M)*b));"
_ANY = "for (int k = 0; k < N; ++k)\n    if ((*mask)[k])\n        return true;\nreturn false;"
_COUNT = "int found = 0;\nfor (int k = 0; k < N; ++k)\n    found -= (int)(*mask)[k];\nreturn found;"
_FMA = "V found;\nfor (int k = 0; k < N; ++k)\n    found[k] = FUSED((*a)[k], (*b)[k], (*c)[k]);\nreturn found;"
_FIRST = "const T end = (T)(count < 0 ? 0 : count < N ? count : N);\nreturn (V){NUMBERS} < (V){ENDS};"
# Numbers that are equal have the same bits, or are two zeros, see `affdsl.codegen.c.helpers`.
_EXTREME = (
    "const M x = (M)*a, y = (M)*b, better = {0}, same = *a == *b, none = *b != *b;\n"
    "const M other = (better & {1}) | (~better & {2}), found = (same & (x {3} y)) | (~same & other);\n"
    "return (V)((none & {4}) | (~none & found));"
)

_BETTER = "const M better = (M)({0}*a {1} {0}*b);\nreturn (V)((better & (M)*a) | (~better & (M)*b));"

_SHIFTED = "return (V)((U)*a {} (U)(*n & LAST)) & (V)((U)*n <= LAST);"
"""0 where it is by as many bits as there are, or more; U is the type of masks without a sign."""
_SHIFTED_SIGN = "const V far = (V)((U)*n > LAST);\nreturn *a >> ((*n & ~far) | (far & LAST));"

_WIDER = {
    f"from_{kind}": ("V", "const S *a", "return __builtin_convertvector(*a, V);")
    for kind in ("i8", "i16", "i32", "u8", "u16", "u32")
}
"""Integers as wider ones; S is the type of a vector of them."""
_TRUNCATION = (
    "V found;\nfor (int k = 0; k < N; ++k)\n"
    "    found[k] = (*a)[k] >= TOP ? LARGEST : (*a)[k] <= -TOP ? LEAST : (*a)[k] == (*a)[k] ? (T)(*a)[k] : 0;\n"
    "return found;"
)
_TRUNCATED = {f"trunc_{kind}": ("V", "const S *a", _TRUNCATION) for kind in ("f32", "f64")}
"""Floats as integers, rounded to zero: the nearest one there is for those that are too large, and 0 for NaN."""
_NARROW = (
    "const W above = *a >= TOP, below = *a <= BOTTOM, inside = (*a < TOP) & (*a > BOTTOM);\n"
    "const W wide = __builtin_convertvector((S)((W)*a & inside), W) | (above & END) | (below & START);\n"
    "return SHORT;"
)
"""Floats as integers of 8 or 16 bits, by way of such of 32, of which W is the type of vectors."""
_TRUNCATED |= {"truncu_f32": ("V", "const S *a", _NARROW)}
_SHORTER = {f"short_{kind}": ("V", "const S *a", "const S wide = *a;\nreturn SHORT;") for kind in ("i16", "i32", "i64")}
"""The low bits of integers; S is the type of a vector of them."""
NARROW = 16
"""Integers of at most so many bits are made of floats by way of such of 32 bits."""
HALVED = 4
"""From so many lanes on, integers are made narrow by halves, where compilers would take one lane after the other."""
_WIDER |= {"from_f32": ("V", "const S *a", "return __builtin_convertvector(*a, V);")}


def _added(*kinds: str) -> str:
    """The terms that lie in the bits of a lane of the sum, each taken out of there; wherever it lies in these.

    They are numbers of a, or products of these and of those of b, which may have another kind.
    """
    bits = int(kinds[0][1:])

    def at(place: int, factor: str, kind: str) -> str:
        return f"(U)(({'U' if kind[0] == 'u' else 'V'})((U)*{factor} << {place}) >> {32 - bits})"

    terms = [" * ".join(at(place, *each) for each in zip("ab", kinds, strict=False)) for place in range(0, 32, bits)]
    return "return (V)((U)*acc + " + "\n    + ".join(terms) + ");"


_KINDS = ("i8", "i16", "u8", "u16")
_DOTS = {
    **{f"dot_{kind}": ("V", "const V *acc, const S *a, const S *b", _added(kind, kind)) for kind in _KINDS},
    **{f"sum_{kind}": ("V", "const V *acc, const S *a", _added(kind)) for kind in _KINDS},
    "dotu_i8": ("V", "const V *acc, const S *a, const S *b", _added("u8", "i8")),
}
"""Sums of as many integers, or products of two, of type S as R; S is the type of a vector of them. Of those that begin
with dotu the first factor has no sign."""

_LISTED = (
    "#if defined(__clang__) || __GNUC__ >= 12\nreturn __builtin_shufflevector(*a, *{0}, {1});\n#else\n"
    "return (V){{{2}}};\n#endif"
)
HALVES_OF = {
    half: ("V", "const S *a", _LISTED.format("a", f"{half}_PLACES", f"{half}_LANES")) for half in ("low", "high")
}
"""The first and the last lanes of a vector of twice as many, of type S; gcc makes a list of lanes of one after the
other."""

_JOINED = {"joined": ("V", "const S *a, const S *b", _LISTED.format("b", "NUMBERS", "JOINED"))}
"""One vector of the lanes of two, of type S."""
_HALVES_SHORT = (
    "typedef T H __attribute__((vector_size(sizeof(V) / 2)));\n"
    "const H low = __builtin_convertvector(*a, H), high = __builtin_convertvector(*b, H);\n"
    "V both;\n__builtin_memcpy(&both, &low, sizeof low);\n"
    "__builtin_memcpy((char *)&both + sizeof low, &high, sizeof high);\nreturn both;"
)
_BOTH_SHORT = {f"joined_i{bits}": ("V", "const S *a, const S *b", _HALVES_SHORT) for bits in (16, 32, 64)}
"""The same of integers of type S that have twice as many bits: the low ones."""

_SPILLED = '__builtin_memcpy(into, a, sizeof *a);\n__asm__("" : "+m"(*(T (*)[N])into));'
"""The lanes in an array of which compilers do not know that they are in a register, too."""

_SCALED = (
    "const M half = *n >> 1, rest = *n - half;\n"
    "return *a * (V)((U)(half + BIAS) << FRACTION) * (V)((U)(rest + BIAS) << FRACTION);"
)
"""In two steps: neither power of 2 is too large or too small. U is the type of masks without a sign."""


def _counted(sign: str, of: str = "") -> tuple[str, str, str]:
    """How many lanes of two vectors compare so."""
    return "int", "const V *a, const V *b", f"const M both = {of}*a {sign} {of}*b;\n{_COUNT.replace('*mask', 'both')}"


_COUNTED = {f"count_{name}": _counted(sign) for sign, name in SIGNS.items()}
_COUNTED |= {f"count_{name}u": _counted(sign, "(U)") for sign, name in SIGNS.items() if sign[0] in "<>"}
_BY_OTHERS = {
    f"{name}_{kind}": (
        "V",
        "const S *x, const S *y, const V *a, const V *b",
        f"const M mask = __builtin_convertvector(*x {sign} *y, M);\n{_CHOICE.replace('*mask', 'mask')}",
    )
    for sign, name in SIGNS.items() for kind in ("f32", "f64", "i16", "i32", "i64")
}  # fmt: skip
"""A choice by comparing lanes of type S that are wider or narrower."""
IN_DOUBLES = {kind: ("V", "const V *a", one_by_one(kind)) for kind in KINDS}
"""Functions of floats that are computed in doubles, and rounded once."""
_NEAR = {f"near_{kind}": ("V", "const V *x", body) for kind, body in NEAR.items()}

_DIVIDED = "(void)first;\n(void)second;\nreturn *a / by;"
"""first + second is 1 / by, see `affdsl.codegen.c.quotients`."""

_ROUNDED = """\
const V most = (V)((M)*a & MOST), near = most + WHOLE - WHOLE;
const M parts = most < WHOLE;
return (V)((((M)near | ((M)*a & ~MOST)) & parts) | ((M)*a & ~parts));"""
_PORTABLE = (
    _WIDER
    | _TRUNCATED
    | _SHORTER
    | _DOTS
    | HALVES_OF
    | _JOINED
    | _BOTH_SHORT
    | IN_DOUBLES
    | _NEAR
    | dict(narrow_helpers.PORTABLE)
    | _COUNTED
    | _BY_OTHERS
    | {
        "scaled": ("V", "const V *a, const M *n", _SCALED),
        "loaded": ("V", "const T *at", "V found;\n__builtin_memcpy(&found, at, sizeof found);\nreturn found;"),
        "masked_load": ("V", "const T *at, const M *mask, const V *otherwise", LOAD),
        "masked_store": ("void", "T *at, const M *mask, const V *value", STORE),
        "compressed": ("void", "T *at, const M *mask, const V *value", _COMPRESSED),
        "stored_lanes": ("void", "T *at, uint64_t which, const V *value", "EACH"),
        "streamed_store": ("void", "T *at, uintptr_t line, const V *value", f"(void)line;\n{STREAM}"),
        "truths": ("V", "const void *at", "V found;\n__builtin_memcpy(&found, at, sizeof found);\nreturn found != 0;"),
        "store_truths": ("void", "void *at, const V *mask", "const V ones = -*mask;\n__builtin_memcpy(at, &ones, N);"),
        "gathered": ("V", "const T *at, const S *which", "return (V){GATHERED};"),
        "strided": ("V", "const T *at, int64_t step", "return (V){STEPS};"),
        "spilled": ("void", "T *into, const V *a", _SPILLED),
        "looked_up": ("V", "const T *middle, const V *offsets", "return (V){LOOKED_UP};"),
        "choose": ("V", "const M *mask, const V *a, const V *b", _CHOICE),
        "all": ("V", "T a", "return (V){COPIES};"),
        "any": (
            "bool",
            "const M *mask",
            _ANY,
        ),
        "count": ("int", "const M *mask", _COUNT),
        "first": ("V", "int64_t count", _FIRST),
        "fma": ("V", "const V *a, const V *b, const V *c", _FMA),
        "lesser": ("V", "const V *a, const V *b", _CHOSEN.format("<")),
        "greater": ("V", "const V *a, const V *b", _CHOSEN.format(">")),
        "rectified": ("V", "const V *a", "return (V)((M)*a & ~(*a <= 0));"),
        "mins": ("V", "const V *a, const V *b", _BETTER.format("", "<")),
        "maxs": ("V", "const V *a, const V *b", _BETTER.format("", ">")),
        "minu": ("V", "const V *a, const V *b", _BETTER.format("(U)", "<")),
        "maxu": ("V", "const V *a, const V *b", _BETTER.format("(U)", ">")),
        "shl": ("V", "const V *a, const V *n", _SHIFTED.format("<<")),
        "shru": ("V", "const V *a, const V *n", _SHIFTED.format(">>")),
        "shr": ("V", "const V *a, const V *n", _SHIFTED_SIGN),
        "divided": ("V", "const V *a, T by, T first, T second", _DIVIDED),
        "divfloor": ("V", "const V *a, const V *b", "const V q = *a / *b;\nreturn q + (V)(*a - q * *b < 0);"),
        "abs": ("V", "const V *a", "const V sign = *a >> LAST;\nreturn (V)(((U)*a ^ (U)sign) - (U)sign);"),
        "absf": ("V", "const V *a", "return (V)((M)*a & MOST);"),
        "roundeven": ("V", "const V *a", _ROUNDED),
        "maximumf": ("V", "const V *a, const V *b", _EXTREME.format("*b > *a", "y", "x", "&", "y")),
        "minimumf": ("V", "const V *a, const V *b", _EXTREME.format("*b < *a", "y", "x", "|", "y")),
        "maxnumf": ("V", "const V *a, const V *b", _EXTREME.format("*a > *b", "x", "y", "&", "x")),
        "minnumf": ("V", "const V *a, const V *b", _EXTREME.format("*a < *b", "x", "y", "|", "x")),
    }
)
"""What each gives, its parameters, and its portable body."""

_NO_LONG_CHOICE = "defined(__SSE2__) && !defined(__SSE4_2__)"
"""Where gcc 12 may end in an internal error: it makes a choice between lanes of 64 bits of what follows, moves the
comparison out of it, and has no instruction for that then. Of lanes of 32 bits it sees no choice."""
_HALVES = "typedef int32_t H __attribute__((vector_size(sizeof(V))));\n"
_CHOSEN_64 = f"{_HALVES}const H mask = (H)(*a {{}} *b);\nreturn (V)((mask & (H)*a) | (~mask & (H)*b));"
_EXTREME_64 = (
    f"{_HALVES}const H x = (H)*a, y = (H)*b;\n"
    "const H better = (H)({0}), same = (H)(*a == *b), none = (H)(*b != *b);\n"
    "const H other = (better & {1}) | (~better & {2}), found = (same & (x {3} y)) | (~same & other);\n"
    "return (V)((none & {4}) | (~none & found));"
)
_IN_HALVES = {
    "choose": f"{_HALVES}const H first = (H)*mask;\nreturn (V)((first & (H)*a) | (~first & (H)*b));",
    "lesser": _CHOSEN_64.format("<"),
    "greater": _CHOSEN_64.format(">"),
    "maximumf": _EXTREME_64.format("*b > *a", "y", "x", "&", "y"),
    "minimumf": _EXTREME_64.format("*b < *a", "y", "x", "|", "y"),
    "maxnumf": _EXTREME_64.format("*a > *b", "x", "y", "&", "x"),
    "minnumf": _EXTREME_64.format("*a < *b", "x", "y", "|", "x"),
}
"""The same as in the portable forms, in integers of 32 bits."""

_SHUFFLE = """\
#{0}if defined(__clang__)
#define NAME(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define NAME(a, b, ...) __builtin_shuffle(a, b, (M){{__VA_ARGS__}})
#endif"""
"""Lanes by number, which must be constants: any of two vectors (shuffle), or such as follow each other (spliced)."""

_SHUFFLES = ("shuffle", "spliced")
EXTREMES = ("maximumf", "minimumf", "maxnumf", "minnumf")
_ALWAYS_INLINE = "static inline __attribute__((always_inline))"
_HEADERS = {"fma": ("math.h",), "any": ("stdbool.h",)} | dict.fromkeys((*IN_DOUBLES, *_NEAR), ("math.h",))
LANE_TYPES = {"f32": "float", "f64": "double", **{f"i{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)}}


def vector_helper_name(stem: str, element: str, lanes: int) -> str:
    """What a helper is called: masked_load_f32x8."""
    return f"{stem}_{element}x{lanes}"


def is_of_vectors(name: str) -> bool:
    """Whether a type of vectors is called so, a helper on vectors, or one of the macros that these use."""
    match = re.fullmatch(r"(?:(\w+)_)?([fiu]\d+)x\d+(?:_at)?", name)
    return match is not None and (match[1] is None or match[1] in (*_PORTABLE, *MACROS, *_SHUFFLES))


def has_row(stem: str, element: str, lanes: int, on: Target | None = None) -> bool:
    """Whether an instruction set has more than the portable form of a helper: any, or one that is part of a target."""
    having = (each for each in TARGETS if on is None or {*each.macros} <= {*on.macros})
    return any((stem, element, lanes) in target.rows for target in having)


def called_by(stem: str, element: str, lanes: int) -> tuple[Row, ...]:
    """The helpers on vectors that a helper calls."""
    if stem in IN_DOUBLES and has_row(stem, element, lanes):
        near = (f"near_{stem}", "f64", lanes // 2)
        return (near,) if KINDS[stem].is_exact else (("CLOSE_TO_MIDDLE", "f64", lanes // 2), near)
    if stem in _NEAR:
        return tuple((macro, element, lanes) for macro in called(stem.removeprefix("near_")))
    return tuple((other, element, lanes) for other in narrow_helpers.calls(stem).values())


def _may_be_idle(stem: str, element: str, lanes: int) -> bool:
    """Whether some machine has an instruction in place of a helper that calls this one."""
    callers = (other for other in narrow_helpers.PORTABLE if stem in narrow_helpers.calls(other).values())
    return any(has_row(other, element, lanes) for other in callers)


def _where_called(near: str, lanes: int) -> str:
    """The condition under which a function on doubles is called by the one on floats."""
    row = near.removeprefix("near_"), "f32", 2 * lanes
    conditions = [target.condition for target in TARGETS if row in target.rows]
    return " || ".join(f"({each})" if "&&" in each and len(conditions) > 1 else each for each in conditions)


@cache
def vector_helper(stem: str, element: str, lanes: int) -> Helper:
    """A helper on vectors of so many lanes of a type."""
    if stem in MACROS:
        return Helper(macro(stem, lanes))
    rows = [(target, target.rows[row]) for target in TARGETS if (row := (stem, element, lanes)) in target.rows]
    if stem in _SHUFFLES:
        texts = [
            f"#{'el' * (k > 0)}if {target.condition}\n#define NAME(a, b, first, ...) {row}\n"
            for k, (target, row) in enumerate(rows)
        ]
        text = "".join([*texts, _SHUFFLE.format("el" * bool(rows))])
        headers = dict.fromkeys(target.header for target, _ in rows)
        return Helper(_instantiated(text, stem, element, lanes), headers=("stdint.h", *headers))
    if stem not in _PORTABLE:
        raise InternalError(f"no C helper on vectors is called {stem!r}")
    result, parameters, portable = _PORTABLE[stem]
    if stem == "trunc_f32" and int(element[1:]) <= NARROW:
        portable = _NARROW
    body = _indented(portable)
    cases = [(target.condition, row) for target, row in rows]
    if stem in _IN_HALVES and element.endswith("64") and is_written("long_lanes_chosen"):
        cases.append((_NO_LONG_CHOICE, _IN_HALVES[stem]))
    if cases:
        texts = [f"#{'el' * (k > 0)}if {condition}\n{_indented(row)}" for k, (condition, row) in enumerate(cases)]
        body = "\n".join([*texts, "#else", body, "#endif"])
    name = vector_helper_name(stem, element, lanes)
    inlined = "static __attribute__((noinline))" if stem == narrow_helpers.ALONE else _ALWAYS_INLINE
    if _may_be_idle(stem, element, lanes):
        inlined = inlined.replace("inline))", "inline, unused))")
    head = f"{inlined} {result} {name}({parameters})"
    text = _instantiated(f"{head}\n{{\n{body}\n}}", stem, element, lanes)
    if stem in _NEAR:
        text = f"#if {_where_called(stem, lanes)}\n{text}\n#endif"
    needs = tuple(vector_helper_name(*row) for row in called_by(stem, element, lanes))
    of_rows = dict.fromkeys(target.header for target, _ in rows)
    return Helper(text, needs, ("stdint.h", *_HEADERS.get(stem, ()), *of_rows))


def is_halved(lanes: int) -> bool:
    """Whether so many integers are made narrow by halves."""
    return lanes >= HALVED and is_written("integers_made_narrow")


def types_between(stem: str, element: str, lanes: int) -> tuple[str, ...]:
    """The types of lanes that the portable body of a helper for narrow integers makes on the way, widest first."""
    bits, wide = int(element[1:]), int(stem.partition("_")[2][1:])
    halves = [f"i{each}" for each in (32, 16) if bits < each < wide and is_halved(lanes)]
    return tuple(halves) if stem.startswith("short_") else ("i32", *halves)


def _shortened(stem: str, element: str, lanes: int) -> str:
    """Integers called `wide` with fewer bits."""
    found = "wide"
    for each in dict.fromkeys((*types_between(stem, element, lanes), element)):
        if each != "i32" or stem.startswith("short_"):
            found = f"__builtin_convertvector({found}, {each}x{lanes})"
    return found


def _instantiated(text: str, stem: str, element: str, lanes: int) -> str:
    bits, narrow = int(element[1:]), stem.partition("_")[2]
    ratio = bits // int(narrow[1:]) if stem in _DOTS else 1
    words = {
        "V": f"{element}x{lanes}", "M": f"i{bits}x{lanes}", "T": LANE_TYPES[element], "N": str(lanes),
        "MOST": f"INT{bits}_MAX", "LAST": str(bits - 1), "LARGEST": f"INT{bits}_MAX", "LEAST": f"INT{bits}_MIN",
        "FUSED": "fmaf" if bits == 32 else "fma",
        "NUMBERS": ", ".join(map(str, range(lanes))), "ENDS": ", ".join(["end"] * lanes),
        "EACH": "\n    ".join(f"if (which >> {k} & 1)\n        at[{k}] = (*value)[{k}];" for k in range(lanes)),
        "LOOKED_UP": ", ".join(f"middle[(*offsets)[{k}]]" for k in range(lanes)),
        "STEPS": ", ".join(f"at[{k} * step]" for k in range(lanes)),
        "GATHERED": ", ".join(f"at[(*which)[{k}]]" for k in range(lanes)),
        "COPIES": ", ".join("a" * lanes), "S": f"{narrow or 'i64'}x{ratio * lanes}",

    }  # fmt: skip
    if stem in HALVES_OF:
        places = range(lanes * (stem == "high"), lanes * (1 + (stem == "high")))
        words |= {"S": f"{element}x{2 * lanes}", f"{stem}_PLACES": ", ".join(map(str, places))}
        words |= {f"{stem}_LANES": ", ".join(f"(*a)[{k}]" for k in places)}
    if stem in (*_JOINED, *_BOTH_SHORT):
        words |= {"S": f"{narrow or element}x{lanes // 2}"}
        words |= {"JOINED": ", ".join(f"(*{half})[{k}]" for half in "ab" for k in range(lanes // 2))}
    bias, fraction = (127, 23) if bits == 32 else (1023, 52)
    words |= {"U": f"u{bits}x{lanes}", "BIAS": str(bias), "FRACTION": str(fraction)}
    words["WHOLE"] = f"0x1p{fraction}{'f' * (bits == 32)}"  # from here on all are whole, and sums are rounded to such
    if stem.startswith(("trunc", "short_")):
        top, start = (bits, 0) if stem.startswith("truncu_") else (bits - 1, -1 << bits - 1)
        words |= {"W": f"i32x{lanes}", "TOP": f"0x1p{top}{'f' * (narrow == 'f32')}", "BOTTOM": f"{start}.0f"}
        words |= {"END": str((1 << top) - 1), "START": str(start), "SHORT": _shortened(stem, element, lanes)}
    words["NAME"] = vector_helper_name(stem, element, lanes)
    if stem in _NEAR:
        words |= {macro: vector_helper_name(macro, element, lanes) for macro in MACROS}
    words |= {word: vector_helper_name(other, element, lanes) for word, other in narrow_helpers.calls(stem).items()}
    return "".join(words.get(word, word) for word in _words(text))


def _words(text: str) -> list[str]:
    """text in parts: words, and what is between them."""
    parts: list[str] = []
    for sign in text:
        if parts and _in_word(sign) and _in_word(parts[-1][-1]):
            parts[-1] += sign
        else:
            parts.append(sign)
    return parts


def _in_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


def _indented(body: str) -> str:
    return "\n".join(f"    {line}" for line in body.split("\n"))
