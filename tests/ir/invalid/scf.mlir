func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  // error @+1 {{%a}} {{i32}} {{index}}
  scf.for %i = %n to %n step %a {
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  // error @+1 {{%i}} {{f32}}
  scf.for %i = %x to %x step %x : f32 {
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  // error @+1 {{1}} {{2}}
  %0 = scf.for %i = %n to %n step %n iter_args(%acc = %x) -> (f32, f32) {
    scf.yield %acc : f32
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  %0 = scf.for %i = %n to %n step %n iter_args(%acc = %x) -> (f32) {
  // error @-1 {{(f32, f32)}} {{(f32)}}
    scf.yield %acc, %acc : f32, f32
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  %0 = scf.for %i = %n to %n step %n iter_args(%acc = %x) -> (f32) {
  // error @-1 {{index}} {{f32}}
    scf.yield %i : index
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  // error @+1 {{%x}} {{f32}} {{i32}}
  %0 = scf.for %i = %n to %n step %n iter_args(%acc = %x) -> (i32) {
    scf.yield %acc : i32
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  // error @+1 {{%n}} {{index}} {{i1}}
  scf.if %n {
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  // error @+1 {{else}}
  %0 = scf.if %p -> (f32) {
    scf.yield %x : f32
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  %0 = scf.if %p -> (f32) {
  // error @-1 {{i32}} {{f32}}
    scf.yield %a : i32
  } else {
    scf.yield %x : f32
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  scf.if %p {
  // error @-1 {{(f32)}} {{()}}
    scf.yield %x : f32
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  // error @+1 {{scf.yield}}
  %0 = scf.if %p -> (f32) {
  } else {
    scf.yield %x : f32
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  // error @+1 {{scf.condition}}
  scf.while : () -> () {
    scf.yield
  } do {
    scf.yield
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  scf.while : () -> () {
  // error @+1 {{%a}} {{i32}} {{i1}}
    scf.condition(%a)
  } do {
    scf.yield
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  %0 = scf.while (%b = %x) : (f32) -> i32 {
  // error @-1 {{f32}} {{i32}}
    scf.condition(%p) %b : f32
  } do {
  ^bb0(%c: i32):
    scf.yield %x : f32
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  // error @+1 {{1}} {{2}}
  %0 = scf.while (%b = %x) : (f32, f32) -> f32 {
    scf.condition(%p) %b : f32
  } do {
  ^bb0(%c: f32):
    scf.yield %c : f32
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  %0 = scf.while (%b = %x) : (f32) -> f32 {
    scf.condition(%p) %b : f32
  } do {
  ^bb0(%c: f32):
  // error @-4 {{f32}} {{i32}}
    scf.yield %a : i32
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  scf.while : () -> () {
    scf.condition(%p)
  } do {
  // error @-3 {{scf.yield}} {{scf.while}}
    affine.yield
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  // error @+1 {{1}} {{2}}
  scf.parallel (%i, %j) = (%n) to (%n, %n) step (%n, %n) {
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  // error @+1 {{%a}} {{i32}} {{index}}
  scf.parallel (%i) = (%n) to (%n) step (%a) {
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  // error @+1 {{scf.reduce}} {{(f32)}}
  %0 = scf.parallel (%i) = (%n) to (%n) step (%n) init (%x) -> f32 {
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  // error @+1 {{(f32)}} {{()}}
  scf.parallel (%i) = (%n) to (%n) step (%n) {
    scf.reduce(%x : f32) {
    ^bb0(%b: f32, %c: f32):
      scf.reduce.return %b : f32
    }
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  %0 = scf.parallel (%i) = (%n) to (%n) step (%n) init (%x) -> f32 {
    scf.reduce(%x : f32) {
    ^bb0(%b: f32, %c: f32):
  // error @+1 {{f32}} {{i32}}
      scf.reduce.return %a : i32
    }
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  // error @+2 {{f32}} {{i32}}
  %0 = scf.parallel (%i) = (%n) to (%n) step (%n) init (%x) -> f32 {
    scf.reduce(%a : i32) {
    ^bb0(%b: i32, %c: i32):
      scf.reduce.return %a : i32
    }
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  %z = arith.constant 0 : index
  // error @+1 {{0}}
  scf.parallel (%i) = (%z) to (%n) step (%z) {
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  // error @+1 {{scf.reduce}}
  scf.reduce
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  // error @+1 {{%x}} {{f32}} {{index}}
  scf.index_switch %x
  default {
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  // error @+1 {{3}}
  scf.index_switch %n
  case 3 {
    scf.yield
  }
  case 3 {
    scf.yield
  }
  default {
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  %0 = scf.index_switch %n -> f32
  default {
  // error @-2 {{i32}} {{f32}}
    scf.yield %a : i32
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  scf.for %i = %n to %n step %n {
  }
  // error @+1 {{%i}}
  %0 = arith.addi %i, %i : index
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  scf.for %i = %n to %n step %n {
  // error @+1 {{scf.for}} {{affine.yield}}
    affine.yield
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  // error @+1 {{%n}}
  scf.for %n = %n to %n step %n {
  }
  return
}
// -----
func.func @f(%n: index, %p: i1, %x: f32, %a: i32) {
  %0 = scf.execute_region -> f32 {
  // error @-1 {{f32}} {{i32}}
    scf.yield %a : i32
  }
  return
}
