// Operations of dialects that have classes, which have none themselves.
func.func @buffers(%A: memref<8xf32>, %B: memref<?xf32>, %n: index, %i: index) -> index {
  %0 = memref.assume_alignment %A, 16 {my.a} : memref<8xf32>
  %1 = memref.memory_space_cast %A {my.a} : memref<8xf32> to memref<8xf32, 1>
  %2 = memref.generic_atomic_rmw %A[%i] : memref<8xf32> {
  ^bb0(%old: f32):
    memref.atomic_yield %old : f32
  }
  %3 = memref.realloc %B(%n) {alignment = 8 : i64} : memref<?xf32> to memref<?xf32>
  %4 = memref.alloc() : memref<4xf32>
  %5 = memref.realloc %4 : memref<4xf32> to memref<8xf32>
  %6 = memref.extract_aligned_pointer_as_index %5 : memref<8xf32> -> index
  return %6 : index
}
// -----
func.func @lanes(%M: memref<4x4xf32>, %v: vector<4xf32>, %s: vector<[4]xf32>) -> index {
  %0 = vector.interleave %v, %v {my.a} : vector<4xf32> -> vector<8xf32>
  %1, %2 = vector.deinterleave %0 {my.a} : vector<8xf32> -> vector<4xf32>
  %3 = vector.type_cast %M {my.a} : memref<4x4xf32> to memref<vector<4x4xf32>>
  %4 = vector.scalable.insert %v, %s[4] {my.a} : vector<4xf32> into vector<[4]xf32>
  %5 = vector.scalable.extract %4[4] {my.a} : vector<4xf32> from vector<[4]xf32>
  %6 = vector.vscale {my.a}
  return %6 : index
}
// -----
func.func @ends(%c: i1) {
  cf.assert %c, "it holds" {my.a}
  ub.unreachable {my.a}
}
// -----
func.func @numbers(%x: f32, %v: vector<4xf32>, %s: f8E8M0FNU, %h: f4E2M1FN, %t: tensor<4xf32>) -> (f32, f32) {
  %0 = arith.scaling_extf %h, %s : f4E2M1FN, f8E8M0FNU to f32
  %1 = arith.scaling_truncf %x, %s : f32, f8E8M0FNU to f8E5M2
  %2 = arith.scaling_truncf %x, %s to_nearest_even fastmath<nnan> : f32, f8E8M0FNU to f8E5M2
  %3 = math.clampf %x to [%0, %x] fastmath<fast> : f32
  %4 = math.clampf %v to [%v, %v] : vector<4xf32>
  %5, %6 = math.sincos %3 : f32
  %7:2 = builtin.unrealized_conversion_cast %t, %x : tensor<4xf32>, f32 to vector<4xf32>, i32
  %8 = builtin.unrealized_conversion_cast to i32
  %9 = memref.alloca_scope -> (f32) {
    memref.alloca_scope.return %5 : f32
  }
  memref.alloca_scope {
    memref.alloca_scope.return
  }
  return %9, %6 : f32, f32
}
// -----
func.func @around(%A: memref<8xf32>, %x: f32) {
  builtin.module {
    func.func @g() { return }
    memref.global @b : memref<2xf32>
  }
  affine.for %i = 0 to 8 { affine.store %x, %A[%i] : memref<8xf32> }
  return
}
