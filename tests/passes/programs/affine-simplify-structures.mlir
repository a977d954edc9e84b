// RUN: affine-simplify-structures
// MEANT: 12 size=90
// FIXED POINT: yes
func.func @f(%n: index, %m: index, %A: memref<?xi32>, %x: i32) {
  BODY
  return
}
// ----- maps written as sums
affine.for %i = 0 to %n {
  affine.store %x, %A[(%i * 2 + 4) floordiv 2 - %i + %i * 3] : memref<?xi32>
  affine.store %x, %A[%i - (%i floordiv 4) * 4 + symbol(%n) - symbol(%n)] : memref<?xi32>
}
// ----- computed bounds and conditions
%b = affine.apply affine_map<()[s0] -> (s0 * 2)>()[%n]
affine.for %i = 0 to %b {
  %c = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
  affine.for %j = affine_map<(d0) -> (d0)>(%c) to min affine_map<(d0)[s0] -> (s0, d0 + 7)>(%c)[%b] {
    %d = affine.apply affine_map<(d0, d1) -> (d0 - d1)>(%j, %c)
    affine.if affine_set<(d0)[s0] : (-d0 + s0 - 3 >= 0)>(%d)[%b] {
      affine.store %x, %A[%j] : memref<?xi32>
    }
  }
}
// ----- constant bounds
%c8 = arith.constant 8 : index
affine.for %i = 0 to %c8 {
  affine.for %j = max affine_map<() -> (1, 3)>() to min affine_map<()[s0] -> (s0, 5)>()[%c8] {
    affine.store %x, %A[%i + %j] : memref<?xi32>
  }
}
// ----- conditions that are known
affine.if affine_set<()[s0] : (s0 - 2 >= 0, 1 - s0 >= 0)>()[%n] {
  affine.store %x, %A[0] : memref<?xi32>
} else {
  affine.store %x, %A[1] : memref<?xi32>
}
affine.if affine_set<() : (0 == 0)>() {
  affine.store %x, %A[2] : memref<?xi32>
} else {
  affine.store %x, %A[3] : memref<?xi32>
}
// ----- results of conditions that are known
%y = affine.if affine_set<() : (1 == 0)>() -> i32 {
  affine.yield %x : i32
} else {
  %z = arith.addi %x, %x : i32
  affine.yield %z : i32
}
affine.store %y, %A[0] : memref<?xi32>
// ----- what does nothing
affine.for %i = 0 to %n { %a = affine.apply affine_map<(d0) -> (d0 + 1)>(%i) }
affine.if affine_set<()[s0] : (s0 >= 0)>()[%n] { affine.store %x, %A[0] : memref<?xi32> }
%y = affine.for %i = 0 to %n iter_args(%c = %x) -> i32 { affine.yield %c : i32 }
%z = affine.for %i = 5 to 3 iter_args(%c = %y) -> i32 { %d = arith.muli %c, %c : i32 affine.yield %d : i32 }
affine.store %z, %A[1] : memref<?xi32>
// ----- constants
%c5 = arith.constant 5 : index
%a = affine.apply affine_map<()[s0] -> (s0 floordiv 2)>()[%c5]
memref.store %x, %A[%a] : memref<?xi32>
// ----- unknown operations
// EXCEPT: run
affine.for %j = 0 to 8 {
  "test.region"(%j) ({
    affine.store %x, %A[%j + 2 - %j] : memref<?xi32>
    "test.end"() : () -> ()
  }) {some = 1 : i64} : (index) -> ()
}
// ----- quotients and remainders
affine.for %i = 0 to 8 { affine.for %j = 0 to 4 {
  affine.store %x, %A[(%i * 4 + %j) floordiv 4 + (%i + 8) mod 8] : memref<?xi32> } }
// BECOMES
affine.for %i = 0 to 8 { affine.for %j = 0 to 4 {
  affine.store %x, %A[%i * 2] : memref<?xi32> } }
// ----- guards that loops make needless
affine.for %i = 0 to %n step 2 {
  affine.if affine_set<(d0)[s0] : (s0 - d0 - 1 >= 0, d0 mod 2 == 0, d0 - 4 >= 0)>(%i)[%n] {
    affine.store %x, %A[%i] : memref<?xi32> }
  affine.if affine_set<(d0)[s0] : (s0 - d0 - 1 >= 0)>(%i)[%n] {
    affine.store %x, %A[%i + 1] : memref<?xi32> } else {
    affine.store %x, %A[0] : memref<?xi32> } }
