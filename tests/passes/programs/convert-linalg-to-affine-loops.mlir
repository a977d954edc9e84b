// RUN: convert-linalg-to-affine-loops
// CLEAN: canonicalize,cse
// FIXED POINT: yes
#rows = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (i)>
#once = affine_map<(i, j) -> ()>
BODY
// ----- fill, copy, and sizes that are not known
func.func @f(%A: memref<?x5xf32>, %B: memref<?x5xf32>, %x: f32) {
  linalg.fill ins(%x : f32) outs(%A : memref<?x5xf32>)
  linalg.copy ins(%A : memref<?x5xf32>) outs(%B : memref<?x5xf32>)
  return }
// ----- a single element
func.func @f(%A: memref<f64>, %x: f64) {
  linalg.fill ins(%x : f64) outs(%A : memref<f64>)
  return }
// ----- products
func.func @f(%A: memref<4x?xf32>, %B: memref<?x5xf32>, %C: memref<4x5xf32>, %x: memref<?xf32>, %y: memref<4xf32>, %s: memref<f32>) {
  linalg.matmul ins(%A, %B : memref<4x?xf32>, memref<?x5xf32>) outs(%C : memref<4x5xf32>)
  linalg.matvec ins(%A, %x : memref<4x?xf32>, memref<?xf32>) outs(%y : memref<4xf32>)
  linalg.dot ins(%x, %x : memref<?xf32>, memref<?xf32>) outs(%s : memref<f32>)
  return }
// ----- bytes summed in words and in floats
func.func @f(%A: memref<2x3xi8>, %B: memref<3x2xi8>, %C: memref<2x2xi32>, %F: memref<2x2xf32>) {
  linalg.matmul ins(%A, %B : memref<2x3xi8>, memref<3x2xi8>) outs(%C : memref<2x2xi32>)
  linalg.matmul ins(%A, %B : memref<2x3xi8>, memref<3x2xi8>) outs(%F : memref<2x2xf32>)
  return }
// ----- convolutions with steps
func.func @f(%A: memref<1x9x9x2xf32>, %K: memref<3x3x2x4xf32>, %C: memref<1x3x3x4xf32>, %D: memref<1x5x5x2xf32>, %W: memref<3x3xf32>, %L: memref<9xf32>, %w: memref<3xf32>, %l: memref<7xf32>) {
  linalg.conv_2d_nhwc_hwcf {dilations = dense<[1, 2]> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%A, %K : memref<1x9x9x2xf32>, memref<3x3x2x4xf32>) outs(%C : memref<1x3x3x4xf32>)
  linalg.pooling_nhwc_max {dilations = dense<2> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%A, %W : memref<1x9x9x2xf32>, memref<3x3xf32>) outs(%D : memref<1x5x5x2xf32>)
  linalg.conv_1d ins(%L, %w : memref<9xf32>, memref<3xf32>) outs(%l : memref<7xf32>)
  return }
// ----- a generic operation with a number, an index and a condition
func.func @f(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %c: memref<?xf32>, %x: f32) {
  linalg.generic {indexing_maps = [#columns, #once, #rows, #row], iterator_types = ["parallel", "reduction"]} ins(%A, %x : memref<?x?xf32>, f32) outs(%B, %c : memref<?x?xf32>, memref<?xf32>) {
  ^bb0(%a: f32, %n: f32, %b: f32, %s: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.cmpi slt, %i, %j : index
    %0 = arith.mulf %a, %n : f32
    %1 = scf.if %k -> (f32) {
      %2 = arith.addf %0, %b : f32
      scf.yield %2 : f32
    } else {
      scf.yield %0 : f32
    }
    %3 = arith.addf %s, %1 : f32
    linalg.yield %1, %3 : f32, f32 }
  return }
// ----- elements, rows and turned rows
func.func @f(%A: memref<3x4xf32>, %B: memref<3x4xf32>, %C: memref<4x3xf32>, %r: memref<3xf32>) {
  linalg.add ins(%A, %B : memref<3x4xf32>, memref<3x4xf32>) outs(%A : memref<3x4xf32>)
  linalg.square ins(%A : memref<3x4xf32>) outs(%B : memref<3x4xf32>)
  linalg.transpose ins(%A : memref<3x4xf32>) outs(%C : memref<4x3xf32>) permutation = [1, 0]
  linalg.broadcast ins(%r : memref<3xf32>) outs(%B : memref<3x4xf32>) dimensions = [1]
  linalg.map ins(%A, %B : memref<3x4xf32>, memref<3x4xf32>) outs(%B : memref<3x4xf32>) (%a: f32, %b: f32, %o: f32) {
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32 }
  linalg.reduce ins(%A : memref<3x4xf32>) outs(%r : memref<3xf32>) dimensions = [1] (%a: f32, %s: f32) {
    %0 = arith.addf %a, %s : f32
    linalg.yield %0 : f32 }
  return }
// ----- in a loop, of a part whose sizes are known outside
func.func @f(%A: memref<8x8xf32>, %n: index, %x: f32) {
  affine.for %i = 0 to 8 {
    %s = memref.subview %A[%i, 0] [1, 8] [1, 1] : memref<8x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    linalg.fill ins(%x : f32) outs(%s : memref<8xf32, strided<[1], offset: ?>>)
  }
  return }
// ----- stays: tensors
func.func @f(%t: tensor<4xf32>, %x: f32) -> tensor<4xf32> {
  %0 = linalg.fill ins(%x : f32) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32> }
// ----- stays: a size that is no symbol
func.func @f(%A: memref<8xf32>, %x: f32) {
  affine.for %i = 0 to 8 {
    %n = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
    %s = memref.subview %A[0] [%n] [1] : memref<8xf32> to memref<?xf32>
    linalg.fill ins(%x : f32) outs(%s : memref<?xf32>)
  }
  return }
// ----- stays: maps of its own
func.func @f(%A: memref<3x4xf32>, %B: memref<3x5xf32>, %C: memref<4x5xf32>) {
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%A, %B : memref<3x4xf32>, memref<3x5xf32>) outs(%C : memref<4x5xf32>)
  return }
