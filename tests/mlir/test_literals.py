"""Numbers survive the way into MLIR bit for bit: mlir-opt reads them and gives back their bits."""

import math
import random
import re
import struct

import pytest

from affdsl.ir.dialects import arith
from affdsl.ir.expr import Value
from affdsl.ir.types import BF16, F16, F32, F64, I1, I8, I32, I64, INDEX, FloatType, IntegerType, MemRefType, Type
from affdsl.mlir.literals import literal, nearest
from affdsl.mlir.writers import print_op
from tests.mlir.build import constant, function
from tests.oracles import mlir_opt

FLOATS = [F16, BF16, F32, F64]


def from_bits(bits: int, type: FloatType) -> float:
    """The number with these bits, by another way than the code's."""
    if type == BF16:
        return from_bits(bits << 16, F32)
    integer, code = {16: ("<H", "<e"), 32: ("<I", "<f"), 64: ("<Q", "<d")}[type.width]
    number: float = struct.unpack(code, struct.pack(integer, bits))[0]
    return number


def patterns(type: FloatType, count: int) -> list[int]:
    """Zeros, the smallest and largest numbers, infinities, and random ones; no NaN."""
    generator = random.Random(type.width)
    width = type.width
    infinity = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF0000000000000}[type.name]
    positive = [0, 1, 2, infinity - 1, infinity, from_float(1.0, type), from_float(1.0, type) + 1]
    positive += [generator.randrange(infinity) for _ in range(count)]
    return [p | sign << (width - 1) for p in positive for sign in (0, 1)]


def from_float(value: float, type: FloatType) -> int:
    if type == BF16:
        return from_float(value, F32) >> 16
    integer, code = {16: ("<H", "<e"), 32: ("<I", "<f"), 64: ("<Q", "<d")}[type.width]
    bits: int = struct.unpack(integer, struct.pack(code, value))[0]
    return bits


@pytest.mark.parametrize("type", FLOATS, ids=str)
def test_mlir_opt_reads_the_bits_that_were_meant(type: FloatType) -> None:
    bits = patterns(type, 300)
    constants = [constant(from_bits(p, type), type) for p in bits]
    target = IntegerType(type.width)
    casts = [arith.Cast(Value(target), "bitcast", c.result) for c in constants]
    text = mlir_opt(print_op(function((), *constants, *casts, returns=[c.result for c in casts])), "--canonicalize")
    known = dict(re.findall(rf"(%\S+) = arith.constant (-?\d+) : {target}\n", text))
    returned = re.search(r"return (.*) : ", text)
    assert returned
    assert [int(known[name]) % 2**type.width for name in returned[1].split(", ")] == bits


@pytest.mark.parametrize(
    ("type", "infinity", "negative", "nan"),
    [
        (F16, "0x7C00", "0xFC00", "0x7E00"),
        (BF16, "0x7F80", "0xFF80", "0x7FC0"),
        (F32, "0x7F800000", "0xFF800000", "0x7FC00000"),
        (F64, "0x7FF0000000000000", "0xFFF0000000000000", "0x7FF8000000000000"),
    ],
)
def test_special_numbers(type: FloatType, infinity: str, negative: str, nan: str) -> None:
    assert literal(math.inf, type) == infinity
    assert literal(-math.inf, type) == negative
    assert literal(math.nan, type) == nan
    operations = [constant(v, type) for v in (math.inf, -math.inf, math.nan, math.copysign(math.nan, -1))]
    text = mlir_opt(print_op(function((), *operations)))
    for op in operations:
        assert f"= arith.constant {literal(op.value, type)} : {type}\n" in text


@pytest.mark.parametrize(
    ("value", "type", "text"),
    [
        (0.0, F32, "0.000000e+00"),
        (-0.0, F32, "-0.000000e+00"),
        (0.1, F32, "1.000000e-01"),
        (0.1, F64, "1.000000e-01"),
        (1 / 3, F16, "3.332520e-01"),
        (1 / 3, F32, "3.3333334e-01"),
        (1 / 3, F64, "3.333333333333333e-01"),
        (16777216, F32, "1.6777216e+07"),
        (5e-324, F64, "4.940656e-324"),
        (1e30, F16, "0x7C00"),
        (3, I8, "3"),
        (255, I8, "-1"),
        (-128, I8, "-128"),
        (2**64 - 1, I64, "-1"),
        (2**63 - 1, INDEX, "9223372036854775807"),
        (1, I1, "true"),
        (False, I1, "false"),
        (True, I32, "1"),
    ],
)
def test_literal(value: float, type: Type, text: str) -> None:
    assert literal(value, type) == text


@pytest.mark.parametrize("type", [F16, F32], ids=str)
def test_rounding_is_that_of_the_machine(type: FloatType) -> None:
    generator = random.Random(7)
    code = {"f16": "<e", "f32": "<f"}[type.name]
    for _ in range(5000):
        value = math.ldexp(generator.uniform(-1, 1), generator.randint(-30, 16))
        assert nearest(value, type) == struct.unpack(code, struct.pack(code, value))[0], value


def test_rounding_at_the_edges() -> None:
    largest = from_bits(0x7F7F, BF16)
    half = 2.0**119  # of the last place
    assert nearest(largest + half, BF16) == math.inf
    assert nearest(largest + half * 0.99, BF16) == largest
    assert nearest(65519.99, F16) == 65504
    assert nearest(65520.0, F16) == math.inf
    assert nearest(-65520.0, F16) == -math.inf
    assert nearest(2.0**-25, F16) == 0.0
    assert math.copysign(1, nearest(-(2.0**-25), F16)) == -1
    assert nearest(2.0**-25 * 1.01, F16) == 2.0**-24
    assert nearest(1 + 2.0**-8, BF16) == 1  # a tie goes to the even number
    assert nearest(1 + 3 * 2.0**-8, BF16) == 1 + 2.0**-6


def test_a_buffer_has_no_literal() -> None:
    with pytest.raises(TypeError, match="there are no constants of type memref<4xf32>"):
        literal(0, MemRefType((4,), F32))
