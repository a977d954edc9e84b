func.func @f(%A: memref<40x64xf32>, %B: memref<40x64xf32>) {
  %B_fast = memref.alloc() : memref<40x16xf32, 1>
  %B_tag = memref.alloc() : memref<1xi32>
  affine.for %t = 0 to 40 step 8 {
    %A_fast = memref.alloc() : memref<8x16xf32, 1>
    %A_tag = memref.alloc() : memref<1xi32, 2>
    %c128 = arith.constant 128 : index
    %c64 = arith.constant 64 : index
    %c16 = arith.constant 16 : index
    affine.dma_start %A[%t, 3], %A_fast[0, 0], %A_tag[0], %c128, %c64, %c16 : memref<40x64xf32>, memref<8x16xf32, 1>, memref<1xi32, 2>
    affine.dma_wait %A_tag[0], %c128 : memref<1xi32, 2>
    affine.for %i = affine_map<(d0) -> (d0)>(%t) to affine_map<(d0) -> (d0 + 8)>(%t) {
      affine.for %j = 3 to 19 {
        %x = affine.load %A_fast[%i - %t, %j - 3] : memref<8x16xf32, 1>
        affine.store %x, %B_fast[%i, %j - 3] : memref<40x16xf32, 1>
      }
    }
    memref.dealloc %A_tag : memref<1xi32, 2>
    memref.dealloc %A_fast : memref<8x16xf32, 1>
  }
  %c640 = arith.constant 640 : index
  %c64 = arith.constant 64 : index
  %c16 = arith.constant 16 : index
  affine.dma_start %B_fast[0, 0], %B[0, 3], %B_tag[0], %c640, %c64, %c16 : memref<40x16xf32, 1>, memref<40x64xf32>, memref<1xi32>
  affine.dma_wait %B_tag[0], %c640 : memref<1xi32>
  memref.dealloc %B_tag : memref<1xi32>
  memref.dealloc %B_fast : memref<40x16xf32, 1>
  return
}