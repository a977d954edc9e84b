// memref.subview: static, dynamic and mixed, strides, lower ranks, layouts, the generic form.
func.func @static(%A: memref<8x16x4xf32>) {
  %0 = memref.subview %A[0, 0, 0] [4, 4, 4] [1, 1, 1] : memref<8x16x4xf32> to memref<4x4x4xf32, strided<[64, 4, 1]>>
  %1 = memref.subview %A[1, 2, 0] [4, 4, 2] [2, 1, 2] : memref<8x16x4xf32> to memref<4x4x2xf32, strided<[128, 4, 2], offset: 72>>
  %2 = memref.subview %A[0, 0, 0] [8, 16, 4] [1, 1, 1] : memref<8x16x4xf32> to memref<8x16x4xf32>
  %3 = memref.subview %A[0, 0, 0] [8, 16, 4] [1, 1, 1] {note = "kept"} : memref<8x16x4xf32> to memref<8x16x4xf32, strided<[64, 4, 1]>>
  return
}

func.func @dynamic(%A: memref<8x16xf32>, %B: memref<?x?xf32>, %i: index, %j: index, %n: index, %s: index) {
  %0 = memref.subview %A[%i, %j] [%n, %n] [%s, %s] : memref<8x16xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  %1 = memref.subview %A[%i, 4] [2, %n] [1, 1] : memref<8x16xf32> to memref<2x?xf32, strided<[16, 1], offset: ?>>
  %2 = memref.subview %B[0, %j] [%n, 4] [1, 2] : memref<?x?xf32> to memref<?x4xf32, strided<[?, 2], offset: ?>>
  %3 = memref.subview %B[%i, 0] [1, %n] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
  return
}

func.func @lower_rank(%A: memref<8x16x4xf32>, %B: memref<1x?x1xf32>, %i: index, %n: index) {
  %0 = memref.subview %A[0, 0, 0] [1, 16, 4] [1, 1, 1] : memref<8x16x4xf32> to memref<16x4xf32>
  %1 = memref.subview %A[3, 4, 2] [1, 6, 1] [1, 1, 1] : memref<8x16x4xf32> to memref<6xf32, strided<[4], offset: 210>>
  %2 = memref.subview %A[%i, 0, 0] [1, 1, 4] [1, 1, 1] : memref<8x16x4xf32> to memref<4xf32, strided<[1], offset: ?>>
  %3 = memref.subview %A[1, 1, 1] [1, 1, 1] [1, 1, 1] : memref<8x16x4xf32> to memref<f32, strided<[], offset: 69>>
  %4 = memref.subview %B[0, 0, 0] [1, %n, 1] [1, 1, 1] : memref<1x?x1xf32> to memref<?xf32, strided<[1]>>
  return
}

func.func @layouts(%A: memref<8x8xf32, strided<[?, 1], offset: ?>, 2>, %i: index) {
  %0 = memref.subview %A[%i, 0] [4, 4] [1, 1] : memref<8x8xf32, strided<[?, 1], offset: ?>, 2> to memref<4x4xf32, strided<[?, 1], offset: ?>, 2>
  %1 = memref.subview %0[0, 1] [2, 2] [2, 2] : memref<4x4xf32, strided<[?, 1], offset: ?>, 2> to memref<2x2xf32, strided<[?, 2], offset: ?>, 2>
  return
}

func.func @generic(%A: memref<8x16xf32>, %i: index) {
  %0 = "memref.subview"(%A, %i) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808, 0>, static_sizes = array<i64: 4, 4>, static_strides = array<i64: 1, 1>}> : (memref<8x16xf32>, index) -> memref<4x4xf32, strided<[16, 1], offset: ?>>
  return
}
