#set = affine_set<(d0)[s0] : (d0 - 1 >= 0, -d0 + s0 - 2 >= 0)>
#set1 = affine_set<(d0) : (d0 - 2 >= 0, -d0 + 5 >= 0)>
#set2 = affine_set<(d0) : (d0 - 3 == 0)>
#set3 = affine_set<(d0) : (d0 - 4 == 0)>
module {
  func.func @branches(%N: index, %A: memref<?xf32> {affdsl.shape = affine_map<()[N] -> (N)>}) {
    affine.for %i = 0 to %N {
      affine.if #set(%i)[%N] {
        %cst = arith.constant 0.000000e+00 : f32
        affine.store %cst, %A[%i] : memref<?xf32>
      }
      affine.if #set1(%i) {
        %cst = arith.constant 2.000000e+00 : f32
        affine.store %cst, %A[%i] : memref<?xf32>
      } else {
        %cst = arith.constant 1.000000e+00 : f32
        affine.store %cst, %A[%i] : memref<?xf32>
      }
      affine.if #set2(%i) {
      } else {
        %cst = arith.constant 3.000000e+00 : f32
        affine.store %cst, %A[%i] : memref<?xf32>
      }
      %x = affine.if #set3(%i) -> f32 {
        %cst = arith.constant 5.000000e+00 : f32
        affine.yield %cst : f32
      } else {
        %0 = affine.load %A[%i] : memref<?xf32>
        affine.yield %0 : f32
      }
      %0 = affine.load %A[%i] : memref<?xf32>
      %1 = arith.cmpf ogt, %0, %x : f32
      %y, %n = scf.if %1 -> (f32, i32) {
        %c1_i32 = arith.constant 1 : i32
        scf.yield %x, %c1_i32 : f32, i32
      } else {
        %2 = affine.load %A[%i] : memref<?xf32>
        %c2_i32 = arith.constant 2 : i32
        scf.yield %2, %c2_i32 : f32, i32
      }
      %2 = arith.sitofp %n : i32 to f32
      %3 = arith.addf %y, %2 : f32
      affine.store %3, %A[%i] : memref<?xf32>
    }
    return
  }
}