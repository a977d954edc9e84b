func.func @signs_0(%f: f32) -> f32 {
  %m = arith.negf %f : f32
  %r = arith.negf %m : f32
  return %r : f32
}
func.func @signs_1(%f: f32, %g: f32) -> f32 {
  %m = arith.negf %f : f32
  %n = arith.negf %g : f32
  %r = arith.mulf %m, %n : f32
  return %r : f32
}
func.func @signs_2(%f: f32, %g: f32) -> f32 {
  %m = arith.negf %f : f32
  %n = arith.negf %g : f32
  %r = arith.divf %m, %n : f32
  return %r : f32
}
func.func @signs_3(%f: f32, %g: f32) -> f32 {
  %m = arith.negf %f : f32
  %r = arith.addf %m, %g : f32
  return %r : f32
}
// -----
func.func @zeros_0(%f: f32) -> f32 {
  %k = arith.constant 0.0 : f32
  %r = arith.addf %f, %k : f32
  return %r : f32
}
func.func @zeros_1(%f: f32) -> f32 {
  %k = arith.constant -0.0 : f32
  %r = arith.addf %k, %f : f32
  return %r : f32
}
func.func @zeros_2(%f: f32) -> f32 {
  %k = arith.constant 0.0 : f32
  %r = arith.subf %f, %k : f32
  return %r : f32
}
func.func @zeros_3(%f: f32) -> f32 {
  %k = arith.constant -0.0 : f32
  %r = arith.subf %f, %k : f32
  return %r : f32
}
func.func @zeros_4(%f: f32) -> f32 {
  %r = arith.subf %f, %f : f32
  return %r : f32
}
// -----
func.func @ones_0(%f: f32) -> f32 {
  %k = arith.constant 1.0 : f32
  %r = arith.mulf %k, %f : f32
  return %r : f32
}
func.func @ones_1(%f: f32) -> f32 {
  %k = arith.constant -1.0 : f32
  %r = arith.mulf %k, %f : f32
  return %r : f32
}
func.func @ones_2(%f: f32) -> f32 {
  %k = arith.constant 0.0 : f32
  %r = arith.mulf %k, %f : f32
  return %r : f32
}
func.func @ones_3(%f: f32) -> f32 {
  %k = arith.constant 1.0 : f32
  %r = arith.divf %f, %k : f32
  return %r : f32
}
func.func @ones_4(%f: f32) -> f32 {
  %k = arith.constant 2.0 : f32
  %r = arith.divf %f, %k : f32
  return %r : f32
}
// -----
func.func @fast_products_0(%f: f32) -> f32 {
  %k = arith.constant 0.0 : f32
  %r = arith.mulf %k, %f fastmath<nnan,nsz> : f32
  return %r : f32
}
// -----
func.func @extremes_0(%f: f32) -> f32 {
  %r = arith.maximumf %f, %f : f32
  return %r : f32
}
func.func @extremes_1(%f: f32) -> f32 {
  %r = arith.minnumf %f, %f : f32
  return %r : f32
}
func.func @extremes_2(%f: f32) -> f32 {
  %k = arith.constant 0xFF800000 : f32
  %r = arith.maximumf %f, %k : f32
  return %r : f32
}
func.func @extremes_3(%f: f32) -> f32 {
  %k = arith.constant 0x7F800000 : f32
  %r = arith.maximumf %f, %k : f32
  return %r : f32
}
func.func @extremes_4(%f: f32) -> f32 {
  %k = arith.constant 0x7FC00000 : f32
  %r = arith.minnumf %f, %k : f32
  return %r : f32
}
// -----
func.func @constants_0() -> f32 {
  %k = arith.constant 1.5 : f32
  %k2 = arith.constant 7.25 : f32
  %r = arith.remf %k2, %k : f32
  return %r : f32
}
func.func @constants_1() -> f32 {
  %k = arith.constant -1.5 : f32
  %k2 = arith.constant 0.0 : f32
  %r = arith.divf %k, %k2 : f32
  return %r : f32
}
func.func @constants_2() -> f32 {
  %k2 = arith.constant 0.0 : f32
  %r = arith.divf %k2, %k2 : f32
  return %r : f32
}
func.func @constants_3() -> f16 {
  %k = arith.constant 1.0e5 : f16
  %k2 = arith.constant 0.1 : f16
  %r = arith.mulf %k, %k2 : f16
  return %r : f16
}
func.func @constants_4() -> f64 {
  %k = arith.constant 0.1 : f64
  %k2 = arith.constant 0.2 : f64
  %r = arith.addf %k, %k2 : f64
  return %r : f64
}
// -----
func.func @conversions_0() -> f32 {
  %k = arith.constant 3 : i32
  %r = arith.sitofp %k : i32 to f32
  return %r : f32
}
func.func @conversions_1() -> i32 {
  %k = arith.constant 3.7 : f32
  %r = arith.fptosi %k : f32 to i32
  return %r : i32
}
func.func @conversions_2() -> i32 {
  %k = arith.constant -3.7 : f32
  %r = arith.fptoui %k : f32 to i32
  return %r : i32
}
func.func @conversions_3() -> i32 {
  %k = arith.constant 1.0e20 : f32
  %r = arith.fptosi %k : f32 to i32
  return %r : i32
}
// -----
func.func @widths_0(%f: f32) -> f32 {
  %e = arith.extf %f : f32 to f64
  %r = arith.truncf %e : f64 to f32
  return %r : f32
}
func.func @widths_1(%f: f32) -> f16 {
  %e = arith.extf %f : f32 to f64
  %r = arith.truncf %e : f64 to f16
  return %r : f16
}
func.func @widths_2(%d: f64) -> f64 {
  %e = arith.truncf %d : f64 to f32
  %r = arith.extf %e : f32 to f64
  return %r : f64
}
func.func @widths_3() -> f64 {
  %k = arith.constant 3.7 : f32
  %r = arith.extf %k : f32 to f64
  return %r : f64
}
func.func @widths_4() -> f32 {
  %k = arith.constant 3.7 : f64
  %r = arith.truncf %k : f64 to f32
  return %r : f32
}
func.func @widths_5() -> f32 {
  %k = arith.constant 3.5 : f64
  %r = arith.truncf %k : f64 to f32
  return %r : f32
}
// -----
func.func @integers_as_floats_0(%x: i32) -> f32 {
  %e = arith.sitofp %x : i32 to f64
  %r = arith.truncf %e : f64 to f32
  return %r : f32
}
func.func @integers_as_floats_1(%x: i32) -> i32 {
  %e = arith.sitofp %x : i32 to f64
  %r = arith.fptosi %e : f64 to i32
  return %r : i32
}
// -----
func.func @wide_integers_as_floats_0(%l: i64) -> f32 {
  %e = arith.sitofp %l : i64 to f64
  %r = arith.truncf %e : f64 to f32
  return %r : f32
}
// -----
func.func @comparisons_0(%f: f32) -> i1 {
  %r = arith.cmpf oeq, %f, %f : f32
  return %r : i1
}
func.func @comparisons_1(%f: f32) -> i1 {
  %k = arith.constant 0x7FC00000 : f32
  %r = arith.cmpf ogt, %f, %k : f32
  return %r : i1
}
func.func @comparisons_2(%f: f32) -> i1 {
  %k = arith.constant 0x7FC00000 : f32
  %r = arith.cmpf ugt, %k, %f : f32
  return %r : i1
}
func.func @comparisons_3(%f: f32) -> i1 {
  %k = arith.constant 0.5 : f32
  %r = arith.cmpf ugt, %k, %f : f32
  return %r : i1
}
func.func @comparisons_4() -> i1 {
  %k = arith.constant 0.5 : f32
  %k1 = arith.constant 0.25 : f32
  %r = arith.cmpf ugt, %k, %k1 : f32
  return %r : i1
}
// -----
func.func @integers_compared_as_floats_0(%x: i32) -> i1 {
  %k = arith.constant 0.5 : f32
  %e = arith.sitofp %x : i32 to f32
  %r = arith.cmpf ogt, %e, %k : f32
  return %r : i1
}
func.func @integers_compared_as_floats_1(%x: i32) -> i1 {
  %k = arith.constant 3.5 : f64
  %e = arith.sitofp %x : i32 to f64
  %r = arith.cmpf oeq, %e, %k : f64
  return %r : i1
}
func.func @integers_compared_as_floats_2(%x: i32) -> i1 {
  %k = arith.constant -3.5 : f64
  %e = arith.sitofp %x : i32 to f64
  %r = arith.cmpf oge, %e, %k : f64
  return %r : i1
}
func.func @integers_compared_as_floats_3(%x: i32) -> i1 {
  %k = arith.constant -3.5 : f64
  %e = arith.uitofp %x : i32 to f64
  %r = arith.cmpf olt, %e, %k : f64
  return %r : i1
}
func.func @integers_compared_as_floats_4(%x: i32) -> i1 {
  %k = arith.constant 0x7FF0000000000000 : f64
  %e = arith.uitofp %x : i32 to f64
  %r = arith.cmpf olt, %e, %k : f64
  return %r : i1
}
// -----
func.func @math_of_constants_0() -> f32 {
  %k = arith.constant -2.5 : f32
  %r = math.absf %k : f32
  return %r : f32
}
func.func @math_of_constants_1() -> f32 {
  %k = arith.constant -2.5 : f32
  %r = math.floor %k : f32
  return %r : f32
}
func.func @math_of_constants_2() -> f32 {
  %k = arith.constant -2.5 : f32
  %r = math.ceil %k : f32
  return %r : f32
}
func.func @math_of_constants_3() -> f32 {
  %k = arith.constant 2.5 : f32
  %r = math.roundeven %k : f32
  return %r : f32
}
func.func @math_of_constants_4() -> f32 {
  %k = arith.constant 2.5 : f32
  %r = math.round %k : f32
  return %r : f32
}
func.func @math_of_constants_5() -> f32 {
  %k = arith.constant -2.5 : f32
  %r = math.trunc %k : f32
  return %r : f32
}
// -----
func.func @math_of_integers_0() -> i32 {
  %k = arith.constant -5 : i32
  %r = math.absi %k : i32
  return %r : i32
}
func.func @math_of_integers_1() -> i32 {
  %k = arith.constant 40 : i32
  %r = math.ctlz %k : i32
  return %r : i32
}
func.func @math_of_integers_2() -> i32 {
  %k = arith.constant 40 : i32
  %r = math.cttz %k : i32
  return %r : i32
}
func.func @math_of_integers_3() -> i32 {
  %k = arith.constant 40 : i32
  %r = math.ctpop %k : i32
  return %r : i32
}
func.func @math_of_integers_4() -> i32 {
  %k = arith.constant 3 : i32
  %k4 = arith.constant 4 : i32
  %r = math.ipowi %k, %k4 : i32
  return %r : i32
}
// -----
func.func @math_again_0(%f: f32) -> f32 {
  %m = math.absf %f : f32
  %r = math.absf %m : f32
  return %r : f32
}
func.func @math_again_1(%f: f32) -> f32 {
  %m = math.floor %f : f32
  %r = math.floor %m : f32
  return %r : f32
}
func.func @math_again_2(%x: i32) -> i32 {
  %m = math.absi %x : i32
  %r = math.absi %m : i32
  return %r : i32
}
// -----
func.func @math_with_constants_0() -> f32 {
  %k = arith.constant 4.0 : f32
  %r = math.sqrt %k : f32
  return %r : f32
}
func.func @math_with_constants_1() -> f32 {
  %k = arith.constant -4.0 : f32
  %r = math.sqrt %k : f32
  return %r : f32
}
func.func @math_with_constants_2() -> f32 {
  %k = arith.constant 2.0 : f32
  %k1 = arith.constant -3.0 : f32
  %r = math.copysign %k, %k1 : f32
  return %r : f32
}
func.func @math_with_constants_3() -> f32 {
  %k = arith.constant 2.0 : f32
  %r = math.fma %k, %k, %k : f32
  return %r : f32
}
// -----
func.func @math_of_the_library_0() -> f64 {
  %k = arith.constant 2.0 : f64
  %r = math.exp %k : f64
  return %r : f64
}
func.func @math_of_the_library_1() -> f64 {
  %k = arith.constant 2.0 : f64
  %r = math.powf %k, %k : f64
  return %r : f64
}
// -----
func.func @math_kept_0(%f: f32) -> f32 {
  %k = arith.constant 2.0 : f32
  %r = math.powf %f, %k : f32
  return %r : f32
}
func.func @math_kept_1(%f: f32, %g: f32) -> f32 {
  %k = arith.constant 1.0 : f32
  %r = math.fma %f, %k, %g : f32
  return %r : f32
}
func.func @math_kept_2(%x: i32) -> i32 {
  %k = arith.constant 1 : i32
  %r = math.ipowi %x, %k : i32
  return %r : i32
}
