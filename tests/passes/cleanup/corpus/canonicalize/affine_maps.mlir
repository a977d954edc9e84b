// An apply is composed into what reads it.
func.func @chain(%A: memref<100xf32>, %n: index) -> f32 {
  %a = affine.apply affine_map<(d0) -> (d0 + 1)>(%n)
  %b = affine.apply affine_map<(d0) -> (d0 * 2)>(%a)
  %c = affine.apply affine_map<(d0, d1) -> (d0 - d1)>(%b, %n)
  %v = affine.load %A[%c] : memref<100xf32>
  return %v : f32
}
// -----
func.func @dims_become_symbols(%A: memref<?xf32>, %n: index, %m: index, %x: f32) {
  affine.for %i = 0 to 10 {
    affine.store %x, %A[%i + %n * 2 - %m] : memref<?xf32>
    %k = affine.apply affine_map<(d0, d1, d2) -> (d2 + d1 * 3 + d0)>(%n, %i, %m)
    memref.store %x, %A[%k] : memref<?xf32>
  }
  return
}
// -----
func.func @constants_in_maps(%A: memref<64xf32>, %x: f32) {
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  affine.for %i = 0 to 8 {
    affine.store %x, %A[%i * 4 + %c4 - %c7 + 3] : memref<64xf32>
    %k = affine.apply affine_map<(d0)[s0, s1] -> (d0 mod s0 + s1)>(%i)[%c4, %c7]
    affine.store %x, %A[%k] : memref<64xf32>
  }
  return
}
// -----
func.func @repeated_operands(%A: memref<64xf32>, %n: index, %x: f32) {
  affine.for %i = 0 to 8 {
    %k = affine.apply affine_map<(d0, d1)[s0, s1] -> (d0 + d1 + s0 * 2 - s1)>(%i, %i)[%n, %n]
    affine.store %x, %A[%k] : memref<64xf32>
  }
  return
}
// -----
func.func @unused_operands(%n: index, %m: index) -> (index, index) {
  %a = affine.apply affine_map<(d0, d1)[s0] -> (d1 + 1)>(%n, %m)[%n]
  %b = affine.apply affine_map<(d0, d1)[s0] -> (s0 * 0 + 5)>(%n, %m)[%n]
  return %a, %b : index, index
}
// -----
func.func @identity(%n: index, %A: memref<?xindex>) -> (index, index) {
  %a = affine.apply affine_map<(d0) -> (d0)>(%n)
  %b = affine.apply affine_map<()[s0] -> (s0)>()[%a]
  affine.for %i = 0 to 4 {
    %c = affine.apply affine_map<(d0) -> (d0)>(%i)
    affine.store %c, %A[%c] : memref<?xindex>
  }
  return %a, %b : index, index
}
// -----
func.func @constant_results() -> (index, index, index, index) {
  %c10 = arith.constant 10 : index
  %cm3 = arith.constant -3 : index
  %a = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%c10)
  %b = affine.apply affine_map<(d0) -> (d0 mod 4)>(%cm3)
  %c = affine.apply affine_map<(d0)[s0] -> (d0 ceildiv 4 + s0)>(%cm3)[%c10]
  %d = affine.apply affine_map<() -> (42)>()
  return %a, %b, %c, %d : index, index, index, index
}
// -----
func.func @terms_in_order(%A: memref<?xf32>, %n: index, %m: index, %x: f32) {
  affine.for %i = 0 to 10 {
    affine.for %j = 0 to 10 {
      affine.store %x, %A[3 + %j * 2 + symbol(%n) + %i - %j + symbol(%m) * 2 - 1] : memref<?xf32>
      affine.store %x, %A[%j floordiv 3 + %i + (%i + %j) mod 5] : memref<?xf32>
    }
  }
  return
}
// -----
func.func @floordiv_cancels(%A: memref<?xf32>, %n: index, %x: f32) {
  affine.for %i = 0 to 100 {
    affine.store %x, %A[(%i * 8) floordiv 4] : memref<?xf32>
    affine.store %x, %A[(%i * 8 + 4) floordiv 4] : memref<?xf32>
    affine.store %x, %A[(%i * 6 + 3) floordiv 9] : memref<?xf32>
    affine.store %x, %A[(%i * 6 + 2) ceildiv 4] : memref<?xf32>
    affine.store %x, %A[(%i * 8) mod 4] : memref<?xf32>
    affine.store %x, %A[(%i * 6) mod 4] : memref<?xf32>
  }
  return
}
// -----
func.func @mod_from_parts(%A: memref<?xf32>, %x: f32) {
  affine.for %i = 0 to 100 {
    affine.store %x, %A[%i - (%i floordiv 8) * 8] : memref<?xf32>
    affine.for %j = 0 to 100 {
      affine.store %x, %A[%i + %j * 2 - ((%i + %j * 2) floordiv 16) * 16] : memref<?xf32>
      affine.store %x, %A[%j + (%i floordiv 8) * -8 + %i] : memref<?xf32>
    }
  }
  return
}
// -----
func.func @nested_divisions(%A: memref<?xf32>, %x: f32) {
  affine.for %i = 0 to 1000 {
    affine.store %x, %A[(%i floordiv 4) floordiv 8] : memref<?xf32>
    affine.store %x, %A[(%i mod 32) mod 8] : memref<?xf32>
    affine.store %x, %A[(%i mod 8) floordiv 2] : memref<?xf32>
    affine.store %x, %A[(%i ceildiv 3) mod 2 + %i mod 3] : memref<?xf32>
  }
  return
}
// -----
func.func @ranges_decide(%A: memref<?xf32>, %x: f32) {
  affine.for %i = 0 to 4 {
    affine.for %j = 8 to 12 {
      affine.store %x, %A[%i floordiv 4] : memref<?xf32>
      affine.store %x, %A[%i mod 4] : memref<?xf32>
      affine.store %x, %A[%j floordiv 4 + %j mod 16] : memref<?xf32>
      affine.store %x, %A[(%j - 8) mod 4] : memref<?xf32>
      affine.store %x, %A[%i ceildiv 4 + (%i + %j) ceildiv 16] : memref<?xf32>
    }
  }
  return
}
// -----
func.func @steps_decide(%A: memref<?xf32>, %n: index, %x: f32) {
  affine.for %i = 0 to %n step 8 {
    affine.for %j = 0 to 8 {
      affine.store %x, %A[(%i + %j) floordiv 8] : memref<?xf32>
      affine.store %x, %A[(%i + %j) mod 8] : memref<?xf32>
      affine.store %x, %A[%i mod 4] : memref<?xf32>
      affine.store %x, %A[(%i * 3 + %j) mod 8 + (%i + 4) floordiv 8] : memref<?xf32>
    }
  }
  return
}
// -----
func.func @semi_affine(%A: memref<?xf32>, %n: index, %m: index, %x: f32) {
  affine.for %i = 0 to 10 {
    affine.for %j = 0 to 10 {
      affine.store %x, %A[%i * symbol(%n) + %j] : memref<?xf32>
      affine.store %x, %A[%j + %i * symbol(%n) + %j * symbol(%m) + 2 + %i] : memref<?xf32>
      affine.store %x, %A[%i floordiv symbol(%n) + %i mod symbol(%n)] : memref<?xf32>
      affine.store %x, %A[(%i * symbol(%n)) floordiv symbol(%n)] : memref<?xf32>
      affine.store %x, %A[(%i * symbol(%n) * symbol(%m)) mod symbol(%m)] : memref<?xf32>
    }
  }
  return
}
// -----
func.func @apply_of_loaded(%A: memref<?xindex>, %n: index) {
  affine.for %i = 0 to %n {
    %v = affine.load %A[%i] : memref<?xindex>
    %w = arith.addi %v, %n : index
    memref.store %w, %A[%w] : memref<?xindex>
  }
  return
}
// -----
func.func @index_from_arith(%A: memref<?xf32>, %n: index, %x: f32) {
  %c2 = arith.constant 2 : index
  %m = arith.muli %n, %c2 : index
  affine.for %i = 0 to %n {
    %k = arith.addi %m, %c2 : index
    affine.store %x, %A[%i + %k] : memref<?xf32>
    affine.store %x, %A[%m - %k + %i] : memref<?xf32>
  }
  return
}
// -----
func.func @vector_accesses(%A: memref<?x?xf32>, %n: index) {
  affine.for %i = 0 to %n step 4 {
    %k = affine.apply affine_map<(d0) -> (d0 + 4)>(%i)
    %v = affine.vector_load %A[%k - 4, %k] : memref<?x?xf32>, vector<4xf32>
    affine.vector_store %v, %A[%i, %k + 1] : memref<?x?xf32>, vector<4xf32>
  }
  return
}
// -----
func.func @prefetches(%A: memref<?x?xf32>, %n: index) {
  affine.for %i = 0 to %n {
    %k = affine.apply affine_map<(d0) -> (d0 + 4)>(%i)
    affine.prefetch %A[%k + 1, %n], read, locality<3>, data : memref<?x?xf32>
  }
  return
}
// -----
func.func @through_if_and_parallel(%A: memref<?xf32>, %n: index, %x: f32) {
  %m = affine.apply affine_map<()[s0] -> (s0 * 2)>()[%n]
  affine.parallel (%i) = (%m) to (%m + 10) {
    %k = affine.apply affine_map<(d0)[s0] -> (d0 - s0)>(%i)[%m]
    affine.if affine_set<(d0)[s0] : (d0 - s0 >= 0)>(%k)[%m] {
      affine.store %x, %A[%k] : memref<?xf32>
    }
  }
  return
}
// -----
func.func @negative_coefficients(%A: memref<?xf32>, %n: index, %x: f32) {
  affine.for %i = 0 to 10 {
    %a = affine.apply affine_map<(d0)[s0] -> (-d0 + s0 - 1)>(%i)[%n]
    affine.store %x, %A[%a] : memref<?xf32>
    %b = affine.apply affine_map<(d0)[s0] -> (-(d0 * 2) + s0 floordiv 2)>(%a)[%n]
    affine.store %x, %A[%b] : memref<?xf32>
    affine.store %x, %A[-%i + %n] : memref<?xf32>
  }
  return
}
// -----
func.func @dead_applies(%n: index) {
  affine.for %i = 0 to 10 {
    %a = affine.apply affine_map<(d0)[s0] -> (-d0 + s0 - 1)>(%i)[%n]
    %b = affine.min affine_map<(d0, d1) -> (d0, d1)>(%a, %i)
    %c = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
  }
  return
}
// -----
func.func @loads_of_constants(%i: index) -> (f32, f32, i32) {
  %g = memref.get_global @g : memref<2x2xf32>
  %h = memref.get_global @h : memref<4xf32>
  %v = memref.get_global @v : memref<4xi32>
  %a = affine.load %g[1, 0] : memref<2x2xf32>
  %b = affine.load %h[symbol(%i)] : memref<4xf32>
  %c = affine.load %v[2] : memref<4xi32>
  return %a, %b, %c : f32, f32, i32
}
memref.global "private" constant @g : memref<2x2xf32> = dense<[[1.0, 2.0], [3.0, 4.0]]>
memref.global "private" constant @h : memref<4xf32> = dense<2.5>
memref.global "private" @v : memref<4xi32> = dense<7>
// -----
func.func @symbols_of_sizes(%A: memref<?x?xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %A, %c0 : memref<?x?xf32>
  %n = memref.dim %A, %c1 : memref<?x?xf32>
  affine.for %i = 0 to %m {
    affine.for %j = 0 to %n {
      affine.store %x, %A[%m - %i - 1, %n - %j - 1] : memref<?x?xf32>
    }
  }
  return
}
// -----
func.func @sizes_inside(%B: memref<8x8xf32>, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  affine.for %i = 0 to 8 {
    %A = memref.alloc(%n) : memref<?xf32>
    %m = memref.dim %A, %c0 : memref<?xf32>
    affine.for %j = 0 to %m {
      affine.store %x, %A[%m - %j - 1] : memref<?xf32>
      %v = affine.load %A[%j] : memref<?xf32>
      affine.store %v, %B[%i, 0] : memref<8x8xf32>
    }
    memref.dealloc %A : memref<?xf32>
  }
  return
}
// -----
func.func @map_of_many(%A: memref<?x?x?xf32>, %n: index, %x: f32) {
  affine.for %i = 0 to 10 {
    affine.for %j = 0 to 10 {
      affine.for %k = 0 to 10 {
        %a = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%j, %i)
        %b = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%k, %a)
        affine.store %x, %A[%b, %a + %k, %b - %a] : memref<?x?x?xf32>
      }
    }
  }
  return
}
