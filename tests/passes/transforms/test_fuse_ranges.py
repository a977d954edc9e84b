"""Ranges of iterations around two others, and functions that are alike."""

import pytest

from affdsl.ir.expr import Affine, Value
from affdsl.ir.types import INDEX
from affdsl.mlir.readers import parse
from affdsl.passes.simplify import Context
from affdsl.passes.transforms.fuse.alike import form_of
from affdsl.passes.transforms.fuse.ranges import Range, hull


def numbers(of: Range) -> range:
    lower, upper = (max(e.constant for e in of.lower), min(e.constant for e in of.upper))
    return range(lower, upper, of.step)


@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize(("first", "second"), [((0, 9), (0, 9)), ((0, 9), (3, 6)), ((3, 9), (0, 6)), ((6, 9), (0, 3))])
def test_the_range_around_two_has_their_numbers_and_no_others(first, second, step):
    one, other = (Range((Affine.of(low),), (Affine.of(high),), step) for low, high in (first, second))
    around = hull(one, other, Value(INDEX, "i"), Context())
    both = {*numbers(one), *numbers(other)}
    assert [*numbers(around)] == [*range(min(both), max(both) + 1, step)]


PROGRAM = """func.func @{symbol}(%A: memref<8x8xf32>, %n: index) {{
  affine.for %{iv} = 0 to %n {{
    %x = affine.load %A[{subscript}] : memref<8x8xf32>
    affine.store %x, %A[0, %{iv}] : memref<8x8xf32>
  }}
  return
}}"""


def form(symbol: str = "f", iv: str = "i", subscript: str = "%i, 0") -> object:
    return form_of(parse(PROGRAM.format(symbol=symbol, iv=iv, subscript=subscript)).functions[0]).key


def test_functions_are_alike_whatever_they_and_their_values_are_called():
    assert form() == form("g") == form("f", "j", "%j, 0") == form(subscript="%i + 0, 1 - 1")
    assert form() != form(subscript="%i, 1")
    assert form() != form(subscript="0, %i")
