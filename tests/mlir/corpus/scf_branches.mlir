// scf.if, index_switch, execute_region: with and without results and else, several blocks, attributes.
func.func @if(%p: i1, %x: f32, %A: memref<f32>) -> f32 {
  scf.if %p {
    memref.store %x, %A[] : memref<f32>
  }
  scf.if %p {
  } else {
    memref.store %x, %A[] : memref<f32>
  }
  scf.if %p {
    scf.yield
  } {note = "kept"}
  %0 = scf.if %p -> (f32) {
    scf.yield %x : f32
  } else {
    %c = arith.constant 0.0 : f32
    scf.yield %c : f32
  }
  %1:2 = scf.if %p -> (f32, i1) {
    scf.yield %0, %p : f32, i1
  } else {
    scf.yield %x, %p : f32, i1
  } {note = "kept"}
  return %1#0 : f32
}

func.func @switch(%i: index, %x: f32, %y: f32) -> f32 {
  %0 = scf.index_switch %i -> f32
  case 2 {
    scf.yield %x : f32
  }
  case -5 {
    scf.yield %y : f32
  }
  default {
    scf.yield %x : f32
  }
  scf.index_switch %i
  case 1 {
    scf.yield
  }
  default {
  }
  scf.index_switch %i {note = "kept"}
  default {
  }
  %1:2 = scf.index_switch %i -> f32, index
  case 0 {
    scf.yield %x, %i : f32, index
  }
  default {
    scf.yield %y, %i : f32, index
  }
  return %0 : f32
}

func.func @region(%p: i1, %x: i64) -> i64 {
  %0 = scf.execute_region -> i64 {
    cf.cond_br %p, ^first, ^second(%x : i64)
  ^first:
    %c = arith.constant 1 : i64
    cf.br ^second(%c : i64)
  ^second(%y: i64):
    scf.yield %y : i64
  }
  scf.execute_region {
    scf.yield
  }
  %1:2 = scf.execute_region -> (i64, i1) no_inline {
    scf.yield %0, %p : i64, i1
  }
  %2 = scf.execute_region -> i64 {
    scf.yield %x : i64
  } {note = "kept"}
  return %0 : i64
}

func.func @generic(%p: i1, %x: f32) -> f32 {
  %0 = "scf.if"(%p) ({
    "scf.yield"(%x) : (f32) -> ()
  }, {
    "scf.yield"(%x) : (f32) -> ()
  }) : (i1) -> f32
  "scf.if"(%p) ({
    "scf.yield"() : () -> ()
  }, {
  }) : (i1) -> ()
  return %0 : f32
}
