// error @+1 {{memref}}
memref.global @g : f32
// -----
// error @+1 {{memref<?xf32>}}
memref.global @g : memref<?xf32>
// -----
// error @+1 {{2}} {{4}}
memref.global @g : memref<4xf32> = dense<[1.0, 2.0]>
// -----
// error @+1 {{i32}}
memref.global @g : memref<4xi32> = dense<1.0>
// -----
// error @+1 {{hidden}}
memref.global "hidden" @g : memref<4xf32>
// -----
memref.global @g : memref<4xf32>
// error @+1 {{@g}}
memref.global @g : memref<8xf32>
// -----
// error @+1 {{3}}
memref.global @g : memref<4xf32> = uninitialized {alignment = 3 : i64}
// -----
func.func @f() {
  // error @+1 {{@missing}}
  %0 = memref.get_global @missing : memref<4xf32>
  return
}
// -----
memref.global @g : memref<4xf32>
func.func @f() {
  // error @+1 {{memref<8xf32>}} {{memref<4xf32>}}
  %0 = memref.get_global @g : memref<8xf32>
  return
}
// -----
func.func private @g()
func.func @f() {
  // error @+1 {{@g}}
  %0 = memref.get_global @g : memref<8xf32>
  return
}
// -----
// error @+1 {{tensor<8xf32>}} {{tensor<4xf32>}}
"memref.global"() <{sym_name = "g", type = memref<4xf32>, initial_value = dense<1.0> : tensor<8xf32>}> : () -> ()
// -----
// error @+1 {{type}}
"memref.global"() <{sym_name = "g"}> : () -> ()
