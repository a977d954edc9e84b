func.func @f(%A: memref<32x32xi64>, %B: memref<32x32xi64>, %n: index) {
BODY
return }
// ----- clipped
// Bounds of several kinds, and loops that never run
// legal: reverse j; unroll j 2
// counterexample: interchange i j
affine.for %i = 0 to %n {
affine.for %j = max affine_map<(d0) -> (0, d0 - 3)>(%i) to min affine_map<(d0)[s0] -> (s0, d0 + 4)>(%i)[%n] {
  %a = affine.load %A[%i, %j + 1] : memref<32x32xi64>
  affine.store %a, %A[%i + 1, %j] : memref<32x32xi64>
} }
// ----- never
// legal: interchange i j; reverse i; unroll_full i
affine.for %i = 5 to 5 { affine.for %j = 0 to %n {
  %a = affine.load %A[%i, %j + 1] : memref<32x32xi64>
  affine.store %a, %A[%i + 1, %j] : memref<32x32xi64>
} }
// ----- once
// legal: reverse i
// counterexample: reverse j
affine.for %i = 5 to 6 { affine.for %j = 0 to %n {
  %a = affine.load %A[%i, %j + 1] : memref<32x32xi64>
  affine.store %a, %A[%i, %j] : memref<32x32xi64>
} }
// ----- seven
// legal: unroll_full j; unroll j 2
// counterexample: tile i j 0,3,2; unroll_jam i 2
affine.for %i = 0 to 7 { affine.for %j = 0 to 5 {
  %a = affine.load %A[%i, %j + 1] : memref<32x32xi64>
  affine.store %a, %A[%i + 1, %j] : memref<32x32xi64>
} }
// ----- chain
// legal: scalar_replace i
affine.for %i = 1 to 9 {
  %a = affine.load %A[%i - 1, 0] : memref<32x32xi64>
  %b = affine.load %B[%i, 0] : memref<32x32xi64>
  %c = arith.muli %a, %b : i64
  affine.store %c, %A[%i, 0] : memref<32x32xi64>
}
// ----- varying
// What is loaded is overwritten by the first iteration
// counterexample: parallelize i; reverse i
// "writes": hoist i
affine.for %i = 0 to %n {
  %a = affine.load %A[0, 0] : memref<32x32xi64>
  %b = arith.muli %a, %a : i64
  affine.store %b, %A[%i, 0] : memref<32x32xi64>
}
// ----- outside
// legal: sink i
// "uses": hoist i
%b = affine.load %B[0, 0] : memref<32x32xi64>
affine.for %i = 0 to %n {
  %c = affine.load %A[%i, 0] : memref<32x32xi64>
  %d = arith.addi %b, %c : i64
  affine.store %d, %A[%i, 0] : memref<32x32xi64>
}
// ----- beside
// legal: make_perfect i j
affine.for %i = 0 to %n {
  %b = affine.load %B[%i, 0] : memref<32x32xi64>
  affine.store %b, %A[%i, 9] : memref<32x32xi64>
  affine.for %j = 0 to 5 {
    %c = affine.load %A[%i, %j + 9] : memref<32x32xi64>
    %d = arith.muli %c, %b : i64
    affine.store %d, %A[%i, %j + 10] : memref<32x32xi64>
  }
  %e = affine.load %A[%i, 14] : memref<32x32xi64>
  affine.store %e, %B[%i, 1] : memref<32x32xi64>
}
// ----- few
// The inner loop never has three iterations
// legal: unroll_jam j 3
// counterexample: unroll_jam j 2
affine.for %i = 0 to %n { affine.for %j = 0 to affine_map<(d0) -> (d0 mod 3)>(%i) {
  affine.for %k = 0 to 3 {
    %a = affine.load %A[%j, %k + 1] : memref<32x32xi64>
    affine.store %a, %A[%j + 1, %k] : memref<32x32xi64>
  } } }
// ----- late
// Only the last two iterations of the outer loop depend on each other
// legal: unroll_jam i 4
// counterexample: unroll_jam i 2; vectorize i 2,0
affine.for %i = 0 to 6 { affine.for %j = 1 to 4 {
  affine.if affine_set<(d0) : (d0 - 4 >= 0)>(%i) {
    %a = affine.load %A[%i, %j + 1] : memref<32x32xi64>
    affine.store %a, %A[%i + 1, %j] : memref<32x32xi64>
  } } }
