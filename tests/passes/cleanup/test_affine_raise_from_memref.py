"""affine-raise-from-memref: next to mlir-opt's, subtraction included, and run before and after."""

from affdsl.ir.traverse import walk
from affdsl.passes.cleanup.affine_raise_from_memref import affine_raise_from_memref
from tests.oracles import mlir_opt
from tests.passes.compare import assert_alike, differences, parsed, shown

HEAD = """func.func @f(%n: index, %m: index, %A: memref<?x?xf32>, %x: f32) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
"""


def test_differences_are_seen_through_too():
    text = f"""{HEAD}
      affine.for %i = 1 to %n {{
        %0 = arith.subi %i, %c1 : index
        %1 = arith.subi %n, %i : index
        %2 = arith.muli %1, %c2 : index
        %v = memref.load %A[%0, %2] : memref<?x?xf32>
      }}
      return }}"""
    before = parsed(text)
    lines = differences(mlir_opt(text, "--affine-raise-from-memref"), shown(affine_raise_from_memref(before)))
    assert lines == [
        "-%3 = memref.load %arg2[%0, %2] : memref<?x?xf32>",
        "+%3 = affine.load %arg2[%arg4 - 1, (-%arg4 + symbol(%arg0)) * 2] : memref<?x?xf32>",
    ]
    assert assert_alike(before, affine_raise_from_memref(before), size=24) > 3


def test_attributes_and_places_stay():
    text = f"""{HEAD}
      memref.store %x, %A[%c1, %n] {{nontemporal = true, tag}} : memref<?x?xf32> loc("a":1:2)
      return }}"""
    (store,) = [op for op in walk(affine_raise_from_memref(parsed(text))) if op.name == "affine.store"]
    assert sorted(name for name, _ in store.attributes) == ["nontemporal", "tag"]
    assert str(store.location) == "a:1"


def test_an_index_that_would_grow_without_end_is_one_value():
    """Sums of products double at each step."""
    steps = [
        f"%{k + 1} = arith.muli %{k}, %t{k} : index\n%t{k + 1} = arith.addi %{k + 1}, %n : index" for k in range(40)
    ]
    text = f"""{HEAD}
      %0 = arith.addi %n, %m : index
      %t0 = arith.addi %0, %c1 : index
      {chr(10).join(steps)}
      memref.store %x, %A[%40, %c1] : memref<?x?xf32>
      return }}"""
    (store,) = [op for op in walk(affine_raise_from_memref(parsed(text))) if op.name == "affine.store"]
    assert len(store.index[0].terms) <= 64
