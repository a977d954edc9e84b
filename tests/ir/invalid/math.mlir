func.func @f(%a: i32) {
  // error @+1 {{i32}}
  %0 = math.sqrt %a : i32
  return
}
// -----
func.func @f(%a: index) {
  // error @+1 {{index}}
  %0 = math.exp %a : index
  return
}
// -----
func.func @f(%x: f32) {
  // error @+1 {{f32}}
  %0 = math.absi %x : f32
  return
}
// -----
func.func @f(%x: f32) {
  // error @+1 {{f32}}
  %0 = math.ctpop %x : f32
  return
}
// -----
func.func @f(%x: f32, %y: f64) {
  // error @+1 {{%y}} {{f64}} {{f32}}
  %0 = math.atan2 %x, %y : f32
  return
}
// -----
func.func @f(%x: f32, %n: f32) {
  // error @+1 {{f32}}
  %0 = math.fpowi %x, %n : f32, f32
  return
}
// -----
func.func @f(%x: i32, %n: i32) {
  // error @+1 {{i32}}
  %0 = math.fpowi %x, %n : i32, i32
  return
}
// -----
func.func @f(%x: vector<4xf32>, %n: i32) {
  // error @+1 {{vector<4xf32>}} {{i32}}
  %0 = math.fpowi %x, %n : vector<4xf32>, i32
  return
}
// -----
func.func @f(%x: f32) {
  // error @+1 {{3}} {{2}}
  %0 = "math.fma"(%x, %x) : (f32, f32) -> f32
  return
}
// -----
func.func @f(%x: f32) {
  // error @+1 {{f64}} {{f32}}
  %0 = "math.sin"(%x) : (f32) -> f64
  return
}
// -----
func.func @f(%x: f32) {
  // error @+1 {{f32}} {{i1}}
  %0 = "math.isnan"(%x) : (f32) -> f32
  return
}
// -----
func.func @f(%x: f32) {
  // error @+1 {{nothing}}
  %0 = math.nothing %x : f32
  return
}
// -----
func.func @f(%x: memref<4xf32>) {
  // error @+1 {{memref<4xf32>}}
  %0 = math.cos %x : memref<4xf32>
  return
}
