// vector.load, store, maskedload, maskedstore, gather, scatter, expandload, compressstore, and attributes of each.
func.func @load_store(%A: memref<?x16xf32>, %V: memref<8xvector<4xf32>>, %i: index) {
  %0 = vector.load %A[%i, %i] : memref<?x16xf32>, vector<8xf32>
  %1 = vector.load %A[%i, %i] {nontemporal = true} : memref<?x16xf32>, vector<2x8xf32>
  %2 = vector.load %V[%i] : memref<8xvector<4xf32>>, vector<4xf32>
  %3 = vector.load %A[%i, %i] {alignment = 16 : i64, nontemporal = true} : memref<?x16xf32>, vector<[4]xf32>
  vector.store %0, %A[%i, %i] : memref<?x16xf32>, vector<8xf32>
  vector.store %1, %A[%i, %i] {nontemporal = true} : memref<?x16xf32>, vector<2x8xf32>
  vector.store %2, %V[%i] {note = "kept"} : memref<8xvector<4xf32>>, vector<4xf32>
  return
}

func.func @masked(%A: memref<?xf32>, %i: index, %m: vector<8xi1>, %v: vector<8xf32>) {
  %0 = vector.maskedload %A[%i], %m, %v : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  vector.maskedstore %A[%i], %m, %0 : memref<?xf32>, vector<8xi1>, vector<8xf32>
  %1 = vector.maskedload %A[%i], %m, %v {note = "kept"} : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  vector.maskedstore %A[%i], %m, %1 {alignment = 32 : i64} : memref<?xf32>, vector<8xi1>, vector<8xf32>
  %2 = vector.expandload %A[%i], %m, %v : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  vector.compressstore %A[%i], %m, %2 : memref<?xf32>, vector<8xi1>, vector<8xf32>
  return
}

func.func @indexed(%A: memref<?x?xf32>, %i: index, %at: vector<8xi32>, %m: vector<8xi1>, %v: vector<8xf32>, %far: vector<4x2xindex>, %m2: vector<4x2xi1>, %w: vector<4x2xf32>) {
  %0 = vector.gather %A[%i, %i] [%at], %m, %v : memref<?x?xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  %1 = vector.gather %A[%i, %i] [%far], %m2, %w {alignment = 4 : i64} : memref<?x?xf32>, vector<4x2xindex>, vector<4x2xi1>, vector<4x2xf32> into vector<4x2xf32>
  vector.scatter %A[%i, %i] [%at], %m, %0 : memref<?x?xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32>
  vector.scatter %A[%i, %i] [%far], %m2, %1 {note = "kept"} : memref<?x?xf32>, vector<4x2xindex>, vector<4x2xi1>, vector<4x2xf32>
  return
}

func.func @generic(%A: memref<?xf32>, %i: index) {
  %0 = "vector.load"(%A, %i) <{nontemporal = false}> : (memref<?xf32>, index) -> vector<8xf32>
  "vector.store"(%0, %A, %i) : (vector<8xf32>, memref<?xf32>, index) -> ()
  return
}
