// affine.apply, affine.min and affine.max: maps with dims only, symbols only, both, constants, several results.
#shift = affine_map<(d0)[s0] -> (d0 + s0)>
#scaled = affine_map<()[s0] -> (s0 * 4 - 1)>
func.func @apply(%i: index, %j: index, %n: index) -> (index, index, index, index) {
  %0 = affine.apply #shift(%i)[%n]
  %1 = affine.apply #scaled()[%n]
  %2 = affine.apply affine_map<(d0, d1) -> (d0 floordiv 8 + d1 ceildiv 128 - d0 mod 4 - 7)>(%i, %j)
  %3 = affine.apply affine_map<() -> (42)>()
  return %0, %1, %2, %3 : index, index, index, index
}

func.func @attributes(%i: index) -> index {
  %0 = affine.apply affine_map<(d0) -> (-d0)>(%i) {note = "negated"}
  %1 = affine.min affine_map<(d0) -> (d0, 4)>(%0) {note = "clamped"}
  %2 = affine.max affine_map<(d0) -> (d0, 0)>(%1) {note = "not below zero", other}
  return %2 : index
}

func.func @min_max(%i: index, %n: index, %m: index) -> (index, index, index, index) {
  %0 = affine.min affine_map<(d0)[s0] -> (1000, d0 + 512, s0)>(%i)[%n]
  %1 = affine.max affine_map<(d0)[s0, s1] -> (0, s0 - d0, s1)>(%i)[%n, %m]
  %2 = affine.min affine_map<()[s0] -> (s0)>()[%n]
  %3 = affine.max affine_map<() -> (1, 2)>()
  return %0, %1, %2, %3 : index, index, index, index
}

// Names of dims and symbols are free; the order of the lists counts.
func.func @named(%i: index, %j: index, %n: index) -> index {
  %0 = affine.apply affine_map<(row, col)[stride] -> (row * 64 + col + stride)>(%i, %j)[%n]
  return %0 : index
}

func.func @inside_loops(%n: index) {
  affine.for %i = 0 to %n {
    %0 = affine.apply affine_map<(d0) -> (d0 * 2)>(%i)
    affine.for %j = 0 to 8 {
      %1 = affine.apply affine_map<(d0, d1)[s0] -> (d0 + d1 * 3 + s0)>(%0, %j)[%n]
      %2 = affine.min affine_map<(d0)[s0] -> (d0, s0)>(%1)[%n]
    }
  }
  return
}
