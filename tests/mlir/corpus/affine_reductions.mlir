// RUN-FLAGS: --allow-unregistered-dialect
// Every kind of reduction of affine.parallel that verifies, with the types that it takes.
func.func @floats(%x: f32, %y: f64, %h: f16, %b: bf16) {
  %0 = affine.parallel (%i) = (0) to (8) reduce ("addf") -> (f32) {
    affine.yield %x : f32
  }
  %1 = affine.parallel (%i) = (0) to (8) reduce ("mulf") -> (f64) {
    affine.yield %y : f64
  }
  %2 = affine.parallel (%i) = (0) to (8) reduce ("maximumf") -> (f16) {
    affine.yield %h : f16
  }
  %3 = affine.parallel (%i) = (0) to (8) reduce ("minimumf") -> (bf16) {
    affine.yield %b : bf16
  }
  return
}

func.func @signless(%x: i32, %y: i64, %z: i1, %w: i8) {
  %0 = affine.parallel (%i) = (0) to (8) reduce ("addi") -> (i32) {
    affine.yield %x : i32
  }
  %1 = affine.parallel (%i) = (0) to (8) reduce ("muli") -> (i64) {
    affine.yield %y : i64
  }
  %2 = affine.parallel (%i) = (0) to (8) reduce ("andi") -> (i1) {
    affine.yield %z : i1
  }
  %3 = affine.parallel (%i) = (0) to (8) reduce ("ori") -> (i8) {
    affine.yield %w : i8
  }
  return
}

// The minima and maxima of integers ask for a type that says its sign.
func.func @signed(%x: si32, %y: ui32, %u: si64) {
  %0 = affine.parallel (%i) = (0) to (8) reduce ("maxs") -> (si32) {
    affine.yield %x : si32
  }
  %1 = affine.parallel (%i) = (0) to (8) reduce ("mins") -> (si64) {
    affine.yield %u : si64
  }
  %2 = affine.parallel (%i) = (0) to (8) reduce ("maxu") -> (ui32) {
    affine.yield %y : ui32
  }
  %3 = affine.parallel (%i) = (0) to (8) reduce ("minu") -> (ui32) {
    affine.yield %y : ui32
  }
  %4:2 = affine.parallel (%i) = (0) to (8) reduce ("addi", "muli") -> (si32, ui32) {
    affine.yield %x, %y : si32, ui32
  }
  return
}

func.func @assign(%x: f32, %n: index, %v: vector<4xf32>) {
  %0 = affine.parallel (%i) = (0) to (1) reduce ("assign") -> (index) {
    affine.yield %i : index
  }
  %1:2 = affine.parallel (%i) = (0) to (1) reduce ("assign", "assign") -> (f32, vector<4xf32>) {
    affine.yield %x, %v : f32, vector<4xf32>
  }
  %2 = affine.parallel (%i) = (0) to (1) reduce ("assign") -> (i32) {
    %y = "test.value"() : () -> i32
    affine.yield %y : i32
  }
  return
}
