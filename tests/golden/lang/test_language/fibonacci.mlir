module {
  func.func @fibonacci(%N: index) -> i64 {
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %a, %b = affine.for %_ = 0 to %N iter_args(%a_0 = %c0_i64, %b_0 = %c1_i64) -> (i64, i64) {
      %0 = arith.addi %a_0, %b_0 : i64
      affine.yield %b_0, %0 : i64, i64
    }
    return %a : i64
  }
}