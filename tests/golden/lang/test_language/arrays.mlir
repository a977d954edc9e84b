#map = affine_map<()[s0] -> (s0 + 1)>
module {
  func.func @arrays(%M: index, %N: index, %A: memref<?x?xf32> {affdsl.shape = affine_map<()[M, N] -> (M, N)>}) -> (memref<?xf32>, index, f32) {
    %T = memref.alloc(%M, %N) : memref<?x?xf32>
    memref.copy %A, %T : memref<?x?xf32> to memref<?x?xf32>
    %0 = affine.load %T[0, 0] : memref<?x?xf32>
    %1 = affine.apply #map()[%N]
    %result = memref.alloc(%1) : memref<?xf32>
    affine.for %i = 0 to %M {
      %inner = memref.alloc(%N) : memref<?xf32>
      %2 = affine.load %T[%i, 0] : memref<?x?xf32>
      %3 = arith.addf %2, %0 : f32
      affine.store %3, %inner[0] : memref<?xf32>
      %4 = affine.load %inner[0] : memref<?xf32>
      affine.store %4, %result[0] : memref<?xf32>
      memref.dealloc %inner : memref<?xf32>
    }
    %2 = affine.load %T[0, 0] : memref<?x?xf32>
    memref.dealloc %T : memref<?x?xf32>
    return %result, %M, %2 : memref<?xf32>, index, f32
  }
}