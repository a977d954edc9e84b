import functools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affdsl.ir import semantics
from affdsl.ir.dialects import affine, arith
from affdsl.ir.dialects import math as math_dialect
from affdsl.ir.numeric import from_bits, nearest, number_of, quiet, rounder, signed, to_bits, unsigned, wrap
from affdsl.ir.types import BF16, F16, F32, F64, I1, I8, I16, I32, I64, INDEX, IntegerType
from tests.effort import TRIES_ALL

FLOATS = (F16, BF16, F32, F64)
LEFT, RIGHT = (x.ravel() for x in np.meshgrid(np.arange(-128, 128), np.arange(-128, 128), indexing="ij"))
UL, UR = LEFT % 256, RIGHT % 256
AMOUNT = np.minimum(UR, 8)


@pytest.fixture(autouse=True)
def _quiet():
    with quiet():
        yield


def where_nonzero(divisor, quotient):
    return np.where(divisor == 0, 0, quotient)


# What each kind gives on all pairs of i8, before wrapping, written once more with NumPy on whole arrays.
EXPECTED = {
    "addi": lambda: LEFT + RIGHT,
    "subi": lambda: LEFT - RIGHT,
    "muli": lambda: LEFT * RIGHT,
    "divsi": lambda: where_nonzero(RIGHT, np.trunc(LEFT / RIGHT)),
    "divui": lambda: where_nonzero(UR, np.trunc(UL / UR)),
    "remsi": lambda: where_nonzero(RIGHT, np.fmod(LEFT, RIGHT)),
    "remui": lambda: where_nonzero(UR, np.fmod(UL, UR)),
    "ceildivsi": lambda: where_nonzero(RIGHT, np.ceil(LEFT / RIGHT)),
    "ceildivui": lambda: where_nonzero(UR, np.ceil(UL / UR)),
    "floordivsi": lambda: where_nonzero(RIGHT, np.floor(LEFT / RIGHT)),
    "andi": lambda: np.bitwise_and(LEFT.astype(np.uint8), RIGHT.astype(np.uint8)),
    "ori": lambda: np.bitwise_or(LEFT.astype(np.uint8), RIGHT.astype(np.uint8)),
    "xori": lambda: np.bitwise_xor(LEFT.astype(np.uint8), RIGHT.astype(np.uint8)),
    "shli": lambda: UL * 2**AMOUNT,
    "shrsi": lambda: np.floor(LEFT / 2.0**AMOUNT),
    "shrui": lambda: np.floor(UL / 2.0**AMOUNT),
    "maxsi": lambda: np.where(LEFT > RIGHT, LEFT, RIGHT),
    "maxui": lambda: np.where(UL > UR, UL, UR),
    "minsi": lambda: np.where(LEFT < RIGHT, LEFT, RIGHT),
    "minui": lambda: np.where(UL < UR, UL, UR),
}


def test_every_kind_of_the_dialects_has_a_row():
    assert set(semantics.INTEGER_BINARY) == {*arith.INTEGER_BINARY, "ipowi"}
    assert set(semantics.INTEGER_UNARY) == set(math_dialect.INTEGER_UNARY)
    assert {*semantics.FLOAT_BINARY, *semantics.LIBM_BINARY} == {*arith.FLOAT_BINARY, *math_dialect.FLOAT_BINARY}
    assert {*semantics.FLOAT_UNARY, *semantics.LIBM_UNARY} == {"negf", *math_dialect.FLOAT_UNARY}
    assert set(semantics.FLOAT_TESTS) == set(math_dialect.FLOAT_TESTS)
    assert set(semantics.EXTENDED) == set(arith.EXTENDED)
    assert {*semantics.REDUCTION_KINDS, "assign"} == set(affine.REDUCTIONS)
    assert set(EXPECTED) == set(arith.INTEGER_BINARY)


@pytest.mark.parametrize("kind", arith.INTEGER_BINARY)
def test_integer_binary_on_all_of_i8(kind):
    with np.errstate(all="ignore"):
        expected = EXPECTED[kind]().astype(np.int64).astype(np.int8).tolist()
    function = semantics.binary(kind, I8)
    assert [function(a, b) for a, b in zip(LEFT.tolist(), RIGHT.tolist(), strict=True)] == expected


