"""Functions on vectors of floats that are narrow floats: rounded, loaded and stored, without a branch for a lane.

V is the type of the vectors, U and M those of as many integers without and with a sign, N the number of lanes, as in
`affdsl.codegen.c.vector_helpers`, and H the type of as many elements. The instructions of AVX-512 that convert to bf16
take what is subnormal for 0.
"""

from __future__ import annotations

from collections.abc import Mapping

NARROW_FLOATS = ("f16", "bf16")

# What is subnormal is rounded by an addition: the last bit of 0.5 + x is that of the smallest float there is.
_ROUND = {
    "f16": """\
const U u = (U)*a, sign = u & 0x80000000u, size = u ^ sign, nearest = (size + 0xfffu + (size >> 13 & 1u)) & ~0x1fffu;
const U tiny = (U)(((V)size + 0.5f) - 0.5f), is_tiny = (U)((M)size < 0x38800000), is_nan = (U)(*a != *a);
const U is_large = (U)((M)nearest > 0x477fe000), quiet = (size | 0x400000u) & ~0x1fffu;
const U finite = (is_tiny & tiny) | (~is_tiny & nearest), number = (is_large & 0x7f800000u) | (~is_large & finite);
return (V)(sign | (is_nan & quiet) | (~is_nan & number));""",
    "bf16": """\
const U u = (U)*a, nearest = u + 0x7fffu + (u >> 16 & 1u), is_nan = (U)(*a != *a);
return (V)(((is_nan & (u | 0x400000u)) | (~is_nan & nearest)) & 0xffff0000u);""",
}
_ELEMENTS = "typedef uint16_t H __attribute__((vector_size(N * sizeof(uint16_t))));\n"
_OF = {
    "f16": """\
const U wide = __builtin_convertvector(elements, U), rest = wide & 0x7fffu;
const U tiny = (U)(__builtin_convertvector((M)rest, V) * 0x1p-24f), is_tiny = (U)((M)rest < 0x400);
const U large = (U)((M)rest > 0x7bff) & 0x38000000u, normal = (rest << 13) + 0x38000000u + large;
return (V)((is_tiny & tiny) | (~is_tiny & normal) | (wide & 0x8000u) << 16);""",
    "bf16": "return (V)(__builtin_convertvector(elements, U) << 16);",
}
_TO = {
    "f16": """\
const U u = (U)ROUND(value), size = u & 0x7fffffffu, tiny = (U)((V)size + 0.5f) - 0x3f000000u;
const U is_tiny = (U)((M)size < 0x38800000), is_large = (U)((M)size > 0x477fe000);
const U other = (size - 0x38000000u - (is_large & 0x38000000u)) >> 13;
const H elements = __builtin_convertvector((is_tiny & tiny) | (~is_tiny & other) | (u >> 16 & 0x8000u), H);
""",
    "bf16": "const H elements = __builtin_convertvector((U)ROUND(value) >> 16, H);\n",
}
_COPY = "for (int k = 0; k < N; ++k)\n    if ((*mask)[k])\n        to[k] = from[k];"

# Where a lane is not set, another address is read in place of its own.
_MASKED_OF = """\
static const uint16_t nothing = 0;
uint16_t elements[N];
for (int k = 0; k < N; ++k) {
    const uintptr_t is_set = (uintptr_t)(intptr_t)(*mask)[k], place = (uintptr_t)at + (uintptr_t)k * sizeof *at;
    elements[k] = *(const uint16_t *)((place & is_set) | ((uintptr_t)&nothing & ~is_set));
}
const V found = OF(elements);
return (V)((*mask & (M)found) | (~*mask & (M)*otherwise));"""

PORTABLE: Mapping[str, tuple[str, str, str]] = {
    "copied": ("void", "uint16_t *to, const uint16_t *from, const M *mask", _COPY),
    **{f"round_{name}": ("V", "const V *a", body) for name, body in _ROUND.items()},
    **{
        f"of_{name}": (
            "V",
            "const uint16_t *at",
            f"{_ELEMENTS}H elements;\n__builtin_memcpy(&elements, at, sizeof elements);\n{body}",
        )
        for name, body in _OF.items()
    },
    **{
        f"to_{name}": (
            "void",
            "uint16_t *at, const V *value",
            f"{_ELEMENTS}{body}__builtin_memcpy(at, &elements, sizeof elements);",
        )
        for name, body in _TO.items()
    },
    **{
        f"masked_of_{name}": (
            "V",
            "const uint16_t *at, const M *mask, const V *otherwise",
            _MASKED_OF,
        )
        for name in NARROW_FLOATS
    },
    **{
        f"masked_to_{name}": (
            "void",
            "uint16_t *at, const M *mask, const V *value",
            "uint16_t elements[N];\nTO(elements, value);\nCOPIED(at, elements, mask);",
        )
        for name in NARROW_FLOATS
    },
}
"""What each gives, its parameters, and its body."""

ALONE = "copied"
"""What is a function of its own: of a branch for each lane, and several masks, compilers follow all ways."""

_CALLS = {"to": ("ROUND", "round"), "masked_of": ("OF", "of"), "masked_to": ("TO", "to")}


def calls(stem: str) -> dict[str, str]:
    """The functions that a body calls: what they are called there, and their stems."""
    kind, _, name = stem.rpartition("_")
    if kind not in _CALLS or stem not in PORTABLE:
        return {}
    word, called = _CALLS[kind]
    copied = {"COPIED": ALONE} if kind == "masked_to" else {}
    return {word: f"{called}_{name}", **copied}
