// STEP: unroll_jam(i, 4)
// CANNOT: unroll and jam the loop %i by 4
func.func @f(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %n: index, %x: f32) {
BODY
return }
// ----- a value of the iteration before
%r = affine.for %i = 0 to 8 iter_args(%s = %x) -> f32 {
  affine.for %j = 0 to 9 { affine.store %s, %A[%i, %j] : memref<64x64xf32> }
  %y = affine.load %B[%i, 0] : memref<64x64xf32>
  affine.yield %y : f32
}
// REFUSED AT 2: it carries %s from each iteration to the next, and that is no reduction
// ----- a sum of floats
%r = affine.for %i = 0 to 8 iter_args(%s = %x) -> f32 {
  %u = affine.for %j = 0 to 9 iter_args(%t = %s) -> f32 {
    %y = affine.load %B[%i, %j] : memref<64x64xf32>
    %v = arith.addf %t, %y : f32
    affine.yield %v : f32
  }
  affine.yield %u : f32
}
// REFUSED AT 2: %s is reduced by addf of floats, which another order rounds in another way
//     legal: reassociate=True, where that is allowed
// ----- upper bounds that move
affine.for %i = 0 to 8 {
  affine.for %j = 0 to min affine_map<(d)[s] -> (d, s - d)>(%i)[%n] {
    affine.store %x, %A[%i, %j] : memref<64x64xf32>
  }
}
// REFUSED AT 3: the loop %j inside has several upper bounds that move with %i: where all copies run is not affine
// ----- a remainder as a bound
affine.for %i = 0 to 8 {
  affine.for %j = 0 to affine_map<(d) -> (d mod 3)>(%i) { affine.store %x, %A[%i, %j] : memref<64x64xf32> }
}
// REFUSED AT 3: whether a bound of the loop %j inside grows with %i is not known
// ----- a start that moves, and a step
affine.for %i = 0 to 8 {
  affine.for %j = affine_map<(d) -> (d)>(%i) to 9 step 2 { affine.store %x, %A[%i, %j] : memref<64x64xf32> }
}
// REFUSED AT 3: the loop %j inside has step 2 and no single start for all copies
// ----- several lower bounds
affine.for %i = max affine_map<()[s] -> (s, 0)>()[%n] to 9 { affine.store %x, %A[%i, 0] : memref<64x64xf32> }
// REFUSED AT 2: %i has several lower bounds: where its iterations lie is not affine
// ----- too few iterations
affine.for %i = 0 to 3 { affine.store %x, %A[%i, 0] : memref<64x64xf32> }
// REFUSED AT 2: it runs 3 times, fewer than 4
//     legal: a factor that is not larger
