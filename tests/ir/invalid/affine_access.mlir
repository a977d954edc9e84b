func.func @f(%A: memref<8x8xf32>, %i: index) {
  // error @+1 {{1}} {{2}}
  %0 = affine.load %A[%i] : memref<8x8xf32>
  return
}
// -----
func.func @f(%A: memref<8xf32>, %i: index) {
  // error @+1 {{2}} {{1}}
  %0 = affine.load %A[%i, %i] : memref<8xf32>
  return
}
// -----
func.func @f(%A: memref<8xf32>, %x: f32, %i: index) {
  // error @+1 {{2}} {{1}}
  affine.store %x, %A[%i, %i] : memref<8xf32>
  return
}
// -----
func.func @f(%A: memref<8xf32>, %x: f64, %i: index) {
  // error @+1 {{%x}} {{f64}} {{f32}}
  affine.store %x, %A[%i] : memref<8xf32>
  return
}
// -----
func.func @f(%A: memref<8xf32>, %i: i32) {
  // error @+1 {{%i}} {{i32}} {{index}}
  %0 = affine.load %A[%i] : memref<8xf32>
  return
}
// -----
func.func @f(%A: memref<8xf32>, %i: index) {
  // error @+1 {{%A}} {{memref<8xf32>}} {{memref<9xf32>}}
  %0 = affine.load %A[%i] : memref<9xf32>
  return
}
// -----
func.func @f(%A: memref<8xf32>, %B: memref<8xindex>) {
  affine.for %i = 0 to 8 {
    %0 = affine.load %B[%i] : memref<8xindex>
    // error @+1 {{dim}}
    %1 = affine.load %A[%0] : memref<8xf32>
  }
  return
}
// -----
func.func @f(%A: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    // error @+1 {{symbol}}
    %1 = affine.load %A[symbol(%i)] : memref<8xf32>
  }
  return
}
// -----
func.func @f(%A: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      // error @+1 {{affine}}
      %1 = affine.load %A[%i * %j] : memref<8xf32>
    }
  }
  return
}
// -----
func.func @f(%A: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      // error @+1 {{floordiv}}
      %1 = affine.load %A[%i floordiv %j] : memref<8xf32>
    }
  }
  return
}
// -----
func.func @f(%A: memref<*xf32>, %i: index) {
  // error @+1 {{memref<*xf32>}}
  %0 = affine.load %A[%i] : memref<*xf32>
  return
}
// -----
func.func @f(%A: f32, %i: index) {
  // error @+1 {{f32}} {{memref}}
  %0 = affine.load %A[%i] : f32
  return
}
// -----
func.func @f(%A: memref<8xf32>, %i: index) {
  // error @+1 {{i32}} {{f32}}
  %0 = "affine.load"(%A, %i) <{map = affine_map<(d0) -> (d0)>}> : (memref<8xf32>, index) -> i32
  return
}
// -----
func.func @f(%A: memref<8xf32>, %i: index) {
  // error @+1 {{2}} {{1}}
  %0 = "affine.load"(%A, %i) <{map = affine_map<(d0, d1) -> (d0)>}> : (memref<8xf32>, index) -> f32
  return
}
// -----
func.func @f(%A: memref<8xf32>, %i: index) {
  // error @+1 {{map}}
  %0 = "affine.load"(%A, %i) : (memref<8xf32>, index) -> f32
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %i: index) {
  // error @+1 {{1}} {{2}}
  affine.prefetch %A[%i], read, locality<3>, data : memref<8x8xf32>
  return
}
// -----
func.func @f(%A: memref<8xf32>, %i: index) {
  // error @+1 {{locality}} {{4}}
  affine.prefetch %A[%i], read, locality<4>, data : memref<8xf32>
  return
}
// -----
func.func @f(%A: memref<8xf32>, %i: index) {
  // error @+1 {{load}}
  affine.prefetch %A[%i], load, locality<3>, data : memref<8xf32>
  return
}
// -----
func.func @f(%A: memref<8xf32>, %i: index) {
  // error @+1 {{cache}}
  affine.prefetch %A[%i], read, locality<3>, cache : memref<8xf32>
  return
}
// -----
func.func @f(%A: memref<8xf32>, %i: index) {
  // error @+1 {{f64}} {{f32}}
  %0 = affine.vector_load %A[%i] : memref<8xf32>, vector<4xf64>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %i: index) {
  // error @+1 {{1}} {{2}}
  %0 = affine.vector_load %A[%i] : memref<8x8xf32>, vector<4xf32>
  return
}
// -----
func.func @f(%A: memref<8xf32>, %v: vector<4xi32>, %i: index) {
  // error @+1 {{i32}} {{f32}}
  affine.vector_store %v, %A[%i] : memref<8xf32>, vector<4xi32>
  return
}
// -----
func.func @f(%A: memref<8xf32>, %i: index) {
  // error @+1 {{f32}} {{vector}}
  %0 = affine.vector_load %A[%i] : memref<8xf32>, f32
  return
}
// -----
func.func @f(%A: memref<8xindex>) {
  affine.for %i = 0 to 8 {
    %q = affine.load %A[%i] : memref<8xindex>
    // error @+1 {{%q}} {{dimension}}
    %0 = "affine.load"(%A, %q) <{map = affine_map<(d0) -> (0)>}> : (memref<8xindex>, index) -> index
  }
  return
}
