// arith.cmpi, arith.cmpf and arith.select: every predicate, by name and by number, scalar and vector conditions.
func.func @integers(%a: i32, %b: i32, %i: index, %v: vector<4xi8>) {
  %0 = arith.cmpi eq, %a, %b : i32
  %1 = arith.cmpi ne, %a, %b : i32
  %2 = arith.cmpi slt, %i, %i : index
  %3 = arith.cmpi sle, %a, %b : i32
  %4 = arith.cmpi sgt, %a, %b : i32
  %5 = arith.cmpi sge, %a, %b {note = "kept"} : i32
  %6 = arith.cmpi ult, %a, %b : i32
  %7 = arith.cmpi ule, %a, %b : i32
  %8 = arith.cmpi ugt, %v, %v : vector<4xi8>
  %9 = arith.cmpi uge, %0, %1 : i1
  return
}

func.func @floats(%a: f32, %b: f32, %v: vector<4xf64>) {
  %0 = arith.cmpf false, %a, %b : f32
  %1 = arith.cmpf oeq, %a, %b : f32
  %2 = arith.cmpf ogt, %a, %b : f32
  %3 = arith.cmpf oge, %a, %b : f32
  %4 = arith.cmpf olt, %a, %b : f32
  %5 = arith.cmpf ole, %a, %b : f32
  %6 = arith.cmpf one, %a, %b : f32
  %7 = arith.cmpf ord, %a, %b : f32
  %8 = arith.cmpf ueq, %a, %b : f32
  %9 = arith.cmpf ugt, %a, %b : f32
  %10 = arith.cmpf uge, %a, %b : f32
  %11 = arith.cmpf ult, %a, %b fastmath<nnan> : f32
  %12 = arith.cmpf ule, %v, %v : vector<4xf64>
  %13 = arith.cmpf une, %a, %b : f32
  %14 = arith.cmpf uno, %a, %b : f32
  %15 = arith.cmpf true, %a, %b : f32
  return
}

func.func @select(%p: i1, %q: vector<4xi1>, %a: f32, %v: vector<4xi32>, %A: memref<8xf32>, %i: index, %t: tensor<4xf32>) {
  %0 = arith.select %p, %a, %a : f32
  %1 = arith.select %q, %v, %v : vector<4xi1>, vector<4xi32>
  %2 = arith.select %p, %v, %v : vector<4xi32>
  %3 = arith.select %p, %A, %A : memref<8xf32>
  %4 = arith.select %p, %i, %i {note = "kept"} : index
  %5 = arith.select %p, %t, %t : tensor<4xf32>
  return
}

func.func @generic(%a: i32, %b: i32, %x: f32) {
  %0 = "arith.cmpi"(%a, %b) <{predicate = 2 : i64}> : (i32, i32) -> i1
  %1 = "arith.cmpf"(%x, %x) <{fastmath = #arith.fastmath<none>, predicate = 14 : i64}> : (f32, f32) -> i1
  %2 = "arith.cmpf"(%x, %x) {predicate = 1 : i64} : (f32, f32) -> i1
  %3 = "arith.select"(%0, %a, %b) : (i1, i32, i32) -> i32
  return
}
