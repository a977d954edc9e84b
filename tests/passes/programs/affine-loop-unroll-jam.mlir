// RUN: affine-loop-unroll-jam{unroll-jam-factor=1}
// RUN: affine-loop-unroll-jam{unroll-jam-factor=2}
// RUN: affine-loop-unroll-jam{unroll-jam-factor=4}
// RUN: affine-loop-unroll-jam{unroll-jam-factor=5}
// MEANT: 12
func.func @f(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %n: index, %x: f32) {
  BODY
  return
}
// ----- statements around
affine.for %i = 0 to 50 {
  %y = affine.load %A[%i, 0] : memref<64x64xf32>
  affine.for %j = 3 to 47 step 3 {
    %z = affine.load %A[%i, %j] : memref<64x64xf32>
    affine.store %z, %B[%i, %j] : memref<64x64xf32>
  }
  affine.store %y, %B[%i, 0] : memref<64x64xf32>
}
// ----- a sum inside
affine.for %i = 0 to 40 {
  %s = affine.for %j = 0 to %n iter_args(%t = %x) -> f32 {
    %y = affine.load %A[%i, %j] : memref<64x64xf32>
    %u = arith.addf %t, %y : f32
    affine.yield %u : f32
  }
  affine.store %s, %B[%i, 0] : memref<64x64xf32>
}
// ----- two loops, and one in one
affine.for %i = 0 to 20 step 2 {
  affine.for %j = 0 to 9 {
    affine.store %x, %B[%i, %j] : memref<64x64xf32>
    affine.for %k = 0 to 2 { affine.store %x, %A[%i, %j + %k + 9] : memref<64x64xf32> }
    affine.store %x, %A[%i, %j] : memref<64x64xf32>
  }
  affine.for %j = 0 to %n { affine.store %x, %B[%i + 1, %j] : memref<64x64xf32> }
}
// ----- as many as are jammed
affine.for %i = 3 to 7 { affine.for %j = 0 to 9 { affine.store %x, %A[%i, %j] : memref<64x64xf32> } }
// ----- one more than are jammed
affine.for %i = 3 to 8 { affine.for %j = 0 to 9 { affine.store %x, %A[%i, %j] : memref<64x64xf32> } }
// ----- a last step that goes beyond the end
affine.for %i = 0 to 23 step 2 { affine.for %j = 0 to 9 { affine.store %x, %A[%i, %j] : memref<64x64xf32> } }
// ----- fewer than are jammed
affine.for %i = 0 to 1 { affine.for %j = 0 to 9 { affine.store %x, %A[%i, %j] : memref<64x64xf32> } }
// ----- several upper bounds
affine.for %i = %n to min affine_map<()[s] -> (s + 20, 64)>()[%n] {
  affine.store %x, %B[%i, 0] : memref<64x64xf32>
}
// ----- a triangle
affine.for %i = 0 to 8 {
  affine.for %j = 0 to affine_map<(d) -> (d)>(%i) { affine.store %x, %B[%i, %j] : memref<64x64xf32> }
}
// ----- not at the start
%y = arith.addf %x, %x : f32
affine.for %i = 0 to 8 { affine.for %j = 0 to 9 { affine.store %y, %A[%i, %j] : memref<64x64xf32> } }
// ----- a condition
affine.for %i = 0 to 8 {
  affine.if affine_set<(d) : (d - 3 >= 0)>(%i) { affine.store %x, %A[%i, 3] : memref<64x64xf32> }
  affine.for %j = 0 to 9 { affine.store %x, %A[%i, %j + 10] : memref<64x64xf32> }
}
// ----- an empty body
affine.for %i = 0 to 8 { }
