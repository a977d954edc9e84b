module {
  func.func @names(%M: index, %N: index, %A: memref<?x?xf32> {affdsl.shape = affine_map<()[M, N] -> (M, N)>}, %s: memref<1xf32>) {
    affine.for %row = 0 to %M {
      affine.for %column = 0 to %N {
        %element = affine.load %A[%row, %column] : memref<?x?xf32>
        %cst = arith.constant 2.000000e+00 : f32
        %doubled = arith.mulf %element, %cst : f32
        affine.store %doubled, %A[%row, %column] : memref<?x?xf32>
      }
    }
    %cst = arith.constant 0.000000e+00 : f32
    %total = affine.for %i = 0 to %N iter_args(%total_0 = %cst) -> (f32) {
      %0 = affine.load %A[0, %i] : memref<?x?xf32>
      %1 = arith.addf %total_0, %0 : f32
      affine.yield %1 : f32
    }
    affine.store %total, %s[0] : memref<1xf32>
    return
  }
}