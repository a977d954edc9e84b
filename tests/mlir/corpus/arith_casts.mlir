// Casts of arith: every operation between the types that it takes, scalar and vector, rounding modes, fast-math and overflow flags.
func.func @integers(%a: i8, %b: i32, %i: index, %v: vector<4xi16>, %x: i64) {
  %0 = arith.extsi %a : i8 to i32
  %1 = arith.extui %a : i8 to i64
  %2 = arith.extui %a {note = "kept"} : i8 to i64
  %3 = arith.trunci %b : i32 to i1
  %4 = arith.trunci %b overflow<nsw> : i32 to i8
  %5 = arith.trunci %x overflow<nsw, nuw> {note = "kept"} : i64 to i32
  %6 = arith.index_cast %b : i32 to index
  %7 = arith.index_cast %i : index to i64
  %8 = arith.index_castui %i : index to i8
  %9 = arith.index_castui %a : i8 to index
  %10 = arith.extsi %v : vector<4xi16> to vector<4xi64>
  %11 = arith.index_cast %v : vector<4xi16> to vector<4xindex>
  return
}

func.func @floats(%h: f16, %g: bf16, %s: f32, %d: f64, %v: vector<[4]xf64>) {
  %0 = arith.extf %h : f16 to f32
  %1 = arith.extf %g : bf16 to f64
  %2 = arith.extf %s fastmath<ninf> : f32 to f64
  %3 = arith.truncf %d : f64 to f32
  %4 = arith.truncf %s to_nearest_even : f32 to bf16
  %5 = arith.truncf %s downward : f32 to f16
  %6 = arith.truncf %s upward : f32 to f16
  %7 = arith.truncf %s toward_zero : f32 to f16
  %8 = arith.truncf %s to_nearest_away : f32 to f16
  %9 = arith.truncf %d fastmath<fast> : f64 to f16
  %10 = arith.truncf %d downward fastmath<nnan> {note = "kept"} : f64 to f32
  %11 = arith.truncf %v : vector<[4]xf64> to vector<[4]xf32>
  return
}

func.func @between(%a: i32, %s: f32, %d: f64, %v: vector<4xi32>, %w: vector<4xf32>, %t: tensor<4xi32>) {
  %0 = arith.sitofp %a : i32 to f32
  %1 = arith.uitofp %a : i32 to f64
  %2 = arith.fptosi %d : f64 to i64
  %3 = arith.fptoui %s : f32 to i8
  %4 = arith.sitofp %v : vector<4xi32> to vector<4xf64>
  %5 = arith.fptosi %w : vector<4xf32> to vector<4xi1>
  %6 = arith.bitcast %a : i32 to f32
  %7 = arith.bitcast %d : f64 to i64
  %8 = arith.bitcast %v : vector<4xi32> to vector<4xf32>
  %9 = arith.bitcast %t : tensor<4xi32> to tensor<4xf32>
  return
}

func.func @scaled(%s: f32, %e: f8E8M0FNU, %q: f8E5M2) {
  %0 = arith.scaling_truncf %s, %e : f32, f8E8M0FNU to f8E5M2
  %1 = arith.scaling_extf %q, %e : f8E5M2, f8E8M0FNU to f32
  return
}

func.func @generic(%a: i8, %s: f32) {
  %0 = "arith.extui"(%a) : (i8) -> i32
  %1 = "arith.truncf"(%s) <{roundingmode = 3 : i32}> : (f32) -> f16
  %2 = "arith.trunci"(%0) <{overflowFlags = #arith.overflow<nuw>}> : (i32) -> i8
  return
}
