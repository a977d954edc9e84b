// ----- maps without affine_map
#shear = (d0, d1)[s0] -> (d0 + d1 * s0)
func @f(%n: index) {
  affine.for %i = 0 to ()[s] -> (s)()[%n] {
    affine.for %j = max (d0) -> (0, d0 - 3)(%i) to min (d0)[s0] -> (d0 + 1, s0) (%i)[%n] step 2 {
      %0 = affine.apply #shear(%i, %j)[%n]
      %1 = affine.apply (a)[b] -> (a + b) (%0)[%n]
    }
  }
  affine.for %i = () -> (-4)() to %n {
  }
  return
}
// TODAY
#shear = affine_map<(d0, d1)[s0] -> (d0 + d1 * s0)>
func.func @f(%n: index) {
  affine.for %i = 0 to affine_map<()[s0] -> (s0)>()[%n] {
    affine.for %j = max affine_map<(d0) -> (0, d0 - 3)>(%i)
                 to min affine_map<(d0)[s0] -> (d0 + 1, s0)>(%i)[%n] step 2 {
      %0 = affine.apply #shear(%i, %j)[%n]
      %1 = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%0)[%n]
    }
  }
  affine.for %i = affine_map<() -> (-4)>() to %n {
  }
  return
}
// ----- divisions as functions
#cells = (d0, d1) -> (floordiv(d0, 8) + ceildiv(d1 + 1, 4) * 2 - mod(d0, 3))
func @f(%i: index, %j: index) -> index {
  %0 = affine.apply #cells (%i, %j)
  return %0 : index
}
// TODAY
#cells = affine_map<(d0, d1) -> (d0 floordiv 8 + ((d1 + 1) ceildiv 4) * 2 - d0 mod 3)>
func.func @f(%i: index, %j: index) -> index {
  %0 = affine.apply #cells (%i, %j)
  return %0 : index
}
// ----- sets without affine_set
#inside = (d0, d1)[s0] : (d0 - 1 >= 0, s0 - d1 - 2 >= 0, d0 - d1 == 0)
func @f(%n: index, %A: memref<?xf32>, %x: f32) {
  affine.for %i = 0 to %n {
    affine.if #inside(%i, %i)[%n] {
      affine.store %x, %A[%i] : memref<?xf32>
    } else {
      affine.if (d0) : (d0 - 5 >= 0) (%i) {
        affine.store %x, %A[%i - 1] : memref<?xf32>
      }
    }
  }
  return
}
// TODAY
#inside = affine_set<(d0, d1)[s0] : (d0 - 1 >= 0, s0 - d1 - 2 >= 0, d0 - d1 == 0)>
func.func @f(%n: index, %A: memref<?xf32>, %x: f32) {
  affine.for %i = 0 to %n {
    affine.if #inside(%i, %i)[%n] {
      affine.store %x, %A[%i] : memref<?xf32>
    } else {
      affine.if affine_set<(d0) : (d0 - 5 >= 0)>(%i) {
        affine.store %x, %A[%i - 1] : memref<?xf32>
      }
    }
  }
  return
}
// ----- declarations that nobody called private
func @pick(memref<?xf32>, index, index) -> f32
func @put(f32, memref<?xf32>, index)
func @f(%A: memref<?xf32>) {
  %n = dim %A, 0 : memref<?xf32>
  affine.for %i = 0 to %n step 1 {
    %x = call @pick(%A, %i, %n) : (memref<?xf32>, index, index)->(f32)
    call @put(%x, %A, %i) : (f32, memref<?xf32>, index)->()
  }
  return
}
// TODAY
func.func private @pick(memref<?xf32>, index, index) -> f32
func.func private @put(f32, memref<?xf32>, index)
func.func @f(%A: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %A, %c0 : memref<?xf32>
  affine.for %i = 0 to %n {
    %x = func.call @pick(%A, %i, %n) : (memref<?xf32>, index, index) -> f32
    func.call @put(%x, %A, %i) : (f32, memref<?xf32>, index) -> ()
  }
  return
}
// ----- a reduction carried through a loop, scalar
func @f(%A: memref<24x8xf32>, %y: memref<8xf32>) {
  %zero = constant 0.0 : f32
  affine.for %j = 0 to 8 {
    %sum = affine.for %i = 0 to 24 iter_args(%so_far = %zero) -> (f32) {
      %x = affine.load %A[%i, %j] : memref<24x8xf32>
      %xx = mulf %x, %x : f32
      %next = addf %so_far, %xx : f32
      affine.yield %next : f32
    }
    affine.store %sum, %y[%j] : memref<8xf32>
  }
  return
}
// TODAY
func.func @f(%A: memref<24x8xf32>, %y: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %j = 0 to 8 {
    %sum = affine.for %i = 0 to 24 iter_args(%so_far = %zero) -> (f32) {
      %x = affine.load %A[%i, %j] : memref<24x8xf32>
      %xx = arith.mulf %x, %x : f32
      %next = arith.addf %so_far, %xx : f32
      affine.yield %next : f32
    }
    affine.store %sum, %y[%j] : memref<8xf32>
  }
  return
}
// ----- a reduction carried through a loop, in vectors
func @f(%A: memref<24x8xf32>, %y: memref<8xf32>) {
  %pad = constant 0.0 : f32
  %zero = constant dense<0.0> : vector<4xf32>
  affine.for %i = 0 to 8 {
    %all = affine.for %j = 0 to 8 step 4 iter_args(%lanes = %zero) -> (vector<4xf32>) {
      %x = vector.transfer_read %A[%i, %j], %pad : memref<24x8xf32>, vector<4xf32>
      %next = addf %lanes, %x : vector<4xf32>
      affine.yield %next : vector<4xf32>
    }
    %sum = vector.reduction "add", %all : vector<4xf32> into f32
    affine.store %sum, %y[%i] : memref<8xf32>
    %top = vector.reduction "max", %all : vector<4xf32> into f32
    %wide = splat %top : vector<8xf32>
    vector.transfer_write %wide, %A[%i, %i] {permutation_map = (d0, d1) -> (d1)}
      : vector<8xf32>, memref<24x8xf32>
  }
  return
}
// TODAY
func.func @f(%A: memref<24x8xf32>, %y: memref<8xf32>) {
  %pad = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<4xf32>
  affine.for %i = 0 to 8 {
    %all = affine.for %j = 0 to 8 step 4 iter_args(%lanes = %zero) -> (vector<4xf32>) {
      %x = vector.transfer_read %A[%i, %j], %pad : memref<24x8xf32>, vector<4xf32>
      %next = arith.addf %lanes, %x : vector<4xf32>
      affine.yield %next : vector<4xf32>
    }
    %sum = vector.reduction <add>, %all : vector<4xf32> into f32
    affine.store %sum, %y[%i] : memref<8xf32>
    %top = vector.reduction <maxnumf>, %all : vector<4xf32> into f32
    %wide = vector.broadcast %top : f32 to vector<8xf32>
    vector.transfer_write %wide, %A[%i, %i] : vector<8xf32>, memref<24x8xf32>
  }
  return
}
// ----- terminators in generic form
#set = (d0) : (d0 - 2 >= 0)
func @f() {
  affine.for %i = 0 to 8 {
    affine.if #set(%i) {
      "affine.terminator"() : () -> ()
    } else {
      %one = constant 1 : index
      affine.terminator
    }
    "affine.terminator"() : () -> ()
  }
  return
}
// TODAY
#set = affine_set<(d0) : (d0 - 2 >= 0)>
func.func @f() {
  affine.for %i = 0 to 8 {
    affine.if #set(%i) {
    } else {
      %one = arith.constant 1 : index
    }
  }
  return
}
// ----- everything in generic form
"module"() ( {
  "func"() ( {
  ^bb0(%n: index, %x: f32):
    %A = "std.alloc"(%n) : (index) -> memref<?x4xf32>
    "affine.for"(%n) ( {
    ^bb1(%i: index):
      "affine.store"(%x, %A, %i, %i) {map = (d0, d1) -> (d0, d1 floordiv 2)}
        : (f32, memref<?x4xf32>, index, index) -> ()
      "affine.if"(%i) ( {
        %y = "std.addf"(%x, %x) : (f32, f32) -> f32
        "affine.terminator"() : () -> ()
      }, {
      }) {condition = (d0) : (d0 - 3 >= 0)} : (index) -> ()
      "affine.terminator"() : () -> ()
    }) {lower_bound = () -> (0), step = 2 : index, upper_bound = ()[s0] -> (s0)} : (index) -> ()
    "std.dealloc"(%A) : (memref<?x4xf32>) -> ()
    "std.return"() : () -> ()
  }) {sym_name = "f", type = (index, f32) -> ()} : () -> ()
  "module_terminator"() : () -> ()
}) : () -> ()
// TODAY
func.func @f(%n: index, %x: f32) {
  %A = memref.alloc(%n) : memref<?x4xf32>
  affine.for %i = 0 to %n step 2 {
    affine.store %x, %A[%i, %i floordiv 2] : memref<?x4xf32>
    affine.if affine_set<(d0) : (d0 - 3 >= 0)>(%i) {
      %y = arith.addf %x, %x : f32
    }
  }
  memref.dealloc %A : memref<?x4xf32>
  return
}
// ----- a vector of operand sizes
func @f(%n: index) {
  %A = "std.alloc"(%n) {operand_segment_sizes = dense<[1, 0]> : vector<2xi32>} : (index) -> memref<?xf32>
  return
}
// TODAY
func.func @f(%n: index) {
  %A = memref.alloc(%n) : memref<?xf32>
  return
}
// ----- an attribute that is a map, a set or the type of a function
func @f() attributes {a.map = (d0)[s0] -> (d0, s0 * 2), a.set = () : (0 == 0), a.number = () -> (7),
                      a.type = (index) -> (), a.empty = () -> ()} {
  return
}
// TODAY
func.func @f() attributes {a.map = affine_map<(d0)[s0] -> (d0, s0 * 2)>, a.set = affine_set<() : (0 == 0)>,
                           a.number = affine_map<() -> (7)>, a.type = (index) -> (), a.empty = () -> ()} {
  return
}
// ----- loops of the dialect loop
func @f(%A: memref<8xf32>, %c: i1) {
  %c0 = constant 0 : index
  %c1 = constant 1 : index
  %c8 = constant 8 : index
  loop.for %i = %c0 to %c8 step %c1 {
    loop.if %c {
      %x = load %A[%i] : memref<8xf32>
      store %x, %A[%c0] : memref<8xf32>
    } else {
      %one = constant 1 : i8
      loop.terminator
    }
  }
  %zero = constant 0.0 : f32
  %sum = loop.parallel (%i) = (%c0) to (%c8) step (%c1) init (%zero) -> f32 {
    %x = load %A[%i] : memref<8xf32>
    loop.reduce(%x) : f32 {
    ^bb0(%l: f32, %r: f32):
      %y = addf %l, %r : f32
      loop.reduce.return %y : f32
    }
  }
  %one = loop.if %c -> (f32) {
    loop.yield %sum : f32
  } else {
    loop.yield %zero : f32
  }
  return
}
// TODAY
func.func @f(%A: memref<8xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.if %c {
      %x = memref.load %A[%i] : memref<8xf32>
      memref.store %x, %A[%c0] : memref<8xf32>
    } else {
      %one = arith.constant 1 : i8
    }
  }
  %zero = arith.constant 0.0 : f32
  %sum = scf.parallel (%i) = (%c0) to (%c8) step (%c1) init (%zero) -> f32 {
    %x = memref.load %A[%i] : memref<8xf32>
    scf.reduce(%x : f32) {
    ^bb0(%l: f32, %r: f32):
      %y = arith.addf %l, %r : f32
      scf.reduce.return %y : f32
    }
  }
  %one = scf.if %c -> (f32) {
    scf.yield %sum : f32
  } else {
    scf.yield %zero : f32
  }
  return
}
// ----- branches between blocks
func @f(%c: i1, %x: f32) -> f32 {
  cond_br %c, ^bb1, ^bb2(%x : f32)
^bb1:
  br ^bb2(%x : f32)
^bb2(%y: f32):
  return %y : f32
}
// TODAY
func.func @f(%c: i1, %x: f32) -> f32 {
  cf.cond_br %c, ^bb1, ^bb2(%x : f32)
^bb1:
  cf.br ^bb2(%x : f32)
^bb2(%y: f32):
  return %y : f32
}
// ----- functions as values
func @g(f32) -> f32
func.func @f(%x: f32) -> f32 {
  %g = constant @g : (f32) -> f32
  %y = call_indirect %g(%x) : (f32) -> f32
  return %y : f32
}
// TODAY
func.func private @g(f32) -> f32
func.func @f(%x: f32) -> f32 {
  %g = func.constant @g : (f32) -> f32
  %y = func.call_indirect %g(%x) : (f32) -> f32
  return %y : f32
}
