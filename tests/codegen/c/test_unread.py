"""What an operation reads and its C does not is marked, so that compilers do not warn of it."""

import pytest

from affdsl.codegen.c.emit import emit
from affdsl.mlir.readers import parse
from tests.codegen.c.compare import check_compiles

HEAD = "func.func @f(%a: memref<8xf32>, %c: memref<8xi1>, %n: index, %x: f32, %out: memref<8xi1>) {"
PROGRAMS = {
    "a comparison that always holds": """
        %v = affine.load %a[3] : memref<8xf32>
        %s = arith.addf %v, %x : f32
        %t = arith.cmpf true, %s, %v : f32
        affine.store %t, %out[0] : memref<8xi1>""",
    "a condition that never holds": """
        %k = affine.apply affine_map<()[s] -> (s floordiv 3)>()[%n]
        %t = arith.constant true
        affine.if affine_set<(d) : (d - 5 >= 0, 3 - d >= 0)>(%k) {
          affine.store %t, %out[0] : memref<8xi1>
        }""",
    "a product of one bit": """
        %v = affine.load %c[3] : memref<8xi1>
        %low, %high = arith.mulsi_extended %v, %v : i1
        affine.store %high, %out[0] : memref<8xi1>""",
    "a remainder of one bit": """
        %v = affine.load %c[3] : memref<8xi1>
        %w = affine.load %c[4] : memref<8xi1>
        affine.store %w, %c[3] : memref<8xi1>
        %s = arith.shrsi %v, %w : i1
        %r = arith.remsi %s, %v : i1
        affine.store %r, %out[0] : memref<8xi1>""",
    "a stride of 0": """
        %v = memref.load %c[%n] : memref<8xi1>
        %i = arith.index_cast %v : i1 to index
        %all = memref.reinterpret_cast %c to offset: [0], sizes: [8], strides: [0]
            : memref<8xi1> to memref<8xi1, strided<[0]>>
        %t = memref.load %all[%i] : memref<8xi1, strided<[0]>>
        affine.store %t, %out[0] : memref<8xi1>""",
    "a dimension without elements": """
        %v = memref.load %c[%n] : memref<8xi1>
        %i = arith.index_cast %v : i1 to index
        %none = memref.alloc() : memref<8x0xi1>
        memref.store %v, %none[%i, %n] : memref<8x0xi1>
        memref.dealloc %none : memref<8x0xi1>""",
    "a sum that nobody reads": """
        %r = affine.for %i = 0 to 8 iter_args(%acc = %x) -> (f32) {
          %v = affine.load %a[%i] : memref<8xf32>
          %s = arith.addf %acc, %v : f32
          affine.yield %s : f32
        }""",
}


@pytest.mark.parametrize("body", PROGRAMS.values(), ids=PROGRAMS)
def test_what_is_not_read_is_marked(body, tmp_path):
    check_compiles(parse(f"{HEAD}{body}\n return\n}}"), "f", tmp_path)


def test_a_mask_that_is_only_counted_is_left_out_with_what_only_it_reads(tmp_path):
    module = parse("""func.func @f(%a: memref<16xf32>, %x: f32, %out: memref<1xi8>) {
      %v = affine.vector_load %a[0] : memref<16xf32>, vector<16xf32>
      %w = vector.broadcast %x : f32 to vector<16xf32>
      %mask = arith.cmpf olt, %v, %w : vector<16xf32>
      %ones = arith.extui %mask : vector<16xi1> to vector<16xi8>
      %count = vector.reduction <add>, %ones : vector<16xi8> into i8
      affine.store %count, %out[0] : memref<1xi8>
      return
    }""")
    body = emit(module, "f").source.partition("\nvoid f(")[2]
    assert "count_lt_f32x16(&" in body
    assert "mask" not in body
    assert "(void)" not in body
    check_compiles(module, "f", tmp_path)
