func.func @cast_load(%A: memref<4xf32>, %i: index, %x: f32) -> f32 {
  %c = memref.cast %A : memref<4xf32> to memref<?xf32>
  %v = memref.load %c[%i] : memref<?xf32>
  memref.store %x, %c[%i] : memref<?xf32>
  %w = affine.load %c[0] : memref<?xf32>
  affine.store %w, %c[1] : memref<?xf32>
  memref.prefetch %c[%i], read, locality<3>, data : memref<?xf32>
  affine.prefetch %c[0], read, locality<3>, data : memref<?xf32>
  %r = memref.atomic_rmw addf %x, %c[%i] : (f32, memref<?xf32>) -> f32
  memref.copy %c, %c : memref<?xf32> to memref<?xf32>
  memref.dealloc %c : memref<?xf32>
  return %v : f32
}

// -----

func.func @dim(%A: memref<4x?xf32>, %i: index, %n: index) -> (index, index, index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d0 = memref.dim %A, %c0 : memref<4x?xf32>
  %d1 = memref.dim %A, %c1 : memref<4x?xf32>
  %al = memref.alloc(%n) : memref<?x3xf32>
  %d2 = memref.dim %al, %c0 : memref<?x3xf32>
  %d3 = memref.dim %al, %c1 : memref<?x3xf32>
  %cc = memref.cast %A : memref<4x?xf32> to memref<?x?xf32>
  %d4 = memref.dim %cc, %c1 : memref<?x?xf32>
  return %d0, %d1, %d2, %d3, %d4 : index, index, index, index, index
}

// -----

func.func @alloc(%x: f32, %i: index) -> memref<?x?xf32> {
  %c4 = arith.constant 4 : index
  %n = arith.constant -3 : index
  %a = memref.alloc(%c4, %i) : memref<?x?xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  memref.store %x, %b[%i] : memref<?xf32>
  %z = memref.alloc() : memref<4xf32>
  memref.dealloc %z : memref<4xf32>
  %z2 = memref.alloc() : memref<4xf32>
  memref.store %x, %z2[%i] : memref<4xf32>
  memref.dealloc %z2 : memref<4xf32>
  %z3 = memref.alloca() : memref<4xf32>
  affine.store %x, %z3[%i] : memref<4xf32>
  %z4 = memref.alloca(%c4) : memref<?xf32>
  %v = memref.load %z4[%i] : memref<?xf32>
  memref.store %v, %a[%i, %i] : memref<?x?xf32>
  return %a : memref<?x?xf32>
}

// -----

func.func @subview(%A: memref<8x16xf32>, %i: index) -> (memref<?x?xf32, strided<[?, ?], offset: ?>>, memref<8x16xf32, strided<[16,1]>>, memref<8x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %s = memref.subview %A[%c0, %i] [%c4, %c4] [%c1, %c1] : memref<8x16xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  %t = memref.subview %A[0, 0] [8, 16] [1, 1] : memref<8x16xf32> to memref<8x16xf32, strided<[16, 1]>>
  %u = memref.subview %A[0, 0] [8, 16] [1, 1] : memref<8x16xf32> to memref<8x16xf32>
  return %s, %t, %u : memref<?x?xf32, strided<[?, ?], offset: ?>>, memref<8x16xf32, strided<[16,1]>>, memref<8x16xf32>
}

// -----

func.func @casts(%A: memref<8x16xf32>, %B: memref<?x?xf32>) -> (memref<8x16xf32>, memref<?x16xf32>, memref<*xf32>, memref<?x?xf32>) {
  %s = memref.cast %A : memref<8x16xf32> to memref<?x?xf32>
  %t = memref.cast %s : memref<?x?xf32> to memref<8x16xf32>
  %u = memref.cast %s : memref<?x?xf32> to memref<?x16xf32>
  %q = memref.cast %u : memref<?x16xf32> to memref<*xf32>
  %w = memref.cast %B : memref<?x?xf32> to memref<4x?xf32>
  %w2 = memref.cast %w : memref<4x?xf32> to memref<?x?xf32>
  return %t, %u, %q, %w2: memref<8x16xf32>, memref<?x16xf32>, memref<*xf32>, memref<?x?xf32>
}

