"""affine-fold-memref-alias-ops: pictures, next to mlir-opt's, and run before and after."""

import pytest

from affdsl.ir.traverse import walk
from affdsl.passes.cleanup.affine_fold_memref_alias_ops import affine_fold_memref_alias_ops
from tests.oracles import mlir_opt
from tests.passes.compare import all_shown, assert_alike, parsed, shown

HEAD = "func.func @f(%n: index, %m: index, %A: memref<32x64xf32>, %B: memref<?x?xf32>, %x: f32) {"

VIEWS = {
    "a part": ("memref<8x16xf32, strided<[128, ?], offset: ?>>",
               "memref.subview %A[%n, 4] [8, 16] [2, %m] : memref<32x64xf32> to"),
    "a row": ("memref<16xf32, strided<[1], offset: ?>>",
              "memref.subview %A[%n, 4] [1, 16] [1, 1] : memref<32x64xf32> to"),
    "a column": ("memref<8xf32, strided<[64], offset: 3>>",
                 "memref.subview %A[0, 3] [8, 1] [1, 1] : memref<32x64xf32> to"),
    "more dimensions": ("memref<4x8x64xf32>",
                        "memref.expand_shape %A [[0, 1], [2]] output_shape [4, 8, 64] : memref<32x64xf32> into"),
    "fewer dimensions": ("memref<2048xf32>", "memref.collapse_shape %A [[0, 1]] : memref<32x64xf32> into"),
    "sizes forgotten": ("memref<?x?xf32>", "memref.cast %A : memref<32x64xf32> to"),
}  # fmt: skip


def program(name, load="affine.load", store="affine.store"):
    type, view = VIEWS[name]
    rank = type.split(",")[0].count("x")
    index = ", ".join(("%i", "%j", "%i")[:rank])
    return f"""{HEAD}
      %c1 = arith.constant 1 : index
      %s = {view} {type}
      affine.for %i = 0 to 4 {{
        affine.for %j = 0 to 8 {{
          %0 = {load} %s[{index}] : {type}
          %1 = arith.addf %0, %x : f32
          {store} %1, %s[{index}] : {type}
        }}
      }}
      return }}"""


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("accesses", [("affine.load", "affine.store"), ("memref.load", "memref.store")])
def test_accesses_reach_the_buffer(name, accesses):
    before = parsed(program(name, *accesses))
    after = affine_fold_memref_alias_ops(before)
    assert not [op.name for op in walk(after) if op.name in ("memref.subview", "memref.cast") or "_shape" in op.name]
    assert [op.name for op in walk(after) if op.name in accesses] == list(accesses)
    assert assert_alike(before, after, runs=40) > 5


@pytest.mark.parametrize("name", ["a part", "a row", "a column", "sizes forgotten"])
def test_the_same_as_mlir_opt(name):
    clean = ("--canonicalize", "--cse")
    ours = shown(affine_fold_memref_alias_ops(parsed(program(name))), *clean)
    assert ours == mlir_opt(program(name), "--affine-fold-memref-alias-ops", *clean)


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("more dimensions", "[%i * 8 + %j, %i]"),  # mlir-opt: affine.linearize_index disjoint [%i, %j] by (4, 8)
        ("fewer dimensions", "[%i floordiv 64, %i mod 64]"),  # mlir-opt: affine.delinearize_index %i into (32, 64)
    ],
)
def test_groups_of_dimensions_are_written_out(name, index):
    (load,) = [op for op in walk(affine_fold_memref_alias_ops(parsed(program(name)))) if op.name == "affine.load"]
    assert str(load) == f"%0 = affine.load %A{index} : memref<32x64xf32>"


