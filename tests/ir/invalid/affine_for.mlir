// error @+2 {{step}} {{-1}}
func.func @f() {
  affine.for %i = 0 to 10 step -1 {
  }
  return
}
// -----
func.func @f(%n: index) {
  affine.for %i = 0 to 8 {
    // error @+1 {{symbol}} {{%i}}
    affine.for %j = 0 to %i {
    }
  }
  return
}
// -----
func.func @f(%n: index) {
  // error @+1 {{min}}
  affine.for %i = 0 to affine_map<()[s0] -> (s0, 8)>()[%n] {
  }
  return
}
// -----
func.func @f(%n: index) {
  // error @+1 {{max}}
  affine.for %i = affine_map<()[s0] -> (s0, 8)>()[%n] to 8 {
  }
  return
}
// -----
func.func @f(%n: index) {
  // error @+1 {{1}} {{0}}
  affine.for %i = affine_map<(d0) -> (d0)>() to 8 {
  }
  return
}
// -----
func.func @f(%n: index) {
  // error @+1 {{0}} {{1}}
  affine.for %i = 0 to affine_map<()[s0] -> (s0)>(%n) {
  }
  return
}
// -----
func.func @f(%n: i32) {
  // error @+1 {{%n}} {{i32}} {{index}}
  affine.for %i = 0 to %n {
  }
  return
}
// -----
func.func @f(%x: f32) -> f32 {
  // error @+1 {{1}} {{2}}
  %0 = affine.for %i = 0 to 8 iter_args(%a = %x) -> (f32, f32) {
    affine.yield %a : f32
  }
  return %0 : f32
}
// -----
func.func @f(%x: f32) -> f32 {
  %0 = affine.for %i = 0 to 8 iter_args(%a = %x) -> (f32) {
    // error @+1 {{(f32, f32)}} {{(f32)}}
    affine.yield %a, %a : f32, f32
  }
  return %0 : f32
}
// -----
func.func @f(%x: f32) -> f32 {
  %0 = affine.for %i = 0 to 8 iter_args(%a = %x) -> (f32) {
    // error @+1 {{index}} {{f32}}
    affine.yield %i : index
  }
  return %0 : f32
}
// -----
func.func @f(%x: f32) -> f32 {
  // error @+1 {{yield}}
  %0 = affine.for %i = 0 to 8 iter_args(%a = %x) -> (f32) {
  }
  return %0 : f32
}
// -----
func.func @f(%x: f32) -> f32 {
  %0 = affine.for %i = 0 to 8 iter_args(%a = %x) -> (f32) {
    affine.yield %a : f32
  }
  // error @+1 {{%a}}
  return %a : f32
}
// -----
func.func @f(%A: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %0 = affine.load %A[%i] : memref<8xf32>
  }
  // error @+1 {{%i}}
  %1 = memref.load %A[%i] : memref<8xf32>
  return
}
// -----
func.func @f() {
  affine.for %i = 0 to 8 {
    // error @+1 {{affine.for}} {{affine.yield}}
    func.return
  }
  return
}
// -----
func.func @f() {
  affine.for %i = 0 to 8 {
    // error @+1 {{affine.yield}}
    affine.yield
    arith.constant 0 : i32
  }
  return
}
// -----
func.func @f(%n: index) {
  // error @+1 {{%x}}
  affine.for %i = 0 to %n iter_args(%a = %x) -> (f32) {
    affine.yield %a : f32
  }
  return
}
// -----
func.func @f(%p: index) {
  scf.for %t = %p to %p step %p {
    // error @+1 {{%t}} {{cannot be used}}
    affine.for %i = 0 to %t {
    }
  }
  return
}
// -----
func.func @f(%n: index) {
  // error @+1 {{argument}}
  "affine.for"() <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 0, 0>, step = 1 : index, upperBoundMap = affine_map<() -> (8)>}> ({
    "affine.yield"() : () -> ()
  }) : () -> ()
  return
}
// -----
func.func @f(%n: index) {
  // error @+1 {{i32}}
  "affine.for"() <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 0, 0>, step = 1 : index, upperBoundMap = affine_map<() -> (8)>}> ({
  ^bb0(%i: i32):
    "affine.yield"() : () -> ()
  }) : () -> ()
  return
}
// -----
func.func @f(%n: index) {
  // error @+1 {{upperBoundMap}}
  "affine.for"() <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 0, 0>, step = 1 : index}> ({
  ^bb0(%i: index):
    "affine.yield"() : () -> ()
  }) : () -> ()
  return
}
// -----
func.func @f(%n: index) {
  // error @+1 {{bound}}
  "affine.for"() <{lowerBoundMap = affine_map<() -> ()>, operandSegmentSizes = array<i32: 0, 0, 0>, step = 1 : index, upperBoundMap = affine_map<() -> (8)>}> ({
  ^bb0(%i: index):
    "affine.yield"() : () -> ()
  }) : () -> ()
  return
}
// -----
func.func @f(%n: index) {
  affine.for %i = 0 to 8 {
    // error @+1 {{%n}}
    affine.for %n = 0 to 8 {
    }
  }
  return
}
// -----
func.func @f(%n: index) {
  // error @+1 {{operandSegmentSizes}}
  "affine.for"(%n) <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 0, 0>, step = 1 : index, upperBoundMap = affine_map<() -> (8)>}> ({
  ^bb0(%i: index):
    "affine.yield"() : () -> ()
  }) : (index) -> ()
  return
}
// -----
func.func @f(%A: memref<8xindex>) {
  affine.for %i = 0 to 8 {
    %q = affine.load %A[%i] : memref<8xindex>
    // error @+1 {{%q}} {{dimension}}
    affine.for %j = affine_map<(d0) -> (0)>(%q) to 4 {
    }
  }
  return
}
