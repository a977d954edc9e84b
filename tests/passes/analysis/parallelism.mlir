// ----- arrays of which each iteration may have its own
func.func @f(%A: memref<?x8xf32>, %B: memref<?x8xf32>, %n: index) {
  %t = memref.alloc() : memref<8xf32>
  affine.for %i = 0 to %n {  // %i is parallel if privatized: each iteration needs its own t
    affine.for %j = 0 to 8 {  // %j is parallel
      %a = affine.load %A[%i, %j] : memref<?x8xf32>
      affine.store %a, %t[%j] : memref<8xf32>
    }
    affine.for %j = 0 to 8 {  // %j is parallel
      %b = affine.load %t[7 - %j] : memref<8xf32>
      affine.store %b, %B[%i, %j] : memref<?x8xf32>
    }
  }
  return
}
// ----- an array that is not written whole is not private
func.func @f(%A: memref<?x8xf32>, %t: memref<8xf32>, %n: index) {
  affine.for %i = 0 to %n {  // %i is sequential: output of t from line 5 to line 5 at distance [1, +inf][0, 0]; flow of t from line 5 to line 8 at distance [1, +inf]; anti of t from line 8 to line 5 at distance [1, +inf]; anti of t from line 8 to line 12 at distance [1, +inf]; flow of t from line 12 to line 8 at distance [1, +inf]; output of t from line 12 to line 12 at distance [1, +inf]
    affine.for %j = 0 to 7 {  // %j is parallel
      %a = affine.load %A[%i, %j] : memref<?x8xf32>
      affine.store %a, %t[%j] : memref<8xf32>
    }
    affine.for %j = 0 to 8 {  // %j is parallel
      %b = affine.load %t[%j] : memref<8xf32>
      affine.store %b, %A[%i, %j] : memref<?x8xf32>
    }
    %A0 = arith.constant 1.0 : f32
    affine.store %A0, %t[7] : memref<8xf32>
  }
  return
}
// ----- rotated arguments are a recurrence
func.func @f(%n: index, %x: i64) -> i64 {
  %a, %b = affine.for %i = 0 to %n iter_args(%s = %x, %t = %x) -> (i64, i64) {  // %i is sequential: %s of one iteration is used in the next, and not only combined; %t of one iteration is used in the next, and not only combined
    %u = arith.addi %s, %t : i64
    affine.yield %t, %u : i64, i64
  }
  return %a : i64
}
// ----- an argument that stays the same prevents nothing
func.func @f(%A: memref<?xf32>, %n: index, %x: f32) -> f32 {
  %a = affine.for %i = 0 to %n iter_args(%s = %x) -> f32 {  // %i is parallel
    affine.store %s, %A[%i] : memref<?xf32>
    affine.yield %s : f32
  }
  return %a : f32
}
// ----- a call that may do anything
func.func @f(%n: index) {
  affine.for %i = 0 to %n { func.call @print(%i) : (index) -> () }  // %i is unknown: @print may do anything
  return
}
func.func private @print(index)
// ----- an operation that may do anything
func.func @f(%n: index) {
  affine.for %i = 0 to %n { "my.op"(%i) : (index) -> () }  // %i is unknown: my.op may do anything
  return
}
// ----- a call that is known prevents what it touches
func.func @f(%A: memref<8xf32>, %B: memref<8xf32>, %n: index) {
  affine.for %i = 0 to %n { func.call @read(%A) : (memref<8xf32>) -> () }  // %i is parallel
  affine.for %i = 0 to %n { func.call @change(%A) : (memref<8xf32>) -> () }  // %i is sequential: output of A from line 3 to line 3 at distance [1, +inf]
  return
}
func.func private @read(%A: memref<8xf32>) { %a = affine.load %A[0] : memref<8xf32> return }
func.func private @change(%A: memref<8xf32>) {
  %a = affine.load %A[0] : memref<8xf32>
  affine.store %a, %A[1] : memref<8xf32>
  return
}
// ----- a buffer of each iteration
func.func @f(%A: memref<?xf32>, %n: index) {
  affine.for %i = 0 to %n {  // %i is parallel
    %t = memref.alloc() : memref<1xf32>
    %a = affine.load %A[%i] : memref<?xf32>
    affine.store %a, %t[0] : memref<1xf32>
    %b = affine.load %t[0] : memref<1xf32>
    affine.store %b, %A[%i] : memref<?xf32>
    memref.dealloc %t : memref<1xf32>
  }
  return
}
// ----- loops that are known at run time
func.func @f(%A: memref<?xf32>, %I: memref<?xindex>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %x = arith.constant 1.0 : f32
  scf.for %i = %zero to %n step %one { memref.store %x, %A[%i] : memref<?xf32> }  // %i is parallel
  scf.for %i = %zero to %n step %one {  // %i is unknown: output of A from line 8 to line 8 at distance [1, +inf], if any: %k is not affine
    %k = memref.load %I[%i] : memref<?xindex>
    memref.store %x, %A[%k] : memref<?xf32>
  }
  return
}
// ----- bands
func.func @f(%A: memref<8x8xf32>, %x: f32) -> f32 {
  affine.parallel (%i, %j) = (0, 0) to (8, 8) { affine.store %x, %A[%i, 0] : memref<8x8xf32> }  // %i is parallel // %j is parallel if privatized: each iteration needs its own A
  %s = affine.parallel (%k) = (0) to (8) reduce ("addf") -> f32 {  // %k is parallel with reductions: addf of %s, rounded
    %a = affine.load %A[%k, 0] : memref<8x8xf32>
    affine.yield %a : f32
  }
  %t = affine.parallel (%p) = (0) to (8) reduce ("assign") -> f32 {  // %p is sequential: %t depends on the order of the iterations
    %a = affine.load %A[%p, 0] : memref<8x8xf32>
    affine.yield %a : f32
  }
  return %s : f32
}
// ----- a maximum of scf.parallel
func.func @f(%A: memref<?xf32>, %n: index) -> f32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %x = arith.constant 0.0 : f32
  %s = scf.parallel (%i) = (%zero) to (%n) step (%one) init (%x) -> f32 {  // %i is parallel with reductions: maximumf of %s
    %a = memref.load %A[%i] : memref<?xf32>
    scf.reduce(%a : f32) {
    ^bb0(%l: f32, %r: f32):
      %c = arith.maximumf %l, %r : f32
      scf.reduce.return %c : f32
    }
  }
  return %s : f32
}
// ----- a difference in scf.parallel
func.func @f(%A: memref<?xf32>, %n: index) -> f32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %x = arith.constant 0.0 : f32
  %s = scf.parallel (%i) = (%zero) to (%n) step (%one) init (%x) -> f32 {  // %i is sequential: %s depends on the order of the iterations
    %a = memref.load %A[%i] : memref<?xf32>
    scf.reduce(%a : f32) {
    ^bb0(%l: f32, %r: f32):
      %c = arith.subf %l, %r : f32
      scf.reduce.return %c : f32
    }
  }
  return %s : f32
}
// ----- a loop of another kind is not listed
func.func @f(%c: i1) {
  scf.while : () -> () { scf.condition(%c) } do { scf.yield }
  return
}
