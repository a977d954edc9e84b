// Operations of math with several operands: atan2, copysign, fma, powers, clamp.
func.func @floats(%x: f32, %y: f32, %d: f64, %v: vector<8xf32>) {
  %0 = math.atan2 %x, %y : f32
  %1 = math.copysign %d, %d : f64
  %2 = math.powf %x, %y fastmath<reassoc> : f32
  %3 = math.fma %x, %y, %x : f32
  %4 = math.fma %v, %v, %v fastmath<contract> {note = "kept"} : vector<8xf32>
  %5 = math.clampf %x to [%y, %y] : f32
  %6 = math.clampf %v to [%v, %v] fastmath<nnan> : vector<8xf32>
  return
}

func.func @powers(%x: f32, %n: i32, %i: index, %v: vector<4xf64>, %e: vector<4xi8>) {
  %0 = math.fpowi %x, %n : f32, i32
  %1 = math.fpowi %v, %e fastmath<fast> : vector<4xf64>, vector<4xi8>
  %2 = math.ipowi %n, %n : i32
  %3 = math.ipowi %e, %e {note = "kept"} : vector<4xi8>
  return
}
