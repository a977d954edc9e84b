// RUN-FLAGS: --allow-unregistered-dialect
func.func @keeps_what_it_uses(%x: i32) {
  %c1 = arith.constant 1 : i32
  %a = arith.addi %c1, %x : i32
  %b = arith.addi %a, %c1 : i32
  "test.use"(%b) : (i32) -> ()
  %r = "test.make"(%c1) : (i32) -> i32
  return
}
// -----
func.func @region_keeps_constants(%x: i32) {
  "test.region"() ({
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.addi %c1, %c2 : i32
    "test.use"(%c3) : (i32) -> ()
    "test.end"() : () -> ()
  }) : () -> ()
  return
}
// -----
func.func @values_from_outside(%x: i32, %n: index) {
  %c0 = arith.constant 0 : i32
  %y = arith.addi %x, %c0 : i32
  affine.for %i = 0 to %n {
    "test.region"() ({
      %z = arith.addi %y, %c0 : i32
      "test.use"(%z, %i) : (i32, index) -> ()
      "test.end"() : () -> ()
    }) : () -> ()
  }
  return
}
// -----
func.func @barrier(%A: memref<?xf32>, %n: index, %x: f32) -> f32 {
  %a = affine.load %A[%n] : memref<?xf32>
  "test.barrier"() : () -> ()
  %b = affine.load %A[%n] : memref<?xf32>
  %c = affine.load %A[%n + 1] : memref<?xf32>
  %d = arith.addf %a, %b : f32
  return %d : f32
}
// -----
func.func @attributes_stay(%x: i32, %n: index) -> i32 {
  %c0 = arith.constant 0 : i32
  %y = arith.addi %c0, %x {tag = "a"} : i32
  %z = arith.muli %y, %y {tag = "b"} : i32
  affine.for %i = 0 to %n {
    "test.use"(%i) {tag = 3 : i64} : (index) -> ()
  } {loop = "outer"}
  return %z : i32
}