def test_views_of_views():
    text = f"""{HEAD}
      %a = memref.subview %A[2, 4] [16, 30] [1, 2]
        : memref<32x64xf32> to memref<16x30xf32, strided<[64, 2], offset: 132>>
      %b = memref.subview %a[%n, 0] [4, 8] [2, 1]
        : memref<16x30xf32, strided<[64, 2], offset: 132>> to memref<4x8xf32, strided<[128, 2], offset: ?>>
      affine.for %i = 0 to 4 {{
        affine.store %x, %b[%i, %i + 1] : memref<4x8xf32, strided<[128, 2], offset: ?>>
      }}
      return }}"""
    before = parsed(text)
    after = affine_fold_memref_alias_ops(before)
    (store,) = [op for op in walk(after) if op.name == "affine.store"]
    assert str(store) == "affine.store %x, %A[%n + %i * 2 + 2, %i * 2 + 6] : memref<32x64xf32>"
    assert assert_alike(before, after, runs=30) > 5


def test_dynamic_sizes():
    """The outermost size of a group is not needed; an inner one must be a symbol, or static where it divides."""
    text = f"""{HEAD}
      %c0 = arith.constant 0 : index
      %d = memref.dim %B, %c0 : memref<?x?xf32>
      %q = arith.constant 3 : index
      %e = memref.expand_shape %B [[0, 1], [2]] output_shape [3, %q, %d] : memref<?x?xf32> into memref<3x?x?xf32>
      %c = memref.collapse_shape %B [[0, 1]] : memref<?x?xf32> into memref<?xf32>
      affine.for %i = 0 to 3 {{
        affine.store %x, %e[%i, %i, 1] : memref<3x?x?xf32>
        affine.store %x, %c[%i * 9 + 5] : memref<?xf32>
      }}
      return }}"""
    before = parsed(text)
    after = affine_fold_memref_alias_ops(before)
    first, second = (op for op in walk(after) if op.name == "affine.store")
    assert first.memref is before.functions[0].args[3]
    assert "%c[" in str(second)  # mlir-opt makes invalid IR of it
    shown(after)
    assert assert_alike(before, after) > 3


def test_a_stride_that_is_no_symbol():
    """A plain access computes its index by arith; an affine one stays."""
    text = f"""{HEAD}
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      scf.for %k = %c1 to %c3 step %c1 {{
        %s = memref.subview %A[0, 0] [4, 4] [%k, %k] : memref<32x64xf32> to memref<4x4xf32, strided<[?, ?]>>
        memref.store %x, %s[%c1, %k] : memref<4x4xf32, strided<[?, ?]>>
        affine.for %i = 0 to 4 {{ affine.store %x, %s[%i, 0] : memref<4x4xf32, strided<[?, ?]>> }}
      }}
      return }}"""
    before = parsed(text)
    after = affine_fold_memref_alias_ops(before)
    names = [op.name for op in walk(after)]
    assert names.count("memref.subview") == 1
    assert next(str(op) for op in walk(after) if op.name == "affine.store").startswith("affine.store %x, %s[")
    assert next(op for op in walk(after) if op.name == "memref.store").memref is before.functions[0].args[2]
    assert assert_alike(before, after) > 3


def test_other_uses_keep_a_view():
    text = f"""{HEAD}
      %s = memref.cast %A : memref<32x64xf32> to memref<?x?xf32>
      affine.store %x, %s[1, 2] {{tag}} : memref<?x?xf32> loc("a":1:2)
      "test.use"(%s) : (memref<?x?xf32>) -> ()
      %u = memref.cast %A : memref<32x64xf32> to memref<*xf32>
      "test.use"(%u) : (memref<*xf32>) -> ()
      return }}"""
    after = affine_fold_memref_alias_ops(parsed(text))
    assert [op.name for op in walk(after)].count("memref.cast") == 2
    (store,) = [op for op in walk(after) if op.name == "affine.store"]
    assert store.memref is after.functions[0].args[2]
    assert (str(store.location), [name for name, _ in store.attributes]) == ("a:1", ["tag"])
    shown(after)


def test_mlir_opt_takes_what_is_made():
    texts = [program(name, "memref.load", "memref.store") for name in VIEWS]
    all_shown([affine_fold_memref_alias_ops(parsed(text)) for text in texts])
