func.func @round(%t: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %m = bufferization.to_buffer %t : tensor<8x8xf32> to memref<8x8xf32>
  affine.for %i = 0 to 8 {
    %x = affine.load %m[%i, %i] : memref<8x8xf32>
    affine.store %x, %m[%i, 0] : memref<8x8xf32>
  }
  %r = bufferization.to_tensor %m : memref<8x8xf32> to tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
// -----
func.func @read_only(%t: tensor<?xf32>, %o: memref<?xf32>) -> tensor<?xf32> {
  %m = bufferization.to_buffer %t read_only : tensor<?xf32> to memref<?xf32, strided<[?], offset: ?>>
  %x = affine.load %m[0] : memref<?xf32, strided<[?], offset: ?>>
  affine.store %x, %o[0] : memref<?xf32>
  %r = bufferization.to_tensor %o restrict writable : memref<?xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}
// -----
func.func @allocated(%n: index, %t: tensor<?xf32>) -> tensor<?xf32> {
  %0 = bufferization.alloc_tensor(%n) : tensor<?xf32>
  %1 = bufferization.alloc_tensor() copy(%t) : tensor<?xf32>
  %2 = bufferization.alloc_tensor(%n) {memory_space = 1 : i64} : tensor<?xf32>
  bufferization.dealloc_tensor %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}
// -----
func.func @cloned(%m: memref<4x?xf32>, %t: tensor<4x?xf32>) -> memref<4x?xf32> {
  %0 = bufferization.clone %m : memref<4x?xf32> to memref<4x?xf32>
  bufferization.materialize_in_destination %t in restrict writable %m : (tensor<4x?xf32>, memref<4x?xf32>) -> ()
  return %0 : memref<4x?xf32>
}
// -----
func.func @affine_of_tensors(%t: tensor<16xf32>, %u: tensor<16xf32>) -> tensor<16xf32> {
  %a = bufferization.to_buffer %t : tensor<16xf32> to memref<16xf32>
  %b = bufferization.to_buffer %u : tensor<16xf32> to memref<16xf32>
  %c = memref.alloc() : memref<16xf32>
  affine.for %i = 0 to 16 {
    %x = affine.load %a[%i] : memref<16xf32>
    %y = affine.load %b[-%i + 15] : memref<16xf32>
    %z = arith.mulf %x, %y : f32
    affine.store %z, %c[%i] : memref<16xf32>
  }
  %r = bufferization.to_tensor %c restrict : memref<16xf32> to tensor<16xf32>
  return %r : tensor<16xf32>
}
// -----
func.func @kept(%c: i1, %m: memref<8xf32>) {
  cf.assert %c, "the size must be even"
  %0 = memref.expand_shape %m [[0, 1]] output_shape [2, 4] : memref<8xf32> into memref<2x4xf32>
  %1 = memref.memory_space_cast %0 : memref<2x4xf32> to memref<2x4xf32, 1>
  affine.for %i = 0 to 2 {
    %x = affine.load %0[%i, 3] : memref<2x4xf32>
    affine.store %x, %1[%i, 0] : memref<2x4xf32, 1>
  }
  return
}
// -----
func.func @freed(%A: memref<8xf32>, %B: memref<?xf32>, %c: i1) -> i1 {
  affine.for %i = 0 to 8 {
    %x = affine.load %A[%i] : memref<8xf32>
    affine.store %x, %B[%i] : memref<?xf32>
  }
  %0:2 = bufferization.dealloc (%A, %B : memref<8xf32>, memref<?xf32>) if (%c, %c) retain (%A, %B : memref<8xf32>, memref<?xf32>)
  bufferization.dealloc (%A : memref<8xf32>) if (%c)
  bufferization.dealloc
  return %0#1 : i1
}
