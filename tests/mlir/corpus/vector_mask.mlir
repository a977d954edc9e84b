// vector.mask: around one maskable operation with and without result, with values for the rest, around nothing.
func.func @masks(%m: vector<8xi1>, %i: index, %A: memref<?xf32>, %p: f32, %v: vector<8xf32>) {
  %0 = vector.mask %m { vector.transfer_read %A[%i], %p : memref<?xf32>, vector<8xf32> } : vector<8xi1> -> vector<8xf32>
  vector.mask %m { vector.transfer_write %v, %A[%i] : vector<8xf32>, memref<?xf32> } : vector<8xi1>
  %1 = vector.mask %m { vector.reduction <add>, %v : vector<8xf32> into f32 } : vector<8xi1> -> f32
  %2 = vector.mask %m, %v { vector.transfer_read %A[%i], %p : memref<?xf32>, vector<8xf32> } : vector<8xi1> -> vector<8xf32>
  vector.mask %m { } : vector<8xi1>
  return
}
