// full unrolling of a loop whose iter_args are yielded in swapped order
// pass: builtin.module(func.func(affine-loop-unroll{unroll-factor=-1}))
// mlir-opt 22.1.8: wrong-code
// prints: [55,  1,  2,  3,  4,  5,  6,  7]
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

  %z = arith.constant 0 : i64
  %o = arith.constant 1 : i64
  %r:2 = affine.for %i = 0 to 10 iter_args(%a = %z, %b = %o) -> (i64, i64) {
    %s = arith.addi %a, %b : i64
    affine.yield %b, %s : i64, i64
  }
  affine.store %r#0, %O[0] : memref<8xi64>
  %O_u = memref.cast %O : memref<8xi64> to memref<*xi64>
  call @printMemrefI64(%O_u) : (memref<*xi64>) -> ()
  return
}
