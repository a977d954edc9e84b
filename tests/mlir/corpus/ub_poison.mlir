// RUN-FLAGS: --allow-unregistered-dialect
// ub.poison: any type, its attribute in full and left out; ub.unreachable after a terminator's place.
func.func @poison() -> (f32, vector<4xf32>, index) {
  %0 = ub.poison : f32
  %1 = ub.poison : vector<4xf32>
  %2 = ub.poison : index
  %3 = ub.poison : memref<4xf32>
  %4 = ub.poison <#ub.poison> : i32
  %5 = ub.poison {note = "kept"} : i32
  %6 = "ub.poison"() <{value = #ub.poison}> : () -> i64
  %7 = "ub.poison"() : () -> !unknown.thing<4>
  return %0, %1, %2 : f32, vector<4xf32>, index
}

func.func @padding(%A: memref<?xf32>, %i: index) -> vector<4xf32> {
  %p = ub.poison : f32
  %0 = vector.transfer_read %A[%i], %p : memref<?xf32>, vector<4xf32>
  return %0 : vector<4xf32>
}

func.func @attribute() attributes {fill = #ub.poison} {
  ub.unreachable
}
