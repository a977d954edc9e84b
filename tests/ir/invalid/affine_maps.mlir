func.func @f(%i: index) {
  // error @+1 {{2}} {{1}}
  %0 = affine.apply affine_map<(d0) -> (d0, d0)>(%i)
  return
}
// -----
func.func @f(%i: index) {
  // error @+1 {{1}} {{2}}
  %0 = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%i)
  return
}
// -----
func.func @f(%i: index) {
  // error @+1 {{1}} {{0}}
  %0 = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)
  return
}
// -----
func.func @f(%i: index) {
  // error @+1 {{d1}}
  %0 = affine.apply affine_map<(d0) -> (d0 + d1)>(%i)
  return
}
// -----
func.func @f(%i: index) {
  // error @+1 {{d0}}
  %0 = affine.apply affine_map<(d0, d0) -> (d0)>(%i, %i)
  return
}
// -----
func.func @f(%i: index) {
  // error @+1 {{affine}}
  %0 = affine.apply affine_map<(d0, d1) -> (d0 * d1)>(%i, %i)
  return
}
// -----
func.func @f(%i: index) {
  // error @+1 {{mod}}
  %0 = affine.apply affine_map<(d0, d1) -> (d0 mod d1)>(%i, %i)
  return
}
// -----
func.func @f(%i: index) {
  // error @+1 {{ceildiv}}
  %0 = affine.apply affine_map<(d0) -> (4 ceildiv d0)>(%i)
  return
}
// -----
func.func @f(%i: f32) {
  // error @+1 {{%i}} {{f32}} {{index}}
  %0 = affine.apply affine_map<(d0) -> (d0)>(%i)
  return
}
// -----
func.func @f(%i: index) {
  // error @+1 {{#nothing}}
  %0 = affine.apply #nothing(%i)
  return
}
// -----
#set = affine_set<(d0) : (d0 >= 0)>
func.func @f(%i: index) {
  // error @+1 {{map}}
  %0 = affine.apply #set(%i)
  return
}
// -----
func.func @f(%A: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %0 = arith.addi %i, %i : index
    // error @+1 {{dim}}
    %1 = affine.load %A[%0] : memref<8xf32>
  }
  return
}
// -----
func.func @f(%i: index) {
  // error @+1 {{0}}
  %0 = affine.min affine_map<(d0) -> ()>(%i)
  return
}
// -----
func.func @f(%i: index) {
  // error @+1 {{2}} {{1}}
  %0 = affine.max affine_map<(d0) -> (d0, 3)>(%i, %i)
  return
}
// -----
func.func @f(%i: i64) {
  // error @+1 {{i64}} {{index}}
  %0 = affine.min affine_map<(d0) -> (d0, 3)>(%i)
  return
}
// -----
func.func @f(%i: index) {
  // error @+1 {{i32}} {{index}}
  %0 = "affine.apply"(%i) <{map = affine_map<(d0) -> (d0)>}> : (index) -> i32
  return
}
// -----
func.func @f(%i: index, %j: index) {
  // error @+1 {{3}} {{2}}
  %0:2 = affine.delinearize_index %i into (4, 4, 4) : index, index
  return
}
// -----
func.func @f(%i: index, %j: index) {
  // error @+1 {{4}} {{2}}
  %0:4 = affine.delinearize_index %i into (4, 4) : index, index, index, index
  return
}
// -----
func.func @f(%i: index, %j: index) {
  // error @+1 {{-4}}
  %0:2 = affine.delinearize_index %i into (2, -4) : index, index
  return
}
// -----
func.func @f(%i: index, %j: index) {
  // error @+1 {{2}} {{4}}
  %0 = affine.linearize_index [%i, %j] by (1, 2, 3, 4) : index
  return
}
// -----
func.func @f(%i: index, %j: index) {
  // error @+1 {{3}} {{1}}
  %0 = affine.linearize_index [%i, %j, %j] by (3) : index
  return
}
// -----
func.func @f(%i: i32, %j: index) {
  // error @+1 {{%i}} {{i32}} {{index}}
  %0 = affine.linearize_index [%i, %j] by (2, 3) : index
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<8xf32, 1>, %T: memref<1xi32>, %n: index) {
  // error @+1 {{stride}}
  affine.dma_start %A[%n, 0], %B[%n], %T[0], %n, %n : memref<8x8xf32>, memref<8xf32, 1>, memref<1xi32>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<8xf32, 1>, %T: memref<1xi32>, %n: index) {
  // error @+1 {{2}} {{3}}
  affine.dma_start %A[%n, 0], %B[%n], %T[0], %n : memref<8x8xf32>, memref<8xf32, 1>
  return
}
// -----
func.func @f(%A: memref<8xf32>, %B: memref<8xf32, 1>, %T: memref<1xi32>, %n: i32) {
  // error @+1 {{i32}} {{index}}
  affine.dma_start %A[0], %B[0], %T[0], %n : memref<8xf32>, memref<8xf32, 1>, memref<1xi32>
  return
}
// -----
func.func @f(%T: memref<1xi32>, %n: f32) {
  // error @+1 {{f32}} {{index}}
  affine.dma_wait %T[0], %n : memref<1xi32>
  return
}