// ----- straight
// legal: unroll_jam i 2; interchange i j
// "is not known": pipeline @A i j
affine.for %i = 0 to 7 { affine.for %j = 0 to 5 {
  %a = affine.load %A[%i, %j] : memref<32x32xi64>
  affine.store %a, %A[%i + 1, %j] : memref<32x32xi64>
} }
// ----- rectangle
// legal: pipeline @B i j
affine.for %i = 0 to 7 { affine.for %j = 0 to 5 {
  %a = affine.load %B[%i, %j + 1] : memref<32x32xi64>
  affine.store %a, %A[%i + 1, %j] : memref<32x32xi64>
} }
// ----- square
// A negative size has a positive square
// legal: coalesce i j
affine.for %i = 0 to %n { affine.for %j = 0 to %n {
  %a = affine.load %B[%i, %j] : memref<32x32xi64>
  affine.store %a, %A[%j, %i] : memref<32x32xi64>
} }
// ----- counted twice
// Iterations counted by an outer loop that has the only reader of a promoted one
// legal: normalize all 1
affine.for %i = -1 to %n {
affine.for %j = affine_map<(d0) -> (d0)>(%i) to affine_map<(d0) -> (d0 + 3)>(%i) step 4 {
  %a = affine.load %B[%j + 1, 0] : memref<32x32xi64>
  affine.store %a, %A[%j + 2, 1] : memref<32x32xi64>
} }
// ----- modulo
// counterexample: parallelize i; reverse i
affine.for %i = 0 to %n {
  %a = affine.load %A[%i, 0] : memref<32x32xi64>
  affine.store %a, %B[%i mod 3, 0] : memref<32x32xi64>
}
// ----- blocks
// legal: parallelize i
affine.for %i = 0 to %n {
  %a = affine.load %A[%i, 0] : memref<32x32xi64>
  affine.store %a, %B[%i floordiv 2, %i mod 2] : memref<32x32xi64>
}
// ----- scattered
// "%k is not affine": parallelize i
func.func @f(%A: memref<32x32xi64>, %B: memref<32x32xi64>, %I: memref<32xindex>, %n: index) {
affine.for %i = 0 to %n {
  %k = affine.load %I[%i] : memref<32xindex>
  %a = affine.load %A[%i, 0] : memref<32x32xi64>
  memref.store %a, %B[%k, %k] : memref<32x32xi64>
}
return }
// ----- linear
// legal: parallelize i
func.func @f(%A: memref<1024xi64>, %B: memref<32x32xi64>, %n: index, %m: index) {
affine.for %i = 0 to %n { affine.for %j = 0 to %m {
  %a = affine.load %B[%i, %j] : memref<32x32xi64>
  affine.store %a, %A[%i * symbol(%m) + %j] : memref<1024xi64>
} }
return }
// ----- views
// Two names for one buffer
// counterexample: interchange i j; reverse i
%v = memref.subview %A[0, 0] [31, 32] [1, 1]
  : memref<32x32xi64> to memref<31x32xi64, strided<[32, 1]>>
%w = memref.subview %A[1, 0] [31, 32] [1, 1]
  : memref<32x32xi64> to memref<31x32xi64, strided<[32, 1], offset: 32>>
affine.for %i = 0 to %n { affine.for %j = 1 to %n {
  %a = affine.load %v[%i, %j] : memref<31x32xi64, strided<[32, 1]>>
  affine.store %a, %w[%i, %j - 1] : memref<31x32xi64, strided<[32, 1], offset: 32>>
} }
// ----- views apart
// legal: reverse i; parallelize j
%v = memref.subview %A[0, 0] [16, 32] [1, 1]
  : memref<32x32xi64> to memref<16x32xi64, strided<[32, 1]>>
%w = memref.subview %A[16, 0] [16, 32] [1, 1]
  : memref<32x32xi64> to memref<16x32xi64, strided<[32, 1], offset: 512>>
affine.for %i = 0 to 5 { affine.for %j = 1 to 6 {
  %a = affine.load %v[%i, %j] : memref<16x32xi64, strided<[32, 1]>>
  affine.store %a, %w[%i, %j - 1] : memref<16x32xi64, strided<[32, 1], offset: 512>>
} }
// ----- views to n
// legal: reverse i
%v = memref.subview %A[0, 0] [16, 32] [1, 1]
  : memref<32x32xi64> to memref<16x32xi64, strided<[32, 1]>>
