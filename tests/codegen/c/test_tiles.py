"""Tiles in registers as compilers translate them: the sums stay in registers."""

import re

import pytest

import affdsl as af
from examples.packed_matmul import matmul
from tests.effort import some
from tests.shipping.machine import X86

SUMS = 12
"""The vectors that a tile of 6 x 16 sums has with AVX2."""


@X86
@pytest.mark.parametrize("threads", some([2, 1], 1))
def test_no_sum_of_a_tile_lies_on_the_stack(threads: int) -> None:
    """With threads gcc 12 kept constants of the masks of edges in two registers, and a sum in memory: half as fast."""
    shown = matmul.optimize("avx2", threads=threads, contract=True).asm(target="avx2")
    assert "__builtin_expect(" in shown.c
    loops = [[line.text for line in loop.lines] for loop in shown.loops]
    tiles = [loop for loop in loops if sum("vfmadd" in text for text in loop) == SUMS]
    assert tiles, "no loop adds to all sums of a tile"
    sums = [text for loop in tiles for text in loop if "mm" in text]  # what the loop counts by may be anywhere
    assert not [text for text in sums if re.search(r"\(%?r[sb]p|\[r[sb]p", text)]


def test_choices_between_other_things_are_as_likely_as_they_are() -> None:
    N = af.symbols("N")

    @af.kernel
    def halves(x: af.f64[N]):
        with af.for_(N) as i:
            with af.if_(i < 8):
                x[i] = 0.0
            with af.else_():
                x[i] *= 0.5

    assert "__builtin_expect(" not in halves.c()
