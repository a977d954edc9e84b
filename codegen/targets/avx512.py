"""AVX-512 with its extensions F, BW, DQ and VL, as servers have had it since 2017."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from affdsl.codegen.targets.in_doubles import in_doubles
from affdsl.codegen.targets.target import LANE_BITS, Row, Target
from affdsl.codegen.targets.x86 import (
    dividing,
    dots,
    extremes,
    integer_extremes,
    loaded,
    magnitudes,
    of_widths,
    packed,
    rectified,
    register,
    register_type,
    rounded,
    saturating,
    shifting,
    shortening,
    spliced,
    streamed,
    truncating,
    widening,
)


def _rows() -> Iterator[tuple[Row, str]]:
    for element, lane in LANE_BITS.items():
        for bits in (128, 256, 512):
            lanes, mm, end, kind = bits // lane, register(bits), packed(element), register_type(element, bits)
            if lanes < 2:
                continue
            if element in ("f32", "f64"):
                operands = ", ".join(f"({kind})*{name}" for name in "abc")
                yield ("fma", element, lanes), f"return (V){mm}_fmadd_{end}({operands});"
                exponents = f"{mm}_cvtepi{lane}_{end}((__m{bits}i)*n)"
                yield ("scaled", element, lanes), f"return (V){mm}_scalef_{end}(({kind})*a, {exponents});"
            mask = f"{mm}_movepi{lane}_mask((__m{bits}i)*mask)"
            if element[0] == "i":
                yield ("any", element, lanes), f"return {mask} != 0;"
                yield ("count", element, lanes), f"return __builtin_popcountll({mask});"
            yield from _counted(element, bits)
            yield from _chosen(element, bits)
            pointer = "" if element in ("f32", "f64") else "(const void *)"
            yield (
                ("masked_load", element, lanes),
                f"return (V){mm}_mask_loadu_{end}(({kind})*otherwise, {mask}, {pointer}at);",
            )
            into = pointer.replace("const ", "")
            yield ("masked_store", element, lanes), f"{mm}_mask_storeu_{end}({into}at, {mask}, ({kind})*value);"
            if lane >= 32:  # stored from a register: a store that compresses takes some processors a hundred cycles
                few = f"(__mmask{max(lanes, 8)})((1u << __builtin_popcount(kept)) - 1)"
                body = f"const __mmask{max(lanes, 8)} kept = {mask};\n"
                body += f"{mm}_mask_storeu_{end}({into}at, {few}, {mm}_maskz_compress_{end}(kept, ({kind})*value));"
                yield ("compressed", element, lanes), body
            which = f"(__mmask{max(lanes, 8)})which"
            yield ("stored_lanes", element, lanes), f"{mm}_mask_storeu_{end}({into}at, {which}, ({kind})*value);"


_SIGNS = {"eq": 0, "lt": 1, "le": 2, "ne": 4, "ge": 5, "gt": 6}
_OF_FLOATS = {"eq": "EQ_OQ", "lt": "LT_OQ", "le": "LE_OQ", "ne": "NEQ_UQ", "ge": "GE_OQ", "gt": "GT_OQ"}


def _counted(element: str, bits: int) -> Iterator[tuple[Row, str]]:
    """How many lanes compare so."""
    for sign in (*_SIGNS, *(f"{sign}u" for sign in ("lt", "le", "ge", "gt") if element[0] == "i")):
        found = _compared(element, bits, sign, "a", "b")
        yield (f"count_{sign}", element, bits // LANE_BITS[element]), f"return __builtin_popcountll({found});"


def _chosen(element: str, bits: int) -> Iterator[tuple[Row, str]]:
    """Lanes by a comparison of lanes that are twice as wide; by lanes half as wide gcc 12 is as fast without that."""
    lane, mm, kind, end = LANE_BITS[element], register(bits), register_type(element, bits), packed(element)
    for other, wide in ((o, bits * w // lane) for o, w in LANE_BITS.items() if o != "i8"):
        for sign in _SIGNS if wide == 2 * bits <= 512 else ():
            mask = _compared(other, wide, sign, "x", "y")
            body = f"return (V){mm}_mask_mov_{end}(({kind})*b, {mask}, ({kind})*a);"
            yield (f"{sign}_{other}", element, bits // lane), body


def _compared(element: str, bits: int, sign: str, a: str, b: str) -> str:
    """A mask: gcc 12 makes a vector of one, and a mask of that, where it is not asked for itself."""
    kind, end = register_type(element, bits), packed(element)
    number = f"_CMP_{_OF_FLOATS[sign]}" if element[0] == "f" else _SIGNS[sign.removesuffix("u")]
    end = end.replace("i", "u") if sign.endswith("u") else end
    return f"{register(bits)}_cmp_{end}_mask(({kind})*{a}, ({kind})*{b}, {number})"


def _joined(width: int) -> Iterator[tuple[Row, str]]:
    """Two vectors as one that is twice as long: gcc 12 chooses each short lane of both, by a table in memory."""
    for element, lane in LANE_BITS.items():
        found = "_mm512_inserti64x4(_mm512_castsi256_si512((__m256i)*a), (__m256i)*b, 1)"
        yield ("joined", element, width // lane), f"return (V){found};"
    for bits in (16, 32, 64):
        narrow = f"_mm512_cvtepi{bits}_epi{bits // 2}"
        found = f"_mm512_inserti64x4(_mm512_castsi256_si512({narrow}((__m512i)*a)), {narrow}((__m512i)*b), 1)"
        yield (f"joined_i{bits}", f"i{bits // 2}", 2 * width // bits), f"return (V){found};"


def _every_second(lanes: int, end: str) -> str:
    """Every second number as one shuffle of two registers, the second of which ends with the last of them."""
    places = ", ".join(str(2 * k + (2 * k >= lanes)) for k in range(lanes))
    both = [f"_mm512_loadu_{end}(at + {first})" for first in (0, lanes - 1)]
    which = f"(__m512i)(M){{{places}}}"
    return f"if (step == 2)\n    return (V)_mm512_permutex2var_{end}({both[0]}, {which}, {both[1]});\n"


def _strided(width: int) -> Iterator[tuple[Row, str]]:
    """Numbers at a step that is known when it runs."""
    for element, lane in LANE_BITS.items():
        if lane >= 32:
            lanes = width // lane
            second = _every_second(lanes, packed(element))
            yield ("strided", element, lanes), f"{second}return (V){{STEPS}};"


_LARGER, _SMALLER = 5, 4
"""The larger or smaller of two numbers, and of two zeros that whose sign says so: what `range` is told."""
_NAN_WINS = {"maximumf": _LARGER, "minimumf": _SMALLER}
"""Where an operand is no number, the result is the sum, which is none either."""
_NUMBER_WINS = {"maxnumf": _LARGER, "minnumf": _SMALLER}
"""Where one operand is no number, the result is the other one, also of a NaN that signals."""


_QUIET = '_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \\"-Wsign-conversion\\"")'
"""Without optimization, functions of gcc's header are macros in which masks of 8 lanes change their sign."""
_AGAIN = '_Pragma("GCC diagnostic pop")'


