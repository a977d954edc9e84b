#map = affine_map<()[s0, s1] -> (s0 ceildiv s1)>
module {
  func.func @semi_affine(%N: index, %K: index, %P: index, %A: memref<?x?xf32> {affdsl.shape = affine_map<()[N, K, P, M] -> (N, K)>}, %B: memref<?xf32> {affdsl.shape = affine_map<()[N, K, P, M] -> (P)>}, %M: index) attributes {affdsl.assume = affine_set<()[N, K, P, M] : (K - 1 >= 0, M - 1 >= 0, P - N * K == 0)>} {
    affine.for %i = 0 to %N {
      affine.for %j = 0 to %K {
        %0 = affine.load %A[%i, %j] : memref<?x?xf32>
        affine.store %0, %B[%j + %i * symbol(%K)] : memref<?xf32>
      }
    }
    affine.for %k = 0 to %P {
      %0 = affine.load %B[%k] : memref<?xf32>
      affine.store %0, %A[%k floordiv symbol(%K), %k mod symbol(%K)] : memref<?x?xf32>
    }
    affine.for %t = 0 to #map()[%P, %M] {
      %cst = arith.constant 0.000000e+00 : f32
      affine.store %cst, %B[%t] : memref<?xf32>
    }
    return
  }
}