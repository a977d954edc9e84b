func.func @comparisons_0(%x: i32) -> i1 {
  %k = arith.constant 5 : i32
  %r = arith.cmpi slt, %k, %x : i32
  return %r : i1
}
func.func @comparisons_1(%x: i32) -> i1 {
  %r = arith.cmpi sle, %x, %x : i32
  return %r : i1
}
func.func @comparisons_2(%i: index) -> i1 {
  %r = arith.cmpi ult, %i, %i : index
  return %r : i1
}
func.func @comparisons_3() -> i1 {
  %k = arith.constant 5 : i32
  %k1 = arith.constant -5 : i32
  %r = arith.cmpi ult, %k, %k1 : i32
  return %r : i1
}
// -----
func.func @comparisons_of_truth_0(%b: i1) -> i1 {
  %t = arith.constant true
  %r = arith.cmpi eq, %b, %t : i1
  return %r : i1
}
func.func @comparisons_of_truth_1(%b: i1) -> i1 {
  %t = arith.constant true
  %r = arith.cmpi ne, %b, %t : i1
  return %r : i1
}
func.func @comparisons_of_truth_2(%b: i1) -> i1 {
  %t = arith.constant false
  %r = arith.cmpi ne, %b, %t : i1
  return %r : i1
}
func.func @comparisons_of_truth_3(%b: i1) -> i1 {
  %t = arith.constant false
  %r = arith.cmpi eq, %b, %t : i1
  return %r : i1
}
// -----
func.func @comparisons_of_extended_0(%b: i1) -> i1 {
  %t = arith.constant 0 : i32
  %e = arith.extui %b : i1 to i32
  %r = arith.cmpi ne, %e, %t : i32
  return %r : i1
}
func.func @comparisons_of_extended_1(%b: i1) -> i1 {
  %t = arith.constant 0 : i32
  %e = arith.extsi %b : i1 to i32
  %r = arith.cmpi ne, %e, %t : i32
  return %r : i1
}
func.func @comparisons_of_extended_2(%s: i16) -> i1 {
  %e = arith.extui %s : i16 to i32
  %t = arith.constant 5 : i32
  %r = arith.cmpi ult, %e, %t : i32
  return %r : i1
}
// -----
func.func @bounds_of_type_0(%x: i32) -> i1 {
  %t = arith.constant 0 : i32
  %r = arith.cmpi ult, %x, %t : i32
  return %r : i1
}
func.func @bounds_of_type_1(%x: i32) -> i1 {
  %t = arith.constant 0 : i32
  %r = arith.cmpi uge, %x, %t : i32
  return %r : i1
}
func.func @bounds_of_type_2(%x: i32) -> i1 {
  %t = arith.constant 2147483647 : i32
  %r = arith.cmpi sgt, %x, %t : i32
  return %r : i1
}
// -----
func.func @opposite_0(%x: i32, %y: i32) -> i1 {
  %t = arith.constant true
  %e = arith.cmpi slt, %x, %y : i32
  %r = arith.xori %e, %t : i1
  return %r : i1
}
func.func @opposite_1(%x: i32, %y: i32) -> i1 {
  %t = arith.constant true
  %e = arith.cmpi ne, %x, %y : i32
  %r = arith.xori %t, %e : i1
  return %r : i1
}
// -----
func.func @choices_0(%x: i32, %b: i1) -> i32 {
  %r = arith.select %b, %x, %x : i32
  return %r : i32
}
func.func @choices_1(%x: i32, %y: i32) -> i32 {
  %t = arith.constant true
  %r = arith.select %t, %x, %y : i32
  return %r : i32
}
func.func @choices_2(%f: f32, %g: f32) -> f32 {
  %t = arith.constant false
  %r = arith.select %t, %f, %g : f32
  return %r : f32
}
// -----
func.func @choices_of_truth_0(%b: i1) -> i1 {
  %t = arith.constant true
  %u = arith.constant false
  %r = arith.select %b, %t, %u : i1
  return %r : i1
}
func.func @choices_of_truth_1(%b: i1) -> i1 {
  %t = arith.constant true
  %u = arith.constant false
  %r = arith.select %b, %u, %t : i1
  return %r : i1
}
func.func @choices_of_truth_2(%b: i1, %c: i1) -> i1 {
  %u = arith.constant false
  %r = arith.select %b, %c, %u : i1
  return %r : i1
}
// -----
func.func @choices_of_numbers_0(%b: i1) -> i32 {
  %t = arith.constant 1 : i32
  %u = arith.constant 0 : i32
  %r = arith.select %b, %t, %u : i32
  return %r : i32
}
func.func @choices_of_numbers_1(%b: i1) -> i32 {
  %t = arith.constant 1 : i32
  %u = arith.constant 0 : i32
  %r = arith.select %b, %u, %t : i32
  return %r : i32
}
func.func @choices_of_numbers_2(%b: i1) -> i32 {
  %t = arith.constant -1 : i32
  %u = arith.constant 0 : i32
  %r = arith.select %b, %t, %u : i32
  return %r : i32
}
func.func @choices_of_numbers_3(%b: i1) -> index {
  %t = arith.constant 1 : index
  %u = arith.constant 0 : index
  %r = arith.select %b, %t, %u : index
  return %r : index
}
// -----
func.func @choices_by_equality_0(%x: i32, %y: i32) -> i32 {
  %e = arith.cmpi eq, %x, %y : i32
  %r = arith.select %e, %x, %y : i32
  return %r : i32
}
func.func @choices_by_equality_1(%x: i32, %y: i32) -> i32 {
  %e = arith.cmpi ne, %x, %y : i32
  %r = arith.select %e, %x, %y : i32
  return %r : i32
}
func.func @choices_by_equality_2(%x: i32, %y: i32) -> i32 {
  %e = arith.cmpi slt, %x, %y : i32
  %r = arith.select %e, %y, %x : i32
  return %r : i32
}
// -----
func.func @nested_choices_0(%x: i32, %y: i32, %z: i32, %b: i1) -> i32 {
  %n = arith.select %b, %x, %y : i32
  %r = arith.select %b, %n, %z : i32
  return %r : i32
}
func.func @nested_choices_1(%x: i32, %y: i32, %z: i32, %b: i1) -> i32 {
  %n = arith.select %b, %x, %y : i32
  %r = arith.select %b, %z, %n : i32
  return %r : i32
}
func.func @nested_choices_2(%x: i32, %y: i32, %b: i1, %c: i1) -> i32 {
  %n = arith.select %b, %x, %y : i32
  %r = arith.select %c, %n, %y : i32
  return %r : i32
}
func.func @nested_choices_3(%x: i32, %y: i32, %b: i1) -> i32 {
  %t = arith.constant true
  %n = arith.xori %b, %t : i1
  %r = arith.select %n, %x, %y : i32
  return %r : i32
}
// -----
func.func @extensions_0(%s: i16) -> i64 {
  %e = arith.extui %s : i16 to i32
  %r = arith.extui %e : i32 to i64
  return %r : i64
}
func.func @extensions_1(%s: i16) -> i64 {
  %e = arith.extsi %s : i16 to i32
  %r = arith.extsi %e : i32 to i64
  return %r : i64
}
func.func @extensions_2(%s: i16) -> i64 {
  %e = arith.extui %s : i16 to i32
  %r = arith.extsi %e : i32 to i64
  return %r : i64
}
func.func @extensions_3(%s: i16) -> i64 {
  %e = arith.extsi %s : i16 to i32
  %r = arith.extui %e : i32 to i64
  return %r : i64
}
// -----
func.func @truncations_0(%s: i16) -> i16 {
  %e = arith.extui %s : i16 to i32
  %r = arith.trunci %e : i32 to i16
  return %r : i16
}
func.func @truncations_1(%s: i16) -> i32 {
  %e = arith.extsi %s : i16 to i64
  %r = arith.trunci %e : i64 to i32
  return %r : i32
}
func.func @truncations_2(%x: i32) -> i16 {
  %e = arith.extui %x : i32 to i64
  %r = arith.trunci %e : i64 to i16
  return %r : i16
}
func.func @truncations_3(%l: i64) -> i16 {
  %e = arith.trunci %l : i64 to i32
  %r = arith.trunci %e : i32 to i16
  return %r : i16
}
func.func @truncations_4(%l: i64) -> i64 {
  %e = arith.trunci %l : i64 to i32
  %r = arith.extsi %e : i32 to i64
  return %r : i64
}
// -----
func.func @index_casts_0(%x: i32) -> i32 {
  %e = arith.index_cast %x : i32 to index
  %r = arith.index_cast %e : index to i32
  return %r : i32
}
func.func @index_casts_1(%i: index) -> index {
  %e = arith.index_cast %i : index to i64
  %r = arith.index_cast %e : i64 to index
  return %r : index
}
func.func @index_casts_2(%x: i32) -> i32 {
  %e = arith.index_castui %x : i32 to index
  %r = arith.index_castui %e : index to i32
  return %r : i32
}
func.func @index_casts_3(%x: i32) -> index {
  %e = arith.extsi %x : i32 to i64
  %r = arith.index_cast %e : i64 to index
  return %r : index
}
func.func @index_casts_4(%x: i32) -> i64 {
  %e = arith.index_cast %x : i32 to index
  %r = arith.index_cast %e : index to i64
  return %r : i64
}
// -----
func.func @narrow_index_casts_0(%i: index) -> index {
  %e = arith.index_cast %i : index to i32
  %r = arith.index_cast %e : i32 to index
  return %r : index
}
// -----
func.func @casts_of_constants_0() -> i16 {
  %k = arith.constant 70000 : i32
  %r = arith.trunci %k : i32 to i16
  return %r : i16
}
func.func @casts_of_constants_1() -> index {
  %k = arith.constant -5 : i32
  %r = arith.index_castui %k : i32 to index
  return %r : index
}
func.func @casts_of_constants_2() -> i16 {
  %k = arith.constant true
  %r = arith.extsi %k : i1 to i16
  return %r : i16
}
func.func @casts_of_constants_3() -> i32 {
  %k = arith.constant 1.5 : f32
  %r = arith.bitcast %k : f32 to i32
  return %r : i32
}
func.func @casts_of_constants_4() -> f64 {
  %k = arith.constant -3 : i32
  %r = arith.uitofp %k : i32 to f64
  return %r : f64
}
// -----
func.func @bits_of_extended_0(%x: i32, %s: i16) -> i32 {
  %w = arith.trunci %x : i32 to i16
  %e = arith.extui %s : i16 to i32
  %e2 = arith.extui %w : i16 to i32
  %r = arith.andi %e, %e2 : i32
  return %r : i32
}
func.func @bits_of_extended_1(%x: i32, %s: i16) -> i32 {
  %w = arith.trunci %x : i32 to i16
  %e = arith.extsi %s : i16 to i32
  %e2 = arith.extsi %w : i16 to i32
  %r = arith.xori %e, %e2 : i32
  return %r : i32
}
// -----
func.func @shifts_cut_off_0(%x: i32) -> i16 {
  %k = arith.constant 16 : i32
  %a = arith.shrsi %x, %k : i32
  %r = arith.trunci %a : i32 to i16
  return %r : i16
}
func.func @shifts_cut_off_1(%x: i32) -> i16 {
  %k = arith.constant 8 : i32
  %a = arith.shrsi %x, %k : i32
  %r = arith.trunci %a : i32 to i16
  return %r : i16
}
// -----
func.func @bitcasts_0(%x: i32) -> i32 {
  %e = arith.bitcast %x : i32 to f32
  %r = arith.bitcast %e : f32 to i32
  return %r : i32
}
func.func @bitcasts_1(%f: f32) -> f32 {
  %e = arith.bitcast %f : f32 to i32
  %r = arith.bitcast %e : i32 to f32
  return %r : f32
}
