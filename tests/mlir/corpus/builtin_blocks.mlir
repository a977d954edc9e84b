// RUN-FLAGS: --allow-unregistered-dialect
// Blocks, successors and regions: cf in generic and custom form, unknown operations with regions, forward references.
func.func @diamond(%p: i1, %x: i32) -> i32 {
  "cf.cond_br"(%p, %x)[^left, ^right] <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (i1, i32) -> ()
^left:
  %c = arith.constant 1 : i32
  "cf.br"(%c)[^join] : (i32) -> ()
^right(%y: i32):
  "cf.br"(%y)[^join] : (i32) -> ()
^join(%z: i32):
  return %z : i32
}

func.func @loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^head(%c0 : index)
^head(%i: index):
  %p = arith.cmpi slt, %i, %n : index
  cf.cond_br %p, ^body, ^exit
^body:
  %next = arith.addi %i, %c1 : index
  cf.br ^head(%next : index)
^exit:
  return
}

// The entry block may be named; blocks may come before those that lead to them; names may be numbers.
func.func @named() {
^entry:
  cf.br ^2
^1:
  return
^2:
  cf.br ^1
}

func.func @switch(%flag: i32, %x: f32) {
  cf.switch %flag : i32, [
    default: ^one(%x : f32),
    42: ^two,
    -1: ^one(%x : f32)
  ]
^one(%y: f32):
  cf.br ^two
^two:
  return
}

// -----

func.func @regions(%x: f32) -> f32 {
  "test.none"() : () -> ()
  "test.empty"() ({
  }) : () -> ()
  %0:2 = "test.two"(%x) ({
    "test.inside"(%x) : (f32) -> ()
  }, {
  ^bb0(%a: i32, %b: f32):
    %1 = "test.deeper"(%b) ({
    ^bb0:
      "test.jump"()[^bb1, ^bb2] : () -> ()
    ^bb1:
      "test.end"() : () -> ()
    ^bb2:
      "test.end"() : () -> ()
    }) {key = "value"} : (f32) -> f32
    "test.end"(%1) : (f32) -> ()
  }) {note = "kept"} : (f32) -> (f32, i32)
  return %0#0 : f32
}

// A graph region may use what it defines later.
"test.graph"() ({
  %a = "test.uses"(%b) : (i32) -> i32
  %b = "test.defines"() : () -> i32
}) : () -> ()

func.func @affine_inside(%A: memref<8xf32>) {
  "test.wrapper"() ({
    affine.for %i = 0 to 8 {
      %0 = affine.load %A[%i] : memref<8xf32>
      "test.use"(%0, %i) : (f32, index) -> ()
    }
    "test.end"() : () -> ()
  }) : () -> ()
  return
}
