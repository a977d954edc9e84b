"""Spellings of 2019 to 2021, before the standard dialect was split up: read as the operations of today."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.frozen import replace
from affdsl.ir.attributes import Attribute, DenseAttr, MapAttr, without
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, func, math, memref, scf
from affdsl.ir.dialects.opaque import Opaque, OpaqueBlock, OpaqueRegion
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import INDEX, MemRefType
from affdsl.mlir import custom, irregular
from affdsl.mlir.generic.rows import segments
from affdsl.mlir.irregular.arith import read_constant as read_number
from affdsl.mlir.irregular.func import read_func as read_func_today
from affdsl.mlir.irregular.scf import combiner as read_combiner
from affdsl.mlir.parser import Head, Parser, Reader, Reading
from affdsl.mlir.reading import opaque_func

_TODAY: Mapping[str, Reader] = {**custom.READERS, **irregular.READERS, **opaque_func.READERS}

_STANDARD: Mapping[str, str] = {
    "return": "func.return", "call": "func.call", "call_indirect": "func.call_indirect",
    "br": "cf.br", "cond_br": "cf.cond_br",
    "fmaf": "math.fma", "ceilf": "math.ceil", "floorf": "math.floor",
    "splat": "vector.splat", "view": "memref.view", "subview": "memref.subview",
    "memref_cast": "memref.cast", "memref_reshape": "memref.reshape",
    "memref_reinterpret_cast": "memref.reinterpret_cast",
    "cmpi": "arith.cmpi", "cmpf": "arith.cmpf", "select": "arith.select", "negf": "arith.negf",
    **{f"{name}": f"memref.{name}" for name in
       ("alloc", "alloca", "dealloc", "load", "store", "rank", "dma_start", "dma_wait", "prefetch", "atomic_rmw")},
    **{kind: f"arith.{kind}" for kind in (*arith.INTEGER_BINARY, *arith.FLOAT_BINARY, *arith.CASTS)},
    **{kind: f"math.{kind}" for kind in (*math.FLOAT_UNARY, *math.FLOAT_BINARY)},
    **{old: f"arith.{new}" for old, new in {
        "divis": "divsi", "divi_signed": "divsi", "signed_divi": "divsi", "remis": "remsi", "remi_signed": "remsi",
        "signed_remi": "remsi", "diviu": "divui", "divi_unsigned": "divui", "unsigned_divi": "divui",
        "remiu": "remui", "remi_unsigned": "remui", "unsigned_remi": "remui",
        "ceildivi_signed": "ceildivsi", "floordivi_signed": "floordivsi", "and": "andi", "or": "ori", "xor": "xori",
        "shlis": "shli", "shift_left": "shli", "shift_right_signed": "shrsi", "shift_right_unsigned": "shrui",
        "maxf": "maximumf", "minf": "minimumf",
        "fpext": "extf", "fptrunc": "truncf", "sexti": "extsi", "zexti": "extui",
    }.items()},
}  # fmt: skip
"""What operations of the standard dialect are called today."""

_RENAMED: Mapping[str, str] = {
    **_STANDARD,
    "for": "affine.for", "if": "affine.if", "affine_apply": "affine.apply",
    "loop.for": "scf.for", "loop.if": "scf.if", "loop.yield": "scf.yield", "loop.parallel": "scf.parallel",
    "loop.reduce.return": "scf.reduce.return",
    "arith.maxf": "arith.maximumf", "arith.minf": "arith.minimumf",
    "vector.strided_slice": "vector.extract_strided_slice",
}  # fmt: skip

_GONE: Mapping[str, str] = {
    "mlfunc": "func.func", "extfunc": "func.func private", "cfgfunc": "func.func, with blocks like ^bb0(%x: f32):",
    "tensor_load": "bufferization.to_tensor in generic form",
    "tensor_store": "bufferization.materialize_in_destination in generic form",
    "extract_element": "memref.load or vector.extract", "tensor_cast": "tensor.cast in generic form",
    "assume_alignment": "%B = memref.assume_alignment, whose result stands for the buffer from there on",
    "global_memref": "memref.global", "get_global_memref": "memref.get_global",
    "vector.extractelement": "vector.extract %v[%i] with an index",
    "vector.insertelement": "vector.insert %x, %v[%i] with an index",
    "vector.extract_slices": "vector.extract_strided_slice", "vector.insert_slices": "vector.insert_strided_slice",
    "vector.tuple": "the vectors one by one", "vector.tuple_get": "the vectors one by one",
}  # fmt: skip
"""Operations that have no equal today, with what to write instead."""


def _named(name: str, reader: Reader) -> Reader:
    """A reader for an operation that had another name."""
    return lambda p, head: reader(p, head._replace(name=name))


def _refused(instead: str) -> Reader:
    def refuse(p: Parser, head: Head) -> Op:
        p.scanner.fail(f"{head.name} is an operation of former times; write {instead}", head.offset)

    return refuse


def read_func(p: Parser, head: Head) -> Reading:
    """`func @f(%a: type) -> type { ... }`; without a body it was not yet called private"""
    op = yield from read_func_today(p, head._replace(name="func.func"))
    if isinstance(op, func.Func) and op.external and not any(name == "sym_visibility" for name, _ in op.attributes):
        return with_fields(op, private=True)
    return op


def read_constant(p: Parser, head: Head) -> Op | Reading:
    """`constant 1.0 : f32`, `constant @f : (f32) -> f32`"""
    if p.scanner.token.startswith("@"):
        return opaque_func.read_function_constant(p, head._replace(name="func.constant"))
    return read_number(p, head._replace(name="arith.constant"))


def read_dim(p: Parser, head: Head) -> Op:
    """`dim %A, 0 : memref<?xf32>`: the number becomes a constant"""
    s = p.scanner
    use = p.use()
    s.expect(",")
    if p.is_value:
        index = p.operand(INDEX)
    else:
        constant = arith.Constant(p.unnamed(INDEX), s.natural(), location=head.location)
        p.emit(constant)
        index = constant.result
    attributes = p.dictionary()
    buffer = p.resolve(use, p.colon_type())
    return memref.Dim(p.result(head, INDEX), buffer, index, location=head.location, attributes=attributes)


def read_access(p: Parser, head: Head) -> Op | Reading:
    """`load %A[%i] : memref<...>`, `store %x, %A[%i] : memref<...>`; affine where a subscript is more than a value"""
    name = head.name.removeprefix("std.")
    name = f"memref.{name}" if _are_values(p) else f"affine.{name}"
    return _TODAY[name](p, head._replace(name=name))


def _are_values(p: Parser) -> bool:
    """Whether only values stand in the next brackets."""
    s = p.scanner
    here = s.place
    while s.token not in ("[", ""):
        s.advance()
    s.advance()
    while p.is_value or s.token == ",":
        s.advance()
    found = s.token in ("]", "")
    s.go_to(here)
    return found


def read_terminator(p: Parser, head: Head) -> Op:
    """`affine.terminator`, `loop.terminator`"""
    p.no_results(head)
    attributes = p.dictionary()
    kind = affine.Yield if head.name.startswith("affine.") else scf.Yield
    return kind((), location=head.location, attributes=attributes)


def read_reduce(p: Parser, head: Head) -> Reading:
    """`loop.reduce(%x) : f32 { ^bb0(%a: f32, %b: f32): ... }`"""
    s = p.scanner
    p.no_results(head)
    s.expect("(")
    use = p.use()
    s.expect(")")
    value = p.resolve(use, p.colon_type())
    combiner = yield from read_combiner(p, head)
    return scf.Reduce((value,), (combiner,), location=head.location, attributes=p.dictionary())


READERS: Mapping[str, Reader] = {
    **{old: _named(new, _TODAY[new]) for old, new in _RENAMED.items()},
    **{old: _refused(instead) for old, instead in _GONE.items()},
    "func": read_func,
    "builtin.func": read_func,
    "constant": read_constant,
    "dim": read_dim,
    "load": read_access,
    "store": read_access,
    "affine.terminator": read_terminator,
    "loop.terminator": read_terminator,
    "loop.reduce": read_reduce,
}

_NAMES: Mapping[str, str] = {
    **{f"std.{old}": new for old, new in _STANDARD.items()},
    "std.constant": "arith.constant", "std.splat": "vector.broadcast",
    "func": "func.func", "builtin.func": "func.func", "module": "builtin.module",
    "affine.terminator": "affine.yield",
    "loop.for": "scf.for", "loop.if": "scf.if", "loop.yield": "scf.yield", "loop.terminator": "scf.yield",
}  # fmt: skip
_PROPERTIES: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("func", "func.func"): {"type": "function_type"},
    ("builtin.func", "func.func"): {"type": "function_type"},
    ("affine.for", "affine.for"): {"lower_bound": "lowerBoundMap", "upper_bound": "upperBoundMap"},
}
"""What properties are called today, by the old and new names of their operation."""


def name_today(name: str) -> str:
    """What an operation of the generic form is called today."""
    return _NAMES.get(name, name)


def form_today(op: Opaque, name: str) -> Opaque:
    """An operation whose generic form named it by `name`, with the attributes and regions that it has today."""
    if op.kind == "builtin.module":
        return replace(op, regions=tuple([_without_end(r) for r in op.regions if isinstance(r, OpaqueRegion)]))
    if op.properties:
        return op
    renamed = _PROPERTIES.get((name, op.kind), {})
    attributes = tuple([(renamed.get(key, key), value) for key, value in op.attributes])
    sizes = _sizes(op, dict(op.attributes), dict(attributes), name)
    if sizes is not None:
        kept = without(attributes, "operand_segment_sizes")
        return replace(op, attributes=(*kept, segments(*sizes)))
    return replace(op, attributes=attributes) if renamed else op


def _without_end(region: OpaqueRegion) -> OpaqueRegion:
    """The region of a module less its terminator, which modules had until 2021."""
    blocks = [block for block in region.blocks_inside if isinstance(block, OpaqueBlock)]
    ends = ("module_terminator", "builtin.module_terminator")
    return OpaqueRegion(tuple([
        replace(block, body=block.body[:-1]) if block.body and _kind(block.body[-1]) in ends else block
        for block in blocks
    ]))  # fmt: skip


def _kind(op: Op) -> str:
    return op.kind if isinstance(op, Opaque) else ""


def _sizes(op: Opaque, old: Mapping[str, Attribute], new: Mapping[str, Attribute], name: str) -> list[int] | None:
    """The numbers of operands of each kind where they are said in the old way, or were not said at all."""
    match old.get("operand_segment_sizes"):
        case DenseAttr(text, _):
            return [int(size) for size in text.strip("[]").split(",") if size.strip().isdigit()]
        case None if "lower_bound" in old and op.kind == "affine.for":
            counts = [_inputs(new.get(key)) for key in ("lowerBoundMap", "upperBoundMap")]
            return [*counts, max(len(op.operands) - sum(counts), 0)]
        case None if name in ("std.alloc", "std.alloca"):
            dynamic = _dynamic(op)
            return [dynamic, max(len(op.operands) - dynamic, 0)]
    return None


def _inputs(attribute: Attribute | None) -> int:
    return attribute.map.dims + attribute.map.symbols if isinstance(attribute, MapAttr) else 0


def _dynamic(op: Opaque) -> int:
    type = op.results[0].type if op.results else None
    return sum(size is None for size in type.shape) if isinstance(type, MemRefType) else 0