@pytest.mark.parametrize("kind", arith.INTEGER_BINARY)
@pytest.mark.parametrize("type", [I1, IntegerType(3), INDEX, I64])
def test_integer_binary_of_other_widths(kind, type):
    """A sign-extended i8 computation agrees wherever the width does not show; the full range is checked on edges."""
    w = 64 if type == INDEX else type.width
    function = semantics.binary(kind, type)
    edges = sorted({wrap(x, w) for x in (0, 1, 2, 3, -1, -2, -3, (1 << (w - 1)) - 1, 1 << (w - 1), w, w - 1)})
    for a in edges:
        for b in edges:
            assert function(a, b) == plain(kind, a, b, w), (a, b)


def plain(kind, a, b, w):
    """The definition with exact fractions, bits as unsigned numbers."""
    ua, ub = a % (1 << w), b % (1 << w)
    sa, sb = (x - (1 << w) if x >> (w - 1) else x for x in (ua, ub))
    x, y = (ua, ub) if "u" in kind[-2:] else (sa, sb)
    match kind:
        case "addi" | "subi" | "muli":
            exact = {"addi": sa + sb, "subi": sa - sb, "muli": sa * sb}[kind]
        case "divsi" | "divui":
            exact = math.trunc(Fraction(x, y)) if y else 0
        case "remsi" | "remui":
            exact = x - y * math.trunc(Fraction(x, y)) if y else 0
        case "ceildivsi" | "ceildivui":
            exact = math.ceil(Fraction(x, y)) if y else 0
        case "floordivsi":
            exact = math.floor(Fraction(x, y)) if y else 0
        case "andi" | "ori" | "xori":
            exact = {"andi": ua & ub, "ori": ua | ub, "xori": ua ^ ub}[kind]
        case "shli":
            exact = ua * 2**ub if ub < w else 0
        case "shrui":
            exact = ua // 2**ub if ub < w else 0
        case "shrsi":
            exact = math.floor(Fraction(sa, 2**ub)) if ub < w else (-1 if sa < 0 else 0)
        case "maxsi" | "maxui":
            exact = max(x, y)
        case "minsi" | "minui":
            exact = min(x, y)
    bits = exact % (1 << w)
    return bits if w == 1 else bits - (1 << w) if bits >> (w - 1) else bits


def test_integer_unary_on_all_of_i8():
    absolute, leading, trailing, ones = (semantics.unary(kind, I8) for kind in ("absi", "ctlz", "cttz", "ctpop"))
    for a in range(-128, 128):
        text = f"{a % 256:08b}"
        assert absolute(a) == (a if a >= 0 or a == -128 else -a)
        assert leading(a) == len(text) - len(text.lstrip("0"))
        assert trailing(a) == len(text) - len(text.rstrip("0"))
        assert ones(a) == text.count("1")
    assert semantics.unary("absi", I1)(1) == 1
    assert semantics.unary("ctlz", INDEX)(1) == 63


def test_integer_power():
    power = semantics.binary("ipowi", I8)
    for a in range(-128, 128):
        for n in range(0, 128, 3):
            assert power(a, n) == wrap(a**n, 8)
        for n in (-1, -2, -128):
            assert power(a, n) == (0 if a == 0 else math.trunc(Fraction(1, a**-n)))


