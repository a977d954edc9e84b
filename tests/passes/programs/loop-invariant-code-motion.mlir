// RUN: loop-invariant-code-motion
// MEANT: 10
// FIXED POINT: yes
func.func @f(%n: index, %m: index, %A: memref<?xindex>) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  BODY
  return
}
// ----- sums out of all loops
scf.for %i = %c0 to %n step %c1 {
  affine.for %j = 0 to 4 {
    %a = arith.addi %n, %m : index
    %b = arith.muli %a, %i : index
    %c = arith.addi %b, %j : index
    memref.store %c, %A[%i] : memref<?xindex>
  }
}
// ----- blocks move as one
scf.for %i = %c0 to %n step %c1 {
  %p = arith.cmpi slt, %n, %m : index
  %a = arith.select %p, %n, %m : index
  %b = affine.if affine_set<()[s0] : (s0 - 2 >= 0)>()[%n] -> index {
    affine.yield %a : index
  } else {
    affine.yield %c1 : index
  }
  memref.store %b, %A[%i] : memref<?xindex>
}
// ----- carried values and bands
%r = affine.for %i = 0 to 3 iter_args(%s = %n) -> index {
  %a = arith.addi %n, %n : index
  %b = arith.addi %s, %a : index
  affine.yield %b : index
}
affine.parallel (%i) = (0) to (3) {
  %a = arith.subi %r, %m : index
  memref.store %a, %A[%i] : memref<?xindex>
}
// ----- stays: what may fail, reads, or depends on the loop
affine.for %i = 0 to %n {
  %q = arith.divsi %n, %m : index
  %a = memref.load %A[%c0] : memref<?xindex>
  %b = arith.addi %i, %a : index
  %d = arith.addi %b, %q : index
  memref.store %d, %A[%i] : memref<?xindex>
}
