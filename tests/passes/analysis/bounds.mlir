// ----- an index from data
func.func @f(%A: memref<?xf32>, %I: memref<?xindex>) {
  %zero = arith.constant 0 : index
  affine.for %i = 0 to 4 {
    %j = affine.load %I[0] : memref<?xindex>  // conditional on I_size0 >= 1
    %a = memref.load %A[%j] : memref<?xf32>  // unknown: %j is not affine
  }
  return
}
// ----- a condition from data
func.func @f(%A: memref<4xf32>, %c: i1, %x: f32) {
  affine.for %i = 0 to 5 {
    scf.if %c { affine.store %x, %A[%i] : memref<4xf32> }  // unknown: the condition is known only at run time
  }
  return
}
// ----- a number from data that never changes
func.func @f(%A: memref<4xf32>, %I: memref<1xindex>, %x: f32) {
  %n = affine.load %I[0] : memref<1xindex>
  affine.for %i = 0 to %n { affine.store %x, %A[%i] : memref<4xf32> }  // unknown: %n is known only at run time
  return
}
// ----- gathered elements
func.func @f(%A: memref<4xf32>, %at: vector<2xindex>, %m: vector<2xi1>, %p: vector<2xf32>) {
  %zero = arith.constant 0 : index
  %v = vector.gather %A[%zero] [%at], %m, %p  // unknown: which elements it touches is known only at run time
    : memref<4xf32>, vector<2xindex>, vector<2xi1>, vector<2xf32> into vector<2xf32>
  return
}
// ----- a mask
func.func @f(%A: memref<4xf32>, %m: vector<8xi1>, %p: vector<8xf32>) {
  %zero = arith.constant 0 : index
  %v = vector.maskedload %A[%zero], %m, %p : memref<4xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>  // unknown: which lanes its mask leaves out is not known
  return
}
// ----- an operation that is not known
func.func @f(%A: memref<4xf32>) {
  "some.thing"(%A) : (memref<4xf32>) -> ()  // unknown: which elements it touches is known only at run time // unknown: which elements it touches is known only at run time
  return
}
// ----- a function that calls itself
func.func @f(%A: memref<4xf32>, %n: index) {
  %a = affine.load %A[symbol(%n)] : memref<4xf32>  // conditional on n >= 0 and n <= 3
  call @f(%A, %n) : (memref<4xf32>, index) -> ()  // unknown: what f needs is not known, because it calls itself
  return
}
// ----- a cast to a size that is too large
func.func @f(%N: index, %A: memref<?xf32> {affdsl.shape = affine_map<()[s0] -> (s0)>}) {
  %B = memref.cast %A : memref<?xf32> to memref<10xf32>  // conditional on N == 10: views 10 elements of the 0 in dimension 0 of A
  %b = affine.load %B[9] : memref<10xf32>
  return
}
// ----- an expanded shape of too many elements
func.func @f(%N: index, %M: index, %A: memref<?xf32> {affdsl.shape = affine_map<()[s0, s1] -> (s0)>})
    attributes {
  affdsl.assume = affine_set<()[s0, s1] : (s1 - 1 >= 0)>
} {
  %B = memref.expand_shape %A [[0, 1]] output_shape [%M, 4] : memref<?xf32> into memref<?x4xf32>  // conditional on 4 * M == N: views 4 elements of the 0 in dimension 0 of A
  %b = affine.load %B[symbol(%M) - 1, 3] : memref<?x4xf32>
  return
}
// ----- a call with an array that is too small
func.func private @g(%N: index, %A: memref<?xf32> {affdsl.shape = affine_map<()[s0] -> (s0)>}) {
  affine.for %i = 0 to %N { %a = affine.load %A[%i] : memref<?xf32> }
  return
}
func.func @f(%N: index, %M: index, %A: memref<?xf32> {affdsl.shape = affine_map<()[s0, s1] -> (s0)>}) {
  call @g(%M, %A) : (index, memref<?xf32>) -> ()  // conditional on M == N: calls it with A of size 0 in dimension 0, which must be 1
  return
}
// ----- a call against an assumption
func.func private @g(%n: index) attributes { affdsl.assume = affine_set<()[s0] : (s0 - 3 >= 0)> } { return }
func.func @f(%n: index) {
  call @g(%n) : (index) -> ()  // conditional on n >= 3: calls it with n =
  return
}
