// RUN: raise-scf-to-affine
// MEANT: 5 size=24 runs=30
// FIXED POINT: yes
// ----- tiles of an array
func.func @f(%n: index, %m: index, %A: memref<?x?xf32>, %B: memref<24xf32>, %x: f32, %w: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %N = memref.dim %A, %c0 : memref<?x?xf32>
  scf.for %i = %c0 to %N step %c4 {
    %e = arith.addi %i, %c4 : index
    %l = arith.minsi %e, %N : index
    scf.for %j = %i to %l step %c1 {
      %0 = arith.subi %j, %i : index
      memref.store %x, %A[%j, %0] : memref<?x?xf32>
    }
  }
  return
}
// BECOMES
func.func @f(%n: index, %m: index, %A: memref<?x?xf32>, %B: memref<24xf32>, %x: f32, %w: i32) {
  %c0 = arith.constant 0 : index
  %N = memref.dim %A, %c0 : memref<?x?xf32>
  affine.for %i = 0 to %N step 4 {
    affine.for %j = affine_map<(d0) -> (d0)>(%i) to min affine_map<(d0)[s0] -> (d0 + 4, s0)>(%i)[%N] {
      affine.store %x, %A[%j, %j - %i] : memref<?x?xf32>
    }
  }
  return
}
// ----- sums that are carried, with bounds from data
func.func @f(%n: index, %m: index, %A: memref<?x?xf32>, %B: memref<24xf32>, %x: f32, %w: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %N = memref.dim %A, %c0 : memref<?x?xf32>
  %z = arith.constant 0.0 : f32
  %l = arith.index_cast %w : i32 to index
  %s:2 = scf.for %i = %c0 to %l step %c1 iter_args(%a = %z, %b = %x) -> (f32, f32) {
    %0 = memref.load %B[%i] : memref<24xf32>
    %1 = arith.addf %a, %0 : f32
    scf.yield %b, %1 : f32, f32
  }
  memref.store %s#0, %B[%c1] : memref<24xf32>
  return
}
// BECOMES
func.func @f(%n: index, %m: index, %A: memref<?x?xf32>, %B: memref<24xf32>, %x: f32, %w: i32) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %N = memref.dim %A, %c0 : memref<?x?xf32>
  %z = arith.constant 0.0 : f32
  %l = arith.index_cast %w : i32 to index
  %s:2 = affine.for %i = 0 to %l iter_args(%a = %z, %b = %x) -> (f32, f32) {
    %0 = affine.load %B[%i] : memref<24xf32>
    %1 = arith.addf %a, %0 : f32
    affine.yield %b, %1 : f32, f32
  }
  affine.store %s#0, %B[1] : memref<24xf32>
  return
}
// ----- a bound that may wrap stands for itself where it is a symbol, and stays where it is none
func.func @f(%n: index, %m: index, %A: memref<?x?xf32>, %B: memref<24xf32>, %x: f32, %w: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %N = memref.dim %A, %c0 : memref<?x?xf32>
  %l = arith.addi %n, %c1 : index
  scf.for %i = %c0 to %l step %c1 {
    %0 = arith.addi %n, %i : index
    scf.for %j = %c0 to %0 step %c1 {
      memref.store %x, %B[%j] : memref<24xf32>
    }
  }
  return
}
// BECOMES
func.func @f(%n: index, %m: index, %A: memref<?x?xf32>, %B: memref<24xf32>, %x: f32, %w: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %N = memref.dim %A, %c0 : memref<?x?xf32>
  %l = arith.addi %n, %c1 : index
  affine.for %i = 0 to %l {
    %0 = arith.addi %n, %i : index
    scf.for %j = %c0 to %0 step %c1 {
      memref.store %x, %B[%j] : memref<24xf32>
    }
  }
  return
}
// ----- parallel loops, conditions, and affine bounds that were there before
func.func @f(%n: index, %m: index, %A: memref<?x?xf32>, %B: memref<24xf32>, %x: f32, %w: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %N = memref.dim %A, %c0 : memref<?x?xf32>
  scf.parallel (%i, %j) = (%c0, %c1) to (%N, %c4) step (%c1, %c1) {
    %0 = arith.cmpi slt, %i, %j : index
    scf.if %0 {
      %1 = affine.max affine_map<(d0)[s0] -> (d0, s0)>(%i)[%n]
      scf.for %k = %1 to %c4 step %c4 {
        memref.store %x, %A[%i, %k] : memref<?x?xf32>
      }
    }
  }
  return
}
// BECOMES
func.func @f(%n: index, %m: index, %A: memref<?x?xf32>, %B: memref<24xf32>, %x: f32, %w: i32) {
  %c0 = arith.constant 0 : index
  %N = memref.dim %A, %c0 : memref<?x?xf32>
  affine.parallel (%i, %j) = (0, 1) to (%N, 4) {
    %0 = arith.cmpi slt, %i, %j : index
    scf.if %0 {
      %1 = affine.max affine_map<(d0)[s0] -> (d0, s0)>(%i)[%n]
      affine.for %k = max affine_map<(d0)[s0] -> (d0, s0)>(%i)[%n] to 4 step 4 {
        affine.store %x, %A[%i, %k] : memref<?x?xf32>
      }
    }
  }
  return
}
// ----- stays: steps that are not known
func.func @f(%n: index, %m: index, %A: memref<?x?xf32>, %B: memref<24xf32>, %x: f32, %w: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %N = memref.dim %A, %c0 : memref<?x?xf32>
  scf.for %i = %c0 to %n step %m {
    memref.store %x, %B[%i] : memref<24xf32>
  }
  return
}
// ----- stays: counters that are no index, unsigned loops, and reductions
func.func @f(%n: index, %m: index, %A: memref<?x?xf32>, %B: memref<24xf32>, %x: f32, %w: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %N = memref.dim %A, %c0 : memref<?x?xf32>
  %a = arith.constant 0 : i32
  %b = arith.constant 1 : i32
  scf.for %i = %a to %w step %b : i32 {
  }
  scf.for unsigned %i = %c0 to %n step %c1 {
  }
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%x) -> f32 {
    scf.reduce(%x : f32) {
    ^bb0(%p: f32, %q: f32):
      %0 = arith.addf %p, %q : f32
      scf.reduce.return %0 : f32
    }
  }
  return
}
// ----- stays: a bound that a loop carries
func.func @f(%n: index, %m: index, %A: memref<?x?xf32>, %B: memref<24xf32>, %x: f32, %w: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %N = memref.dim %A, %c0 : memref<?x?xf32>
  %r = scf.while (%l = %c0) : (index) -> index {
    %0 = arith.cmpi slt, %l, %n : index
    scf.condition(%0) %l : index
  } do {
  ^bb0(%l: index):
    scf.for %i = %c0 to %l step %c1 {
    }
    %0 = arith.addi %l, %c4 : index
    scf.yield %0 : index
  }
  return
}
