// coalesced scf.for whose inner body captures an iter_arg of the outer loop
// pass: builtin.module(func.func(affine-loop-coalescing))
// mlir-opt 22.1.8: wrong-code
// prints: [64,  1,  2,  3,  4,  5,  6,  7]
func.func private @printMemrefI64(memref<*xi64>)
func.func private @iota(%m: memref<?xi64>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %m, %c0 : memref<?xi64>
  affine.for %i = 0 to %n {
    %x = arith.index_cast %i : index to i64
    memref.store %x, %m[%i] : memref<?xi64>
  }
  return
}
func.func @main() {
  %O = memref.alloc() : memref<8xi64>
  %O_d = memref.cast %O : memref<8xi64> to memref<?xi64>
  call @iota(%O_d) : (memref<?xi64>) -> ()

  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %one = arith.constant 1 : i64
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %one) -> (i64) {
    %q = scf.for %j = %c0 to %c3 step %c1 iter_args(%b = %a) -> (i64) {
      %n = arith.addi %b, %a : i64
      scf.yield %n : i64
    }
    scf.yield %q : i64
  }
  affine.store %r, %O[0] : memref<8xi64>
  %O_u = memref.cast %O : memref<8xi64> to memref<*xi64>
  call @printMemrefI64(%O_u) : (memref<*xi64>) -> ()
  return
}
