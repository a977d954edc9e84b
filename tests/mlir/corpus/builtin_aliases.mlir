// RUN-FLAGS: --allow-unregistered-dialect
// Aliases of attributes and types: of every kind, of one another, unused, defined after their first use.
#map = affine_map<(d0) -> (d0 * 2)>
#set = affine_set<(d0) : (d0 >= 0)>
#text = "a string"
#number = 7 : i32
#list = [#number, #text, #map]
#flags = #arith.fastmath<nnan>
#unused = unit
!float = f32
!row = vector<8x!float>
!grid = memref<?x?x!float, 1>
!function = (!float) -> !row
!opaque = !unknown.thing<4>
!unused_type = i8
func.func @uses(%A: !grid, %i: index, %x: !float, %v: !row, %o: !opaque, %f: !function) -> !row {
  affine.for %j = #map(%i) to 100 {
    affine.if #set(%j) {
    }
  }
  %0 = arith.addf %x, %x : !float
  %1 = memref.load %A[%i, %i] : !grid
  "test.op"() {list = #list, number = #number, text = #text, flags = #flags, type = !row} : () -> ()
  %2 = arith.addf %v, %v : !row
  return %2 : !row
}

// Between operations aliases may stand as well.
#late = affine_map<(d0) -> (d0 + 1)>
!late = memref<4xi32>
func.func @late(%i: index, %A: !late) -> index {
  %0 = affine.apply #late(%i)
  return %0 : index
}

// -----

// The names of aliases are free; each chunk has its own.
#map = affine_map<(i) -> (i)>
#a$c_d0 = affine_map<(i, j) -> (j)>
#_private = 3.0 : f32
!t0$x = i32
func.func @names(%i: index, %x: !t0$x) -> index {
  %0 = affine.apply #map(%i)
  %1 = affine.apply #a$c_d0(%0, %i)
  "test.op"() {value = #_private} : () -> ()
  return %1 : index
}
