// RUN-FLAGS: --allow-unregistered-dialect
// Literals: the ways to write integers and floats, and the edges of their ranges.
func.func @integers() {
  %0 = arith.constant 0x7F : i8
  %1 = arith.constant 0xff : i8
  %2 = arith.constant 00 : index
  %3 = arith.constant 00012 : i32
  %4 = arith.constant -1 : i1
  %5 = arith.constant 4294967295 : i32
  %6 = arith.constant -2147483648 : i32
  %7 = arith.constant 18446744073709551615 : i64
  %8 = arith.constant 0x0 : index
  return
}

func.func @floats() {
  %0 = arith.constant 1. : f32
  %1 = arith.constant 1.5E+2 : f64
  %2 = arith.constant 1.0e-320 : f64
  %3 = arith.constant 1.7976931348623157e308 : f64
  %4 = arith.constant 0.30000000000000004 : f64
  %5 = arith.constant 16777217.0 : f32
  %6 = arith.constant 65504.0 : f16
  %7 = arith.constant 1.0e-8 : f16
  %8 = arith.constant 123456.789 : f32
  %9 = arith.constant 5.0e-324 : f64
  %10 = arith.constant 1.17549435e-38 : f32
  %11 = arith.constant 3.3895313892515355e38 : bf16
  %12 = arith.constant 0x00000000 : f32
  %13 = arith.constant 0x80000000 : f32
  %14 = arith.constant 0x1 : f64
  %15 = arith.constant 1.0e100 : f64
  %16 = arith.constant 100000.0 : f32
  %17 = arith.constant 1234567.0 : f64
  %18 = arith.constant 0.00001 : f64
  return
}

"test.attributes"() {a = 1.0 : bf16, b = [0x10, -5], c = 00.5, d = -3 : index, e = 0.1 : f16, f = 0x7C00 : f16, g = dense<[0.1, -1.5e300]> : tensor<2xf64>, h = dense<0xFFF0000000000000> : tensor<1xf64>, i = array<f32: 0.1, 0x7F800000>} : () -> ()
func.func @bounds() {
  affine.for %i = -9223372036854775807 to 9223372036854775807 step 9223372036854775807 {
  }
  affine.for %i = 0x10 to 0x20 {
  }
  return
}
