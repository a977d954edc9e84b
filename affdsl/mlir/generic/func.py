"""Modules, functions and calls in generic form."""

from __future__ import annotations

from affdsl.ir.attributes import ArrayAttr, Attribute, Attributes, DictAttr, StringAttr, SymbolAttr, TypeAttr, without
from affdsl.ir.core import Op
from affdsl.ir.dialects import func
from affdsl.ir.dialects.opaque import Opaque, OpaqueBlock, OpaqueRegion
from affdsl.ir.expr import Value
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import FunctionType
from affdsl.mlir.contract import contract_attributes, ends_itself, function
from affdsl.mlir.form import YIELD
from affdsl.mlir.generic.rows import Property, Reading, Row, Writing, end_of, ended, named, without_terminator


def _write_module(op: func.Module, writing: Writing) -> Opaque:
    properties: list[tuple[str, Attribute]] = [("sym_name", StringAttr(op.symbol))] if op.symbol else []
    properties += _visibility(False, op.attributes)
    region = OpaqueRegion((OpaqueBlock("", (), op.body),))
    return Opaque(
        op.name, (), (), tuple(properties), (region,),
        attributes=without(op.attributes, *_INHERENT), location=op.location,
    )  # fmt: skip


def _visibility(private: bool, attributes: Attributes) -> list[tuple[str, Attribute]]:
    if private:
        return [("sym_visibility", StringAttr("private"))]
    return [entry for entry in attributes if entry[0] == "sym_visibility"]


_INHERENT = ("sym_name", "sym_visibility", "function_type", "arg_attrs", "res_attrs", "no_inline")


def _read_module(opaque: Opaque, reading: Reading) -> Op:
    said = opaque.properties or opaque.attributes
    symbol, private, attributes = _symbol(said, opaque, without(opaque.attributes, *_INHERENT), reading)
    if private:
        attributes = (*attributes, ("sym_visibility", StringAttr("private")))
    region = opaque.regions[0] if len(opaque.regions) == 1 else None
    if not isinstance(region, OpaqueRegion) or len(region.blocks_inside) != 1:
        reading.refuse(opaque, "builtin.module has one region with one block")
    body = [op for block in region.blocks() for b in block if isinstance(b, OpaqueBlock) for op in b.body]
    if any(b.args for block in region.blocks() for b in block if isinstance(b, OpaqueBlock)):
        reading.refuse(opaque, "the block of builtin.module has no arguments")
    return func.Module(tuple(body), symbol, location=opaque.location, attributes=attributes)


def _symbol(said: Attributes, opaque: Opaque, rest: Attributes, reading: Reading) -> tuple[str, bool, Attributes]:
    """The symbol, whether it is private, and the attributes with a visibility that is neither private nor public."""
    name = named(said, "sym_name")
    visibility = named(said, "sym_visibility")
    shown = visibility.value if isinstance(visibility, StringAttr) else ""
    if visibility is not None and shown not in ("public", "private", "nested"):
        given = shown or "something else"
        reading.refuse(opaque, f"the visibility of a symbol is public, private or nested, not {given}")
    if shown in ("nested", "public"):
        rest = (*rest, ("sym_visibility", StringAttr(shown)))
    return (name.value if isinstance(name, StringAttr) else ""), shown == "private", rest


def _write_func(op: func.Func, writing: Writing) -> Opaque:
    of_args, of_results, contract = contract_attributes(op)
    properties: list[tuple[str, Attribute]] = []
    if any(of_args):
        properties.append(("arg_attrs", ArrayAttr(tuple([DictAttr(a) for a in of_args]))))
    properties.append(("function_type", TypeAttr(op.type)))
    properties += [entry for entry in op.attributes if entry[0] == "no_inline"]
    if any(of_results):
        properties.append(("res_attrs", ArrayAttr(tuple([DictAttr(a) for a in of_results]))))
    properties.append(("sym_name", StringAttr(op.symbol)))
    properties += _visibility(op.private, op.attributes)
    blocks = (
        ()
        if op.external
        else (OpaqueBlock("", op.args, ended(op.body, None if ends_itself(op) else func.Return, end_of(op, 0))),)
    )
    return Opaque(
        op.name, (), (), tuple(properties), (OpaqueRegion(blocks),),
        attributes=(*without(op.attributes, *_INHERENT), *contract), location=op.location,
    )  # fmt: skip


def _read_func(opaque: Opaque, reading: Reading) -> Op:
    said = opaque.properties or opaque.attributes
    type = named(said, "function_type")
    region = opaque.regions[0] if len(opaque.regions) == 1 else None
    if (
        not isinstance(type, TypeAttr)
        or not isinstance(type.type, FunctionType)
        or not isinstance(region, OpaqueRegion)
    ):
        reading.refuse(opaque, "func.func needs sym_name, function_type and one region")
    symbol, private, attributes = _symbol(said, opaque, without(opaque.attributes, *_INHERENT), reading)
    if not symbol:
        reading.refuse(opaque, "func.func needs sym_name")
    attributes = (*attributes, *[entry for entry in said if entry[0] == "no_inline"])
    inputs, outputs = type.type.inputs, type.type.results
    of_args = _dictionaries(opaque, named(said, "arg_attrs"), len(inputs), reading)
    of_results = _dictionaries(opaque, named(said, "res_attrs"), len(outputs), reading)
    blocks = [block for block in region.blocks_inside if isinstance(block, OpaqueBlock)]
    if blocks:
        args = blocks[0].args
        if tuple([a.type for a in args]) != inputs:
            found, wanted = [", ".join(map(str, types)) for types in ([a.type for a in args], inputs)]
            text = (
                f"the block of @{symbol} has {len(args)} arguments ({found}), but the function {len(inputs)} ({wanted})"
            )
            reading.refuse(opaque, text)
        body = without_terminator(opaque, blocks[0].body, func.Return, False, reading)
    else:
        args, body = tuple([Value(t) for t in inputs]), ()
    made = function(
        lambda problem: reading.refuse(opaque, problem), symbol, args, body,
        tuple(zip(outputs, of_results, strict=True)), of_args, attributes, private, not blocks, opaque.location,
    )  # fmt: skip
    silent = bool(blocks) and len(body) < len(blocks[0].body)
    return with_fields(made, ends=(blocks[0].body[-1].location,)) if silent else made


def _dictionaries(opaque: Opaque, attribute: Attribute | None, count: int, reading: Reading) -> tuple[Attributes, ...]:
    match attribute:
        case None:
            return ((),) * count
        case ArrayAttr(items) if len(items) == count:
            found = [item.items for item in items if isinstance(item, DictAttr)]
            if len(found) == count:
                return tuple(found)
    given = f"{len(attribute.items)}" if isinstance(attribute, ArrayAttr) else "no list"
    reading.refuse(opaque, f"func.func needs a dictionary for each of {count} arguments or results, got {given}")


def _callee(attribute: Attribute | None) -> str:
    if not isinstance(attribute, SymbolAttr) or len(attribute.path) != 1:
        raise ValueError("must be the symbol of a function")
    return attribute.path[0]


ROWS = (
    Row(func.Module, write=_write_module, read=_read_module),
    Row(func.Func, write=_write_func, read=_read_func),
    Row(
        func.Call, properties=(Property("callee", "callee", lambda name: SymbolAttr((name,)), _callee),),
        inherent={"no_inline": None, "arg_attrs": None, "res_attrs": None},
    ),
    Row(func.Return, YIELD),
)  # fmt: skip
