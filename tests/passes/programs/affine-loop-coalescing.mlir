// RUN: affine-loop-coalescing
// CLEAN: canonicalize,cse
// MEANT: 12 size=40
// FIXED POINT: yes
func.func @f(%m: index, %n: index, %A: memref<40x40xf32>, %x: f32) {
  BODY
  return
}
// ----- numbers
affine.for %i = 0 to 5 { affine.for %j = 0 to 7 { affine.store %x, %A[%i, %j] : memref<40x40xf32> } }
affine.for %i = 0 to 5 { affine.for %k = 0 to 3 { affine.for %j = 0 to 7 {
  affine.store %x, %A[%i + %k, %j] : memref<40x40xf32>
} } }
// ----- an outer size
affine.for %i = 0 to %n { affine.for %j = 0 to 7 { affine.store %x, %A[%i, %j] : memref<40x40xf32> } }
// ----- nests in nests
affine.for %i = 0 to 4 { affine.for %j = 0 to 7 {
  affine.for %k = 0 to 3 { affine.store %x, %A[%i, %j + %k] : memref<40x40xf32> }
  affine.for %k = 0 to 3 { affine.for %l = 0 to 9 {
    affine.store %x, %A[%i + %k, %j + %l] : memref<40x40xf32>
  } }
} }
// ----- loops that do not count from 0 in steps of 1
affine.for %i = 2 to 9 step 3 { affine.for %j = 0 to 7 { affine.store %x, %A[%i, %j] : memref<40x40xf32> } }
affine.for %i = 0 to 9 { affine.for %j = 1 to 7 { affine.store %x, %A[%i, %j] : memref<40x40xf32> } }
affine.for %h = 2 to 9 step 3 { affine.for %i = 0 to 9 { affine.for %j = 0 to 7 {
  affine.store %x, %A[%i + %h, %j] : memref<40x40xf32>
} } }
// ----- more than a loop
affine.for %i = 0 to 6 {
  affine.for %j = 0 to 9 { affine.store %x, %A[%i, %j] : memref<40x40xf32> }
  affine.store %x, %A[%i, 9] : memref<40x40xf32>
}
// ----- carried values
%r = affine.for %i = 0 to 4 iter_args(%a = %x) -> f32 {
  %s = affine.for %j = 0 to 7 iter_args(%b = %a) -> f32 {
    %y = arith.addf %b, %x : f32
    affine.yield %y : f32
  }
  affine.yield %s : f32
}
affine.store %r, %A[0, 0] : memref<40x40xf32>
// ----- sizes
// EXCEPT: mlir-opt
affine.for %i = 0 to %m { affine.for %j = 0 to %n { affine.store %x, %A[%i, %j] : memref<40x40xf32> } }
// ----- triangles
// EXCEPT: mlir-opt
affine.for %h = 0 to 3 { affine.for %i = 0 to affine_map<(d0) -> (d0 + 1)>(%h) { affine.for %j = 0 to 4 {
  affine.store %x, %A[%i + %h, %j] : memref<40x40xf32>
} } }
affine.for %h = 0 to 3 { affine.for %i = 0 to 2 { affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) {
  affine.store %x, %A[%i + %h, %j] : memref<40x40xf32>
} } }
