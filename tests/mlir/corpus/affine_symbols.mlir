// RUN-FLAGS: --allow-unregistered-dialect
// What may be a dim or a symbol: arguments, values at the top of a function, constants, sizes, affine results, scopes.
func.func @sizes(%A: memref<?x?xf32>, %x: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %A, %c0 : memref<?x?xf32>
  %m = arith.index_cast %x : i64 to index
  %p = arith.addi %n, %m : index
  affine.for %i = 0 to %n {
    %k = memref.dim %A, %c1 : memref<?x?xf32>
    affine.for %j = %m to %k {
      %0 = affine.apply affine_map<()[s0, s1] -> (s0 + s1)>()[%p, %k]
      affine.for %l = 0 to %0 {
        %c3 = arith.constant 3 : index
        %1 = affine.load %A[%j * symbol(%c3), %l] : memref<?x?xf32>
      }
    }
  }
  return
}

// A value that is loaded at the top of the function is a symbol there, also inside loops.
func.func @loaded(%A: memref<8xindex>, %B: memref<8xf32>) {
  %c = arith.constant 0 : index
  %n = memref.load %A[%c] : memref<8xindex>
  affine.for %i = 0 to %n {
    %0 = affine.load %B[%i mod symbol(%n)] : memref<8xf32>
    %1 = affine.min affine_map<(d0)[s0] -> (d0, s0)>(%i)[%n]
    memref.store %0, %B[%1] : memref<8xf32>
  }
  return
}

// affine.min of symbols, delinearize_index of a dim, an unknown operation at the top.
func.func @derived(%A: memref<4x?xf32>, %x: index) {
  %c1 = arith.constant 1 : index
  %d = memref.dim %A, %c1 : memref<4x?xf32>
  %n = affine.min affine_map<()[s0] -> (s0, 64)>()[%d]
  %u = "test.size"() : () -> index
  affine.for %i = 0 to %n {
    %0:2 = affine.delinearize_index %i into (4, 16) : index, index
    affine.for %j = 0 to %u {
      %1 = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%i, %j)
      %2 = affine.load %A[%i floordiv 16, %1] : memref<4x?xf32>
    }
  }
  affine.parallel (%i) = (0) to (%u) {
    %3 = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
    affine.for %j = affine_map<(d0) -> (d0)>(%3) to %d {
    }
  }
  return
}

// In scf loops the induction variable is neither, but an affine.for inside still takes symbols from the top.
func.func @mixed(%A: memref<8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %t = %c0 to %n step %c1 {
    affine.for %i = 0 to %n {
      %0 = affine.load %A[%i] : memref<8xf32>
      memref.store %0, %A[%t] : memref<8xf32>
    }
  }
  return
}