// BECOMES
affine.for %i = 0 to %n step 2 {
  affine.if affine_set<(d0) : (d0 - 4 >= 0)>(%i) {
    affine.store %x, %A[%i] : memref<?xi32> }
  affine.store %x, %A[%i + 1] : memref<?xi32> }
// ----- guards in guards
affine.if affine_set<()[s0] : (s0 - 4 >= 0)>()[%n] {
    affine.if affine_set<()[s0] : (s0 - 2 >= 0)>()[%n] { affine.store %x, %A[0] : memref<?xi32> }
  } else {
    affine.if affine_set<()[s0] : (s0 - 8 >= 0)>()[%n] { affine.store %x, %A[1] : memref<?xi32> }
    affine.store %x, %A[2] : memref<?xi32> }
// BECOMES
affine.if affine_set<()[s0] : (s0 - 4 >= 0)>()[%n] {
    affine.store %x, %A[0] : memref<?xi32>
  } else {
    affine.store %x, %A[2] : memref<?xi32> }
// ----- loops that never run
affine.for %i = 0 to %n {
  affine.for %j = affine_map<(d0) -> (d0 + 1)>(%i) to min affine_map<(d0)[s0] -> (s0, d0)>(%i)[%m] {
    affine.store %x, %A[%j] : memref<?xi32> }
  affine.for %j = 3 to 3 { affine.store %x, %A[%j] : memref<?xi32> }
  affine.parallel (%j, %k) = (0, symbol(%n)) to (8, %i) { affine.store %x, %A[%j] : memref<?xi32> }
  affine.store %x, %A[%i] : memref<?xi32> }
// BECOMES
affine.for %i = 0 to %n { affine.store %x, %A[%i] : memref<?xi32> }
// ----- what loops that never run hand on
%y = affine.for %i = %n to %n iter_args(%c = %x) -> i32 {
    %d = arith.muli %c, %c : i32 affine.store %d, %A[0] : memref<?xi32> affine.yield %d : i32 }
  affine.store %y, %A[1] : memref<?xi32>
// BECOMES
affine.store %x, %A[1] : memref<?xi32>
// ----- what conditions hand on
affine.for %i = 0 to 9 {
  %y:2 = affine.if affine_set<(d0) : (9 - d0 >= 0)>(%i) -> (i32, index) {
    affine.store %x, %A[%i] : memref<?xi32> affine.yield %x, %i : i32, index } else {
    affine.yield %x, %n : i32, index }
  memref.store %y#0, %A[%y#1] : memref<?xi32> }
// BECOMES
affine.for %i = 0 to 9 {
  affine.store %x, %A[%i] : memref<?xi32>
  memref.store %x, %A[%i] : memref<?xi32> }
// ----- bounds that never decide
affine.for %i = 0 to 64 step 8 {
  affine.for %j = max affine_map<(d0) -> (d0, 0)>(%i) to min affine_map<(d0) -> (d0 + 8, 64)>(%i) {
    affine.parallel (%k) = (max(%i, 0)) to (min(%j, 64)) {
      affine.store %x, %A[%k] : memref<?xi32> } } }
// BECOMES
affine.for %i = 0 to 64 step 8 {
  affine.for %j = affine_map<(d0) -> (d0)>(%i) to affine_map<(d0) -> (d0 + 8)>(%i) {
    affine.parallel (%k) = (%i) to (%j) {
      affine.store %x, %A[%k] : memref<?xi32> } } }
// ----- quotients and remainders of sums with the divisor
affine.store %x, %A[(symbol(%n) - symbol(%m) - (symbol(%n) - symbol(%m)) mod symbol(%n)) mod symbol(%n)] : memref<?xi32>
affine.store %x, %A[((symbol(%n) * 3) mod (symbol(%n) * 5) + symbol(%n)) floordiv symbol(%n)] : memref<?xi32>
affine.store %x, %A[((symbol(%m) * symbol(%n)) floordiv 3 + symbol(%n) * 2) floordiv symbol(%n)] : memref<?xi32>
affine.store %x, %A[((symbol(%m) * symbol(%n)) ceildiv 3 + symbol(%m)) floordiv symbol(%n)] : memref<?xi32>
// ----- two rounded quotients are not divided one by one
// EXCEPT: mlir-opt
affine.store %x, %A[((symbol(%m) * symbol(%n)) floordiv 2 + symbol(%n) floordiv 2) floordiv symbol(%n)] : memref<?xi32>
