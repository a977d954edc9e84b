llvm.func @spin() {
  llvm.br ^bb1
^bb1:
  llvm.br ^bb1
}
func.func @f(%A: memref<4xf32>) {
  affine.for %i = 0 to 4 {
    %0 = affine.load %A[%i] : memref<4xf32>
    affine.store %0, %A[%i] : memref<4xf32>
  }
  return
}
// -----
#layout = affine_map<(d0) -> (d0)>
transform.sequence failures(propagate) {
^bb0(%root: !transform.any_op):
  %0 = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
  transform.apply_patterns to %0 {
    transform.apply_patterns.canonicalization
  } : !transform.any_op
}
func.func @g(%A: memref<4xf32, #layout>) {
  return
}
// -----
spirv.module Logical GLSL450 {
  spirv.func @empty() "None" {
    spirv.Return
  }
}
func.func @h(%n: index) {
  affine.for %i = 0 to %n {
  }
  return
}
// -----
ml_program.func @called(%x: i32) -> i32 {
  ml_program.return %x : i32
}
func.func private @declared()
// -----
pdl.pattern : benefit(1) {
  %0 = operation "foo.op"
  rewrite %0 {
    erase %0
  }
}
func.func @k() { return }
// -----
emitc.func @plain(%x: i32) -> i32 {
  return %x : i32
}
llvm.comdat @groups {
  llvm.comdat_selector @any any
}
func.func @l() { return }
// -----
// What is visible from outside does not change in a scope of symbols.
func.func @launched(%A: memref<?xf32>, %c: memref<?xi32>, %n: index) {
  %c1 = arith.constant 1 : index
  affine.for %i = 0 to %n {
    %0 = affine.load %c[%i] : memref<?xi32>
    %1 = arith.index_cast %0 : i32 to index
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
      affine.for %j = 0 to %i {
        %2 = affine.load %A[%j + symbol(%tx) + symbol(%1)] : memref<?xf32>
        affine.store %2, %A[%j * symbol(%i)] : memref<?xf32>
      }
      gpu.terminator
    }
    "test.affine_scope"() ({
      affine.for %j = 0 to min affine_map<()[s0, s1] -> (s0, s1)>()[%1, %i] {
        affine.for %k = 0 to %n {
          %2 = affine.load %A[%j + %k] : memref<?xf32>
        }
      }
      "test.end"() : () -> ()
    }) : () -> ()
  }
  return
}
// -----
func.func @each_reads_the_other() {
  test.isolated_graph_region {
    %0 = "test.a"(%1) : (i1) -> i1
    %1 = "test.b"(%0) : (i1) -> i1
  }
  return
}
