// Affine expressions: precedence, parentheses, negation, nested divisions, large constants, and sums that simplify.
func.func @precedence(%i: index, %j: index, %n: index) -> (index, index, index, index, index, index) {
  %0 = affine.apply affine_map<(d0, d1) -> (d0 + d1 * 2 mod 3)>(%i, %j)
  %1 = affine.apply affine_map<(d0, d1) -> ((d0 + d1) * 2 mod 3)>(%i, %j)
  %2 = affine.apply affine_map<(d0, d1) -> (-(d0 - d1) floordiv 4)>(%i, %j)
  %3 = affine.apply affine_map<(d0, d1) -> (-d0 - -d1 - 3)>(%i, %j)
  %4 = affine.apply affine_map<(d0, d1) -> (d0 - (d1 - 1) - (d0 ceildiv 2))>(%i, %j)
  %5 = affine.apply affine_map<(d0)[s0] -> (3 - d0 + s0 * -5)>(%i)[%n]
  return %0, %1, %2, %3, %4, %5 : index, index, index, index, index, index
}

func.func @nested(%i: index, %j: index) -> (index, index, index, index) {
  %0 = affine.apply affine_map<(d0) -> ((d0 floordiv 4) mod 8)>(%i)
  %1 = affine.apply affine_map<(d0) -> (((d0 mod 12) floordiv 3) ceildiv 2)>(%i)
  %2 = affine.apply affine_map<(d0, d1) -> ((d0 * 8 + d1) floordiv 16 + (d0 + d1 floordiv 2) mod 5)>(%i, %j)
  %3 = affine.apply affine_map<(d0) -> ((d0 + 1) floordiv 2 - (d0 - 1) ceildiv 2)>(%i)
  return %0, %1, %2, %3 : index, index, index, index
}

// What is folded while it is read: constants, zeros, ones, equal terms.
func.func @folded(%i: index) -> (index, index, index, index, index, index, index) {
  %0 = affine.apply affine_map<(d0) -> (2 * 3 + d0 * 1 + 0)>(%i)
  %1 = affine.apply affine_map<(d0) -> (d0 + d0 + d0 * 2)>(%i)
  %2 = affine.apply affine_map<(d0) -> (d0 - d0)>(%i)
  %3 = affine.apply affine_map<(d0) -> (d0 * 4 floordiv 2 + (d0 * 8) mod 4)>(%i)
  %4 = affine.apply affine_map<(d0) -> (7 mod 4 + 9 floordiv 2 + -9 ceildiv 2 + d0)>(%i)
  %5 = affine.apply affine_map<(d0) -> (d0 floordiv 1 + d0 mod 1 + d0 ceildiv 1)>(%i)
  %6 = affine.apply affine_map<(d0) -> ((d0 + 3) * 2 - 6)>(%i)
  return %0, %1, %2, %3, %4, %5, %6 : index, index, index, index, index, index, index
}

// d - (d floordiv c) * c is d mod c.
func.func @remainders(%i: index, %j: index, %n: index) -> (index, index, index, index) {
  %0 = affine.apply affine_map<(d0) -> (d0 - (d0 floordiv 8) * 8)>(%i)
  %1 = affine.apply affine_map<(d0) -> (d0 + (d0 floordiv 8) * -8)>(%i)
  %2 = affine.apply affine_map<(d0, d1) -> (d0 + d1 + ((d0 + d1) floordiv 5) * -5)>(%i, %j)
  %3 = affine.apply affine_map<(d0)[s0] -> (d0 + s0 - (s0 floordiv 3) * 3)>(%i)[%n]
  return %0, %1, %2, %3 : index, index, index, index
}

func.func @large(%i: index) -> (index, index, index) {
  %0 = affine.apply affine_map<(d0) -> (d0 + 9223372036854775807)>(%i)
  %1 = affine.apply affine_map<(d0) -> (d0 * -9223372036854775807)>(%i)
  %2 = affine.apply affine_map<(d0) -> (d0 floordiv 4611686018427387904)>(%i)
  return %0, %1, %2 : index, index, index
}
