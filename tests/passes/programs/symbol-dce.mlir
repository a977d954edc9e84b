// RUN: symbol-dce
// FIXED POINT: yes
// ----- functions that only dead ones call
func.func private @a()
func.func private @b() { call @a() : () -> () return }
func.func private @c() { return }
func.func @main() { call @c() : () -> () return }
// ----- a function that calls itself
func.func private @a() { call @a() : () -> () return }
func.func private @b() { call @c() : () -> () return }
func.func private @c() { call @b() : () -> () return }
func.func @main() { return }
// ----- global buffers
memref.global "private" @dead : memref<4xf32>
memref.global "private" @read : memref<4xf32>
memref.global @seen : memref<4xf32>
func.func @main() { %0 = memref.get_global @read : memref<4xf32> return }
// ----- references of unknown operations
func.func private @a() { return }
func.func private @b() { return }
func.func private @c() { return }
func.func private @d() { return }
func.func @main() {
  "test.one"() {to = @a} : () -> ()
  "test.two"() ({ "test.inside"() {list = [1, [@b]], of = {name = @c}} : () -> () }) : () -> ()
  return }
// ----- references of functions
func.func private @a() { return }
func.func @main() attributes {other = @a} { return }
// ----- modules inside
module @named { func.func private @x() { return } func.func @y() { return } }
module @hidden attributes {sym_visibility = "private"} { func.func @y() { return } }
module @asked attributes {sym_visibility = "private"} {
  func.func private @x() { return } func.func private @z() { return } func.func @y() { return } }
module { func.func private @x() { return } func.func @y() { return } }
func.func @main() { "test.use"() {of = @asked::@x} : () -> () return }
// ----- nested visibility
module @a { func.func nested @x() { return } func.func private @y() { return } }
func.func nested @b() { return }
// ----- an unknown symbol
"test.symbol"() {sym_name = "s", sym_visibility = "private"} : () -> ()
func.func @main() { return }
// ----- nothing is public
func.func private @a() { return }
func.func private @b() { call @a() : () -> () return }
