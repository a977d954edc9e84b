"""Relations, tableaus and slices as the texts about MLIR have them, and what is said where they are not certain."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from affdsl.mlir.readers import parse
from affdsl.passes.mlir_opt.relations import Relations

N = af.symbols("N")


@af.kernel
def two_products(
    A: af.f32[8, 128, 384], B: af.f32[8, 384, 512], C: af.f32[8, 128, 512], D: af.f32[8, 512, 64], E: af.f32[8, 128, 64]
):
    with af.for_(8) as b, af.for_(128) as i, af.for_(512) as j, af.for_(384) as k:
        C[b, i, j] += A[b, i, k] * B[b, k, j]
    with af.for_(8) as c, af.for_(128) as m, af.for_(64) as n, af.for_(512) as o:
        E[c, m, n] += C[c, m, o] * D[c, o, n]


def test_the_slices_of_two_products_in_sequence() -> None:
    """As the text on the fusion pass has them, at its first and at its last depth."""
    of = {each.depth: each for each in two_products.relations().slices}
    assert [*of] == [1, 2, 3, 4]
    assert {(each.source, each.sink) for each in of.values()} == {("b", "c")}
    first, last = ([*of[depth].slice.maps()] for depth in (1, 4))
    assert first == [
        ("(d0) -> (d0)", "(d0) -> (d0 + 1)"), ("(d0) -> (0)", "(d0) -> (128)"),
        ("(d0) -> (0)", "(d0) -> (512)"), ("(d0) -> (0)", "(d0) -> (384)"),
    ]  # fmt: skip
    over = "(d0, d1, d2, d3) ->"
    assert last == [
        (f"{over} (d0)", f"{over} (d0 + 1)"), (f"{over} (d1)", f"{over} (d1 + 1)"),
        (f"{over} (d3)", f"{over} (d3 + 1)"), (f"{over} (0)", f"{over} (384)"),
    ]  # fmt: skip


def test_the_relations_between_two_products_in_sequence() -> None:
    relations = two_products.relations()
    (flow,) = [each for each in relations.dependences if not each.dependence.distances]
    shown = flow.composition.mlir().split("\n")
    assert shown[:5] == [
        "Domain: 0, Range: 8, Symbols: 0, Locals: 0", "19 constraints",
        "(Value Value Value Value Value Value Value Value const)",
        "-1 0 0 0 1 0 0 0 0 = 0", "0 -1 0 0 0 1 0 0 0 = 0",
    ]  # fmt: skip
    assert flow.composition.names == ("b", "i", "j", "k", "c'", "m'", "n'", "o'")
    assert str(flow.dependence.map()).startswith("{ [b, i, j, k] -> [c' = b, m' = i, n', o' = j] : ")


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7])
def test_every_pair_of_iterations_is_in_the_relations_of_a_triangle_and_no_other(size: int) -> None:
    @af.kernel
    def solved(L: af.f64[N, N], x: af.f64[N]):
        with af.for_(N) as i, af.for_(i) as j:
            x[i] -= L[i, j] * x[j]

    relations = solved.relations()
    points = [(i, j) for i in range(size) for j in range(i)]
    pairs = {
        (*a, *b): (a, b) for a in points for b in points if a < b and a[0] == b[1]  # x[i] is stored, and loaded as x[j]
    }  # fmt: skip
    (flow,) = [e for e in relations.dependences if "-> [i', j' = i]" in str(e.dependence.map())]
    assert flow.ordered.names == ("i", "j", "i'", "j'", "N")
    box = np.ndindex(*(size + 1,) * 4)
    assert {p for p in box if all(_holds(row, (*p, size)) for row in flow.ordered.systems[0])} == pairs.keys()
    apart = {(b[0] - a[0], b[1] - a[1]) for a, b in pairs.values()}
    near = [(x, y) for x in range(-size, size + 1) for y in range(-size, size + 1)]
    assert {d for d in near if all(_holds(row, (*d, size)) for row in flow.distances.systems[0])} == apart


def _holds(row, point) -> bool:
    total = sum(a * b for a, b in zip(row.numbers, (*point, 1), strict=True))
    return total == 0 if row.equality else total >= 0


def test_what_is_not_certain_says_so() -> None:
    text = """func.func private @f(%A: memref<9xf32>, %B: memref<9xf32>, %n: index, %x: f32) {
      affine.for %i = 0 to 9 { affine.store %x, %A[%i] : memref<9xf32> }
      affine.for %j = 0 to 9 {
        %b = affine.load %B[%j] : memref<9xf32>
        %k = arith.index_cast %n : index to i64
        memref.store %b, %A[%n] : memref<9xf32>
      }
      return
    }
    func.func @g(%A: memref<9xf32>, %n: index, %x: f32) {
      %B = memref.cast %A : memref<9xf32> to memref<?xf32>
      %C = memref.cast %B : memref<?xf32> to memref<9xf32>
      call @f(%A, %C, %n, %x) : (memref<9xf32>, memref<9xf32>, index, f32) -> ()
      return
    }"""
    module = parse(text)
    found = Relations(module.functions[0], module)
    said = [str(each) for each in found.dependences]
    assert any("if any: A and B may be one buffer\nA and B are two buffers: which of their elements" in s for s in said)
    assert found.slices == ()
