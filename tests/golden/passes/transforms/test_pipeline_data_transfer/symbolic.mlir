func.func @f(%A: memref<40x8xf64>, %C: memref<40x8xf64>, %m: index, %n: index) {
  %c8 = arith.constant 8 : index
  %c4 = arith.constant 4 : index
  %B = memref.alloc() : memref<2x8xf64, 1>
  %t = memref.alloc() : memref<2x1xi32>
  affine.for %i = %m to min affine_map<()[s0, s1] -> (s0 + 1, s1)>()[%m, %n] step 3 {
    affine.dma_start %A[%i, 0], %B[(%i floordiv 3) mod 2, 0], %t[(%i floordiv 3) mod 2, 0], %c8 : memref<40x8xf64>, memref<2x8xf64, 1>, memref<2x1xi32>
  }
  affine.for %i = affine_map<()[s0] -> (s0 + 3)>()[%m] to %n step 3 {
    affine.dma_start %A[%i, 0], %B[(%i floordiv 3) mod 2, 0], %t[(%i floordiv 3) mod 2, 0], %c8 : memref<40x8xf64>, memref<2x8xf64, 1>, memref<2x1xi32>
    affine.dma_wait %t[(%i floordiv 3 - 1) mod 2, 0], %c8 : memref<2x1xi32>
    affine.for %j = 0 to 8 {
      %x = affine.load %B[(%i floordiv 3 - 1) mod 2, %j] : memref<2x8xf64, 1>
      %y = affine.load %C[%i - 3, %j] : memref<40x8xf64>
      %z = arith.addf %x, %y : f64
      affine.store %z, %C[%i - 3, %j] : memref<40x8xf64>
    }
  }
  affine.for %i = max affine_map<()[s0, s1] -> (s0, s0 + ((s1 - s0 - 1) floordiv 3) * 3)>()[%m, %n] to %n step 3 {
    affine.dma_wait %t[(%i floordiv 3) mod 2, 0], %c8 : memref<2x1xi32>
    affine.for %j = 0 to 8 {
      %x = affine.load %B[(%i floordiv 3) mod 2, %j] : memref<2x8xf64, 1>
      %y = affine.load %C[%i, %j] : memref<40x8xf64>
      %z = arith.addf %x, %y : f64
      affine.store %z, %C[%i, %j] : memref<40x8xf64>
    }
  }
  memref.dealloc %t : memref<2x1xi32>
  memref.dealloc %B : memref<2x8xf64, 1>
  return
}