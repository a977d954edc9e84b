func.func @spirv(%f: f32, %i: i32, %b: i1, %v: vector<4xf32>, %A: memref<8xf32>) {
  affine.for %k = 0 to 8 {
    %0 = spirv.FNegate %f : f32
    %1 = spirv.SNegate %i : i32
    %2 = spirv.Not %i : i32
    %3 = spirv.LogicalNot %b : i1
    %4 = spirv.BitReverse %i : i32
    %5 = spirv.BitCount %i : i32
    %6 = spirv.GL.Acos %f : f32
    %7 = spirv.GL.Acosh %f : f32
    %8 = spirv.GL.Asin %f : f32
    %9 = spirv.GL.Asinh %f : f32
    %10 = spirv.GL.Atan %f : f32
    %11 = spirv.GL.Atanh %f : f32
    %12 = spirv.GL.Ceil %f : f32
    %13 = spirv.GL.Cos %f : f32
    %14 = spirv.GL.Cosh %f : f32
    %15 = spirv.GL.Exp %f : f32
    %16 = spirv.GL.Exp2 %f : f32
    %17 = spirv.GL.FAbs %f : f32
    %18 = spirv.GL.FSign %f : f32
    %19 = spirv.GL.FindUMsb %i : i32
    %20 = spirv.GL.Floor %f : f32
    %21 = spirv.GL.Fract %f : f32
    %22 = spirv.GL.InverseSqrt %f : f32
    %23 = spirv.GL.Log %f : f32
    %24 = spirv.GL.Log2 %f : f32
    %25 = spirv.GL.Round %f : f32
    %26 = spirv.GL.RoundEven %f : f32
    %27 = spirv.GL.SAbs %i : i32
    %28 = spirv.GL.SSign %i : i32
    %29 = spirv.GL.Sin %f : f32
    %30 = spirv.GL.Sinh %f : f32
    %31 = spirv.GL.Sqrt %f : f32
    %32 = spirv.GL.Tan %f : f32
    %33 = spirv.GL.Tanh %f : f32
    %34 = spirv.CL.acos %f : f32
    %35 = spirv.CL.acosh %f : f32
    %36 = spirv.CL.asin %f : f32
    %37 = spirv.CL.asinh %f : f32
    %38 = spirv.CL.atan %f : f32
    %39 = spirv.CL.atanh %f : f32
    %40 = spirv.CL.ceil %f : f32
    %41 = spirv.CL.cos %f : f32
    %42 = spirv.CL.cosh %f : f32
    %43 = spirv.CL.erf %f : f32
    %44 = spirv.CL.exp %f : f32
    %45 = spirv.CL.fabs %f : f32
    %46 = spirv.CL.floor %f : f32
    %47 = spirv.CL.log %f : f32
    %48 = spirv.CL.rint %f : f32
    %49 = spirv.CL.round %f : f32
    %50 = spirv.CL.rsqrt %f : f32
    %51 = spirv.CL.s_abs %i : i32
    %52 = spirv.CL.sin %f : f32
    %53 = spirv.CL.sinh %f : f32
    %54 = spirv.CL.sqrt %f : f32
    %55 = spirv.CL.tan %f : f32
    %56 = spirv.CL.tanh %f : f32
    %57 = spirv.IAdd %i, %i : i32
    %58 = spirv.ISub %i, %i : i32
    %59 = spirv.IMul %i, %i : i32
    %60 = spirv.SDiv %i, %i : i32
    %61 = spirv.UDiv %i, %i : i32
    %62 = spirv.SMod %i, %i : i32
    %63 = spirv.UMod %i, %i : i32
    %64 = spirv.SRem %i, %i : i32
    %65 = spirv.FAdd %f, %f : f32
    %66 = spirv.FSub %f, %f : f32
    %67 = spirv.FMul %f, %f : f32
    %68 = spirv.FDiv %f, %f : f32
    %69 = spirv.FMod %f, %f : f32
    %70 = spirv.FRem %f, %f : f32
    %71 = spirv.BitwiseAnd %i, %i : i32
    %72 = spirv.BitwiseOr %i, %i : i32
    %73 = spirv.BitwiseXor %i, %i : i32
    %74 = spirv.LogicalAnd %b, %b : i1
    %75 = spirv.LogicalOr %b, %b : i1
    %76 = spirv.LogicalEqual %b, %b : i1
    %77 = spirv.LogicalNotEqual %b, %b : i1
    %78 = spirv.GL.FMax %f, %f : f32
    %79 = spirv.GL.FMin %f, %f : f32
    %80 = spirv.GL.SMax %i, %i : i32
    %81 = spirv.GL.SMin %i, %i : i32
    %82 = spirv.GL.UMax %i, %i : i32
    %83 = spirv.GL.UMin %i, %i : i32
    %84 = spirv.GL.Pow %f, %f : f32
    %85 = spirv.CL.atan2 %f, %f : f32
    %86 = spirv.CL.fmax %f, %f : f32
    %87 = spirv.CL.fmin %f, %f : f32
    %88 = spirv.CL.pow %f, %f : f32
    %89 = spirv.CL.s_max %i, %i : i32
    %90 = spirv.CL.s_min %i, %i : i32
    %91 = spirv.CL.u_max %i, %i : i32
    %92 = spirv.CL.u_min %i, %i : i32
    %93 = spirv.FOrdEqual %f, %f : f32
    %94 = spirv.FOrdGreaterThan %f, %f : f32
    %95 = spirv.FOrdGreaterThanEqual %f, %f : f32
    %96 = spirv.FOrdLessThan %f, %f : f32
    %97 = spirv.FOrdLessThanEqual %f, %f : f32
    %98 = spirv.FOrdNotEqual %f, %f : f32
    %99 = spirv.FUnordEqual %f, %f : f32
    %100 = spirv.FUnordGreaterThan %f, %f : f32
    %101 = spirv.FUnordGreaterThanEqual %f, %f : f32
    %102 = spirv.FUnordLessThan %f, %f : f32
    %103 = spirv.FUnordLessThanEqual %f, %f : f32
    %104 = spirv.FUnordNotEqual %f, %f : f32
    %105 = spirv.IEqual %i, %i : i32
    %106 = spirv.INotEqual %i, %i : i32
    %107 = spirv.SGreaterThan %i, %i : i32
    %108 = spirv.SGreaterThanEqual %i, %i : i32
    %109 = spirv.SLessThan %i, %i : i32
    %110 = spirv.SLessThanEqual %i, %i : i32
    %111 = spirv.UGreaterThan %i, %i : i32
    %112 = spirv.UGreaterThanEqual %i, %i : i32
    %113 = spirv.ULessThan %i, %i : i32
    %114 = spirv.ULessThanEqual %i, %i : i32
    %115 = spirv.Ordered %f, %f : f32
    %116 = spirv.Unordered %f, %f : f32
    %117 = spirv.IsNan %f : f32
    %118 = spirv.IsInf %f : f32
    %119 = spirv.GL.Fma %f, %f, %f : f32
    %120 = spirv.GL.FClamp %f, %f, %f : f32
    %121 = spirv.GL.SClamp %i, %i, %i : i32
    %122 = spirv.GL.UClamp %i, %i, %i : i32
    %123 = spirv.CL.fma %f, %f, %f : f32
    %124 = spirv.ShiftLeftLogical %i, %i : i32, i32
    %125 = spirv.ShiftRightArithmetic %i, %i : i32, i32
    %126 = spirv.ShiftRightLogical %i, %i : i32, i32
    %127 = spirv.ConvertFToS %f : f32 to i32
    %128 = spirv.ConvertFToU %f : f32 to i32
    %129 = spirv.ConvertSToF %i : i32 to f32
    %130 = spirv.ConvertUToF %i : i32 to f32
    %131 = spirv.FConvert %f : f32 to f16
    %132 = spirv.SConvert %i : i32 to i64
    %133 = spirv.UConvert %i : i32 to i64
    %134 = spirv.Bitcast %f : f32 to i32
    %135 = spirv.FOrdLessThan %v, %v : vector<4xf32>
    %136 = spirv.BitFieldSExtract %i, %i, %i : i32, i32, i32
    %137 = spirv.BitFieldUExtract %i, %i, %i : i32, i32, i32
    %138 = spirv.GL.Ldexp %f : f32, %i : i32 -> f32
    %139 = spirv.Select %b, %f, %f : i1, f32
    %140 = spirv.Undef : f32
    affine.store %139, %A[%k] : memref<8xf32>
  }
  return
}
// -----
func.func @threads(%A: memref<8xf32>, %f: f32) {
  %0 = nvvm.read.ptx.sreg.tid.x : i32
  %1 = nvvm.read.ptx.sreg.tid.y : i32
  %2 = nvvm.read.ptx.sreg.tid.z : i32
  %3 = nvvm.read.ptx.sreg.ntid.x : i32
  %4 = nvvm.read.ptx.sreg.ntid.y : i32
  %5 = nvvm.read.ptx.sreg.ntid.z : i32
  %6 = nvvm.read.ptx.sreg.ctaid.x : i32
  %7 = nvvm.read.ptx.sreg.ctaid.y : i32
  %8 = nvvm.read.ptx.sreg.ctaid.z : i32
  %9 = nvvm.read.ptx.sreg.nctaid.x : i32
  %10 = nvvm.read.ptx.sreg.nctaid.y : i32
  %11 = nvvm.read.ptx.sreg.nctaid.z : i32
  %12 = nvvm.read.ptx.sreg.laneid : i32
  %13 = rocdl.workgroup.dim.x : i32
  %14 = rocdl.workgroup.dim.y : i32
  %15 = rocdl.workgroup.dim.z : i32
  %16 = rocdl.workgroup.id.x : i32
  %17 = rocdl.workgroup.id.y : i32
  %18 = rocdl.workgroup.id.z : i32
  %19 = rocdl.workitem.id.x : i32
  %20 = rocdl.workitem.id.y : i32
  %21 = rocdl.workitem.id.z : i32
  affine.for %k = 0 to 8 {
    affine.store %f, %A[%k] : memref<8xf32>
    amdgpu.lds_barrier
    nvvm.barrier0
    rocdl.barrier
    rocdl.s.barrier
  }
  return
}
// -----
func.func @text(%i: i32, %j: i32, %A: memref<8xi32>) {
  affine.for %k = 0 to 8 {
    %0 = emitc.add %i, %j : (i32, i32) -> i32
    %1 = emitc.sub %i, %j : (i32, i32) -> i32
    %2 = emitc.mul %i, %j : (i32, i32) -> i32
    %3 = emitc.div %i, %j : (i32, i32) -> i32
    %4 = emitc.rem %i, %j : (i32, i32) -> i32
    %5 = emitc.bitwise_and %i, %j : (i32, i32) -> i32
    %6 = emitc.bitwise_or %i, %j : (i32, i32) -> i32
    %7 = emitc.bitwise_xor %i, %j : (i32, i32) -> i32
    %8 = emitc.bitwise_left_shift %i, %j : (i32, i32) -> i32
    %9 = emitc.bitwise_right_shift %i, %j : (i32, i32) -> i32
    %10 = emitc.unary_minus %i : (i32) -> i32
    %11 = emitc.unary_plus %i : (i32) -> i32
    %12 = emitc.bitwise_not %i : (i32) -> i32
    %13 = emitc.cast %i : i32 to f32
    %14 = emitc.call_opaque "next"(%i) {args = [0 : index, 4 : i32]} : (i32) -> i32
    affine.store %14, %A[%k] : memref<8xi32>
  }
  return
}
