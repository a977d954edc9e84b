// scf.for, while, parallel with reduce, forall: with and without values, typed induction variables, attributes.
func.func @for(%l: index, %u: index, %s: index, %x: f32, %a: i32) -> (f32, i32) {
  scf.for %i = %l to %u step %s {
  }
  %0 = scf.for %i = %l to %u step %s iter_args(%acc = %x) -> (f32) {
    %y = arith.addf %acc, %acc : f32
    scf.yield %y : f32
  }
  %1:2 = scf.for %i = %l to %u step %s iter_args(%p = %0, %q = %a) -> (f32, i32) {
    scf.yield %p, %q : f32, i32
  } {note = "kept"}
  scf.for %i = %a to %a step %a : i32 {
    %k = arith.addi %i, %a : i32
    scf.yield
  }
  %2 = scf.for unsigned %i = %a to %a step %a iter_args(%p = %a) -> (i32) : i32 {
    scf.yield %p : i32
  }
  scf.for unsigned %i = %l to %u step %s {
  }
  return %1#0, %2 : f32, i32
}

func.func @while(%x: i64, %p: i1, %f: f32) -> i64 {
  %0 = scf.while (%a = %x) : (i64) -> i64 {
    %c = arith.cmpi slt, %a, %x : i64
    scf.condition(%c) %a : i64
  } do {
  ^bb0(%b: i64):
    %n = arith.addi %b, %b : i64
    scf.yield %n : i64
  }
  scf.while : () -> () {
    scf.condition(%p)
  } do {
    scf.yield
  }
  %1:2 = scf.while (%a = %x, %g = %f) : (i64, f32) -> (f32, i64) {
    scf.condition(%p) {note = "kept"} %g, %a : f32, i64
  } do {
  ^bb0(%g: f32, %b: i64):
    scf.yield %b, %g : i64, f32
  } attributes {note = "kept"}
  return %0 : i64
}

func.func @parallel(%l: index, %u: index, %s: index, %A: memref<?x?xf32>, %x: f32, %n: i32) -> f32 {
  scf.parallel (%i, %j) = (%l, %l) to (%u, %u) step (%s, %s) {
    memref.store %x, %A[%i, %j] : memref<?x?xf32>
  }
  %0 = scf.parallel (%i) = (%l) to (%u) step (%s) init (%x) -> f32 {
    %v = memref.load %A[%i, %i] : memref<?x?xf32>
    scf.reduce(%v : f32) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      scf.reduce.return %c : f32
    }
  }
  %1:2 = scf.parallel (%i, %j) = (%l, %l) to (%u, %u) step (%s, %s) init (%x, %n) -> (f32, i32) {
    scf.reduce(%x, %n : f32, i32) {
    ^bb0(%a: f32, %b: f32):
      scf.reduce.return %a : f32
    }, {
    ^bb0(%a: i32, %b: i32):
      scf.reduce.return %b : i32
    }
  } {note = "kept"}
  scf.parallel (%i) = (%l) to (%u) step (%s) {
    scf.reduce
  }
  return %0 : f32
}

func.func @forall(%n: index, %t: tensor<8xf32>) -> tensor<8xf32> {
  scf.forall (%i, %j) in (4, %n) {
  }
  scf.forall (%i) = (0) to (%n) step (2) {
  } {note = "kept"}
  return %t : tensor<8xf32>
}

// -----

// Of the operations on tensors we read the generic form only.
func.func @shared(%t: tensor<8xf32>) -> tensor<8xf32> {
  %0 = scf.forall (%i) in (8) shared_outs(%o = %t) -> (tensor<8xf32>) {
    %s = tensor.extract_slice %o[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  return %0 : tensor<8xf32>
}
