"""MLIR programs with views, vectors and copies of which one access leaves its array, each with a look-alike."""

HEAD = """
func.func @f(%N: index, %A: memref<?xf32> {affdsl.shape = affine_map<()[s0] -> (s0)>},
             %C: memref<8x12xf32>, %S: memref<96xi8>, %x: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
"""

BODIES = """
== a view that begins too late: 4 or 3
  %M = affine.apply affine_map<()[s0] -> (s0 - 2)>()[%N]
  affine.for %i = 1 to %M {
    %v = memref.subview %A[%i] [@] [1] : memref<?xf32> to memref<@xf32, strided<[1], offset: ?>>
    affine.store %x, %v[1] : memref<@xf32, strided<[1], offset: ?>>
  }
== an index beyond its view: 5 or 4
  %v = memref.subview %C[2, 4] [4, 4] [1, 2]
    : memref<8x12xf32> to memref<4x4xf32, strided<[12, 2], offset: 28>>
  affine.for %i = 0 to @ {
    affine.store %x, %v[0, %i] : memref<4x4xf32, strided<[12, 2], offset: 28>>
  }
== a strided view that reaches too far: 9 or 8
  affine.for %i = 0 to @ {
    %v = memref.subview %C[%i, 0] [1, 4] [1, 3]
      : memref<8x12xf32> to memref<1x4xf32, strided<[12, 3], offset: ?>>
  }
== a collapsed shape: 12 or 11
  %v = memref.collapse_shape %C [[0, 1]] : memref<8x12xf32> into memref<96xf32>
  affine.for %i = 0 to 8 {
    affine.store %x, %v[%i * 12 + @] : memref<96xf32>
  }
== an expanded shape: 2 or 1
  %v = memref.expand_shape %C [[0, 1], [2]] output_shape [4, 2, 12] : memref<8x12xf32> into memref<4x2x12xf32>
  affine.for %i = 0 to 4 {
    affine.store %x, %v[%i, @, 0] : memref<4x2x12xf32>
  }
== a reinterpreted buffer: 11 or 10
  %v = memref.reinterpret_cast %C to offset: [0], sizes: [10], strides: [9]
    : memref<8x12xf32> to memref<10xf32, strided<[9]>>
  affine.for %i = 0 to @ {
    affine.store %x, %v[%i] : memref<10xf32, strided<[9]>>
  }
== a cast buffer: 5 or 4
  %v = memref.cast %C : memref<8x12xf32> to memref<?x?xf32>
  affine.for %i = 0 to 8 {
    affine.store %x, %v[%i, %i + @] : memref<?x?xf32>
  }
== a view of bytes: 1 or 0
  %v = memref.view %S[%zero][] : memref<96xi8> to memref<24xf32>
  affine.for %i = 0 to 24 {
    affine.store %x, %v[%i + @] : memref<24xf32>
  }
== a vector beyond the row: 9 or 8
  affine.for %i = 0 to 8 {
    %v = affine.vector_load %C[%i, @] : memref<8x12xf32>, vector<4xf32>
  }
== a vector of two dimensions: 8 or 7
  affine.for %i = 0 to @ {
    %v = affine.vector_load %C[%i, 0] : memref<8x12xf32>, vector<2x12xf32>
  }
== a transfer that promises to be inside: 9 or 8
  affine.for %i = 0 to @ {
    %v = vector.transfer_read %C[%i, %zero], %x {in_bounds = [true]} : memref<8x12xf32>, vector<12xf32>
  }
== a copy between arrays of two sizes: 1 or 0
  %M = affine.apply affine_map<()[s0] -> (s0 + @)>()[%N]
  %T = memref.alloc(%M) : memref<?xf32>
  memref.copy %A, %T : memref<?xf32> to memref<?xf32>
  memref.dealloc %T : memref<?xf32>
== a copy in the background: 13 or 12
  %tag = memref.alloc() : memref<1xi32>
  %T = memref.alloc() : memref<16xf32>
  %n = arith.constant @ : index
  affine.for %i = 0 to 8 {
    affine.dma_start %C[%i, 0], %T[0], %tag[0], %n : memref<8x12xf32>, memref<16xf32>, memref<1xi32>
    affine.dma_wait %tag[0], %n : memref<1xi32>
  }
  memref.dealloc %T : memref<16xf32>
  memref.dealloc %tag : memref<1xi32>
== plain loads of memref: one or zero
  affine.for %i = 0 to %N {
    %j = arith.addi %i, %@ : index
    memref.store %x, %A[%j] : memref<?xf32>
  }
== a digit of an index: 97 or 96
  affine.for %i = 0 to @ {
    %d:2 = affine.delinearize_index %i into (8, 12) : index, index
    memref.store %x, %C[%d#0, %d#1] : memref<8x12xf32>
  }
"""
"""Each with its name, what stands for @ where it leaves an array, and what where it stays inside."""


def _programs() -> dict[str, tuple[str, str]]:
    found = {}
    for block in BODIES.split("== ")[1:]:
        title, _, body = block.partition("\n")
        name, _, parts = title.partition(": ")
        wrong, right = (HEAD + body.replace("@", part) + "  return\n}\n" for part in parts.split(" or "))
        found[name] = wrong, right
    return found


TEXTS = _programs()
"""By name: a module that leaves an array, and one that stays inside."""
