module {
  func.func @sums(%M: index, %N: index, %A: memref<?x?xf64> {affdsl.shape = affine_map<()[M, N] -> (M, N)>}) -> (f64, f64) {
    %s, %m = affine.parallel (%i, %j) = (1, 0) to (%M, min(%N, %M)) step (1, 2) reduce ("addf", "maximumf") -> (f64, f64) {
      %0 = affine.load %A[%i, %j] : memref<?x?xf64>
      %1 = affine.load %A[%i, %j] : memref<?x?xf64>
      affine.yield %0, %1 : f64, f64
    }
    return %s, %m : f64, f64
  }
}