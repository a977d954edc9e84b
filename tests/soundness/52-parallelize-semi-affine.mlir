// a semi-affine index makes the dependence analysis fail; failure is not independence
// pass: builtin.module(func.func(affine-parallelize))
// mlir-opt 22.1.8: right
// absent after the pass: affine.parallel
func.func @k(%A: memref<16xi64>, %s: index) {
  affine.for %i = 0 to 8 {
    %x = affine.load %A[%i floordiv symbol(%s)] : memref<16xi64>
    %y = arith.addi %x, %x : i64
    affine.store %y, %A[%i floordiv symbol(%s)] : memref<16xi64>
  }
  return
}
