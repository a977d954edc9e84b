// STEP: privatize(t, i)
// CANNOT: privatize t in loop i
func.func @f(%A: memref<?x?xf32>, %B: memref<?xf32>, %n: index, %x: f32) {
BODY
return }
// ----- an argument
// STEP: privatize(B, i)
// CANNOT: privatize B in loop i
affine.for %i = 0 to %n { affine.store %x, %B[0] : memref<?xf32> }
// REFUSED AT 1: B is an argument: the caller sees what is in it
// ----- handed on
%t = memref.alloc() : memref<f32>
affine.for %i = 0 to %n { "my.op"(%t) : (memref<f32>) -> () }
// REFUSED AT 2: my.op gets hold of t: what it does to it is not known
// ----- already
affine.for %i = 0 to %n {
  %t = memref.alloc() : memref<f32>
  affine.store %x, %t[] : memref<f32> }
// REFUSED AT 3: each iteration of i makes its own t already
// ----- not used
%t = memref.alloc() : memref<f32>
affine.store %x, %t[] : memref<f32>
affine.for %i = 0 to %n { }
// REFUSED AT 4: the loop i does not use t
// ----- freed inside
%t = memref.alloc() : memref<f32>
affine.for %i = 0 to 1 { memref.dealloc %t : memref<f32> }
// REFUSED AT 3: the loop i gives t back
// ----- a view outside
%t = memref.alloc() : memref<8xf32>
%v = memref.cast %t : memref<8xf32> to memref<?xf32>
affine.for %i = 0 to 8 { affine.store %x, %v[%i] : memref<?xf32> }
// REFUSED AT 3: v is a part of t that is made outside of the loop
// ----- carried
%t = memref.alloc() : memref<8xf32>
affine.for %i = 2 to 8 {
  affine.store %x, %t[%i] : memref<8xf32>
  affine.if affine_set<(d0) : (d0 - 4 >= 0)>(%i) {
    %a = affine.load %t[%i - 2] : memref<8xf32>
    affine.store %a, %B[%i] : memref<?xf32>
  } }
// REFUSED AT 6: the load t[i - 2] at line 6 may see what the store t[i] at line 4 wrote in iteration i - 2,
//     e.g. i = 2 writes t[2], which i = 4 reads
//     legal: expand(func, t, i)
// ----- carried from different iterations
%t = memref.alloc() : memref<8xf32>
affine.for %i = 0 to 8 {
  affine.store %x, %t[%i] : memref<8xf32>
  %a = affine.load %t[0] : memref<8xf32>
  affine.store %a, %B[%i] : memref<?xf32>
}
// REFUSED AT 5: the load t[0] at line 5 may see what the store t[i] at line 4 wrote in other iterations,
//     e.g. i = 0 writes t[0], which i = 1 reads
// ----- from before
%t = memref.alloc() : memref<f32>
affine.store %x, %t[] : memref<f32>
affine.for %i = 0 to %n {
  %a = affine.load %t[] : memref<f32>
  affine.store %a, %B[%i] : memref<?xf32>
}
// REFUSED AT 5: the load t[] at line 5 may see what the store t[] at line 3 wrote before the loop
// ----- not written
%t = memref.alloc() : memref<f32>
affine.for %i = 0 to %n {
  affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%i) { affine.store %x, %t[] : memref<f32> }
  %a = affine.load %t[] : memref<f32>
  affine.store %a, %B[%i] : memref<?xf32>
}
// REFUSED AT 5: the load t[] at line 5 may see what its iteration has not written
// ----- live behind
%t = memref.alloc() : memref<f32>
affine.for %i = 0 to 9 { affine.store %x, %t[] : memref<f32> }
%a = affine.load %t[] : memref<f32>
affine.store %a, %B[0] : memref<?xf32>
// REFUSED AT 4: the load t[] at line 4, outside of the loop, sees what the store t[] at line 3 wrote,
//     e.g. i = 8 writes t[]
//     legal: expand(func, t, i)
// ----- another run
%t = memref.alloc() : memref<f32>
affine.store %x, %t[] : memref<f32>
affine.for %o = 0 to 4 { affine.for %i = 0 to 9 {
  affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%i) { affine.store %x, %t[] : memref<f32> }
  affine.if affine_set<(d0, d1) : (d0 == 0, d1 - 1 >= 0)>(%i, %o) {
    %a = affine.load %t[] : memref<f32>
    affine.store %a, %B[%i] : memref<?xf32> } } }
// REFUSED AT 7: the load t[] at line 7 may see what the store t[] at line 5 wrote in another run of the loop,
//     e.g. (o, i) = (0, 8) writes t[], which (o, i) = (1, 0) reads
// ----- a guard that is known at run time
%t = memref.alloc() : memref<f32>
affine.for %i = 0 to %n {
  %c = arith.cmpf olt, %x, %x : f32
  scf.if %c { affine.store %x, %t[] : memref<f32> }
  %a = affine.load %t[] : memref<f32>
  affine.store %a, %B[%i] : memref<?xf32>
}
// REFUSED AT 6: the load t[] at line 6 may see what the store t[] at line 5 wrote in other iterations
