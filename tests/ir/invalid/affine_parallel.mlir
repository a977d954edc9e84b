func.func @f(%x: f32) -> f32 {
  // error @+1 {{2}} {{1}}
  %0 = affine.parallel (%i) = (0) to (8) reduce ("addf", "mulf") -> (f32) {
    affine.yield %x : f32
  }
  return %0 : f32
}
// -----
func.func @f(%x: f32) -> f32 {
  // error @+1 {{nonsense}}
  %0 = affine.parallel (%i) = (0) to (8) reduce ("nonsense") -> (f32) {
    affine.yield %x : f32
  }
  return %0 : f32
}
// -----
func.func @f(%x: i32) -> i32 {
  // error @+1 {{addf}} {{i32}}
  %0 = affine.parallel (%i) = (0) to (8) reduce ("addf") -> (i32) {
    affine.yield %x : i32
  }
  return %0 : i32
}
// -----
func.func @f(%x: f32) -> f32 {
  // error @+1 {{addi}} {{f32}}
  %0 = affine.parallel (%i) = (0) to (8) reduce ("addi") -> (f32) {
    affine.yield %x : f32
  }
  return %0 : f32
}
// -----
func.func @f(%x: i32) -> i32 {
  // error @+1 {{maxs}} {{i32}}
  %0 = affine.parallel (%i) = (0) to (8) reduce ("maxs") -> (i32) {
    affine.yield %x : i32
  }
  return %0 : i32
}
// -----
func.func @f(%x: ui32) -> ui32 {
  // error @+1 {{mins}} {{ui32}}
  %0 = affine.parallel (%i) = (0) to (8) reduce ("mins") -> (ui32) {
    affine.yield %x : ui32
  }
  return %0 : ui32
}
// -----
func.func @f(%x: si32) -> si32 {
  // error @+1 {{maxu}} {{si32}}
  %0 = affine.parallel (%i) = (0) to (8) reduce ("maxu") -> (si32) {
    affine.yield %x : si32
  }
  return %0 : si32
}
// -----
func.func @f(%x: i32) -> i32 {
  // error @+1 {{xori}}
  %0 = affine.parallel (%i) = (0) to (8) reduce ("xori") -> (i32) {
    affine.yield %x : i32
  }
  return %0 : i32
}
// -----
func.func @f(%x: f32) -> f32 {
  // error @+1 {{maxnumf}}
  %0 = affine.parallel (%i) = (0) to (8) reduce ("maxnumf") -> (f32) {
    affine.yield %x : f32
  }
  return %0 : f32
}
// -----
func.func @f(%x: index) -> index {
  // error @+1 {{addi}} {{index}}
  %0 = affine.parallel (%i) = (0) to (8) reduce ("addi") -> (index) {
    affine.yield %x : index
  }
  return %0 : index
}
// -----
func.func @f(%x: f32) -> f32 {
  %0 = affine.parallel (%i) = (0) to (8) reduce ("addf") -> (f32) {
    // error @+1 {{index}} {{f32}}
    affine.yield %i : index
  }
  return %0 : f32
}
// -----
func.func @f() {
  // error @+1 {{1}} {{2}}
  affine.parallel (%i, %j) = (0) to (8, 8) {
  }
  return
}
// -----
func.func @f() {
  // error @+1 {{step}}
  affine.parallel (%i, %j) = (0, 0) to (8, 8) step (1) {
  }
  return
}
// -----
func.func @f(%n: f32) {
  // error @+1 {{%n}} {{index}} {{f32}}
  affine.parallel (%i) = (0) to (%n) {
  }
  return
}
// -----
func.func @f(%n: index) {
  affine.parallel (%i) = (0) to (%n) {
    // error @+1 {{symbol}}
    affine.parallel (%j) = (0) to (symbol(%i)) {
    }
  }
  return
}
// -----
func.func @f(%n: index) {
  // error @+1 {{2}} {{1}}
  "affine.parallel"() <{lowerBoundsGroups = dense<1> : tensor<2xi32>, lowerBoundsMap = affine_map<() -> (0, 0)>, reductions = [], steps = [1], upperBoundsGroups = dense<1> : tensor<1xi32>, upperBoundsMap = affine_map<() -> (8)>}> ({
  ^bb0(%i: index):
    "affine.yield"() : () -> ()
  }) : () -> ()
  return
}
// -----
func.func @f(%n: index) {
  // error @+1 {{2}} {{1}}
  "affine.parallel"() <{lowerBoundsGroups = dense<2> : tensor<1xi32>, lowerBoundsMap = affine_map<() -> (0)>, reductions = [], steps = [1], upperBoundsGroups = dense<1> : tensor<1xi32>, upperBoundsMap = affine_map<() -> (8)>}> ({
  ^bb0(%i: index):
    "affine.yield"() : () -> ()
  }) : () -> ()
  return
}
