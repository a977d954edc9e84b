func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{2}} {{1}}
  %0 = memref.subview %A[0] [8] [1] : memref<8x8xf32> to memref<8xf32>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{memref<4x4xf32>}} {{strided<[8, 1]>}}
  %0 = memref.subview %A[0, 0] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{offset: 8}}
  %0 = memref.subview %A[1, 0] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 9>>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{4}} {{5}}
  %0 = memref.subview %A[0, 0] [4, 4] [1, 1] : memref<8x8xf32> to memref<5x4xf32, strided<[8, 1]>>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{f64}} {{f32}}
  %0 = memref.subview %A[0, 0] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf64, strided<[8, 1]>>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{memory space}}
  %0 = memref.subview %A[0, 0] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1]>, 1>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{3}} {{2}}
  %0 = memref.subview %A[0, 0] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4x1xf32, strided<[8, 1, 1]>>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{1}} {{9}} {{8}}
  %0 = memref.subview %A[0, 7] [4, 3] [1, 1] : memref<8x8xf32> to memref<4x3xf32, strided<[8, 1], offset: 7>>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{9}} {{8}}
  %0 = memref.subview %A[9, 0] [1, 1] [1, 1] : memref<8x8xf32> to memref<1x1xf32, strided<[8, 1], offset: 72>>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{-1}}
  %0 = memref.subview %A[-1, 0] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1], offset: -8>>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{4}} {{?}}
  %0 = memref.subview %A[0, 0] [4, 4] [%i, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1]>>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{8}} {{9}}
  %0 = memref.expand_shape %C [[0, 1]] output_shape [3, 3] : memref<8xf32> into memref<3x3xf32>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{8}} {{2}}
  %0 = memref.expand_shape %C [[0, 1]] output_shape [2, 4] : memref<8xf32> into memref<4x2xf32>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{1}} {{2}}
  %0 = memref.expand_shape %A [[0, 1]] output_shape [8, 8] : memref<8x8xf32> into memref<8x8xf32>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{2}} {{1}}
  %0 = memref.expand_shape %C [[0, 1], [2, 3]] output_shape [2, 2, 2, 1] : memref<8xf32> into memref<2x2x2x1xf32>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{0}} {{run time}}
  %0 = memref.expand_shape %C [[0, 1]] output_shape [2, 4] : memref<8xf32> into memref<?x4xf32>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{f64}} {{f32}}
  %0 = memref.expand_shape %C [[0, 1]] output_shape [2, 4] : memref<8xf32> into memref<2x4xf64>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{64}} {{32}}
  %0 = memref.collapse_shape %A [[0, 1]] : memref<8x8xf32> into memref<32xf32>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{0 to 1}}
  %0 = memref.collapse_shape %A [[0]] : memref<8x8xf32> into memref<8xf32>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{0}}
  %0 = memref.collapse_shape %A [[1, 0]] : memref<8x8xf32> into memref<64xf32>
  return
}
// -----
func.func @f(%D: memref<8x8xf32, strided<[16, 1]>>) {
  // error @+1 {{strided<[16, 1]>}}
  %0 = memref.collapse_shape %D [[0, 1]] : memref<8x8xf32, strided<[16, 1]>> into memref<64xf32, strided<[1]>>
  return
}
// -----
func.func @f(%C: memref<8xf32>, %s: memref<2xf32>) {
  // error @+1 {{memref<2xf32>}}
  %0 = memref.reshape %C(%s) : (memref<8xf32>, memref<2xf32>) -> memref<?x?xf32>
  return
}
// -----
func.func @f(%C: memref<8xf32>, %s: memref<2xindex>) {
  // error @+1 {{%s}} {{1}}
  %0 = memref.reshape %C(%s) : (memref<8xf32>, memref<2xindex>) -> memref<?xf32>
  return
}
// -----
func.func @f(%C: memref<8xf32>, %s: memref<2xindex>) {
  // error @+1 {{f64}} {{f32}}
  %0 = memref.reshape %C(%s) : (memref<8xf32>, memref<2xindex>) -> memref<?x?xf64>
  return
}
// -----
func.func @f(%C: memref<8xf32>, %s: memref<?xindex>) {
  // error @+1 {{%s}} {{2}}
  %0 = memref.reshape %C(%s) : (memref<8xf32>, memref<?xindex>) -> memref<?x?xf32>
  return
}
// -----
func.func @f(%b: memref<64xi8>, %i: index) {
  // error @+1 {{0}} {{1}}
  %0 = memref.view %b[%i][] : memref<64xi8> to memref<?xf32>
  return
}
// -----
func.func @f(%b: memref<64xi8>, %i: index) {
  // error @+1 {{1}} {{0}}
  %0 = memref.view %b[%i][%i] : memref<64xi8> to memref<4xf32>
  return
}
// -----
func.func @f(%b: memref<64xf32>, %i: index) {
  // error @+1 {{i8}}
  %0 = memref.view %b[%i][] : memref<64xf32> to memref<4xf32>
  return
}
// -----
func.func @f(%b: memref<8x8xi8>, %i: index) {
  // error @+1 {{memref<8x8xi8>}}
  %0 = memref.view %b[%i][] : memref<8x8xi8> to memref<4xf32>
  return
}
// -----
func.func @f(%b: memref<64xi8>, %i: index) {
  // error @+1 {{strided<[2]>}}
  %0 = memref.view %b[%i][] : memref<64xi8> to memref<4xf32, strided<[2]>>
  return
}
// -----
func.func @f(%b: memref<64xi8, 1>, %i: index) {
  // error @+1 {{memory space}}
  %0 = memref.view %b[%i][] : memref<64xi8, 1> to memref<4xf32>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{8}} {{4}}
  %0 = memref.reinterpret_cast %C to offset: [0], sizes: [4], strides: [1] : memref<8xf32> to memref<8xf32>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{f64}} {{f32}}
  %0 = memref.reinterpret_cast %C to offset: [0], sizes: [4], strides: [1] : memref<8xf32> to memref<4xf64>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{2}} {{1}}
  %0 = memref.reinterpret_cast %C to offset: [0], sizes: [4], strides: [2] : memref<8xf32> to memref<4xf32>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{3}}
  %0 = memref.reinterpret_cast %C to offset: [3], sizes: [4], strides: [1] : memref<8xf32> to memref<4xf32>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{2}} {{1}}
  %0 = memref.reinterpret_cast %C to offset: [0], sizes: [4, 2], strides: [1] : memref<8xf32> to memref<4x2xf32>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{memory space}}
  %0 = memref.reinterpret_cast %C to offset: [0], sizes: [4], strides: [1] : memref<8xf32> to memref<4xf32, 2>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{memref<8x8xf32>}}
  %0 = memref.transpose %A (i, j) -> (j, i) : memref<8x8xf32> to memref<8x8xf32>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{memref<8x8xf32>}}
  %0 = memref.transpose %A (i, j) -> (i) : memref<8x8xf32> to memref<8xf32>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{memref<8xf64, 1>}} {{memref<8xf32>}}
  %0 = memref.memory_space_cast %C : memref<8xf32> to memref<8xf64, 1>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{4}} {{6}}
  %b, %o, %s:2 = memref.extract_strided_metadata %A : memref<8x8xf32> -> memref<f32>, index, index, index
  return
}
