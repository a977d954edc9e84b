func.func @constant_bounds(%A: memref<?xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : index
  affine.for %i = %c0 to %c10 {
    affine.store %x, %A[%i] : memref<?xf32>
  }
  affine.for %i = affine_map<(d0) -> (d0 + 1)>(%c0) to affine_map<(d0) -> (d0 * 2)>(%c10) step 3 {
    affine.store %x, %A[%i] : memref<?xf32>
  }
  return
}
// -----
func.func @max_of_constants(%A: memref<?xf32>, %x: f32) {
  %c3 = arith.constant 3 : index
  %c10 = arith.constant 10 : index
  affine.for %i = max affine_map<(d0, d1) -> (d0, d1, 5)>(%c3, %c10) to min affine_map<(d0) -> (d0 * 3, 40)>(%c10) {
    affine.store %x, %A[%i] : memref<?xf32>
  }
  return
}
// -----
func.func @partly_constant(%A: memref<?xf32>, %n: index, %x: f32) {
  %c3 = arith.constant 3 : index
  affine.for %i = max affine_map<(d0, d1) -> (d0, d1)>(%c3, %n) to min affine_map<(d0, d1) -> (d0 * 30, d1 + 40)>(%c3, %n) {
    affine.store %x, %A[%i] : memref<?xf32>
  }
  return
}
// -----
func.func @composed_bounds(%A: memref<?xf32>, %n: index, %x: f32) {
  %a = affine.apply affine_map<()[s0] -> (s0 + 4)>()[%n]
  %b = affine.apply affine_map<()[s0] -> (s0 * 2)>()[%a]
  affine.for %i = %a to %b {
    %c = affine.apply affine_map<(d0) -> (d0 * 2)>(%i)
    affine.for %j = affine_map<(d0) -> (d0)>(%c) to affine_map<(d0) -> (d0 + 8)>(%c) {
      affine.store %x, %A[%j - %c] : memref<?xf32>
    }
  }
  return
}
// -----
func.func @redundant_bounds(%A: memref<?xf32>, %x: f32) {
  affine.for %i = 0 to 10 {
    affine.for %j = max affine_map<(d0) -> (-1, d0)>(%i) to min affine_map<(d0) -> (d0 + 5, 30)>(%i) {
      affine.store %x, %A[%j] : memref<?xf32>
    }
    affine.for %j = max affine_map<(d0) -> (4, d0)>(%i) to min affine_map<(d0) -> (d0 + 5, 12)>(%i) {
      affine.store %x, %A[%j] : memref<?xf32>
    }
  }
  return
}
// -----
func.func @equal_lower_bounds(%A: memref<?xf32>, %n: index, %x: f32) {
  affine.for %i = max affine_map<(d0, d1) -> (d0, d1, d0)>(%n, %n) to 100 {
    affine.store %x, %A[%i] : memref<?xf32>
  }
  return
}
// -----
func.func @equal_upper_bounds(%A: memref<?xf32>, %n: index, %m: index, %x: f32) {
  affine.for %i = 0 to min affine_map<(d0, d1, d2) -> (d0, d1, d2)>(%n, %m, %n) {
    affine.store %x, %A[%i] : memref<?xf32>
  }
  return
}
// -----
func.func @never_runs(%A: memref<?xf32>, %x: f32) -> f32 {
  %r = affine.for %i = 5 to 5 iter_args(%a = %x) -> f32 {
    affine.store %a, %A[%i] : memref<?xf32>
    %b = arith.addf %a, %a : f32
    affine.yield %b : f32
  }
  return %r : f32
}
// -----
func.func @never_runs_without_results(%A: memref<?xf32>, %x: f32) {
  affine.for %i = 7 to 3 {
    affine.store %x, %A[%i] : memref<?xf32>
  }
  return
}
// -----
func.func @empty(%n: index, %x: f32, %y: f32) -> (f32, f32) {
  affine.for %i = 0 to %n {
  }
  %r:2 = affine.for %i = 0 to %n iter_args(%a = %x, %b = %y) -> (f32, f32) {
    affine.yield %a, %b : f32, f32
  }
  return %r#0, %r#1 : f32, f32
}
// -----
func.func @empty_that_runs(%x: f32, %y: f32, %z: f32) -> (f32, f32, f32, f32) {
  %r:2 = affine.for %i = 0 to 3 iter_args(%a = %x, %b = %y) -> (f32, f32) {
    affine.yield %z, %b : f32, f32
  }
  %s:2 = affine.for %i = 0 to 1 iter_args(%a = %x, %b = %y) -> (f32, f32) {
    affine.yield %b, %a : f32, f32
  }
  return %r#0, %r#1, %s#0, %s#1 : f32, f32, f32, f32
}
// -----
func.func @empty_that_may_run(%n: index, %x: f32, %y: f32, %z: f32) -> (f32, f32, f32, f32) {
  %r:2 = affine.for %i = 0 to %n iter_args(%a = %x, %b = %y) -> (f32, f32) {
    affine.yield %z, %b : f32, f32
  }
  %s:2 = affine.for %i = 0 to 4 iter_args(%a = %x, %b = %y) -> (f32, f32) {
    affine.yield %b, %a : f32, f32
  }
  return %r#0, %r#1, %s#0, %s#1 : f32, f32, f32, f32
}
// -----
func.func @counter_comes_out(%x: index) -> index {
  %r = affine.for %i = 0 to 4 iter_args(%a = %x) -> index {
    affine.yield %i : index
  }
  return %r : index
}
// -----
func.func @dead_loops(%A: memref<?xf32>, %n: index) {
  affine.for %i = 0 to %n {
    %v = affine.load %A[%i] : memref<?xf32>
    %w = arith.mulf %v, %v : f32
  }
  affine.for %i = 0 to %n {
    affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) {
      %v = affine.load %A[%i + %j] : memref<?xf32>
    }
  }
  affine.parallel (%i) = (0) to (10) {
    %v = affine.load %A[%i] : memref<?xf32>
  }
  return
}
// -----
func.func @dead_reduction(%A: memref<?xf32>, %n: index, %x: f32) {
  %r = affine.for %i = 0 to %n iter_args(%a = %x) -> f32 {
    %v = affine.load %A[%i] : memref<?xf32>
    %w = arith.addf %v, %a : f32
    affine.yield %w : f32
  }
  return
}
// -----
func.func @unused_result(%A: memref<?xf32>, %n: index, %x: f32) -> f32 {
  %r:2 = affine.for %i = 0 to %n iter_args(%a = %x, %b = %x) -> (f32, f32) {
    %v = affine.load %A[%i] : memref<?xf32>
    %w = arith.addf %v, %a : f32
    %u = arith.mulf %v, %b : f32
    affine.yield %w, %u : f32, f32
  }
  return %r#0 : f32
}
// -----
func.func @constants_leave_loops(%A: memref<?xf32>, %n: index) {
  affine.for %i = 0 to %n {
    %c = arith.constant 1.0 : f32
    affine.for %j = 0 to %n {
      %d = arith.constant 2.0 : f32
      %e = arith.addf %c, %d : f32
      affine.store %e, %A[%i + %j] : memref<?xf32>
      affine.store %d, %A[%i - %j] : memref<?xf32>
    }
  }
  return
}
// -----
func.func @order_of_constants(%A: memref<?xi32>) -> (i32, i32, i32, i32) {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  affine.for %i = 0 to 4 {
    %c3 = arith.constant 3 : i32
    %c1_0 = arith.constant 1 : i32
    affine.store %c3, %A[%i] : memref<?xi32>
    affine.store %c1_0, %A[%i] : memref<?xi32>
  }
  %c4 = arith.constant 4 : i32
  %c5 = arith.constant 5 : i32
  %c9 = arith.addi %c4, %c5 : i32
  return %c5, %c2, %c4, %c9 : i32, i32, i32, i32
}
// -----
func.func @ifs(%A: memref<?xf32>, %n: index, %x: f32) {
  affine.for %i = 0 to 10 {
    affine.if affine_set<(d0) : (0 == 0)>(%i) {
      affine.store %x, %A[%i] : memref<?xf32>
    }
    affine.if affine_set<(d0) : (1 == 0)>(%i) {
      affine.store %x, %A[%i + 1] : memref<?xf32>
    } else {
      affine.store %x, %A[%i + 2] : memref<?xf32>
    }
    affine.if affine_set<() : (1 == 0)>() {
      affine.store %x, %A[%i + 3] : memref<?xf32>
    }
  }
  return
}
// -----
func.func @empty_branches(%A: memref<?xf32>, %n: index, %x: f32) {
  affine.for %i = 0 to 10 {
    affine.if affine_set<(d0) : (d0 - 4 >= 0)>(%i) {
      affine.store %x, %A[%i] : memref<?xf32>
    } else {
    }
    affine.if affine_set<(d0) : (d0 - 4 >= 0)>(%i) {
    } else {
    }
    affine.if affine_set<(d0) : (d0 - 4 >= 0)>(%i) {
    } else {
      affine.store %x, %A[%i] : memref<?xf32>
    }
  }
  return
}
// -----
func.func @if_with_results(%A: memref<?xf32>, %n: index, %x: f32, %y: f32) -> f32 {
  %r = affine.if affine_set<()[s0] : (0 == 0)>()[%n] -> f32 {
    %s = arith.addf %x, %y : f32
    affine.yield %s : f32
  } else {
    affine.yield %y : f32
  }
  %t = affine.if affine_set<()[s0] : (s0 - 1 >= 0)>()[%n] -> f32 {
    %s = arith.addf %r, %y : f32
    affine.yield %s : f32
  } else {
    affine.yield %y : f32
  }
  return %t : f32
}
// -----
func.func @composed_condition(%A: memref<?xf32>, %n: index, %x: f32) {
  affine.for %i = 0 to 10 {
    %k = affine.apply affine_map<(d0)[s0] -> (d0 * 2 - s0)>(%i)[%n]
    affine.if affine_set<(d0, d1)[s0] : (d0 - d1 >= 0, s0 - d1 - 1 >= 0, d0 mod 2 == 0)>(%k, %i)[%n] {
      affine.store %x, %A[%i] : memref<?xf32>
    }
  }
  return
}
// -----
func.func @condition_over_constants(%A: memref<?xf32>, %n: index, %x: f32) {
  %c5 = arith.constant 5 : index
  affine.for %i = 0 to 10 {
    affine.if affine_set<(d0, d1)[s0] : (d0 - d1 >= 0, s0 - d0 >= 0)>(%i, %c5)[%c5] {
      affine.store %x, %A[%i] : memref<?xf32>
    }
  }
  return
}
// -----
func.func @parallel_bounds(%A: memref<?x?xf32>, %n: index, %x: f32) {
  %c4 = arith.constant 4 : index
  %m = affine.apply affine_map<()[s0] -> (s0 + 1)>()[%n]
  affine.parallel (%i, %j) = (0, max(%m, %c4)) to (%m * 2, min(%m + 8, 100)) step (2, 1) {
    affine.store %x, %A[%i, %j] : memref<?x?xf32>
  }
  return
}
// -----
func.func @parallel_reduction(%A: memref<100xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %r = affine.parallel (%i) = (%c0) to (100) reduce ("addf") -> f32 {
    %k = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
    %v = affine.load %A[%k - 1] : memref<100xf32>
    affine.yield %v : f32
  }
  return %r : f32
}
// -----
func.func @min_max(%A: memref<?xindex>, %n: index, %m: index) -> (index, index, index) {
  %c4 = arith.constant 4 : index
  %a = affine.min affine_map<(d0, d1) -> (d0, d1, d0)>(%n, %m)
  %b = affine.max affine_map<(d0)[s0] -> (d0 + 1, s0)>(%n)[%c4]
  %c = affine.min affine_map<()[s0, s1] -> (s0, s1 + 4, 16)>()[%a, %b]
  return %a, %b, %c : index, index, index
}
// -----
func.func @min_of_one() -> (index, index, index) {
  %c4 = arith.constant 4 : index
  %c9 = arith.constant 9 : index
  %a = affine.min affine_map<(d0, d1) -> (d0, d1)>(%c4, %c9)
  %b = affine.max affine_map<(d0, d1) -> (d0 + 7, d1)>(%c4, %c9)
  %c = affine.max affine_map<(d0) -> (d0)>(%b)
  return %a, %b, %c : index, index, index
}
// -----
func.func @min_single(%n: index) -> (index, index) {
  %a = affine.min affine_map<(d0) -> (d0 * 2 + 1)>(%n)
  %b = affine.max affine_map<(d0) -> (d0, d0)>(%n)
  return %a, %b : index, index
}
// -----
func.func @nested_min(%A: memref<?xindex>, %n: index, %m: index) {
  affine.for %i = 0 to 100 {
    %a = affine.min affine_map<(d0)[s0] -> (d0 + 4, s0)>(%i)[%n]
    %b = affine.min affine_map<(d0, d1)[s0] -> (d0, s0 - d1)>(%a, %i)[%m]
    memref.store %b, %A[%i] : memref<?xindex>
    %c = affine.max affine_map<(d0)[s0] -> (d0 + 4, s0)>(%i)[%n]
    %d = affine.max affine_map<(d0, d1) -> (d0, d1, d0)>(%c, %c)
    memref.store %d, %A[%i] : memref<?xindex>
  }
  return
}
// -----
func.func @min_in_order(%A: memref<?xindex>, %n: index) {
  affine.for %i = 0 to 100 {
    %a = affine.min affine_map<(d0)[s0] -> (d0 + s0, s0, d0 - 1, 7)>(%i)[%n]
    memref.store %a, %A[%i] : memref<?xindex>
    %b = affine.max affine_map<(d0)[s0] -> (-d0 + s0, s0 floordiv 2, 7)>(%i)[%n]
    memref.store %b, %A[%i] : memref<?xindex>
  }
  return
}
// -----
func.func @tile_sizes(%A: memref<?xindex>, %n: index) {
  %c32 = arith.constant 32 : index
  affine.for %i = 0 to %n step 32 {
    %a = affine.min affine_map<(d0)[s0, s1] -> (s1, s0 - d0)>(%i)[%n, %c32]
    %b = affine.apply affine_map<(d0) -> (d0 ceildiv 32)>(%i)
    affine.store %b, %A[%b] : memref<?xindex>
    memref.store %a, %A[%i] : memref<?xindex>
  }
  return
}
// -----
func.func @delinearize(%n: index) -> (index, index, index) {
  %c12 = arith.constant 12 : index
  %a:3 = affine.delinearize_index %c12 into (2, 3, 4) : index, index, index
  return %a#0, %a#1, %a#2 : index, index, index
}
// -----
func.func @delinearize_ones(%n: index) -> (index, index, index) {
  %a:3 = affine.delinearize_index %n into (1, 8, 1) : index, index, index
  return %a#0, %a#1, %a#2 : index, index, index
}
// -----
func.func @delinearize_static(%n: index) -> (index, index) {
  %c8 = arith.constant 8 : index
  %a:2 = affine.delinearize_index %n into (%n, %c8) : index, index
  return %a#0, %a#1 : index, index
}
// -----
func.func @delinearize_single(%n: index) -> index {
  %a = affine.delinearize_index %n into (%n) : index
  return %a : index
}
// -----
func.func @linearize_of_delinearize(%n: index) -> index {
  %a:3 = affine.delinearize_index %n into (2, 3, 4) : index, index, index
  %b = affine.linearize_index disjoint [%a#0, %a#1, %a#2] by (2, 3, 4) : index
  return %b : index
}
// -----
func.func @delinearize_of_linearize(%n: index, %m: index) -> (index, index) {
  %b = affine.linearize_index disjoint [%n, %m] by (8, 4) : index
  %a:2 = affine.delinearize_index %b into (8, 4) : index, index
  return %a#0, %a#1 : index, index
}
// -----
func.func @linearize_constants(%n: index) -> (index, index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = affine.linearize_index [%c1, %c2] by (2, 4) : index
  %b = affine.linearize_index [%n] by (8) : index
  return %a, %b : index, index
}
// -----
func.func @linearize_ones(%n: index, %m: index) -> (index, index) {
  %c8 = arith.constant 8 : index
  %c0 = arith.constant 0 : index
  %a = affine.linearize_index [%n, %m] by (%c8, %c8) : index
  %b = affine.linearize_index [%c0, %n, %m] by (4, 1, 8) : index
  return %a, %b : index, index
}
// -----
func.func @dma(%A: memref<100xf32>, %B: memref<100xf32, 2>, %tag: memref<1xi32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  affine.for %i = 0 to 10 {
    %k = affine.apply affine_map<(d0) -> (d0 * 8)>(%i)
    affine.dma_start %A[%k], %B[%k + 1], %tag[%c0], %c8 : memref<100xf32>, memref<100xf32, 2>, memref<1xi32>
    affine.dma_wait %tag[%c0], %c8 : memref<1xi32>
  }
  return
}
