// func.call, call_indirect, constant and return: without, with one and several results, before the definition, recursive.
func.func @caller(%x: f32, %A: memref<?xf32>) -> (f32, f32) {
  call @none() : () -> ()
  func.call @takes(%A, %x) : (memref<?xf32>, f32) -> ()
  %0 = call @gives(%x) : (f32) -> f32
  %1:2 = func.call @gives_two(%0) {note = "kept"} : (f32) -> (f32, i32)
  %2, %3 = call @gives_two(%0) : (f32) -> (f32, i32)
  call @"quoted name"(%3) : (i32) -> ()
  call @none() {no_inline} : () -> ()
  return %1#0, %2 : f32, f32
}

func.func private @none()
func.func private @takes(memref<?xf32>, f32)
func.func private @gives(f32) -> f32
func.func private @"quoted name"(i32)

func.func @gives_two(%x: f32) -> (f32, i32) {
  %0:2 = func.call @gives_two(%x) : (f32) -> (f32, i32)
  return %0#0, %0#1 : f32, i32
}

func.func @indirect(%x: f32) -> f32 {
  %f = constant @gives : (f32) -> f32
  %g = func.constant @gives_two : (f32) -> (f32, i32)
  %0 = call_indirect %f(%x) : (f32) -> f32
  %1:2 = func.call_indirect %g(%0) : (f32) -> (f32, i32)
  %2 = func.call_indirect %f(%1#0) {note = "kept"} : (f32) -> f32
  %3 = "func.constant"() <{value = @gives}> : () -> ((f32) -> f32)
  %4 = "func.call"(%2) <{callee = @gives}> : (f32) -> f32
  func.return %4 : f32
}

func.func @in_loops(%A: memref<?xf32>, %x: f32, %n: index) {
  affine.for %i = 0 to %n {
    %0 = func.call @gives(%x) : (f32) -> f32
    affine.store %0, %A[%i] : memref<?xf32>
  }
  return
}
