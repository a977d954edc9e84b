// What only the generic form of affine operations can say: unused dims, repeated operands, several symbols, any map.
#two = affine_map<(d0, d1)[s0, s1] -> (d0)>
#both = affine_map<(d0, d1) -> (d0, d1)>
func.func @unused_dims(%A: memref<64x64xf32>, %i: index, %j: index, %n: index) -> index {
  %0 = "affine.apply"(%i, %j, %n, %n) <{map = #two}> : (index, index, index, index) -> index
  %1 = "affine.load"(%A, %i, %i) <{map = #both}> : (memref<64x64xf32>, index, index) -> f32
  %2 = "affine.load"(%A, %i, %j, %n, %n) <{map = affine_map<(d0, d1)[s0, s1] -> (d0 + s1, s0)>}> : (memref<64x64xf32>, index, index, index, index) -> f32
  "affine.store"(%1, %A, %j, %i) <{map = affine_map<(d0, d1) -> (d1, d0)>}> : (f32, memref<64x64xf32>, index, index) -> ()
  "affine.store"(%2, %A) <{map = affine_map<() -> (3, 4)>}> : (f32, memref<64x64xf32>) -> ()
  %3 = "affine.min"(%i, %i, %n) <{map = affine_map<(d0, d1)[s0] -> (d0, d1, s0)>}> : (index, index, index) -> index
  %4 = "affine.max"(%i, %j) <{map = affine_map<(d0, d1) -> (d1)>}> {note = "one of two"} : (index, index) -> index
  return %0 : index
}

func.func @loops(%n: index, %x: f32) {
  "affine.for"(%n, %n) <{lowerBoundMap = affine_map<(d0) -> (d0)>, operandSegmentSizes = array<i32: 1, 1, 0>, step = 1 : index, upperBoundMap = affine_map<()[s0] -> (s0)>}> ({
  ^bb0(%i: index):
    "affine.yield"() : () -> ()
  }) : (index, index) -> ()
  "affine.for"(%n, %n, %n) <{lowerBoundMap = affine_map<() -> (2)>, operandSegmentSizes = array<i32: 0, 3, 0>, step = 3 : index, upperBoundMap = affine_map<(d0, d1)[s0] -> (d0, d1 + 4)>}> ({
  ^bb0(%i: index):
    "affine.yield"() : () -> ()
  }) {note = "an unused symbol"} : (index, index, index) -> ()
  %0 = "affine.for"(%x) <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 0, 1>, step = 1 : index, upperBoundMap = affine_map<() -> (8)>}> ({
  ^bb0(%i: index, %acc: f32):
    "affine.yield"(%acc) : (f32) -> ()
  }) : (f32) -> f32
  return
}

func.func @branches(%n: index) {
  "affine.if"(%n, %n) ({
    "affine.yield"() : () -> ()
  }, {
  }) {condition = affine_set<(d0)[s0] : (d0 - s0 >= 0)>} : (index, index) -> ()
  %0 = "affine.if"(%n) ({
    "affine.yield"(%n) : (index) -> ()
  }, {
    "affine.yield"(%n) : (index) -> ()
  }) {condition = affine_set<(d0) : (d0 == 0)>} : (index) -> index
  return
}

func.func @bands(%n: index, %m: index, %x: f32) -> f32 {
  %0 = "affine.parallel"(%n, %n, %m) <{lowerBoundsGroups = dense<1> : tensor<1xi32>, lowerBoundsMap = affine_map<(d0) -> (d0)>, reductions = [0], steps = [2], upperBoundsGroups = dense<2> : tensor<1xi32>, upperBoundsMap = affine_map<(d0)[s0] -> (d0 * 2, s0 + 7)>}> ({
  ^bb0(%i: index):
    "affine.yield"(%x) : (f32) -> ()
  }) : (index, index, index) -> f32
  return %0 : f32
}

func.func @accesses(%A: memref<64x64xf32>, %T: memref<4xi32>, %i: index, %n: index) {
  "affine.prefetch"(%A, %i, %n) <{isDataCache = false, isWrite = true, localityHint = 2 : i32, map = affine_map<(d0)[s0] -> (d0 + s0, d0)>}> : (memref<64x64xf32>, index, index) -> ()
  %0 = "affine.vector_load"(%A, %i, %n) <{map = affine_map<(d0, d1) -> (d0, d1 * 8)>}> : (memref<64x64xf32>, index, index) -> vector<8xf32>
  "affine.vector_store"(%0, %A, %i, %i) <{map = affine_map<(d0, d1) -> (d1, d0)>}> : (vector<8xf32>, memref<64x64xf32>, index, index) -> ()
  "affine.dma_start"(%A, %i, %A, %i, %i, %T, %i, %n) {src_map = affine_map<(d0) -> (d0, 0)>, dst_map = affine_map<(d0, d1) -> (d1, d0)>, tag_map = affine_map<(d0) -> (d0 mod 4)>} : (memref<64x64xf32>, index, memref<64x64xf32>, index, index, memref<4xi32>, index, index) -> ()
  "affine.dma_wait"(%T, %i, %n) {tag_map = affine_map<(d0) -> (d0 mod 4)>} : (memref<4xi32>, index, index) -> ()
  return
}

// Without properties in angle brackets: all attributes in one dictionary.
func.func @dictionary(%i: index, %n: index) -> (index, index, index) {
  %0 = "affine.apply"(%i) {map = affine_map<(d0) -> (d0 * 3)>, note = "kept"} : (index) -> index
  %1 = "affine.linearize_index"(%i, %n, %n) {disjoint, operandSegmentSizes = array<i32: 2, 1>, static_basis = array<i64: 3, -9223372036854775808>} : (index, index, index) -> index
  %2:2 = "affine.delinearize_index"(%i, %n) {static_basis = array<i64: 4, -9223372036854775808>} : (index, index) -> (index, index)
  return %0, %1, %2#1 : index, index, index
}
