"""The functions of x86 compilers that most kernels call, without the header that declares thousands of them.

gcc takes 0.1 s to read immintrin.h, as long as for many a kernel: the quirk `header_of_x86`. Where a file calls no more
than loads and stores with a mask, stores past the caches, fused sums, tests of bits and lanes of two vectors in a row,
these are macros here, with the names and the meaning that the header gives them, for what gcc has built in. Other
compilers read the header, as does gcc where it has no such functions, or where a file calls others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from affdsl.codegen.targets.avx2 import AVX2
from affdsl.codegen.targets.avx512 import AVX512, AVX512FP16, AVX512VBMI, AVX512VNNI
from affdsl.codegen.targets.sse42 import SSE42
from affdsl.codegen.targets.target import Row
from affdsl.codegen.targets.x86 import packed, register, register_type

HEADER = "immintrin.h"
_OF_X86 = (AVX512FP16, AVX512VBMI, AVX512VNNI, AVX512, AVX2, SSE42)
"""The targets whose rows call functions of the header, in the order in which a helper asks for them."""
_NAMES = re.compile(r"\b(?:_mm|_MM|_CMP|__m\d|__mmask)\w*")
"""What the header declares, as far as rows use it."""
_BUILT_IN = re.compile(r"__builtin_ia32_\w+")
_LANES = {"f32": "float", "f64": "double", "i8": "char", "i16": "short", "i32": "int", "i64": "long long"}
_LETTERS = {"i8": "b", "i16": "w", "i32": "d", "i64": "q"}
"""How instructions call integers of so many bits."""
_MODES = {"f32": "sf", "f64": "df", "i8": "qi", "i16": "hi", "i32": "si", "i64": "di"}
"""How gcc calls the types of lanes, among others in the names of vector types."""
_ROUNDING = 4
"""What tells an instruction to round as the processor does at the time."""


def calls_x86(text: str) -> bool:
    """Whether C text uses something of the header, on some processor."""
    return _NAMES.search(text) is not None


def in_place_of_header(rows: Sequence[Row]) -> str | None:
    """What declares all that the helpers of some rows call, or else the header; None if they call something else."""
    names: dict[str, None] = {}
    for row in rows:
        text = next((target.rows[row] for target in _OF_X86 if row in target.rows), None)
        if text is None:
            return None
        names |= dict.fromkeys(_NAMES.findall(text))
    known, types = _macros(), _types()
    if not names.keys() <= known.keys() | types.keys():
        return None
    if not names:
        return ""
    macros = [known[name] for name in names if name in known]
    of_macros = dict.fromkeys(type for text in macros for type in types if re.search(rf"\b{type}\b", text))
    typedefs = [types[type] for type in of_macros | {name: None for name in names if name in types}]
    built_in = dict.fromkeys(name for text in macros for name in _BUILT_IN.findall(text))
    return "\n".join([
        f"#if defined(__GNUC__) && !defined(__clang__) && defined(__has_builtin) && {AVX512.condition}",
        f"#if {' && '.join(f'__has_builtin({name})' for name in built_in) or '1'}",
        "#define HAS_ALL_BUILT_IN",
        "#endif",
        "#endif",
        "#if defined(HAS_ALL_BUILT_IN)",
        *typedefs,
        *macros,
        f"#elif {SSE42.condition}",
        f"#include <{HEADER}>",
        "#endif",
        "",
    ])  # fmt: skip


@cache
def _types() -> Mapping[str, str]:
    """The types of vectors and masks, by name: those of the header, and those that gcc's own functions take."""
    found = {f"__mmask{lanes}": f"typedef {_mask(lanes)} __mmask{lanes};" for lanes in (8, 16, 32, 64)}
    for bits in (128, 256, 512):
        for element, lane in _LANES.items():
            size = f"vector_size({bits // 8})"
            found[_type(element, bits)] = f"typedef {lane} {_type(element, bits)} __attribute__(({size}));"
            kind = register_type(element, bits)
            element_of_kind = "long long" if kind.endswith("i") else lane
            found[kind] = f"typedef {element_of_kind} {kind} __attribute__(({size}, may_alias));"
    return found


def _type(element: str, bits: int) -> str:
    """What gcc calls a vector: __v16si."""
    lane = int(element[1:])
    return f"__v{bits // lane}{_MODES[element]}"


@cache
def _macros() -> Mapping[str, str]:
    """The functions, by name."""
    return {text.split("(")[0].removeprefix("#define "): text for bits in (128, 256, 512) for text in _defined(bits)}


def _defined(bits: int) -> Iterator[str]:
    """The functions on registers of so many bits."""
    mm, words = register(bits), _type("i64", bits)
    name = f"__builtin_ia32_movntdq{bits if bits > 128 else ''}"
    yield f"#define {mm}_stream_si{bits}(at, value) {name}(({words} *)(at), ({words})(value))"
    for element in _LANES:
        end, kind, vector = packed(element), register_type(element, bits), _type(element, bits)
        lanes = bits // int(element[1:])
        stem = f"u{end}" if element[0] == "f" else f"dqu{_MODES[element]}"
        yield (
            f"#define {mm}_mask_loadu_{end}(other, mask, at) "
            f"(({kind})__builtin_ia32_load{stem}{bits}_mask((const void *)(at), ({vector})(other), mask))"
        )
        yield (
            f"#define {mm}_mask_storeu_{end}(at, mask, value) "
            f"__builtin_ia32_store{stem}{bits}_mask((void *)(at), ({vector})(value), mask)"
        )
        if element in ("f32", "f64", "i32", "i64"):
            name = f"__builtin_ia32_compress{_MODES[element]}{bits}_maskz"
            zeros = f"({vector}){{0}}"
            yield f"#define {mm}_maskz_compress_{end}(mask, a) (({kind}){name}(({vector})(a), {zeros}, mask))"
        if element[0] == "f":
            name = f"__builtin_ia32_vfmadd{end}{bits if bits > 128 else ''}"
            everywhere = {"f32": "-1", "f64": "(unsigned char)-1"}[element]  # as gcc declares the two
            more = ("_mask", f", {everywhere}, {_ROUNDING}") if bits > 256 else ("", "")
            operands = ", ".join(f"({vector})({each})" for each in "abc")
            yield f"#define {mm}_fmadd_{end}(a, b, c) (({kind}){name}{more[0]}({operands}{more[1]}))"
            continue
        found = f"__builtin_ia32_cvt{_LETTERS[element]}2mask{bits}(({vector})(mask))"
        yield f"#define {mm}_mov{end}_mask(mask) (({_mask(lanes)}){found})"
        if element in ("i32", "i64"):
            operands = f"({vector})(high), ({vector})(low), first, ({vector})(low), ({_mask(lanes)})-1"
            for test, first, mask in (("testn", "", f"({_mask(lanes)})-1"), ("mask_test", "mask, ", "mask")):
                name = f"__builtin_ia32_p{test.removeprefix('mask_')}m{_LETTERS[element]}{bits}"
                found = f"({_mask(lanes)}){name}(({vector})(a), ({vector})(b), {mask})"
                yield f"#define {mm}_{test}_{end}_mask({first}a, b) ({found})"
            yield (
                f"#define {mm}_alignr_{end}(high, low, first) "
                f"(({kind})__builtin_ia32_align{_LETTERS[element]}{bits}_mask({operands}))"
            )


def _mask(lanes: int) -> str:
    """The type of a mask that has a bit for each of so many lanes."""
    return "unsigned " + {16: "short", 32: "int", 64: "long long"}.get(lanes, "char")
