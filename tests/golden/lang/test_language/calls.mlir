#map = affine_map<()[s0] -> (s0 * 2)>
#map1 = affine_map<()[s0] -> (s0 + 1)>
module {
  func.func @dot(%N: index, %a: memref<?xf64> {affdsl.shape = affine_map<()[N] -> (N)>}, %b: memref<?xf64> {affdsl.shape = affine_map<()[N] -> (N)>}) -> f64 {
    %cst = arith.constant 0.000000e+00 : f64
    %s = affine.for %i = 0 to %N iter_args(%s_0 = %cst) -> (f64) {
      %0 = affine.load %a[%i] : memref<?xf64>
      %1 = affine.load %b[%i] : memref<?xf64>
      %2 = arith.mulf %0, %1 : f64
      %3 = arith.addf %s_0, %2 : f64
      affine.yield %3 : f64
    }
    return %s : f64
  }
  func.func @doubled(%N: index, %A: memref<?xf64> {affdsl.shape = affine_map<()[N] -> (N)>}) -> memref<?xf64> {
    %0 = affine.apply #map()[%N]
    %B = memref.alloc(%0) : memref<?xf64>
    affine.for %i = 0 to #map()[%N] {
      %1 = affine.load %A[%i mod symbol(%N)] : memref<?xf64>
      affine.store %1, %B[%i] : memref<?xf64>
    }
    return %B : memref<?xf64>
  }
  func.func @scale(%M: index, %N: index, %A: memref<?x?xf32> {affdsl.shape = affine_map<()[M, N] -> (M, N)>}, %x: f32) {
    affine.for %i = 0 to %M {
      affine.for %j = 0 to %N {
        %0 = affine.load %A[%i, %j] : memref<?x?xf32>
        %1 = arith.mulf %0, %x : f32
        affine.store %1, %A[%i, %j] : memref<?x?xf32>
      }
    }
    return
  }
  func.func @calls(%K: index, %P: index, %X: memref<?x?xf32> {affdsl.shape = affine_map<()[K, P] -> (K, K + 1)>}, %Y: memref<3x?xf32> {affdsl.shape = affine_map<()[K, P] -> (3, K)>}, %v: memref<?xf64> {affdsl.shape = affine_map<()[K, P] -> (P)>}) -> (f64, memref<?xf64>) {
    %cst = arith.constant 2.000000e+00 : f32
    %0 = affine.apply #map1()[%K]
    call @scale(%K, %0, %X, %cst) : (index, index, memref<?x?xf32>, f32) -> ()
    %1 = affine.load %X[0, 0] : memref<?x?xf32>
    %c3 = arith.constant 3 : index
    %Y_0 = memref.cast %Y : memref<3x?xf32> to memref<?x?xf32>
    call @scale(%c3, %K, %Y_0, %1) : (index, index, memref<?x?xf32>, f32) -> ()
    %w = call @doubled(%P, %v) : (index, memref<?xf64>) -> memref<?xf64>
    %norm = call @dot(%P, %v, %v) : (index, memref<?xf64>, memref<?xf64>) -> f64
    return %norm, %w : f64, memref<?xf64>
  }
}