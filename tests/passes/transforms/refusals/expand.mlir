// STEP: expand(t, i)
// CANNOT: expand t by loop i
func.func @f(%A: memref<?x?xf32>, %B: memref<?xf32>, %n: index, %x: f32) {
BODY
return }
// ----- an argument
// STEP: expand(B, i)
// CANNOT: expand B by loop i
affine.for %i = 0 to 4 { affine.store %x, %B[0] : memref<?xf32> }
// REFUSED AT 1: B is an argument: the caller sees what is in it
// ----- a layout
%t = memref.alloc() : memref<4xf32, affine_map<(d0) -> (d0 + 1)>>
affine.for %i = 0 to 4 { affine.store %x, %t[%i] : memref<4xf32, affine_map<(d0) -> (d0 + 1)>> }
// REFUSED AT 2: t has a layout of its own
// ----- a copy
%t = memref.alloc() : memref<4xf32>
%u = memref.alloc() : memref<4xf32>
affine.for %i = 0 to 4 { memref.copy %t, %u : memref<4xf32> to memref<4xf32> }
// REFUSED AT 4: memref.copy uses t otherwise than element by element
// ----- several lower bounds
%t = memref.alloc() : memref<4xf32>
affine.for %i = max affine_map<()[s0] -> (s0, 1)>()[%n] to 4 { affine.store %x, %t[%i] : memref<4xf32> }
// REFUSED AT 3: i begins at the largest of several numbers
// ----- not used
%t = memref.alloc() : memref<4xf32>
affine.for %i = 0 to 4 { }
// REFUSED AT 3: the loop i does not use t
// ----- different distances
%t = memref.alloc() : memref<f32>
affine.store %x, %t[] : memref<f32>
affine.for %i = 0 to %n {
  affine.if affine_set<(d0) : (d0 mod 2 == 0)>(%i) { affine.store %x, %t[] : memref<f32> }
  %b = affine.load %t[] : memref<f32>
  affine.store %b, %B[%i] : memref<?xf32>
}
// REFUSED AT 6: the load t[] at line 6 sees what the store t[] at line 5 wrote in iterations at different distances: [0, 1],
//     e.g. i = 0 writes t[], which i = 1 reads (for n = 2)
// ----- older, later
%t = memref.alloc() : memref<8xf32>
affine.store %x, %t[0] : memref<8xf32>
affine.for %i = 1 to 8 {
  affine.store %x, %t[%i] : memref<8xf32>
  %b = affine.load %t[0] : memref<8xf32>
  affine.store %b, %B[%i] : memref<?xf32>
}
// REFUSED AT 6: the load t[0] at line 6 may see what was there before the loop, and not only in the first iteration
// ----- older, or what the loop wrote
%t = memref.alloc() : memref<f32>
affine.store %x, %t[] : memref<f32>
affine.for %i = 0 to 8 {
  affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%i) { affine.store %x, %t[] : memref<f32> }
  %b = affine.load %t[] : memref<f32>
  affine.store %b, %B[%i] : memref<?xf32>
}
// REFUSED AT 6: the load t[] at line 6 may see what was there before the loop, or what the loop wrote
// ----- from run to run
%t = memref.alloc() : memref<f32>
affine.store %x, %t[] : memref<f32>
affine.for %o = 0 to 4 { affine.for %i = 0 to 8 {
  %b = affine.load %t[] : memref<f32>
  affine.store %b, %B[%i] : memref<?xf32>
  affine.store %x, %t[] : memref<f32> } }
// REFUSED AT 2: t holds something before or behind the loop i, and is not made in the same block
// ----- more than the last
%t = memref.alloc() : memref<8xf32>
affine.for %i = 0 to 8 { affine.store %x, %t[%i] : memref<8xf32> }
%b = affine.load %t[3] : memref<8xf32>
affine.store %b, %B[0] : memref<?xf32>
// REFUSED AT 4: the load t[3] at line 4, behind the loop, may see what the store t[i] at line 3 wrote before the last iteration
// ----- older, behind
%t = memref.alloc() : memref<8xf32>
affine.store %x, %t[1] : memref<8xf32>
affine.for %i = 0 to 8 { affine.store %x, %t[0] : memref<8xf32> }
affine.for %k = 0 to 2 {
%b = affine.load %t[%k] : memref<8xf32>
affine.store %b, %B[0] : memref<?xf32> }
// REFUSED AT 6: the load t[k] at line 6, behind the loop, may see what was there before it
// ----- no last slice
affine.for %o = 0 to 3 {
  %t = memref.alloc() : memref<f32>
  affine.for %i = 0 to %n { affine.store %x, %t[] : memref<f32> }
  affine.store %x, %t[] : memref<f32>
}
// REFUSED AT 5: how often i runs is no one affine expression, so its last slice cannot be named
// ----- a size that comes too late
%c = arith.constant 0 : index
%t = memref.alloc() : memref<f32>
affine.store %x, %t[] : memref<f32>
%m = memref.dim %B, %c : memref<?xf32>
affine.for %i = 0 to %m {
  %b = affine.load %t[] : memref<f32>
  affine.store %x, %t[] : memref<f32>
  affine.store %b, %B[%i] : memref<?xf32> }
// REFUSED AT 3: how often i runs is not known where t is made
