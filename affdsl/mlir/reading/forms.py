"""The custom form of operations without a class, which are kept as they are: a table."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.ir.core import Op
from affdsl.mlir.custom import read_opaque
from affdsl.mlir.form import YIELD, Form, names
from affdsl.mlir.parser import Head, Parser, Reader
from affdsl.mlir.reading.devices import DEVICES

_CAST = Form("%source {} : <source> to <result>")
_SLICE = "[mixed:offsets] [mixed:sizes] [mixed:strides] {} :"
_TILED = (
    "(? outer_dims_perm = outer_dims_perm:numbers ?) inner_dims_pos = inner_dims_pos:numbers "
    "inner_tiles = [mixed:inner_tiles] into"
)
_OF_RESULT = Form("{} : <result>")
_INDEX = {"lhs": "index", "rhs": "index", "result": "index"}
_FAST = "(? fastmath fastmath:fastmath ?)"
_SCALED = Form("%x , %scale {flags} : <x> , <scale> to <result>", own="fastmath roundingmode")

FORMS: Mapping[str, Form] = {
    # arith, math, memref, vector, cf, ub, builtin: what has no class
    "arith.scaling_extf": _SCALED,
    "arith.scaling_truncf": _SCALED,
    "builtin.unrealized_conversion_cast": Form("(? %inputs* : <inputs*> ?) to <result*> {}"),
    "math.clampf": Form("%value to [ %low , %high ] {flags} : <value,low,high,result>", own="fastmath"),
    "math.sincos": Form("%x {flags} : <x,result,result2>", own="fastmath"),
    "memref.alloca_scope.return": YIELD,
    "memref.assume_alignment": Form("%memref , alignment:i32 {} : <memref>", {"result": "memref"}),
    "memref.atomic_yield": Form("%value {} : <value>"),
    "memref.memory_space_cast": _CAST,
    "memref.realloc": Form(
        "%source (? ( %size ) ?) {} : <source> to <result>", {"size": "index"}, own="alignment"
    ),
    "vector.deinterleave": Form("%source {} : <source> -> <result,result2>"),
    "vector.interleave": Form("%lhs , %rhs {} : <lhs,rhs> -> <result>"),
    "vector.scalable.extract": Form("%source [ pos:i64 ] {} : <result> from <source>"),
    "vector.scalable.insert": Form("%source , %dest [ pos:i64 ] {} : <source> into <dest>", {"result": "dest"}),
    "vector.type_cast": _CAST,
    "vector.vscale": Form("{}", {"result": "index"}),
    "cf.assert": Form("%arg , msg:string {}", {"arg": "i1"}),
    "ub.unreachable": Form("{}"),
    # tensor
    "tensor.empty": Form("( %sizes* ) {} : <result>", {"sizes": "index"}),
    "tensor.extract": Form(
        "%tensor [ %indices* ] {} : <tensor>", {"indices": "index", "result": "element tensor"}
    ),
    "tensor.insert": Form(
        "%scalar into %dest [ %indices* ] {} : <dest>",
        {"scalar": "element dest", "indices": "index", "result": "dest"},
    ),
    "tensor.dim": Form("{} %source , %index : <source>", {"index": "index", "result": "index"}),
    "tensor.rank": Form("%tensor {} : <tensor>", {"result": "index"}),
    "tensor.cast": _CAST,
    "tensor.bitcast": _CAST,
    "tensor.from_elements": Form("%elements* {} : <result>", {"elements": "element result"}),
    "tensor.splat": Form(
        "%input (? [ %sizes* ] ?) {} : <result>", {"input": "element result", "sizes": "index"}
    ),
    "tensor.extract_slice": Form(f"%source {_SLICE} <source> to <result>", segments=True),
    "tensor.insert_slice": Form(f"%source into %dest {_SLICE} <source> into <dest>", {"result": "dest"}, segments=True),
    "tensor.parallel_insert_slice": Form(f"%source into %dest {_SLICE} <source> into <dest>", segments=True),
    "tensor.collapse_shape": Form("%source reassociation:groups {} : <source> into <result>"),
    "tensor.expand_shape": Form(
        "%source reassociation:groups output_shape [mixed:output_shape] {} : <source> into <result>"
    ),
    "tensor.reshape": Form("%source ( %shape ) {} : fn"),
    "tensor.concat": Form("dim ( dim:i64 ) %inputs* {} : fn"),
    "tensor.gather": Form("%source [ %indices ] gather_dims ( gather_dims:numbers ) unique:unit {} : fn"),
    "tensor.scatter": Form(
        "%source into %dest [ %indices ] scatter_dims ( scatter_dims:numbers ) unique:unit {} : fn"
    ),
    "tensor.yield": Form("%value {} : <value>"),
    # bufferization
    "bufferization.to_buffer": Form("%tensor read_only:unit {} : <tensor> to <result>", own="read_only"),
    "bufferization.to_tensor": Form(
        "%buffer restrict:unit writable:unit {} : <buffer> to <result>", own="restrict writable"
    ),
    "bufferization.alloc_tensor": Form(
        "( %sizes* ) (? copy ( %copy ) ?) (? size_hint = %hint ?) {} : <result>",
        {"sizes": "index", "copy": "result", "hint": "index"}, "sizes copy hint", segments=True, own="memory_space",
    ),
    "bufferization.clone": _CAST,
    "bufferization.dealloc_tensor": Form("%tensor {} : <tensor>"),
    "bufferization.materialize_in_destination": Form("%source in restrict:unit writable:unit %dest {} : fn"),
    "bufferization.dealloc": Form(
        "(? ( %memrefs* : <memrefs*> ) if ( %conditions* ) ?) (? retain ( %retained* : <retained*> ) ?) {}",
        {"conditions": "i1", "result": "i1 each retained"}, segments=True,
    ),
    # linalg
    "linalg.pack": Form(
        f"%source (? padding_value ( %padding_value : <padding_value> ) ?) {_TILED} %dest {{}} : <source> -> <dest>",
        {"result": "dest"}, "source dest padding_value", segments=True,
    ),
    "linalg.unpack": Form(f"%source {_TILED} %dest {{}} : <source> -> <dest>", {"result": "dest"}),
    "linalg.yield": YIELD,
    "linalg.index": Form("dim:i64 {} : <result>"),
    # index
    "index.constant": Form("value:index {}", {"result": "index"}),
    "index.bool.constant": Form("value:bool {}", {"result": "i1"}),
    "index.cmp": Form("pred:cmp ( %lhs , %rhs ) {}", {"lhs": "index", "rhs": "index", "result": "i1"}),
    "index.casts": _CAST,
    "index.castu": _CAST,
    "index.sizeof": Form("{}", {"result": "index"}),
    **names(
        "index",
        "add sub mul divs divu ceildivs ceildivu floordivs rems remu maxs maxu mins minu shl shrs shru and or xor",
        Form("%lhs , %rhs {}", _INDEX),
    ),
    # gpu
    **names(
        "gpu",
        "thread_id block_id block_dim grid_dim global_id cluster_id cluster_dim cluster_block_id cluster_dim_blocks",
        Form("dimension:dimension (? upper_bound upper_bound:index ?) {}", {"result": "index"}),
    ),
    "gpu.lane_id": Form("(? upper_bound upper_bound:index ?) {} (? : <result> ?)", {"result": "index"}),
    **names(
        "gpu", "subgroup_id num_subgroups subgroup_size",
        Form("(? upper_bound upper_bound:index ?) {} : <result>", {"result": "index"}),
    ),
    "gpu.barrier": Form("{}"),
    "gpu.terminator": Form("{}"),
    "gpu.return": YIELD,
    "gpu.shuffle": Form(
        "mode:shuffle %value , %offset , %width {} : <value>",
        {"offset": "i32", "width": "i32", "result": "value", "result2": "i1"},
    ),
    "gpu.subgroup_reduce": Form("op:reduction %value uniform:unit {} : fn"),
    "gpu.host_register": Form("%value {} : <value>"),
    "gpu.printf": Form("format:string (? , %args* : <args*> ?) {}"),
    # llvm
    "llvm.mlir.constant": Form("( value:attr ) {} : <result>"),
    **names("llvm", "mlir.undef mlir.zero mlir.poison", _OF_RESULT),
    "llvm.mlir.addressof": Form("global_name:symbol {} : <result>"),
    **names(
        "llvm", "add sub mul shl",
        Form("%lhs , %rhs (? overflow overflowFlags:overflow ?) {} : <lhs,rhs,result>"),
    ),
    **names("llvm", "sdiv udiv lshr ashr", Form("isExact=exact:unit %lhs , %rhs {} : <lhs,rhs,result>")),
    **names("llvm", "srem urem and xor", Form("%lhs , %rhs {} : <lhs,rhs,result>")),
    "llvm.or": Form("isDisjoint=disjoint:unit %lhs , %rhs {} : <lhs,rhs,result>"),
    **names("llvm", "fadd fsub fmul fdiv frem", Form("%lhs , %rhs {} : <lhs,rhs,result>", own="fastmathFlags")),
    "llvm.fneg": Form("%operand {} : <operand,result>", own="fastmathFlags"),
    "llvm.icmp": Form("predicate:icmp %lhs , %rhs {} : <lhs,rhs>", {"result": "i1 like lhs"}),
    "llvm.fcmp": Form("predicate:fcmp %lhs , %rhs {} : <lhs,rhs>", {"result": "i1 like lhs"}, own="fastmathFlags"),
    **names(
        "llvm",
        "bitcast sext trunc inttoptr ptrtoint sitofp fptosi fptoui fpext fptrunc addrspacecast",
        _CAST,
    ),
    **names("llvm", "zext uitofp", Form("nonNeg=nneg:unit %source {} : <source> to <result>")),
    "llvm.load": Form("volatile_=volatile:unit %address {} : <address> -> <result>", own="alignment nontemporal"),
    "llvm.store": Form(
        "volatile_=volatile:unit %value , %address {} : <value> , <address>", own="alignment nontemporal"
    ),
    "llvm.alloca": Form("inalloca:unit %size x elem_type:type {} : fn", own="alignment"),
    "llvm.select": Form("%condition , %first , %second {} : <condition> , <first,second,result>", own="fastmathFlags"),
    "llvm.freeze": Form("%value {} : <value,result>"),
    **names(
        "llvm.intr", "exp exp2 log log2 log10 sqrt pow sin cos fabs floor ceil round rint fma fmuladd maxnum minnum",
        Form("( %operands* ) {} : fn", own="fastmathFlags"),
    ),
    # complex
    **names("complex", "rsqrt sign expm1 log1p", Form(f"%x {_FAST} {{}} : <x,result>")),
    "complex.atan2": Form(f"%lhs , %rhs {_FAST} {{}} : <lhs,rhs,result>"),
    "complex.bitcast": _CAST,
    # shape, async, omp
    "shape.shape_of": Form("%arg {} : <arg> -> <result>"),
    "async.create_group": Form("%size {} : <result>", {"size": "index"}),
    "async.add_to_group": Form("%token , %group {} : <token>", {"group": "!async.group", "result": "index"}),
    "async.await_all": Form("%group {}", {"group": "!async.group"}),
    **names("omp", "barrier terminator taskwait taskyield", Form("{}")),
    # test
    "test.value_with_bounds": Form("{}", {"result": "index"}, own="max min"),
    "test.with_bounds": Form("{} : <result>", own="smax smin umax umin"),
    "test.reflect_bounds": Form("{} %value : <value>", {"result": "value"}, own="smax smin umax umin"),
    **DEVICES,
}  # fmt: skip
"""How each operation is written."""


def read_form(p: Parser, head: Head) -> Op:
    """An operation of the table."""
    return read_opaque(p, head, FORMS[head.name])


READERS: Mapping[str, Reader] = dict.fromkeys(FORMS, read_form)
