// memref.alloc, alloca, realloc, dealloc, alloca_scope: sizes, symbols of layouts, alignment, memory spaces.
#offset = affine_map<(d0)[s0] -> (d0 + s0)>
#pitched = affine_map<(d0, d1)[s0, s1] -> (d0 * s0 + d1 * s1)>
func.func @alloc(%n: index, %m: index) {
  %0 = memref.alloc() : memref<8x4xf32>
  %1 = memref.alloc(%n) : memref<?x4xf32>
  %2 = memref.alloc(%n, %m) {alignment = 64 : i64} : memref<?x?xf64>
  %3 = memref.alloc() : memref<f32>
  %4 = memref.alloc()[%n] : memref<8xf32, #offset>
  %5 = memref.alloc(%n)[%n, %m] : memref<?x8xf32, #pitched, 1>
  %6 = memref.alloc() {note = "kept"} : memref<0xi8, 2>
  %7 = memref.alloc() : memref<4xf32, "shared">
  %8 = memref.alloc() : memref<4xvector<8xf32>, 3 : i32>
  %9 = "memref.alloc"(%n, %m) <{alignment = 16 : i64, operandSegmentSizes = array<i32: 1, 1>}> : (index, index) -> memref<?xf32, #offset>
  memref.dealloc %0 : memref<8x4xf32>
  memref.dealloc %1 {note = "kept"} : memref<?x4xf32>
  return
}

func.func @alloca(%n: index) {
  %0 = memref.alloca() : memref<16xf32>
  %1 = memref.alloca(%n) {alignment = 32 : i64} : memref<?xi1, 5>
  affine.for %i = 0 to %n {
    %2 = memref.alloca()[%n] : memref<4xf32, #offset>
  }
  return
}

func.func @realloc(%A: memref<64xf32>, %B: memref<?xf32>, %n: index) {
  %0 = memref.realloc %A : memref<64xf32> to memref<124xf32>
  %1 = memref.realloc %B(%n) : memref<?xf32> to memref<?xf32>
  %2 = memref.realloc %B(%n) {alignment = 8 : i64} : memref<?xf32> to memref<?xf32>
  return
}

func.func @scopes(%x: f32) -> f32 {
  memref.alloca_scope {
    %0 = memref.alloca() : memref<4xf32>
    memref.alloca_scope.return
  }
  %1 = memref.alloca_scope -> (f32) {
    %2 = memref.alloca() : memref<f32>
    memref.alloca_scope.return %x : f32
  }
  return %1 : f32
}
