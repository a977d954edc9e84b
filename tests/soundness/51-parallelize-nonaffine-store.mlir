// a memref.store in the loop is no affine access and not seen by the dependence analysis
// pass: builtin.module(func.func(affine-parallelize))
// mlir-opt 22.1.8: right
// absent after the pass: affine.parallel
func.func @k(%A: memref<16xi64>, %p: index) {
  affine.for %i = 0 to 8 {
    %x = arith.index_cast %i : index to i64
    memref.store %x, %A[%p] : memref<16xi64>
  }
  return
}
