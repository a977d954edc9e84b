"""Forms of the operations of targets: SPIR-V, what GPUs of each make have of their own, and C as text."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.mlir.form import Form, names

_UNARY = Form("%operand {} : <operand,result>")
_BINARY = Form("%lhs , %rhs {} : <lhs,rhs,result>")
_CAST = Form("%source {} : <source> to <result>")
_OF_RESULT = Form("{} : <result>")

DEVICES: Mapping[str, Form] = {
    # spirv
    **names(
        "spirv", """
        FNegate SNegate Not LogicalNot BitReverse BitCount GL.Acos GL.Acosh GL.Asin GL.Asinh GL.Atan
        GL.Atanh GL.Ceil GL.Cos GL.Cosh GL.Exp GL.Exp2 GL.FAbs GL.FSign GL.FindUMsb GL.Floor GL.Fract
        GL.InverseSqrt GL.Log GL.Log2 GL.Round GL.RoundEven GL.SAbs GL.SSign GL.Sin GL.Sinh GL.Sqrt GL.Tan
        GL.Tanh CL.acos CL.acosh CL.asin CL.asinh CL.atan CL.atanh CL.ceil CL.cos CL.cosh CL.erf CL.exp
        CL.fabs CL.floor CL.log CL.rint CL.round CL.rsqrt CL.s_abs CL.sin CL.sinh CL.sqrt CL.tan CL.tanh
        """,
        _UNARY,
    ),
    **names(
        "spirv", """
        IAdd ISub IMul SDiv UDiv SMod UMod SRem FAdd FSub FMul FDiv FMod FRem BitwiseAnd BitwiseOr
        BitwiseXor LogicalAnd LogicalOr LogicalEqual LogicalNotEqual GL.FMax GL.FMin GL.SMax GL.SMin GL.UMax
        GL.UMin GL.Pow CL.atan2 CL.fmax CL.fmin CL.pow CL.s_max CL.s_min CL.u_max CL.u_min
        """,
        _BINARY,
    ),
    **names(
        "spirv", """
        FOrdEqual FOrdGreaterThan FOrdGreaterThanEqual FOrdLessThan FOrdLessThanEqual FOrdNotEqual
        FUnordEqual FUnordGreaterThan FUnordGreaterThanEqual FUnordLessThan FUnordLessThanEqual
        FUnordNotEqual IEqual INotEqual SGreaterThan SGreaterThanEqual SLessThan SLessThanEqual UGreaterThan
        UGreaterThanEqual ULessThan ULessThanEqual Ordered Unordered
        """,
        Form("%lhs , %rhs {} : <lhs,rhs>", {"result": "i1 like lhs"}),
    ),
    **names(
        "spirv", "IsNan IsInf",
        Form("%operand {} : <operand>", {"result": "i1 like operand"}),
    ),
    **names(
        "spirv", "GL.Fma GL.FClamp GL.SClamp GL.UClamp CL.fma",
        Form("%x , %y , %z {} : <x,y,z,result>"),
    ),
    **names(
        "spirv", "ShiftLeftLogical ShiftRightArithmetic ShiftRightLogical",
        Form("%base , %shift {} : <base> , <shift>", {"result": "base"}),
    ),
    **names(
        "spirv", """
        ConvertFToS ConvertFToU ConvertSToF ConvertUToF FConvert SConvert UConvert Bitcast
        """,
        _CAST,
    ),
    **names(
        "spirv", "BitFieldSExtract BitFieldUExtract",
        Form("%base , %offset , %count {} : <base> , <offset> , <count>", {"result": "base"}),
    ),
    "spirv.GL.Ldexp": Form("%x : <x> , %exp : <exp> -> <result>"),
    "spirv.Select": Form("%condition , %first , %second {} : <condition> , <first,second,result>"),
    "spirv.Undef": _OF_RESULT,
    # amdgpu, rocdl, nvvm
    **names("amdgpu", "lds_barrier", Form("{}")),
    **names("nvvm", "barrier0", Form("{}")),
    **names("rocdl", "barrier s.barrier", Form("{}")),
    **names("rocdl", "workgroup.dim.x workgroup.dim.y workgroup.dim.z workgroup.id.x workgroup.id.y workgroup.id.z "
            "workitem.id.x workitem.id.y workitem.id.z", _OF_RESULT),
    **names("nvvm.read.ptx.sreg", "tid.x tid.y tid.z ntid.x ntid.y ntid.z ctaid.x ctaid.y ctaid.z "
            "nctaid.x nctaid.y nctaid.z laneid", _OF_RESULT),
    # emitc
    **names(
        "emitc", "add sub mul div rem bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift",
        Form("%lhs , %rhs {} : fn"),
    ),
    **names("emitc", "unary_minus unary_plus bitwise_not", Form("%operand {} : fn")),
    "emitc.cast": _CAST,
    "emitc.call_opaque": Form("callee:string ( %operands* ) {} : fn", own="args template_args"),
}  # fmt: skip
"""How each operation is written."""
