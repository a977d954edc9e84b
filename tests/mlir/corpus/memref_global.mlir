// memref.global and get_global: uninitialized, external, constant, private, alignment, each kind of value.
memref.global @external : memref<4xf32>
memref.global "private" @buffer : memref<16x16xf32> = uninitialized
memref.global "public" @shared : memref<8xi32, 1> = uninitialized
memref.global "private" constant @weights : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
memref.global constant @zeros : memref<2x3xi64> = dense<0> {alignment = 64 : i64}
memref.global "private" @scalar : memref<f32> = dense<2.5>
memref.global "nested" @bytes : memref<3xi8> = dense<[1, -2, 127]> {alignment = 8 : i64, note = "kept"}
memref.global @"a name" : memref<1xf32> = uninitialized
memref.global "private" @matrix : memref<2x2xf64> = dense<[[1.0, 0.0], [0.0, 1.0]]> {alignment = 16 : i64}
memref.global "private" constant @bits : memref<4xi1> = dense<[true, false, true, true]>
memref.global "private" constant @blob : memref<2xf32> = dense<"0x0000803F00000040">

func.func @get(%i: index) -> f32 {
  %0 = memref.get_global @weights : memref<4xf32>
  %1 = memref.get_global @shared : memref<8xi32, 1> {note = "kept"}
  %2 = memref.get_global @"a name" : memref<1xf32>
  %3 = memref.get_global @later : memref<2xf32>
  affine.for %j = 0 to 4 {
    %4 = affine.load %0[%j] : memref<4xf32>
  }
  %5 = memref.load %0[%i] : memref<4xf32>
  return %5 : f32
}

memref.global "private" @later : memref<2xf32> = dense<0.0>
"memref.global"() <{constant, initial_value = dense<5> : tensor<1xi16>, sym_name = "generic", sym_visibility = "private", type = memref<1xi16>}> : () -> ()
"memref.global"() <{initial_value, sym_name = "nothing", type = memref<1xi16>}> : () -> ()
