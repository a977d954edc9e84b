// func.func: declarations, visibility, attributes of arguments, results and functions, quoted and odd names.
func.func private @nothing()
func.func private @types(i32, memref<?xf32>, vector<4xf32>) -> (f32, index)
func.func private @one_result(f32) -> f32
func.func private @parentheses(f32) -> (f32)
func.func private @named(i32 {llvm.noundef}) -> (i32 {llvm.noundef, other.name = "x"})
func.func private @attributed() -> () attributes {llvm.emit_c_interface, weight = 3 : i64}
func.func private @function_type((i32) -> (f32, f32), () -> ()) -> (() -> i32)
func.func private @"quoted name"(index)
func.func private @"with \22quotes\22 and \\ and \09"()
func.func private @dollars$.and_underscores()

func.func @no_arguments() {
  return
}

func.func @arguments(%A: memref<8xf32> {test.role = "in", test.index = 0 : i32}, %n: index, %x: f32 {test.unit}) -> (f32 {test.role = "out"}, index) {
  return %x, %n : f32, index
}

func.func public @public_one() attributes {note} {
  func.return
}

func.func private @private_one(%arg0: i32) -> i32 {
  return %arg0 : i32
}

func.func nested @nested_one() -> (i32) {
  %c = arith.constant 1 : i32
  return %c : i32
}

func.func @no_inline() attributes {no_inline} {
  return
}

"func.func"() <{function_type = (i32) -> i32, sym_name = "generic", sym_visibility = "private", arg_attrs = [{test.a}], res_attrs = [{test.b = 1 : i64}]}> ({
^bb0(%x: i32):
  "func.return"(%x) : (i32) -> ()
}) {note = "kept"} : () -> ()
"func.func"() <{function_type = () -> (), sym_name = "declared", sym_visibility = "private"}> ({
}) : () -> ()
