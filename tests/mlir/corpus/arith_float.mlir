// Float arithmetic of arith: every operation, each width, every fast-math flag.
func.func @plain(%a: f32, %b: f32, %x: f64, %h: f16, %g: bf16) {
  %add = arith.addf %a, %b : f32
  %sub = arith.subf %x, %x : f64
  %mul = arith.mulf %h, %h : f16
  %div = arith.divf %g, %g : bf16
  %rem = arith.remf %a, %b : f32
  %neg = arith.negf %a : f32
  %maximum = arith.maximumf %a, %b : f32
  %minimum = arith.minimumf %a, %b : f32
  %maxnum = arith.maxnumf %x, %x : f64
  %minnum = arith.minnumf %a, %b : f32
  return
}

func.func @fastmath(%a: f32, %b: f32) {
  %0 = arith.addf %a, %b fastmath<reassoc> : f32
  %1 = arith.mulf %a, %b fastmath<nnan, ninf> : f32
  %2 = arith.subf %a, %b fastmath<fast> : f32
  %3 = arith.divf %a, %b fastmath<arcp, nsz, contract, afn> : f32
  %4 = arith.negf %a fastmath<nsz> : f32
  %5 = arith.remf %a, %b fastmath<none> : f32
  %6 = arith.maximumf %a, %b fastmath<nnan> {note = "kept"} : f32
  %7 = arith.addf %a, %b fastmath<reassoc, nnan, ninf, nsz, arcp, contract, afn> : f32
  %8 = arith.cmpf olt, %a, %b fastmath<ninf> : f32
  return
}

func.func @shapes(%v: vector<8xf32>, %w: vector<2x[4]xf64>, %r: vector<f32>, %t: tensor<2x?xf16>, %u: tensor<*xf32>) {
  %0 = arith.addf %v, %v : vector<8xf32>
  %1 = arith.mulf %w, %w fastmath<contract> : vector<2x[4]xf64>
  %2 = arith.negf %r : vector<f32>
  %3 = arith.divf %t, %t : tensor<2x?xf16>
  %4 = arith.subf %u, %u : tensor<*xf32>
  return
}

func.func @generic(%a: f32) {
  %0 = "arith.addf"(%a, %a) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
  %1 = "arith.addf"(%a, %a) <{fastmath = #arith.fastmath<nnan,contract>}> : (f32, f32) -> f32
  %2 = "arith.negf"(%a) {fastmath = #arith.fastmath<fast>} : (f32) -> f32
  %3 = "arith.mulf"(%a, %a) : (f32, f32) -> f32
  return
}
