// RUN-FLAGS: --allow-unregistered-dialect
// Types: integers of each sign and width, floats, complex, tuples, tensors, vectors, functions, of unknown dialects.
!pair = tuple<f32, i32>
!nested = tuple<!pair, tuple<>, vector<4xf32>>
func.func private @integers(i1, i7, i8, i32, i64, i128, i1000, si8, ui16, si1, ui64, index, none)
func.func private @floats(f16, bf16, f32, f64, f80, f128, tf32)
func.func private @small_floats(f8E5M2, f8E4M3, f8E4M3FN, f8E5M2FNUZ, f8E4M3FNUZ, f8E4M3B11FNUZ, f8E3M4, f8E8M0FNU, f4E2M1FN, f6E2M3FN, f6E3M2FN)
func.func private @complex(complex<f32>, complex<f64>, complex<i32>)
func.func private @tuples(!pair, !nested, tuple<>, tuple<index>)
func.func private @vectors(vector<4xf32>, vector<f32>, vector<2x3x4xi8>, vector<[4]xf32>, vector<2x[4]x3xi1>, vector<1xindex>, vector<4xbf16>)
func.func private @tensors(tensor<f32>, tensor<4x?xf32>, tensor<*xi8>, tensor<0x4xf64>, tensor<4xcomplex<f32>>, tensor<2xvector<4xf32>>,
                           tensor<4x4xf32, "encoding">, tensor<4xf32, {key = 1 : i32}>, tensor<4x!unknown.element>)
func.func private @functions(() -> (), (i32) -> i32, (i32, (f32) -> f64) -> (i1, () -> ()), () -> (() -> ()))
func.func private @unknown(!unknown.plain, !unknown.parameters<4, "text", f32>, !unknown.nested<!other.inner<[1, 2]>, (a -> b)>, !unknown<"anything {}">)
func.func private @known_elsewhere(!llvm.ptr, !llvm.struct<(i32, ptr)>, !gpu.async.token, !async.value<f32>, !shape.shape)
func.func private @memrefs(memref<4xvector<2xi1>>) -> !unknown.plain

// -----

func.func @values(%a: !unknown.t<[1 : i32, "x"]>, %b: tensor<4xf32>, %c: tuple<i32, f32>, %d: none, %e: i128, %f: f8E4M3FN) -> !unknown.t<[1 : i32, "x"]> {
  %0 = "test.use"(%a, %b, %c, %d, %e, %f) : (!unknown.t<[1 : i32, "x"]>, tensor<4xf32>, tuple<i32, f32>, none, i128, f8E4M3FN) -> complex<f64>
  return %a : !unknown.t<[1 : i32, "x"]>
}
