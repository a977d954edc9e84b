// STEP: tile([i, j], [2, 2])
// CANNOT: tile loops %i, %j
func.func @f(%A: memref<9xf32>, %x: f32, %n: index) {
BODY
return }
// ----- a store beside
affine.for %i = 0 to 9 {
  affine.store %x, %A[%i] : memref<9xf32>
  affine.for %j = 0 to 9 { affine.store %x, %A[%j] : memref<9xf32> }
}
// REFUSED AT 2: the loop i does not hold the loop j and nothing else
// ----- a carried value
affine.for %i = 0 to 9 {
  affine.for %j = 0 to 9 iter_args(%s = %x) -> f32 { affine.yield %s : f32 }
}
// REFUSED AT 3: the loop j carries values (iter_args) from each iteration to the next
// ----- lower bounds that move
// CANNOT: tile loops %i, %j by 2, 2
affine.for %i = 0 to 9 {
  affine.for %j = max affine_map<(d) -> (d, 2)>(%i) to 9 step 2 { }
}
// REFUSED AT 3: %j has several lower bounds that move with the band, and step 2
//     legal: affine-loop-normalize first
// ----- a product as a bound
// CANNOT: tile loops %i, %j by 2, 2
affine.for %i = 0 to 9 {
  affine.for %j = 0 to affine_map<(d)[s] -> (d * s)>(%i)[%n] { }
}
// REFUSED AT 3: n * i is semi-affine: how far it goes in a tile is not known
