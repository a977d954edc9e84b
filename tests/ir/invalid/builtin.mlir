// error @+1 {{vector}} {{0}}
func.func private @f(vector<0xf32>)
// -----
// error @+1 {{vector}}
func.func private @f(vector<4xvector<4xf32>>)
// -----
// error @+1 {{vector}}
func.func private @f(vector<?xf32>)
// -----
// error @+1 {{memref}}
func.func private @f(memref<4xnone>)
// -----
// error @+1 {{strided}} {{2}} {{1}}
func.func private @f(memref<4x4xf32, strided<[1]>>)
// -----
// error @+1 {{1}} {{2}}
func.func private @f(memref<4x4xf32, affine_map<(d0) -> (d0)>>)
// -----
// error @+1 {{complex}}
func.func private @f(complex<index>)
// -----
// error @+1 {{i16777216}}
func.func private @f(i16777216)
// -----
// error @+1 {{!missing}}
func.func private @f(!missing)
// -----
// error @+1 {{float}}
func.func private @f(float)
// -----
!t = i32
// error @+1 {{!t}}
!t = i64
// -----
#m = affine_map<(d0) -> (d0)>
// error @+1 {{#m}}
#m = affine_map<(d0) -> (d0 + 1)>
// -----
// error @+1 {{missing}}
func.func private @f() attributes {value = #missing}
// -----
// error @+1 {{a}}
func.func private @f() attributes {a, a}
// -----
// error @+1 {{300}} {{i8}}
func.func private @f() attributes {a = 300 : i8}
// -----
// error @+1 {{tensor<3xi32>}}
func.func private @f() attributes {a = dense<[1, 2]> : tensor<3xi32>}
// -----
// error @+1 {{dense}}
func.func private @f() attributes {a = dense<[[1, 2], [3]]> : tensor<2x2xi32>}
// -----
// error @+1 {{f32}}
func.func private @f() attributes {a = array<f32: 1>}
// -----
// error @+1 {{>=}} {{)}}
func.func private @f() attributes {a = affine_set<(d0) : (d0)>}
// -----
// error @+1 {{arith.nothing}}
"arith.nothing"() : () -> ()
// -----
func.func @f(%p: i1) {
  // error @+1 {{^nowhere}}
  "cf.br"()[^nowhere] : () -> ()
}
// -----
func.func @f(%x: f32) {
  // error @+1 {{1}} {{0}}
  "cf.br"(%x)[^next] : (f32) -> ()
^next:
  return
}
// -----
func.func @f(%x: f32) {
  // error @+1 {{f32}} {{i32}}
  "cf.br"(%x)[^next] : (f32) -> ()
^next(%y: i32):
  return
}
// -----
func.func @f(%p: f32) {
  // error @+1 {{f32}} {{i1}}
  "cf.cond_br"(%p)[^next, ^next] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (f32) -> ()
^next:
  return
}
// -----
func.func @f() {
  "cf.br"()[^next] : () -> ()
^next:
  return
// error @+1 {{^next}}
^next:
  return
}
// -----
func.func @f(%p: i1) {
  "cf.cond_br"(%p)[^one, ^two] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
^one:
  %0 = arith.constant 1 : i32
  "cf.br"()[^two] : () -> ()
^two:
  // error @+1 {{outside}}
  %1 = arith.addi %0, %0 : i32
  return
}
// -----
func.func @f(%p: i1) {
  // error @+1 {{entry}}
  "cf.br"()[^entry] : () -> ()
}
// -----
func.func @f() {
  // error @+1 {{2}} {{1}}
  %0:2 = "arith.constant"() <{value = 1 : i32}> : () -> i32
  return
}
// -----
func.func @f() {
  // error @+1 {{1}} {{0}}
  %0 = "arith.constant"() <{value = 1 : i32}> : () -> ()
  return
}
// -----
func.func @f(%x: f32) {
  // error @+1 {{1}} {{2}}
  "arith.addf"(%x) : (f32, f32) -> f32
  return
}
// -----
module @m {
  module @inner {
  }
  // error @+1 {{@inner}}
  module @inner {
  }
}
// -----
// error @+1 {{visibility}}
"builtin.module"() <{sym_name = "m", sym_visibility = "hidden"}> ({
^bb0:
}) : () -> ()
// -----
// error @+1 {{argument}}
"builtin.module"() ({
^bb0(%x: i32):
}) : () -> ()
// -----
func.func @f() {
  // error @+1 {{loc}}
  return loc(nowhere)
}
// -----
func.func @f() {
  // error @+1 {{#missing}}
  return loc(#missing)
}
// -----
func.func @f(%i: index) {
  // error @+1 {{1}} {{2}}
  %0 = builtin.unrealized_conversion_cast %i : index to i32, i64
  return
}
// -----
// error @+1 {{f32}} {{i32}}
func.func private @f() attributes {a = 1.0 : i32}
