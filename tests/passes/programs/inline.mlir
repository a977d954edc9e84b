// RUN: inline{default-pipeline=}
// RUN: inline{default-pipeline=canonicalize}
// CLEAN: canonicalize
// MEANT: 12
// ----- values
func.func private @next(%i: index) -> index {
  %c1 = arith.constant 1 : index
  %0 = arith.addi %i, %c1 : index
  return %0 : index
}
func.func @f(%i: index, %A: memref<16xi32>, %x: i32) {
  %0 = call @next(%i) : (index) -> index
  %1 = call @next(%0) : (index) -> index
  memref.store %x, %A[%1] : memref<16xi32>
  return
}
// ----- several results and arguments handed through
func.func private @swap(%a: i32, %b: i32) -> (i32, i32) { return %b, %a : i32, i32 }
func.func @f(%a: i32, %b: i32) -> (i32, i32, i32) {
  %0:2 = call @swap(%a, %b) : (i32, i32) -> (i32, i32)
  %1:2 = call @swap(%0#0, %0#0) : (i32, i32) -> (i32, i32)
  return %0#0, %0#1, %1#1 : i32, i32, i32
}
// ----- chains of calls
func.func private @c(%x: i32) -> i32 { %0 = arith.muli %x, %x : i32 return %0 : i32 }
func.func private @b(%x: i32) -> i32 { %0 = call @c(%x) : (i32) -> i32 %1 = arith.subi %0, %x : i32
  return %1 : i32 }
func.func @a(%x: i32) -> i32 { %0 = call @b(%x) : (i32) -> i32 return %0 : i32 }
// ----- loops of the callee
func.func private @fill(%A: memref<16xi32>, %n: index, %x: i32) {
  affine.for %i = 0 to %n { affine.store %x, %A[%i + symbol(%n)] : memref<16xi32> }
  return
}
func.func @f(%A: memref<16xi32>, %x: i32, %n: index) {
  call @fill(%A, %n, %x) : (memref<16xi32>, index, i32) -> ()
  return
}
// ----- functions that call themselves
// EXCEPT: run
func.func private @one(%i: i32) { call @one(%i) : (i32) -> () return }
func.func private @two(%i: i32) { call @three(%i) : (i32) -> () return }
func.func private @three(%i: i32) { call @two(%i) : (i32) -> () return }
func.func @f(%i: i32) { call @one(%i) : (i32) -> () call @two(%i) : (i32) -> () return }
// ----- functions without bodies
// EXCEPT: run
func.func private @outside(%i: i32) -> i32
func.func @f(%i: i32) -> i32 { %0 = call @outside(%i) : (i32) -> i32 return %0 : i32 }
// ----- functions that are not to be copied
// EXCEPT: run
func.func private @own(%i: i32) attributes {no_inline} { "test.op"(%i) : (i32) -> () return }
func.func private @free(%i: i32) { "test.op"(%i) : (i32) -> () return }
func.func @f(%i: i32) { call @own(%i) : (i32) -> () call @free(%i) {no_inline} : (i32) -> () return }
// ----- private functions that nobody needs
// EXCEPT: run
func.func private @never() { return }
func.func private @once(%i: i32) { "test.op"(%i) : (i32) -> () return }
func.func private @kept(%i: i32) { "test.op"(%i) : (i32) -> () return }
func.func @public(%i: i32) { call @once(%i) : (i32) -> () call @kept(%i) : (i32) -> () return }
func.func @f() { "test.use"() {of = @kept} : () -> () return }
// ----- dead functions of several blocks
// EXCEPT: run
func.func private @two(%c: i1) -> i32 {
  %0 = call @inner() : () -> i32
  cf.br ^bb1
^bb1:
  return %0 : i32
}
func.func private @unreached() { return ^bb1: return }
func.func private @used(%c: i1) { cf.br ^bb1 ^bb1: return }
func.func private @inner() -> i32 { %0 = arith.constant 7 : i32 return %0 : i32 }
"test.use"() {of = @used} : () -> ()
func.func @blocks() { return ^bb1: return }
// ----- what only dead functions refer to
// EXCEPT: run
func.func private @called() -> i32 { %0 = arith.constant 7 : i32 return %0 : i32 }
func.func private @between() -> i32 { %0 = call @called() : () -> i32 return %0 : i32 }
func.func private @dead() -> i32 { %0 = call @between() : () -> i32 return %0 : i32 }
func.func private @names() { "test.use"() {of = @named} : () -> () return }
func.func private @named() { return }
// ----- a function that a dead and a live one call
func.func private @both() -> i32 { %0 = arith.constant 7 : i32 return %0 : i32 }
func.func private @dead() -> i32 { %0 = call @both() : () -> i32 return %0 : i32 }
func.func @live() -> i32 { %0 = call @both() : () -> i32 return %0 : i32 }
// ----- nested functions
// EXCEPT: run
func.func nested @dead() { return }
func.func nested @called(%i: i32) -> i32 { %0 = arith.muli %i, %i : i32 return %0 : i32 }
func.func nested @declared()
func.func @f(%i: i32) -> i32 { %0 = call @called(%i) : (i32) -> i32 return %0 : i32 }
module @inside {
  func.func nested @dead() { return }
  func.func private @unused() { return }
  func.func nested @from_outside() { return }
}
module @hidden attributes {sym_visibility = "private"} {
  func.func private @unused() { return }
  func.func @seen() { return }
}
func.func @g() { "test.use"() {of = @inside::@from_outside} : () -> () return }
// ----- modules inside
module @a {
  func.func private @g(%i: i32) -> i32 { %0 = arith.muli %i, %i : i32 return %0 : i32 }
  func.func @f(%i: i32) -> i32 { %0 = call @g(%i) : (i32) -> i32 return %0 : i32 }
}
func.func private @g(%i: i32) -> i32 { return %i : i32 }
func.func @f(%i: i32) -> i32 { %0 = call @g(%i) : (i32) -> i32 return %0 : i32 }
// ----- calls in conditions
func.func private @g(%i: i32) -> i32 { %0 = arith.muli %i, %i : i32 return %0 : i32 }
func.func @f(%i: i32, %c: i1) -> i32 {
  %r = scf.if %c -> i32 {
    %0 = func.call @g(%i) : (i32) -> i32
    scf.yield %0 : i32
  } else {
    scf.yield %i : i32
  }
  return %r : i32
}
