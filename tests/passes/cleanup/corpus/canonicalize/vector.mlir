func.func @folds(%v: vector<4xi32>) -> (vector<4xi32>, vector<4xi32>, vector<4xi32>) {
  %z = arith.constant dense<0> : vector<4xi32>
  %o = arith.constant dense<1> : vector<4xi32>
  %k = arith.constant dense<[1, 2, 3, 4]> : vector<4xi32>
  %a = arith.addi %v, %z : vector<4xi32>
  %b = arith.muli %o, %a : vector<4xi32>
  %c = arith.addi %k, %o : vector<4xi32>
  %d = arith.addi %v, %k : vector<4xi32>
  %e = arith.addi %d, %c : vector<4xi32>
  return %b, %c, %e : vector<4xi32>, vector<4xi32>, vector<4xi32>
}
// -----
func.func @broadcasts(%x: f32, %v: vector<4xf32>) -> (vector<2x4xf32>, vector<4xf32>, vector<4xf32>) {
  %c = arith.constant 1.0 : f32
  %a = vector.broadcast %x : f32 to vector<4xf32>
  %b = vector.broadcast %a : vector<4xf32> to vector<2x4xf32>
  %d = vector.broadcast %c : f32 to vector<4xf32>
  %e = vector.broadcast %v : vector<4xf32> to vector<4xf32>
  return %b, %d, %e : vector<2x4xf32>, vector<4xf32>, vector<4xf32>
}
// -----
func.func @extract_of_broadcast(%x: f32, %v: vector<4xf32>) -> (f32, vector<4xf32>, f32) {
  %a = vector.broadcast %x : f32 to vector<4xf32>
  %b = vector.extract %a[2] : f32 from vector<4xf32>
  %c = vector.broadcast %v : vector<4xf32> to vector<2x4xf32>
  %d = vector.extract %c[1] : vector<4xf32> from vector<2x4xf32>
  %e = vector.extract %c[1, 2] : f32 from vector<2x4xf32>
  return %b, %d, %e : f32, vector<4xf32>, f32
}
// -----
func.func @extract_of_constant() -> (i32, vector<2xi32>) {
  %k = arith.constant dense<[[1, 2], [3, 4]]> : vector<2x2xi32>
  %a = vector.extract %k[1, 0] : i32 from vector<2x2xi32>
  %b = vector.extract %k[1] : vector<2xi32> from vector<2x2xi32>
  return %a, %b : i32, vector<2xi32>
}
// -----
func.func @extract_of_insert(%x: f32, %v: vector<4xf32>) -> (f32, f32) {
  %a = vector.insert %x, %v[1] : f32 into vector<4xf32>
  %b = vector.extract %a[1] : f32 from vector<4xf32>
  %c = vector.extract %a[2] : f32 from vector<4xf32>
  return %b, %c : f32, f32
}
// -----
func.func @extract_twice(%v: vector<2x3x4xf32>) -> f32 {
  %a = vector.extract %v[1] : vector<3x4xf32> from vector<2x3x4xf32>
  %b = vector.extract %a[2, 3] : f32 from vector<3x4xf32>
  return %b : f32
}
// -----
func.func @dynamic_position(%v: vector<4xf32>, %x: f32) -> (f32, vector<4xf32>) {
  %c2 = arith.constant 2 : index
  %a = vector.extract %v[%c2] : f32 from vector<4xf32>
  %b = vector.insert %x, %v[%c2] : f32 into vector<4xf32>
  return %a, %b : f32, vector<4xf32>
}
// -----
func.func @transposes(%v: vector<2x3xf32>, %x: f32) -> (vector<2x3xf32>, vector<2x3xf32>, vector<3x2xf32>) {
  %a = vector.transpose %v, [1, 0] : vector<2x3xf32> to vector<3x2xf32>
  %b = vector.transpose %a, [1, 0] : vector<3x2xf32> to vector<2x3xf32>
  %c = vector.transpose %v, [0, 1] : vector<2x3xf32> to vector<2x3xf32>
  %d = vector.broadcast %x : f32 to vector<2x3xf32>
  %e = vector.transpose %d, [1, 0] : vector<2x3xf32> to vector<3x2xf32>
  return %b, %c, %e : vector<2x3xf32>, vector<2x3xf32>, vector<3x2xf32>
}
// -----
func.func @shape_casts(%v: vector<2x4xf32>) -> (vector<2x4xf32>, vector<4x2xf32>, vector<2x4xf32>) {
  %a = vector.shape_cast %v : vector<2x4xf32> to vector<8xf32>
  %b = vector.shape_cast %a : vector<8xf32> to vector<2x4xf32>
  %c = vector.shape_cast %a : vector<8xf32> to vector<4x2xf32>
  %d = vector.shape_cast %v : vector<2x4xf32> to vector<2x4xf32>
  return %b, %c, %d : vector<2x4xf32>, vector<4x2xf32>, vector<2x4xf32>
}
// -----
func.func @masks(%n: index) -> (vector<4xi1>, vector<4xi1>, vector<4x4xi1>) {
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  %a = vector.create_mask %c3 : vector<4xi1>
  %b = vector.create_mask %c9 : vector<4xi1>
  %c = vector.create_mask %n, %c3 : vector<4x4xi1>
  return %a, %b, %c : vector<4xi1>, vector<4xi1>, vector<4x4xi1>
}
// -----
func.func @transfers_in_bounds(%A: memref<16xf32>, %n: index, %x: f32) -> vector<4xf32> {
  %c4 = arith.constant 4 : index
  %c14 = arith.constant 14 : index
  %v = vector.transfer_read %A[%c4], %x : memref<16xf32>, vector<4xf32>
  vector.transfer_write %v, %A[%c14] : vector<4xf32>, memref<16xf32>
  vector.transfer_write %v, %A[%n] : vector<4xf32>, memref<16xf32>
  return %v : vector<4xf32>
}
// -----
func.func @transfers_through_casts(%A: memref<16xf32>, %n: index, %x: f32) -> vector<4xf32> {
  %a = memref.cast %A : memref<16xf32> to memref<?xf32>
  %v = vector.transfer_read %a[%n], %x : memref<?xf32>, vector<4xf32>
  vector.store %v, %a[%n] : memref<?xf32>, vector<4xf32>
  return %v : vector<4xf32>
}
// -----
func.func @masked_by_constants(%A: memref<16xf32>, %n: index, %v: vector<4xf32>) -> (vector<4xf32>, vector<4xf32>) {
  %t = arith.constant dense<true> : vector<4xi1>
  %f = arith.constant dense<false> : vector<4xi1>
  %a = vector.maskedload %A[%n], %t, %v : memref<16xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  %b = vector.maskedload %A[%n], %f, %v : memref<16xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  vector.maskedstore %A[%n], %t, %v : memref<16xf32>, vector<4xi1>, vector<4xf32>
  vector.maskedstore %A[%n], %f, %v : memref<16xf32>, vector<4xi1>, vector<4xf32>
  return %a, %b : vector<4xf32>, vector<4xf32>
}
// -----
func.func @reductions(%v: vector<1xf32>, %w: vector<4xf32>, %x: f32) -> (f32, f32, f32) {
  %a = vector.reduction <add>, %v : vector<1xf32> into f32
  %b = vector.reduction <add>, %v, %x : vector<1xf32> into f32
  %c = vector.reduction <mul>, %w : vector<4xf32> into f32
  return %a, %b, %c : f32, f32, f32
}
// -----
func.func @shuffles(%v: vector<4xf32>, %w: vector<4xf32>) -> (vector<4xf32>, vector<4xf32>, vector<2xf32>) {
  %a = vector.shuffle %v, %w [0, 1, 2, 3] : vector<4xf32>, vector<4xf32>
  %b = vector.shuffle %v, %w [4, 5, 6, 7] : vector<4xf32>, vector<4xf32>
  %c = vector.shuffle %v, %w [0, 7] : vector<4xf32>, vector<4xf32>
  return %a, %b, %c : vector<4xf32>, vector<4xf32>, vector<2xf32>
}
// -----
func.func @steps() -> vector<4xindex> {
  %c2 = arith.constant dense<2> : vector<4xindex>
  %a = vector.step : vector<4xindex>
  %b = arith.muli %a, %c2 : vector<4xindex>
  return %b : vector<4xindex>
}
// -----
func.func @elements(%x: f32, %v: vector<2xf32>) -> (f32, f32, vector<2xf32>) {
  %a = vector.from_elements %x, %x : vector<2xf32>
  %b:2 = vector.to_elements %a : vector<2xf32>
  %c:2 = vector.to_elements %v : vector<2xf32>
  %d = vector.from_elements %c#0, %c#1 : vector<2xf32>
  return %b#0, %b#1, %d : f32, f32, vector<2xf32>
}
// -----
func.func @slices(%v: vector<8xf32>, %w: vector<4xf32>) -> (vector<8xf32>, vector<4xf32>, vector<2xf32>) {
  %a = vector.extract_strided_slice %v {offsets = [0], sizes = [8], strides = [1]} : vector<8xf32> to vector<8xf32>
  %b = vector.insert_strided_slice %w, %v {offsets = [2], strides = [1]} : vector<4xf32> into vector<8xf32>
  %c = vector.extract_strided_slice %b {offsets = [2], sizes = [4], strides = [1]} : vector<8xf32> to vector<4xf32>
  %d = vector.extract_strided_slice %v {offsets = [2], sizes = [4], strides = [1]} : vector<8xf32> to vector<4xf32>
  %e = vector.extract_strided_slice %d {offsets = [1], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>
  return %a, %c, %e : vector<8xf32>, vector<4xf32>, vector<2xf32>
}
// -----
func.func @bitcasts(%v: vector<4xf32>) -> (vector<4xf32>, vector<8xf16>) {
  %a = vector.bitcast %v : vector<4xf32> to vector<4xi32>
  %b = vector.bitcast %a : vector<4xi32> to vector<4xf32>
  %c = vector.bitcast %a : vector<4xi32> to vector<8xf16>
  return %b, %c : vector<4xf32>, vector<8xf16>
}
// -----
func.func @vector_loop(%A: memref<?xf32>, %B: memref<?xf32>, %n: index) {
  %c2 = arith.constant 2.0 : f32
  affine.for %i = 0 to %n step 8 {
    %k = vector.broadcast %c2 : f32 to vector<8xf32>
    %a = affine.vector_load %A[%i] : memref<?xf32>, vector<8xf32>
    %p = arith.mulf %k, %a : vector<8xf32>
    affine.vector_store %p, %B[%i] : memref<?xf32>, vector<8xf32>
  }
  return
}
// -----
func.func @dead_vectors(%A: memref<?xf32>, %n: index, %x: f32) {
  %v = vector.load %A[%n] : memref<?xf32>, vector<4xf32>
  %w = vector.transfer_read %A[%n], %x : memref<?xf32>, vector<4xf32>
  %u = arith.addf %v, %w : vector<4xf32>
  %r = vector.reduction <add>, %u : vector<4xf32> into f32
  return
}
