"""Spellings of 2019 and 2020, before the standard dialect was split up: read as the operations of today."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, math, memref
from affdsl.ir.types import INDEX
from affdsl.mlir.parser import Head, Parser, Reader, Reading
from affdsl.mlir.reading import arith as numbers
from affdsl.mlir.reading import func as functions
from affdsl.mlir.reading import memref as buffers
from affdsl.mlir.reading import others

_CASTS = {
    "fpext": "extf", "fptrunc": "truncf", "sexti": "extsi", "zexti": "extui", "trunci": "trunci",
    "index_cast": "index_cast", "sitofp": "sitofp", "uitofp": "uitofp", "fptosi": "fptosi", "fptoui": "fptoui",
}  # fmt: skip
_BINARY = {
    **{kind: kind for kind in (*arith.INTEGER_BINARY, *arith.FLOAT_BINARY)},
    "divi_signed": "divsi", "divi_unsigned": "divui", "remi_signed": "remsi", "remi_unsigned": "remui", "divis": "divsi",
    "diviu": "divui", "remis": "remsi", "remiu": "remui", "signed_divi": "divsi", "unsigned_divi": "divui",
    "signed_remi": "remsi", "unsigned_remi": "remui", "and": "andi", "or": "ori", "xor": "xori", "shift_left": "shli",
    "shift_right_signed": "shrsi", "shift_right_unsigned": "shrui",
}  # fmt: skip
_UNARY = {
    "absf": "absf", "ceilf": "ceil", "floorf": "floor", "cos": "cos", "sin": "sin", "exp": "exp", "exp2": "exp2",
    "log": "log", "log2": "log2", "log10": "log10", "sqrt": "sqrt", "rsqrt": "rsqrt", "tanh": "tanh", "atan": "atan",
}  # fmt: skip


def _named(name: str, reader: Reader) -> Reader:
    """A reader for an operation that had another name."""
    return lambda p, head: reader(p, replace(head, name=name))


def read_constant(p: Parser, head: Head) -> Op | Reading:
    """`constant 1.0 : f32`, `constant @f : (f32) -> f32`"""
    if p.scanner.token.startswith("@"):
        return others.read_function_constant(p, replace(head, name="func.constant"))
    return numbers.read_constant(p, replace(head, name="arith.constant"))


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


def read_terminator(p: Parser, head: Head) -> Op:
    """`affine.terminator`"""
    p.no_results(head)
    return affine.Yield((), location=head.location, attributes=p.dictionary())


READERS: Mapping[str, Reader] = {
    "func": _named("func.func", functions.read_func),
    "call": _named("func.call", functions.read_call),
    "return": _named("func.return", functions.read_return),
    "constant": read_constant,
    "func.constant": read_constant,
    "dim": read_dim,
    "affine.terminator": read_terminator,
    "alloc": _named("memref.alloc", buffers.read_alloc),
    "alloca": _named("memref.alloca", buffers.read_alloc),
    "dealloc": _named("memref.dealloc", buffers.read_dealloc),
    "load": _named("memref.load", buffers.read_load),
    "store": _named("memref.store", buffers.read_store),
    "memref_cast": _named("memref.cast", buffers.read_cast),
    "cmpi": _named("arith.cmpi", numbers.read_compare),
    "cmpf": _named("arith.cmpf", numbers.read_compare),
    "select": _named("arith.select", numbers.read_select),
    "negf": _named("arith.negf", numbers.read_unary),
    "fmaf": _named("math.fma", numbers.read_fma),
    "br": _named("cf.br", others.read_branch),
    "cond_br": _named("cf.cond_br", others.read_conditional_branch),
    **{old: _named(f"arith.{new}", numbers.read_binary) for old, new in _BINARY.items()},
    **{old: _named(f"arith.{new}", numbers.read_cast) for old, new in _CASTS.items()},
    **{old: _named(f"math.{new}", numbers.read_unary) for old, new in _UNARY.items()},
    **{old: _named(f"math.{old}", numbers.read_binary) for old in math.FLOAT_BINARY},
}

GENERIC_NAMES: Mapping[str, str] = {
    "affine.terminator": "affine.yield",
    **{f"std.{old}": f"arith.{new}" for old, new in (*_BINARY.items(), *_CASTS.items())},
    "std.constant": "arith.constant", "std.return": "func.return", "std.call": "func.call", "func": "func.func",
    "std.load": "memref.load", "std.store": "memref.store", "std.alloc": "memref.alloc", "std.dealloc": "memref.dealloc",
    "std.memref_cast": "memref.cast", "module": "builtin.module",
}  # fmt: skip
"""What operations of the generic form are called today."""
