func.func @f() {
  return
}
// error @+1 {{@f}}
func.func @f() {
  return
}
// -----
func.func @f() {
  // error @+1 {{@missing}}
  call @missing() : () -> ()
  return
}
// -----
func.func private @g(f32)
func.func @f(%a: i32) {
  // error @+1 {{f32}} {{i32}}
  call @g(%a) : (i32) -> ()
  return
}
// -----
func.func private @g(f32)
func.func @f() {
  // error @+1 {{(f32) -> ()}} {{() -> ()}}
  call @g() : () -> ()
  return
}
// -----
func.func private @g() -> f32
func.func @f() {
  // error @+1 {{f32}} {{i32}}
  %0 = call @g() : () -> i32
  return
}
// -----
func.func private @g() -> f32
func.func @f() {
  // error @+1 {{() -> f32}} {{() -> ()}}
  call @g() : () -> ()
  return
}
// -----
memref.global @g : memref<4xf32>
func.func @f() {
  // error @+1 {{@g}}
  call @g() : () -> ()
  return
}
// -----
func.func @f() -> f32 {
  // error @+1 {{()}} {{(f32)}}
  return
}
// -----
func.func @f(%x: f32) {
  // error @+1 {{(f32)}} {{()}}
  return %x : f32
}
// -----
func.func @f(%x: f32) -> i32 {
  // error @+1 {{f32}} {{i32}}
  return %x : f32
}
// -----
func.func @f(%x: f32) -> f32 {
  // error @+1 {{%x}} {{i32}} {{f32}}
  return %x : i32
}
// -----
// error @+1 {{@f}}
func.func @f()
// -----
// error @+1 {{%x}}
func.func @f(%x: f32, %x: f32) {
  return
}
// -----
func.func @f(%x: f32) {
  // error @+1 {{%x}}
  %x = arith.constant 1 : i32
  return
}
// -----
func.func @f(%x: f32) {
  %0 = arith.addf %x, %x : f32
  // error @+1 {{%0}}
  %0 = arith.addf %x, %x : f32
  return
}
// -----
func.func @f(%x: f32) {
  // error @+1 {{%z}}
  %0 = arith.addf %x, %z : f32
  return
}
// -----
func.func @f(%x: f32) {
  // error @+1 {{%1}}
  %0 = arith.addf %x, %1 : f32
  %1 = arith.addf %x, %x : f32
  return
}
// -----
func.func @f(%x: f32) {
  // error @+1 {{terminator}}
  %0 = arith.addf %x, %x : f32
}
// -----
func.func @f(%x: f32) {
  // error @+1 {{func.return}}
  return
  arith.addf %x, %x : f32
}
// -----
func.func @f(%x: f32) {
  // error @+1 {{affine.yield}}
  affine.yield
}
// -----
func.func @f(%x: f32) {
  // error @+1 {{%0}} {{3}}
  "test.use"(%0#3) : (f32) -> ()
  return
}
// -----
// error @+1 {{nowhere}}
func.func nowhere @f() {
  return
}
// -----
// error @+1 {{@f}} {{public}}
func.func public @f()
// -----
func.func private @g(f32) -> f32
func.func @f() {
  // error @+1 {{@g}}
  %0 = constant @g : (f32) -> i32
  return
}
// -----
func.func @f() {
  // error @+1 {{@g}}
  %0 = func.constant @g : (f32) -> i32
  return
}
// -----
func.func @f(%g: (f32) -> f32, %a: i32) {
  // error @+1 {{%a}} {{i32}} {{f32}}
  %0 = call_indirect %g(%a) : (f32) -> f32
  return
}
// -----
// error @+1 {{function_type}}
"func.func"() <{sym_name = "f", sym_visibility = "private"}> ({
}) : () -> ()
// -----
// error @+1 {{1}} {{0}}
"func.func"() <{function_type = (f32) -> (), sym_name = "f"}> ({
  "func.return"() : () -> ()
}) : () -> ()
// -----
// error @+1 {{i32}} {{f32}}
"func.func"() <{function_type = (f32) -> (), sym_name = "f"}> ({
^bb0(%x: i32):
  "func.return"() : () -> ()
}) : () -> ()
// -----
// error @+1 {{sym_name}}
"func.func"() <{function_type = () -> (), sym_visibility = "private"}> ({
}) : () -> ()
// -----
// error @+1 {{1}} {{2}}
"func.func"() <{function_type = (i32) -> (), sym_name = "f", sym_visibility = "private", arg_attrs = [{}, {}]}> ({
}) : () -> ()
// -----
// error @+1 {{unit}}
func.func private @f(i32 {unit})
// -----
func.func @outer() {
  // error @+1 {{@inner}}
  func.func @inner() {
    return
  }
  return
}
