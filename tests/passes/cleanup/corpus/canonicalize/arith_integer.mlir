func.func @sums_of_constants_0(%x: i32) -> i32 {
  %k = arith.constant 3 : i32
  %m = arith.addi %x, %k : i32
  %r = arith.addi %m, %k : i32
  return %r : i32
}
func.func @sums_of_constants_1(%x: i32) -> i32 {
  %k = arith.constant 3 : i32
  %m = arith.subi %x, %k : i32
  %r = arith.addi %m, %k : i32
  return %r : i32
}
func.func @sums_of_constants_2(%x: i32) -> i32 {
  %k = arith.constant 3 : i32
  %m = arith.subi %k, %x : i32
  %r = arith.addi %m, %k : i32
  return %r : i32
}
// -----
func.func @negative_factors_0(%x: i32, %y: i32) -> i32 {
  %k = arith.constant -1 : i32
  %m = arith.muli %x, %k : i32
  %r = arith.addi %m, %y : i32
  return %r : i32
}
func.func @negative_factors_1(%x: i32, %y: i32) -> i32 {
  %k = arith.constant -1 : i32
  %m = arith.muli %x, %k : i32
  %r = arith.addi %y, %m : i32
  return %r : i32
}
// -----
func.func @taken_back_0(%x: i32, %y: i32) -> i32 {
  %m = arith.subi %x, %y : i32
  %r = arith.addi %m, %y : i32
  return %r : i32
}
func.func @taken_back_1(%x: i32, %y: i32) -> i32 {
  %m = arith.subi %x, %y : i32
  %r = arith.addi %y, %m : i32
  return %r : i32
}
func.func @taken_back_2(%x: i32, %y: i32) -> i32 {
  %m = arith.addi %x, %y : i32
  %r = arith.subi %m, %y : i32
  return %r : i32
}
func.func @taken_back_3(%x: i32, %y: i32) -> i32 {
  %m = arith.addi %x, %y : i32
  %r = arith.subi %m, %x : i32
  return %r : i32
}
// -----
func.func @differences_of_constants_0(%x: i32) -> i32 {
  %k = arith.constant 3 : i32
  %k4 = arith.constant 4 : i32
  %m = arith.addi %x, %k : i32
  %r = arith.subi %m, %k4 : i32
  return %r : i32
}
func.func @differences_of_constants_1(%x: i32) -> i32 {
  %k = arith.constant 3 : i32
  %k4 = arith.constant 4 : i32
  %m = arith.addi %x, %k : i32
  %r = arith.subi %k4, %m : i32
  return %r : i32
}
func.func @differences_of_constants_2(%x: i32) -> i32 {
  %k = arith.constant 3 : i32
  %k4 = arith.constant 4 : i32
  %m = arith.subi %x, %k : i32
  %r = arith.subi %m, %k4 : i32
  return %r : i32
}
// -----
func.func @more_differences_0(%x: i32) -> i32 {
  %k = arith.constant 3 : i32
  %k4 = arith.constant 4 : i32
  %m = arith.subi %k, %x : i32
  %r = arith.subi %m, %k4 : i32
  return %r : i32
}
func.func @more_differences_1(%x: i32) -> i32 {
  %k = arith.constant 3 : i32
  %k4 = arith.constant 4 : i32
  %m = arith.subi %x, %k : i32
  %r = arith.subi %k4, %m : i32
  return %r : i32
}
func.func @more_differences_2(%x: i32) -> i32 {
  %k = arith.constant 3 : i32
  %k4 = arith.constant 4 : i32
  %m = arith.subi %k, %x : i32
  %r = arith.subi %k4, %m : i32
  return %r : i32
}
func.func @more_differences_3(%x: i32, %y: i32) -> i32 {
  %m = arith.subi %x, %y : i32
  %r = arith.subi %m, %x : i32
  return %r : i32
}
// -----
func.func @neutral_and_absorbing_0(%x: i32) -> i32 {
  %k = arith.constant 0 : i32
  %r = arith.addi %k, %x : i32
  return %r : i32
}
func.func @neutral_and_absorbing_1(%l: i64) -> i64 {
  %k = arith.constant 0 : i64
  %r = arith.subi %l, %k : i64
  return %r : i64
}
func.func @neutral_and_absorbing_2(%i: index) -> index {
  %k = arith.constant 1 : index
  %r = arith.muli %k, %i : index
  return %r : index
}
func.func @neutral_and_absorbing_3(%i: index) -> index {
  %k = arith.constant 0 : index
  %r = arith.muli %k, %i : index
  return %r : index
}
func.func @neutral_and_absorbing_4(%x: i32) -> i32 {
  %r = arith.subi %x, %x : i32
  return %r : i32
}
// -----
func.func @products_of_constants_0(%x: i32) -> i32 {
  %k = arith.constant 3 : i32
  %k4 = arith.constant 6 : i32
  %m = arith.muli %x, %k : i32
  %r = arith.muli %m, %k4 : i32
  return %r : i32
}
func.func @products_of_constants_1(%s: i16) -> i16 {
  %k = arith.constant 3 : i16
  %k4 = arith.constant 30000 : i16
  %m = arith.muli %s, %k : i16
  %r = arith.muli %k4, %m : i16
  return %r : i16
}
// -----
func.func @overflow_flags_0(%x: i32) -> i32 {
  %k = arith.constant 3 : i32
  %m = arith.addi %x, %k overflow<nsw> : i32
  %r = arith.addi %m, %k overflow<nsw> : i32
  return %r : i32
}
func.func @overflow_flags_1(%x: i32) -> i32 {
  %k = arith.constant 3 : i32
  %m = arith.addi %x, %k overflow<nsw> : i32
  %r = arith.addi %m, %k : i32
  return %r : i32
}
func.func @overflow_flags_2(%x: i32) -> i32 {
  %k = arith.constant 3 : i32
  %m = arith.muli %x, %k overflow<nsw, nuw> : i32
  %r = arith.muli %m, %k overflow<nuw> : i32
  return %r : i32
}
// -----
func.func @bits_0(%x: i32) -> i32 {
  %r = arith.andi %x, %x : i32
  return %r : i32
}
func.func @bits_1(%x: i32) -> i32 {
  %r = arith.ori %x, %x : i32
  return %r : i32
}
func.func @bits_2(%x: i32) -> i32 {
  %r = arith.xori %x, %x : i32
  return %r : i32
}
func.func @bits_3(%x: i32, %y: i32) -> i32 {
  %m = arith.andi %x, %y : i32
  %r = arith.andi %m, %y : i32
  return %r : i32
}
func.func @bits_4(%x: i32, %y: i32) -> i32 {
  %m = arith.xori %x, %y : i32
  %r = arith.xori %m, %x : i32
  return %r : i32
}
// -----
func.func @bits_with_constants_0(%x: i32) -> i32 {
  %k = arith.constant -1 : i32
  %r = arith.andi %x, %k : i32
  return %r : i32
}
func.func @bits_with_constants_1(%x: i32) -> i32 {
  %k = arith.constant 0 : i32
  %r = arith.andi %k, %x : i32
  return %r : i32
}
func.func @bits_with_constants_2(%x: i32) -> i32 {
  %k = arith.constant 0 : i32
  %r = arith.ori %k, %x : i32
  return %r : i32
}
func.func @bits_with_constants_3(%x: i32) -> i32 {
  %k = arith.constant -1 : i32
  %r = arith.ori %k, %x : i32
  return %r : i32
}
func.func @bits_with_constants_4(%x: i32) -> i32 {
  %k = arith.constant 0 : i32
  %r = arith.xori %k, %x : i32
  return %r : i32
}
// -----
func.func @complements_0(%x: i32) -> i32 {
  %k = arith.constant -1 : i32
  %m = arith.xori %x, %k : i32
  %r = arith.andi %m, %x : i32
  return %r : i32
}
func.func @complements_1(%x: i32) -> i32 {
  %k = arith.constant -1 : i32
  %m = arith.xori %x, %k : i32
  %r = arith.ori %x, %m : i32
  return %r : i32
}
func.func @complements_2(%x: i32) -> i32 {
  %k = arith.constant -1 : i32
  %m = arith.xori %x, %k : i32
  %r = arith.xori %m, %k : i32
  return %r : i32
}
// -----
func.func @not_joined_0(%x: i32) -> i32 {
  %k = arith.constant 3 : i32
  %k4 = arith.constant 6 : i32
  %m = arith.andi %x, %k : i32
  %r = arith.andi %m, %k4 : i32
  return %r : i32
}
func.func @not_joined_1(%x: i32) -> i32 {
  %k = arith.constant 3 : i32
  %k4 = arith.constant 6 : i32
  %m = arith.ori %x, %k : i32
  %r = arith.ori %m, %k4 : i32
  return %r : i32
}
func.func @not_joined_2(%x: i32, %y: i32) -> i32 {
  %m = arith.ori %x, %y : i32
  %r = arith.ori %m, %y : i32
  return %r : i32
}
func.func @not_joined_3(%x: i32) -> i32 {
  %k = arith.constant 3 : i32
  %k4 = arith.constant 6 : i32
  %m = arith.minsi %x, %k : i32
  %r = arith.minsi %m, %k4 : i32
  return %r : i32
}
// -----
func.func @extremes_0(%x: i32) -> i32 {
  %r = arith.minsi %x, %x : i32
  return %r : i32
}
func.func @extremes_1(%x: i32) -> i32 {
  %k = arith.constant 2147483647 : i32
  %r = arith.maxsi %x, %k : i32
  return %r : i32
}
func.func @extremes_2(%x: i32) -> i32 {
  %k = arith.constant -2147483648 : i32
  %r = arith.maxsi %x, %k : i32
  return %r : i32
}
func.func @extremes_3(%x: i32) -> i32 {
  %k = arith.constant 2147483647 : i32
  %r = arith.minsi %x, %k : i32
  return %r : i32
}
func.func @extremes_4(%x: i32) -> i32 {
  %k = arith.constant -1 : i32
  %r = arith.maxui %k, %x : i32
  return %r : i32
}
func.func @extremes_5(%x: i32) -> i32 {
  %k = arith.constant 0 : i32
  %r = arith.minui %k, %x : i32
  return %r : i32
}
// -----
func.func @divisions_0(%x: i32) -> i32 {
  %r = arith.divsi %x, %x : i32
  return %r : i32
}
func.func @divisions_1(%x: i32) -> i32 {
  %k = arith.constant 1 : i32
  %r = arith.divsi %x, %k : i32
  return %r : i32
}
func.func @divisions_2(%x: i32) -> i32 {
  %k = arith.constant 1 : i32
  %r = arith.floordivsi %x, %k : i32
  return %r : i32
}
func.func @divisions_3(%x: i32) -> i32 {
  %k = arith.constant 1 : i32
  %r = arith.remsi %x, %k : i32
  return %r : i32
}
func.func @divisions_4(%x: i32) -> i32 {
  %k = arith.constant 0 : i32
  %r = arith.divui %k, %x : i32
  return %r : i32
}
// -----
func.func @divisions_of_constants_0() -> i32 {
  %k = arith.constant -7 : i32
  %k4 = arith.constant 2 : i32
  %r = arith.divsi %k, %k4 : i32
  return %r : i32
}
func.func @divisions_of_constants_1() -> i32 {
  %k = arith.constant -7 : i32
  %k4 = arith.constant 2 : i32
  %r = arith.floordivsi %k, %k4 : i32
  return %r : i32
}
func.func @divisions_of_constants_2() -> i32 {
  %k = arith.constant -7 : i32
  %k4 = arith.constant 2 : i32
  %r = arith.ceildivsi %k, %k4 : i32
  return %r : i32
}
func.func @divisions_of_constants_3() -> i32 {
  %k = arith.constant -7 : i32
  %k4 = arith.constant 2 : i32
  %r = arith.ceildivui %k, %k4 : i32
  return %r : i32
}
func.func @divisions_of_constants_4() -> i32 {
  %k = arith.constant -7 : i32
  %k4 = arith.constant 2 : i32
  %r = arith.remui %k, %k4 : i32
  return %r : i32
}
// -----
func.func @undefined_divisions_0() -> i32 {
  %k = arith.constant 3 : i32
  %k4 = arith.constant 0 : i32
  %r = arith.divsi %k, %k4 : i32
  return %r : i32
}
func.func @undefined_divisions_1() -> i32 {
  %k = arith.constant 3 : i32
  %k4 = arith.constant 0 : i32
  %r = arith.remui %k, %k4 : i32
  return %r : i32
}
func.func @undefined_divisions_2() -> i32 {
  %k = arith.constant -2147483648 : i32
  %k4 = arith.constant -1 : i32
  %r = arith.divsi %k, %k4 : i32
  return %r : i32
}
func.func @undefined_divisions_3() -> i32 {
  %k = arith.constant -2147483648 : i32
  %k4 = arith.constant 3 : i32
  %r = arith.ceildivsi %k, %k4 : i32
  return %r : i32
}
// -----
func.func @quotient_of_product_0(%x: i32, %y: i32) -> i32 {
  %m = arith.muli %x, %y : i32
  %r = arith.divsi %m, %y : i32
  return %r : i32
}
func.func @quotient_of_product_1(%x: i32) -> i32 {
  %k = arith.constant 5 : i32
  %m = arith.muli %x, %k overflow<nsw> : i32
  %r = arith.divsi %m, %k : i32
  return %r : i32
}
func.func @quotient_of_product_2(%x: i32) -> i32 {
  %k = arith.constant 5 : i32
  %m = arith.muli %x, %k overflow<nuw> : i32
  %r = arith.divui %m, %k : i32
  return %r : i32
}
// -----
func.func @quotient_of_unknown_product_0(%x: i32, %y: i32) -> i32 {
  %m = arith.muli %x, %y overflow<nsw> : i32
  %r = arith.divsi %m, %y : i32
  return %r : i32
}
// -----
func.func @shifts_0(%x: i32) -> i32 {
  %k = arith.constant 0 : i32
  %r = arith.shli %x, %k : i32
  return %r : i32
}
func.func @shifts_1(%x: i32) -> i32 {
  %k = arith.constant 0 : i32
  %r = arith.shrsi %x, %k : i32
  return %r : i32
}
func.func @shifts_2(%x: i32) -> i32 {
  %k = arith.constant 32 : i32
  %r = arith.shli %x, %k : i32
  return %r : i32
}
func.func @shifts_3() -> i32 {
  %k = arith.constant -16 : i32
  %k4 = arith.constant 3 : i32
  %r = arith.shrui %k, %k4 : i32
  return %r : i32
}
func.func @shifts_4() -> i32 {
  %k = arith.constant 3 : i32
  %k4 = arith.constant 32 : i32
  %r = arith.shli %k, %k4 : i32
  return %r : i32
}
// -----
func.func @truth_values_0(%b: i1) -> i1 {
  %t = arith.constant true
  %r = arith.muli %b, %t : i1
  return %r : i1
}
func.func @truth_values_1(%b: i1) -> i1 {
  %t = arith.constant true
  %r = arith.addi %b, %t : i1
  return %r : i1
}
func.func @truth_values_2(%b: i1) -> i1 {
  %t = arith.constant true
  %r = arith.andi %b, %t : i1
  return %r : i1
}
func.func @truth_values_3(%b: i1) -> i1 {
  %t = arith.constant true
  %r = arith.ori %b, %t : i1
  return %r : i1
}
func.func @truth_values_4(%b: i1) -> i1 {
  %t = arith.constant true
  %r = arith.minsi %b, %t : i1
  return %r : i1
}
func.func @truth_values_5(%b: i1) -> i1 {
  %t = arith.constant true
  %e = arith.xori %b, %t : i1
  %r = arith.xori %e, %t : i1
  return %r : i1
}
// -----
func.func @extended_products_0(%x: i32, %y: i32) -> i32 {
  %m, %n = arith.mulsi_extended %x, %y : i32
  %r = arith.addi %m, %m : i32
  return %r : i32
}
func.func @extended_products_1(%x: i32) -> i32 {
  %k = arith.constant 1 : i32
  %m, %n = arith.mulsi_extended %x, %k : i32
  %r = arith.addi %m, %n : i32
  return %r : i32
}
func.func @extended_products_2(%x: i32) -> i32 {
  %k = arith.constant 1 : i32
  %m, %n = arith.mului_extended %k, %x : i32
  %r = arith.addi %m, %n : i32
  return %r : i32
}
func.func @extended_products_3(%x: i32) -> i32 {
  %k = arith.constant 0 : i32
  %m, %n = arith.mului_extended %k, %x : i32
  %r = arith.addi %m, %n : i32
  return %r : i32
}
func.func @extended_products_4() -> i32 {
  %k = arith.constant -2 : i32
  %m, %n = arith.mulsi_extended %k, %k : i32
  %r = arith.addi %m, %n : i32
  return %r : i32
}
// -----
func.func @extended_sums_0(%x: i32, %y: i32) -> i32 {
  %m, %n = arith.addui_extended %x, %y : i32, i1
  %r = arith.addi %m, %m : i32
  return %r : i32
}
func.func @extended_sums_1(%x: i32) -> i32 {
  %k = arith.constant -2 : i32
  %m, %n = arith.addui_extended %k, %k : i32, i1
  %r = arith.select %n, %m, %x : i32
  return %r : i32
}
func.func @extended_sums_2(%x: i32) -> i32 {
  %k = arith.constant 0 : i32
  %m, %n = arith.addui_extended %k, %x : i32, i1
  %r = arith.select %n, %m, %x : i32
  return %r : i32
}
// -----
func.func @long_chain_0(%x: i32, %y: i32) -> i32 {
  %k = arith.constant 3 : i32
  %k4 = arith.constant 6 : i32
  %m = arith.addi %x, %k : i32
  %m1 = arith.addi %k4, %m : i32
  %m2 = arith.subi %m1, %k : i32
  %m3 = arith.addi %m2, %y : i32
  %m4 = arith.subi %m3, %y : i32
  %r = arith.muli %m4, %k : i32
  return %r : i32
}
// -----
func.func @all_constant_0() -> i32 {
  %k = arith.constant 3 : i32
  %k4 = arith.constant 6 : i32
  %m = arith.muli %k4, %k : i32
  %m1 = arith.shli %m, %k : i32
  %m2 = arith.subi %m1, %k4 : i32
  %m3 = arith.xori %m2, %m1 : i32
  %r = arith.maxsi %m3, %m : i32
  return %r : i32
}
