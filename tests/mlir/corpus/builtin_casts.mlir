// RUN-FLAGS: --allow-unregistered-dialect
// builtin.unrealized_conversion_cast, and the short names that the builtin dialect has at the top and func inside functions.
func.func @casts(%i: index, %x: i64, %a: !unknown.pair) -> i64 {
  %0 = builtin.unrealized_conversion_cast %i : index to i64
  %1:2 = builtin.unrealized_conversion_cast %a : !unknown.pair to f32, i32
  %2 = builtin.unrealized_conversion_cast %1#0, %1#1 : f32, i32 to !unknown.pair {note = "kept"}
  %3 = builtin.unrealized_conversion_cast to f32
  %4 = "builtin.unrealized_conversion_cast"(%x) : (i64) -> index
  return %0 : i64
}

module {
  %0 = "test.value"() : () -> f32
  %1 = unrealized_conversion_cast %0 : f32 to i32
}
