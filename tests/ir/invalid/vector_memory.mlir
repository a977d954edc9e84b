func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{1}} {{2}}
  %0 = vector.transfer_read %A[%i], %x : memref<?x?xf32>, vector<4xf32>
  return
}
// -----
func.func @f(%A: memref<?xf32>, %i: index, %x: f64) {
  // error @+1 {{f64}} {{f32}}
  %0 = vector.transfer_read %A[%i], %x : memref<?xf32>, vector<4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{d0 + d1}}
  %0 = vector.transfer_read %A[%i, %i], %x {permutation_map = affine_map<(d0, d1) -> (d0 + d1)>} : memref<?x?xf32>, vector<4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{d1}}
  %0 = vector.transfer_read %A[%i, %i], %x {permutation_map = affine_map<(d0, d1) -> (d1, d1)>} : memref<?x?xf32>, vector<2x4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{1}} {{2}}
  %0 = vector.transfer_read %A[%i, %i], %x {permutation_map = affine_map<(d0) -> (d0)>} : memref<?x?xf32>, vector<4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{2}} {{1}}
  %0 = vector.transfer_read %A[%i, %i], %x {permutation_map = affine_map<(d0, d1) -> (d0, d1)>} : memref<?x?xf32>, vector<4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{in_bounds}} {{2}} {{1}}
  %0 = vector.transfer_read %A[%i, %i], %x {in_bounds = [true, true]} : memref<?x?xf32>, vector<4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{vector<4xi1>}} {{vector<2x4xi1>}}
  %0 = vector.transfer_read %A[%i, %i], %x, %m : memref<?x?xf32>, vector<2x4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{symbol}}
  %0 = vector.transfer_read %C[%i], %x {permutation_map = affine_map<(d0)[s0] -> (d0)>} : memref<?xf32>, vector<4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{vector<4xf32>}} {{f32}}
  %0 = vector.transfer_read %C[%i], %x : memref<?xf32>, f32
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{2}} {{1}}
  vector.transfer_write %v, %C[%i, %i] : vector<4xf32>, memref<?xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{0}}
  vector.transfer_write %v, %A[%i, %i] {permutation_map = affine_map<(d0, d1) -> (0)>} : vector<4xf32>, memref<?x?xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{vector<2x4xf32>}} {{1}}
  vector.transfer_write %w, %C[%i] : vector<2x4xf32>, memref<?xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{in_bounds}}
  vector.transfer_write %v, %C[%i] {in_bounds = [true, false]} : vector<4xf32>, memref<?xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{1}} {{2}}
  %0 = vector.load %A[%i] : memref<?x?xf32>, vector<4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{f64}} {{f32}}
  %0 = vector.load %C[%i] : memref<?xf32>, vector<4xf64>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{2}} {{1}}
  vector.store %v, %C[%i, %i] : memref<?xf32>, vector<4xf32>
  return
}
// -----
func.func @f(%C: memref<?xi8>, %v: vector<4xf32>, %i: index) {
  // error @+1 {{f32}} {{i8}}
  vector.store %v, %C[%i] : memref<?xi8>, vector<4xf32>
  return
}
// -----
func.func @f(%C: memref<?x?xf32, strided<[1, ?]>>, %i: index) {
  // error @+1 {{stride}}
  %0 = vector.load %C[%i, %i] : memref<?x?xf32, strided<[1, ?]>>, vector<4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  %p = arith.constant dense<0.0> : vector<8xf32>
  // error @+1 {{vector<4xi1>}} {{vector<8xf32>}}
  %0 = vector.maskedload %C[%i], %m, %p : memref<?xf32>, vector<4xi1>, vector<8xf32> into vector<8xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  %p = arith.constant dense<true> : vector<8xi1>
  // error @+1 {{vector<4xf32>}} {{vector<8xf32>}}
  %0 = vector.maskedload %C[%i], %p, %v : memref<?xf32>, vector<8xi1>, vector<4xf32> into vector<8xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{1}} {{2}}
  vector.maskedstore %A[%i], %m, %v : memref<?x?xf32>, vector<4xi1>, vector<4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{vector<4xi1>}} {{vector<2x4xf32>}}
  vector.maskedstore %A[%i, %i], %m, %w : memref<?x?xf32>, vector<4xi1>, vector<2x4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  %at = arith.constant dense<0> : vector<8xi32>
  // error @+1 {{vector<8xi32>}} {{vector<4xf32>}}
  %0 = vector.gather %C[%i] [%at], %m, %v : memref<?xf32>, vector<8xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  // error @+1 {{f32}}
  %0 = vector.gather %C[%i] [%v], %m, %v : memref<?xf32>, vector<4xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  return
}
// -----
func.func @f(%A: memref<?x?xf32>, %C: memref<?xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<2x4xf32>, %m: vector<4xi1>) {
  %at = arith.constant dense<0> : vector<4xi32>
  // error @+1 {{1}} {{2}}
  vector.scatter %A[%i] [%at], %m, %v : memref<?x?xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32>
  return
}
