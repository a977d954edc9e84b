func.func @f(%x: f32, %n: index) -> f32 {
  // error @+1 {{else}}
  %0 = affine.if affine_set<()[s0] : (s0 >= 0)>()[%n] -> f32 {
    affine.yield %x : f32
  }
  return %0 : f32
}
// -----
func.func @f(%x: f32, %n: index) -> f32 {
  %0 = affine.if affine_set<()[s0] : (s0 >= 0)>()[%n] -> f32 {
    affine.yield %x : f32
  } else {
    // error @+1 {{index}} {{f32}}
    affine.yield %n : index
  }
  return %0 : f32
}
// -----
func.func @f(%x: f32, %n: index) -> f32 {
  %0 = affine.if affine_set<()[s0] : (s0 >= 0)>()[%n] -> f32 {
    // error @+1 {{(f32, f32)}} {{(f32)}}
    affine.yield %x, %x : f32, f32
  } else {
    affine.yield %x : f32
  }
  return %0 : f32
}
// -----
func.func @f(%n: index) {
  // error @+1 {{1}} {{0}}
  affine.if affine_set<(d0) : (d0 >= 0)>() {
  }
  return
}
// -----
func.func @f(%n: index) {
  // error @+1 {{symbol}}
  affine.if affine_set<(d0) : (d0 >= 0)>(%n)[%n] {
  }
  return
}
// -----
func.func @f(%n: index) {
  affine.for %i = 0 to 8 {
    // error @+1 {{symbol}}
    affine.if affine_set<()[s0] : (s0 >= 0)>()[%i] {
    }
  }
  return
}
// -----
func.func @f(%n: i64) {
  // error @+1 {{%n}} {{index}} {{i64}}
  affine.if affine_set<()[s0] : (s0 >= 0)>()[%n] {
  }
  return
}
// -----
func.func @f(%A: memref<8xindex>, %n: index) {
  affine.for %i = 0 to 8 {
    %0 = affine.load %A[%i] : memref<8xindex>
    // error @+1 {{dim}}
    affine.if affine_set<(d0) : (d0 >= 0)>(%0) {
    }
  }
  return
}
// -----
func.func @f(%n: index, %x: f32) {
  affine.if affine_set<()[s0] : (s0 >= 0)>()[%n] {
    // error @+1 {{(f32)}} {{()}}
    affine.yield %x : f32
  }
  return
}
// -----
func.func @f(%n: index) {
  affine.if affine_set<()[s0] : (s0 >= 0)>()[%n] {
    %0 = arith.constant 1 : i32
  }
  // error @+1 {{%0}}
  %1 = arith.addi %0, %0 : i32
  return
}
// -----
func.func @f(%n: index) {
  // error @+1 {{condition}}
  "affine.if"(%n) ({
    "affine.yield"() : () -> ()
  }, {
  }) : (index) -> ()
  return
}
// -----
func.func @f(%n: index) {
  // error @+1 {{2}}
  "affine.if"(%n) ({
    "affine.yield"() : () -> ()
  }) {condition = affine_set<(d0) : (d0 >= 0)>} : (index) -> ()
  return
}
// -----
func.func @f(%n: index) {
  // error @+1 {{argument}}
  "affine.if"(%n) ({
  ^bb0(%i: index):
    "affine.yield"() : () -> ()
  }, {
  }) {condition = affine_set<(d0) : (d0 >= 0)>} : (index) -> ()
  return
}
// -----
func.func @f(%A: memref<8xindex>) {
  affine.for %i = 0 to 8 {
    %q = affine.load %A[%i] : memref<8xindex>
    // error @+1 {{%q}} {{dimension}}
    affine.if affine_set<(d0) : (1 >= 0)>(%q) {
    }
  }
  return
}
