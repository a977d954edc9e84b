// memref.expand_shape, collapse_shape, reshape, view, cast, reinterpret_cast, transpose, memory_space_cast.
func.func @expand(%A: memref<32xf32>, %B: memref<?x6xf32>, %n: index, %s: memref<f32>) {
  %0 = memref.expand_shape %A [[0, 1]] output_shape [4, 8] : memref<32xf32> into memref<4x8xf32>
  %1 = memref.expand_shape %B [[0, 1], [2, 3]] output_shape [%n, 4, 2, 3] : memref<?x6xf32> into memref<?x4x2x3xf32>
  %2 = memref.expand_shape %B [[0], [1, 2]] output_shape [%n, 3, 2] {note = "kept"} : memref<?x6xf32> into memref<?x3x2xf32>
  %3 = memref.expand_shape %s [] output_shape [1, 1] : memref<f32> into memref<1x1xf32>
  return
}

func.func @collapse(%A: memref<4x8x2xf32>, %B: memref<?x4x?xf32>, %C: memref<1x1xf32>, %D: memref<4x8xf32, strided<[16, 2], offset: ?>>) {
  %0 = memref.collapse_shape %A [[0, 1], [2]] : memref<4x8x2xf32> into memref<32x2xf32>
  %1 = memref.collapse_shape %A [[0, 1, 2]] : memref<4x8x2xf32> into memref<64xf32>
  %2 = memref.collapse_shape %B [[0, 1], [2]] {note = "kept"} : memref<?x4x?xf32> into memref<?x?xf32>
  %3 = memref.collapse_shape %C [] : memref<1x1xf32> into memref<f32>
  %4 = memref.collapse_shape %D [[0, 1]] : memref<4x8xf32, strided<[16, 2], offset: ?>> into memref<32xf32, strided<[2], offset: ?>>
  return
}

func.func @reshape(%A: memref<?x4xf32>, %U: memref<*xf32>, %shape: memref<2xindex>, %any: memref<?xi32>) {
  %0 = memref.reshape %A(%shape) : (memref<?x4xf32>, memref<2xindex>) -> memref<?x?xf32>
  %1 = memref.reshape %U(%any) : (memref<*xf32>, memref<?xi32>) -> memref<*xf32>
  %2 = memref.reshape %U(%shape) {note = "kept"} : (memref<*xf32>, memref<2xindex>) -> memref<2x?xf32>
  return
}

func.func @view(%bytes: memref<2048xi8>, %dynamic: memref<?xi8>, %i: index, %n: index) {
  %0 = memref.view %bytes[%i][] : memref<2048xi8> to memref<64x4xf32>
  %1 = memref.view %dynamic[%i][%n, %n] : memref<?xi8> to memref<?x4x?xf32>
  %2 = memref.view %bytes[%i][%n] {note = "kept"} : memref<2048xi8> to memref<?xi64>
  return
}

func.func @casts(%A: memref<4x8xf32>, %B: memref<?x?xf32>, %C: memref<*xf32>, %D: memref<4xf32, strided<[1], offset: 3>>) {
  %0 = memref.cast %A : memref<4x8xf32> to memref<?x8xf32>
  %1 = memref.cast %B : memref<?x?xf32> to memref<4x?xf32>
  %2 = memref.cast %A : memref<4x8xf32> to memref<*xf32>
  %3 = memref.cast %C {note = "kept"} : memref<*xf32> to memref<4x4xf32>
  %4 = memref.cast %D : memref<4xf32, strided<[1], offset: 3>> to memref<?xf32, strided<[?], offset: ?>>
  %5 = memref.memory_space_cast %A : memref<4x8xf32> to memref<4x8xf32, 3>
  %6 = memref.transpose %A (i, j) -> (j, i) : memref<4x8xf32> to memref<8x4xf32, strided<[1, 8]>>
  %7 = memref.transpose %B (d0, d1) -> (d1, d0) {note = "kept"} : memref<?x?xf32> to memref<?x?xf32, strided<[1, ?]>>
  return
}

func.func @reinterpret(%A: memref<?xf32>, %U: memref<*xf32>, %o: index, %n: index, %s: index) {
  %0 = memref.reinterpret_cast %A to offset: [0], sizes: [4, 8], strides: [8, 1] : memref<?xf32> to memref<4x8xf32>
  %1 = memref.reinterpret_cast %A to offset: [%o], sizes: [%n, 8], strides: [%s, 1] : memref<?xf32> to memref<?x8xf32, strided<[?, 1], offset: ?>>
  %2 = memref.reinterpret_cast %U to offset: [2], sizes: [%n], strides: [1] {note = "kept"} : memref<*xf32> to memref<?xf32, strided<[1], offset: 2>>
  %3 = memref.reinterpret_cast %A to offset: [%o], sizes: [], strides: [] : memref<?xf32> to memref<f32, strided<[], offset: ?>>
  return
}

func.func @metadata(%A: memref<4x?xf32, strided<[?, 1], offset: ?>>, %B: memref<8xf32>) -> index {
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %A : memref<4x?xf32, strided<[?, 1], offset: ?>> -> memref<f32>, index, index, index, index, index
  %0:4 = memref.extract_strided_metadata %B : memref<8xf32> -> memref<f32>, index, index, index {note = "kept"}
  %pointer = memref.extract_aligned_pointer_as_index %B : memref<8xf32> -> index
  return %strides#1 : index
}
