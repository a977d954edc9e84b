func.func @cast_between_ranks(%A: memref<?x?xf32>, %n: index) -> f32 {
  %a = memref.cast %A : memref<?x?xf32> to memref<4x?xf32>
  %b = memref.cast %a : memref<4x?xf32> to memref<4x8xf32>
  %v = memref.load %b[%n, %n] : memref<4x8xf32>
  return %v : f32
}
// -----
func.func @cast_to_unranked(%A: memref<4xf32>) -> (memref<*xf32>, memref<4xf32>) {
  %a = memref.cast %A : memref<4xf32> to memref<*xf32>
  %b = memref.cast %a : memref<*xf32> to memref<4xf32>
  return %a, %b : memref<*xf32>, memref<4xf32>
}
// -----
func.func @cast_to_itself(%A: memref<?xf32>) -> memref<?xf32> {
  %a = memref.cast %A : memref<?xf32> to memref<?xf32>
  return %a : memref<?xf32>
}
// -----
func.func @cast_in_calls(%A: memref<4xf32>) {
  %a = memref.cast %A : memref<4xf32> to memref<?xf32>
  %b = memref.cast %a : memref<?xf32> to memref<?xf32>
  func.call @use(%b) : (memref<?xf32>) -> ()
  return
}
func.func private @use(memref<?xf32>)
// -----
func.func @dims(%A: memref<4x?xf32>, %i: index) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.dim %A, %c0 : memref<4x?xf32>
  %b = memref.dim %A, %c1 : memref<4x?xf32>
  %c = memref.dim %A, %i : memref<4x?xf32>
  return %a, %b, %c : index, index, index
}
// -----
func.func @dim_of_alloc(%n: index, %m: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %A = memref.alloc(%n, %m) : memref<?x4x?xf32>
  %a = memref.dim %A, %c0 : memref<?x4x?xf32>
  %b = memref.dim %A, %c2 : memref<?x4x?xf32>
  memref.dealloc %A : memref<?x4x?xf32>
  return %a, %b : index, index
}
// -----
func.func @dim_of_subview(%A: memref<?x?xf32>, %n: index, %m: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %S = memref.subview %A[0, 0] [%n, %m] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1]>>
  %a = memref.dim %S, %c0 : memref<?x?xf32, strided<[?, 1]>>
  %b = memref.dim %S, %c1 : memref<?x?xf32, strided<[?, 1]>>
  return %a, %b : index, index
}
// -----
func.func @dim_of_reduced_subview(%A: memref<?x?xf32>, %n: index, %m: index) -> index {
  %c0 = arith.constant 0 : index
  %S = memref.subview %A[%n, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<?xf32, strided<[1], offset: ?>>
  %a = memref.dim %S, %c0 : memref<?xf32, strided<[1], offset: ?>>
  return %a : index
}
// -----
func.func @dim_of_cast(%A: memref<4x?xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %B = memref.cast %A : memref<4x?xf32> to memref<?x?xf32>
  %a = memref.dim %B, %c0 : memref<?x?xf32>
  %b = memref.dim %B, %c1 : memref<?x?xf32>
  return %a, %b : index, index
}
// -----
func.func @rank(%A: memref<4x?xf32>, %B: memref<*xf32>) -> (index, index) {
  %a = memref.rank %A : memref<4x?xf32>
  %b = memref.rank %B : memref<*xf32>
  return %a, %b : index, index
}
// -----
func.func @alloc_of_constants(%n: index, %x: f32) -> (memref<?x?xf32>, memref<?xf32>) {
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %A = memref.alloc(%c4, %n) : memref<?x?xf32>
  %B = memref.alloc(%c8) {alignment = 64 : i64} : memref<?xf32>
  affine.store %x, %B[0] : memref<?xf32>
  return %A, %B : memref<?x?xf32>, memref<?xf32>
}
// -----
func.func @negative_alloc() -> memref<?xf32> {
  %c4 = arith.constant -4 : index
  %A = memref.alloc(%c4) : memref<?xf32>
  return %A : memref<?xf32>
}
// -----
func.func @only_written(%n: index, %x: f32) {
  %A = memref.alloc(%n) : memref<?xf32>
  memref.store %x, %A[%n] : memref<?xf32>
  memref.dealloc %A : memref<?xf32>
  %B = memref.alloca() : memref<4xf32>
  memref.store %x, %B[%n] : memref<4xf32>
  return
}
// -----
func.func @only_written_in_a_loop(%n: index, %x: f32) {
  %A = memref.alloc(%n) : memref<?xf32>
  affine.for %i = 0 to %n {
    affine.store %x, %A[%i] : memref<?xf32>
  }
  memref.dealloc %A : memref<?xf32>
  return
}
// -----
func.func @never_used(%n: index) {
  %A = memref.alloc(%n) : memref<?xf32>
  %B = memref.alloca() : memref<4xf32>
  %C = memref.alloc() : memref<4xf32>
  memref.dealloc %C : memref<4xf32>
  return
}
// -----
func.func @stored_itself(%A: memref<4xmemref<4xf32>>, %n: index) {
  %B = memref.alloc() : memref<4xf32>
  memref.store %B, %A[%n] : memref<4xmemref<4xf32>>
  return
}
// -----
func.func @copies(%A: memref<8xf32>, %B: memref<8xf32>, %C: memref<0xf32>, %D: memref<0xf32>) {
  memref.copy %A, %A : memref<8xf32> to memref<8xf32>
  memref.copy %C, %D : memref<0xf32> to memref<0xf32>
  %a = memref.cast %A : memref<8xf32> to memref<?xf32>
  %b = memref.cast %B : memref<8xf32> to memref<?xf32>
  memref.copy %a, %b : memref<?xf32> to memref<?xf32>
  return
}
// -----
func.func @copy_of_more_known(%A: memref<?xf32>, %B: memref<8xf32>) {
  %a = memref.cast %A : memref<?xf32> to memref<8xf32>
  memref.copy %a, %B : memref<8xf32> to memref<8xf32>
  return
}
// -----
func.func @subview_of_constants(%A: memref<16x16xf32>, %n: index) -> memref<?x?xf32, strided<[?, ?], offset: ?>> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %S = memref.subview %A[%c4, %n] [%c4, %n] [%c1, %c1] : memref<16x16xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  return %S : memref<?x?xf32, strided<[?, ?], offset: ?>>
}
// -----
func.func @subview_used(%A: memref<16x16xf32>, %n: index, %x: f32) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %S = memref.subview %A[%c4, %n] [%c4, 4] [1, %c1] : memref<16x16xf32> to memref<?x4xf32, strided<[16, ?], offset: ?>>
  memref.store %x, %S[%n, %n] : memref<?x4xf32, strided<[16, ?], offset: ?>>
  return
}
// -----
func.func @reduced_subview(%A: memref<16x16xf32>, %n: index, %x: f32) {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %S = memref.subview %A[%c2, 0] [1, %c4] [1, 1] : memref<16x16xf32> to memref<?xf32, strided<[1], offset: ?>>
  memref.store %x, %S[%n] : memref<?xf32, strided<[1], offset: ?>>
  return
}
// -----
func.func @whole_subview(%A: memref<8x16xf32>) -> (memref<8x16xf32>, memref<8x16xf32, strided<[16, 1], offset: ?>>) {
  %S = memref.subview %A[0, 0] [8, 16] [1, 1] : memref<8x16xf32> to memref<8x16xf32>
  %c0 = arith.constant 0 : index
  %T = memref.subview %A[%c0, 0] [8, 16] [1, 1] : memref<8x16xf32> to memref<8x16xf32, strided<[16, 1], offset: ?>>
  return %S, %T : memref<8x16xf32>, memref<8x16xf32, strided<[16, 1], offset: ?>>
}
// -----
func.func @subview_of_cast(%A: memref<8x16xf32>, %n: index) -> memref<4x?xf32, strided<[?, 1], offset: ?>> {
  %a = memref.cast %A : memref<8x16xf32> to memref<?x?xf32>
  %S = memref.subview %a[%n, 0] [4, %n] [1, 1] : memref<?x?xf32> to memref<4x?xf32, strided<[?, 1], offset: ?>>
  return %S : memref<4x?xf32, strided<[?, 1], offset: ?>>
}
// -----
func.func @subview_twice(%A: memref<?xf32>, %n: index) -> memref<?xf32, strided<[1]>> {
  %S = memref.subview %A[0] [%n] [1] : memref<?xf32> to memref<?xf32, strided<[1]>>
  %T = memref.subview %S[0] [%n] [1] : memref<?xf32, strided<[1]>> to memref<?xf32, strided<[1]>>
  return %T : memref<?xf32, strided<[1]>>
}
// -----
func.func @reinterpret(%A: memref<?xf32>, %n: index) -> (memref<?x4xf32, strided<[4, 1]>>, memref<8xf32>) {
  %c4 = arith.constant 4 : index
  %R = memref.reinterpret_cast %A to offset: [0], sizes: [%c4, 4], strides: [4, 1] : memref<?xf32> to memref<?x4xf32, strided<[4, 1]>>
  %Q = memref.reinterpret_cast %R to offset: [0], sizes: [8], strides: [1] : memref<?x4xf32, strided<[4, 1]>> to memref<8xf32>
  return %R, %Q : memref<?x4xf32, strided<[4, 1]>>, memref<8xf32>
}
// -----
func.func @reinterpret_of_cast(%A: memref<8xf32>, %n: index) -> memref<?xf32, strided<[?], offset: ?>> {
  %a = memref.cast %A : memref<8xf32> to memref<?xf32>
  %R = memref.reinterpret_cast %a to offset: [%n], sizes: [%n], strides: [%n] : memref<?xf32> to memref<?xf32, strided<[?], offset: ?>>
  return %R : memref<?xf32, strided<[?], offset: ?>>
}
// -----
func.func @metadata(%A: memref<4x?xf32, strided<[?, 1], offset: 3>>) -> (index, index, index, index, index) {
  %b, %o, %s:2, %t:2 = memref.extract_strided_metadata %A : memref<4x?xf32, strided<[?, 1], offset: 3>> -> memref<f32>, index, index, index, index, index
  return %o, %s#0, %s#1, %t#0, %t#1 : index, index, index, index, index
}
// -----
func.func @reshapes(%A: memref<8x16xf32>) -> (memref<8x16xf32>, memref<4x2x16xf32>, memref<128xf32>) {
  %a = memref.collapse_shape %A [[0, 1]] : memref<8x16xf32> into memref<128xf32>
  %b = memref.expand_shape %a [[0, 1]] output_shape [8, 16] : memref<128xf32> into memref<8x16xf32>
  %c = memref.expand_shape %A [[0, 1], [2]] output_shape [4, 2, 16] : memref<8x16xf32> into memref<4x2x16xf32>
  %d = memref.collapse_shape %c [[0, 1], [2]] : memref<4x2x16xf32> into memref<8x16xf32>
  %e = memref.collapse_shape %d [[0, 1]] : memref<8x16xf32> into memref<128xf32>
  return %b, %c, %e : memref<8x16xf32>, memref<4x2x16xf32>, memref<128xf32>
}
// -----
func.func @collapse_twice(%A: memref<2x4x16xf32>) -> memref<128xf32> {
  %a = memref.collapse_shape %A [[0, 1], [2]] : memref<2x4x16xf32> into memref<8x16xf32>
  %b = memref.collapse_shape %a [[0, 1]] : memref<8x16xf32> into memref<128xf32>
  return %b : memref<128xf32>
}
// -----
func.func @expand_twice(%A: memref<128xf32>) -> memref<2x4x16xf32> {
  %a = memref.expand_shape %A [[0, 1]] output_shape [8, 16] : memref<128xf32> into memref<8x16xf32>
  %b = memref.expand_shape %a [[0, 1], [2]] output_shape [2, 4, 16] : memref<8x16xf32> into memref<2x4x16xf32>
  return %b : memref<2x4x16xf32>
}
// -----
func.func @views(%A: memref<2048xi8>, %n: index) -> memref<?x?xf32> {
  %c8 = arith.constant 8 : index
  %c0 = arith.constant 0 : index
  %V = memref.view %A[%c0][%c8, %n] : memref<2048xi8> to memref<?x?xf32>
  return %V : memref<?x?xf32>
}
// -----
func.func @loads_stay_in_order(%A: memref<?xf32>, %n: index, %x: f32) -> f32 {
  %a = memref.load %A[%n] : memref<?xf32>
  memref.store %x, %A[%n] : memref<?xf32>
  %b = memref.load %A[%n] : memref<?xf32>
  %c = memref.load %A[%n] : memref<?xf32>
  %d = arith.addf %a, %b : f32
  return %d : f32
}
// -----
func.func @atomics(%A: memref<8xi32>, %n: index, %x: i32) {
  %a = memref.cast %A : memref<8xi32> to memref<?xi32>
  %r = memref.atomic_rmw addi %x, %a[%n] : (i32, memref<?xi32>) -> i32
  return
}
// -----
func.func @globals(%n: index) -> (f32, f32) {
  %c1 = arith.constant 1 : index
  %g = memref.get_global @g : memref<4xf32>
  %h = memref.get_global @g : memref<4xf32>
  %a = memref.load %g[%c1] : memref<4xf32>
  %b = affine.load %g[1] : memref<4xf32>
  return %a, %b : f32, f32
}
memref.global "private" constant @g : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