@pytest.mark.parametrize("kind", arith.EXTENDED)
def test_extended_on_all_of_i8(kind):
    function = semantics.extended(kind, I8)
    for a, b in zip(LEFT.tolist(), RIGHT.tolist(), strict=True):
        match kind:
            case "addui_extended":
                expected = wrap(a + b, 8), int(a % 256 + b % 256 > 255)
                assert (function(a, b)[0], function(a, b)[1]) == expected
            case "mulsi_extended":
                assert function(a, b) == (wrap(a * b, 8), a * b // 256)
            case _:
                assert function(a, b) == (wrap(a * b, 8), wrap((a % 256) * (b % 256) // 256, 8))


@pytest.mark.parametrize("predicate", arith.INTEGER_PREDICATES)
def test_integer_predicates_on_all_of_i8(predicate):
    x, y = (UL, UR) if predicate.startswith("u") else (LEFT, RIGHT)
    compare = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal}
    compare |= {"gt": np.greater, "ge": np.greater_equal}
    function = semantics.compare(predicate, I8)
    found = [function(a, b) for a, b in zip(LEFT.tolist(), RIGHT.tolist(), strict=True)]
    assert found == compare[predicate[-2:]](x, y).astype(int).tolist()


def test_true_is_minus_one_where_i1_has_a_sign():
    assert semantics.compare("slt", I1)(1, 0) == 1
    assert semantics.compare("ult", I1)(1, 0) == 0
    assert semantics.cast("extsi", I1, I8)(1) == -1
    assert semantics.cast("extui", I1, I8)(1) == 1
    assert semantics.cast("sitofp", I1, F32)(1) == -1.0
    assert semantics.cast("index_cast", I1, INDEX)(1) == -1
    assert semantics.cast("index_castui", I1, INDEX)(1) == 1
    assert signed(1, 1) == -1


NAN, INF = math.nan, math.inf


@pytest.mark.parametrize("type", FLOATS)
@pytest.mark.parametrize("predicate", arith.FLOAT_PREDICATES)
def test_float_predicates(predicate, type):
    function = semantics.compare(predicate, type)
    for a in (NAN, -INF, -1.0, -0.0, 0.0, 1.0, INF):
        for b in (NAN, -INF, -1.0, -0.0, 0.0, 1.0, INF):
            unordered = math.isnan(a) or math.isnan(b)
            relations = {"lt": a < b, "gt": a > b, "eq": a == b}
            holds = {
                "false": False, "true": True, "ord": not unordered, "uno": unordered,
            } | {  # the letters say which of less, greater, equal, unordered are accepted
                kind: (kind[0] == "u" and unordered) or any(relations[r] for r in accepted)
                for name, accepted in {
                    "eq": ("eq",), "gt": ("gt",), "ge": ("gt", "eq"), "lt": ("lt",), "le": ("lt", "eq"),
                    "ne": ("lt", "gt"),
                }.items() for kind in (f"o{name}", f"u{name}")
            }  # fmt: skip
            assert function(number_of(a, type), number_of(b, type)) == holds[predicate]


def same(a, b):
    """Equal, with the sign of zero; all NaN are the same."""
    return (a != a and b != b) or (a == b and math.copysign(1, a) == math.copysign(1, b))


@pytest.mark.parametrize("type", FLOATS)
def test_maximum_and_minimum(type):
    numbers = [number_of(x, type) for x in (NAN, -INF, -2.0, -0.0, 0.0, 3.0, INF)]
    order = numbers[1:]
    maximum, minimum, maxnum, minnum = (
        semantics.binary(kind, type) for kind in ("maximumf", "minimumf", "maxnumf", "minnumf")
    )
    for a in numbers:
        for b in numbers:
            if a == a and b == b:
                low, high = sorted((a, b), key=lambda x: next(i for i, y in enumerate(order) if same(x, y)))
                assert same(maximum(a, b), high)
                assert same(maxnum(a, b), high)
                assert same(minimum(a, b), low)
                assert same(minnum(a, b), low)
            else:
                assert np.isnan(maximum(a, b))
                assert np.isnan(minimum(a, b))
                assert same(maxnum(a, b), b if a != a else a)
                assert same(minnum(a, b), b if a != a else a)


@pytest.mark.parametrize("type", FLOATS)
def test_division_and_remainder(type):
    divide, remainder = (semantics.binary(kind, type) for kind in ("divf", "remf"))
    for a in (-7.5, -0.0, 0.0, 7.5, INF, NAN):
        for b in (-2.0, -0.0, 0.0, 2.0, INF, NAN):
            x, y = number_of(a, type), number_of(b, type)
            if b and math.isfinite(a) and b == b:
                assert same(divide(x, y), a / b)
                assert same(remainder(x, y), math.fmod(a, b))
            elif not b and a and a == a:
                assert same(divide(x, y), math.copysign(INF, a) * math.copysign(1, b))
            if not b or not math.isfinite(a):
                assert np.isnan(remainder(x, y))
    assert np.isnan(divide(number_of(0.0, type), number_of(0.0, type)))


def bits_of_all(type):
    step = 1 if type.width == 16 else (1 << type.width) // 4001
    return range(0, 1 << type.width, step)


@pytest.mark.parametrize("type", FLOATS)
def test_bits_there_and_back(type):
    for bits in bits_of_all(type):
        number = from_bits(bits, type)
        if number == number:
            assert to_bits(number, type) == bits
        else:
            assert np.isnan(from_bits(to_bits(number, type), type))


def exact_nearest(x: Fraction, type):
    """The nearest number of a 16-bit format, by looking at all of them; None if x is beyond the largest."""
    finite, values = finite_numbers(type), finite_values(type)
    low, high = 0, len(values) - 1
    if not values[0] <= x <= values[-1]:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if values[middle] <= x else (low, middle)
    below, above = x - values[low], values[high] - x
    if below == above:
        return values[low] if finite[low][1] % 2 == 0 else values[high]
    return values[low] if below < above else values[high]


@functools.cache
def finite_numbers(type):
    """All numbers of a 16-bit format in order, each with its bits."""
    numbers = ((from_bits(b, type), b) for b in range(1 << 16) if b != 1 << 15)
    return sorted((Fraction(float(x)), b) for x, b in numbers if np.isfinite(x))


@functools.cache
def finite_values(type):
    return [v for v, _ in finite_numbers(type)]


@pytest.fixture(scope="module")
def _listed():
    """The numbers are listed before the first example is timed."""
    for type in (F16, BF16):
        finite_values(type)


@pytest.mark.usefixtures("_listed")
@pytest.mark.parametrize("type", [F16, BF16])
@given(numerator=st.integers(-(2**60), 2**60), exponent=st.integers(-200, 100), odd=st.integers(-1, 1))
def test_nearest_rounds_once(type, numerator, exponent, odd):
    with quiet():
        x = Fraction(numerator) * Fraction(2) ** exponent + odd * Fraction(1, 2**300)
        expected = exact_nearest(x, type)
        if expected is not None:
            assert Fraction(float(nearest(x, type))) == expected


@pytest.mark.parametrize("type", [F16, BF16])
def test_nearest_at_every_tie(type):
    full = finite_numbers(type)
    values = finite_values(type)[:: (7 if type == F16 else 5) * (1 if TRIES_ALL else 3)]
    where = {v: i for i, (v, _) in enumerate(full)}
    tiny = Fraction(1, 2**400)
    for v in values[:-1]:
        i = where[v]
        above, even_first = full[i + 1][0], full[i][1] % 2 == 0
        tie = (v + above) / 2
        assert Fraction(float(nearest(tie, type))) == (v if even_first else above)
        assert Fraction(float(nearest(tie - tiny, type))) == v
        assert Fraction(float(nearest(tie + tiny, type))) == above
        assert Fraction(float(rounder(type)(np.float64(tie)))) == (v if even_first else above)


def test_nearest_of_single_and_double():
    tie = Fraction(2**24 + 1)
    assert float(nearest(tie, F32)) == 2**24
    assert float(nearest(tie + Fraction(1, 2**80), F32)) == 2**24 + 2
    assert float(nearest(Fraction(1, 3), F64)) == 1 / 3
    assert nearest(Fraction(10) ** 400, F64) == INF
    assert nearest(-(Fraction(10) ** 400), BF16) == -INF
    assert nearest(Fraction(2**128), F32) == INF
    assert float(rounder(BF16)(3.39e38 + 1e30)) == 2.0**128 - 2.0**120


@given(st.integers(-(2**63), 2**63 - 1))
def test_integer_to_float_rounds_once(n):
    with quiet():
        assert Fraction(float(semantics.cast("sitofp", I64, F64)(n))) == Fraction(float(n))
        single = semantics.cast("sitofp", I64, F32)(n)
        error = abs(Fraction(float(single)) - n)
        for other in (np.nextafter(single, np.float32(-INF)), np.nextafter(single, np.float32(INF))):
            assert error <= abs(Fraction(float(other)) - n)


def test_integer_to_float_that_double_rounding_gets_wrong():
    n = 2**60 + 2**36 + 1  # just above the tie between two floats
    assert float(np.float32(np.float64(n))) == 2.0**60
    assert float(semantics.cast("sitofp", I64, F32)(n)) == 2.0**60 + 2.0**37
    assert float(semantics.cast("uitofp", I64, F64)(-1)) == 2.0**64


@pytest.mark.parametrize("type", FLOATS)
@pytest.mark.parametrize("target", [I1, I8, IntegerType(5), I32, I64])
def test_float_to_integer_saturates(type, target):
    to_signed, to_unsigned = (semantics.cast(kind, type, target) for kind in ("fptosi", "fptoui"))
    w = target.width
    for x in (NAN, -INF, -1e4, -129.0, -128.5, -2.5, -0.5, -0.0, 0.5, 1.0, 1.5, 127.5, 300.0, 6e4, INF):
        number = number_of(x, type)
        exact = 0 if x != x else max(-(2**70), min(2**70, float(number)))
        low, high = -(1 << (w - 1)), (1 << (w - 1)) - 1
        assert to_signed(number) == wrap(max(low, min(high, math.trunc(exact))), w)
        assert to_unsigned(number) == wrap(max(0, min((1 << w) - 1, math.trunc(exact))), w)
    assert to_signed(number_of(NAN, type)) == 0


def test_integer_casts():
    assert semantics.cast("extsi", I8, I32)(-1) == -1
    assert semantics.cast("extui", I8, I32)(-1) == 255
    assert semantics.cast("trunci", I32, I8)(0x1FF) == -1
    assert semantics.cast("trunci", I32, I1)(6) == 0
    assert semantics.cast("index_cast", INDEX, I32)(2**32 + 5) == 5
    assert semantics.cast("index_cast", I32, INDEX)(-5) == -5
    assert semantics.cast("index_castui", I32, INDEX)(-5) == 2**32 - 5
    with pytest.raises(ValueError, match="no cast extsi from f32 to i8"):
        semantics.cast("extsi", F32, I8)


def test_float_casts():
    assert semantics.cast("truncf", F64, F32)(np.float64(0.1)) == np.float32(0.1)
    assert semantics.cast("truncf", F64, F16)(np.float64(1e6)) == INF
    assert semantics.cast("extf", F16, F64)(np.float16(0.1)) == float(np.float16(0.1))
    assert type(semantics.cast("extf", F16, F64)(np.float16(0.1))) is np.float64
    assert semantics.cast("bitcast", F32, I32)(np.float32(-0.0)) == -(2**31)
    assert semantics.cast("bitcast", I32, F32)(0x3F800000) == 1.0
    assert semantics.cast("bitcast", I16, BF16)(0x3F80) == 1.0
    assert semantics.cast("bitcast", BF16, F16)(np.float32(1.0)) == from_bits(0x3F80, F16)


CHOICES = {
    "downward": lambda x, below, above: below,
    "upward": lambda x, below, above: above,
    "toward_zero": lambda x, below, above: below if x > 0 else above,
    "to_nearest_even": None,
    "to_nearest_away": lambda x, below, above: (
        min(below, above, key=abs) if abs(x) < abs(below + above) / 2 else max(below, above, key=abs)
    ),
}


@pytest.mark.parametrize("type", [F16, BF16, F32])
@pytest.mark.parametrize("mode", arith.ROUNDING)
def test_a_truncation_rounds_as_it_says(type, mode):
    """At, and just beside, a third, half and two thirds of the way between neighbours, of both signs."""
    step = (157 if TRIES_ALL else 479) * (1 if type.width == 16 else 65521)
    convert = semantics.cast("truncf", F64, type, mode)
    infinite = to_bits(number_of(INF, type), type)
    for bits in [*range(0, infinite - 1, step), infinite - 2]:
        low, high = (Fraction(float(from_bits(b, type))) for b in (bits, bits + 1))
        far = (high - low) / 2**12
        for way in (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(1)):
            for x in {low + way * (high - low) + side for side in (-far, 0, far)}:
                if low <= x <= high:
                    for signed_x in (x, -x):
                        below, above = (low, high) if signed_x > 0 else (-high, -low)
                        if x in (low, high):
                            expected = signed_x
                        elif CHOICES[mode] is None:
                            expected = Fraction(float(nearest(signed_x, type)))
                        else:
                            expected = CHOICES[mode](signed_x, below, above)
                        found = convert(np.float64(float(signed_x)))
                        assert Fraction(float(found)) == expected
                        assert np.signbit(found) == (signed_x < 0) or signed_x == 0


def test_truncation_at_the_ends():
    largest, least = float(np.finfo(np.float32).max), 2.0**-149
    found = {
        mode: [float(semantics.cast("truncf", F64, F32, mode)(np.float64(x))) for x in (1e300, -1e300, 1e-300, -1e-300)]
        for mode in arith.ROUNDING
    }
    assert found == {
        "to_nearest_even": [INF, -INF, 0.0, 0.0],
        "to_nearest_away": [INF, -INF, 0.0, 0.0],
        "downward": [largest, -INF, 0.0, -least],
        "upward": [INF, -largest, least, 0.0],
        "toward_zero": [largest, -largest, 0.0, 0.0],
    }
    for mode in arith.ROUNDING:
        convert = semantics.cast("truncf", F64, F32, mode)
        assert [float(convert(np.float64(x))) for x in (INF, -INF)] == [INF, -INF]
        assert np.isnan(convert(np.float64(NAN)))
        assert np.signbit(convert(np.float64(-0.0)))
        assert not np.signbit(convert(np.float64(0.0)))


def test_bf16_is_rounded_after_each_operation():
    add = semantics.binary("addf", BF16)
    assert add(np.float32(256.0), np.float32(1.0)) == 256.0
    assert add(np.float32(256.0), np.float32(3.0)) == 260.0
    assert add(np.float32(-0.0), np.float32(-0.0)).view(np.uint32) == 1 << 31


@pytest.mark.parametrize("type", FLOATS)
@given(data=st.data())
def test_fma_rounds_once(type, data):
    bits = st.integers(0, (1 << type.width) - 1)
    with quiet():
        a, b, c = (from_bits(data.draw(bits), type) for _ in range(3))
        found = semantics.fma(type)(a, b, c)
        if all(np.isfinite(x) for x in (a, b, c)):
            exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
            if type in (F16, BF16):
                expected = exact_nearest(exact, type)
                assert expected is None or Fraction(float(found)) == expected
            elif np.isfinite(found):
                error = abs(Fraction(float(found)) - exact)
                for way in (-INF, INF):
                    other = np.nextafter(found, type_of(type)(way))
                    assert not np.isfinite(other) or error <= abs(Fraction(float(other)) - exact)


def type_of(type):
    return {"f32": np.float32, "f64": np.float64}[type.name]


def test_fma_at_the_edges():
    fma = semantics.fma(F64)
    one = np.float64(1)
    assert fma(np.float64(1e300), np.float64(1e300), np.float64(-INF)) == -INF
    assert fma(np.float64(1e300), np.float64(1e300), one) == INF
    assert np.isnan(fma(np.float64(INF), np.float64(0), one))
    assert np.isnan(fma(np.float64(INF), one, np.float64(-INF)))
    assert np.isnan(fma(one, one, np.float64(NAN)))
    assert same(fma(np.float64(-0.0), one, np.float64(-0.0)), -0.0)
    assert same(fma(one, one, -one), 0.0)
    x = np.float64(1 + 2.0**-30)
    assert fma(x, x, np.float64(-1 - 2.0**-29)) == 2.0**-60


@pytest.mark.parametrize("type", FLOATS)
def test_rounding_to_whole_numbers(type):
    rounding = {
        "ceil": math.ceil, "floor": math.floor, "trunc": math.trunc, "roundeven": round,
        "round": half_away,
    }  # fmt: skip
    for kind, expected in rounding.items():
        function = semantics.unary(kind, type)
        for x in (-2.5, -1.5, -0.75, -0.5, -0.25, -0.0, 0.0, 0.25, 0.5, 0.75, 1.5, 2.5, 3.0, 100.5):
            assert same(function(number_of(x, type)), math.copysign(expected(Fraction(x)), x)), (kind, x)
        assert function(number_of(INF, type)) == INF
        assert np.isnan(function(number_of(NAN, type)))
    assert semantics.unary("round", F64)(np.float64(0.49999999999999994)) == 0.0
    assert semantics.unary("round", F64)(np.float64(2.0**52 + 1)) == 2.0**52 + 1


def half_away(x):
    return math.floor(x + Fraction(1, 2)) if x >= 0 else math.ceil(x - Fraction(1, 2))


@pytest.mark.parametrize("type", FLOATS)
def test_tests_of_floats(type):
    smallest = {"f16": 2.0**-14, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022}[type.name]
    table = {
        NAN: (0, 0, 1, 0), INF: (0, 1, 0, 0), -INF: (0, 1, 0, 0), 0.0: (1, 0, 0, 0), 1.0: (1, 0, 0, 1),
        smallest: (1, 0, 0, 1), smallest / 2: (1, 0, 0, 0),
    }  # fmt: skip
    for x, expected in table.items():
        found = [semantics.unary(kind, type)(number_of(x, type)) for kind in ("isfinite", "isinf", "isnan", "isnormal")]
        assert tuple(found) == expected, x


ELEMENTARY = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan,
    "atanh": np.arctanh, "cbrt": np.cbrt, "cos": np.cos, "cosh": np.cosh, "exp": np.exp, "exp2": np.exp2,
    "expm1": np.expm1, "log": np.log, "log10": np.log10, "log1p": np.log1p, "log2": np.log2, "sin": np.sin,
    "sinh": np.sinh, "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh, "absf": np.abs, "negf": np.negative,
    "rsqrt": lambda x: 1 / np.sqrt(x),
}  # fmt: skip
POINTS = (NAN, -INF, -1e300, -800.0, -3.0, -1.0, -0.5, -0.0, 0.0, 1e-3, 0.5, 1.0, 2.0, 710.0, 1e300, INF)


@pytest.mark.parametrize("kind", ELEMENTARY)
@pytest.mark.parametrize("type", FLOATS)
def test_elementary_functions(kind, type):
    tolerance = {"f16": 2e-3, "bf16": 2e-2, "f32": 3e-7, "f64": 1e-15}[type.name]
    function = semantics.unary(kind, type)
    for x in POINTS:
        operand = number_of(x, type)
        expected = number_of(float(ELEMENTARY[kind](np.float64(operand))), type)
        found = function(operand)
        assert type_name(found) == type_name(operand)
        assert same(found, expected) or abs(found - expected) <= tolerance * abs(expected), (x, found, expected)


def type_name(number):
    return number.dtype.name


def test_error_functions_and_powers():
    erf, erfc = semantics.unary("erf", F64), semantics.unary("erfc", F64)
    for x in (-3.0, -0.5, 0.0, 0.25, 2.0):
        n, total = 0, 0.0
        while n < 100:
            total += (-1) ** n * x ** (2 * n + 1) / (math.factorial(n) * (2 * n + 1))
            n += 1
        assert float(erf(np.float64(x))) == pytest.approx(2 / math.sqrt(math.pi) * total, abs=1e-12)
        assert float(erfc(np.float64(x))) == pytest.approx(1 - float(erf(np.float64(x))), abs=1e-12)
    power, angle, sign = (semantics.binary(kind, F64) for kind in ("powf", "atan2", "copysign"))
    f = np.float64
    assert power(f(2), f(10)) == 1024
    assert power(f(0), f(-1)) == INF
    assert power(f(-0.0), f(-1)) == -INF
    assert power(f(-10), f(401)) == -INF
    assert np.isnan(power(f(-8), f(1 / 3)))
    assert power(f(1), f(NAN)) == 1
    assert angle(f(0.0), f(-1.0)) == math.pi
    assert same(angle(f(-0.0), f(1.0)), -0.0)
    assert same(sign(f(3.0), f(-0.0)), -3.0)


@pytest.mark.parametrize("type", FLOATS)
def test_float_to_an_integer_power(type):
    power = semantics.binary("fpowi", type)
    for x in (-2.0, 0.5, 1.0, 0.0, INF):
        for n in (0, 1, 2, 3, 7):
            assert power(number_of(x, type), n) == x**n
    assert power(number_of(2.0, type), -3) == 0.125
    assert power(number_of(0.0, type), -1) == INF
    assert power(number_of(-0.0, type), -3) == -INF
    assert power(number_of(NAN, type), 0) == 1


@pytest.mark.parametrize("kind", [k for k in affine.REDUCTIONS if k != "assign"])
def test_neutral_elements_change_nothing(kind):
    floats = affine.REDUCTIONS[kind] == "float"
    for type in FLOATS if floats else (I1, I8, I64):
        combine, start = semantics.combine(kind, type), semantics.neutral(kind, type)
        numbers = [number_of(x, type) for x in ((-INF, -2.0, 0.0, 3.0, INF) if floats else (-128, -1, 0, 1, 127))]
        assert all(combine(start, x) == x for x in numbers)
        if floats:
            assert np.isnan(combine(start, number_of(NAN, type)))


def test_assign_keeps_the_last():
    assert semantics.combine("assign", F32)(1.0, 2.0) == 2.0
    assert semantics.neutral("assign", F32) == 0.0
    assert semantics.neutral("assign", INDEX) == 0


def test_wrapping_and_reading():
    assert [wrap(n, 8) for n in (127, 128, 255, 256, -129)] == [127, -128, -1, 0, 127]
    assert [wrap(n, 1) for n in (-1, 0, 1, 2, 3)] == [1, 0, 1, 0, 1]
    assert unsigned(-1, 64) == 2**64 - 1
    assert number_of(200, I8) == -56
