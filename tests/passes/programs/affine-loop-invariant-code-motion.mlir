// RUN: affine-loop-invariant-code-motion
// MEANT: 12
// FIXED POINT: yes
func.func @f(%A: memref<9xf32>, %B: memref<9xf32>, %n: index, %m: index, %x: f32) {
  BODY
  return
}
// ----- values, loads and stores
affine.for %i = 0 to 9 {
  %c = arith.constant 2.0 : f32
  %y = arith.addf %x, %c : f32
  %b = affine.load %B[0] : memref<9xf32>
  %z = arith.mulf %y, %b : f32
  affine.store %z, %A[%i] : memref<9xf32>
}
// ----- a store of the same
affine.for %i = 0 to 9 { affine.store %x, %A[3] : memref<9xf32> }
affine.for %i = 0 to 9 {
  %c = affine.vector_load %B[0] : memref<9xf32>, vector<4xf32>
  affine.vector_store %c, %A[0] : memref<9xf32>, vector<4xf32>
}
// ----- what else is read or written stays
affine.for %i = 0 to 9 {
  affine.store %x, %A[%i] : memref<9xf32>
  affine.store %x, %A[3] : memref<9xf32>
}
affine.for %i = 0 to 9 {
  affine.store %x, %A[0] : memref<9xf32>
  %v = affine.load %A[0] : memref<9xf32>
  affine.store %v, %B[%i] : memref<9xf32>
}
// ----- whole loops
affine.for %i = 0 to 9 {
  affine.for %j = 0 to 9 { affine.store %x, %A[%j] : memref<9xf32> }
  %r = affine.for %j = 0 to 9 iter_args(%q = %x) -> f32 {
    %u = arith.addf %q, %q : f32
    affine.yield %u : f32
  }
  affine.store %r, %B[%i] : memref<9xf32>
}
// ----- through two loops
affine.for %i = 0 to 9 {
  affine.for %j = 0 to 9 {
    %v = affine.load %B[%i] : memref<9xf32>
    %u = arith.addf %v, %x : f32
    affine.store %u, %A[%i] : memref<9xf32>
  }
}
// ----- conditions
affine.for %i = 0 to 9 {
  affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%n) { affine.store %x, %A[3] : memref<9xf32> }
}
affine.for %i = 0 to 9 {
  %u = arith.addf %x, %x : f32
  %r = affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%n) -> f32 {
    affine.yield %u : f32
  } else {
    %w = affine.load %B[3] : memref<9xf32>
    affine.yield %w : f32
  }
  affine.store %r, %A[%i] : memref<9xf32>
  affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%i) { affine.store %x, %A[3] : memref<9xf32> }
}
// ----- loops that may be empty
affine.for %i = 0 to %n {
  %b = affine.load %B[4] : memref<9xf32>
  %y = arith.addf %b, %x : f32
  affine.store %y, %A[%i] : memref<9xf32>
}
// ----- divisions that have a result
%seven = arith.constant 7 : index
affine.for %i = 0 to %n {
  %q = arith.divsi %n, %seven : index
  %s = arith.shli %q, %seven : index
  %t = affine.apply affine_map<(d0) -> (d0 mod 9)>(%s)
  memref.store %x, %A[%t] : memref<9xf32>
}
// ----- buffers are made where they are
affine.for %i = 0 to 9 {
  %T = memref.alloc() : memref<4xf32>
  affine.store %x, %T[0] : memref<4xf32>
  memref.copy %A, %B : memref<9xf32> to memref<9xf32>
}
affine.parallel (%i) = (0) to (9) {
  %u = arith.addf %x, %x : f32
  affine.store %u, %A[%i] : memref<9xf32>
}
// ----- bands
affine.for %i = 0 to 9 {
  %p = affine.parallel (%j) = (0) to (9) reduce ("addf") -> f32 {
    %v = affine.load %A[%j] : memref<9xf32>
    affine.yield %v : f32
  }
  affine.store %p, %B[%i] : memref<9xf32>
}
// ----- stays: a store, if the loop may be empty
affine.for %i = 0 to %n { affine.store %x, %A[3] : memref<9xf32> }
affine.for %i = 3 to 3 { affine.store %x, %A[4] : memref<9xf32> }
affine.for %i = 0 to 4 {
  affine.for %j = 1 to affine_map<(d0) -> (d0)>(%i) { affine.store %x, %A[5] : memref<9xf32> }
}
// ----- stays: a load that may be out of bounds, if the loop may be empty
affine.for %i = 0 to %n {
  %b = affine.load %B[symbol(%m)] : memref<9xf32>
  affine.store %b, %A[%i] : memref<9xf32>
}
// ----- stays: a load before the first element, if the loop may be empty
affine.for %i = 0 to %n {
  %b = affine.load %B[symbol(%m) mod 5 - 1] : memref<9xf32>
  affine.store %b, %A[%i] : memref<9xf32>
}
// ----- stays: a load whose last lanes are out of bounds, if the loop may be empty
affine.for %i = 0 to %n {
  %b = affine.vector_load %B[6] : memref<9xf32>, vector<4xf32>
  affine.vector_store %b, %A[%i] : memref<9xf32>, vector<4xf32>
}
// ----- stays: a load of what was given back, if the loop may be empty
memref.dealloc %B : memref<9xf32>
affine.for %i = 0 to %n {
  %b = affine.load %B[0] : memref<9xf32>
  affine.store %b, %A[%i] : memref<9xf32>
}
// ----- stays: a load of what a call gave back, if the loop may be empty
call @g(%B) : (memref<9xf32>) -> ()
affine.for %i = 0 to %n {
  %b = affine.load %B[0] : memref<9xf32>
  affine.store %b, %A[%i] : memref<9xf32>
}
return }
func.func private @g(%B: memref<9xf32>) { call @h(%B) : (memref<9xf32>) -> () return }
func.func private @h(%B: memref<9xf32>) { memref.dealloc %B : memref<9xf32>
// ----- stays: a load of what an iteration around gives back, if the loop may be empty
affine.for %t = 0 to %m {
  affine.for %i = 0 to %n {
    %b = affine.load %B[0] : memref<9xf32>
    affine.store %b, %A[%i] : memref<9xf32>
  }
  affine.if affine_set<(d0) : (d0 - 3 == 0)>(%t) { memref.dealloc %B : memref<9xf32> }
}
// ----- stays: a load of what nobody wrote, if the loop may be empty
%T = memref.alloc() : memref<9xf32>
affine.for %i = 0 to %n {
  %b = affine.load %T[0] : memref<9xf32>
  affine.store %b, %A[%i] : memref<9xf32>
}
// ----- stays: a division by who knows what, if the loop may be empty
affine.for %i = 0 to %n {
  %q = arith.divsi %n, %m : index
  %r = affine.apply affine_map<(d0)[s0] -> (d0 floordiv s0)>(%n)[%m]
  "test.use"(%q, %r) : (index, index) -> ()
}
// ----- stays: divisions and shifts that LLVM leaves open, if the loop may be empty
%zero = arith.constant 0 : index
%minus = arith.constant -1 : index
%many = arith.constant 64 : index
affine.for %i = 0 to %n {
  %q = arith.divsi %n, %zero : index
  %r = arith.remsi %n, %minus : index
  %s = arith.shli %n, %many : index
  %t = arith.fptosi %x : f32 to i32
  "test.use"(%q, %r, %s, %t) : (index, index, index, i32) -> ()
}
// ----- stays: a store that a view of the buffer reads
%V = memref.subview %A[2] [4] [1] : memref<9xf32> to memref<4xf32, strided<[1], offset: 2>>
affine.for %i = 0 to 4 {
  %v = affine.load %V[1] : memref<4xf32, strided<[1], offset: 2>>
  affine.store %v, %B[%i] : memref<9xf32>
  affine.store %x, %A[3] : memref<9xf32>
}
// ----- stays: a load that a lane of a vector overwrites
affine.for %i = 0 to 2 {
  %v = affine.load %A[5] : memref<9xf32>
  %w = vector.broadcast %v : f32 to vector<4xf32>
  affine.vector_store %w, %A[%i + 2] : memref<9xf32>, vector<4xf32>
}
// ----- stays: what follows something that may not return
affine.for %i = 0 to 4 {
  "test.stop"() : () -> ()
  affine.store %x, %A[3] : memref<9xf32>
  %b = affine.load %B[symbol(%m)] : memref<9xf32>
  "test.use"(%b) : (f32) -> ()
}
// ----- stays: a sum over the iterations
affine.for %i = 0 to 4 {
  affine.for %j = 0 to 4 {
    %v = affine.load %A[%j] : memref<9xf32>
    %u = arith.addf %v, %x : f32
    affine.store %u, %A[%j] : memref<9xf32>
  }
}
// ----- stays: what a block inside uses of the loop
affine.for %i = 0 to 4 {
  %v = affine.load %A[%i] : memref<9xf32>
  affine.for %j = 0 to 4 { affine.store %v, %B[%j] : memref<9xf32> }
}
