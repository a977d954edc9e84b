// memref.load, store, copy, dim, rank, prefetch, atomic_rmw, assume_alignment, distinct_objects, and their attributes.
func.func @load_store(%A: memref<8x?xf32>, %s: memref<i64>, %i: index, %j: index) {
  %0 = memref.load %A[%i, %j] : memref<8x?xf32>
  %1 = memref.load %s[] : memref<i64>
  %2 = memref.load %A[%i, %j] {nontemporal = true} : memref<8x?xf32>
  %3 = memref.load %A[%i, %j] {alignment = 16 : i64, nontemporal = true, note = "kept"} : memref<8x?xf32>
  memref.store %0, %A[%j, %i] : memref<8x?xf32>
  memref.store %1, %s[] : memref<i64>
  memref.store %2, %A[%i, %i] {nontemporal = true} : memref<8x?xf32>
  memref.store %2, %A[%i, %i] {alignment = 4 : i64} : memref<8x?xf32>
  %4 = "memref.load"(%A, %i, %j) <{nontemporal = false}> : (memref<8x?xf32>, index, index) -> f32
  "memref.store"(%4, %A, %i, %j) : (f32, memref<8x?xf32>, index, index) -> ()
  return
}

func.func @shapes(%A: memref<8x?xf32>, %U: memref<*xf32>, %B: memref<?x8xf32>) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = memref.dim %A, %c1 : memref<8x?xf32>
  %1 = memref.dim %U, %c0 : memref<*xf32>
  %2 = memref.rank %A : memref<8x?xf32>
  %3 = memref.rank %U : memref<*xf32>
  %4 = memref.dim {note = "kept"} %B, %c0 : memref<?x8xf32>
  memref.copy %A, %B : memref<8x?xf32> to memref<?x8xf32>
  memref.copy %A, %A {note = "kept"} : memref<8x?xf32> to memref<8x?xf32>
  return %0, %1, %3 : index, index, index
}

func.func @hints(%A: memref<8x8xf32>, %i: index) {
  memref.prefetch %A[%i, %i], read, locality<3>, data : memref<8x8xf32>
  memref.prefetch %A[%i, %i], write, locality<0>, instr : memref<8x8xf32>
  %0 = memref.assume_alignment %A, 16 : memref<8x8xf32>
  %1, %2 = memref.distinct_objects %A, %0 : memref<8x8xf32>, memref<8x8xf32>
  %3:2 = memref.distinct_objects %A, %0 {note = "kept"} : memref<8x8xf32>, memref<8x8xf32>
  return
}

func.func @atomic(%F: memref<8xf32>, %I: memref<8xi32>, %x: f32, %a: i32, %i: index) {
  %0 = memref.atomic_rmw addf %x, %F[%i] : (f32, memref<8xf32>) -> f32
  %1 = memref.atomic_rmw mulf %x, %F[%i] : (f32, memref<8xf32>) -> f32
  %2 = memref.atomic_rmw maximumf %x, %F[%i] : (f32, memref<8xf32>) -> f32
  %3 = memref.atomic_rmw minimumf %x, %F[%i] : (f32, memref<8xf32>) -> f32
  %4 = memref.atomic_rmw addi %a, %I[%i] : (i32, memref<8xi32>) -> i32
  %5 = memref.atomic_rmw muli %a, %I[%i] : (i32, memref<8xi32>) -> i32
  %6 = memref.atomic_rmw maxs %a, %I[%i] : (i32, memref<8xi32>) -> i32
  %7 = memref.atomic_rmw maxu %a, %I[%i] : (i32, memref<8xi32>) -> i32
  %8 = memref.atomic_rmw mins %a, %I[%i] : (i32, memref<8xi32>) -> i32
  %9 = memref.atomic_rmw minu %a, %I[%i] : (i32, memref<8xi32>) -> i32
  %10 = memref.atomic_rmw ori %a, %I[%i] : (i32, memref<8xi32>) -> i32
  %11 = memref.atomic_rmw andi %a, %I[%i] : (i32, memref<8xi32>) -> i32
  %12 = memref.atomic_rmw assign %a, %I[%i] : (i32, memref<8xi32>) -> i32
  %13 = memref.atomic_rmw xori %a, %I[%i] : (i32, memref<8xi32>) -> i32
  %14 = memref.generic_atomic_rmw %I[%i] : memref<8xi32> {
  ^bb0(%old: i32):
    %15 = arith.addi %old, %a : i32
    memref.atomic_yield %15 : i32
  }
  return
}
