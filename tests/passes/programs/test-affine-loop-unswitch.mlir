// RUN: test-affine-loop-unswitch
// CLEAN: cse
// MEANT: 12
func.func @f(%m: index, %n: index, %A: memref<40x40xf32>, %x: f32) {
  BODY
  return
}
// ----- two loops and an else
affine.for %i = 0 to %n { affine.for %j = 0 to 7 {
  affine.if affine_set<()[s0]: (s0 - 3 >= 0)>()[%m] { affine.store %x, %A[%i, %j] : memref<40x40xf32> }
  else { affine.store %x, %A[0, %j] : memref<40x40xf32> }
} }
// ----- only the inner loop
affine.for %i = 0 to %n { affine.for %j = 0 to 7 {
  affine.if affine_set<(d0)[s0]: (s0 - d0 >= 0)>(%i)[%m] { affine.store %x, %A[%i, %j] : memref<40x40xf32> }
  affine.store %x, %A[%i, 0] : memref<40x40xf32>
} }
// ----- out of a condition that stays
affine.for %i = 0 to %n { affine.if affine_set<(d0)[s0]: (s0 - d0 >= 0)>(%i)[%m] {
  affine.for %j = 0 to 7 {
    affine.if affine_set<()[s0]: (s0 - 3 >= 0)>()[%m] { affine.store %x, %A[%i, %j] : memref<40x40xf32> }
    affine.store %x, %A[%i, 0] : memref<40x40xf32>
  }
  affine.store %x, %A[1, 0] : memref<40x40xf32>
} }
// ----- computed on the way
affine.for %i = 0 to %n { affine.for %j = 0 to 7 {
  %c = affine.apply affine_map<(d0) -> (d0 + 3)>(%n)
  affine.if affine_set<(d0)[s0]: (s0 - d0 >= 0)>(%c)[%m] { affine.store %x, %A[%i, %j] : memref<40x40xf32> }
  affine.if affine_set<(d0)[s0]: (s0 - d0 >= 6)>(%c)[%m] { affine.store %x, %A[%i, 9] : memref<40x40xf32> }
} }
// ----- bands
affine.parallel (%i, %j) = (0, 0) to (%n, 9) {
  affine.if affine_set<()[s0]: (s0 - 3 >= 0)>()[%m] { affine.store %x, %A[%i, %j] : memref<40x40xf32> }
}
// ----- nothing to do
affine.for %i = 0 to %n {
  affine.if affine_set<(d0)[s0]: (s0 - d0 >= 0)>(%i)[%m] { affine.store %x, %A[%i, 1] : memref<40x40xf32> }
}
affine.if affine_set<()[s0]: (s0 >= 0)>()[%m] { affine.store %x, %A[1, 1] : memref<40x40xf32> }
// ----- conditions that are known, or without an effect, before the one that moves
affine.if affine_set<() : (0 == 0)>() { affine.store %x, %A[2, 1] : memref<40x40xf32> }
affine.for %i = 0 to %n { affine.if affine_set<(d0) : (d0 - 3 >= 0)>(%i) { } }
affine.for %i = 0 to %n {
  affine.if affine_set<(d0, d1)[s0, s1] : (d0 * -4 + s0 - 16 >= 0, d1 * -3 + s1 - 3 >= 0)>(%m, %m)[%n, %n] {
    affine.store %x, %A[%i, 1] : memref<40x40xf32>
  }
}
