// Integer arithmetic of arith: every operation, on i32, index and i1, with overflow and exactness flags.
func.func @plain(%a: i32, %b: i32, %i: index, %j: index, %p: i1, %q: i1) {
  %add = arith.addi %a, %b : i32
  %sub = arith.subi %i, %j : index
  %mul = arith.muli %a, %b : i32
  %divs = arith.divsi %a, %b : i32
  %divu = arith.divui %i, %j : index
  %ceils = arith.ceildivsi %a, %b : i32
  %ceilu = arith.ceildivui %a, %b : i32
  %floor = arith.floordivsi %i, %j : index
  %rems = arith.remsi %a, %b : i32
  %remu = arith.remui %a, %b : i32
  %and = arith.andi %p, %q : i1
  %or = arith.ori %a, %b : i32
  %xor = arith.xori %i, %j : index
  %shl = arith.shli %a, %b : i32
  %shrs = arith.shrsi %a, %b : i32
  %shru = arith.shrui %a, %b : i32
  %maxs = arith.maxsi %a, %b : i32
  %maxu = arith.maxui %i, %j : index
  %mins = arith.minsi %a, %b : i32
  %minu = arith.minui %a, %b : i32
  return
}

func.func @flags(%a: i32, %b: i32, %i: index) {
  %0 = arith.addi %a, %b overflow<nsw> : i32
  %1 = arith.subi %a, %b overflow<nuw> : i32
  %2 = arith.muli %a, %b overflow<nsw, nuw> : i32
  %3 = arith.shli %a, %b overflow<nuw, nsw> : i32
  %4 = arith.addi %i, %i overflow<none> : index
  %5 = arith.muli %i, %i overflow<nsw> {note = "kept"} : index
  %6 = arith.divsi %a, %b exact : i32
  %7 = arith.divui %a, %b exact : i32
  %8 = arith.shrsi %a, %b exact : i32
  %9 = arith.shrui %a, %b exact {note = "kept"} : i32
  return
}

func.func @extended(%a: i32, %b: i32, %v: vector<4xi64>) {
  %sum, %overflow = arith.addui_extended %a, %b : i32, i1
  %low, %high = arith.mulsi_extended %a, %b : i32
  %lows:2 = arith.mului_extended %v, %v : vector<4xi64>
  %sums:2 = arith.addui_extended %v, %v : vector<4xi64>, vector<4xi1>
  return
}

func.func @widths(%a: i1, %b: i5, %c: i16, %d: i128, %v: vector<2x3xi8>, %w: vector<[4]xindex>, %t: tensor<?xi32>) {
  %0 = arith.addi %a, %a : i1
  %1 = arith.muli %b, %b : i5
  %2 = arith.xori %c, %c : i16
  %3 = arith.subi %d, %d : i128
  %4 = arith.maxsi %v, %v : vector<2x3xi8>
  %5 = arith.addi %w, %w overflow<nsw> : vector<[4]xindex>
  %6 = arith.andi %t, %t : tensor<?xi32>
  return
}

func.func @generic(%a: i32, %i: index) {
  %0 = "arith.addi"(%a, %a) : (i32, i32) -> i32
  %1 = "arith.addi"(%a, %a) <{overflowFlags = #arith.overflow<nsw, nuw>}> : (i32, i32) -> i32
  %2 = "arith.addi"(%a, %a) {overflowFlags = #arith.overflow<none>, note} : (i32, i32) -> i32
  %3 = "arith.shrsi"(%a, %a) <{isExact}> : (i32, i32) -> i32
  %4 = "arith.constant"() <{value = 3 : index}> : () -> index
  return
}
