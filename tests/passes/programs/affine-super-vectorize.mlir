// RUN: affine-super-vectorize{virtual-vector-size=4}
// RUN: affine-super-vectorize{virtual-vector-size=8 test-fastest-varying=0}
// RUN: affine-super-vectorize{virtual-vector-size=4 vectorize-reductions}
// RUN: affine-super-vectorize{virtual-vector-size=4,8}
// RUN: affine-super-vectorize{virtual-vector-size=2,4 test-fastest-varying=1,0}
// MEANT: 12
func.func @f(%A: memref<16x24xf32>, %B: memref<16x24xf32>, %C: memref<48xi32>, %D: memref<24xf32>, %x: f32, %n: index) {
  BODY
  return
}
// ----- copies and sums of rows
affine.for %i = 0 to 16 {
  affine.for %j = 0 to 24 {
    %a = affine.load %A[%i, %j] : memref<16x24xf32>
    %b = arith.addf %a, %x : f32
    affine.store %b, %B[%i, %j] : memref<16x24xf32>
  }
}
// ----- constants and counters
%c3 = arith.constant 3 : i32
%f = arith.constant 2.5 : f32
affine.for %i = 0 to 48 {
  %0 = affine.load %C[%i] : memref<48xi32>
  %1 = arith.muli %0, %c3 : i32
  affine.store %1, %C[%i] : memref<48xi32>
}
affine.for %i = 0 to 16 {
  affine.for %j = 0 to 24 {
    affine.store %f, %A[%i, %j] : memref<16x24xf32>
  }
}
// ----- what a loop around counts
affine.for %i = 0 to 3 {
  affine.for %j = 0 to 16 {
    %k = arith.index_cast %i : index to i32
    affine.store %k, %C[%i * 16 + %j] : memref<48xi32>
  }
}
// ----- a loop inside that combines
%f = arith.constant 2.5 : f32
affine.for %j = 0 to 24 {
  %s = affine.for %i = 0 to 16 iter_args(%t = %f) -> (f32) {
    %a = affine.load %A[%i, %j] : memref<16x24xf32>
    %u = arith.addf %t, %a : f32
    affine.yield %u : f32
  }
  affine.store %s, %D[%j] : memref<24xf32>
}
// ----- the last of what is loaded
affine.for %j = 0 to 24 {
  %s = affine.for %i = 0 to 16 iter_args(%t = %x) -> (f32) {
    %a = affine.load %A[%i, %j] : memref<16x24xf32>
    affine.yield %a : f32
  }
  affine.store %s, %D[%j] : memref<24xf32>
}
// ----- sums and maxima
// EXCEPT: run
%f = arith.constant 1.5 : f32
%m = arith.constant -2147483648 : i32
affine.for %i = 0 to 16 {
  %s = affine.for %j = 0 to 24 iter_args(%t = %f) -> (f32) {
    %a = affine.load %A[%i, %j] : memref<16x24xf32>
    %u = arith.addf %t, %a : f32
    affine.yield %u : f32
  }
  affine.store %s, %D[%i] : memref<24xf32>
}
%s = affine.for %j = 0 to 48 iter_args(%t = %m) -> (i32) {
  %a = affine.load %C[%j] : memref<48xi32>
  %u = arith.maxsi %t, %a : i32
  affine.yield %u : i32
}
affine.store %s, %C[0] : memref<48xi32>
// ----- masked sums of integers
%m = arith.constant 0 : i32
%s = affine.for %j = 1 to min affine_map<()[s0] -> (s0, 48)>()[%n] iter_args(%t = %m) -> (i32) {
  %a = affine.load %C[%j] : memref<48xi32>
  %u = arith.addi %t, %a : i32
  affine.yield %u : i32
}
affine.store %s, %C[0] : memref<48xi32>
%p = affine.for %j = 0 to 47 iter_args(%t = %s) -> (i32) {
  %a = affine.load %C[%j] : memref<48xi32>
  %u = arith.xori %a, %t : i32
  affine.yield %u : i32
}
affine.store %p, %C[1] : memref<48xi32>
// ----- elements at which a loop stays, and along columns
affine.for %j = 0 to 16 {
  affine.for %i = 0 to 24 {
    %a = affine.load %A[%j, %i] : memref<16x24xf32>
    %d = affine.load %D[3] : memref<24xf32>
    %e = arith.mulf %a, %d : f32
    affine.store %e, %B[%j, %i] : memref<16x24xf32>
  }
}
// ----- subscripts that repeat
affine.for %i = 0 to 16 {
  affine.for %j = 0 to 24 {
    %k = affine.apply affine_map<(d0) -> (d0 mod 8)>(%j)
    %a = affine.load %A[%i, %k] : memref<16x24xf32>
    affine.store %a, %B[%i, %j] : memref<16x24xf32>
  }
}
// ----- three loops
affine.for %i = 0 to 16 {
  affine.for %k = 0 to 8 {
    affine.for %j = 0 to 24 {
      %a = affine.load %A[%k, %j] : memref<16x24xf32>
      %b = affine.load %B[%i, %j] : memref<16x24xf32>
      %c = arith.addf %a, %b : f32
      affine.store %c, %B[%i, %j] : memref<16x24xf32>
    }
  }
}
// ----- stays: iterations that depend on each other
affine.for %i = 1 to 48 {
  %0 = affine.load %C[%i - 1] : memref<48xi32>
  affine.store %0, %C[%i] : memref<48xi32>
}
// ----- stays: conditions
affine.for %i = 0 to 48 {
  affine.if affine_set<(d0) : (d0 - 5 >= 0)>(%i) {
    %c3 = arith.constant 3 : i32
    affine.store %c3, %C[%i] : memref<48xi32>
  }
}
// ----- stays: two dimensions of one access
affine.for %i = 0 to 16 {
  affine.store %x, %A[%i, %i] : memref<16x24xf32>
}
