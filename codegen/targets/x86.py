"""How the functions of x86 compilers are called: by the width of the register and the type of the lanes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from affdsl.codegen.targets.portable import STREAM
from affdsl.codegen.targets.target import LANE_BITS, SIGNS, Row


def of_widths(widths: Iterable[int], *makers: Callable[[int], Iterator[tuple[Row, str]]]) -> dict[Row, str]:
    """What functions have for registers of some widths."""
    return {row: body for make in makers for width in widths for row, body in make(width)}


def widening(width: int) -> Iterator[tuple[Row, str]]:
    """Integers as wider ones that fill a register of so many bits, signed and unsigned."""
    for source in (8, 16, 32):
        for target in (bits for bits in (16, 32, 64) if bits > source):
            lanes, size = width // target, width // target * source
            if size < 32:
                continue
            first = "int bits;\n__builtin_memcpy(&bits, a, sizeof bits);\n" if size == 32 else ""
            short = "_mm_cvtsi32_si128(bits)" if size == 32 else "_mm_loadl_epi64((const __m128i *)(const void *)a)"
            given = f"(__m{size}i)*a" if size >= 128 else short
            for sign, end in (("i", f"epi{source}"), ("u", f"epu{source}")):
                call = f"{register(width)}_cvt{end}_epi{target}({given})"
                yield (f"from_{sign}{source}", f"i{target}", lanes), f"{first}return (V){call};"
    if width > 128:
        half = width // 2
        yield ("from_i32", "f64", width // 64), f"return (V){register(width)}_cvtepi32_pd((__m{half}i)*a);"
        yield ("from_f32", "f64", width // 64), f"return (V){register(width)}_cvtps_pd((__m{half})*a);"


def shifting(width: int, *, has_all: bool = False) -> Iterator[tuple[Row, str]]:
    """Each lane by a number of bits of its own: what the instructions give for large numbers is what is meant.

    Without all of those that AVX-512 has, the sign of 64 bits is taken out before, and put back.
    """
    mm, kind = register(width), f"__m{width}i"
    for bits in (32, 64):
        for stem, name in (("shl", "sllv"), ("shru", "srlv"), ("shr", "srav")):
            body = f"return (V){mm}_{name}_epi{bits}(({kind})*a, ({kind})*n);"
            if name == "srav" and bits == 64 and not has_all:
                shifted = f"{mm}_srlv_epi64(({kind})(*a ^ sign), ({kind})*n)"
                body = f"const V sign = *a < 0;\nreturn (V){shifted} ^ sign;"
            yield (stem, f"i{bits}", width // bits), body


def truncating(width: int) -> Iterator[tuple[Row, str]]:
    """Floats as integers of 32 bits: the instruction gives the least one for what does not fit, and for NaN.

    No float is the largest integer, so it is chosen afterwards; a double is.
    """
    mm, kind = register(width), f"__m{width}"
    first = f"const {kind} x = ({kind})*a;\n"
    if width == 512:
        large, is_number = (f"{mm}_cmp_ps_mask(x, {other}" for other in ("top, _CMP_GE_OQ)", "x, _CMP_ORD_Q)"))
        found = f"{mm}_maskz_cvttps_epi32({is_number}, x)"
        chosen = f"{mm}_mask_mov_epi32({found}, {large}, {mm}_set1_epi32(INT32_MAX))"
        body = f"const {kind} top = {mm}_set1_ps(0x1p31f);\nreturn (V){chosen};"
        yield ("trunc_f32", "i32", width // 32), first + body
        yield ("trunc_f64", "i64", width // 64), _long_integers(mm)
        least = f"{mm}_maskz_min_pd({mm}_cmp_pd_mask(y, y, _CMP_ORD_Q), y, {mm}_set1_pd(INT32_MAX))"
    else:
        top = f"{mm}_set1_ps(0x1p31f)"
        large, most = _compared(mm, "ps", "x", top, "ge"), f"{mm}_castsi{width}_ps({mm}_set1_epi32(INT32_MAX))"
        found = f"{mm}_blendv_ps({mm}_castsi{width}_ps({mm}_cvttps_epi32(x)), {most}, {large})"
        body = f"const {kind} found = {found};\nreturn (V){mm}_and_ps(found, {_compared(mm, 'ps', 'x', 'x', 'ord')});"
        yield ("trunc_f32", "i32", width // 32), first + body
        least = f"{mm}_min_pd({mm}_and_pd(y, {_compared(mm, 'pd', 'y', 'y', 'ord')}), {mm}_set1_pd(INT32_MAX))"
    if width > 128:
        yield (
            ("trunc_f64", "i32", width // 64),
            f"const {kind}d y = ({kind}d)*a;\nreturn (V){mm}_cvttpd_epi32({least});",
        )


def shortening(width: int) -> Iterator[tuple[Row, str]]:
    """Integers that fill a register of AVX-512 with fewer bits: the low ones."""
    for source in (16, 32, 64):
        for target in (bits for bits in (8, 16, 32) if bits < source and width // source * bits >= 128):
            row = (f"short_i{source}", f"i{target}", width // source)
            yield row, f"return (V){register(width)}_cvtepi{source}_epi{target}((__m{width}i)*a);"
        for target in (bits for bits in (8, 16, 32) if bits < source and width // source * bits == 64):
            found = f"const __m128i found = {register(width)}_cvtepi{source}_epi{target}((__m{width}i)*a);"
            half = "V half;\n__builtin_memcpy(&half, &found, sizeof half);\nreturn half;"
            yield (f"short_i{source}", f"i{target}", width // source), f"{found}\n{half}"


def saturating(width: int) -> Iterator[tuple[Row, str]]:
    """Floats that fill a register of AVX-512 as integers of 8 or 16 bits, the nearest there is, and 0 for NaN.

    What is too large is the largest integer of 32 bits without a sign, and else the least one: it is chosen before.
    """
    mm, kind, lanes = register(width), f"__m{width}", width // 32
    first = f"const {kind} x = ({kind})*a;\n"
    for bits in (each for each in (8, 16) if lanes * each >= 128):
        found = f"{mm}_maskz_cvttps_epu32({mm}_cmp_ps_mask(x, {mm}_setzero_ps(), _CMP_GE_OQ), x)"
        yield ("truncu_f32", f"i{bits}", lanes), f"{first}return (V){mm}_cvtusepi32_epi{bits}({found});"
        top, is_number = f"{mm}_set1_ps(INT{bits}_MAX)", f"{mm}_cmp_ps_mask(x, x, _CMP_ORD_Q)"
        found = f"{mm}_maskz_cvttps_epi32({is_number}, {mm}_min_ps(x, {top}))"
        yield ("trunc_f32", f"i{bits}", lanes), f"{first}return (V){mm}_cvtsepi32_epi{bits}({found});"


def _long_integers(mm: str) -> str:
    """Doubles as integers of 64 bits, as AVX-512 has them."""
    large, is_number = (f"{mm}_cmp_pd_mask(y, {other}" for other in ("top, _CMP_GE_OQ)", "y, _CMP_ORD_Q)"))
    found = f"{mm}_mask_mov_epi64({mm}_maskz_cvttpd_epi64({is_number}, y), {large}, {mm}_set1_epi64(INT64_MAX))"
    return f"const __m512d y = (__m512d)*a, top = {mm}_set1_pd(0x1p63);\nreturn (V){found};"


def _compared(mm: str, end: str, a: str, b: str, how: str) -> str:
    """Where two vectors compare so."""
    if mm == "_mm":
        return f"_mm_cmp{how}_{end}({a}, {b})"
    return f"{mm}_cmp_{end}({a}, {b}, _CMP_{how.upper()}_{'OQ' if how == 'ge' else 'Q'})"


def extremes(width: int) -> Iterator[tuple[Row, str]]:
    """The lesser and the greater of two numbers: the second one where one of them is NaN, or both are zero."""
    for element in ("f32", "f64"):
        kind, end = register_type(element, width), packed(element)
        for stem, name in (("lesser", "min"), ("greater", "max")):
            call = f"{register(width)}_{name}_{end}(({kind})*a, ({kind})*b)"
            yield (stem, element, width // LANE_BITS[element]), f"return (V){call};"


def rectified(width: int) -> Iterator[tuple[Row, str]]:
    """The larger of a number and 0: AVX-512 has a table of what to give for NaN, 0, 1, infinities and other numbers."""
    for element in ("f32", "f64"):
        mm, x = register(width), f"({register_type(element, width)})*a"
        long = "x" if element == "f64" and width < 512 else ""  # _mm_set1_epi64 takes what MMX has
        table = f"{mm}_set1_epi{LANE_BITS[element]}{long}(0x18181811)"
        body = f"return (V){mm}_fixupimm_{packed(element)}({x}, {x}, {table}, 0);"
        yield ("rectified", element, width // LANE_BITS[element]), body


def any_lane(width: int) -> Iterator[tuple[Row, str]]:
    """Whether a mask is set in some lane."""
    for element, bits in LANE_BITS.items():
        if element[0] == "i":
            yield ("any", element, width // bits), f"return {register(width)}_movemask_epi8((__m{width}i)*mask) != 0;"


def counting(width: int) -> Iterator[tuple[Row, str]]:
    """How many lanes of a mask are set: one bit is gathered of each byte, or of each wider lane."""
    ends = {"i8": ("epi8", "i"), "i32": ("ps", ""), "i64": ("pd", "d")}
    for element, (end, kind) in ends.items():
        bits = f"{register(width)}_movemask_{end}((__m{width}{kind})*mask)"
        lanes, found = width // LANE_BITS[element], f"return __builtin_popcount((unsigned){bits});"
        yield ("count", element, lanes), found
        for sign, name in SIGNS.items():
            for each in (element, element.replace("i", "f"))[: 1 + (element != "i8")]:
                yield (f"count_{name}", each, lanes), found.replace("*mask", f"(*a {sign} *b)")
            if sign[0] in "<>":
                yield (f"count_{name}u", element, lanes), found.replace("*mask", f"((U)*a {sign} (U)*b)")


_NORMAL = {"f32": "0x1p-63f", "f64": "0x1p-895"}
_EXPONENTS = {"f32": "0x60000000", "f64": "INT64_C(0x7800000000000000)"}
"""Bits of which one is set in each number whose size is that of _NORMAL, or larger."""


def dividing(width: int, *, has_tests: bool = False) -> Iterator[tuple[Row, str]]:
    """Quotients by a number whose reciprocal is known in two parts, as products; of small numbers that are not 0, one
    of which would lose digits, as a division.

    With the tests of AVX-512, a register is asked whether bits are set, with a mask as the result.
    """
    mm = register(width)
    for element, normal in _NORMAL.items():
        kind, end, lane = register_type(element, width), packed(element), LANE_BITS[element]
        body = "const V near = (V){0} + first, less = *a * second;\n"
        body += f"V found = (V){mm}_fmadd_{end}(({kind})*a, ({kind})near, ({kind})less);\n"
        if has_tests:
            some, all = (f"(__m{width}i)((M){{0}} + {each})" for each in (_EXPONENTS[element], "MOST"))
            body += f"const __m{width}i bits = (__m{width}i)*a, some = {some}, all = {all};\n"
            small = f"{mm}_mask_test_epi{lane}_mask({mm}_testn_epi{lane}_mask(bits, some), bits, all)"
        else:
            body += f"const M small = ((V)((M)*a & MOST) < {normal}) & (*a != 0);\n"
            small = f"{mm}_movemask_{end}(({kind})small)"
        body += f"if (__builtin_expect({small} != 0, 0))\n    found = *a / by;\nreturn found;"
        yield ("divided", element, width // lane), body


def integer_extremes(width: int, most: int = 32) -> Iterator[tuple[Row, str]]:
    """The smaller and the larger of two integers of at most so many bits, with a sign and without."""
    for element, bits in LANE_BITS.items():
        if element[0] != "i" or bits > most:
            continue
        for name in ("min", "max"):
            for sign, end in (("s", f"epi{bits}"), ("u", f"epu{bits}")):
                call = f"{register(width)}_{name}_{end}((__m{width}i)*a, (__m{width}i)*b)"
                yield (f"{name}{sign}", element, width // bits), f"return (V){call};"


_NAN_WINS = {"maximumf": ("max", "and", True), "minimumf": ("min", "or", True)}
_NAN_LOSES = {"maxnumf": ("max", "and", False), "minnumf": ("min", "or", False)}
_ORDERED = _NAN_WINS | _NAN_LOSES
"""Which instruction, what is done with the signs of two zeros, and whether what is no number is the result."""


def float_extremes(width: int) -> Iterator[tuple[Row, str]]:
    """The smaller and the larger of two floats as the operations of arith have them.

    The instruction gives the second one where both are zero, and where one is no number: it is asked both ways, and
    numbers take the places of what is none, or the other way round.
    """
    mm = register(width)
    for element in ("f32", "f64"):
        kind, end = register_type(element, width), packed(element)
        for stem, (name, signs, nan_wins) in _ORDERED.items():
            both = f"{mm}_{signs}_{end}({mm}_{name}_{end}(x, y), {mm}_{name}_{end}(y, x))"
            first, second = (_unordered(mm, end, v) for v in "xy")
            inner, outer = ("x", "y") if nan_wins else ("y", "x")
            chosen = f"{mm}_blendv_{end}({mm}_blendv_{end}(found, {inner}, {first}), {outer}, {second})"
            body = f"const {kind} x = ({kind})*a, y = ({kind})*b, found = {both};\nreturn (V){chosen};"
            yield (stem, element, width // LANE_BITS[element]), body


def _unordered(mm: str, end: str, value: str) -> str:
    """Where a vector holds no numbers."""
    return f"_mm_cmpunord_{end}({value}, {value})" if mm == "_mm" else f"{mm}_cmp_{end}({value}, {value}, _CMP_UNORD_Q)"


def register(bits: int) -> str:
    """What the functions on registers of so many bits begin with."""
    return "_mm" if bits == 128 else f"_mm{bits}"


def register_type(element: str, bits: int) -> str:
    """The type that the functions have for registers of these lanes."""
    return f"__m{bits}{ {'f32': '', 'f64': 'd'}.get(element, 'i') }"


def packed(element: str) -> str:
    """What the functions on these lanes end with."""
    return {"f32": "ps", "f64": "pd"}.get(element, f"epi{element[1:]}")


def loaded(width: int) -> Iterator[tuple[Row, str]]:
    """A vector of which gcc must not know that it is in memory too, the quirk `vectors_read_again` of codegen/c."""
    for element, lane in LANE_BITS.items():
        load = 'V found;\n__builtin_memcpy(&found, at, sizeof found);\n__asm__("" : "+v"(found));\nreturn found;'
        yield ("loaded", element, width // lane), load


def streamed(width: int) -> Iterator[tuple[Row, str]]:
    """A vector stored past the caches, where it begins at a multiple of its length; the instruction asks for that."""
    call = f"{register(width)}_stream_si{width}((__m{width}i *)(void *)at, (__m{width}i)*value)"
    body = f"if (((uintptr_t)at & line) == 0) {{\n    {call};\n    return;\n}}\n{STREAM}"
    for element, lane in LANE_BITS.items():
        yield ("streamed_store", element, width // lane), body


def spliced(width: int) -> Iterator[tuple[Row, str]]:
    """Lanes of two vectors that follow each other, the first of which is known: no register holds their numbers."""
    mm = register(width)
    for element, lane in LANE_BITS.items():
        if lane in (32, 64):
            operands = f"(__m{width}i)(b), (__m{width}i)(a)"
            yield ("spliced", element, width // lane), f"((V){mm}_alignr_epi{lane}({operands}, first))"


def magnitudes(width: int) -> Iterator[tuple[Row, str]]:
    """Integers without their signs."""
    for lane in (8, 16, 32):
        yield ("abs", f"i{lane}", width // lane), f"return (V){register(width)}_abs_epi{lane}((__m{width}i)*a);"


def rounded(width: int) -> Iterator[tuple[Row, str]]:
    """Floats rounded to the nearest whole number, the even one of two."""
    stem = "roundscale" if width == 512 else "round"
    for element in ("f32", "f64"):
        call = f"{register(width)}_{stem}_{packed(element)}(({register_type(element, width)})*a, 8)"
        yield ("roundeven", element, width // LANE_BITS[element]), f"return (V){call};"


def dots(width: int) -> Iterator[tuple[Row, str]]:
    """Sums of products of narrow integers: the instruction has 16 bits, so bytes are taken in two halves."""
    mm = register(width)
    halves = {
        "i": (f"{mm}_srai_epi16({mm}_slli_epi16({{0}}, 8), 8)", f"{mm}_srai_epi16({{0}}, 8)"),
        "u": (f"{mm}_and_si{width}({{0}}, {mm}_set1_epi16(255))", f"{mm}_srli_epi16({{0}}, 8)"),
    }
    operands = f"const __m{width}i x = (__m{width}i)*a, y = (__m{width}i)*b, sum = (__m{width}i)*acc;\n"
    for stem, first, second in (("dot_i8", "i", "i"), ("dot_u8", "u", "u"), ("dotu_i8", "u", "i")):
        ways = zip(halves[first], halves[second], strict=True)
        even, odd = (f"{mm}_madd_epi16({x.format('x')}, {y.format('y')})" for x, y in ways)
        total = f"{mm}_add_epi32({even},\n    {odd})"
        yield (stem, "i32", width // 32), f"{operands}return (V){mm}_add_epi32(sum, {total});"
    total = f"{mm}_add_epi32(sum, {mm}_madd_epi16(x, y))"
    yield ("dot_i16", "i32", width // 32), f"{operands}return (V){total};"
    yield from _sums(width)


def _sums(width: int) -> Iterator[tuple[Row, str]]:
    """Sums of narrow integers: products with 1, which the instruction for bytes takes without a sign and with one."""
    mm = register(width)
    pairs = {
        "i8": f"{mm}_maddubs_epi16({mm}_set1_epi8(1), (__m{width}i)*a)",
        "u8": f"{mm}_maddubs_epi16((__m{width}i)*a, {mm}_set1_epi8(1))",
        "i16": f"(__m{width}i)*a",
    }
    for kind, each in pairs.items():
        total = f"{mm}_madd_epi16({each}, {mm}_set1_epi16(1))"
        yield (f"sum_{kind}", "i32", width // 32), f"return (V){mm}_add_epi32((__m{width}i)*acc, {total});"