// -----

func.func @copies(%A: memref<8x16xf32>, %B: memref<8x16xf32>, %C: memref<0x4xf32>, %D: memref<0x4xf32>) {
  %s = memref.cast %A : memref<8x16xf32> to memref<?x?xf32>
  memref.copy %s, %B : memref<?x?xf32> to memref<8x16xf32>
  memref.copy %A, %A : memref<8x16xf32> to memref<8x16xf32>
  memref.copy %C, %D : memref<0x4xf32> to memref<0x4xf32>
  return
}

// -----

func.func @shapes(%A: memref<8x16xf32>) -> (memref<128xf32>, memref<8x16xf32>, index) {
  %s = memref.collapse_shape %A [[0, 1]] : memref<8x16xf32> into memref<128xf32>
  %e = memref.expand_shape %s [[0, 1]] output_shape [8, 16] : memref<128xf32> into memref<8x16xf32>
  %c0 = arith.constant 0 : index
  %d = memref.dim %e, %c0 : memref<8x16xf32>
  return %s, %e, %d : memref<128xf32>, memref<8x16xf32>, index
}

// -----

memref.global "private" constant @g : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
memref.global "private" constant @h : memref<4xf32> = dense<2.5>
memref.global "private" @v : memref<4xf32> = dense<2.5>
func.func @globals(%i: index) -> (f32, f32, f32, f32, f32, f32) {
  %c1 = arith.constant 1 : index
  %g = memref.get_global @g : memref<4xf32>
  %h = memref.get_global @h : memref<4xf32>
  %v = memref.get_global @v : memref<4xf32>
  %0 = affine.load %g[1] : memref<4xf32>
  %1 = affine.load %h[%i] : memref<4xf32>
  %2 = affine.load %v[1] : memref<4xf32>
  %3 = memref.load %g[%c1] : memref<4xf32>
  %4 = memref.load %h[%i] : memref<4xf32>
  %5 = affine.load %g[%i] : memref<4xf32>
  return %0, %1, %2, %3, %4, %5 : f32, f32, f32, f32, f32, f32
}

// -----

func.func @view(%A: memref<2048xi8>, %n: index) -> (memref<?x4xf32>, index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %v = memref.view %A[%c16][%c16] : memref<2048xi8> to memref<?x4xf32>
  %d = memref.dim %v, %c0 : memref<?x4xf32>
  %r = memref.rank %v : memref<?x4xf32>
  %s = arith.addi %r, %d : index
  return %v, %s : memref<?x4xf32>, index
}

// -----

func.func @rc(%A: memref<?x?xf32>, %n: index) -> (memref<4x?xf32, strided<[?, 1], offset: ?>>, index, index, index) {
  %c4 = arith.constant 4 : index
  %v = memref.reinterpret_cast %A to offset: [%n], sizes: [4, %c4], strides: [%c4, 1] : memref<?x?xf32> to memref<4x?xf32, strided<[?, 1], offset: ?>>
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %A : memref<?x?xf32> -> memref<f32>, index, index, index, index, index
  return %v, %offset, %sizes#0, %strides#1 : memref<4x?xf32, strided<[?, 1], offset: ?>>, index, index, index
}

// -----

func.func @dead(%A: memref<?x?xf32>, %n: index, %x: f32) {
  %0 = memref.load %A[%n, %n] : memref<?x?xf32>
  %1 = affine.load %A[%n, 0] : memref<?x?xf32>
  affine.for %i = 0 to %n { %2 = affine.load %A[%n, 0] : memref<?x?xf32> }
  affine.parallel (%i) = (0) to (10) { %2 = affine.load %A[%n, 0] : memref<?x?xf32> }
  scf.for %i = %n to %n step %n { %2 = affine.load %A[%n, 0] : memref<?x?xf32> }
  %b = arith.cmpf ogt, %x, %x : f32
  scf.if %b { %2 = affine.load %A[%n, 0] : memref<?x?xf32> }
  affine.if affine_set<(d0) : (d0 >= 0)>(%n) { %2 = affine.load %A[%n, 0] : memref<?x?xf32> } else { %3 = memref.alloc() : memref<4xf32> }
  return
}
