func.func @f(%a: i32, %x: f32) {
  // error @+1 {{%x}} {{f32}} {{i32}}
  %0 = arith.addi %a, %x : i32
  return
}
// -----
func.func @f(%a: i32, %x: f32) {
  // error @+1 {{f32}}
  %0 = arith.addi %x, %x : f32
  return
}
// -----
func.func @f(%a: i32, %x: f32) {
  // error @+1 {{i32}}
  %0 = arith.addf %a, %a : i32
  return
}
// -----
func.func @f(%a: index) {
  // error @+1 {{index}}
  %0 = arith.negf %a : index
  return
}
// -----
func.func @f(%a: i32, %b: i64) {
  // error @+1 {{%b}} {{i64}} {{i32}}
  %0 = arith.muli %a, %b : i32
  return
}
// -----
func.func @f() {
  // error @+1 {{300}} {{i8}}
  %0 = arith.constant 300 : i8
  return
}
// -----
func.func @f() {
  // error @+1 {{-129}} {{i8}}
  %0 = arith.constant -129 : i8
  return
}
// -----
func.func @f() {
  // error @+1 {{2}} {{i1}}
  %0 = arith.constant 2 : i1
  return
}
// -----
func.func @f() {
  // error @+1 {{f32}}
  %0 = arith.constant 1 : f32
  return
}
// -----
func.func @f() {
  // error @+1 {{i32}}
  %0 = "arith.constant"() <{value = 1.5 : i32}> : () -> i32
  return
}
// -----
func.func @f() {
  // error @+1 {{vector<3xi32>}}
  %0 = arith.constant dense<[1, 2]> : vector<3xi32>
  return
}
// -----
func.func @f() {
  // error @+1 {{i32}}
  %0 = arith.constant dense<1.0> : vector<4xi32>
  return
}
// -----
func.func @f() {
  // error @+1 {{"text"}}
  %0 = arith.constant "text"
  return
}
// -----
func.func @f() {
  // error @+1 {{i32}} {{i64}}
  %0 = "arith.constant"() <{value = 1 : i32}> : () -> i64
  return
}
// -----
func.func @f() {
  // error @+1 {{value}}
  %0 = "arith.constant"() : () -> i64
  return
}
// -----
func.func @f(%a: si32) {
  // error @+1 {{si32}}
  %0 = arith.addi %a, %a : si32
  return
}
// -----
func.func @f() {
  // error @+1 {{si32}}
  %0 = arith.constant 1 : si32
  return
}
// -----
func.func @f(%a: i32) {
  // error @+1 {{under}}
  %0 = arith.cmpi under, %a, %a : i32
  return
}
// -----
func.func @f(%a: i32) {
  // error @+1 {{12}}
  %0 = "arith.cmpi"(%a, %a) <{predicate = 12 : i64}> : (i32, i32) -> i1
  return
}
// -----
func.func @f(%a: f32) {
  // error @+1 {{f32}}
  %0 = arith.cmpi eq, %a, %a : f32
  return
}
// -----
func.func @f(%a: f32) {
  // error @+1 {{less}}
  %0 = arith.cmpf less, %a, %a : f32
  return
}
// -----
func.func @f(%a: i32) {
  // error @+1 {{i32}} {{i1}}
  %0 = "arith.cmpi"(%a, %a) <{predicate = 0 : i64}> : (i32, i32) -> i32
  return
}
// -----
func.func @f(%a: i32) {
  // error @+1 {{%a}} {{i32}} {{i1}}
  %0 = arith.select %a, %a, %a : i32
  return
}
// -----
func.func @f(%p: vector<4xi1>, %v: vector<8xi32>) {
  // error @+1 {{vector<4xi1>}} {{vector<8xi32>}}
  %0 = arith.select %p, %v, %v : vector<4xi1>, vector<8xi32>
  return
}
// -----
func.func @f(%a: i32) {
  // error @+1 {{i32}} {{i16}}
  %0 = arith.extsi %a : i32 to i16
  return
}
// -----
func.func @f(%a: i32) {
  // error @+1 {{i32}}
  %0 = arith.extui %a : i32 to i32
  return
}
// -----
func.func @f(%a: i32) {
  // error @+1 {{i32}} {{i64}}
  %0 = arith.trunci %a : i32 to i64
  return
}
// -----
func.func @f(%a: f32) {
  // error @+1 {{f32}} {{f16}}
  %0 = arith.extf %a : f32 to f16
  return
}
// -----
func.func @f(%a: f32) {
  // error @+1 {{f32}} {{f64}}
  %0 = arith.truncf %a : f32 to f64
  return
}
// -----
func.func @f(%a: i32) {
  // error @+1 {{float}} {{i32}}
  %0 = arith.extf %a : i32 to f32
  return
}
// -----
func.func @f(%a: f32) {
  // error @+1 {{f32}} {{i64}}
  %0 = arith.bitcast %a : f32 to i64
  return
}
// -----
func.func @f(%a: index) {
  // error @+1 {{integer or float}} {{index}}
  %0 = arith.bitcast %a : index to i64
  return
}
// -----
func.func @f(%a: i32) {
  // error @+1 {{i32}} {{i64}}
  %0 = arith.index_cast %a : i32 to i64
  return
}
// -----
func.func @f(%a: index) {
  // error @+1 {{index}}
  %0 = arith.sitofp %a : index to f32
  return
}
// -----
func.func @f(%a: f32) {
  // error @+1 {{index}}
  %0 = arith.fptosi %a : f32 to index
  return
}
// -----
func.func @f(%v: vector<4xi32>) {
  // error @+1 {{vector<4xi32>}} {{vector<8xi64>}}
  %0 = arith.extsi %v : vector<4xi32> to vector<8xi64>
  return
}
// -----
func.func @f(%v: vector<4xi32>) {
  // error @+1 {{vector<4xi32>}} {{i64}}
  %0 = arith.extsi %v : vector<4xi32> to i64
  return
}
// -----
func.func @f(%a: i32) {
  // error @+1 {{wrap}}
  %0 = arith.addi %a, %a overflow<wrap> : i32
  return
}
// -----
func.func @f(%x: f32) {
  // error @+1 {{quick}}
  %0 = arith.addf %x, %x fastmath<quick> : f32
  return
}
// -----
func.func @f(%a: i32) {
  // error @+1 {{fastmath}}
  %0 = arith.addi %a, %a fastmath<fast> : i32
  return
}
// -----
func.func @f(%a: i32) {
  // error @+1 {{1}} {{2}}
  %0:2 = arith.addi %a, %a : i32
  return
}
// -----
func.func @f(%a: i32) {
  // error @+1 {{2}} {{1}}
  %0 = arith.mulsi_extended %a, %a : i32
  return
}
// -----
func.func @f(%a: i32) {
  // error @+1 {{i32}} {{i1}}
  %0:2 = "arith.addui_extended"(%a, %a) : (i32, i32) -> (i32, i32)
  return
}
// -----
func.func @f(%a: i32) {
  // error @+1 {{2}} {{3}}
  %0 = "arith.addi"(%a, %a, %a) : (i32, i32, i32) -> i32
  return
}
// -----
func.func @f(%a: i32, %b: i64) {
  // error @+1 {{i64}} {{i32}}
  %0 = "arith.addi"(%a, %b) : (i32, i64) -> i32
  return
}
// -----
func.func @f(%a: i32) {
  // error @+1 {{i64}} {{i32}}
  %0 = "arith.addi"(%a, %a) : (i32, i32) -> i64
  return
}
// -----
func.func @f(%a: memref<4xi32>) {
  // error @+1 {{memref<4xi32>}}
  %0 = arith.addi %a, %a : memref<4xi32>
  return
}
// -----
func.func @f(%x: f32) {
  // error @+1 {{sideways}}
  %0 = arith.truncf %x sideways : f32 to f16
  return
}
