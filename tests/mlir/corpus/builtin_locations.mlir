// Locations: of files, ranges, names, calls, fused, unknown, as aliases, on operations, arguments, blocks and functions.
#loc = loc("kernel.py":3:5)
#place = loc("name"(#loc))
#unknown = loc(unknown)
func.func @operations(%A: memref<8xf32> loc("A"), %x: f32 loc("kernel.py":1:10), %n: index) -> f32 {
  %0 = arith.addf %x, %x : f32 loc("kernel.py":4:9)
  %1 = arith.mulf %0, %x : f32 loc("product")
  %2 = arith.mulf %0, %x : f32 loc("product"("kernel.py":5:7))
  %3 = arith.mulf %0, %x : f32 loc(callsite("callee" at "kernel.py":6:1))
  %4 = arith.mulf %0, %x : f32 loc(callsite("a"("f.py":1:1) at callsite("b" at "c")))
  %5 = arith.mulf %0, %x : f32 loc(fused["kernel.py":7:1, "other.py":8:2])
  %6 = arith.mulf %0, %x : f32 loc(fused<"metadata">["kernel.py":7:1, unknown])
  %7 = arith.mulf %0, %x : f32 loc(unknown)
  %8 = arith.mulf %0, %x : f32 loc(#loc)
  %9 = arith.mulf %0, %x : f32 loc(#place)
  %10 = arith.mulf %0, %x : f32 loc(#later)
  %11 = arith.mulf %0, %x : f32 loc(#unknown)
  %12 = arith.mulf %0, %x : f32 loc("a \22quoted\22 file.py":10:20)
  affine.for %i = 0 to %n {
    %13 = affine.load %A[%i] : memref<8xf32> loc("kernel.py":12:13)
    affine.store %13, %A[%i] : memref<8xf32> loc(#loc1)
  } loc("kernel.py":11:3)
  %14 = affine.for %i = 0 to %n iter_args(%acc = %x) -> (f32) {
    affine.yield %acc : f32 loc("kernel.py":14:5)
  } {note = "kept"} loc("loop")
  affine.for %i loc("iv") = 0 to %n iter_args(%acc = %x) -> (f32) {
    affine.yield %acc : f32
  }
  affine.if affine_set<()[s0] : (s0 >= 0)>()[%n] {
  } else {
  } loc("branch")
  return %14 : f32 loc("end")
} loc("kernel.py":2:0)
#later = loc("kernel.py":9:1)
#loc1 = loc("kernel.py":13:1)

// -----

func.func private @declared(i32 loc("x")) -> i32 loc("declared")
module @inner {
  func.func private @nothing() loc(unknown)
} loc("inner.mlir":1:1)

// -----

func.func @ranges(%x: f32) {
  %0 = arith.addf %x, %x : f32 loc("kernel.py":4:9 to 4:20)
  %1 = arith.addf %x, %x : f32 loc("kernel.py":4:9 to :20)
  %2 = arith.addf %x, %x : f32 loc("kernel.py":4:9 to 6:1)
  return
}

// -----

func.func @blocks(%p: i1, %x: f32) {
  "cf.cond_br"(%p, %x)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (i1, f32) -> () loc("branch")
^bb1:
  return loc("one")
^bb2(%y: f32 loc("y")):
  return loc(fused<[1, 2]>["a", "b"])
}
