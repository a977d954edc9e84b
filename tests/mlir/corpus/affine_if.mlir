// affine.if: every relation, with and without else, results, empty sets, attributes, constants as conditions.
#inside = affine_set<(d0, d1)[s0] : (d0 - 10 >= 0, s0 - d0 - 9 >= 0, d1 - 10 == 0)>
#never = affine_set<() : (1 == 0)>
#always = affine_set<() : ()>
func.func @conditions(%A: memref<64x64xf32>, %n: index) {
  %one = arith.constant 1.0 : f32
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 64 {
      affine.if #inside(%i, %j)[%n] {
        affine.store %one, %A[%i, %j] : memref<64x64xf32>
      }
      affine.if affine_set<(d0) : (d0 mod 2 == 0, 30 >= d0, d0 <= 20)>(%i) {
        affine.store %one, %A[%i, %j] : memref<64x64xf32>
      } else {
        affine.store %one, %A[%j, %i] : memref<64x64xf32>
      }
      affine.if affine_set<(d0, d1) : (d0 >= d1, d0 - 1 == d1 * 2, d1 <= d0 + 7)>(%i, %j) {
      } {note = "a comparison has an expression on each side"}
    }
  }
  affine.if #never() {
  } else {
  }
  affine.if #always() {
    affine.yield
  }
  return
}

func.func @results(%n: index, %x: f32) -> (f32, f32, index) {
  %0 = affine.if affine_set<()[s0] : (s0 - 2 >= 0)>()[%n] -> f32 {
    affine.yield %x : f32
  } else {
    %c = arith.constant 0.0 : f32
    affine.yield %c : f32
  }
  %1:2 = affine.if affine_set<()[s0] : (s0 - 2 >= 0)>()[%n] -> (f32, index) {
    affine.yield %x, %n : f32, index
  } else {
    affine.yield %0, %n : f32, index
  } {likely = true}
  return %0, %1#0, %1#1 : f32, f32, index
}

func.func @unused_dims(%i: index, %j: index, %n: index) {
  affine.if affine_set<(d0, d1)[s0, s1] : (d0 >= 0)>(%i, %j)[%n, %n] {
  }
  affine.if affine_set<(d0, d1) : (d0 + d1 >= 0)>(%i, %i) {
  }
  return
}
