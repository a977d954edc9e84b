// RUN-FLAGS: --allow-unregistered-dialect
// Names of values, blocks, symbols and operations: numbers, dollars, dots, dashes, keywords, quotes, escapes.
func.func @values(%0: i32, %arg7: i32, %_: i32, %a.b$c-d: i32, %affine: i32, %007: i32) -> i32 {
  %1 = arith.addi %0, %arg7 : i32
  %10 = arith.addi %_, %a.b$c-d : i32
  %for = arith.addi %affine, %007 : i32
  %f32 = arith.addi %for, %10 : i32
  %true = arith.addi %f32, %1 : i32
  %memref = arith.addi %true, %f32 : i32
  %c0 = arith.constant 7 : i32
  %cst = arith.constant 1 : i32
  return %memref : i32
}

// An unused name of a group, names that differ in one character, a name in two functions.
func.func @groups(%x: i32) -> i32 {
  %a:3 = "test.three"() : () -> (i32, i32, i32)
  %b:2, %c = "test.three"() : () -> (i32, i32, i32)
  %d, %e:2 = "test.three"() : () -> (i32, i32, i32)
  %f:1 = "test.one"() : () -> i32
  "test.use"(%a#0, %a#2, %b#1, %c, %d, %e#0, %f, %f#0) : (i32, i32, i32, i32, i32, i32, i32, i32) -> ()
  return %x : i32
}

func.func private @for()
func.func private @"%percent"()
func.func private @"\C3\A9t\C3\A9"()
func.func private @"new\0Aline"()
func.func private @_underscore.dot$dollar()
func.func private @"9 starts with a digit"()
func.func private @"-"()

func.func @uses() {
  call @for() : () -> ()
  call @"%percent"() : () -> ()
  call @"new\0Aline"() : () -> ()
  call @"for"() : () -> ()
  return
}

"test.dotted.name"() : () -> ()
"test.with-dash and space"() : () -> ()
"no_dialect"() : () -> ()

// A value of one region may share its name with one of a neighbouring region, or of an isolated region inside.
func.func @shadows(%x: f32, %n: index) {
  affine.for %i = 0 to %n {
    %y = arith.addf %x, %x : f32
  }
  affine.for %i = 0 to %n {
    %y = arith.mulf %x, %x : f32
  }
  "test.isolated"() ({
    %z = "test.value"() : () -> f32
  }) : () -> ()
  %y = arith.subf %x, %x : f32
  return
}
module {
  func.func @inner(%x: f32) -> f32 {
    return %x : f32
  }
}
