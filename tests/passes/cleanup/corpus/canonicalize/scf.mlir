func.func @once(%A: memref<?xf32>, %n: index, %x: f32) -> f32 {
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c3 to %c4 step %c1 iter_args(%a = %x) -> f32 {
    memref.store %a, %A[%i] : memref<?xf32>
    %b = arith.addf %a, %a : f32
    scf.yield %b : f32
  }
  return %r : f32
}
// -----
func.func @once_by_step(%A: memref<?xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c8 {
    memref.store %x, %A[%i] : memref<?xf32>
  }
  return
}
// -----
func.func @never(%A: memref<?xf32>, %n: index, %x: f32) -> f32 {
  %c3 = arith.constant 3 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c3 to %c1 step %c1 iter_args(%a = %x) -> f32 {
    memref.store %a, %A[%i] : memref<?xf32>
    scf.yield %x : f32
  }
  scf.for %i = %n to %n step %n {
    memref.store %x, %A[%i] : memref<?xf32>
  }
  return %r : f32
}
// -----
func.func @carried_unchanged(%A: memref<?xf32>, %n: index, %x: f32, %y: f32) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (f32, f32) {
    %c = arith.addf %a, %b : f32
    memref.store %c, %A[%i] : memref<?xf32>
    scf.yield %a, %c : f32, f32
  }
  return %r#0, %r#1 : f32, f32
}
// -----
func.func @carried_unread(%A: memref<?xf32>, %n: index, %x: f32, %y: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y, %c = %y) -> (f32, f32, f32) {
    %d = arith.addf %a, %x : f32
    scf.yield %d, %d, %y : f32, f32, f32
  }
  %s = arith.addf %r#0, %r#2 : f32
  return %s : f32
}
// -----
func.func @hands_on_what_is_outside(%x: f32, %y: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %x) -> f32 {
    scf.yield %y : f32
  }
  return %r : f32
}
// -----
func.func @swaps(%n: index, %x: f32, %y: f32) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (f32, f32) {
    scf.yield %b, %a : f32, f32
  }
  return %r#0, %r#1 : f32, f32
}
// -----
func.func @known_conditions(%A: memref<?xf32>, %n: index, %x: f32, %y: f32) -> f32 {
  %t = arith.constant true
  %f = arith.constant false
  scf.if %t {
    memref.store %x, %A[%n] : memref<?xf32>
  }
  scf.if %f {
    memref.store %y, %A[%n] : memref<?xf32>
  }
  %r = scf.if %f -> f32 {
    scf.yield %x : f32
  } else {
    %z = arith.addf %x, %y : f32
    scf.yield %z : f32
  }
  return %r : f32
}
// -----
func.func @to_select(%b: i1, %x: f32, %y: f32) -> f32 {
  %r = scf.if %b -> f32 {
    scf.yield %x : f32
  } else {
    scf.yield %y : f32
  }
  return %r : f32
}
// -----
func.func @partly_to_select(%A: memref<?xf32>, %n: index, %b: i1, %x: f32, %y: f32) -> (f32, f32, f32) {
  %r:3 = scf.if %b -> (f32, f32, f32) {
    %z = memref.load %A[%n] : memref<?xf32>
    scf.yield %x, %z, %x : f32, f32, f32
  } else {
    memref.store %x, %A[%n] : memref<?xf32>
    scf.yield %y, %y, %x : f32, f32, f32
  }
  return %r#0, %r#1, %r#2 : f32, f32, f32
}
// -----
func.func @truth_of_results(%A: memref<?xf32>, %n: index, %b: i1, %x: f32) -> (i1, i1) {
  %t = arith.constant true
  %f = arith.constant false
  %r:2 = scf.if %b -> (i1, i1) {
    memref.store %x, %A[%n] : memref<?xf32>
    scf.yield %t, %f : i1, i1
  } else {
    scf.yield %f, %t : i1, i1
  }
  return %r#0, %r#1 : i1, i1
}
// -----
func.func @unused_results(%A: memref<?xf32>, %n: index, %b: i1, %x: f32) -> f32 {
  %r:2 = scf.if %b -> (f32, f32) {
    %y = memref.load %A[%n] : memref<?xf32>
    %z = arith.mulf %y, %y : f32
    scf.yield %y, %z : f32, f32
  } else {
    %z = arith.mulf %x, %x : f32
    scf.yield %x, %z : f32, f32
  }
  return %r#0 : f32
}
// -----
func.func @empty_else(%A: memref<?xf32>, %n: index, %b: i1, %x: f32) {
  scf.if %b {
    memref.store %x, %A[%n] : memref<?xf32>
  } else {
  }
  scf.if %b {
  }
  return
}
// -----
func.func @inverted(%A: memref<?xf32>, %n: index, %b: i1, %x: f32, %y: f32) {
  %t = arith.constant true
  %c = arith.xori %b, %t : i1
  scf.if %c {
    memref.store %x, %A[%n] : memref<?xf32>
  } else {
    memref.store %y, %A[%n] : memref<?xf32>
  }
  return
}
// -----
func.func @condition_inside(%A: memref<?xi1>, %n: index, %b: i1) {
  scf.if %b {
    memref.store %b, %A[%n] : memref<?xi1>
  } else {
    memref.store %b, %A[%n] : memref<?xi1>
  }
  return
}
// -----
func.func @nested(%A: memref<?xf32>, %n: index, %b: i1, %c: i1, %x: f32) {
  scf.if %b {
    scf.if %c {
      memref.store %x, %A[%n] : memref<?xf32>
    }
  }
  return
}
// -----
func.func @nested_with_results(%A: memref<?xf32>, %n: index, %b: i1, %c: i1, %x: f32, %y: f32) -> (f32, f32) {
  %r:2 = scf.if %b -> (f32, f32) {
    %s = scf.if %c -> f32 {
      %z = memref.load %A[%n] : memref<?xf32>
      scf.yield %z : f32
    } else {
      scf.yield %y : f32
    }
    scf.yield %s, %x : f32, f32
  } else {
    scf.yield %y, %y : f32, f32
  }
  return %r#0, %r#1 : f32, f32
}
// -----
func.func @same_condition(%A: memref<?xf32>, %n: index, %b: i1, %x: f32, %y: f32) {
  scf.if %b {
    memref.store %x, %A[%n] : memref<?xf32>
  } else {
    memref.store %y, %A[%n] : memref<?xf32>
  }
  scf.if %b {
    memref.store %y, %A[%n] : memref<?xf32>
  }
  return
}
// -----
func.func @opposite_conditions(%A: memref<?xf32>, %n: index, %b: i1, %x: f32, %y: f32) {
  %t = arith.constant true
  %c = arith.xori %b, %t : i1
  scf.if %b {
    memref.store %x, %A[%n] : memref<?xf32>
  }
  scf.if %c {
    memref.store %y, %A[%n] : memref<?xf32>
  }
  return
}
// -----
func.func @results_in_sequence(%A: memref<?xf32>, %n: index, %b: i1, %x: f32, %y: f32) -> f32 {
  %r = scf.if %b -> f32 {
    %z = memref.load %A[%n] : memref<?xf32>
    scf.yield %z : f32
  } else {
    scf.yield %y : f32
  }
  %s = scf.if %b -> f32 {
    %w = arith.addf %r, %x : f32
    scf.yield %w : f32
  } else {
    %w = arith.mulf %r, %x : f32
    scf.yield %w : f32
  }
  return %s : f32
}
// -----
func.func @parallel_once(%A: memref<?x?xf32>, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.parallel (%i, %j) = (%c0, %c1) to (%n, %c2) step (%c1, %c1) {
    memref.store %x, %A[%i, %j] : memref<?x?xf32>
  }
  return
}
// -----
func.func @parallel_never(%A: memref<?x?xf32>, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i, %j) = (%c0, %c1) to (%n, %c1) step (%c1, %c1) {
    memref.store %x, %A[%i, %j] : memref<?x?xf32>
  }
  return
}
// -----
func.func @parallel_reduction_once(%A: memref<?xf32>, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.parallel (%i) = (%c0) to (%c1) step (%c1) init (%x) -> f32 {
    %v = memref.load %A[%i] : memref<?xf32>
    scf.reduce(%v : f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  return %r : f32
}
// -----
func.func @parallel_nested(%A: memref<?x?xf32>, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.parallel (%j) = (%c0) to (%n) step (%c1) {
      memref.store %x, %A[%i, %j] : memref<?x?xf32>
    }
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.parallel (%j) = (%c0) to (%i) step (%c1) {
      memref.store %x, %A[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
// -----
func.func @switch_known(%x: f32, %y: f32) -> (f32, f32) {
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.index_switch %c1 -> f32
  case 1 {
    %z = arith.addf %x, %y : f32
    scf.yield %z : f32
  }
  case 2 {
    scf.yield %x : f32
  }
  default {
    scf.yield %y : f32
  }
  %s = scf.index_switch %c9 -> f32
  case 1 {
    scf.yield %x : f32
  }
  default {
    scf.yield %y : f32
  }
  return %r, %s : f32, f32
}
// -----
func.func @region(%A: memref<?xf32>, %n: index, %x: f32) -> f32 {
  %r = scf.execute_region -> f32 {
    memref.store %x, %A[%n] : memref<?xf32>
    %z = arith.addf %x, %x : f32
    scf.yield %z : f32
  }
  return %r : f32
}
// -----
func.func @while_with_constant_part(%n: i32, %m: i32) -> (i32, i32) {
  %c1 = arith.constant 1 : i32
  %r:2 = scf.while (%i = %n, %k = %m) : (i32, i32) -> (i32, i32) {
    %t = arith.cmpi slt, %i, %m : i32
    scf.condition(%t) %i, %k : i32, i32
  } do {
  ^bb0(%i: i32, %k: i32):
    %j = arith.addi %i, %c1 : i32
    scf.yield %j, %k : i32, i32
  }
  return %r#0, %r#1 : i32, i32
}
// -----
func.func @while_plain(%A: memref<?xi32>, %n: i32, %m: index) -> i32 {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %z = arith.addi %n, %c0 : i32
  %r = scf.while (%i = %z) : (i32) -> i32 {
    %v = memref.load %A[%m] : memref<?xi32>
    %t = arith.cmpi slt, %i, %v : i32
    scf.condition(%t) %i : i32
  } do {
  ^bb0(%i: i32):
    %j = arith.addi %c1, %i : i32
    scf.yield %j : i32
  }
  return %r : i32
}
// -----
func.func @while_unused(%A: memref<?xi32>, %n: i32, %m: index) -> i32 {
  %c1 = arith.constant 1 : i32
  %r:2 = scf.while (%i = %n) : (i32) -> (i32, i32) {
    %v = memref.load %A[%m] : memref<?xi32>
    %t = arith.cmpi slt, %i, %v : i32
    scf.condition(%t) %i, %v : i32, i32
  } do {
  ^bb0(%i: i32, %v: i32):
    %j = arith.addi %c1, %i : i32
    scf.yield %j : i32
  }
  return %r#0 : i32
}
// -----
func.func @nest_of_all(%A: memref<?xf32>, %n: index, %b: i1, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant true
  scf.for %i = %c0 to %n step %c1 {
    %c = arith.andi %b, %t : i1
    scf.if %c {
      %k = arith.addi %i, %c0 : index
      affine.for %j = 0 to 4 {
        %l = arith.addi %k, %j : index
        memref.store %x, %A[%l] : memref<?xf32>
      }
    } else {
      %k = arith.muli %i, %c0 : index
      memref.store %x, %A[%k] : memref<?xf32>
    }
  }
  return
}
