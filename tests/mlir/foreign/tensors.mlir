func.func @row_sums(%t: tensor<8x16xf32>, %out: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 16 {
      %x = tensor.extract %t[%i, %j] : tensor<8x16xf32>
      %y = affine.load %out[%i] : memref<8xf32>
      %z = arith.addf %x, %y : f32
      affine.store %z, %out[%i] : memref<8xf32>
    }
  }
  return
}
// -----
func.func @sizes(%t: tensor<?x4x?xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %m = tensor.dim %t, %c0 : tensor<?x4x?xf32>
  %n = tensor.dim {note = "last"} %t, %c2 : tensor<?x4x?xf32>
  %r = tensor.rank %t : tensor<?x4x?xf32>
  %s = arith.addi %n, %r : index
  return %m, %s : index, index
}
// -----
#up = affine_map<(d0) -> (d0 ceildiv 4)>
func.func @empty(%n: index, %m: index) -> tensor<?x?xf32> {
  %tiles = affine.apply #up(%n)
  %0 = tensor.empty(%tiles, %m) : tensor<?x?xf32>
  %1 = tensor.empty() : tensor<4xf32>
  return %0 : tensor<?x?xf32>
}
// -----
func.func @tiles(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %r = scf.for %i = %c0 to %c64 step %c8 iter_args(%acc = %b) -> (tensor<64x64xf32>) {
    %k = affine.min affine_map<(d0) -> (8, -d0 + 64)>(%i)
    %s = tensor.extract_slice %a[%i, 0] [%k, 64] [1, 1] : tensor<64x64xf32> to tensor<?x64xf32>
    %0 = tensor.insert_slice %s into %acc[%i, 0] [%k, 64] [1, 1] : tensor<?x64xf32> into tensor<64x64xf32>
    scf.yield %0 : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}
// -----
func.func @reduced(%a: tensor<8x16x4xf32>, %i: index) -> tensor<4xf32> {
  %0 = tensor.extract_slice %a[0, %i, 0] [1, 1, 4] [1, 1, 1] : tensor<8x16x4xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @shapes(%a: tensor<2x3x?xf32>, %n: index) -> tensor<?xf32> {
  %0 = tensor.collapse_shape %a [[0, 1], [2]] : tensor<2x3x?xf32> into tensor<6x?xf32>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<6x?xf32> into tensor<?xf32>
  return %1 : tensor<?xf32>
}
// -----
func.func @expanded(%a: tensor<?x8xf32>, %n: index) -> tensor<?x4x2x4xf32> {
  %0 = tensor.expand_shape %a [[0, 1], [2, 3]] output_shape [%n, 4, 2, 4] : tensor<?x8xf32> into tensor<?x4x2x4xf32>
  return %0 : tensor<?x4x2x4xf32>
}
// -----
func.func @made(%x: f32, %n: index) -> (tensor<2xf32>, tensor<?xf32>, tensor<3xf32>) {
  %0 = tensor.from_elements %x, %x : tensor<2xf32>
  %1 = tensor.splat %x[%n] : tensor<?xf32>
  %2 = tensor.splat %x : tensor<3xf32>
  %c = arith.constant 1 : index
  %3 = tensor.insert %x into %0[%c] : tensor<2xf32>
  return %3, %1, %2 : tensor<2xf32>, tensor<?xf32>, tensor<3xf32>
}
// -----
func.func @generated(%n: index) -> tensor<?x8xindex> {
  %0 = tensor.generate %n {
  ^bb0(%i: index, %j: index):
    %k = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)>(%i, %j)
    tensor.yield %k : index
  } : tensor<?x8xindex>
  return %0 : tensor<?x8xindex>
}
// -----
func.func @padded(%t: tensor<?x7xf32>, %n: index, %zero: f32) -> tensor<?x8xf32> {
  %k = affine.apply affine_map<()[s0] -> (-s0 + 16)>()[%n]
  %0 = tensor.pad %t low[0, 0] high[%k, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x7xf32> to tensor<?x8xf32>
  %1 = tensor.pad %t nofold low[%n, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x7xf32> to tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}
// -----
func.func @casts(%t: tensor<4x?xf32>, %s: tensor<2xindex>) -> tensor<?x?xf32> {
  %0 = tensor.cast %t : tensor<4x?xf32> to tensor<?x?xf32>
  %1 = tensor.reshape %0(%s) : (tensor<?x?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %2 = tensor.bitcast %1 : tensor<?x?xf32> to tensor<?x?xi32>
  %3 = tensor.concat dim(0) %1, %1 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %3 : tensor<?x?xf32>
}
// -----
func.func @in_parallel(%a: tensor<32xf32>) -> tensor<32xf32> {
  %r = scf.forall (%i) in (4) shared_outs(%o = %a) -> (tensor<32xf32>) {
    %at = affine.apply affine_map<(d0) -> (d0 * 8)>(%i)
    %s = tensor.extract_slice %a[%at] [8] [1] : tensor<32xf32> to tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%at] [8] [1] : tensor<8xf32> into tensor<32xf32>
    }
  }
  return %r : tensor<32xf32>
}
// -----
func.func @gathered(%a: tensor<4x8xf32>, %at: tensor<2x1xindex>) -> tensor<2x1x8xf32> {
  %0 = tensor.gather %a[%at] gather_dims([0]) unique : (tensor<4x8xf32>, tensor<2x1xindex>) -> tensor<2x1x8xf32>
  return %0 : tensor<2x1x8xf32>
}
// -----
func.func @delinearized(%t: tensor<4x6xf32>, %out: memref<24xf32>) {
  affine.parallel (%k) = (0) to (24) {
    %i, %j = affine.delinearize_index %k into (4, 6) : index, index
    %x = tensor.extract %t[%i, %j] : tensor<4x6xf32>
    affine.store %x, %out[%k] : memref<24xf32>
  }
  return
}
