"""Numbers from their bits, as texts write them, are those that NumPy has for these bits."""

import math
import random

import pytest

from affdsl.ir import numeric
from affdsl.ir.types import BF16, F16, F32, F64
from affdsl.mlir.literals import from_bits


@pytest.mark.parametrize("type", [F16, BF16, F32, F64], ids=str)
def test_the_number_of_bits_is_that_of_numpy(type):
    choose, count = random.Random(1), 1 << type.width
    patterns = (
        range(count) if count <= 1 << 16 else [0, 1, count - 1, *(choose.randrange(count) for _ in range(20_000))]
    )
    for bits in patterns:
        number, wanted = from_bits(bits, type), float(numeric.from_bits(bits, type))
        assert number == wanted or (math.isnan(number) and math.isnan(wanted))
        assert math.copysign(1, number) == math.copysign(1, wanted)


@pytest.mark.parametrize("bits", [-1, 1 << 32])
def test_bits_that_a_type_does_not_have_are_refused(bits):
    with pytest.raises(OverflowError):
        from_bits(bits, F32)