def _float_extremes(width: int) -> Iterator[tuple[Row, str]]:
    """The smaller and the larger of two floats as the operations of arith have them."""
    mm = register(width)
    for element in ("f32", "f64"):
        kind, end, lanes = register_type(element, width), packed(element), width // LANE_BITS[element]
        both = f"const {kind} x = ({kind})*a, y = ({kind})*b, found = {mm}_range_{end}(x, y, %s);\nreturn (V)%s;"
        no_x, no_y, none = (f"{mm}_cmp_{end}_mask({v}, _CMP_UNORD_Q)" for v in ("x, x", "y, y", "x, y"))
        for stem, operation in _NAN_WINS.items():
            body = both % (operation, f"{mm}_mask_add_{end}(found, {none}, x, y)")
            yield (stem, element, lanes), f"{_QUIET}\n{body}\n{_AGAIN}"
        for stem, operation in _NUMBER_WINS.items():
            body = both % (operation, f"{mm}_mask_mov_{end}({mm}_mask_mov_{end}(found, {no_x}, y), {no_y}, x)")
            yield (stem, element, lanes), f"{_QUIET}\n{body}\n{_AGAIN}"


def _halves(width: int) -> Iterator[tuple[Row, str]]:
    """Floats of 16 bits as floats, and floats as such. Of bf16, the instructions take what is subnormal for 0."""
    mm, lanes, half = register(width), width // 32, width // 2
    bits, mask = register(half), f"{register(width)}_movepi32_mask((__m{width}i)*mask)"
    all, nearest = f"(__mmask{lanes})-1", "_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC"
    loaded = f"{bits}_loadu_si{half}((const __m{half}i *)(const void *)at)"
    rounded, value = f"{mm}_maskz_cvtps_ph({all}, (__m{width})*%s, {nearest})", f"{mm}_maskz_cvtph_ps({all}, %s)"
    few = f"{bits}_maskz_loadu_epi16({mask}, (const void *)at)"
    rows = {
        "of_f16": f"return (V){value % loaded};",
        "round_f16": f"return (V){value % (rounded % 'a')};",
        "to_f16": f"{bits}_storeu_si{half}((__m{half}i *)(void *)at, {rounded % 'value'});",
        "masked_of_f16": f"return (V){mm}_mask_cvtph_ps((__m{width})*otherwise, {mask}, {few});",
        "masked_to_f16": f"{bits}_mask_storeu_epi16((void *)at, {mask}, {rounded % 'value'});",
    }
    yield from (((stem, "f32", lanes), f"{_QUIET}\n{body}\n{_AGAIN}") for stem, body in rows.items())


