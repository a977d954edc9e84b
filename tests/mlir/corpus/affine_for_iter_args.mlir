// affine.for with iter_args: one and several, types with and without parentheses, results by number, nested loops.
func.func @sum(%A: memref<1024xf32>) -> (f32, index) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %total:2 = affine.for %i = 0 to 1024 step 2 iter_args(%acc = %zero, %count = %c0) -> (f32, index) {
    %x = affine.load %A[%i] : memref<1024xf32>
    %next = arith.addf %acc, %x : f32
    %more = arith.addi %count, %i : index
    affine.yield %next, %more : f32, index
  }
  %last = affine.for %i = 0 to 4 iter_args(%acc = %total#0) -> (f32) {
    affine.yield %acc : f32
  } {note = "keeps"}
  %plain = affine.for %i = 0 to 4 iter_args(%acc = %last) -> f32 {
    affine.yield %acc : f32
  }
  return %plain, %total#1 : f32, index
}

func.func @nested(%A: memref<?x?xf64>, %n: index, %m: index) -> f64 {
  %zero = arith.constant 0.0 : f64
  %0 = affine.for %i = 0 to %n iter_args(%outer = %zero) -> (f64) {
    %1 = affine.for %j = 0 to %m iter_args(%inner = %outer) -> (f64) {
      %x = affine.load %A[%i, %j] : memref<?x?xf64>
      %y = arith.addf %inner, %x : f64
      affine.yield %y : f64
    }
    affine.yield %1 : f64
  }
  return %0 : f64
}

// Carried values may be rotated, be memrefs or vectors, and be left unused.
func.func @rotated(%a: i64, %b: i64, %v: vector<4xf32>, %A: memref<8xf32>, %B: memref<8xf32>) -> i64 {
  %0:2 = affine.for %i = 0 to 10 iter_args(%x = %a, %y = %b) -> (i64, i64) {
    %z = arith.addi %x, %y : i64
    affine.yield %y, %z : i64, i64
  }
  %1:3 = affine.for %i = 0 to 3 iter_args(%P = %A, %Q = %B, %w = %v) -> (memref<8xf32>, memref<8xf32>, vector<4xf32>) {
    affine.yield %Q, %P, %w : memref<8xf32>, memref<8xf32>, vector<4xf32>
  }
  return %0#1 : i64
}

// Groups of results: `%a:2, %b` names three.
func.func @groups(%x: f32) -> (f32, f32, f32) {
  %a:2, %b = affine.for %i = 0 to 2 iter_args(%p = %x, %q = %x, %r = %x) -> (f32, f32, f32) {
    affine.yield %q, %r, %p : f32, f32, f32
  }
  return %a#0, %a#1, %b : f32, f32, f32
}
