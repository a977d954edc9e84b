// affine.dma_start and affine.dma_wait: with and without stride, constant and symbolic subscripts, tags of any rank.
func.func @transfers(%n: index) {
  %slow = memref.alloc() : memref<40x128xf32>
  %fast = memref.alloc() : memref<2x1024xf32, 1>
  %tag = memref.alloc() : memref<1xi32, 2>
  %c0 = arith.constant 0 : index
  %count = arith.constant 256 : index
  %stride = arith.constant 128 : index
  %each = arith.constant 64 : index
  affine.for %i = 0 to 10 {
    affine.for %j = 0 to 10 {
      affine.dma_start %slow[%i + 7, %j], %fast[%j mod 2, %j + 11], %tag[%c0], %count : memref<40x128xf32>, memref<2x1024xf32, 1>, memref<1xi32, 2>
      affine.dma_wait %tag[%c0], %count : memref<1xi32, 2>
      affine.dma_start %slow[%i, %j], %fast[0, symbol(%n)], %tag[0], %count, %stride, %each : memref<40x128xf32>, memref<2x1024xf32, 1>, memref<1xi32, 2>
      affine.dma_wait %tag[symbol(%c0)], %count : memref<1xi32, 2>
    }
  }
  return
}

func.func @ranks(%A: memref<64xf64>, %B: memref<8x8xf64, 2>, %T: memref<4x4xi32>, %n: index) {
  affine.for %i = 0 to 4 {
    affine.dma_start %A[%i * 8], %B[%i, 0], %T[%i, %i + 0], %n : memref<64xf64>, memref<8x8xf64, 2>, memref<4x4xi32>
    affine.dma_wait %T[%i, %i], %n : memref<4x4xi32>
    affine.dma_start %B[%i, 0], %A[%i * 8], %T[%i, 0], %n : memref<8x8xf64, 2>, memref<64xf64>, memref<4x4xi32>
    affine.dma_wait %T[%i, 0], %n : memref<4x4xi32>
  }
  return
}
// -----
func.func @trailing_comma(%A: memref<16xf32>, %B: memref<16xf32, 2>, %t: memref<1xi32>, %n: index) {
  affine.dma_start %A[0], %B[0], %t[0], %n, : memref<16xf32>, memref<16xf32, 2>, memref<1xi32>
  affine.dma_wait %t[0], %n : memref<1xi32>
  return
}
