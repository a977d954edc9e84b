// affine.parallel: bands of none, one and more dimensions, min and max groups, steps, nesting, attributes.
func.func @bands(%A: memref<100x100xf32>, %n: index, %m: index) {
  affine.parallel (%i, %j) = (0, 0) to (98, 98) {
    %x = affine.load %A[%i, %j] : memref<100x100xf32>
    affine.store %x, %A[%j, %i] : memref<100x100xf32>
  }
  affine.parallel (%ii, %jj) = (0, 0) to (%n, symbol(%m)) step (32, 32) {
    affine.parallel (%i, %j) = (%ii, %jj) to (min(%ii + 32, %n), min(%jj + 32, %m)) {
    }
    affine.parallel (%i, %j) = (max(%ii, 5), max(%ii - 1, 3, %jj)) to (1000, min(%jj * 2 + 32, symbol(%m))) step (1, 4) {
    }
  }
  affine.parallel () = () to () {
  }
  affine.parallel (%i) = (0) to (10) step (1) {
    affine.yield
  }
  return
}

func.func @expressions(%n: index) {
  affine.parallel (%i, %j, %k) = (-1, %n floordiv 2, 0) to (%n - 1, %n * 2 + 1, %n ceildiv 4 + symbol(%n) mod 3) step (1, 2, 3) {
  }
  affine.parallel (%i) = (max(0)) to (min(7)) {
  } {note = "groups of one"}
  affine.parallel (%i) = (0) to (%n) step (4) {
  } {device = 1 : i32}
  return
}

func.func @reduce(%A: memref<100x100xf32>, %n: index) -> (f32, f32, i32) {
  %0 = affine.parallel (%i, %j) = (0, 0) to (100, 100) reduce ("addf") -> (f32) {
    %x = affine.load %A[%i, %j] : memref<100x100xf32>
    affine.yield %x : f32
  }
  %1:2 = affine.parallel (%i) = (0) to (min(10, %n)) step (2) reduce ("maximumf", "muli") -> (f32, i32) {
    %c2 = arith.constant 2.0 : f32
    %c3 = arith.constant 3 : i32
    affine.yield %c2, %c3 : f32, i32
  }
  return %0, %1#0, %1#1 : f32, f32, i32
}
