func.func @matmul(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %A, %c0 : memref<?x?xf32>
  %k = memref.dim %A, %c1 : memref<?x?xf32>
  %n = memref.dim %B, %c1 : memref<?x?xf32>
  affine.for %i = 0 to %m {
    affine.for %j = 0 to %n {
      %z = arith.constant 0.0 : f32
      %s = affine.for %l = 0 to %k iter_args(%acc = %z) -> f32 {
        %a = affine.load %A[%i, %l] : memref<?x?xf32>
        %b = affine.load %B[%l, %j] : memref<?x?xf32>
        %p = arith.mulf %a, %b : f32
        %t = arith.addf %acc, %p : f32
        affine.yield %t : f32
      }
      affine.store %s, %C[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
// -----
#id = affine_map<(d0) -> (d0)>
#end = affine_map<(d0) -> (d0 + 4)>
func.func @tiled_matmul(%A: memref<16x16xf32>, %B: memref<16x16xf32>, %C: memref<16x16xf32>) {
  %c16 = arith.constant 16 : index
  affine.for %i = 0 to %c16 step 4 {
    affine.for %j = 0 to 16 step 4 {
      affine.for %k = 0 to 16 step 4 {
        affine.for %ii = #id(%i) to min affine_map<(d0) -> (d0 + 4, 16)>(%i) {
          affine.for %jj = #id(%j) to #end(%j) {
            affine.for %kk = #id(%k) to #end(%k) {
              %a = affine.load %A[%ii, %kk] : memref<16x16xf32>
              %b = affine.load %B[%kk, %jj] : memref<16x16xf32>
              %c = affine.load %C[%ii, %jj] : memref<16x16xf32>
              %p = arith.mulf %a, %b : f32
              %s = arith.addf %c, %p : f32
              affine.store %s, %C[%ii, %jj] : memref<16x16xf32>
            }
          }
        }
      }
    }
  }
  return
}
// -----
func.func @unrolled(%A: memref<100xf32>, %B: memref<100xf32>) {
  affine.for %i = 0 to 100 step 4 {
    %a = affine.load %A[%i] : memref<100xf32>
    affine.store %a, %B[%i] : memref<100xf32>
    %1 = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
    %b = affine.load %A[%1] : memref<100xf32>
    affine.store %b, %B[%1] : memref<100xf32>
    %2 = affine.apply affine_map<(d0) -> (d0 + 2)>(%i)
    %c = affine.load %A[%2] : memref<100xf32>
    affine.store %c, %B[%2] : memref<100xf32>
    %3 = affine.apply affine_map<(d0) -> (d0 + 3)>(%i)
    %d = affine.load %A[%3] : memref<100xf32>
    affine.store %d, %B[%3] : memref<100xf32>
  }
  return
}
// -----
func.func @jacobi(%A: memref<?x?xf64>, %B: memref<?x?xf64>, %t: index, %n: index) {
  %c = arith.constant 2.000000e-01 : f64
  affine.for %s = 0 to %t {
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
        %0 = affine.load %A[%i, %j] : memref<?x?xf64>
        %1 = affine.load %A[%i, %j - 1] : memref<?x?xf64>
        %2 = affine.load %A[%i, %j + 1] : memref<?x?xf64>
        %3 = arith.addf %0, %1 : f64
        %4 = arith.addf %3, %2 : f64
        %5 = arith.mulf %c, %4 : f64
        affine.store %5, %B[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
// -----
func.func @trisolv(%L: memref<?x?xf64>, %x: memref<?xf64>, %b: memref<?xf64>, %n: index) {
  affine.for %i = 0 to %n {
    %0 = affine.load %b[%i] : memref<?xf64>
    affine.store %0, %x[%i] : memref<?xf64>
    affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) {
      %1 = affine.load %L[%i, %j] : memref<?x?xf64>
      %2 = affine.load %x[%j] : memref<?xf64>
      %3 = arith.mulf %1, %2 : f64
      %4 = affine.load %x[%i] : memref<?xf64>
      %5 = arith.subf %4, %3 : f64
      affine.store %5, %x[%i] : memref<?xf64>
    }
    %6 = affine.load %x[%i] : memref<?xf64>
    %7 = affine.load %L[%i, %i] : memref<?x?xf64>
    %8 = arith.divf %6, %7 : f64
    affine.store %8, %x[%i] : memref<?xf64>
  }
  return
}
// -----
func.func @histogram(%A: memref<?xi32>, %H: memref<256xi32>, %n: index) {
  affine.for %i = 0 to %n {
    %v = affine.load %A[%i] : memref<?xi32>
    %c255 = arith.constant 255 : i32
    %m = arith.andi %c255, %v : i32
    %k = arith.index_cast %m : i32 to index
    %h = memref.load %H[%k] : memref<256xi32>
    %c1 = arith.constant 1 : i32
    %s = arith.addi %c1, %h : i32
    memref.store %s, %H[%k] : memref<256xi32>
  }
  return
}
// -----
func.func @conv(%I: memref<1x3x10x10xf32>, %W: memref<2x3x3x3xf32>, %O: memref<1x2x8x8xf32>) {
  %c0 = arith.constant 0 : index
  affine.parallel (%n, %f, %y, %x) = (0, 0, 0, 0) to (1, 2, 8, 8) {
    affine.for %c = 0 to 3 {
      affine.for %ky = 0 to 3 {
        affine.for %kx = 0 to 3 {
          %iy = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%y, %ky)
          %ix = affine.apply affine_map<(d0, d1) -> (d1 + d0)>(%x, %kx)
          %a = affine.load %I[%n, %c, %iy, %ix] : memref<1x3x10x10xf32>
          %w = affine.load %W[%f, %c, %ky, %kx] : memref<2x3x3x3xf32>
          %o = affine.load %O[%n, %f, %y, %x] : memref<1x2x8x8xf32>
          %p = arith.mulf %a, %w : f32
          %s = arith.addf %o, %p : f32
          affine.store %s, %O[%n, %f, %y, %x] : memref<1x2x8x8xf32>
        }
      }
    }
  }
  return
}
// -----
func.func @im2col(%I: memref<10x10xf32>, %O: memref<64x9xf32>) {
  affine.for %p = 0 to 64 {
    affine.for %k = 0 to 9 {
      %y = affine.apply affine_map<(d0) -> (d0 floordiv 8)>(%p)
      %x = affine.apply affine_map<(d0) -> (d0 mod 8)>(%p)
      %ky = affine.apply affine_map<(d0) -> (d0 floordiv 3)>(%k)
      %kx = affine.apply affine_map<(d0) -> (d0 mod 3)>(%k)
      %v = affine.load %I[%y + %ky, %x + %kx] : memref<10x10xf32>
      affine.store %v, %O[%p, %k] : memref<64x9xf32>
    }
  }
  return
}
// -----
func.func @fibonacci(%A: memref<?xi64>, %n: index) -> i64 {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %r:2 = affine.for %i = 0 to %n iter_args(%a = %c0, %b = %c1) -> (i64, i64) {
    affine.store %a, %A[%i] : memref<?xi64>
    %c = arith.addi %a, %b : i64
    affine.yield %b, %c : i64, i64
  }
  return %r#0 : i64
}
// -----
func.func @guarded(%A: memref<?xf32>, %n: index) {
  %cst = arith.constant 1.0 : f32
  affine.for %i = 0 to affine_map<()[s0] -> (s0 ceildiv 4)>()[%n] {
    affine.for %j = 0 to 4 {
      %k = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)>(%i, %j)
      affine.if affine_set<(d0)[s0] : (-d0 + s0 - 1 >= 0)>(%k)[%n] {
        %v = affine.load %A[%k] : memref<?xf32>
        %w = arith.mulf %cst, %v : f32
        affine.store %w, %A[%k] : memref<?xf32>
      }
    }
  }
  return
}
// -----
func.func private @kernel(memref<?xf32>, index) -> f32
func.func @caller(%A: memref<16xf32>, %n: index) -> f32 {
  %c = memref.cast %A : memref<16xf32> to memref<?xf32>
  %c0 = arith.constant 0 : index
  %m = arith.addi %n, %c0 : index
  %r = func.call @kernel(%c, %m) : (memref<?xf32>, index) -> f32
  return %r : f32
}
// -----
func.func @relu(%A: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0.0 : f32
  affine.parallel (%i, %j) = (0, 0) to (%n, %n) {
    %v = affine.load %A[%i, %j] : memref<?x?xf32>
    %p = arith.cmpf ogt, %v, %c0 : f32
    %r = arith.select %p, %v, %c0 : f32
    affine.store %r, %A[%i, %j] : memref<?x?xf32>
  }
  return
}
// -----
func.func @padded_copy(%A: memref<?xf32>, %n: index) -> memref<?xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c0f = arith.constant 0.0 : f32
  %m = arith.addi %n, %c2 : index
  %B = memref.alloc(%m) : memref<?xf32>
  affine.for %i = 0 to %m {
    affine.store %c0f, %B[%i] : memref<?xf32>
  }
  affine.for %i = 0 to %n {
    %v = affine.load %A[%i] : memref<?xf32>
    %k = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%c1]
    affine.store %v, %B[%k] : memref<?xf32>
  }
  return %B : memref<?xf32>
}
// -----
module @outer {
  func.func @a(%x: i32) -> i32 {
    %c0 = arith.constant 0 : i32
    %y = arith.addi %x, %c0 : i32
    return %y : i32
  }
  module @inner {
    func.func @b(%x: i32) -> i32 {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %y = arith.muli %x, %c1 : i32
      %z = arith.addi %y, %c0 : i32
      return %z : i32
    }
  }
}
// -----
func.func @mixed_scf(%A: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %e = arith.muli %c8, %c8 : index
  scf.for %i = %c0 to %e step %c8 {
    %j = arith.addi %i, %c8 : index
    %m = arith.minsi %j, %n : index
    scf.for %k = %i to %m step %c1 {
      %v = memref.load %A[%k] : memref<?xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %A[%k] : memref<?xf32>
    }
  }
  return
}
