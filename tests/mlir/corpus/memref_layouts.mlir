// Types of memrefs: shapes, layouts as maps and strides, memory spaces of each kind, nested types.
#transposed = affine_map<(d0, d1) -> (d1, d0)>
#tiled = affine_map<(d0, d1)[s0] -> (d0 floordiv s0, d1 floordiv 8, d0 mod s0, d1 mod 8)>
#identity = affine_map<(d0, d1) -> (d0, d1)>
!grid = memref<8x?xf64, #transposed, 1>
func.func private @shapes(memref<f32>, memref<0xf32>, memref<?x?x?xi8>, memref<1x2x3x4x5xindex>, memref<*xf32>, memref<*xf32, 2>)
func.func private @maps(memref<4x4xf32, #transposed>, memref<4x4xf32, #identity>, memref<?x?xf32, #tiled>, !grid,
                        memref<4xf32, affine_map<(d0) -> (d0 * 2 + 1)>>, memref<4x4xf32, affine_map<(d0, d1) -> (d0, d1)>, 3>)
func.func private @strides(memref<4x4xf32, strided<[4, 1]>>, memref<4x4xf32, strided<[1, 4], offset: 0>>,
                           memref<4xf32, strided<[-1], offset: 3>>, memref<?xf32, strided<[?], offset: ?>>,
                           memref<f32, strided<[]>>, memref<f32, strided<[], offset: 7>>, memref<2x2xf32, strided<[0, 0]>>)
func.func private @spaces(memref<4xf32, 0>, memref<4xf32, 1>, memref<4xf32, 2 : i32>, memref<4xf32, 3 : i64>, memref<4xf32, "fast">,
                          memref<4xf32, strided<[2]>, "fast">, memref<4xf32, {bank = 1 : i64}>,
                          memref<4xf32, #gpu.address_space<workgroup>>)
func.func private @elements(memref<4xvector<4x4xf32>>, memref<4xmemref<?xf32>>, memref<4xcomplex<f32>>, memref<4xi1>, memref<4xsi8>,
                            memref<4xui64>, memref<4xbf16>, memref<2xmemref<*xi8, 1>>)

func.func @use(%A: memref<4x4xf32, #identity>, %B: !grid, %i: index) -> f32 {
  %0 = affine.load %A[%i, %i] : memref<4x4xf32>
  %1 = memref.load %B[%i, %i] : !grid
  return %0 : f32
}
