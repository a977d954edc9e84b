"""Values of index arithmetic in domains: each exact where its operation is known, whatever its operands and axes."""

import pytest

from affdsl.mlir.readers import parse
from affdsl.passes.analysis.access import accesses
from affdsl.passes.analysis.dependence import Dependences


def dependences(body):
    """The dependences where A[%v] is written and A[%i] is read in iterations 0 to 89, and why they are not certain."""
    function = parse(f"""
    func.func @f(%A: memref<100xf32>, %B: memref<8x?xf32>, %x: f32) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      affine.for %i = 0 to 90 {{
        {body}
        affine.store %x, %A[%v] : memref<100xf32>
        %y = memref.load %A[%i] : memref<100xf32>
      }}
      return
    }}""").functions[0]
    return [(f"{d.kind} {d.depth} {str(d).partition(': ')[2]}", d.unknown) for d in Dependences(function).all()]


THREE_LATER = [("flow 1 [3, 3]", ())]


@pytest.mark.parametrize(
    "body",
    [
        "%v = arith.addi %i, %c3 : index",
        "%w = arith.subi %i, %c3 : index %v = affine.apply affine_map<(d0) -> (d0 + 6)>(%w)",
        "%w = arith.muli %i, %c1 : index %v = arith.addi %w, %c3 : index",
        "%v = affine.linearize_index disjoint [%i, %c3] by (100, 1) : index",
        "%w:2 = affine.delinearize_index %i into (200, 1) : index, index %v = arith.addi %w#0, %c3 : index",
        "%w = memref.dim %B, %c0 : memref<8x?xf32> %v = affine.apply affine_map<(d0)[s0] -> (d0 + s0 - 5)>(%i)[%w]",
    ],
)
def test_arithmetic_on_indices_is_followed(body):
    assert dependences(body) == THREE_LATER


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("minsi", [("output 1 [1, 86]", ()), ("flow 2 [0, 0]", ()), ("anti 1 [1, 86]", ())]),
        ("maxsi", [("output 1 [1, 3]", ()), ("flow 1 [1, 3]", ()), ("flow 2 [0, 0]", ())]),
    ],
)
def test_the_smaller_and_the_larger_of_two_indices_are_exact(kind, found):
    """A[max(i, 3)] is A[3] in the first four iterations, so iteration 3 reads what 0, 1 and 2 wrote."""
    assert dependences(f"%v = arith.{kind} %i, %c3 : index") == found


@pytest.mark.parametrize(("kind", "type"), [("minsi", "i64"), ("maxsi", "i64"), ("addi", "i64")])
def test_arithmetic_on_elements_is_not_taken_for_that_on_indices(kind, type):
    """The value of an index from data may be any."""
    found = dependences(f"""
        %w = arith.index_cast %i : index to {type}
        %u = arith.{kind} %w, %w : {type}
        %v = arith.index_cast %u : {type} to index""")
    assert ("anti 1 [1, 89]", ("%v is not affine",)) in found
    assert all(unknown == ("%v is not affine",) for _, unknown in found)


@pytest.mark.parametrize(("axis", "told"), [("%c0", "[1, 7]"), ("%c1", "[1, +inf]")])
def test_the_size_along_each_axis_is_that_of_the_array(axis, told):
    """An array of 8 rows and any number of columns: so many iterations write one element."""
    function = parse(f"""
    func.func @f(%B: memref<8x?xf32>, %x: f32) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = memref.dim %B, {axis} : memref<8x?xf32>
      affine.for %i = 0 to %n {{ affine.store %x, %B[0, 7] : memref<8x?xf32> }}
      return
    }}""").functions[0]
    assert [(str(d), d.unknown) for d in Dependences(function).all()] == [
        (f"output dependence of B at depth 1: {told}", ())
    ]


@pytest.mark.parametrize("axis", [-1, 2])
def test_an_axis_that_an_array_does_not_have_has_no_known_size(axis):
    found = dependences(f"""
        %axis = arith.constant {axis} : index
        %w = memref.dim %B, %axis : memref<8x?xf32>
        %v = arith.addi %w, %i : index""")
    assert {unknown for _, unknown in found} == {("%w is not affine",)}


@pytest.mark.parametrize(
    "line",
    [
        "%v{k} = arith.addi %v{j}, %c1 : index",
        "%v{k} = affine.apply affine_map<(d0) -> (d0 + 1)>(%v{j})",
        "%v{k} = arith.minsi %v{j}, %c1 : index",
    ],
)
def test_chains_that_are_longer_than_pythons_stack(line):
    lines = "\n".join(line.format(k=k, j=k - 1) for k in range(1, 1500))
    module = parse(f"""func.func @f(%A: memref<9999xf32>, %x: f32) {{
        %c1 = arith.constant 1 : index
        affine.for %v0 = 0 to 9 {{
          {lines}
          memref.store %x, %A[%v1499] : memref<9999xf32>
        }}
        return
    }}""")
    (store,) = accesses(module.functions[0], module)
    if "minsi" not in line:
        assert str(store.map()) == "{ [v0] -> [m0 = 1499 + v0] : 0 <= v0 <= 8 }"
