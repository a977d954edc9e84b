// ----- a part that begins outside (n = 4)
%s = memref.subview %A[%n, 0] [1, 1] [1, 1] : memref<4x4xf32> to memref<1x1xf32, strided<[4, 1], offset: ?>>
// REFUSED: the part of %A from 4 to 4 along dimension 0 is out of bounds: its sizes are (4, 4)
// ----- a part that ends outside (n = 4)
%s = memref.subview %A[0, 0] [2, 2] [%n, 1] : memref<4x4xf32> to memref<2x2xf32, strided<[?, 1]>>
// REFUSED: the part of %A from 0 to 4 along dimension 0 is out of bounds
// ----- a part of negative size (n = -1)
%s = memref.subview %A[0, 0] [%n, 2] [1, 1] : memref<4x4xf32> to memref<?x2xf32, strided<[4, 1]>>
// REFUSED: %s would have the negative size -1 along dimension 0
// ----- more elements than there are (n = 1)
%s = memref.reinterpret_cast %A to offset: [%n], sizes: [2, 8], strides: [8, 1] : memref<4x4xf32> to memref<2x8xf32, strided<[8, 1], offset: ?>>
// REFUSED: %s would reach from element 1 to 16, but the buffer of %A has the elements 0 to 15
// ----- sizes that do not multiply (n = 3)
%d = memref.cast %A : memref<4x4xf32> to memref<?x?xf32>
%s = memref.expand_shape %d [[0, 1], [2]] output_shape [2, %n, 4] : memref<?x?xf32> into memref<2x?x?xf32>
// REFUSED: dimension 0 of %d has size 4, which is not the product of (2, 3)
// ----- dimensions that are not contiguous (n = 3)
%d = memref.subview %A[0, 0] [4, %n] [1, 1] : memref<4x4xf32> to memref<4x?xf32, strided<[4, 1]>>
%e = memref.cast %d : memref<4x?xf32, strided<[4, 1]>> to memref<?x?xf32, strided<[?, ?], offset: ?>>
%s = memref.collapse_shape %e [[0, 1]] : memref<?x?xf32, strided<[?, ?], offset: ?>> into memref<?xf32, strided<[?], offset: ?>>
// REFUSED: the dimensions 0, 1 of %e are not contiguous, and cannot become one
// ----- bytes that are not there (n = 4)
%b = memref.alloc() : memref<16xi8>
%s = memref.view %b[%n][] : memref<16xi8> to memref<4xf32>
// REFUSED: %s of sizes (4) does not fit into %b from byte 4 on: it has 16 bytes
// ----- a number across (n = 2)
%b = memref.alloc() : memref<32xi8>
%s = memref.view %b[%n][] : memref<32xi8> to memref<4xf32>
// REFUSED: %s would begin at byte 2, which is no multiple of the 4 bytes of an element
// ----- bytes in which nothing was stored (n = 0)
%b = memref.alloc() : memref<16xi8>
%c0 = arith.constant 0 : index
%z = arith.constant 1 : i8
memref.store %z, %b[%c0] : memref<16xi8>
%s = memref.view %b[%c0][] : memref<16xi8> to memref<4xf32>
%x = memref.load %s[%c0] : memref<4xf32>
// REFUSED: %s[0] is read before anything was stored there
// ----- elements of another number (n = 15)
%sh = memref.alloc() : memref<1xindex>
%c0 = arith.constant 0 : index
memref.store %n, %sh[%c0] : memref<1xindex>
%s = memref.reshape %A(%sh) : (memref<4x4xf32>, memref<1xindex>) -> memref<?xf32>
// REFUSED: %A has 16 elements, which no buffer of sizes (15) has
// ----- a view of what is gone (n = 0)
%b = memref.alloc() : memref<4xf32>
%s = memref.subview %b[1] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>
memref.dealloc %b : memref<4xf32>
%c0 = arith.constant 0 : index
%x = memref.load %s[%c0] : memref<2xf32, strided<[1], offset: 1>>
// REFUSED: %s must not be used any more: it was deallocated
// ----- a view that is given back (n = 0)
%b = memref.alloc() : memref<4xf32>
%s = memref.subview %b[1] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>
memref.dealloc %s : memref<2xf32, strided<[1], offset: 1>>
// REFUSED: %s is a view, and only what memref.alloc gives is given back
// ----- an element of a part that was not stored (n = 0)
%b = memref.alloc() : memref<4xf32>
%c0 = arith.constant 0 : index
%z = arith.constant 1.0 : f32
memref.store %z, %b[%c0] : memref<4xf32>
%s = memref.subview %b[1] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>
%x = memref.load %s[%c0] : memref<2xf32, strided<[1], offset: 1>>
// REFUSED: %s[0] is read before anything was stored there
// ----- parts that overlap, copied (n = 0)
%s = memref.subview %A[0, 0] [2, 4] [1, 1] : memref<4x4xf32> to memref<2x4xf32, strided<[4, 1]>>
%t = memref.subview %A[1, 0] [2, 4] [1, 1] : memref<4x4xf32> to memref<2x4xf32, strided<[4, 1], offset: 4>>
memref.copy %s, %t : memref<2x4xf32, strided<[4, 1]>> to memref<2x4xf32, strided<[4, 1], offset: 4>>
// REFUSED: %s and %t overlap in memory
// ----- a constant that is written (n = 0)
%g = memref.get_global @g : memref<2xf32>
%c0 = arith.constant 0 : index
%z = arith.constant 1.0 : f32
memref.store %z, %g[%c0] : memref<2xf32>
// REFUSED: %g is written, but is a constant
// ----- an element that was left open (n = 0)
%g = memref.get_global @open : memref<2xf32>
%c0 = arith.constant 0 : index
%x = memref.load %g[%c0] : memref<2xf32>
// REFUSED: %g[0] is read before anything was stored there
// ----- a buffer from elsewhere (n = 0)
%g = memref.get_global @elsewhere : memref<2xf32>
// REFUSED: the global buffer @elsewhere is defined elsewhere
// ----- a basis that is not positive (n = 0)
%a:2 = affine.delinearize_index %n into (4, %n) : index, index
// REFUSED: the numbers of the basis must be positive, but are 4, 0
// ----- an operation that is not known (n = 0)
"test.do"(%n) : (index) -> ()
// REFUSED: test.do: the interpreter does not know what this operation does
// ----- digits that are none (n = 4)
%a = affine.linearize_index disjoint [%n, %n] by (9, 4) : index
// REFUSED: says disjoint, but 4 is not at least 0 and below 4
// ----- a number beyond 64 bits (n = 4)
%c = arith.constant 9223372036854775807 : index
%a = affine.linearize_index [%c, %n] by (9, 4) : index
// REFUSED: %a = 36893488147419103232 does not fit into 64 bits
