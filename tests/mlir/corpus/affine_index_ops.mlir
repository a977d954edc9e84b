// affine.linearize_index and affine.delinearize_index: static, dynamic and mixed bases, with and without the outer one.
func.func @delinearize(%x: index, %a: index, %b: index) -> (index, index) {
  %0:3 = affine.delinearize_index %x into (4, 8, 2) : index, index, index
  %1:3 = affine.delinearize_index %x into (%a, 224, %b) : index, index, index
  %2:3 = affine.delinearize_index %x into (224, 3) : index, index, index
  %3:2 = affine.delinearize_index %x into (%a) : index, index
  %4 = affine.delinearize_index %x into (7) : index
  %5 = affine.delinearize_index %x into () : index
  %6:2 = affine.delinearize_index %x into (%a, %b) {note = "kept"} : index, index
  return %0#2, %6#1 : index, index
}

func.func @linearize(%i: index, %j: index, %k: index, %a: index, %b: index) -> (index, index, index) {
  %0 = affine.linearize_index [%i, %j, %k] by (4, 8, 2) : index
  %1 = affine.linearize_index [%i, %j, %k] by (%a, 224, %b) : index
  %2 = affine.linearize_index disjoint [%i, %j, %k] by (8, 2) : index
  %3 = affine.linearize_index disjoint [%i, %j] by (%a, %b) : index
  %4 = affine.linearize_index [%i] by () : index
  %5 = affine.linearize_index [%i] by (5) : index
  %6 = affine.linearize_index [] by () : index
  %7 = affine.linearize_index disjoint [%i, %i] by (2, 2) {note = "kept"} : index
  return %0, %1, %6 : index, index, index
}

func.func @in_loops(%A: memref<8x4xf32>, %x: index) {
  affine.for %i = 0 to 32 {
    %0:2 = affine.delinearize_index %i into (8, 4) : index, index
    %1 = memref.load %A[%0#0, %0#1] : memref<8x4xf32>
    %2 = affine.linearize_index disjoint [%0#1, %0#0] by (4, 8) : index
    %3 = affine.apply affine_map<(d0) -> (d0 + 1)>(%2)
  }
  return
}
