module {
  func.func @data(%N: index, %A: memref<?xf32> {affdsl.shape = affine_map<()[N] -> (N)>}, %where: memref<?xi32> {affdsl.shape = affine_map<()[N] -> (N)>}, %count: memref<1xi64>) {
    %0 = affine.load %count[0] : memref<1xi64>
    %1 = arith.index_cast %0 : i64 to index
    affine.for %top = 0 to %1 {
      %cst = arith.constant 0.000000e+00 : f32
      affine.store %cst, %A[%top] : memref<?xf32>
    }
    affine.for %i = 0 to %N {
      %2 = affine.load %where[%i] : memref<?xi32>
      %3 = arith.index_cast %2 : i32 to index
      %4 = memref.load %A[%3] : memref<?xf32>
      %cst = arith.constant 1.000000e+00 : f32
      %5 = arith.addf %4, %cst : f32
      %6 = arith.index_cast %2 : i32 to index
      memref.store %5, %A[%6] : memref<?xf32>
      %7 = affine.load %where[%i] : memref<?xi32>
      %8 = arith.index_cast %7 : i32 to index
      %c1 = arith.constant 1 : index
      scf.for %j = %8 to %N step %c1 {
        %9 = arith.muli %i, %i : index
        %c3 = arith.constant 3 : index
        %10 = arith.floordivsi %9, %c3 : index
        %11 = arith.muli %10, %c3 : index
        %12 = arith.subi %9, %11 : index
        %13 = memref.load %A[%12] : memref<?xf32>
        memref.store %13, %A[%j] : memref<?xf32>
      }
    }
    return
  }
}