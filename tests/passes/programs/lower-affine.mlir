// RUN: lower-affine
// WITHOUT: overflow<nsw>
func.func private @use(index)
func.func @f(%i: index, %n: index, %A: memref<16x?xf32>, %x: f32) {
  BODY
  return
}
// ----- divisions
%a = affine.apply affine_map<(d0)[s0] -> (d0 floordiv 8 + s0 * 3)>(%i)[%n]
%b = affine.apply affine_map<(d0) -> (d0 mod 7)>(%i)
%c = affine.apply affine_map<(d0)[s0] -> (d0 mod s0 + d0 floordiv s0)>(%i)[%n]
call @use(%a) : (index) -> () call @use(%b) : (index) -> () call @use(%c) : (index) -> ()
// ----- a constant and a value
%a = affine.apply affine_map<() -> (5)>()
%b = affine.apply affine_map<(d0) -> (d0)>(%i)
call @use(%a) : (index) -> () call @use(%b) : (index) -> ()
// ----- minimum and maximum
%a = affine.min affine_map<(d0)[s0] -> (d0, s0, 4)>(%i)[%n]
%b = affine.max affine_map<(d0)[s0] -> (d0 floordiv 2, s0)>(%i)[%n]
call @use(%a) : (index) -> () call @use(%b) : (index) -> ()
// ----- loops
affine.for %j = max affine_map<(d0)[s0] -> (d0, s0)>(%i)[%n] to min affine_map<(d0) -> (d0, 8)>(%i) step 2 {
  affine.store %x, %A[%j, %j * 2 + symbol(%n) - 1] : memref<16x?xf32>
}
affine.for %j = 0 to 8 {
  affine.for %k = affine_map<(d0) -> (d0 + 2)>(%j) to 12 {
    %v = affine.load %A[%j, %k - %j] : memref<16x?xf32>
  }
}
// ----- carried values
%r:2 = affine.for %j = 0 to %n iter_args(%p = %x, %q = %i) -> (f32, index) {
  %v = affine.load %A[%j, 0] : memref<16x?xf32>
  affine.yield %v, %j : f32, index
}
call @use(%r#1) : (index) -> ()
// ----- conditions
affine.for %j = 0 to 8 {
  affine.if affine_set<(d0)[s0] : (d0 - 3 >= 0, d0 mod 2 == 0, s0 >= 0)>(%j)[%n] {
    affine.store %x, %A[%j, 0] : memref<16x?xf32>
  } else {
    affine.store %x, %A[0, %j] : memref<16x?xf32>
  }
  affine.if affine_set<(d0) : (7 - d0 * 2 >= 0)>(%j) { affine.store %x, %A[1, 1] : memref<16x?xf32> }
}
%r = affine.if affine_set<()[s0] : (s0 == 0)>()[%n] -> index {
  affine.yield %i : index
} else {
  affine.yield %n : index
}
call @use(%r) : (index) -> ()
// ----- parallel loops
%s:2 = affine.parallel (%j, %k) = (0, max(%i, 4)) to (min(%n, 10), 12) step (1, 4)
    reduce ("mulf", "maximumf") -> (f32, f32) {
  %v = affine.load %A[%j, %k] : memref<16x?xf32>
  affine.yield %v, %v : f32, f32
}
affine.parallel (%j, %k) = (0, 0) to (4, %n) { affine.store %s#0, %A[%j, %k] : memref<16x?xf32> }
// ----- vectors and transfers
%t = memref.alloc() : memref<4xi32>
%B = memref.alloc(%n) : memref<16x?xf32, 2>
affine.for %j = 0 to 8 {
  %v = affine.vector_load %A[%j + 1, symbol(%n) * 2] : memref<16x?xf32>, vector<4xf32>
  affine.vector_store %v, %A[%j, 0] : memref<16x?xf32>, vector<4xf32>
  affine.prefetch %A[%j, %j + 5], read, locality<2>, data : memref<16x?xf32>
  affine.dma_start %A[%j + 1, 0], %B[0, %j], %t[1], %n : memref<16x?xf32>, memref<16x?xf32, 2>, memref<4xi32>
  affine.dma_start %A[%j, 0], %B[0, %j], %t[%j mod 4], %n, %i, %n
    : memref<16x?xf32>, memref<16x?xf32, 2>, memref<4xi32>
  affine.dma_wait %t[1], %n : memref<4xi32>
}
// ----- digits
%a:3 = affine.delinearize_index %i into (%n, 4, 5) : index, index, index
%b:2 = affine.delinearize_index %i into (4) : index, index
%c = affine.linearize_index disjoint [%a#0, %a#1, %a#2] by (%n, 4, 5) : index
%d = affine.linearize_index [%a#0, %a#1, %a#2] by (4, 5) : index
call @use(%b#0) : (index) -> () call @use(%b#1) : (index) -> ()
call @use(%c) : (index) -> () call @use(%d) : (index) -> ()
// ----- unknown operations
affine.for %j = 0 to 8 {
  "test.region"(%j) ({
    affine.store %x, %A[0, 2] : memref<16x?xf32>
    "test.end"() : () -> ()
  }) {some = 1 : i64} : (index) -> ()
}
