// Unary operations of math on each float type and on integers, with fast-math flags and attributes.
func.func @floats(%x: f32, %d: f64, %h: f16, %v: vector<4xf32>, %w: vector<[2]xf64>, %t: tensor<?xf32>) {
  %absf = math.absf %x : f32
  %acos = math.acos %x : f32
  %acosh = math.acosh %d : f64
  %asin = math.asin %x : f32
  %asinh = math.asinh %h : f16
  %atan = math.atan %x : f32
  %atanh = math.atanh %v : vector<4xf32>
  %cbrt = math.cbrt %x : f32
  %ceil = math.ceil %x : f32
  %cos = math.cos %d : f64
  %cosh = math.cosh %x : f32
  %erf = math.erf %x : f32
  %erfc = math.erfc %x : f32
  %exp = math.exp %w : vector<[2]xf64>
  %exp2 = math.exp2 %x : f32
  %expm1 = math.expm1 %x : f32
  %floor = math.floor %x : f32
  %log = math.log %t : tensor<?xf32>
  %log10 = math.log10 %x : f32
  %log1p = math.log1p %x : f32
  %log2 = math.log2 %x : f32
  %round = math.round %x : f32
  %roundeven = math.roundeven %x : f32
  %rsqrt = math.rsqrt %x : f32
  %sin = math.sin %x : f32
  %sinh = math.sinh %x : f32
  %sqrt = math.sqrt %x : f32
  %tan = math.tan %x : f32
  %tanh = math.tanh %x : f32
  %trunc = math.trunc %x : f32
  return
}

func.func @integers(%a: i32, %i: index, %b: i8, %v: vector<4xi64>) {
  %absi = math.absi %a : i32
  %ctlz = math.ctlz %b : i8
  %cttz = math.cttz %v : vector<4xi64>
  %ctpop = math.ctpop %a : i32
  %absx = math.absi %i : index
  return
}

func.func @classify(%x: f32, %v: vector<4xf64>) {
  %nan = math.isnan %x : f32
  %infinite = math.isinf %x : f32
  %finite = math.isfinite %v : vector<4xf64>
  %normal = math.isnormal %x : f32
  return
}

func.func @flags(%x: f32) {
  %0 = math.sqrt %x fastmath<fast> : f32
  %1 = math.exp %x fastmath<nnan, contract> {note = "kept"} : f32
  %2 = "math.sin"(%x) <{fastmath = #arith.fastmath<afn>}> : (f32) -> f32
  %3 = math.absf %x {note = "kept"} : f32
  %sine, %cosine = math.sincos %x : f32
  return
}
