// STEP: make_perfect(i, j)
// CANNOT: make loops i and j perfectly nested
func.func @f(%A: memref<?x?xf32>, %B: memref<?xf32>, %n: index, %x: f32) {
affine.for %i = 0 to 5 {
BODY
}
return }
// ----- it may not run
affine.store %x, %B[%i] : memref<?xf32>
affine.for %j = 0 to %n { }
// REFUSED AT 4: the loop j may not run, and the store B[i] at line 3 beside it must
//     legal: promise n >= 1 (affdsl.assume)
// ----- several lower bounds
affine.store %x, %B[%i] : memref<?xf32>
affine.for %j = max affine_map<(d0) -> (d0, 1)>(%i) to 99 { }
// REFUSED AT 3: no condition says which iteration of j is the first: it has several bounds there
// ----- several upper bounds
affine.for %j = 0 to min affine_map<(d0) -> (d0 + 1, 9)>(%i) { }
affine.store %x, %B[%i] : memref<?xf32>
// REFUSED AT 4: no condition says which iteration of j is the last: it has several bounds there
// ----- a bound that is computed
%c = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
affine.for %j = 0 to affine_map<(d0) -> (d0)>(%c) { }
// REFUSED AT 3: the bounds of j use the result of affine.apply of c at line 3
// ----- a number that changes
%a = affine.load %B[%i] : memref<?xf32>
affine.for %j = 0 to 8 { affine.store %a, %B[%j] : memref<?xf32> }
// REFUSED AT 3: what j uses must be computed in each iteration, but the load B[i] at line 3 stays: the store B[j] at line 4 may change what it loads:
//     the load B[i] at line 3 must come before the store B[j] at line 4 with distance (0),
//     e.g. i = 0 reads B[0], which (i, j) = (0, 0) writes; the new order does not run them in this order
// ----- a buffer
%t = memref.alloc() : memref<f32>
affine.for %j = 0 to 8 { affine.store %x, %t[] : memref<f32> }
// REFUSED AT 3: what j uses must be computed in each iteration, but memref.alloc of t at line 3 stays: it does more than to compute or to load
// ----- carried
%r = affine.for %j = 0 to 8 iter_args(%s = %x) -> f32 { affine.yield %s : f32 }
// REFUSED AT 3: the loop j carries values (iter_args) from each iteration to the next
// ----- further inside
affine.for %k = 0 to 8 { affine.for %j = 0 to 8 { } }
// REFUSED AT 3: the loop j does not stand right in the body of the loop i, but in that of k: make these two perfect first
