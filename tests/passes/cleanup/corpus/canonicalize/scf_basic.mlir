func.func @f1(%A: memref<?xf32>, %n: index, %x: f32, %b: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  scf.for %i = %c5 to %c0 step %c1 { memref.store %x, %A[%i] : memref<?xf32> }
  scf.for %i = %c0 to %c1 step %c1 { memref.store %x, %A[%i] : memref<?xf32> }
  scf.for %i = %n to %n step %c1 { memref.store %x, %A[%i] : memref<?xf32> }
  %r = scf.for %i = %n to %n step %c1 iter_args(%a = %x) -> f32 { memref.store %a, %A[%i] : memref<?xf32> 
    scf.yield %a : f32 }
  return %r : f32
}

// -----

func.func @iters(%A: memref<?xf32>, %n: index, %x: f32, %y: f32) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x, %c = %x, %d = %x) -> (f32, f32, f32, f32) { memref.store %a, %A[%i] : memref<?xf32> 
    %e = arith.addf %b, %y : f32
    %g = arith.addf %c, %y : f32
    scf.yield %a, %e, %g, %y : f32, f32, f32, f32 }
  return %r#0, %r#1 : f32, f32
}

// -----

func.func @empty(%A: memref<?xf32>, %n: index, %x: f32, %y: f32) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (f32, f32) { scf.yield %a, %b : f32, f32 }
  %s:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (f32, f32) { scf.yield %b, %a : f32, f32 }
  %t = arith.addf %s#0, %s#1 : f32
  return %r#0, %t : f32, f32
}

// -----

func.func @ifs(%A: memref<?xf32>, %n: index, %x: f32, %y: f32, %b: i1, %c: i1) -> (f32, f32, f32, i1) {
  %t = arith.constant true
  scf.if %t { memref.store %x, %A[%n] : memref<?xf32> } else { memref.store %y, %A[%n] : memref<?xf32> }
  scf.if %b { } else { memref.store %y, %A[%n] : memref<?xf32> }
  scf.if %b { memref.store %y, %A[%n] : memref<?xf32> } else { }
  %r = scf.if %b -> f32 { scf.yield %x : f32 } else { scf.yield %y : f32 }
  %s:2 = scf.if %b -> (f32, f32) { memref.store %y, %A[%n] : memref<?xf32>
     scf.yield %x, %y : f32, f32 } else { scf.yield %y, %x : f32, f32 }
  scf.if %b { scf.if %c { memref.store %y, %A[%n] : memref<?xf32> } }
  scf.if %b { scf.if %b { memref.store %y, %A[%n] : memref<?xf32> } }
  %u:2 = scf.if %c -> (f32, i1) { 
      memref.store %y, %A[%n] : memref<?xf32>
     %w = arith.addf %x, %y : f32
     scf.yield %w, %c : f32, i1 } else { scf.yield %y, %c : f32, i1 }
  return %r, %s#1, %u#0, %u#1 : f32, f32, f32, i1
}

// -----

func.func @combine(%A: memref<?xf32>, %n: index, %x: f32, %y: f32, %b: i1, %c: i1) -> (f32, f32) {
  scf.if %b { memref.store %x, %A[%n] : memref<?xf32> } 
  scf.if %b { memref.store %y, %A[%n] : memref<?xf32> } else { memref.store %x, %A[%n] : memref<?xf32> }
  %r = scf.if %b -> f32 { %z = arith.addf %x, %y : f32 
     scf.yield %z : f32 } else { scf.yield %y : f32 }
  %s = scf.if %b -> f32 { %z = arith.addf %r, %y : f32 
     scf.yield %z : f32 } else { scf.yield %y : f32 }
  return %r, %s : f32, f32
}

// -----

func.func @not(%A: memref<?xf32>, %n: index, %x: f32, %y: f32, %b: i1, %c: i1) -> (i1, i1, i1, i1) {
  %t = arith.constant true
  %f = arith.constant false
  %r:4 = scf.if %b -> (i1, i1, i1, i1) { memref.store %x, %A[%n] : memref<?xf32>
    scf.yield %t, %f, %b, %t : i1, i1, i1, i1 } else { memref.store %y, %A[%n] : memref<?xf32>
   scf.yield %f, %t, %c, %t : i1, i1, i1, i1 }
  return %r#0, %r#1, %r#2, %r#3 : i1, i1, i1, i1
}

// -----

func.func @par(%A: memref<?x?xf32>, %n: index, %x: f32, %y: f32, %b: i1, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c1) step (%c1, %c1) { memref.store %x, %A[%i, %j] : memref<?x?xf32> }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c0) step (%c1, %c1) { memref.store %x, %A[%i, %j] : memref<?x?xf32> }
  scf.parallel (%i, %j) = (%c0, %c0) to (%c1, %c1) step (%c1, %c1) { memref.store %x, %A[%i, %j] : memref<?x?xf32> }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) { scf.parallel (%j) = (%c0) to (%n) step (%c1) { memref.store %x, %A[%i, %j] : memref<?x?xf32> } }
  return
}

// -----

func.func @whiles(%A: memref<?xf32>, %n: index, %x: i32, %y: i32, %b: i1, %c: i1) -> (i32, i32) {
  %c1 = arith.constant 1 : i32
  %r:2 = scf.while (%i = %x, %k = %y) : (i32, i32) -> (i32, i32) {
     %t = arith.cmpi slt, %i, %y : i32
     scf.condition(%t) %i, %k : i32, i32
  } do {
  ^bb0(%i: i32, %k: i32):
     %j = arith.addi %i, %c1 : i32
     scf.yield %j, %k : i32, i32
  }
  %q:2 = scf.while (%i = %x) : (i32) -> (i32, i32) {
     %t = arith.cmpi slt, %i, %y : i32
     scf.condition(%t) %i, %i : i32, i32
  } do {
  ^bb0(%i: i32, %k: i32):
     %j = arith.addi %i, %c1 : i32
     scf.yield %j : i32
  }
  %f = arith.constant false
  %w = scf.while (%i = %x) : (i32) -> (i32) {
     scf.condition(%f) %i : i32
  } do {
  ^bb0(%i: i32):
     %j = arith.addi %i, %c1 : i32
     scf.yield %j : i32
  }
  %s = arith.addi %q#0, %q#1 : i32
  %s2 = arith.addi %s, %w : i32
  return %r#0, %s2 : i32, i32
}

// -----

func.func @switch(%A: memref<?xf32>, %n: index, %x: f32, %y: f32) -> f32 {
  %c1 = arith.constant 1 : index
  %r = scf.index_switch %c1 -> f32
  case 1 { scf.yield %x : f32 }
  default { scf.yield %y : f32 }
  %s = scf.execute_region -> f32 { %z = arith.addf %x, %r : f32
    scf.yield %z : f32 }
  %s2 = scf.index_switch %n -> f32
  case 1 { scf.yield %x : f32 }
  default { scf.yield %s : f32 }
  return %s2 : f32
}
