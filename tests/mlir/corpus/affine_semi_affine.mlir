// Semi-affine maps: products with symbols, divisions and remainders by symbols, in maps and in subscripts.
#mul = affine_map<(d0)[s0] -> (d0 * s0)>
#div = affine_map<(d0)[s0, s1] -> (d0 floordiv s0 + d0 ceildiv s1 - d0 mod s0)>
func.func @maps(%i: index, %n: index, %m: index) -> (index, index, index, index, index) {
  %0 = affine.apply #mul(%i)[%n]
  %1 = affine.apply #div(%i)[%n, %m]
  %2 = affine.apply affine_map<()[s0, s1] -> (s0 * s1 + s0 * s0 - 3)>()[%n, %m]
  %3 = affine.apply affine_map<(d0)[s0, s1] -> ((d0 + s1) floordiv s0 * s1)>(%i)[%n, %m]
  %4 = affine.apply affine_map<(d0)[s0] -> (d0 mod (s0 * 2) - (d0 * s0) * 3)>(%i)[%n]
  %5 = affine.apply affine_map<(d0, d1)[s0, s1, s2] -> (s2 * s1 + d1 + d0 * (s2 + s1 + s0))>(%i, %n)[%n, %m, %m]
  return %0, %1, %2, %3, %4 : index, index, index, index, index
}

func.func @symbolic_remainder(%i: index, %n: index) -> (index, index) {
  %0 = affine.apply affine_map<(d0)[s0] -> (d0 - (d0 floordiv s0) * s0)>(%i)[%n]
  %1 = affine.apply affine_map<(d0)[s0] -> (d0 - s0 * (d0 floordiv s0))>(%i)[%n]
  return %0, %1 : index, index
}

func.func @subscripts(%A: memref<?xf32>, %n: index, %m: index) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      %0 = affine.load %A[%i * symbol(%m) + %j] : memref<?xf32>
      affine.store %0, %A[%j floordiv symbol(%m)] : memref<?xf32>
      affine.store %0, %A[%j mod symbol(%n) + symbol(%m) * symbol(%n)] : memref<?xf32>
      affine.store %0, %A[%i ceildiv symbol(%n)] : memref<?xf32>
    }
  }
  return
}

func.func @bounds(%n: index, %m: index) {
  affine.for %i = affine_map<()[s0, s1] -> (s0 floordiv s1)>()[%n, %m] to affine_map<()[s0, s1] -> (s0 * s1)>()[%n, %m] {
    affine.for %j = affine_map<(d0)[s0] -> (d0 * s0)>(%i)[%n] to affine_map<(d0)[s0] -> (d0 * s0 + s0)>(%i)[%n] {
      affine.if affine_set<(d0)[s0] : (d0 mod s0 == 0, d0 - s0 * 2 >= 0)>(%j)[%m] {
      }
    }
  }
  return
}
