memref.global "private" constant @g : memref<2x2xf32> = dense<[[1.0,2.0],[3.0,4.0]]> {alignment = 64 : i64}
memref.global "private" @u : memref<2xf32> = uninitialized
memref.global @e : memref<2xi32>
memref.global constant @s : memref<2xi32> = dense<7>
func.func @a(%A: memref<8x16xf32>, %n: index, %B: memref<?x?xf32, strided<[?,1],offset:?>>, %U: memref<*xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %s = memref.subview %A[%n, 2][4, %n][1, 2] : memref<8x16xf32> to memref<4x?xf32, strided<[16, 2], offset: ?>>
  %s2 = memref.subview %A[0, 2][1, 4][1, 1] : memref<8x16xf32> to memref<4xf32, strided<[1], offset: 2>>
  %r = memref.reinterpret_cast %A to offset: [%n], sizes: [4, %n], strides: [%n, 1] : memref<8x16xf32> to memref<4x?xf32, strided<[?, 1], offset: ?>>
  %e = memref.expand_shape %A [[0, 1], [2, 3]] output_shape [2, 4, 4, 4] : memref<8x16xf32> into memref<2x4x4x4xf32>
  %cs = memref.collapse_shape %A [[0, 1]] : memref<8x16xf32> into memref<128xf32>
  %g = memref.get_global @g : memref<2x2xf32>
  %b8 = memref.alloc() : memref<64xi8>
  %v = memref.view %b8[%c0][%n] : memref<64xi8> to memref<?x2xf32>
  %sh = memref.alloc() : memref<2xindex>
  %rs = memref.reshape %A(%sh) : (memref<8x16xf32>, memref<2xindex>) -> memref<?x?xf32>
  %rs1 = memref.reshape %A(%sh) : (memref<8x16xf32>, memref<2xindex>) -> memref<*xf32>
  %un = memref.cast %A : memref<8x16xf32> to memref<*xf32>
  %ra = memref.cast %un : memref<*xf32> to memref<?x?xf32>
  %d = memref.dim %U, %c0 : memref<*xf32>
  %rk = memref.rank %U : memref<*xf32>
  memref.prefetch %A[%c0, %n], write, locality<1>, instr : memref<8x16xf32>
  %base, %off, %sz:2, %st:2 = memref.extract_strided_metadata %B : memref<?x?xf32, strided<[?,1],offset:?>> -> memref<f32>, index, index, index, index, index
  %f = arith.constant 1.0 : f32
  %at = memref.atomic_rmw addf %f, %A[%c0, %c0] : (f32, memref<8x16xf32>) -> f32
  %al = memref.alloc(%n)[%n] {alignment = 8 : i64} : memref<?xf32, affine_map<(d0)[s0] -> (d0 + s0)>>
  %tag = memref.alloc() : memref<1xi32>
  memref.dma_start %A[%c0, %c0], %A[%c0, %n], %n, %tag[%c0], %n, %n : memref<8x16xf32>, memref<8x16xf32>, memref<1xi32>
  memref.dma_wait %tag[%c0], %n : memref<1xi32>
  affine.prefetch %A[%n, %c0 + 3], read, locality<3>, data : memref<8x16xf32>
  affine.dma_start %A[%n, %c0], %A[%c0, %n], %tag[%c0], %n, %n, %n : memref<8x16xf32>, memref<8x16xf32>, memref<1xi32>
  affine.dma_wait %tag[%c0], %n : memref<1xi32>
  %vl = affine.vector_load %A[%n, %c0] : memref<8x16xf32>, vector<4xf32>
  affine.vector_store %vl, %A[%n, %c0] : memref<8x16xf32>, vector<4xf32>
  %q:2 = affine.delinearize_index %n into (%n, 4) : index, index
  %q3:3 = affine.delinearize_index %n into (%n, 4) : index, index, index
  %l = affine.linearize_index disjoint [%n, %c0] by (%n, 3) : index
  %w:2 = scf.while (%x = %n, %y = %f) : (index, f32) -> (f32, i1) {
     scf.condition(%c) %y, %c : f32, i1
  } do {
   ^bb0(%z: f32, %zz: i1):
     scf.yield %n, %z : index, f32
  }
  %p:2 = scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%n, %n) init (%f, %n) -> (f32, index) {
    scf.reduce(%f, %n : f32, index) {
      ^bb0(%lhs: f32, %rhs: f32):
        %sum = arith.addf %lhs, %rhs : f32
        scf.reduce.return %sum : f32
    }, {
      ^bb0(%lhs: index, %rhs: index):
        %sum = arith.addi %lhs, %rhs : index
        scf.reduce.return %sum : index
    }
  }
  scf.parallel (%i) = (%c0) to (%n) step (%n) {
  }
  %is = scf.index_switch %n -> f32
  case 2 { scf.yield %f : f32 }
  default { scf.yield %f : f32 }
  %ex = scf.execute_region -> f32 { scf.yield %f : f32 }
  %po = ub.poison : f32
  return
}
// -----
func.func @f(%n: index, %f: f32, %A: memref<8x16xf32>, %c: i1) {
  %is:2 = scf.index_switch %n {x = 1} -> f32, index
  case 2 { scf.yield %f, %n : f32, index }
  case -3 { scf.yield %f, %n : f32, index }
  default { scf.yield %f, %n : f32, index }
  %ex:2 = scf.execute_region -> (f32, index) no_inline { scf.yield %f, %n : f32, index } {y = 2}
  scf.execute_region { scf.yield } {y = 2}
  scf.index_switch %n
  default { scf.yield }
  scf.while : () -> () { scf.condition(%c) } do { scf.yield } attributes {z = 1}
  %w = scf.while (%q = %f) : (f32) -> f32 { scf.condition(%c) %q : f32 } do { ^bb0(%r: f32): scf.yield %r : f32 }
  scf.while (%q = %f) : (f32) -> () { scf.condition(%c) {u = 3} } do { scf.yield %f : f32 }
  %p = scf.parallel (%i) = (%n) to (%n) step (%n) init (%f) -> f32 {
    scf.reduce(%f : f32) {
      ^bb0(%lhs: f32, %rhs: f32):
        scf.reduce.return %rhs : f32
    } {k = 5}
  } {b = 1}
  %s = memref.subview %A[0, 2][1, 4][1, 1] {p = 1} : memref<8x16xf32> to memref<4xf32, strided<[1], offset: 2>>
  %r = memref.reinterpret_cast %A to offset: [%n], sizes: [], strides: [] {p = 1} : memref<8x16xf32> to memref<f32, strided<[], offset: ?>>
  %e = memref.expand_shape %A [[0, 1], [2, 3]] output_shape [2, 4, 4, 4] {p = 1} : memref<8x16xf32> into memref<2x4x4x4xf32>
  %cs = memref.collapse_shape %A [[0, 1]] {p = 1} : memref<8x16xf32> into memref<128xf32>
  %al = memref.alloc() {alignment = 8 : i64, p = 1} : memref<64xi8>
  %v = memref.view %al[%n][] {p = 1} : memref<64xi8> to memref<2xf32>
  %sh = memref.alloc() : memref<2xindex>
  %rs = memref.reshape %A(%sh) {p = 1} : (memref<8x16xf32>, memref<2xindex>) -> memref<?x?xf32>
  %un = memref.cast %A : memref<8x16xf32> to memref<*xf32>
  %rk = memref.rank %un {p = 1} : memref<*xf32>
  memref.prefetch %A[%n, %n], write, locality<1>, instr : memref<8x16xf32>
  affine.prefetch %A[%n, %n], write, locality<1>, instr {p = 1} : memref<8x16xf32>
  %base, %off, %sz:2, %st:2 = memref.extract_strided_metadata %A : memref<8x16xf32> -> memref<f32>, index, index, index, index, index
  %at = memref.atomic_rmw addf %f, %A[%n, %n] {p = 1} : (f32, memref<8x16xf32>) -> f32
  %tag = memref.alloc() : memref<1xi32>
  memref.dma_start %A[%n, %n], %A[%n, %n], %n, %tag[%n] : memref<8x16xf32>, memref<8x16xf32>, memref<1xi32>
  memref.dma_wait %tag[%n], %n {p = 1} : memref<1xi32>
  affine.dma_start %A[%n, %n], %A[%n, %n], %tag[%n], %n : memref<8x16xf32>, memref<8x16xf32>, memref<1xi32>
  affine.dma_wait %tag[%n], %n : memref<1xi32>
  %vl = affine.vector_load %A[%n, %n] {p = 1} : memref<8x16xf32>, vector<4xf32>
  affine.vector_store %vl, %A[%n, %n] {p = 1} : memref<8x16xf32>, vector<4xf32>
  %q:2 = affine.delinearize_index %n into (%n, 4) {p = 1} : index, index
  %l = affine.linearize_index disjoint [%n, %n] by (%n, 3) {p = 1} : index
  %po = ub.poison {p = 1} : f32
  %zz = memref.collapse_shape %r [] : memref<f32, strided<[], offset: ?>> into memref<f32, strided<[], offset: ?>>
  %g = memref.get_global @g : memref<2xf32>
  return
}
memref.global "nested" constant @g : memref<2xf32> = dense<1.0> {p = 1}
memref.global @gg : memref<0x2xf32> = dense<> {p = 1}
