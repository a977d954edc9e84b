// affine.vector_load and affine.vector_store: 1-D and 2-D, symbols, no subscripts, other elements and layouts.
func.func @vectors(%A: memref<100x100xf32>, %B: memref<?xi32>, %n: index) {
  affine.for %i = 0 to 16 step 8 {
    %0 = affine.vector_load %A[%i + 3, %i + symbol(%n)] : memref<100x100xf32>, vector<8xf32>
    %1 = affine.vector_load %A[%i, 0] : memref<100x100xf32>, vector<2x8xf32>
    affine.vector_store %0, %A[%i, %i * 2] : memref<100x100xf32>, vector<8xf32>
    affine.vector_store %1, %A[0, %i] {note = "kept"} : memref<100x100xf32>, vector<2x8xf32>
    %2 = affine.vector_load %B[%i] {note = "kept"} : memref<?xi32>, vector<1xi32>
    affine.vector_store %2, %B[%n + %i] : memref<?xi32>, vector<1xi32>
  }
  return
}

func.func @wider_than_the_rank(%A: memref<100xf32>, %S: memref<f32>) {
  %0 = affine.vector_load %A[0] : memref<100xf32>, vector<2x8xf32>
  affine.vector_store %0, %A[16] : memref<100xf32>, vector<2x8xf32>
  %1 = affine.vector_load %S[] : memref<f32>, vector<1xf32>
  affine.vector_store %1, %S[] : memref<f32>, vector<1xf32>
  return
}

func.func @layouts(%A: memref<8x8xf64, strided<[16, 1], offset: 4>>, %B: memref<8xf16, 3>) {
  affine.for %i = 0 to 4 {
    %0 = affine.vector_load %A[%i, 4] : memref<8x8xf64, strided<[16, 1], offset: 4>>, vector<4xf64>
    affine.vector_store %0, %A[%i + 4, 0] : memref<8x8xf64, strided<[16, 1], offset: 4>>, vector<4xf64>
    %1 = affine.vector_load %B[%i] : memref<8xf16, 3>, vector<[4]xf16>
    affine.vector_store %1, %B[%i] : memref<8xf16, 3>, vector<[4]xf16>
  }
  return
}