%w = memref.subview %A[16, 0] [16, 32] [1, 1]
  : memref<32x32xi64> to memref<16x32xi64, strided<[32, 1], offset: 512>>
affine.for %i = 0 to %n { affine.for %j = 1 to %n {
  %a = affine.load %v[%i, %j] : memref<16x32xi64, strided<[32, 1]>>
  affine.store %a, %w[%i, %j - 1] : memref<16x32xi64, strided<[32, 1], offset: 512>>
} }
// ----- casts
// counterexample: reverse i; parallelize i
%v = memref.cast %A : memref<32x32xi64> to memref<?x32xi64>
affine.for %i = 0 to %n {
  %a = affine.load %A[%i, 0] : memref<32x32xi64>
  affine.store %a, %v[%i + 1, 0] : memref<?x32xi64>
}
// ----- flat
// counterexample: parallelize i
%v = memref.collapse_shape %A [[0, 1]] : memref<32x32xi64> into memref<1024xi64>
affine.for %i = 0 to %n {
  %a = affine.load %A[%i, 1] : memref<32x32xi64>
  affine.store %a, %v[%i * 32 + 33] : memref<1024xi64>
}
// ----- handles
// counterexample: reverse i
// "use each other's values": distribute i
memref.global "private" @g : memref<32xi64> = dense<3>
func.func @f(%A: memref<32x32xi64>, %B: memref<32x32xi64>, %n: index) {
%g = memref.get_global @g : memref<32xi64>
%h = memref.get_global @g : memref<32xi64>
affine.for %i = 0 to %n {
  %a = affine.load %g[%i] : memref<32xi64>
  %b = affine.load %A[%i, 0] : memref<32x32xi64>
  %c = arith.addi %a, %b : i64
  affine.store %c, %h[%i + 1] : memref<32xi64>
  affine.store %a, %B[%i, 0] : memref<32x32xi64>
}
return }
// ----- calls
// counterexample: parallelize i
func.func private @next(%X: memref<32x32xi64>, %i: index) {
  %a = affine.load %X[symbol(%i), 0] : memref<32x32xi64>
  affine.store %a, %X[symbol(%i) + 1, 0] : memref<32x32xi64>
  return
}
func.func @f(%A: memref<32x32xi64>, %B: memref<32x32xi64>, %n: index) {
affine.for %i = 0 to %n {
  func.call @next(%A, %i) : (memref<32x32xi64>, index) -> ()
}
return }
// ----- other calls
// legal: parallelize i
func.func private @square(%i: index) -> i64 {
  %a = arith.index_cast %i : index to i64
  %b = arith.muli %a, %a : i64
  return %b : i64
}
func.func @f(%A: memref<32x32xi64>, %B: memref<32x32xi64>, %n: index) {
affine.for %i = 0 to %n {
  %s = func.call @square(%i) : (index) -> i64
  affine.store %s, %A[%i, 0] : memref<32x32xi64>
}
return }
// ----- vectors
// legal: reverse i
affine.for %i = 0 to %n {
  %a = affine.vector_load %A[%i, 0] : memref<32x32xi64>, vector<4xi64>
  affine.vector_store %a, %A[%i, 3] : memref<32x32xi64>, vector<4xi64>
}
// ----- lanes
// counterexample: reverse i; interchange i j
affine.for %i = 0 to 7 { affine.for %j = 0 to %n {
  %a = affine.vector_load %A[%i, %j] : memref<32x32xi64>, vector<4xi64>
  affine.vector_store %a, %A[%i + 1, %j] : memref<32x32xi64>, vector<4xi64>
} }
// ----- two
// legal: fuse i j 1,0; fuse i j 1,1; fuse i j 3,0
// counterexample: fuse i j 0,0; fuse i j -1,1
// "another block": fuse i k 0,0
affine.for %i = 1 to %n {
  %a = affine.load %A[%i - 1, 0] : memref<32x32xi64>
  affine.store %a, %B[%i, 0] : memref<32x32xi64>
}
affine.for %j = 1 to %n { affine.for %k = 0 to 3 {
  %b = affine.load %B[%j + 1, %k] : memref<32x32xi64>
  affine.store %b, %A[%j, %k + 1] : memref<32x32xi64>
} }
