// STEP: scalar_replace(i)
// CANNOT: keep in values what loop i loads
func.func @f(%A: memref<12xf32>, %B: memref<12xf32>, %n: index, %x: f32) {
BODY
return }
// ----- the loop may not run
affine.for %i = 2 to %n {
  %a = affine.load %A[%i - 2 + symbol(%n)] : memref<12xf32>
  affine.store %a, %A[%i + symbol(%n)] : memref<12xf32>
}
// REFUSED AT 2: affine.load of %A stays: the loop may run less than 2 times, and a load before it fail
// ----- another store
affine.for %i = 1 to 9 {
  %a = affine.load %A[%i - 1] : memref<12xf32>
  affine.store %a, %A[%i] : memref<12xf32>
  affine.store %x, %A[5] : memref<12xf32>
}
// REFUSED AT 2: affine.load of %A stays: several stores may have written what it loads
// ----- the same element sooner
affine.for %i = 0 to 9 {
  %a = affine.load %A[%i floordiv 2] : memref<12xf32>
  affine.store %x, %A[(%i + 2) floordiv 2 + %i - %i] : memref<12xf32>
}
// REFUSED AT 2: affine.load of %A stays: it is not certain that it loads what was stored 2 iterations before
// ----- a conditional store
affine.for %i = 1 to 9 {
  %a = affine.load %A[%i - 1] : memref<12xf32>
  affine.if affine_set<(d0) : (d0 - 3 >= 0)>(%i) { affine.store %a, %A[%i] : memref<12xf32> }
}
// REFUSED AT 2: affine.load of %A stays: no operation right in the body stores or loads the same elements a few iterations before
// ----- a wide store
affine.for %i = 1 to 9 {
  %a = affine.load %A[%i - 1] : memref<12xf32>
  %w = vector.broadcast %a : f32 to vector<2xf32>
  affine.vector_store %w, %A[%i] : memref<12xf32>, vector<2xf32>
}
// REFUSED AT 2: affine.load of %A stays: no operation right in the body stores or loads the same elements a few iterations before
// ----- unknown subscripts
affine.for %i = 1 to 9 {
  %c = arith.constant 0 : index
  %j = memref.dim %A, %c : memref<12xf32>
  %a = affine.load %A[%i - 13 + symbol(%j)] : memref<12xf32>
  affine.store %a, %A[%i - 12 + symbol(%j)] : memref<12xf32>
}
// REFUSED AT 2: affine.load of %A stays: its subscripts are not known before the loop
// ----- a view made in the loop
affine.for %i = 1 to 9 {
  %A1 = memref.subview %A[1] [11] [1] : memref<12xf32> to memref<11xf32, strided<[1], offset: 1>>
  %a = affine.load %A1[%i - 1] : memref<11xf32, strided<[1], offset: 1>>
  affine.store %a, %A1[%i] : memref<11xf32, strided<[1], offset: 1>>
}
// REFUSED AT 2: affine.load of %A1 stays: the loop makes the buffer, or the view of it, that it loads from
// ----- several lower bounds
affine.for %i = max affine_map<()[s0] -> (s0, 1)>()[%n] to 9 {
  %a = affine.load %A[%i - 1] : memref<12xf32>
  affine.store %a, %A[%i] : memref<12xf32>
}
// REFUSED AT 2: affine.load of %A stays: the loop has several lower bounds
// ----- something unknown
affine.for %i = 1 to 9 {
  %a = affine.load %A[%i - 1] : memref<12xf32>
  affine.store %a, %A[%i] : memref<12xf32>
  "test.use"(%A) : (memref<12xf32>) -> ()
}
// REFUSED AT 2: affine.load of %A stays: several stores may have written what it loads
// ----- a sum sees lanes that a mask leaves out
%m = vector.create_mask %n : vector<4xi1>
%z = arith.constant dense<0.0> : vector<4xf32>
%c0 = arith.constant 0 : index
affine.for %i = 0 to %n {
  %a = vector.maskedload %A[%c0], %m, %z : memref<12xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  %b = arith.addf %a, %a : vector<4xf32>
  %s = vector.reduction <add>, %b : vector<4xf32> into f32
  affine.store %s, %B[%i] : memref<12xf32>
  vector.maskedstore %A[%c0], %m, %b : memref<12xf32>, vector<4xi1>, vector<4xf32>
}
// REFUSED AT 5: vector.maskedload of %A stays: vector.reduction sees the lanes that its mask leaves out
// ----- a mask that changes
%z = arith.constant dense<0.0> : vector<4xf32>
%c0 = arith.constant 0 : index
affine.for %i = 0 to %n {
  %m = vector.create_mask %i : vector<4xi1>
  %a = vector.maskedload %A[%c0], %m, %z : memref<12xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  %b = arith.addf %a, %a : vector<4xf32>
  vector.maskedstore %A[%c0], %m, %b : memref<12xf32>, vector<4xi1>, vector<4xf32>
}
// REFUSED AT 4: vector.maskedload of %A stays: its mask is not known before the loop
// ----- stored by another mask
%m = vector.create_mask %n : vector<4xi1>
%w = vector.create_mask %n : vector<4xi1>
%z = arith.constant dense<0.0> : vector<4xf32>
%c0 = arith.constant 0 : index
affine.for %i = 0 to %n {
  %a = vector.maskedload %A[%c0], %m, %z : memref<12xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  %b = arith.addf %a, %a : vector<4xf32>
  vector.maskedstore %A[%c0], %w, %b : memref<12xf32>, vector<4xi1>, vector<4xf32>
}
// REFUSED AT 6: vector.maskedload of %A stays: vector.maskedstore sees the lanes that its mask leaves out
// ----- other elements by a mask in each iteration
%m = vector.create_mask %n : vector<4xi1>
%z = arith.constant dense<0.0> : vector<4xf32>
affine.for %i = 0 to 8 {
  %a = vector.maskedload %A[%i], %m, %z : memref<12xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  %b = arith.addf %a, %a : vector<4xf32>
  vector.maskedstore %A[%i], %m, %b : memref<12xf32>, vector<4xi1>, vector<4xf32>
}
// REFUSED AT 4: vector.maskedload of %A stays: it goes by a mask, and is of other elements in each iteration
