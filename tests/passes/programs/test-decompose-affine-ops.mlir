// RUN: test-decompose-affine-ops
// MEANT: 10
func.func @f(%n: index, %m: index, %A: memref<?xindex>) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  BODY
  return
}
// ----- sums by the loops that change them
scf.for %i = %c1 to %m step %c1 {
  scf.for %j = %c1 to %n step %c1 {
    %a = affine.apply affine_map<()[s0, s1, s2, s3] -> (s0 * 3 + s1 floordiv 2 - s2 + s3 + 7)>()[%j, %i, %m, %n]
    memref.store %a, %A[%c1] : memref<?xindex>
  }
}
// ----- products
%a = affine.apply affine_map<()[s0, s1] -> ((s0 + s1) * s1 * (s0 - 2))>()[%n, %m]
memref.store %a, %A[%c1] : memref<?xindex>
// ----- constants among the operands, and one value twice
%a = affine.apply affine_map<()[s0, s1, s2] -> (s0 * 4 + s1 * 2 + s2 mod 3)>()[%n, %c3, %n]
memref.store %a, %A[%c1] : memref<?xindex>
// ----- one operator, a remainder, a dimension
%a = affine.apply affine_map<()[s0, s1] -> (s0 + s1)>()[%n, %m]
%b = affine.apply affine_map<()[s0, s1] -> ((s0 + s1 * 2) mod 5)>()[%n, %m]
affine.for %i = 0 to 3 {
  %c = affine.apply affine_map<(d0)[s0, s1] -> (d0 * 2 + s0 + s1)>(%i)[%a, %b]
  memref.store %c, %A[%i] : memref<?xindex>
}
