// The whole program in generic form, as a tool without custom syntax would write it.
#map = affine_map<(d0, d1) -> (d0, d1)>
#zero = affine_map<() -> (0)>
#size = affine_map<()[s0] -> (s0)>
"builtin.module"() ({
  "func.func"() <{function_type = (memref<?x8xf32>, index, f32) -> f32, sym_name = "sum"}> ({
  ^bb0(%A: memref<?x8xf32>, %n: index, %zero: f32):
    %0 = "affine.for"(%n, %zero) <{lowerBoundMap = #zero, operandSegmentSizes = array<i32: 0, 1, 1>, step = 1 : index, upperBoundMap = #size}> ({
    ^bb0(%i: index, %outer: f32):
      %1 = "affine.for"(%outer) <{lowerBoundMap = #zero, operandSegmentSizes = array<i32: 0, 0, 1>, step = 2 : index, upperBoundMap = affine_map<() -> (8)>}> ({
      ^bb0(%j: index, %inner: f32):
        %2 = "affine.load"(%A, %i, %j) <{map = #map}> : (memref<?x8xf32>, index, index) -> f32
        %3 = "arith.addf"(%inner, %2) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
        "affine.yield"(%3) : (f32) -> ()
      }) : (f32) -> f32
      "affine.yield"(%1) : (f32) -> ()
    }) : (index, f32) -> f32
    "func.return"(%0) : (f32) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (i1, f32) -> f32, sym_name = "choose", sym_visibility = "nested"}> ({
  ^bb0(%p: i1, %x: f32):
    %0 = "scf.if"(%p) ({
      %1 = "math.sqrt"(%x) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      "scf.yield"(%1) : (f32) -> ()
    }, {
      %1 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
      "scf.yield"(%1) : (f32) -> ()
    }) : (i1) -> f32
    "func.return"(%0) : (f32) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (index, index) -> (), sym_name = "bands"}> ({
  ^bb0(%n: index, %m: index):
    "scf.parallel"(%n, %m, %n) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
    ^bb0(%i: index):
      "scf.reduce"() : () -> ()
    }) : (index, index, index) -> ()
    "scf.for"(%n, %m, %n) ({
    ^bb0(%i: index):
      "scf.yield"() : () -> ()
    }) : (index, index, index) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
