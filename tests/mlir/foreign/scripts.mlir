module attributes {transform.with_named_sequence} {
  func.func @f(%A: memref<8xf32>) {
    affine.for %i = 0 to 8 {
      %0 = affine.load %A[%i] : memref<8xf32>
      affine.store %0, %A[%i] : memref<8xf32>
    }
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %loops = transform.structured.match ops{["affine.for"]} in %root : (!transform.any_op) -> !transform.op<"affine.for">
    %outer, %inner = transform.loop.outline %loops {func_name = "body"} : (!transform.op<"affine.for">) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
// -----
!op = !transform.any_op
module attributes {transform.with_named_sequence} {
  transform.named_sequence @tile(%root: !op {transform.consumed}) -> !op {
    %0 = transform.structured.match ops{["linalg.matmul"]} in %root : (!op) -> !op
    %1, %2:2 = transform.structured.tile_using_for %0 tile_sizes [4, 8] : (!op) -> (!op, !op, !op)
    transform.yield %1 : !op
  }
  func.func @g(%A: memref<4xf32>) {
    affine.for %i = 0 to 4 {
      affine.for %j = affine_map<(d0) -> (d0)>(%i) to 4 {
        %0 = affine.load %A[%j] : memref<4xf32>
        affine.store %0, %A[%i] : memref<4xf32>
      }
    }
    return
  }
}
// -----
ml_program.global private mutable @state(dense<0.0> : tensor<4xf32>) : tensor<4xf32>
func.func @h(%t: tensor<4xf32>, %i: index) -> f32 {
  %0 = tensor.extract %t[%i] : tensor<4xf32>
  return %0 : f32
}
// -----
llvm.func @before(i32)
func.func private @declared(memref<4xf32>)
llvm.func @after(%x: i32) {
  llvm.return
}
"test.of_the_module"() : () -> ()
