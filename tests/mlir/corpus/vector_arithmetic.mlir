// vector.reduction, multi_reduction, scan, fma, outerproduct, contract: all kinds, accumulators, fast-math flags.
#lhs = affine_map<(i, j, k) -> (i, k)>
#rhs = affine_map<(i, j, k) -> (k, j)>
#out = affine_map<(i, j, k) -> (i, j)>
#matmul = {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
func.func @reduction(%f: vector<8xf32>, %n: vector<8xi32>, %x: f32, %a: i32, %s: vector<[4]xf64>) {
  %0 = vector.reduction <add>, %f : vector<8xf32> into f32
  %1 = vector.reduction <mul>, %f, %x : vector<8xf32> into f32
  %2 = vector.reduction <add>, %f, %x fastmath<reassoc> : vector<8xf32> into f32
  %3 = vector.reduction <minnumf>, %f : vector<8xf32> into f32
  %4 = vector.reduction <maxnumf>, %f : vector<8xf32> into f32
  %5 = vector.reduction <minimumf>, %f fastmath<nnan, ninf> : vector<8xf32> into f32
  %6 = vector.reduction <maximumf>, %f : vector<8xf32> into f32
  %7 = vector.reduction <minsi>, %n : vector<8xi32> into i32
  %8 = vector.reduction <maxsi>, %n, %a : vector<8xi32> into i32
  %9 = vector.reduction <minui>, %n : vector<8xi32> into i32
  %10 = vector.reduction <maxui>, %n : vector<8xi32> into i32
  %11 = vector.reduction <and>, %n : vector<8xi32> into i32
  %12 = vector.reduction <or>, %n : vector<8xi32> into i32
  %13 = vector.reduction <xor>, %n {note = "kept"} : vector<8xi32> into i32
  %14 = vector.reduction <add>, %s : vector<[4]xf64> into f64
  %15 = "vector.reduction"(%f) <{fastmath = #arith.fastmath<none>, kind = #vector.kind<mul>}> : (vector<8xf32>) -> f32
  return
}

func.func @multi(%w: vector<4x8x2xf32>, %acc: vector<4x2xf32>, %x: f32, %m: vector<4x8xi32>, %a: vector<8xi32>) {
  %0 = vector.multi_reduction <add>, %w, %acc [1] : vector<4x8x2xf32> to vector<4x2xf32>
  %1 = vector.multi_reduction <mul>, %w, %x [0, 1, 2] : vector<4x8x2xf32> to f32
  %2 = vector.multi_reduction <maxsi>, %m, %a {note = "kept"} [0] : vector<4x8xi32> to vector<8xi32>
  %3:2 = vector.scan <add>, %m, %a {inclusive = true, reduction_dim = 0 : i64} : vector<4x8xi32>, vector<8xi32>
  return
}

func.func @products(%v: vector<4xf32>, %w: vector<8xf32>, %acc: vector<4x8xf32>, %x: f32, %s: vector<[4]xf32>, %n: vector<4xi32>, %nn: vector<4x4xi32>) {
  %0 = vector.fma %v, %v, %v : vector<4xf32>
  %1 = vector.fma %s, %s, %s {note = "kept"} : vector<[4]xf32>
  %2 = vector.outerproduct %v, %w : vector<4xf32>, vector<8xf32>
  %3 = vector.outerproduct %v, %w, %acc : vector<4xf32>, vector<8xf32>
  %4 = vector.outerproduct %v, %x : vector<4xf32>, f32
  %5 = vector.outerproduct %n, %n, %nn {kind = #vector.kind<maxsi>} : vector<4xi32>, vector<4xi32>
  return
}

func.func @contract(%a: vector<4x8xf32>, %b: vector<8x16xf32>, %c: vector<4x16xf32>, %v: vector<8xf32>, %x: f32, %n: vector<4x8xi8>, %m: vector<8x16xi8>, %o: vector<4x16xi32>) {
  %0 = vector.contract #matmul %a, %b, %c : vector<4x8xf32>, vector<8x16xf32> into vector<4x16xf32>
  %1 = vector.contract {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"], kind = #vector.kind<maxnumf>} %v, %v, %x : vector<8xf32>, vector<8xf32> into f32
  %2 = vector.contract #matmul %n, %m, %o : vector<4x8xi8>, vector<8x16xi8> into vector<4x16xi32>
  %3 = vector.contract {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>, note = "kept"} %a, %b, %c : vector<4x8xf32>, vector<8x16xf32> into vector<4x16xf32>
  return
}
