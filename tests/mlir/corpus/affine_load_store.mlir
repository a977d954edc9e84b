// affine.load and affine.store: subscripts with symbols, without dimensions, on layouts and memory spaces, any element.
#blocked = affine_map<(d0, d1) -> (d1 floordiv 8, d0, d1 mod 8)>
func.func @subscripts(%A: memref<100x100xf32>, %s: memref<f32>, %n: index) {
  affine.for %i = 0 to 10 {
    affine.for %j = 0 to 10 {
      %0 = affine.load %A[%i + 3, %j * 2 + symbol(%n) - 1] : memref<100x100xf32>
      %1 = affine.load %s[] : memref<f32>
      %2 = affine.load %A[%i mod 4, (%i + %j) ceildiv 3] : memref<100x100xf32>
      %3 = affine.load %A[0, 99] : memref<100x100xf32>
      %4 = affine.load %A[-%i + 10, %n] : memref<100x100xf32>
      %5 = affine.load %A[%i + %i, %j - %i * 2 + 40] : memref<100x100xf32>
      affine.store %0, %A[%i floordiv 4, %j] : memref<100x100xf32>
      affine.store %1, %s[] : memref<f32>
      affine.store %2, %A[symbol(%n), %n] : memref<100x100xf32>
      affine.store %3, %A[%i, %i + symbol(%n) * 2] {note = "kept"} : memref<100x100xf32>
      %6 = affine.load %A[%i, %j] {nontemporal = true, other} : memref<100x100xf32>
    }
  }
  return
}

func.func @layouts(%A: memref<64x64xf32, strided<[64, 1], offset: ?>>, %B: memref<16x16xf32, #blocked, 2>,
                   %C: memref<?x4xi8, strided<[?, 1]>, "fast">, %D: memref<4xindex, 1 : i32>) {
  affine.for %i = 0 to 4 {
    %0 = affine.load %A[%i, 0] : memref<64x64xf32, strided<[64, 1], offset: ?>>
    %1 = affine.load %B[%i, %i floordiv 2] : memref<16x16xf32, #blocked, 2>
    affine.store %0, %B[%i, %i] : memref<16x16xf32, #blocked, 2>
    %2 = affine.load %C[%i, 3] : memref<?x4xi8, strided<[?, 1]>, "fast">
    affine.store %i, %D[%i] : memref<4xindex, 1 : i32>
  }
  return
}

func.func @elements(%A: memref<8xvector<4xf32>>, %B: memref<8xi1>, %C: memref<8xcomplex<f64>>, %D: memref<8xmemref<4xf32>>) {
  affine.for %i = 0 to 8 {
    %0 = affine.load %A[%i] : memref<8xvector<4xf32>>
    affine.store %0, %A[-%i + 7] : memref<8xvector<4xf32>>
    %1 = affine.load %B[%i] : memref<8xi1>
    affine.store %1, %B[%i] : memref<8xi1>
    %2 = affine.load %C[%i] : memref<8xcomplex<f64>>
    %3 = affine.load %D[%i] : memref<8xmemref<4xf32>>
    %4 = affine.load %3[0] : memref<4xf32>
  }
  return
}
