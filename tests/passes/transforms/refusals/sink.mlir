// STEP: sink(j)
// CANNOT: sink anything into loop j
func.func @f(%A: memref<?x?xf32>, %B: memref<?xf32>, %n: index, %x: f32) {
BODY
return }
// ----- a load of what the loop writes
%a = affine.load %B[0] : memref<?xf32>
affine.for %j = 0 to 8 { affine.store %a, %B[%j] : memref<?xf32> }
// REFUSED AT 3: the load B[0] at line 2 stays: the store B[j] at line 3 may change what it loads:
//     the load B[0] at line 2 must come before the store B[j] at line 3,
//     e.g. the only iteration reads B[0], which j = 0 writes; the new order does not run them in this order
// ----- a load before a write
%a = affine.load %B[0] : memref<?xf32>
affine.store %x, %B[0] : memref<?xf32>
affine.for %j = 0 to 8 { affine.store %a, %A[0, %j] : memref<?x?xf32> }
// REFUSED AT 4: the load B[0] at line 2 stays: the store B[0] at line 3 may change what it loads:
//     the load B[0] at line 2 must come before the store B[0] at line 3,
//     e.g. the only iteration reads B[0], which the only iteration writes; the new order does not run them in this order
// ----- a load before what may do anything
%a = affine.load %B[0] : memref<?xf32>
"my.op"() : () -> ()
affine.for %j = 0 to 8 { affine.store %a, %A[0, %j] : memref<?x?xf32> }
// REFUSED AT 4: the load B[0] at line 2 stays: the write of B by my.op at line 3 may change what it loads
// ----- a buffer
%t = memref.alloc() : memref<f32>
affine.for %j = 0 to 8 { affine.store %x, %t[] : memref<f32> }
// REFUSED AT 3: memref.alloc of t at line 2 stays: it does more than to compute or to load
// ----- a symbol
%c = affine.apply affine_map<()[s0] -> (s0 * 2)>()[%n]
affine.for %j = 0 to 8 { affine.store %x, %B[%j * symbol(%c)] : memref<?xf32> }
// REFUSED AT 3: affine.apply of c at line 2 stays: its result is a symbol, which it would not be in a loop
// ----- a bound
%c = arith.constant 8 : index
affine.for %j = 0 to %c { affine.store %x, %B[%c] : memref<?xf32> }
// REFUSED AT 3: arith.constant of c at line 2 stays: something outside of the loop uses its result
// ----- nothing
affine.for %j = 0 to 8 { }
// REFUSED AT 2: it uses no result of what stands before it in its block
