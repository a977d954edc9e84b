// affine.prefetch: read and write, each locality, data and instructions, symbols, attributes.
func.func @prefetch(%A: memref<400x400xi32>, %B: memref<f32>, %n: index) {
  affine.for %i = 0 to 10 {
    affine.prefetch %A[%i, %i + 5], read, locality<0>, data : memref<400x400xi32>
    affine.prefetch %A[%i, 0], read, locality<1>, data : memref<400x400xi32>
    affine.prefetch %A[%i + symbol(%n), %i * 2], write, locality<2>, data : memref<400x400xi32>
    affine.prefetch %A[%n, %i mod 8], write, locality<3>, instr : memref<400x400xi32>
    affine.prefetch %A[%i, %i], read, locality<3>, instr {note = "kept"} : memref<400x400xi32>
    affine.prefetch %B[], read, locality<3>, data : memref<f32>
  }
  return
}
