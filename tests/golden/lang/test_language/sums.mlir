module {
  func.func @sums(%M: index, %N: index, %A: memref<?x?xf64> {affdsl.shape = affine_map<()[M, N] -> (M, N)>}) -> (f64, f64) {
    %0, %m, %1 = affine.parallel (%i, %j) = (1, 0) to (%M, min(%N, %M)) step (1, 2) reduce ("addf", "maximumf", "andi") -> (f64, f64, i1) {
      %2 = affine.load %A[%i, %j] : memref<?x?xf64>
      %3 = affine.load %A[%i, %j] : memref<?x?xf64>
      %4 = arith.bitcast %2 : f64 to i64
      %c-9223372036854775808_i64 = arith.constant -9223372036854775808 : i64
      %5 = arith.cmpi eq, %4, %c-9223372036854775808_i64 : i64
      affine.yield %2, %3, %5 : f64, f64, i1
    }
    %cst = arith.constant -0.000000e+00 : f64
    %s = arith.select %1, %cst, %0 : f64
    return %s, %m : f64, f64
  }
}