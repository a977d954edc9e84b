// RUN-FLAGS: --allow-unregistered-dialect
// Modules: named, with attributes, nested, empty, generic, several at the top, and operations beside functions.
module {
}

// -----

module @named attributes {test.version = 3 : i32, test.list = [1, "two", @three]} {
  func.func private @f()
  module @inner {
    func.func private @f()
    module {
      func.func @g() {
        return
      }
    }
  }
  module attributes {test.unit} {
  }
}

// -----

module @"a \22quoted\22 name" {
}

// -----

"builtin.module"() ({
  "builtin.module"() <{sym_name = "inner", sym_visibility = "private"}> ({
    "func.func"() <{function_type = () -> (), sym_name = "f", sym_visibility = "private"}> ({
    }) : () -> ()
  }) {test.note = "kept"} : () -> ()
}) {test.outer} : () -> ()

// -----

builtin.module @prefixed {
  func.func @references() attributes {test.symbol = @inner::@f, test.deep = @a::@b::@"c d"} {
    return
  }
}

// -----

// Without a module one is put around.
func.func @first() {
  return
}
"test.operation"() {symbol = @first} : () -> ()
func.func private @second()

// -----

module @one {
  func.func private @f()
}
module @two {
  func.func private @f()
}

// -----

// Nothing but a comment.

// -----

module attributes {dlti.dl_spec = #dlti.dl_spec<index = 64 : i32>, llvm.target_triple = "x86_64-unknown-linux-gnu"} {
}

// -----

%0 = "test.value"() : () -> f32
%1 = arith.addf %0, %0 : f32
"test.use"(%1) : (f32) -> ()
