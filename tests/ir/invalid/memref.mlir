func.func @f(%n: index) {
  // error @+1 {{0}} {{1}}
  %0 = memref.alloc() : memref<?xf32>
  return
}
// -----
func.func @f(%n: index) {
  // error @+1 {{1}} {{0}}
  %0 = memref.alloc(%n) : memref<8xf32>
  return
}
// -----
func.func @f(%n: index) {
  // error @+1 {{0}} {{1}}
  %0 = memref.alloc() : memref<8xf32, affine_map<(d0)[s0] -> (d0 + s0)>>
  return
}
// -----
func.func @f(%n: index) {
  // error @+1 {{1}} {{0}}
  %0 = memref.alloc()[%n] : memref<8xf32>
  return
}
// -----
func.func @f(%n: i32) {
  // error @+1 {{%n}} {{i32}} {{index}}
  %0 = memref.alloc(%n) : memref<?xf32>
  return
}
// -----
func.func @f(%n: index) {
  // error @+1 {{f32}}
  %0 = memref.alloc() : f32
  return
}
// -----
func.func @f(%n: index) {
  // error @+1 {{-3}}
  %0 = memref.alloc() {alignment = -3 : i64} : memref<8xf32>
  return
}
// -----
func.func @f(%n: index) {
  // error @+1 {{memref<*xf32>}}
  %0 = memref.alloc() : memref<*xf32>
  return
}
// -----
func.func @f(%n: index) {
  // error @+1 {{0}} {{1}}
  %0 = memref.alloca() : memref<?xf32>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{1}} {{2}}
  %0 = memref.load %A[%i] : memref<8x8xf32>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{2}} {{1}}
  memref.store %x, %C[%i, %i] : memref<8xf32>
  return
}
// -----
func.func @f(%C: memref<8xf32>, %i: index, %x: f64) {
  // error @+1 {{%x}} {{f64}} {{f32}}
  memref.store %x, %C[%i] : memref<8xf32>
  return
}
// -----
func.func @f(%C: memref<8xf32>, %i: i64) {
  // error @+1 {{%i}} {{i64}} {{index}}
  %0 = memref.load %C[%i] : memref<8xf32>
  return
}
// -----
func.func @f(%C: memref<8xf32>, %i: index) {
  // error @+1 {{%C}} {{memref<8xf32>}} {{memref<8xi32>}}
  %0 = memref.load %C[%i] : memref<8xi32>
  return
}
// -----
func.func @f(%C: memref<8xf32>, %i: index) {
  // error @+1 {{f64}} {{f32}}
  %0 = "memref.load"(%C, %i) : (memref<8xf32>, index) -> f64
  return
}
// -----
func.func @f(%C: memref<*xf32>, %i: index) {
  // error @+1 {{memref<*xf32>}}
  %0 = memref.load %C[%i] : memref<*xf32>
  return
}
// -----
func.func @f(%C: memref<8xf32>, %D: memref<8xf64>) {
  // error @+1 {{f32}} {{f64}}
  memref.copy %C, %D : memref<8xf32> to memref<8xf64>
  return
}
// -----
func.func @f(%C: memref<8xf32>, %D: memref<9xf32>) {
  // error @+1 {{memref<8xf32>}} {{memref<9xf32>}}
  memref.copy %C, %D : memref<8xf32> to memref<9xf32>
  return
}
// -----
func.func @f(%C: memref<8xf32>) {
  // error @+1 {{memref<8xf32>}} {{memref<9xf32>}}
  %0 = memref.cast %C : memref<8xf32> to memref<9xf32>
  return
}
// -----
func.func @f(%C: memref<8xf32>) {
  // error @+1 {{memref<8xf32>}} {{memref<?xf64>}}
  %0 = memref.cast %C : memref<8xf32> to memref<?xf64>
  return
}
// -----
func.func @f(%C: memref<8xf32>) {
  // error @+1 {{memref<8xf32>}} {{memref<?x?xf32>}}
  %0 = memref.cast %C : memref<8xf32> to memref<?x?xf32>
  return
}
// -----
func.func @f(%C: memref<8xf32>) {
  // error @+1 {{memref<8xf32>}} {{memref<?xf32, 1>}}
  %0 = memref.cast %C : memref<8xf32> to memref<?xf32, 1>
  return
}
// -----
func.func @f(%C: memref<*xf32>) {
  // error @+1 {{memref<*xf32>}}
  %0 = memref.cast %C : memref<*xf32> to memref<*xf32>
  return
}
// -----
func.func @f(%x: f32, %i: index) {
  // error @+1 {{f32}} {{memref}}
  %0 = memref.dim %x, %i : f32
  return
}
// -----
func.func @f(%i: index) {
  %C = memref.alloc() : memref<8xf32>
  // error @+1 {{i32}} {{index}}
  %0 = "memref.dim"(%C, %i) : (memref<8xf32>, index) -> i32
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{1}} {{2}}
  memref.prefetch %A[%i], read, locality<3>, data : memref<8x8xf32>
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{5}}
  memref.prefetch %A[%i, %i], read, locality<5>, data : memref<8x8xf32>
  return
}
// -----
func.func @f(%C: memref<8xf32>) {
  // error @+1 {{3}}
  %0 = memref.assume_alignment %C, 3 : memref<8xf32>
  return
}
// -----
func.func @f(%C: memref<8xf32>, %x: i32, %i: index) {
  %I = memref.alloc() : memref<8xi32>
  // error @+1 {{addf}} {{i32}}
  %0 = memref.atomic_rmw addf %x, %I[%i] : (i32, memref<8xi32>) -> i32
  return
}
// -----
func.func @f(%A: memref<8x8xf32>, %B: memref<?x?xf32>, %C: memref<8xf32>, %i: index, %x: f32) {
  // error @+1 {{addi}} {{f32}}
  %0 = memref.atomic_rmw addi %x, %C[%i] : (f32, memref<8xf32>) -> f32
  return
}
