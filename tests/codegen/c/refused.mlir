// ----- a view that is returned
func.func @f(%n: index) -> memref<4xf32, strided<[1], offset: 2>> {
  %a = memref.alloc() : memref<8xf32>
  %s = memref.subview %a[2] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 2>>
  return %s : memref<4xf32, strided<[1], offset: 2>>
}
// REFUSED: is a view of another array: return that, or copy it into a new array
// ----- a buffer from elsewhere
memref.global @g : memref<4xf32>
func.func @f() -> f32 {
  %g = memref.get_global @g : memref<4xf32>
  %x = affine.load %g[0] : memref<4xf32>
  return %x : f32
}
// REFUSED: the global buffer @g has no definition in the module
// ----- a bool out of a byte
func.func @f(%n: index) -> i1 {
  %b = memref.alloc() : memref<8xi8>
  %v = memref.view %b[%n][] : memref<8xi8> to memref<4xi1>
  %x = affine.load %v[0] : memref<4xi1>
  memref.dealloc %b : memref<8xi8>
  return %x : i1
}
// REFUSED: not every byte is a bool in C
// ----- an operation that is not known
func.func @f() {
  "test.do"() : () -> ()
  return
}
// REFUSED: C output does not know the operation test.do in 'f'
// ----- whose stride?
func.func @f(%A: memref<8xf32>, %B: memref<8xf32>, %t: memref<1xi32>, %n: index) {
  affine.dma_start %A[0], %B[0], %t[0], %n, %n, %n : memref<8xf32>, memref<8xf32>, memref<1xi32>
  return
}
// REFUSED: both are in one memory space, so that nothing says whose stride it is
