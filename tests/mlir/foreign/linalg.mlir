func.func @matmul(%A: memref<128x64xf32>, %B: memref<64x32xf32>, %C: memref<128x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<128x32xf32>)
  linalg.matmul ins(%A, %B : memref<128x64xf32>, memref<64x32xf32>) outs(%C : memref<128x32xf32>)
  affine.for %i = 0 to 128 {
    %x = affine.load %C[%i, 0] : memref<128x32xf32>
    affine.store %x, %C[%i, 1] : memref<128x32xf32>
  }
  return
}
// -----
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @bias(%a: tensor<8x16xf32>, %b: tensor<8xf32>) -> tensor<8x16xf32> {
  %0 = tensor.empty() : tensor<8x16xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<8x16xf32>, tensor<8xf32>) outs(%0 : tensor<8x16xf32>) attrs = {tag = "bias"} {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
// -----
func.func @buffers(%a: memref<?xf32>, %b: memref<?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                  iterator_types = ["parallel"]} ins(%a : memref<?xf32>) outs(%b : memref<?xf32>) {
  ^bb0(%x: f32, %y: f32):
    %i = linalg.index 0 : index
    %k = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
    %n = arith.index_cast %k : index to i32
    %f = arith.sitofp %n : i32 to f32
    %s = arith.mulf %x, %f : f32
    linalg.yield %s : f32
  }
  return
}
// -----
func.func @filled(%n: index) -> tensor<?x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
// -----
func.func @tensors(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul {tag} ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.add ins(%0, %c : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = linalg.exp ins(%1 : tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
// -----
func.func @conv(%in: memref<1x10x10x3xf32>, %w: memref<3x3x3x8xf32>, %out: memref<1x8x8x8xf32>) {
  linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%in, %w : memref<1x10x10x3xf32>, memref<3x3x3x8xf32>) outs(%out : memref<1x8x8x8xf32>)
  return
}
// -----
func.func @permuted(%a: memref<4x8xf32>, %b: memref<8x4xf32>, %c: memref<4x8x2xf32>) {
  linalg.transpose ins(%a : memref<4x8xf32>) outs(%b : memref<8x4xf32>) permutation = [1, 0]
  linalg.broadcast ins(%a : memref<4x8xf32>) outs(%c : memref<4x8x2xf32>) dimensions = [2]
  linalg.copy ins(%a : memref<4x8xf32>) outs(%a : memref<4x8xf32>)
  return
}
// -----
func.func @transposed(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.transpose ins(%a : tensor<4x8xf32>) outs(%b : tensor<8x4xf32>) permutation = [1, 0]
  return %0 : tensor<8x4xf32>
}
// -----
func.func @reduced(%a: tensor<4x8xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.reduce ins(%a : tensor<4x8xf32>) outs(%b : tensor<4xf32>) dimensions = [1]
    (%x: f32, %sum: f32) {
      %s = arith.addf %x, %sum : f32
      linalg.yield %s : f32
    }
  return %0 : tensor<4xf32>
}
// -----
func.func @dots(%a: memref<8xf32>, %b: memref<8xf32>, %m: memref<8x8xf32>, %s: memref<f32>) {
  linalg.dot ins(%a, %b : memref<8xf32>, memref<8xf32>) outs(%s : memref<f32>)
  linalg.matvec ins(%m, %a : memref<8x8xf32>, memref<8xf32>) outs(%b : memref<8xf32>)
  linalg.vecmat ins(%a, %m : memref<8xf32>, memref<8x8xf32>) outs(%b : memref<8xf32>)
  return
}
// -----
func.func @batched(%a: memref<2x4x8xf32>, %b: memref<2x8x4xf32>, %c: memref<2x4x4xf32>) {
  linalg.batch_matmul ins(%a, %b : memref<2x4x8xf32>, memref<2x8x4xf32>) outs(%c : memref<2x4x4xf32>)
  return
}
// -----
func.func @pooled(%in: memref<1x8x8x4xf32>, %k: memref<2x2xf32>, %out: memref<1x4x4x4xf32>) {
  linalg.pooling_nhwc_max {strides = dense<2> : vector<2xi64>}
    ins(%in, %k : memref<1x8x8x4xf32>, memref<2x2xf32>) outs(%out : memref<1x4x4x4xf32>)
  return
}
// -----
#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @with_maps(%A: memref<8x4xf32>, %B: memref<8x6xf32>, %C: memref<4x6xf32>) {
  linalg.matmul indexing_maps = [#a, #b, #c]
    ins(%A, %B : memref<8x4xf32>, memref<8x6xf32>) outs(%C : memref<4x6xf32>)
  linalg.contract indexing_maps = [#a, #b, #c]
    ins(%A, %B : memref<8x4xf32>, memref<8x6xf32>) outs(%C : memref<4x6xf32>)
  return
}
// -----
func.func @packed(%a: tensor<?x?xf32>, %d: tensor<?x?x4x?xf32>, %p: f32, %n: index) -> tensor<?x?xf32> {
  %0 = linalg.pack %a padding_value(%p : f32) inner_dims_pos = [0, 1] inner_tiles = [4, %n] into %d : tensor<?x?xf32> -> tensor<?x?x4x?xf32>
  %1 = linalg.pack %a padding_value(%p : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [4, %n] into %d {kept} : tensor<?x?xf32> -> tensor<?x?x4x?xf32>
  %2 = linalg.unpack %1 outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [4, %n] into %a : tensor<?x?x4x?xf32> -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}
// -----
#along = {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
func.func @said_once(%t: tensor<?xf32>, %c: f32) -> tensor<?xf32> {
  %0 = linalg.generic #along outs (%t : tensor<?xf32>) {
  ^bb (%x: f32) :
    linalg.yield %c : f32
  } -> (tensor<?xf32>)
  return %0 : tensor<?xf32>
}
