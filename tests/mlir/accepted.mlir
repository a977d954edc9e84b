func.func @f(%x: i32 {my.a}, %y: f32 {my.b = 1.0 : f32}) -> (i32 {my.c = "x"}, f32) attributes {my.d = [1, 2, "a"]} { return %x, %y : i32, f32 }
// -----
func.func @f(%lb: i32, %ub: i32, %st: i32) -> i32 {
  %c = arith.constant 0 : i32
  %r = scf.for %i = %lb to %ub step %st iter_args(%a = %c) -> (i32) : i32 {
    %n = arith.addi %a, %i : i32
    scf.yield %n : i32
  }
  return %r : i32
}
// -----
func.func @f() -> i1 {
  %t = arith.constant true
  %u = arith.constant {my.a = 1} false
  %v = arith.constant dense<true> : vector<4xi1>
  %w = arith.constant dense<[true, false]> : vector<2xi1>
  return %t : i1
}
// -----
func.func @f(%n: index) {
  %a = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
  %b = memref.alloc(%n) {alignment = 16 : i64, my.a = 1} : memref<?xf32>
  %c = memref.alloca(%n)[%n] {my.a} : memref<?xf32, affine_map<(d0)[s0] -> (d0 + s0)>>
  memref.dealloc %a {my.b} : memref<4xf32>
  return
}
// -----
func.func @f(%a: memref<?x?xf32, strided<[?, 1], offset: ?>>, %b: memref<4x4xf32, strided<[4, 1]>>, %c: memref<4xf32, strided<[?], offset: 3>, 1>, %e: memref<2xf32, 1 : i32>) { return }
// -----
func.func @f() -> vector<4xi32> {
  %v = arith.constant dense<"0x01000000020000000300000004000000"> : vector<4xi32>
  %w = arith.constant dense<0x7FC00000> : vector<4xf32>
  %x = arith.constant 0x7FC00000 : f32
  %y = arith.constant 0xFF : i8
  %z = arith.constant dense<[0x7FC00000, 1.0]> : vector<2xf32>
  %z2 = arith.constant dense<"0x00000040"> : vector<3xf32>
  return %v : vector<4xi32>
}
// -----
func.func @f(%A: memref<?xf32>, %n: index) -> f32 {
  %c = arith.constant 0.0 : f32
  %r = affine.for %i = 0 to %n iter_args(%a = %c) -> f32 {
    %x = affine.load %A[%i] {my.a} : memref<?xf32>
    %s = arith.addf %a, %x fastmath<fast> {my.b} : f32
    affine.yield %s : f32
  } {my.c = 2 : i64}
  return %r : f32
}
// -----
func.func @f(%A: memref<?xf32>, %n: index) {
  %c = arith.constant 1.0 : f32
  affine.for %i = affine_map<(d0) -> (d0)>(%n) to affine_map<()[s0] -> (s0 + 1)>()[%n] step 2 {
    affine.for %j = max affine_map<(d0) -> (d0, 0)>(%i) to min affine_map<(d0)[s0] -> (d0, s0)>(%i)[%n] {
      affine.if affine_set<(d0, d1)[s0] : (d0 - d1 >= 0, s0 == 0)>(%i, %j)[%n] {
         "test.x"() : () -> ()
      } {my.a}
      affine.store %c, %A[%i + %j + symbol(%n)] : memref<?xf32>
    }
  }
  return
}
// -----
!t = memref<?xf32>
!v = vector<4xf32>
#m = affine_map<(d0) -> (d0 + 1)>
func.func @f(%A: !t, %i: index) -> !v {
  %j = affine.apply #m(%i) {my.a}
  %v = affine.vector_load %A[%j] : !t, !v
  return %v : !v
}
// -----
func.func @f(%c: i1) {
  cf.cond_br %c, ^a(%c : i1) , ^b {branch_weights = array<i32: 1, 2>}
^a(%x: i1 loc("a.c":1:1)):
  cf.br ^b {my.a}
^b:
  return
}
// -----
func.func @f(%x: index) -> index {
  %r = scf.execute_region -> index {
    scf.yield %x : index
  } {my.a}
  scf.execute_region no_inline { scf.yield }
  %k = scf.index_switch %x {my.b} -> index
  case 2 { scf.yield %x : index }
  default { scf.yield %r : index }
  return %k : index
}
// -----
func.func @f(%x: memref<4x?xf32>, %n: index) {
  %d = memref.dim %x, %n : memref<4x?xf32>
  %s = memref.subview %x[0, %n] [4, 2] [1, 1] {my.b} : memref<4x?xf32> to memref<4x2xf32, strided<[?, 1], offset: ?>>
  %c = memref.cast %x {my.c} : memref<4x?xf32> to memref<*xf32>
  %r = memref.reinterpret_cast %x to offset: [%n], sizes: [2, %n], strides: [%n, 1] {my.d} : memref<4x?xf32> to memref<2x?xf32, strided<[?, 1], offset: ?>>
  return
}
// -----
func.func @f(%a: i32, %b: i32, %v: vector<4xi32>, %x: f32) {
  %0 = arith.addi %a, %b overflow<nsw, nuw> {my.a} : i32
  %1 = arith.cmpi slt, %a, %b {my.a} : i32
  %2, %3 = arith.addui_extended %a, %b {my.a} : i32, i1
  %4 = arith.select %1, %v, %v {my.a} : i1, vector<4xi32>
  %5 = arith.trunci %a overflow<nsw> : i32 to i8
  %6 = arith.truncf %x to_nearest_even {my.a} : f32 to f16
  %7 = arith.extui %1 {my.a} : i1 to i32
  %8 = arith.cmpf olt, %x, %x fastmath<nnan> {my.a} : f32
  %9:2 = arith.mulsi_extended %a, %b : i32
  %10 = arith.divsi %a, %b exact : i32
  %11 = arith.shrui %a, %b exact : i32
  %14 = arith.bitcast %a {my.b} : i32 to f32
  return
}
// -----
module @m attributes {my.a = 1 : i32, dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>} {
  module @inner { func.func private @g() attributes {my.b} }
  func.func @f() { return } loc("x.c":2:3)
} loc(fused["a.c":1:1, "b"])
// -----
#loc = loc("a.c":1:2)
func.func @f(%x: f32 loc(#loc)) -> f32 {
  %y = arith.addf %x, %x : f32 loc(callsite("f" at "b.c":3:4))
  %z = arith.addf %x, %x : f32 loc(fused<"meta">["a.c":1:1, unknown])
  return %y : f32 loc(unknown)
} loc("f"(#loc))
// -----
func.func @f(%a: vector<4xf32>, %b: vector<4x[4]xf32>, %m: memref<?xf32>, %i: index, %k: vector<4xi1>) {
  %0 = vector.extract %a[2] : f32 from vector<4xf32>
  %1 = vector.extract %a[%i] {my.a} : f32 from vector<4xf32>
  %2 = vector.broadcast %0 {my.a} : f32 to vector<4xf32>
  %3 = vector.load %m[%i] {nontemporal = true, alignment = 8 : i64} : memref<?xf32>, vector<4xf32>
  %p = ub.poison : f32
  %4 = vector.transfer_read %m[%i], %0 {in_bounds = [true], my.a} : memref<?xf32>, vector<4xf32>
  vector.transfer_write %a, %m[%i], %k {in_bounds = [true]} : vector<4xf32>, memref<?xf32>
  %5 = vector.reduction <add>, %a fastmath<fast> {my.a} : vector<4xf32> into f32
  %6 = vector.reduction <add>, %a, %0 {my.a} : vector<4xf32> into f32
  %7 = vector.mask %k { vector.transfer_read %m[%i], %0 : memref<?xf32>, vector<4xf32> } : vector<4xi1> -> vector<4xf32>
  %8 = vector.shuffle %a, %a [0, 1, 4, -1] {my.a} : vector<4xf32>, vector<4xf32>
  vector.print %a : vector<4xf32>
  vector.print str "x"
  vector.print punctuation <newline>
  %9 = vector.step : vector<4xindex>
  %10 = vector.create_mask %i {my.a} : vector<4xi1>
  %11 = vector.constant_mask [2] {my.a} : vector<4xi1>
  return
}
// -----
memref.global "private" constant @g : memref<2xf32> = dense<[1.0, 2.0]> {alignment = 64 : i64, my.a}
memref.global "nested" @h : memref<2xi32> = uninitialized
memref.global @k : memref<2xi1> = dense<true>
memref.global constant @hex : memref<2xi32> = dense<"0x0100000002000000">
memref.global @ext : memref<2xf32, 3>
func.func @f() -> memref<2xf32> { %0 = memref.get_global @g : memref<2xf32>
  return %0 : memref<2xf32> }
// -----
func.func @f(%n: index, %A: memref<?xf32>) -> f32 {
  %r = affine.parallel (%i, %j) = (0, 0) to (%n, 10) step (1, 2) reduce ("addf") -> (f32) {
    %x = affine.load %A[%i] : memref<?xf32>
    affine.yield %x : f32
  } {my.a}
  affine.parallel (%i) = (max(0, %n)) to (min(%n, 10)) { affine.yield }
  affine.prefetch %A[%n], read, locality<3>, data {my.a} : memref<?xf32>
  return %r : f32
}
// -----
func.func @f(%n: index, %A: memref<?xf32>) {
  scf.parallel (%i, %j) = (%n, %n) to (%n, %n) step (%n, %n) { scf.reduce } {my.a}
  %c = arith.constant 0.0 : f32
  %r = scf.parallel (%i) = (%n) to (%n) step (%n) init (%c) -> f32 {
    %x = memref.load %A[%i] {nontemporal = true} : memref<?xf32>
    scf.reduce(%x : f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  scf.forall (%i) in (4) { "test.x"(%i) : (index) -> () } {mapping = [#gpu.thread<x>]}
  scf.forall (%i) = (0) to (%n) step (2) { } 
  %w:2 = scf.while (%x = %n, %y = %c) : (index, f32) -> (index, f32) {
    %t = arith.constant true
    scf.condition(%t) {my.a} %x, %y : index, f32
  } do {
  ^bb0(%x: index, %y: f32):
    scf.yield %x, %y : index, f32
  } attributes {my.b}
  return
}
// -----
func.func private @g(i32 {my.a}, f32 loc("a.c":1:1)) -> (i32 {my.b}, f32)
func.func private @"a name"(tensor<4x?xf32, #my.enc>, memref<*xf32>, complex<f32>, tuple<i32, f32>, none, !my.type<a, b>, (i32) -> f32, f8E4M3FN, bf16, tf32, f80)
func.func @caller(%x: i32) { call @"a name2"() {my.a} : () -> ()
 %f = func.constant @g2 : () -> ()
 func.call_indirect %f() {my.x} : () -> ()
 return }
func.func private @"a name2"()
func.func private @g2()
// -----
"func.func"() <{arg_attrs = [{my.a}, {}], function_type = (i32, f32) -> i32, res_attrs = [{my.b}], sym_name = "f"}> ({
^bb0(%x: i32, %y: f32):
  "func.return"(%x) {my.z} : (i32) -> ()
}) {my.c} : () -> ()
"func.func"() ({
^bb0(%x: i32 loc("a":1:1)):
  "func.return"() : () -> ()
}) {function_type = (i32) -> (), sym_name = "g", sym_visibility = "nested"} : () -> ()
// -----
func.func @f(%x: memref<8xf32>, %i: index, %v: f32, %y: memref<8xi32>, %w: i32) {
  %0 = memref.atomic_rmw addf %v, %x[%i] {my.a} : (f32, memref<8xf32>) -> f32
  %1 = memref.generic_atomic_rmw %x[%i] : memref<8xf32> { ^bb0(%c: f32): memref.atomic_yield %c : f32 }
  memref.prefetch %x[%i], write, locality<0>, instr : memref<8xf32>
  %5 = memref.assume_alignment %x, 16 : memref<8xf32>
  %2 = memref.expand_shape %x [[0, 1]] output_shape [2, 4] : memref<8xf32> into memref<2x4xf32>
  %3 = memref.collapse_shape %2 [[0, 1]] {my.a} : memref<2x4xf32> into memref<8xf32>
  %4 = memref.transpose %2 (i, j) -> (j, i) : memref<2x4xf32> to memref<4x2xf32, strided<[1, 4]>>
  memref.copy %x, %x {my.a} : memref<8xf32> to memref<8xf32>
  %6 = memref.extract_aligned_pointer_as_index %x : memref<8xf32> -> index
  %7 = memref.memory_space_cast %x : memref<8xf32> to memref<8xf32, 1>
  %b, %o, %s, %t = memref.extract_strided_metadata %x : memref<8xf32> -> memref<f32>, index, index, index
  memref.alloca_scope { memref.alloca_scope.return }
  %9 = memref.realloc %x : memref<8xf32> to memref<16xf32>
  return
}
// -----
func.func @f(%a: tensor<4xf32>, %i: index) {
  %0 = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  %1 = arith.constant dense<> : tensor<0xf32>
  %2 = arith.constant sparse<[[0, 0], [1, 2]], [1, 5]> : tensor<3x4xi32>
  %3 = arith.constant dense_resource<r> : tensor<2xf32>
  %4 = arith.constant 1.0e+3 : bf16
  %5 = arith.constant -0.0 : f64
  %6 = arith.constant -1 : index
  %7 = arith.constant 4294967295 : i32
  %8 = arith.constant dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>
  return
}
// -----
func.func @f(%n: index, %m: index) -> index {
  %0 = affine.min affine_map<(d0)[s0] -> (d0, s0 + 1)>(%n)[%m] {my.a}
  %1 = affine.max affine_map<(d0) -> (d0 mod 4, d0 floordiv 2, d0 ceildiv 3, -d0)>(%n)
  %2 = affine.apply affine_map<(d0, d1)[s0] -> (d0 * s0 + d1)>(%n, %m)[%n]
  %3 = affine.apply affine_map<() -> (42)>()
  %r = affine.if affine_set<(d0) : (d0 >= 0)>(%n) -> index { affine.yield %n : index } else { affine.yield %m : index }
  %l = affine.linearize_index disjoint [%n, %m] by (4, %m) : index
  affine.for %i = -5 to 5 { }
  return %r : index
}
// -----
func.func @f(%n: index, %A: memref<8xf32>, %c: i1, %x: f32) -> f32 {
  %r = scf.if %c -> f32 { scf.yield %x : f32 } else { scf.yield %x : f32 } {my.a}
  scf.if %c { } else { }
  %0, %1 = scf.for %i = %n to %n step %n iter_args(%a = %x, %b = %n) -> (f32, index) { scf.yield %a, %b : f32, index } {my.a}
  scf.for unsigned %i = %n to %n step %n { }
  return %r : f32
}
// -----
module {
  func.func @f(%arg0: f32 {tf.x = @f}) attributes {llvm.emit_c_interface, passthrough = ["a", ["b", "c"]], my.m = affine_map<(d0) -> (d0)>, my.t = f32, my.d = dense<1> : tensor<2xi32>, my.a = array<i32: 1, 2>, my.s = affine_set<(d0) : (d0 >= 0)>, my.l = loc("x":1:1), my.u = unit, my.di = {a = 1 : i8, "b c" = 2.5}, my.str = "a\22\n", my.i = -3 : si8, my.h = 0x1F : i8, my.o = #my.attr<x<y>>, my.st = strided<[1, ?], offset: 2>, my.arr = [], my.b = true} { return }
}
{-#
  dialect_resources: { builtin: { r: "0x04000000010000" } }
#-}
// -----
func.func @f(%x: vector<4x4xf32>, %v: vector<4xf32>, %m: memref<4x4xf32>, %i: index, %k: vector<4xi1>, %iv: vector<4xi32>) {
  %0 = vector.outerproduct %v, %v {kind = #vector.kind<add>} : vector<4xf32>, vector<4xf32>
  %1 = vector.outerproduct %v, %v, %x {kind = #vector.kind<maxnumf>} : vector<4xf32>, vector<4xf32>
  %2 = vector.multi_reduction <add>, %x, %v [1] : vector<4x4xf32> to vector<4xf32>
  %3 = vector.transpose %x, [1, 0] {my.a} : vector<4x4xf32> to vector<4x4xf32>
  %4 = vector.insert_strided_slice %v, %x {offsets = [0, 0], strides = [1], my.a} : vector<4xf32> into vector<4x4xf32>
  %5 = vector.extract_strided_slice %x {offsets = [0], sizes = [2], strides = [1]} : vector<4x4xf32> to vector<2x4xf32>
  %6 = vector.shape_cast %x {my.a} : vector<4x4xf32> to vector<16xf32>
  %7 = vector.gather %m[%i, %i] [%iv], %k, %v {my.a} : memref<4x4xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  vector.scatter %m[%i, %i] [%iv], %k, %v {alignment = 8} : memref<4x4xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32>
  %8 = vector.maskedload %m[%i, %i], %k, %v : memref<4x4xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  %9:2 = vector.scan <add>, %x, %v {inclusive = true, reduction_dim = 1 : i64} : vector<4x4xf32>, vector<4xf32>
  %10 = vector.fma %v, %v, %v {my.a} : vector<4xf32>
  %11:4 = vector.to_elements %v : vector<4xf32>
  %12 = vector.from_elements %11#0, %11#1 {my.a} : vector<2xf32>
  %13, %14 = vector.deinterleave %v : vector<4xf32> -> vector<2xf32>
  %15 = vector.interleave %v, %v : vector<4xf32> -> vector<8xf32>
  %16 = vector.bitcast %v {my.a} : vector<4xf32> to vector<4xi32>
  %17 = vector.insert %v, %x[%i] {my.a} : vector<4xf32> into vector<4x4xf32>
  %18 = vector.type_cast %m : memref<4x4xf32> to memref<vector<4x4xf32>>
  %19 = vector.transfer_read %m[%i, %i], %11#0 {permutation_map = affine_map<(d0, d1) -> (d1, d0)>, in_bounds = [false, true]} : memref<4x4xf32>, vector<4x4xf32>
  %20 = vector.vscale
  return
}
// -----
#map = affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>
#set = affine_set<(d0) : (d0 >= 0)>
#attr = {a = #map, b = [#set]}
!f = (i32) -> i32
func.func @f(%i: index, %m: memref<8x8xf32, #map>) attributes {my.a = #attr, my.f = !f} {
  return
}
func.func @g(%m: memref<8x8xf32, affine_map<(d0, d1) -> (d1, d0)>, 2>, %n: memref<8xvector<4xf32>>, %o: memref<memref<4xf32>>, %p: memref<f32>, %q: vector<f32>, %r: memref<?xmemref<?xf32>, 1>, %s: memref<4xindex>, %t: memref<4xcomplex<f32>>) { return }
// -----
func.func @f(%A: memref<?x?xf32>, %n: index) attributes {} {
  affine.for %i = 0 to 10 step 3 { affine.yield } {}
  affine.for %arg0 = max affine_map<()[s0] -> (0, s0)>()[%n] to 100 { }
  affine.for %i = 0 to affine_map<(d0) -> (d0 floordiv 2)>(%n) { }
  affine.for %i = %n to 7 { }
  %v = affine.load %A[symbol(%n) + 1, %n * 2 - 1] : memref<?x?xf32>
  %w = affine.load %A[%n mod 3, (%n + 4) ceildiv 2] : memref<?x?xf32>
  affine.store %v, %A[-%n + 5, 0] {my.a} : memref<?x?xf32>
  affine.if affine_set<()[s0] : (s0 mod 2 == 0, -s0 + 5 >= 0)>()[%n] { } else { }
  return
}
// -----
"builtin.module"() ({
  func.func @f(%a: i32) -> (i32, i32) {
    %0:2 = "test.two"(%a) {x = 1 : i32, y} : (i32) -> (i32, i32)
    %1 = "arith.addi"(%0#0, %0#1) <{overflowFlags = #arith.overflow<nsw>}> : (i32, i32) -> i32
    %2 = "arith.constant"() <{value = 5 : i32}> {my.a} : () -> i32
    "test.region"() ({ "test.end"() : () -> () }, { ^bb0(%x: i32): "test.end"(%x) : (i32) -> () }) : () -> ()
    return %1, %2 : i32, i32
  }
}) {my.attr = "m"} : () -> ()
// -----
func.func @f(%x: i32, %y: vector<2x[4]xf32>, %z: vector<[8]xi1>, %i: index) -> (() -> ()) {
  %c-1 = arith.constant -1 : i32
  %a.b$c = arith.addi %x, %c-1 : i32
  %0 = arith.index_cast %x : i32 to index
  %1 = arith.index_castui %0 : index to i64
  %3 = arith.minsi %x, %x : i32
  %4 = math.sqrt %y fastmath<reassoc, nnan> : vector<2x[4]xf32>
  %5 = math.fma %y, %y, %y : vector<2x[4]xf32>
  %6 = arith.negf %y fastmath<fast> : vector<2x[4]xf32>
  %f = func.constant @g : () -> ()
  return %f : () -> ()
}
func.func private @g()
// -----
func.func @f(%x: i32) { 
  %0 = scf.while (%a = %x) : (i32) -> i32 {
    %t = arith.constant true
    scf.condition(%t) %a : i32
  } do {
  ^bb0(%b: i32 loc("x":1:1)):
    scf.yield %b : i32
  }
  return
}
// -----
func.func @f(%m: memref<4x4xf32>, %i: index) -> vector<4xf32> {
  %c = arith.constant 0.0 : f32
  %v = vector.transfer_read %m[%i, %i], %c {permutation_map = affine_map<(d0, d1) -> (0)>} : memref<4x4xf32>, vector<4xf32>
  return %v : vector<4xf32>
}
// -----
func.func @f() { "func.return"() : () -> () }
func.func @g() -> () { func.return }
func.func @h() -> (f32) { %c = arith.constant 1. : f32
 return %c : f32 }
// -----
func.func @f(%m: memref<2x3xf32, strided<[3, 1], offset: 0>>, %n: memref<2xf32, affine_map<(d0) -> (d0 * 2)>>, %o: memref<2x?xf32, affine_map<(d0, d1) -> (d1, d0)>, "shared">) { return }
// -----
func.func @f(%n: index) {
  %0 = memref.alloc(%n) : memref<?xf32>
  %1 = memref.alloca() : memref<4xf32, 3>
  memref.dealloc %0 : memref<?xf32>
  return
}
// -----
/// a comment
#map = affine_map<(d0) -> (d0)> // trailing
func.func @f(%i: index) { affine.for %j = #map(%i) to #map(%i) { } return }
#map1 = affine_map<(d0) -> (d0 + 1)>
func.func @g(%i: index) { affine.for %j = #map(%i) to #map1(%i) { } return }
// -----
func.func @f(%a: tensor<*xf32>, %b: vector<1x1xf32>, %c: memref<0xf32>, %d: tuple<>, %e: complex<f64>, %g: memref<?x?x?xi1>) { return }
// -----
func.func @f(%i: index, %A: memref<8xf32>) {
  %v = affine.vector_load %A[%i + 1] {my.a} : memref<8xf32>, vector<4xf32>
  affine.vector_store %v, %A[%i] : memref<8xf32>, vector<4xf32>
  affine.for %j = 0 to 4 { }
  return
}
// -----
func.func @f(%A: memref<100xf32>, %B: memref<100xf32, 1>, %t: memref<1xi32>, %n: index) {
  affine.dma_start %A[%n], %B[%n + 1], %t[0], %n : memref<100xf32>, memref<100xf32, 1>, memref<1xi32>
  affine.dma_wait %t[0], %n : memref<1xi32>
  return
}
// -----
func.func @f(%x: i64, %y: index) {
  scf.for %i = %x to %x step %x : i64 { }
  scf.parallel (%i) = (%y) to (%y) step (%y) { }
  scf.execute_region { cf.br ^bb1
  ^bb1: scf.yield }
  %c = scf.index_switch %y -> i64 
  case 1 { scf.yield %x : i64 }
  case -1 { scf.yield %x : i64 }
  default { scf.yield %x : i64 }
  scf.index_switch %y default { scf.yield }
  return
}
// -----
func.func @f(%c: i1, %a: i32) {
  cf.assert %c, "message"
  cf.switch %a : i32, [default: ^bb1, 1: ^bb2]
^bb1: return
^bb2: return
}
// -----
func.func @f(%x: memref<?xf32>) {
  %0 = bufferization.to_tensor %x : memref<?xf32> to tensor<?xf32>
  %c = arith.constant 0 : index
  %1 = "memref.dim"(%x, %c) : (memref<?xf32>, index) -> index
  return
}
