"""How the functions of x86 compilers are called: by the width of the register and the type of the lanes."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.codegen.targets.target import LANE_BITS, Row


def widening(width: int) -> Iterator[tuple[Row, str]]:
    """Integers as wider ones that fill a register of so many bits, signed and unsigned."""
    for source in (8, 16, 32):
        for target in (bits for bits in (16, 32, 64) if bits > source):
            lanes, size = width // target, width // target * source
            if size < 64:
                continue
            given = f"(__m{size}i)*a" if size >= 128 else "_mm_loadl_epi64((const __m128i *)(const void *)a)"
            for sign, end in (("i", f"epi{source}"), ("u", f"epu{source}")):
                call = f"{register(width)}_cvt{end}_epi{target}({given})"
                yield (f"from_{sign}{source}", f"i{target}", lanes), f"return (V){call};"


def extremes(width: int) -> Iterator[tuple[Row, str]]:
    """The lesser and the greater of two numbers: the second one where one of them is NaN, or both are zero."""
    for element in ("f32", "f64"):
        kind, end = register_type(element, width), packed(element)
        for stem, name in (("lesser", "min"), ("greater", "max")):
            call = f"{register(width)}_{name}_{end}(({kind})*a, ({kind})*b)"
            yield (stem, element, width // LANE_BITS[element]), f"return (V){call};"


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
    """A vector of which gcc 12 must not know that it is in memory too, where it would load it for each shuffle."""
    for element, lane in LANE_BITS.items():
        load = 'V found;\n__builtin_memcpy(&found, at, sizeof found);\n__asm__("" : "+v"(found));\nreturn found;'
        yield ("loaded", element, width // lane), load


def dots(width: int) -> Iterator[tuple[Row, str]]:
    """Sums of products of narrow integers: the instruction has 16 bits, so bytes are taken in two halves."""
    mm = register(width)
    halves = {
        "i": (f"{mm}_srai_epi16({mm}_slli_epi16({{0}}, 8), 8)", f"{mm}_srai_epi16({{0}}, 8)"),
        "u": (f"{mm}_and_si{width}({{0}}, {mm}_set1_epi16(255))", f"{mm}_srli_epi16({{0}}, 8)"),
    }
    operands = f"const __m{width}i x = (__m{width}i)*a, y = (__m{width}i)*b, sum = (__m{width}i)*acc;\n"
    for sign, ways in halves.items():
        even, odd = (f"{mm}_madd_epi16({way.format('x')}, {way.format('y')})" for way in ways)
        total = f"{mm}_add_epi32({even},\n    {odd})"
        yield (f"dot_{sign}8", "i32", width // 32), f"{operands}return (V){mm}_add_epi32(sum, {total});"
    total = f"{mm}_add_epi32(sum, {mm}_madd_epi16(x, y))"
    yield ("dot_i16", "i32", width // 32), f"{operands}return (V){total};"
