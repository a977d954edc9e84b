#map = affine_map<()[s0] -> (0, s0 - 3)>
#map1 = affine_map<()[s0, s1, s2] -> (s0, s1 + 1, s2)>
#map2 = affine_map<(d0) -> (d0)>
#map3 = affine_map<(d0, d1) -> (d0 + 1, d1 + 1)>
module {
  func.func @bounds(%N: index, %M: index, %A: memref<?x?xf32> {affdsl.shape = affine_map<()[N, M, K] -> (N, M)>}, %K: index) {
    affine.for %i = max #map()[%K] to min #map1()[%N, %M, %K] step 2 {
      affine.for %j = #map2(%i) to %M step 4 {
        affine.for %k = 0 to min #map3(%i, %j) {
          %0 = affine.load %A[%k, 0] : memref<?x?xf32>
          affine.store %0, %A[%i, %j] : memref<?x?xf32>
        }
      }
    }
    return
  }
}