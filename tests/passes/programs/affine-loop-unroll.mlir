// RUN: affine-loop-unroll
// RUN: affine-loop-unroll{unroll-factor=3}
// RUN: affine-loop-unroll{unroll-factor=2 unroll-num-reps=2}
// RUN: affine-loop-unroll{unroll-up-to-factor}
// RUN: affine-loop-unroll{cleanup-unroll}
// RUN: affine-loop-unroll{unroll-factor=-1}
// RUN: affine-loop-unroll{unroll-factor=-1 unroll-full-threshold=5}
// RUN: affine-loop-unroll{unroll-factor=1}
// MEANT: 12
func.func @f(%i: index, %n: index, %A: memref<40xf32>, %x: f32) {
  BODY
  return
}
// ----- constant bounds
affine.for %j = 0 to 10 { affine.store %x, %A[%j] : memref<40xf32> }
affine.for %j = 0 to 3 { affine.store %x, %A[%j + 1] : memref<40xf32> }
affine.for %j = -3 to 13 step 2 { affine.store %x, %A[%j + 3] : memref<40xf32> } {tag}
affine.for %j = 4 to 5 { affine.store %x, %A[%j + 3] : memref<40xf32> }
// ----- no iterations
// EXCEPT: affine-loop-unroll{unroll-up-to-factor}
affine.for %j = 7 to 5 { affine.store %x, %A[%j + 3] : memref<40xf32> }
// ----- trip counts that are known
affine.for %k = 0 to 5 {
  affine.for %j = affine_map<(d0) -> (d0)>(%k) to affine_map<(d0) -> (d0 + 9)>(%k) {
    affine.store %x, %A[%j] : memref<40xf32>
  }
}
affine.for %j = affine_map<(d0) -> (d0)>(%i) to affine_map<()[s0] -> (s0 + 17)>()[%i] step 2 { affine.store %x, %A[%j] : memref<40xf32> }
// ----- trip counts with a divisor
// EXCEPT: affine-loop-unroll{unroll-factor=3}
affine.for %j = 0 to affine_map<()[s0] -> (s0 * 4)>()[%n] { affine.store %x, %A[%j] : memref<40xf32> }
affine.for %j = %i to min affine_map<()[s0, s1] -> (s0 + 8, s0 + s1 * 4)>()[%i, %n] {
  affine.store %x, %A[%j] : memref<40xf32>
}
// ----- minima and maxima
affine.for %j = 0 to min affine_map<()[s0, s1] -> (s0, s1 + 3)>()[%n, %i] {
  affine.store %x, %A[%j] : memref<40xf32>
}
affine.for %j = max affine_map<()[s0] -> (0, s0)>()[%i] to 11 { affine.store %x, %A[%j] : memref<40xf32> }
// ----- carried values
%r = affine.for %j = 0 to 10 iter_args(%p = %x) -> (f32) {
  %v = affine.load %A[%j] : memref<40xf32>
  %w = arith.addf %p, %v : f32
  affine.yield %w : f32
}
%s = affine.for %j = 0 to 10 iter_args(%p = %r) -> (f32) { affine.yield %x : f32 }
affine.store %s, %A[0] : memref<40xf32>
// ----- loops in loops
affine.for %j = 0 to 4 {
  affine.for %k = 0 to 2 { affine.store %x, %A[%j + %k] : memref<40xf32> }
  affine.for %k = 0 to 9 {
    affine.if affine_set<(d0) : (d0 - 3 >= 0)>(%k) { affine.store %x, %A[%j + %k] : memref<40xf32> }
  }
}
// ----- smallest of numbers
// EXCEPT: mlir-opt
affine.for %j = 1 to min affine_map<() -> (3, -1)>() { affine.store %x, %A[%j + 3] : memref<40xf32> }
affine.for %j = 0 to min affine_map<() -> (9, 6)>() { affine.store %x, %A[%j + 9] : memref<40xf32> }
affine.for %j = 0 to min affine_map<() -> (5, 8)>() { affine.store %x, %A[%j + 20] : memref<40xf32> }
// ----- first iterations at numbers, values and expressions, and operands that maps do not need
affine.for %k = 0 to 5 {
  affine.for %j = 2 to 4 { affine.store %x, %A[%j] : memref<40xf32> }
  affine.for %j = affine_map<(d0) -> (d0 + 3)>(%k) to affine_map<(d0) -> (d0 + 7)>(%k) { affine.store %x, %A[%j] : memref<40xf32> }
  affine.for %j = 3 to 7 step 2 {
    %l = affine.apply affine_map<(d0, d1) -> (d0 + 1)>(%k, %j)
    affine.store %x, %A[%l] : memref<40xf32>
  }
}
