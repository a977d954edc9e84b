// RUN: affine-loop-normalize{promote-single-iter=false}
// RUN: affine-loop-normalize{promote-single-iter=true}
// CLEAN: canonicalize,cse
// MEANT: 12
// FIXED POINT: yes
func.func @f(%i: index, %n: index, %A: memref<40x40xf32>, %x: f32) {
  BODY
  return
}
// ----- constant bounds
affine.for %j = 3 to 17 step 4 { affine.store %x, %A[%j, 0] : memref<40x40xf32> } {tag}
affine.for %j = 0 to 7 step 3 { affine.store %x, %A[%j, 1] : memref<40x40xf32> }
affine.for %j = 6 to 5 step 8 { affine.store %x, %A[%j, 2] : memref<40x40xf32> }
// ----- bounds known at run time
affine.for %j = %i to %n { affine.store %x, %A[%j, 0] : memref<40x40xf32> }
affine.for %j = %i to %n step 5 { affine.store %x, %A[%j, 1] : memref<40x40xf32> }
// ----- triangles
affine.for %j = 1 to 13 step 2 {
  affine.for %k = affine_map<(d0) -> (d0 + 2)>(%j) to %n step 3 {
    affine.store %x, %A[%j, %k] : memref<40x40xf32>
  }
}
// ----- minima and maxima
affine.for %j = 2 to min affine_map<()[s0, s1] -> (s0, s1 * 2, 8)>()[%n, %i] step 2 {
  affine.store %x, %A[%j, 0] : memref<40x40xf32>
}
affine.for %j = max affine_map<()[s0] -> (s0, 3)>()[%i] to 12 step 2 {
  affine.store %x, %A[%j, 1] : memref<40x40xf32>
}
// ----- nothing to do
affine.for %j = 0 to %n { affine.store %x, %A[%j, 0] : memref<40x40xf32> }
affine.parallel (%j) = (0) to (%n) { affine.store %x, %A[%j, 1] : memref<40x40xf32> }
// ----- carried values
%r:2 = affine.for %j = 1 to 20 step 6 iter_args(%p = %x, %q = %i) -> (f32, index) {
  affine.store %p, %A[%j, 0] : memref<40x40xf32>
  %v = affine.load %A[%j + 1, 2] : memref<40x40xf32>
  affine.yield %v, %j : f32, index
}
affine.store %r#0, %A[39, 39] : memref<40x40xf32>
memref.store %x, %A[%r#1, %r#1] : memref<40x40xf32>
// ----- bands
affine.parallel (%j, %k) = (1, 4) to (10, 12) step (2, 1) { affine.store %x, %A[%j, %k] : memref<40x40xf32> }
affine.parallel (%j, %k) = (%i, 2) to (min(%n, 10), 12) step (2, 3) {
  affine.store %x, %A[%j, %k + 20] : memref<40x40xf32>
}
