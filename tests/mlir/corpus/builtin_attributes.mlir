// RUN-FLAGS: --allow-unregistered-dialect
// Attributes of every kind, on operations that nobody knows.
"test.scalars"() {
  unit, unit_too = unit, yes = true, no = false, int = 42, negative = -7 : i8, unsigned = 200 : ui8, signed = -100 : si8, index = 3 : index,
  hex = 0xFF : i16, wide = 340282366920938463463374607431768211455 : i128, float = 1.5, half = 0.5 : f16, special = 0x7FC00000 : f32,
  exponent = 1.0e-10 : f64, minus = -2.0 : f32, as_hex = 0x3FF0000000000000 : f64
} : () -> ()
"test.strings"() {plain = "text", empty = "", escapes = "tab\09 quote\22 slash\\ newline\0A bytes\C3\A9", typed = "text" : i32, unicode = "é ∀ 😀", letter_escapes = "\n\t\"\\"} : () -> ()
"test.collections"() {list = [1, "two", [3.0, unit], {four = 4 : i32}], empty_list = [], dictionary = {a = 1 : i8, b, "quoted key" = true, nested = {c = []}}, empty_dictionary = {}} : () -> ()
"test.symbols"() {flat = @name, quoted = @"a b", nested = @a::@b::@"c d"} : () -> ()
"test.types"() {type = f32, memref = memref<4x?xf32>, function = (i32) -> (f32, f32), nothing = () -> (), vector = vector<[4]xi1>, unknown = !unknown.t<3>, typed = none} : () -> ()
"test.maps"() {map = affine_map<(d0, d1)[s0] -> (d0 + s0, d1 floordiv 2)>, empty = affine_map<() -> ()>, dims = affine_map<(d0) -> ()>,
  set = affine_set<(d0)[s0] : (d0 - s0 >= 0, d0 == 0)>, all = affine_set<() : ()>, none = affine_set<() : (1 == 0)>} : () -> ()
"test.arrays"() {i1 = array<i1: true, false>, i8 = array<i8: 1, -2>, i16 = array<i16>, i32 = array<i32: 10, 42>, i64 = array<i64: -9223372036854775808>, f32 = array<f32: 1.0, -2.5e10>, f64 = array<f64: 0.1>} : () -> ()
"test.elements"() {splat = dense<1> : tensor<4xi32>, list = dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>, floats = dense<[1.0, 0x7FC00000]> : vector<2xf32>,
  bools = dense<[true, false]> : tensor<2xi1>, scalar = dense<3> : tensor<i32>, empty = dense<> : tensor<0x4xf32>, hex = dense<"0x01000000"> : tensor<1xi32>,
  strings = dense<["a", "b"]> : tensor<2x!unknown.string>, complexes = dense<[(1, 2), (3, 4)]> : tensor<2xcomplex<i32>>,
  sparse = sparse<[[0], [3]], [1.0, 2.0]> : tensor<5xf32>, indices = dense<[0, 1, 2]> : tensor<3xindex>, negative = dense<-1> : tensor<2xi8>, unsigned = dense<255> : tensor<2xui8>} : () -> ()
"test.layouts"() {strided = strided<[4, 1], offset: ?>, plain = strided<[]>, dynamic = strided<[?, 1]>} : () -> ()
"test.unknown"() {plain = #unknown.attribute, parameters = #unknown.a<4, "text", {k = v}>, nested = #unknown.a<#other.b<[1]>, (x -> y)>, quoted = #unknown<"any } text">, typed = #unknown.c<1> : i32} : () -> ()
"test.known"() {flags = #arith.fastmath<nnan,ninf>, overflow = #arith.overflow<nsw>, kind = #vector.kind<add>, iterator = #vector.iterator_type<parallel>, poison = #ub.poison, space = #gpu.address_space<global>} : () -> ()
"test.distinct"() {one = distinct[0]<unit>, two = distinct[1]<42 : i32>, same = distinct[0]<unit>} : () -> ()
"test.keys"() {"a key" = 1, a.b = 2, c$d = 3, _e = 4, "0" = 5, f32 = 6, loc = 7, true = 8} : () -> ()
"test.locations"() {place = loc("file":1:2), nowhere = loc(unknown)} : () -> ()

// -----

// Properties of operations that nobody knows are a dictionary, or any attribute.
"test.properties"() <{a = 1 : i32, b = "text"}> {discardable} : () -> ()
"test.one_property"() <{a}> : () -> ()

// -----

func.func @resources() attributes {value = dense_resource<blob> : tensor<2xi32>} {
  %0 = arith.constant dense_resource<blob> : tensor<2xi32>
  return
}

{-#
  dialect_resources: {
    builtin: {
      blob: "0x040000000100000002000000"
    }
  }
#-}
