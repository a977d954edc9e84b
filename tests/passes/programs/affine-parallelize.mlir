// RUN: affine-parallelize{max-nested=1 parallel-reductions=false}
// RUN: affine-parallelize{max-nested=1 parallel-reductions=true}
// RUN: affine-parallelize{max-nested=4294967295 parallel-reductions=false}
// RUN: affine-parallelize{max-nested=4294967295 parallel-reductions=true}
// CLEAN: canonicalize
// MEANT: 4 runs=4
// FIXED POINT: yes
func.func @f(%A: memref<40x40xf32>, %B: memref<40xf32>, %I: memref<40xi32>, %n: index, %s: f32, %c: i32)
    -> (f32, i32) {
  BODY
}
// ----- two nested
affine.for %i = 0 to 40 {
  affine.for %j = max affine_map<(d0)[s0] -> (d0, s0)>(%i)[%n] to 40 step 3 {
    %a = affine.load %A[%i, %j] : memref<40x40xf32>
    %b = arith.addf %a, %s : f32
    affine.store %b, %A[%i, %j] : memref<40x40xf32>
  }
}
return %s, %c : f32, i32
// ----- a time loop
affine.for %t = 0 to 4 {
  affine.for %j = 1 to min affine_map<()[s0] -> (s0, 39)>()[%n] {
    %a = affine.load %A[1, %j - 1] : memref<40x40xf32>
    affine.store %a, %A[2, %j] : memref<40x40xf32>
  }
  affine.for %j = 1 to 39 {
    %a = affine.load %A[2, %j + 1] : memref<40x40xf32>
    affine.store %a, %A[1, %j] : memref<40x40xf32>
  }
}
return %s, %c : f32, i32
// ----- guarded
affine.for %i = 0 to 40 {
  affine.if affine_set<(d0)[s0] : (s0 - d0 - 1 >= 0)>(%i)[%n] {
    affine.store %s, %B[%i] : memref<40xf32>
  } else {
    affine.store %s, %B[39 - %i + 0] : memref<40xf32>
  }
}
return %s, %c : f32, i32
// ----- a local array
affine.for %i = 0 to 40 {
  %t = memref.alloc() : memref<4xf32>
  affine.store %s, %t[1] : memref<4xf32>
  %b = affine.load %t[1] : memref<4xf32>
  affine.store %b, %B[%i] : memref<40xf32>
}
return %s, %c : f32, i32
// ----- in the right order
affine.for %i = 1 to 40 {
  %b = affine.load %B[%i - 1] : memref<40xf32>
  affine.store %b, %B[%i] : memref<40xf32>
}
return %s, %c : f32, i32
// ----- sums
%r = affine.for %i = 0 to %n iter_args(%t = %s) -> (f32) {
  %b = affine.load %B[%i] : memref<40xf32>
  %u = arith.addf %b, %t : f32
  affine.yield %u : f32
}
%q:2 = affine.for %i = 0 to 40 step 7 iter_args(%t = %c, %v = %r) -> (i32, f32) {
  %b = affine.load %I[%i] : memref<40xi32>
  %x = affine.load %B[%i] : memref<40xf32>
  %w = arith.maximumf %v, %x : f32
  %u = arith.ori %t, %b : i32
  affine.yield %u, %w : i32, f32
}
return %q#1, %q#0 : f32, i32
// ----- stays: a minimum that no band has
%r = affine.for %i = 0 to 40 iter_args(%t = %c) -> (i32) {
  %b = affine.load %I[%i] : memref<40xi32>
  %u = arith.minsi %b, %t : i32
  affine.yield %u : i32
}
return %s, %r : f32, i32
// ----- stays: a sum of several terms
%r = affine.for %i = 0 to 40 iter_args(%t = %c) -> (i32) {
  %b = affine.load %I[%i] : memref<40xi32>
  %u = arith.addi %b, %t : i32
  %v = arith.addi %u, %c : i32
  affine.yield %v : i32
}
return %s, %r : f32, i32
// ----- stays: a recurrence
%r:2 = affine.for %i = 0 to 40 iter_args(%t = %c, %u = %c) -> (i32, i32) {
  %v = arith.addi %t, %u : i32
  affine.yield %u, %v : i32, i32
}
return %s, %r#0 : f32, i32
// ----- stays: a sum in memory
affine.for %i = 0 to 40 {
  %a = affine.load %I[3] : memref<40xi32>
  %u = arith.addi %a, %c : i32
  affine.store %u, %I[3] : memref<40xi32>
}
return %s, %c : f32, i32
// ----- stays: one array for all
affine.for %i = 0 to 40 {
  affine.store %s, %B[0] : memref<40xf32>
  %b = affine.load %B[0] : memref<40xf32>
  affine.store %b, %A[%i, 0] : memref<40x40xf32>
}
return %s, %c : f32, i32
// ----- stays: vectors that overlap
affine.for %i = 0 to 36 {
  %v = vector.broadcast %s : f32 to vector<4xf32>
  affine.vector_store %v, %B[%i] : memref<40xf32>, vector<4xf32>
}
return %s, %c : f32, i32
// ----- stays: an operation that nobody knows
affine.for %i = 0 to 40 { "test.use"(%i) : (index) -> () }
return %s, %c : f32, i32
