// RUN: normalize-memrefs
// CLEAN: canonicalize
// MEANT: 8
// FIXED POINT: yes
#tile = affine_map<(i, j) -> (i floordiv 4, j floordiv 8, i mod 4, j mod 8)>
#transposed = affine_map<(i, j) -> (j, i)>
#shifted = affine_map<(i) -> (i + 4)>
#mirrored = affine_map<(i) -> (7 - i)>
#below = affine_map<(i) -> (i - 1)>
#halved = affine_map<(i) -> (i floordiv 2)>
#symbolic = affine_map<(i)[s] -> (i + s)>
BODY
// ----- tiles
func.func @f(%x: f32, %C: memref<16x32xf32>) {
  %A = memref.alloc() {alignment = 64 : i64} : memref<16x32xf32, #tile>
  affine.for %i = 0 to 16 { affine.for %j = 0 to 32 {
    %v = affine.load %C[%i, %j] : memref<16x32xf32>
    affine.store %v, %A[%i, %j] : memref<16x32xf32, #tile> } }
  affine.for %i = 0 to 16 { affine.for %j = 0 to 32 {
    %v = affine.load %A[%i, %j] : memref<16x32xf32, #tile>
    affine.store %v, %C[%i, %j] : memref<16x32xf32> } }
  memref.dealloc %A : memref<16x32xf32, #tile>
  return }
// ----- tiles that do not divide the sizes
func.func @f(%C: memref<5x9xi32>) {
  %A = memref.alloca() : memref<5x9xi32, #tile>
  affine.for %i = 0 to 5 { affine.for %j = 0 to 9 {
    %v = affine.load %C[%i, %j] : memref<5x9xi32>
    affine.store %v, %A[%i, %j] : memref<5x9xi32, #tile> } }
  affine.for %i = 0 to 5 { affine.for %j = 0 to 9 {
    %v = affine.load %A[%i, 8] : memref<5x9xi32, #tile>
    affine.store %v, %C[%i, %j] : memref<5x9xi32> } }
  return }
// ----- indices that are not affine
func.func @f(%k: index, %C: memref<16x30xi32>) -> i32 {
  %A = memref.alloc() : memref<16x30xi32, #transposed>
  affine.for %i = 0 to 16 { affine.for %j = 0 to 30 {
    %v = affine.load %C[%i, %j] : memref<16x30xi32>
    memref.store %v, %A[%i, %j] : memref<16x30xi32, #transposed> } }
  %l = arith.muli %k, %k : index
  %r = memref.load %A[%k, %k] : memref<16x30xi32, #transposed>
  return %r : i32 }
// ----- strides
func.func @f(%x: f32) -> (f32, f32) {
  %A = memref.alloc() : memref<4x4xf32, strided<[5, 1]>>
  %B = memref.alloc() : memref<4x4xf32, strided<[1, 8], offset: 3>, 2>
  affine.for %i = 0 to 4 { affine.for %j = 0 to 4 {
    affine.store %x, %A[%i, %j] : memref<4x4xf32, strided<[5, 1]>>
    affine.store %x, %B[%i, %j] : memref<4x4xf32, strided<[1, 8], offset: 3>, 2> } }
  %r = affine.load %A[3, 2] : memref<4x4xf32, strided<[5, 1]>>
  %s = affine.load %B[3, 2] : memref<4x4xf32, strided<[1, 8], offset: 3>, 2>
  return %r, %s : f32, f32 }
// ----- private functions
func.func private @p(%A: memref<8xi32, #shifted>, %i: index) -> memref<8xi32, #shifted> {
    %v = affine.load %A[symbol(%i)] : memref<8xi32, #shifted>
    affine.store %v, %A[1] : memref<8xi32, #shifted>
    return %A : memref<8xi32, #shifted> }
  func.func @f(%i: index, %x: i32) -> i32 {
    %A = memref.alloc() : memref<8xi32, #shifted>
    affine.for %j = 0 to 8 { affine.store %x, %A[%j] : memref<8xi32, #shifted> }
    %B = call @p(%A, %i) : (memref<8xi32, #shifted>, index) -> memref<8xi32, #shifted>
    %C = call @p(%B, %i) : (memref<8xi32, #shifted>, index) -> memref<8xi32, #shifted>
    %v = affine.load %C[1] : memref<8xi32, #shifted>
    return %v : i32 }
// ----- nested modules
// EXCEPT: run
module @inner { func.func @f(%x: i32) -> i32 {
  %A = memref.alloc() : memref<8xi32, #shifted>
  affine.store %x, %A[3] : memref<8xi32, #shifted>
  %v = affine.load %A[3] : memref<8xi32, #shifted>
  return %v : i32 } }
// ----- mirrored
func.func @f(%x: i32) -> i32 {
  %A = memref.alloc() : memref<8xi32, #mirrored>
  affine.store %x, %A[3] : memref<8xi32, #mirrored>
  %v = affine.load %A[3] : memref<8xi32, #mirrored>
  return %v : i32 }
