// One value as a dim and as a symbol of one subscript: the custom form cannot say it, since it lists each value once.
func.func @accesses(%A: memref<?x?xf32>, %n: index) {
  %0 = "affine.load"(%A, %n, %n) <{map = affine_map<(d0)[s0] -> (d0, s0 * 2)>}> : (memref<?x?xf32>, index, index) -> f32
  "affine.store"(%0, %A, %n, %n) <{map = affine_map<(d0)[s0] -> (s0, d0 - 1)>}> : (f32, memref<?x?xf32>, index, index) -> ()
  return
}

func.func @band(%n: index, %x: f32) -> f32 {
  %0 = "affine.parallel"(%n, %n, %n) <{lowerBoundsGroups = dense<1> : tensor<1xi32>, lowerBoundsMap = affine_map<(d0) -> (d0)>, reductions = [0], steps = [2], upperBoundsGroups = dense<2> : tensor<1xi32>, upperBoundsMap = affine_map<(d0)[s0] -> (d0 * 2, s0 + 7)>}> ({
  ^bb0(%i: index):
    "affine.yield"(%x) : (f32) -> ()
  }) : (index, index, index) -> f32
  return %0 : f32
}

// In a map with its own lists of operands it can be said.
func.func @maps(%n: index) -> index {
  %0 = affine.apply affine_map<(d0)[s0] -> (d0 * 2 + s0)>(%n)[%n]
  affine.for %i = affine_map<(d0)[s0] -> (d0 + s0 * 3)>(%n)[%n] to 100 {
  }
  return %0 : index
}
