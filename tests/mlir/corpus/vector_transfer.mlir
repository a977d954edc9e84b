// vector.transfer_read and transfer_write: permutation maps, in_bounds, masks, broadcasts, lower and higher ranks.
#rows = affine_map<(d0, d1) -> (d0)>
#swap = affine_map<(d0, d1) -> (d1, d0)>
func.func @read(%A: memref<?x?xf32>, %B: memref<8x16xf32>, %i: index, %p: f32, %m: vector<4xi1>, %m2: vector<2x4xi1>) {
  %0 = vector.transfer_read %A[%i, %i], %p : memref<?x?xf32>, vector<4xf32>
  %1 = vector.transfer_read %A[%i, %i], %p {permutation_map = #rows} : memref<?x?xf32>, vector<4xf32>
  %2 = vector.transfer_read %A[%i, %i], %p {permutation_map = #swap} : memref<?x?xf32>, vector<4x8xf32>
  %3 = vector.transfer_read %A[%i, %i], %p {permutation_map = affine_map<(d0, d1) -> (0)>} : memref<?x?xf32>, vector<4xf32>
  %4 = vector.transfer_read %A[%i, %i], %p {permutation_map = affine_map<(d0, d1) -> (d0, 0)>} : memref<?x?xf32>, vector<4x8xf32>
  %5 = vector.transfer_read %B[%i, %i], %p {in_bounds = [true]} : memref<8x16xf32>, vector<4xf32>
  %6 = vector.transfer_read %B[%i, %i], %p {in_bounds = [true, false]} : memref<8x16xf32>, vector<2x4xf32>
  %7 = vector.transfer_read %B[%i, %i], %p, %m : memref<8x16xf32>, vector<4xf32>
  %8 = vector.transfer_read %B[%i, %i], %p, %m2 {in_bounds = [true, true], note = "kept"} : memref<8x16xf32>, vector<2x4xf32>
  %9 = vector.transfer_read %B[%i, %i], %p {in_bounds = [false, false], permutation_map = affine_map<(d0, d1) -> (d0, d1)>} : memref<8x16xf32>, vector<2x4xf32>
  return
}

func.func @write(%A: memref<?x?xf32>, %v: vector<4xf32>, %w: vector<2x4xf32>, %i: index, %m: vector<4xi1>, %m2: vector<4x2xi1>) {
  vector.transfer_write %v, %A[%i, %i] : vector<4xf32>, memref<?x?xf32>
  vector.transfer_write %v, %A[%i, %i] {permutation_map = #rows} : vector<4xf32>, memref<?x?xf32>
  vector.transfer_write %w, %A[%i, %i] {permutation_map = #swap} : vector<2x4xf32>, memref<?x?xf32>
  vector.transfer_write %w, %A[%i, %i] {in_bounds = [true, true]} : vector<2x4xf32>, memref<?x?xf32>
  vector.transfer_write %v, %A[%i, %i], %m {in_bounds = [true]} : vector<4xf32>, memref<?x?xf32>
  vector.transfer_write %w, %A[%i, %i], %m2 {permutation_map = #swap} : vector<2x4xf32>, memref<?x?xf32>
  return
}

func.func @elements(%S: memref<f32>, %A: memref<?xf32>, %V: memref<?xvector<4xf32>>, %T: tensor<?xf32>, %i: index, %p: f32, %v: vector<4xf32>) -> tensor<?xf32> {
  %0 = vector.transfer_read %S[], %p : memref<f32>, vector<f32>
  vector.transfer_write %0, %S[] : vector<f32>, memref<f32>
  %1 = vector.transfer_read %A[%i], %p : memref<?xf32>, vector<[4]xf32>
  vector.transfer_write %1, %A[%i] {in_bounds = [true]} : vector<[4]xf32>, memref<?xf32>
  %2 = vector.transfer_read %V[%i], %v : memref<?xvector<4xf32>>, vector<2x4xf32>
  vector.transfer_write %2, %V[%i] : vector<2x4xf32>, memref<?xvector<4xf32>>
  %3 = vector.transfer_read %T[%i], %p : tensor<?xf32>, vector<4xf32>
  %4 = vector.transfer_write %3, %T[%i] : vector<4xf32>, tensor<?xf32>
  %5 = vector.transfer_read %A[%i], %p {permutation_map = affine_map<(d0) -> (0, d0)>} : memref<?xf32>, vector<2x4xf32>
  return %4 : tensor<?xf32>
}

func.func @generic(%A: memref<?xf32>, %i: index, %p: f32, %m: vector<4xi1>) {
  %0 = "vector.transfer_read"(%A, %i, %p) <{in_bounds = [false], operandSegmentSizes = array<i32: 1, 1, 1, 0>, permutation_map = affine_map<(d0) -> (d0)>}> : (memref<?xf32>, index, f32) -> vector<4xf32>
  "vector.transfer_write"(%0, %A, %i, %m) <{in_bounds = [true], operandSegmentSizes = array<i32: 1, 1, 1, 1>, permutation_map = affine_map<(d0) -> (d0)>}> : (vector<4xf32>, memref<?xf32>, index, vector<4xi1>) -> ()
  return
}