AVX512 = Target(
    "avx512",
    ("__AVX512F__", "__AVX512BW__", "__AVX512DQ__", "__AVX512VL__", "__FMA__"),
    "immintrin.h",
    width=512,
    registers=32,
    has_fma=True,
    has_masks=True,
    streams=True,
    repeats_operands=True,
    rows={
        **dict(_rows()),
        **of_widths((128, 256, 512), extremes, rectified, rounded, _float_extremes, partial(integer_extremes, most=64)),
        **of_widths((128, 256, 512), partial(shifting, has_all=True), truncating),
        **of_widths((256, 512), partial(dividing, has_tests=True)),
        **of_widths((256, 512), streamed, dots, magnitudes, widening, saturating, shortening, _halves),
        **of_widths((512,), loaded, spliced, in_doubles, _joined, _strided),
    },
    flags=(
        *("-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mavx2", "-mfma"),
        "-mprefer-vector-width=512",
    ),
    machine="__x86_64__",
)


def _dots() -> Iterator[tuple[Row, str]]:
    """Sums of products of narrow integers: of bytes, one factor must be unsigned, so 128 is added or taken away."""
    for bits in (256, 512):
        mm = register(bits)
        operands = f"const __m{bits}i x = (__m{bits}i)*a, y = (__m{bits}i)*b, sum = (__m{bits}i)*acc;\n"
        low = f"const __m{bits}i low = {mm}_set1_epi8(-128);\n"
        more = f"{mm}_dpbusd_epi32({mm}_setzero_si{bits}(), low, y)"
        signed = f"{mm}_dpbusd_epi32({mm}_sub_epi32(sum, {more}), {mm}_xor_si{bits}(x, low), y)"
        yield ("dot_i8", "i32", bits // 32), f"{operands}{low}return (V){signed};"
        half = f"const __m{bits}i half = {mm}_set1_epi8(64);\n"
        more = f"{mm}_dpbusd_epi32({mm}_dpbusd_epi32(sum, x, half), x, half)"
        unsigned = f"{mm}_dpbusd_epi32({more}, x, {mm}_xor_si{bits}(y, low))"
        yield ("dot_u8", "i32", bits // 32), f"{operands}{low}{half}return (V){unsigned};"
        yield ("dotu_i8", "i32", bits // 32), f"{operands}return (V){mm}_dpbusd_epi32(sum, x, y);"
        yield ("dot_i16", "i32", bits // 32), f"{operands}return (V){mm}_dpwssd_epi32(sum, x, y);"
        one = f"{mm}_set1_epi8(1)"
        acc, x = f"(__m{bits}i)*acc", f"(__m{bits}i)*a"
        yield ("sum_i8", "i32", bits // 32), f"return (V){mm}_dpbusd_epi32({acc}, {one}, {x});"
        yield ("sum_u8", "i32", bits // 32), f"return (V){mm}_dpbusd_epi32({acc}, {x}, {one});"
        yield ("sum_i16", "i32", bits // 32), f"return (V){mm}_dpwssd_epi32({acc}, {x}, {mm}_set1_epi16(1));"


AVX512VNNI = replace(
    AVX512,
    name="avx512vnni",
    macros=(*AVX512.macros, "__AVX512VNNI__"),
    rows=dict(_dots()),
    flags=(*AVX512.flags, "-mavx512vnni"),
)


def _tables() -> Iterator[tuple[Row, str]]:
    """Bytes of two registers, or of a table of 256, whose middle is given: each half is two of them, by the sign."""
    parts = "\n".join(
        f"const __m512i {name} = _mm512_loadu_si512((const void *)(middle {place}));"
        for name, place in (("a", "- 128"), ("b", "- 64"), ("c", "+ 0"), ("d", "+ 64"))
    )
    below, above = (f"_mm512_permutex2var_epi8({first}, at, {second})" for first, second in ("ab", "cd"))
    even = ", ".join(str(2 * k) for k in reversed(range(64)))
    chosen = f"_mm512_permutex2var_epi8((__m512i)*a, _mm512_set_epi8({even}), (__m512i)*b)"
    yield ("joined_i16", "i8", 64), f"return (V){chosen};"
    for bits in (128, 256, 512):
        wide = "(__m512i)*offsets" if bits == 512 else f"_mm512_castsi{bits}_si512((__m{bits}i)*offsets)"
        chosen = f"_mm512_mask_mov_epi8({above}, _mm512_movepi8_mask(at), {below})"
        found = chosen if bits == 512 else f"_mm512_castsi512_si{bits}({chosen})"
        yield ("looked_up", "i8", bits // 8), f"const __m512i at = {wide};\n{parts}\nreturn (V){found};"


AVX512VBMI = replace(
    AVX512VNNI,
    name="avx512vbmi",
    macros=(*AVX512VNNI.macros, "__AVX512VBMI__"),
    rows=dict(_tables()),
    flags=(*AVX512VNNI.flags, "-mavx512vbmi"),
    has_tables=True,
)


def _gathers() -> Iterator[tuple[Row, str]]:
    """Elements by their numbers. Machines with AVX-512 before FP16 have this, too, and are said to be no faster by it
    than by loads one by one (decision 115).
    """
    eight = {"f64": "pd", "f32": "ps", "i64": "epi64", "i32": "epi32"}
    two = {
        "f32": "_mm512_insertf32x8(_mm512_castps256_ps512({}), {}, 1)",
        "i32": "_mm512_inserti64x4(_mm512_castsi256_si512({}), {}, 1)",
    }
    every = (
        "const __m512i each = _mm512_mullo_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi64(step));"
    )
    for kind, end in eight.items():
        size = LANE_BITS[kind] // 8
        which = [f"_mm512_loadu_si512((const void *)((const int64_t *)which + {first}))" for first in (0, 8)]
        chosen = [f"_mm512_i64gather_{end}({each}, (const void *)at, {size})" for each in which]
        even = [f"_mm512_i64gather_{end}(each, (const void *)(at{far}), {size})" for far in ("", " + 8 * step")]
        yield ("gathered", kind, 8), f"return (V){chosen[0]};"
        second = {lanes: _every_second(lanes, packed(kind)) for lanes in (8, 16)}
        is_whole = size == 8
        yield ("strided", kind, 8), f"{second[8] * is_whole}{every}\nreturn (V){even[0]};"
        if kind in two:
            yield ("gathered", kind, 16), f"return (V){two[kind].format(*chosen)};"
            yield ("strided", kind, 16), f"{second[16]}{every}\nreturn (V){two[kind].format(*even)};"


AVX512FP16 = replace(
    AVX512VBMI,
    name="avx512fp16",
    macros=(*AVX512VBMI.macros, "__AVX512FP16__"),
    rows=dict(_gathers()),
    flags=(*AVX512VBMI.flags, "-mavx512fp16"),
    has_gathers=True,
)
