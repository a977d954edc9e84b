"""Modules and functions for GPUs: printed as they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from affdsl.ir.attributes import ArrayAttr, Attribute, DictAttr, IntegerAttr, TypeAttr, UnitAttr
from affdsl.ir.core import Block
from affdsl.ir.dialects.opaque import Opaque, OpaqueBlock, OpaqueRegion, symbol_of
from affdsl.ir.expr import Value
from affdsl.ir.types import FunctionType
from affdsl.mlir.attributes import dictionary_text
from affdsl.mlir.names import function_symbol
from affdsl.mlir.printer import OpaqueWriter, Printer


def write_module(p: Printer, op: Opaque) -> Iterator[Block] | None:
    """`gpu.module @name attributes {...} { ... }`, unless it names targets"""
    block = _only_block(op)
    if block is None or dict(op.properties).keys() != {"sym_name"}:
        return None
    said = f" attributes {dictionary_text(op.attributes)}" if op.attributes else ""
    return _printed(p, op, f"gpu.module {function_symbol(symbol_of(op))}{said}", block)


def write_func(p: Printer, op: Opaque) -> Iterator[Block] | None:
    """`gpu.func @f(%a: type) -> type workgroup(%w : type) private(%p : type) kernel attributes {...} { ... }`"""
    block, said = _only_block(op), dict((*op.properties, *op.attributes))
    match said.pop("function_type", None), said.pop("workgroup_attributions", None):
        case TypeAttr(type=FunctionType() as type), IntegerAttr(value=shared) if block is not None and not (
            said.keys() & {"res_attrs", "workgroup_attrib_attrs", "private_attrib_attrs"}
        ):
            return _function(p, op, block, type, said, shared)
    return None


def _function(
    p: Printer, op: Opaque, block: OpaqueBlock, type: FunctionType, said: dict[str, Attribute], shared: int
) -> Iterator[Block]:
    with p.scope():
        of_args = said.pop("arg_attrs", None)
        each = of_args.items if isinstance(of_args, ArrayAttr) else (None,) * len(type.inputs)
        names = [p.names.define_argument(v) for v in block.args]
        count = len(type.inputs)
        listed = [
            f"{name}: {p.type(v)}" + (f" {dictionary_text(a.items)}" if isinstance(a, DictAttr) and a.items else "")
            for name, v, a in zip(names, block.args, each, strict=False)
        ]
        results = p.result_types([Value(t) for t in type.results])
        heading = f"gpu.func {function_symbol(symbol_of(op))}({', '.join(listed)}){f' -> {results}' if results else ''}"
        own = [f"{name} : {p.type(v)}" for name, v in zip(names[count:], block.args[count:], strict=True)]
        for word, part in (("workgroup", own[:shared]), ("private", own[shared:])):
            heading += f" {word}({', '.join(part)})" if part else ""
        heading += " kernel" if isinstance(said.pop("gpu.kernel", None), UnitAttr) else ""
        rest = tuple(sorted((name, value) for name, value in said.items() if name != "sym_name"))
        yield from _printed(p, op, f"{heading}{f' attributes {dictionary_text(rest)}' if rest else ''}", block)


def _only_block(op: Opaque) -> OpaqueBlock | None:
    match op.regions:
        case (OpaqueRegion(blocks_inside=(OpaqueBlock() as block,)),):
            return block
        case _:
            return None


def _printed(p: Printer, op: Opaque, heading: str, block: OpaqueBlock) -> Iterator[Block]:
    p.line(None, f"{heading} {{")
    yield block.body
    p.line(op, "}")


OPAQUE_WRITERS: Mapping[str, OpaqueWriter] = {"gpu.module": write_module, "gpu.func": write_func}
