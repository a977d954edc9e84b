// RUN: affine-scalrep
// MEANT: 12
// FIXED POINT: yes
func.func @f(%A: memref<9xf32>, %B: memref<9xf32>, %n: index, %x: f32) {
  BODY
  return
}
// ----- a store, then a load
affine.for %i = 0 to 9 {
  affine.store %x, %A[%i] : memref<9xf32>
  %y = affine.load %A[%i] : memref<9xf32>
  %z = affine.load %A[%i] : memref<9xf32>
  %w = arith.addf %y, %z : f32
  affine.store %w, %A[%i] : memref<9xf32>
}
// ----- a buffer of which only stores are left
%T = memref.alloc() : memref<9xf32>
affine.for %i = 0 to 9 {
  affine.store %x, %T[%i] : memref<9xf32>
  %y = affine.load %T[%i] : memref<9xf32>
  affine.store %y, %B[%i] : memref<9xf32>
}
memref.dealloc %T : memref<9xf32>
// ----- loads of the same
affine.for %i = 0 to 9 {
  affine.for %j = 0 to 9 {
    %l = affine.load %B[%i] : memref<9xf32>
    %m = affine.load %B[%j] : memref<9xf32>
    %n1 = affine.load %B[%i] : memref<9xf32>
    %s = arith.addf %l, %m : f32
    %t = arith.addf %s, %n1 : f32
    affine.store %t, %A[%i] : memref<9xf32>
  }
}
// ----- a load between two stores
affine.for %i = 0 to 8 {
  affine.store %x, %A[%i] : memref<9xf32>
  %l = affine.load %A[%i + 1] : memref<9xf32>
  %k = affine.load %A[%i] : memref<9xf32>
  %s = arith.addf %l, %k : f32
  affine.store %s, %A[%i] : memref<9xf32>
}
// ----- composed subscripts
affine.for %i = 0 to 8 {
  %j = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
  affine.store %x, %A[%j] : memref<9xf32>
  %l = affine.load %A[%i + 1] : memref<9xf32>
  affine.store %l, %B[%i] : memref<9xf32>
}
// ----- vectors
affine.for %i = 0 to 5 {
  %v = affine.vector_load %A[%i] : memref<9xf32>, vector<4xf32>
  %w = affine.vector_load %A[%i] : memref<9xf32>, vector<4xf32>
  %s = arith.addf %v, %w : vector<4xf32>
  affine.vector_store %s, %B[%i] : memref<9xf32>, vector<4xf32>
}
// ----- stores in conditions
affine.for %i = 0 to 9 {
  affine.store %x, %A[%i] : memref<9xf32>
  affine.if affine_set<(d0) : (d0 - 3 >= 0)>(%i) {
    %y = arith.addf %x, %x : f32
    affine.store %y, %A[%i] : memref<9xf32>
  }
  %l = affine.load %A[%i] : memref<9xf32>
  affine.store %l, %B[%i] : memref<9xf32>
}
// ----- stays: a store that a lane of a vector may overwrite
affine.for %i = 0 to 3 {
  affine.store %x, %A[%i + 2] : memref<9xf32>
  %w = affine.vector_load %B[%i] : memref<9xf32>, vector<4xf32>
  affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%i) {
    affine.vector_store %w, %A[%i] : memref<9xf32>, vector<4xf32>
  }
  %y = affine.load %A[%i + 2] : memref<9xf32>
  affine.store %y, %B[8] : memref<9xf32>
}
// ----- stays: a wide store, then a narrow one
%w = vector.broadcast %x : f32 to vector<4xf32>
%v = vector.broadcast %x : f32 to vector<1xf32>
affine.vector_store %w, %A[0] : memref<9xf32>, vector<4xf32>
affine.vector_store %v, %A[0] : memref<9xf32>, vector<1xf32>
// ----- stays: a load after a store that may be to it
affine.for %i = 0 to 9 {
  %y = affine.load %A[4] : memref<9xf32>
  affine.store %y, %A[%i] : memref<9xf32>
  %z = affine.load %A[4] : memref<9xf32>
  affine.store %z, %B[%i] : memref<9xf32>
  affine.store %x, %A[%i] : memref<9xf32>
}
// ----- stays: a load that a view of the buffer overwrites
%V = memref.subview %A[2] [4] [1] : memref<9xf32> to memref<4xf32, strided<[1], offset: 2>>
affine.for %i = 0 to 4 {
  %y = affine.load %A[3] : memref<9xf32>
  %d = arith.addf %y, %x : f32
  affine.store %d, %V[1] : memref<4xf32, strided<[1], offset: 2>>
  %z = affine.load %A[%i] : memref<9xf32>
  affine.store %z, %B[%i] : memref<9xf32>
}
// ----- stays: a load that a store further down overwrites for the next iteration
affine.store %x, %A[0] : memref<9xf32>
affine.for %i = 0 to 4 {
  %y = affine.load %A[0] : memref<9xf32>
  %z = arith.addf %y, %x : f32
  affine.store %z, %A[0] : memref<9xf32>
}
// ----- stays: what the same store stored in the iteration before
affine.for %i = 0 to 9 {
  %y = affine.load %B[%i] : memref<9xf32>
  affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%i) {
    affine.for %j = 0 to 9 {
      %l = affine.load %A[%j] : memref<9xf32>
      affine.store %l, %B[%j] : memref<9xf32>
    }
  }
  affine.for %j = 0 to 9 { affine.store %y, %A[%j] : memref<9xf32> }
}
// ----- stays: vectors of several sizes
%v = affine.vector_load %A[0] : memref<9xf32>, vector<4xf32>
affine.vector_store %v, %B[0] : memref<9xf32>, vector<4xf32>
%w = affine.vector_load %A[0] : memref<9xf32>, vector<2xf32>
affine.vector_store %w, %B[5] : memref<9xf32>, vector<2xf32>
%u = affine.vector_load %B[0] : memref<9xf32>, vector<2xf32>
affine.vector_store %u, %B[7] : memref<9xf32>, vector<2xf32>
// ----- stays: what something unknown may change or read
affine.store %x, %A[0] : memref<9xf32>
"test.use"(%A) : (memref<9xf32>) -> ()
%y = affine.load %A[0] : memref<9xf32>
affine.store %y, %A[0] : memref<9xf32>
// ----- stays: a store that only some iterations overwrite
affine.for %i = 0 to 9 { affine.store %x, %A[%i] : memref<9xf32> }
affine.for %i = 0 to 9 step 2 {
  %y = arith.addf %x, %x : f32
  affine.store %y, %A[%i] : memref<9xf32>
}
// ----- stays: a value of another iteration
affine.for %i = 0 to 9 {
  %y = affine.load %B[%i] : memref<9xf32>
  affine.store %y, %A[%i] : memref<9xf32>
}
affine.for %i = 0 to 9 {
  %z = affine.load %A[%i] : memref<9xf32>
  %s = arith.addf %z, %x : f32
  affine.store %s, %B[%i] : memref<9xf32>
}
// ----- stays: a value before which there may be another
affine.for %i = 0 to %n { affine.store %x, %A[%i] : memref<9xf32> }
affine.for %i = 0 to 9 {
  %z = affine.load %A[%i] : memref<9xf32>
  affine.store %z, %B[%i] : memref<9xf32>
}
// ----- stays: a buffer that something unknown gets hold of
%T = memref.alloc() : memref<9xf32>
affine.store %x, %T[0] : memref<9xf32>
"test.use"(%T) : (memref<9xf32>) -> ()
affine.store %x, %T[1] : memref<9xf32>
