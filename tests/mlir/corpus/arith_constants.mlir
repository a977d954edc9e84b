// arith.constant: each type, decimal, hexadecimal, special floats, dense vectors, attributes beside the value.
func.func @integers() -> (index, i1, i8, i32, i64) {
  %c0 = arith.constant 0 : index
  %true = arith.constant true
  %false = arith.constant false
  %bit = arith.constant 1 : i1
  %small = arith.constant -128 : i8
  %as_unsigned = arith.constant 255 : i8
  %hex = arith.constant 0xFF : i32
  %min = arith.constant -9223372036854775808 : i64
  %max = arith.constant 9223372036854775807 : i64
  %wide = arith.constant 170141183460469231731687303715884105727 : i128
  %odd = arith.constant -3 : i7
  %noted = arith.constant {note = "kept"} 7 : i32
  %named = arith.constant 42 : index
  return %c0, %true, %small, %hex, %min : index, i1, i8, i32, i64
}

func.func @floats() -> (f16, bf16, f32, f64) {
  %half = arith.constant 1.5 : f16
  %brain = arith.constant -2.0e+10 : bf16
  %single = arith.constant 0.1 : f32
  %double = arith.constant 3.141592653589793 : f64
  %zero = arith.constant 0.0 : f32
  %minus_zero = arith.constant -0.0 : f32
  %tiny = arith.constant 1.0e-45 : f32
  %huge = arith.constant 3.40282347e+38 : f32
  %many = arith.constant 0.123456789012345678901234567890 : f64
  %exponent = arith.constant 1.e3 : f64
  %default = arith.constant 2.5
  return %half, %brain, %single, %double : f16, bf16, f32, f64
}

func.func @bits() {
  %nan = arith.constant 0x7FC00000 : f32
  %payload = arith.constant 0xFF800001 : f32
  %infinity = arith.constant 0x7F800000 : f32
  %minus_infinity = arith.constant 0xFFF0000000000000 : f64
  %half = arith.constant 0x7E00 : f16
  %brain = arith.constant 0xFF80 : bf16
  %exact = arith.constant 0x3F800000 : f32
  %f80 = arith.constant 1.0 : f80
  %f128 = arith.constant 1.5 : f128
  %tf32 = arith.constant 1.0 : tf32
  %f8 = arith.constant 1.0 : f8E4M3FN
  %f8b = arith.constant 0x7C : f8E5M2
  return
}

func.func @vectors() {
  %splat = arith.constant dense<1.0> : vector<4xf32>
  %list = arith.constant dense<[1, 2, 3, -4]> : vector<4xi32>
  %nested = arith.constant dense<[[0.5, -0.0], [1.0e-3, 0x7F800000]]> : vector<2x2xf32>
  %all_true = arith.constant dense<true> : vector<8xi1>
  %mixed = arith.constant dense<[true, false, false, true]> : vector<4xi1>
  %indices = arith.constant dense<[0, 1]> : vector<2xindex>
  %bytes = arith.constant dense<"0x0100000002000000"> : vector<2xi32>
  %scalable = arith.constant dense<7> : vector<[4]xi64>
  %rank0 = arith.constant dense<3.0> : vector<f64>
  %tensor = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi16>
  %empty = arith.constant dense<> : tensor<0xf32>
  %sparse = arith.constant sparse<[[0, 1], [2, 3]], [1.0, 2.0]> : tensor<4x4xf32>
  %complex = arith.constant dense<(1.0, -2.0)> : tensor<2xcomplex<f32>>
  %nan = arith.constant dense<0x7FC00000> : vector<4xf32>
  %bf = arith.constant dense<[1.0, 0x7FC0]> : vector<2xbf16>
  return
}
