"""Slices have the iterations that enumeration finds, and the maps of the reference text."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from random import Random

import pytest

from affdsl.ir.dialects import affine
from affdsl.mlir.readers import parse
from affdsl.passes.analysis.access import Accesses
from affdsl.passes.analysis.polyhedral import UnknownError
from affdsl.passes.transforms.fuse.slices import Slice, slice_of

CHAIN = """func.func @main(%A: memref<8x128x384xf32>, %B: memref<8x384x512xf32>, %C: memref<8x128x512xf32>) {
  affine.for %b = 0 to 8 { affine.for %i = 0 to 128 { affine.for %j = 0 to 512 { affine.for %k = 0 to 384 {
    %0 = affine.load %A[%b, %i, %k] : memref<8x128x384xf32>
    affine.store %0, %C[%b, %i, %j] : memref<8x128x512xf32>
  } } } }
  affine.for %b = 0 to 8 { affine.for %i = 0 to 128 { affine.for %j = 0 to 64 { affine.for %k = 0 to 512 {
    %0 = affine.load %C[%b, %i, %k] : memref<8x128x512xf32>
    affine.store %0, %B[%b, %i, %j] : memref<8x384x512xf32>
  } } } }
  return
}"""


def slice_at(text: str, depth: int) -> Slice:
    """The slice of the first nest of a function at a depth of the second one."""
    function = parse(text).functions[0]
    source, sink = (op for op in function.body if isinstance(op, affine.For))
    accesses = Accesses(function)
    stores = [a for a in accesses.inside(source) if a.kind == "write"]
    reads = [a for a in accesses.inside(sink) if a.kind == "read"]
    links = [(store, read) for store in stores for read in reads if store.buffer is read.buffer]
    path = [function, *links[0][1].domain.loops[:depth]]
    return slice_of(accesses, source, links, depth, [*path, path[-1].body[0]])


def test_the_maps_of_the_reference_text():
    assert str(slice_at(CHAIN, 1)) == (
        "lbs[0] : (d0) -> (d0)\nubs[0] : (d0) -> (d0 + 1)\nlbs[1] : (d0) -> (0)\nubs[1] : (d0) -> (128)\n"
        "lbs[2] : (d0) -> (0)\nubs[2] : (d0) -> (512)\nlbs[3] : (d0) -> (0)\nubs[3] : (d0) -> (384)"
    )
    assert str(slice_at(CHAIN, 4)) == (
        "lbs[0] : (d0, d1, d2, d3) -> (d0)\nubs[0] : (d0, d1, d2, d3) -> (d0 + 1)\n"
        "lbs[1] : (d0, d1, d2, d3) -> (d1)\nubs[1] : (d0, d1, d2, d3) -> (d1 + 1)\n"
        "lbs[2] : (d0, d1, d2, d3) -> (d3)\nubs[2] : (d0, d1, d2, d3) -> (d3 + 1)\n"
        "lbs[3] : (d0, d1, d2, d3) -> (0)\nubs[3] : (d0, d1, d2, d3) -> (384)"
    )


def test_a_triangle_keeps_its_own_bounds():
    text = """func.func @f(%T: memref<?x?xf32>, %O: memref<?x?xf32>, %n: index, %x: f32) {
      affine.for %i = 0 to %n { affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) {
        affine.store %x, %T[%i, %j] : memref<?x?xf32> } }
      affine.for %k = 0 to %n { affine.for %l = 0 to affine_map<(d0) -> (d0 + 1)>(%k) {
        %a = affine.load %T[%k, %l] : memref<?x?xf32>
        affine.store %a, %O[%k, %l] : memref<?x?xf32> } }
      return }"""
    assert str(slice_at(text, 1)) == (
        "lbs[0] : (d0) -> (d0)\nubs[0] : (d0) -> (d0 + 1)\nlbs[1] : (d0) -> (0)\nubs[1] : (d0) -> (d0 + 1)"
    )


def test_a_chain_of_stencils_stays_within_the_producer():
    text = """func.func @f(%T: memref<?xf32>, %O: memref<?xf32>, %n: index, %x: f32) {
      affine.for %i = 1 to affine_map<()[n] -> (n - 1)>()[%n] { affine.store %x, %T[%i] : memref<?xf32> }
      affine.for %k = 1 to affine_map<()[n] -> (n - 1)>()[%n] {
        %a = affine.load %T[%k - 1] : memref<?xf32>
        %b = affine.load %T[%k + 1] : memref<?xf32>
        affine.store %a, %O[%k] : memref<?xf32> }
      return }"""
    found = slice_at(text, 1)
    assert str(found) == "lbs[0] : (d0) -> (d0 - 1, 1)\nubs[0] : (d0)[s0] -> (d0 + 2, s0 - 1)"
    assert not found.is_box, "the iteration in the middle is not needed"


def test_a_read_at_data_is_not_known():
    text = """func.func @f(%T: memref<9xf32>, %I: memref<9xindex>, %O: memref<9xf32>, %x: f32) {
      affine.for %i = 0 to 9 { affine.store %x, %T[%i] : memref<9xf32> }
      affine.for %k = 0 to 9 {
        %j = affine.load %I[%k] : memref<9xindex>
        %a = memref.load %T[%j] : memref<9xf32>
        affine.store %a, %O[%k] : memref<9xf32> }
      return }"""
    with pytest.raises(UnknownError, match="%j is not affine"):
        slice_at(text, 1)


def subscript(random: Random, ivs: str) -> tuple[str, Callable[[int, int], int]]:
    """An expression over two loops, at least 0: as MLIR has it, and its number."""
    (a, b), c, divisor = [random.choice((0, 1, 1, 2)) for _ in ivs], random.randrange(4), random.choice((1, 1, 1, 2))
    text = f"(%{ivs[0]} * {a} + %{ivs[1]} * {b} + {c}) floordiv {divisor}"
    return text, lambda x, y: (a * x + b * y + c) // divisor


@pytest.mark.parametrize("seed", range(60))
def test_as_by_enumeration(seed):
    random = Random(seed)
    (store, stores), (load, loads) = subscript(random, "ij"), subscript(random, "km")
    step = random.choice((1, 1, 2))
    triangle = random.random() < 0.3
    upper = ("affine_map<(d0) -> (d0 + 1)>(%i)", lambda i: i + 1) if triangle else ("5", lambda i: 5)
    text = f"""func.func @f(%T: memref<40xf32>, %O: memref<40xf32>, %x: f32) {{
      affine.for %i = 1 to 7 step {step} {{ affine.for %j = 0 to {upper[0]} {{
        affine.store %x, %T[{store}] : memref<40xf32> }} }}
      affine.for %k = 0 to 4 {{ affine.for %m = 0 to 4 {{
        %a = affine.load %T[{load}] : memref<40xf32>
        affine.store %a, %O[%k] : memref<40xf32> }} }}
      return }}"""
    producer = [(i, j) for i in range(1, 7, step) for j in range(upper[1](i))]
    for depth in (1, 2):
        found = slice_at(text, depth)
        for k, m in product(range(4), range(4 if depth == 2 else 1)):
            inner = [m] if depth == 2 else range(4)
            read = {loads(k, each) for each in inner}
            needed = {(i, j) for i, j in producer if stores(i, j) in read}
            runs = set(iterations(found, dict(zip(found.ivs, (k, m), strict=False))))
            assert needed <= runs <= set(producer)
            if found.is_box and needed and not triangle:
                sides = [range(min(s), max(s) + 1) for s in zip(*needed, strict=True)]
                assert runs == {p for p in producer if all(x in s for x, s in zip(p, sides, strict=True))}


def iterations(found: Slice, env: dict) -> list[tuple[int, int]]:
    """The iterations of both loops of a slice."""
    outer, inner = found.loops
    points = []
    for i in numbers(outer, env):
        points += [(i, j) for j in numbers(inner, {**env, outer.loop.iv: i})]
    return points


def numbers(each, env) -> range:
    low = max(e.evaluate(env) for e in each.lower)
    return range(low, min(e.evaluate(env) for e in each.upper), each.loop.step)


def test_a_range_in_steps_begins_where_the_loop_has_an_iteration():
    text = """func.func @f(%A: memref<64xf32>, %B: memref<64xf32>) {{
      affine.for %i = {lower} to 64 step 4 {{
        %0 = affine.load %B[%i] : memref<64xf32>
        affine.store %0, %A[%i] : memref<64xf32>
      }}
      affine.for %j = 2 to 60 {{
        %0 = affine.load %A[%j + 1] : memref<64xf32>
        affine.store %0, %B[%j] : memref<64xf32>
      }}
      return
    }}"""
    found = str(slice_at(text.format(lower="1"), 1))
    assert found == "lbs[0] : (d0) -> ((d0 ceildiv 4) * 4 + 1)\nubs[0] : (d0) -> (d0 + 2)"
    bounds = "max affine_map<() -> (1, 3)>()"
    with pytest.raises(UnknownError, match="a loop with a step begins at the largest of several bounds"):
        slice_at(text.format(lower=bounds), 1)
    assert str(slice_at(text.format(lower=bounds).replace("step 4 ", ""), 1))
