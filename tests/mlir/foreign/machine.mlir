llvm.mlir.global internal constant @text("hello\00") {addr_space = 0 : i32}
llvm.func @printf(!llvm.ptr, ...) -> i32
func.func @constants() -> i64 {
  %0 = llvm.mlir.constant(4 : i64) : i64
  %1 = llvm.mlir.constant(1.5 : f32) : f32
  %2 = llvm.mlir.undef : !llvm.ptr
  %3 = llvm.mlir.zero : !llvm.ptr
  %4 = llvm.mlir.addressof @text : !llvm.ptr
  return %0 : i64
}
// -----
func.func @pointers(%p: !llvm.ptr, %i: i64, %A: memref<?xf32>) {
  affine.for %k = 0 to 8 {
    %n = arith.index_cast %k : index to i64
    %q = llvm.getelementptr %p[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %r = llvm.getelementptr inbounds %p[%n, 2] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<4 x f32>
    %x = llvm.load %q {alignment = 4 : i64} : !llvm.ptr -> f32
    %y = llvm.fadd %x, %x : f32
    llvm.store %y, %r : f32, !llvm.ptr
    affine.store %x, %A[%k] : memref<?xf32>
  }
  return
}
// -----
llvm.func @malloc(i64) -> !llvm.ptr attributes {passthrough = ["nounwind"]}
llvm.func @free(!llvm.ptr)
llvm.func internal @twice(%x: i64) -> i64 attributes {always_inline} {
  %0 = llvm.add %x, %x : i64
  llvm.return %0 : i64
}
func.func @heap(%n: i64) -> i64 {
  %0 = llvm.call @malloc(%n) : (i64) -> !llvm.ptr
  llvm.call @free(%0) : (!llvm.ptr) -> ()
  %1 = llvm.call @twice(%n) : (i64) -> i64
  return %1 : i64
}
// -----
func.func @arithmetic(%a: i32, %b: i32, %x: f32) -> i1 {
  %0 = llvm.add %a, %b overflow<nsw> : i32
  %1 = llvm.mul %0, %b : i32
  %2 = llvm.sdiv %1, %b : i32
  %3 = llvm.and %2, %a : i32
  %4 = llvm.zext %3 : i32 to i64
  %5 = llvm.icmp "slt" %a, %b : i32
  %6 = llvm.fcmp "olt" %x, %x {fastmathFlags = #llvm.fastmath<nnan>} : f32
  %7 = llvm.select %5, %a, %b : i1, i32
  %8 = llvm.sitofp %7 : i32 to f32
  %9 = llvm.fmul %8, %x {fastmathFlags = #llvm.fastmath<fast>} : f32
  %10 = llvm.trunc %4 : i64 to i8
  return %6 : i1
}
// -----
func.func @places(%n: index) -> index {
  %c4 = index.constant 4
  %0 = index.add %n, %c4
  %1 = index.mul %0, %n
  %2 = index.ceildivs %1, %c4
  %3 = index.cmp ult(%2, %n)
  %4 = index.casts %2 : index to i64
  %5 = index.castu %4 : i64 to index
  %t = index.bool.constant true
  %6 = index.maxs %5, %0
  affine.for %i = 0 to %6 {
  }
  return %6 : index
}
// -----
func.func @polar(%z: complex<f32>, %A: memref<4xcomplex<f32>>) -> f32 {
  %re = complex.re %z : complex<f32>
  %im = complex.im %z : complex<f32>
  %w = complex.create %im, %re : complex<f32>
  %k = complex.constant [1.0 : f32, -1.0 : f32] : complex<f32>
  %p = complex.mul %w, %k : complex<f32>
  %q = complex.add %p, %z fastmath<nnan> : complex<f32>
  %e = complex.exp %q : complex<f32>
  %a = complex.abs %e : complex<f32>
  %same = complex.eq %q, %z : complex<f32>
  affine.for %i = 0 to 4 {
    affine.store %q, %A[%i] : memref<4xcomplex<f32>>
  }
  return %a : f32
}
// -----
func.func @stack(%x: f32) -> f32 {
  %c = llvm.mlir.constant(1 : i32) : i32
  %p = llvm.alloca %c x f32 {alignment = 4 : i64} : (i32) -> !llvm.ptr
  llvm.store %x, %p : f32, !llvm.ptr
  %i = llvm.ptrtoint %p : !llvm.ptr to i64
  %y = llvm.load %p : !llvm.ptr -> f32
  %n = llvm.fneg %y : f32
  return %n : f32
}
// -----
func.func @threads(%A: memref<8xf32>) {
  omp.parallel {
    affine.for %i = 0 to 8 {
      %0 = affine.load %A[%i] : memref<8xf32>
      affine.store %0, %A[%i] : memref<8xf32>
    }
    omp.barrier
    omp.terminator
  }
  return
}
// -----
func.func @functions(%x: f32, %v: vector<4xf32>, %n: vector<4xi32>) {
  %0 = llvm.intr.exp(%x) : (f32) -> f32
  %1 = llvm.intr.exp2(%x) : (f32) -> f32
  %2 = llvm.intr.log(%x) : (f32) -> f32
  %3 = llvm.intr.log2(%x) : (f32) -> f32
  %4 = llvm.intr.log10(%x) : (f32) -> f32
  %5 = llvm.intr.sqrt(%x) : (f32) -> f32
  %6 = llvm.intr.sin(%x) : (f32) -> f32
  %7 = llvm.intr.cos(%x) : (f32) -> f32
  %8 = llvm.intr.fabs(%x) : (f32) -> f32
  %9 = llvm.intr.floor(%x) : (f32) -> f32
  %10 = llvm.intr.ceil(%x) : (f32) -> f32
  %11 = llvm.intr.round(%x) : (f32) -> f32
  %12 = llvm.intr.rint(%x) : (f32) -> f32
  %13 = llvm.intr.pow(%x, %x) : (f32, f32) -> f32
  %14 = llvm.intr.maxnum(%x, %x) : (f32, f32) -> f32
  %15 = llvm.intr.minnum(%x, %x) : (f32, f32) -> f32
  %16 = llvm.intr.fma(%x, %x, %x) : (f32, f32, f32) -> f32
  %17 = llvm.intr.fmuladd(%x, %x, %x) : (f32, f32, f32) -> f32
  %18 = llvm.intr.exp(%v) {fastmathFlags = #llvm.fastmath<fast>} : (vector<4xf32>) -> vector<4xf32>
  %19 = llvm.icmp "slt" %n, %n : vector<4xi32>
  %20 = llvm.fcmp "olt" %v, %v : vector<4xf32>
  return
}
// -----
!pair = !llvm.struct<packed (i8, vector<2xf32>)>
func.func @parts(%s: !llvm.struct<(i64, ptr, array<2 x struct<"named", (i32, f64)>>)>, %p: !pair, %v: f64, %A: memref<8xf64>) -> i64 {
  affine.for %k = 0 to 8 {
    %x = llvm.extractvalue %s[2, 1, 1] : !llvm.struct<(i64, ptr, array<2 x struct<"named", (i32, f64)>>)>
    affine.store %x, %A[%k] : memref<8xf64>
  }
  %0 = llvm.extractvalue %s[0] : !llvm.struct<(i64, ptr, array<2 x struct<"named", (i32, f64)>>)>
  %1 = llvm.extractvalue %s[1] : !llvm.struct<(i64, ptr, array<2 x struct<"named", (i32, f64)>>)>
  %2 = llvm.load %1 : !llvm.ptr -> f64
  %3 = llvm.insertvalue %2, %s[2, 0, 1] {a = 1 : i32} : !llvm.struct<(i64, ptr, array<2 x struct<"named", (i32, f64)>>)>
  %4 = llvm.extractvalue %3[2] : !llvm.struct<(i64, ptr, array<2 x struct<"named", (i32, f64)>>)>
  %5 = llvm.extractvalue %4[0] : !llvm.array<2 x struct<"named", (i32, f64)>>
  %6 = llvm.extractvalue %p[1] : !pair
  return %0 : i64
}
// -----
func.func @spirv_constants() -> i32 {
  %0 = spirv.Constant 3 : i32
  %1 = spirv.Constant true
  %2 = spirv.Constant 1.5 : f32
  %3 = spirv.Constant dense<[2, 3]> : vector<2xi32>
  return %0 : i32
}
