#map = affine_map<(d0) -> (d0 + 1)>
#map1 = affine_map<()[s0, s1] -> (s0, s1)>
module {
  func.func @sums(%M: index, %N: index, %A: memref<?x?xf64> {affdsl.shape = affine_map<()[M, N] -> (M, N)>}) -> (f64, f64) {
    %s = arith.constant -0.000000e+00 : f64
    %m = arith.constant 0xFFF0000000000000 : f64
    %s_parts = memref.alloca() : memref<64xf64>
    %m_parts = memref.alloca() : memref<64xf64>
    affine.parallel (%i_part) = (0) to (64) {
      %s_0, %m_0 = affine.for %i = #map(%i_part) to %M step 64 iter_args(%s_1 = %s, %m_1 = %m) -> (f64, f64) {
        %s_2, %m_2 = affine.for %j = 0 to min #map1()[%N, %M] step 2 iter_args(%s_3 = %s_1, %m_3 = %m_1) -> (f64, f64) {
          %0 = affine.load %A[%i, %j] : memref<?x?xf64>
          %1 = affine.load %A[%i, %j] : memref<?x?xf64>
          %s_4 = arith.addf %s_3, %0 : f64
          %m_4 = arith.maximumf %m_3, %1 : f64
          affine.yield %s_4, %m_4 : f64, f64
        }
        affine.yield %s_2, %m_2 : f64, f64
      }
      affine.store %s_0, %s_parts[%i_part] : memref<64xf64>
      affine.store %m_0, %m_parts[%i_part] : memref<64xf64>
    }
    %s_0, %m_0 = affine.for %i_part = 0 to 64 iter_args(%s_1 = %s, %m_1 = %m) -> (f64, f64) {
      %s_2 = affine.load %s_parts[%i_part] : memref<64xf64>
      %m_2 = affine.load %m_parts[%i_part] : memref<64xf64>
      %s_3 = arith.addf %s_1, %s_2 : f64
      %m_3 = arith.maximumf %m_1, %m_2 : f64
      affine.yield %s_3, %m_3 : f64, f64
    }
    return %s_0, %m_0 : f64, f64
  }
}