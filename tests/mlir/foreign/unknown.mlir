// Operations that have no form here: each is kept as its text, and what it reads are its operands.
!td = !xegpu.tensor_desc<8x16xf32>
#lead = 32 : index
func.func @matrices(%A: memref<32x32xf16, 3>, %B: memref<?xf32>, %n: index, %src: memref<24x32xf32>) {
  %c0 = arith.constant 0 : index
  %0 = arith.constant 2.0 : f32
  affine.for %i = 0 to %n {
    %1 = gpu.subgroup_mma_load_matrix %A[%c0, %i] {leadDimension = #lead}
        : memref<32x32xf16, 3> -> !gpu.mma_matrix<16x16xf16, "COp">
    gpu.subgroup_mma_store_matrix %1, %A[%c0, %c0] {leadDimension = 32 : index} :
      !gpu.mma_matrix<16x16xf16, "COp">,
      memref<32x32xf16, 3>
    affine.store %0, %B[%i] : memref<?xf32>
  }
  %2 = xegpu.create_nd_tdesc %src : memref<24x32xf32> -> !td
  %3 = xegpu.load_nd %2[0, 0] : !td -> vector<8x16xf32> loc("here":1:2)
  vector.print %3 : vector<8x16xf32>
  return
}
// -----
func.func @values(%t: tensor<4xf32>, %i: index) -> f32 {
  %0 = arith.constant 2.0 : f32
  %1 = tosa.add %t, %t : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2, %3 = async.execute -> !async.value<f32> {
    %5 = arith.addf %0, %0 : f32
    async.yield %5 : f32
  }
  async.await %2 : !async.token
  %6 = async.await %3 : !async.value<f32>
  %7 = tensor.extract %1[%i] : tensor<4xf32>
  %8 = arith.addf %6, %7 : f32
  return %8 : f32
}
// -----
spirv.func @entry(%x: f32) "None" {
  spirv.Return
}
func.func @entered(%A: memref<4xf32>) {
  affine.for %i = 0 to 4 {
    %0 = affine.load %A[%i] : memref<4xf32>
    affine.store %0, %A[3 - %i] : memref<4xf32>
  }
  return
}
