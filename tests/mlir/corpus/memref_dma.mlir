// memref.dma_start and dma_wait: with and without stride, in custom and generic form.
func.func @transfers(%A: memref<64x64xf32>, %B: memref<64xf32, 2>, %T: memref<1xi32>, %i: index, %n: index) {
  %c0 = arith.constant 0 : index
  memref.dma_start %A[%i, %i], %B[%i], %n, %T[%c0] : memref<64x64xf32>, memref<64xf32, 2>, memref<1xi32>
  memref.dma_start %A[%i, %c0], %B[%c0], %n, %T[%c0], %n, %i : memref<64x64xf32>, memref<64xf32, 2>, memref<1xi32>
  memref.dma_wait %T[%c0], %n : memref<1xi32>
  "memref.dma_start"(%A, %i, %i, %B, %i, %n, %T, %c0) : (memref<64x64xf32>, index, index, memref<64xf32, 2>, index, index, memref<1xi32>, index) -> ()
  "memref.dma_wait"(%T, %c0, %n) : (memref<1xi32>, index, index) -> ()
  return
}
