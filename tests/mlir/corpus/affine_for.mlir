// affine.for: every way to write a bound, steps, empty bodies, attributes after the brace, a written affine.yield.
#lower = affine_map<(d0)[s0] -> (d0, s0 - 4)>
#upper = affine_map<(d0)[s0] -> (s0, d0 + 32)>
#same = affine_map<(d0) -> (d0)>
func.func @bounds(%A: memref<?x?xf32>, %n: index, %m: index) {
  affine.for %i = 0 to 10 {
  }
  affine.for %i = -3 to %n step 2 {
  }
  affine.for %i = %n to %m {
    affine.for %j = max #lower(%i)[%n] to min #upper(%i)[%n] step 4 {
      %0 = affine.load %A[%i, %j] : memref<?x?xf32>
      affine.store %0, %A[%j, %i] : memref<?x?xf32>
    }
    affine.for %j = #same(%i) to affine_map<(d0) -> (d0 + 8)>(%i) {
    }
    affine.for %j = affine_map<(d0) -> (d0 * 4 - 1)>(%i) to 100 step 4 {
    }
    affine.for %j = 0 to #same(%i) {
    }
  }
  return
}

// Maps that print as constants or as one value.
func.func @shorthands(%n: index) {
  affine.for %i = affine_map<() -> (3)>() to affine_map<() -> (7)>() {
  }
  affine.for %i = affine_map<()[s0] -> (s0)>()[%n] to affine_map<()[s0] -> (s0 * 2)>()[%n] {
  }
  affine.for %i = max affine_map<() -> (0, 1)>() to min affine_map<()[s0] -> (s0, 100)>()[%n] {
  }
  affine.for %i = max affine_map<() -> (5)>() to min affine_map<()[s0] -> (s0)>()[%n] {
  }
  affine.for %i = 5 to 1 {
  }
  return
}

func.func @attributes(%n: index) {
  affine.for %i = 0 to %n {
    affine.yield
  } {parallel, tile_sizes = [4, 8], name = "outer"}
  affine.for %i = 0 to 4 step 1 {
  } {}
  return
}

// A constant is both a dim and a symbol; so is a function's index argument.
func.func @constants() {
  %c4 = arith.constant 4 : index
  affine.for %i = 0 to %c4 {
    affine.for %j = affine_map<(d0) -> (d0)>(%c4) to affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%c4] {
    }
  }
  return
}

// Neighbouring loops and blocks may use one name again.
func.func @names(%A: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %x = affine.load %A[%i] : memref<8xf32>
    affine.store %x, %A[%i] : memref<8xf32>
  }
  affine.for %i = 0 to 8 {
    %x = affine.load %A[%i] : memref<8xf32>
    affine.store %x, %A[%i] : memref<8xf32>
  }
  return
}
