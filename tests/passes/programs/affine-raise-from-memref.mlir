// RUN: affine-raise-from-memref
// MEANT: 5 size=24 runs=30
// FIXED POINT: yes
func.func @f(%n: index, %m: index, %A: memref<?x?xf32>, %x: f32) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  BODY
  return
}
// ----- sums and products
affine.for %i = 0 to %n {
  affine.for %j = 0 to %m {
    %0 = arith.addi %i, %c1 : index
    %1 = arith.muli %j, %c2 : index
    %2 = arith.addi %1, %n : index
    %3 = arith.muli %n, %j : index
    %v = memref.load %A[%0, %2] : memref<?x?xf32>
    memref.store %v, %A[%i, %3] : memref<?x?xf32>
  }
}
// ----- constants and arguments
%v = memref.load %A[%c1, %c2] : memref<?x?xf32>
memref.store %v, %A[%n, %m] : memref<?x?xf32>
%0 = arith.addi %n, %m : index
memref.store %x, %A[%0, %c1] : memref<?x?xf32>
// ----- results of affine.apply
affine.for %i = 0 to %n {
  %0 = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%i)
  %1 = arith.addi %0, %i : index
  memref.store %x, %A[%0, %1] : memref<?x?xf32>
}
// ----- products of two counters
affine.for %i = 0 to %n {
  affine.for %j = 0 to %m {
    %0 = arith.muli %i, %j : index
    memref.store %x, %A[%0, %c1] : memref<?x?xf32>
  }
}
// ----- other arithmetic
affine.for %i = 0 to %n {
  %0 = arith.divsi %i, %c2 : index
  %1 = arith.remui %i, %c2 : index
  memref.store %x, %A[%0, %c1] : memref<?x?xf32>
  memref.store %x, %A[%c1, %1] : memref<?x?xf32>
}
// ----- counters of scf loops
scf.for %i = %c1 to %n step %c2 {
  memref.store %x, %A[%i, %c1] : memref<?x?xf32>
  %0 = arith.addi %n, %m : index
  %v = memref.load %A[%0, %c1] : memref<?x?xf32>
  affine.for %j = 0 to %m {
    %1 = arith.addi %j, %i : index
    memref.store %x, %A[%1, %c1] : memref<?x?xf32>
    memref.store %x, %A[%j, %c1] : memref<?x?xf32>
  }
}
// ----- indices from memory
affine.for %i = 0 to %n {
  %v = memref.load %A[%i, %c1] : memref<?x?xf32>
  %0 = arith.fptosi %v : f32 to i64
  %1 = arith.index_cast %0 : i64 to index
  %2 = arith.addi %1, %c1 : index
  memref.store %v, %A[%2, %c1] : memref<?x?xf32>
}
// ----- unknown operations
// EXCEPT: run
affine.for %i = 0 to %n {
  "test.region"() ({
    %0 = arith.addi %i, %c1 : index
    memref.store %x, %A[%0, %c1] : memref<?x?xf32>
    %1 = "test.index"() : () -> index
    %2 = arith.addi %1, %c1 : index
    memref.store %x, %A[%2, %c1] : memref<?x?xf32>
    "test.end"() : () -> ()
  }) : () -> ()
}
