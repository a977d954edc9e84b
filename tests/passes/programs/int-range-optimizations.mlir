// RUN: int-range-optimizations
// CLEAN: canonicalize
// MEANT: 10
// FIXED POINT: yes
func.func @f(%n: index, %x: i32, %A: memref<16xi32>, %B: memref<16xindex>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c7_i32 = arith.constant 7 : i32
  %c3_i32 = arith.constant 3 : i32
  %c100_i32 = arith.constant 100 : i32
  BODY
  return
}
// ----- comparisons and remainders of what is small
%r = arith.andi %x, %c3_i32 : i32
%s = arith.remsi %r, %c100_i32 : i32
%t = arith.remui %s, %c7_i32 : i32
%u = arith.remsi %t, %c3_i32 : i32
memref.store %u, %A[%c0] : memref<16xi32>
%p = arith.cmpi ult, %r, %c7_i32 : i32
%q = arith.cmpi sge, %r, %c3_i32 : i32
%a = arith.select %p, %r, %x : i32
%b = arith.select %q, %a, %c100_i32 : i32
memref.store %b, %A[%c4] : memref<16xi32>
%w = arith.cmpi eq, %r, %c100_i32 : i32
%d = arith.select %w, %x, %r : i32
memref.store %d, %A[%c8] : memref<16xi32>
// ----- quotients
%r = arith.andi %x, %c7_i32 : i32
%k = arith.divsi %r, %c100_i32 : i32
memref.store %k, %A[%c0] : memref<16xi32>
%l = arith.divui %r, %c3_i32 : i32
%m = arith.remui %l, %c3_i32 : i32
memref.store %m, %A[%c4] : memref<16xi32>
%o = arith.subi %c3_i32, %r : i32
%v = arith.floordivsi %o, %c100_i32 : i32
memref.store %v, %A[%c8] : memref<16xi32>
// ----- counters of loops
scf.for %i = %c4 to %c8 step %c4 {
  %p = arith.cmpi slt, %i, %c8 : index
  %y = arith.remsi %i, %c8 : index
  %s = arith.select %p, %y, %n : index
  memref.store %s, %B[%i] : memref<16xindex>
}
// ----- affine expressions
affine.for %i = 0 to 8 {
  %a = affine.apply affine_map<(d0) -> (d0 floordiv 8 + 3)>(%i)
  %b = affine.apply affine_map<(d0) -> (d0 mod 4 + 2)>(%i)
  %p = arith.cmpi sle, %b, %c8 : index
  %s = arith.select %p, %a, %n : index
  memref.store %s, %B[%i] : memref<16xindex>
}
// ----- what may be several numbers, or may wrap
%r = arith.addi %x, %c3_i32 : i32
%p = arith.cmpi sgt, %r, %x : i32
%s = arith.select %p, %r, %x : i32
%t = arith.remsi %s, %c7_i32 : i32
memref.store %t, %A[%c0] : memref<16xi32>
// ----- what holds in a condition holds in it alone
%u = affine.apply affine_map<()[s0] -> (s0 + 3)>()[%n]
affine.if affine_set<()[s0] : (s0 - 5 == 0)>()[%u] {
  memref.store %n, %B[%u] : memref<16xindex>
}
%w = arith.muli %u, %c8 : index
%q = arith.remsi %w, %c4 : index
memref.store %q, %B[%c4] : memref<16xindex>
