func.func @f(%A: memref<64xf32>, %x: f32) {
  %A_fast = memref.alloc() : memref<22xf32>
  affine.for %i = 0 to 8 {
    affine.store %x, %A_fast[%i * 3] : memref<22xf32>
  }
  affine.for %A0 = 5 to 27 step 3 {
    %0 = affine.load %A_fast[%A0 - 5] : memref<22xf32>
    affine.store %0, %A[%A0] : memref<64xf32>
  }
  memref.dealloc %A_fast : memref<22xf32>
  %A_fast_0 = memref.alloc() : memref<6xf32>
  affine.for %j = 0 to 99 {
    affine.if affine_set<(d0) : (d0 - 7 >= 0, -d0 + 12 >= 0)>(%j) {
      affine.store %x, %A_fast_0[%j - 7] : memref<6xf32>
    }
  }
  affine.for %A0 = 7 to 13 {
    %0 = affine.load %A_fast_0[%A0 - 7] : memref<6xf32>
    affine.store %0, %A[%A0] : memref<64xf32>
  }
  memref.dealloc %A_fast_0 : memref<6xf32>
  return
}