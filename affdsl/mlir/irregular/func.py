"""Modules, functions and calls: read, and printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from affdsl.ir.attributes import ArrayAttr, Attribute, Attributes, DictAttr, StringAttr, TypeAttr, without
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import func
from affdsl.ir.dialects.opaque import Opaque, OpaqueBlock, OpaqueRegion, may_end
from affdsl.ir.expr import Value
from affdsl.ir.types import FunctionType, Type
from affdsl.mlir.attributes import dictionary_text
from affdsl.mlir.contract import contract_attributes, ends_itself, function
from affdsl.mlir.irregular.table import Table
from affdsl.mlir.names import function_symbol
from affdsl.mlir.parser import Head, Parameter, Parser, Reading, Use
from affdsl.mlir.printer import Printer
from affdsl.mlir.reading.regions import read_blocks


def read_module(p: Parser, head: Head) -> Reading:
    """`module @name attributes {...} { ... }`"""
    s = p.scanner
    p.no_results(head)
    symbol = p.symbol() if s.token.startswith("@") else ""
    attributes = _attributes(p)
    is_inside = p.is_in_function and not symbol
    s.expect("{")
    p.enter_isolated()
    body = yield
    p.leave_isolated()
    s.expect("}")
    if is_inside:  # a module of its own in a function, of which that knows nothing
        region = OpaqueRegion((OpaqueBlock("", (), body),))
        return Opaque("builtin.module", (), (), (), (region,), location=head.location, attributes=attributes)
    return func.Module(body, symbol, location=head.location, attributes=attributes)


def read_func(p: Parser, head: Head) -> Reading:
    """`func.func private @name(%a: type {...}) -> (type {...}) attributes {...} { ... }`"""
    s = p.scanner
    p.no_results(head)
    visibility = s.advance() if s.token in ("private", "public", "nested") else ""
    place, symbol = s.start, p.symbol()
    p.enter_isolated()
    parameters, named = _parameters(p)
    results = _results(p)
    attributes = _of_function(p)
    for name in ("sym_name", "sym_visibility", "function_type"):
        if name in dict(attributes):
            s.fail(f"{name} is said before the attributes of a function, and cannot be among them", place)
    args = tuple([p.define(a.use, a.type, a.location) for a in parameters])
    if visibility in ("nested", "public"):
        attributes = (*attributes, ("sym_visibility", StringAttr(visibility)))
    body: Block = ()
    external = not s.accept("{")
    if not external:
        blocks = yield from read_blocks(p, head, len(parameters) if named else 0)
        p.check_defined()
        args = _arguments(p, symbol, parameters, args, named, blocks, head.offset)
        if len(blocks) > 1:
            s.expect("}")
            p.leave_isolated()
            blocks = (OpaqueBlock("", args, blocks[0].body), *blocks[1:])
            of_args = [a.attributes for a in parameters]
            return _of_blocks(head, symbol, blocks, results, of_args, attributes, visibility)
        body = blocks[0].body if blocks else ()
        if not body or not may_end(body[-1]):
            s.fail(f"the body of @{symbol} must end with a terminator, return", p.last if body else place)
        body = p.closed(body, func.Return)
    p.leave_isolated()
    return function(
        lambda problem: s.fail(problem, place), symbol, args, body, results, [a.attributes for a in parameters],
        attributes, visibility == "private", external, head.location,
    )  # fmt: skip


def _arguments(
    p: Parser,
    symbol: str,
    parameters: Sequence[Parameter],
    args: tuple[Value, ...],
    named: bool,
    blocks: Sequence[OpaqueBlock],
    offset: int,
) -> tuple[Value, ...]:
    """The arguments of a function with a body: named before the body, or by its first block."""
    if named:
        return args
    of_block = blocks[0].args if blocks else ()
    if parameters and not of_block:
        text = f"@{symbol} has a body, so its arguments have names, before it or in its first block"
        p.scanner.fail(text, offset)
    if tuple([a.type for a in of_block]) != tuple([a.type for a in parameters]):
        found, wanted = [", ".join([str(a.type) for a in listed]) for listed in (of_block, parameters)]
        p.scanner.fail(f"the first block of @{symbol} takes ({found}), but the function ({wanted})", offset)
    return of_block


def _of_blocks(
    head: Head,
    symbol: str,
    blocks: tuple[OpaqueBlock, ...],
    results: Sequence[tuple[Type, Attributes]],
    of_args: Sequence[Attributes],
    attributes: Attributes,
    visibility: str,
) -> Opaque:
    """A function of several blocks, which the IR keeps as an opaque operation."""
    type = FunctionType(tuple([a.type for a in blocks[0].args]), tuple([t for t, _ in results]))
    properties: list[tuple[str, Attribute]] = [("function_type", TypeAttr(type)), ("sym_name", StringAttr(symbol))]
    if any(of_args):
        properties.append(("arg_attrs", ArrayAttr(tuple([DictAttr(a) for a in of_args]))))
    if any(a for _, a in results):
        properties.append(("res_attrs", ArrayAttr(tuple([DictAttr(a) for _, a in results]))))
    if visibility:
        properties.append(("sym_visibility", StringAttr(visibility)))
    rest = without(attributes, "sym_visibility")
    region = OpaqueRegion(blocks)
    return Opaque("func.func", (), (), tuple(properties), (region,), location=head.location, attributes=rest)


def _attributes(p: Parser) -> Attributes:
    if not p.scanner.accept("attributes"):
        return ()
    if p.scanner.token != "{":
        p.scanner.fail("expected '{'")
    return p.dictionary()


def _of_function(p: Parser) -> Attributes:
    place, found = p.scanner.start, _attributes(p)
    for name, _ in found:
        if name in _SAID_ALREADY:
            p.scanner.fail(f"{name} is what the function says itself: it cannot stand among its attributes", place)
    return found


_SAID_ALREADY = ("sym_name", "sym_visibility", "function_type")


def _parameters(p: Parser) -> tuple[tuple[Parameter, ...], bool]:
    """The arguments, and whether they have names."""
    s = p.scanner
    if s.peek().startswith("%"):
        return p.listed(p.parameter), True

    def unnamed() -> Parameter:
        use = Use("", s.start)
        return Parameter(use, p.type(), p.dictionary(), p.trailing_location())

    return p.listed(unnamed), False


def _results(p: Parser) -> tuple[tuple[Type, Attributes], ...]:
    if not p.scanner.accept("->"):
        return ()
    if p.scanner.token != "(":
        return ((p.type(), ()),)
    return p.listed(lambda: (p.type(), p.dictionary()))


def read_call(p: Parser, head: Head) -> Op:
    """`call @f(%a) : (type) -> type`"""
    callee = p.symbol()
    uses = p.listed(p.use)
    attributes = p.dictionary()
    type = p.colon_function()
    args = p.typed(uses, type.inputs, head.offset)
    return func.Call(p.results(head, type.results), callee, args, location=head.location, attributes=attributes)


def write_module(p: Printer, op: func.Module) -> Iterator[Block]:
    """`module @name attributes {...} { ... }`"""
    symbol = f" {function_symbol(op.symbol)}" if op.symbol else ""
    said = p.dictionary(op)
    p.line(None, f"module{symbol}{f' attributes{said}' if said else ''} {{")
    yield op.body
    p.line(op, "}")


def _visibility(op: func.Func) -> str:
    if op.private:
        return " private"
    visibility = dict(op.attributes).get("sym_visibility")
    return f" {visibility.value}" if isinstance(visibility, StringAttr) else ""


def _attributes_text(p: Printer, op: func.Func, contract: str = "") -> str:
    text = p.dictionary(op, "sym_visibility").strip()
    if contract:
        text = f"{{{contract}, {text[1:]}" if text else f"{{{contract}}}"
    return f" attributes {text}" if text else ""


def write_func(p: Printer, op: func.Func, keyword: str = "func.func", *, promises: bool = True) -> Iterator[Block]:
    """`func.func private @name(%a: type {...}) -> (type {...}) attributes {...} { ... }`, or without its promises"""
    with p.function():
        yield from _function(p, op, keyword, promises=promises)


def _function(p: Printer, op: func.Func, keyword: str, *, promises: bool) -> Iterator[Block]:
    names = [p.names.define_argument(v) for v in op.args]
    of_args, of_results, contract = contract_attributes(op, names)
    if not promises:
        of_args, of_results, contract = [()] * len(of_args), [()] * len(of_results), ()
    external = op.external or bool(op.result_types and not op.body)  # nothing returns the results
    shown = []
    for v, name, attributes in zip(op.args, names, of_args, strict=True):
        text = p.type(v) if external else f"{name}: {p.type(v)}"
        said = f" {dictionary_text(attributes)}" if attributes else ""
        shown.append(f"{text}{said}{p.argument_location(v.location)}")
    returned = [
        f"{p.spelled(type)} {dictionary_text(attributes)}" if attributes else p.spelled(type)
        for type, attributes in zip(op.result_types, of_results, strict=True)
    ]
    plain = len(returned) == 1 and not of_results[0] and not returned[0].startswith("(")
    results = f" -> {returned[0] if plain else '(' + ', '.join(returned) + ')'}" if returned else ""
    private = _visibility(op)
    if external and not private and not op.external:
        private = " private"
    heading = f"{keyword}{private} {function_symbol(op.symbol)}({', '.join(shown)}){results}"
    heading += _attributes_text(p, op, dictionary_text(contract)[1:-1])
    if external:
        p.line(op, heading)
        return
    p.line(None, f"{heading} {{")
    yield op.body if ends_itself(op) else (*op.body, func.Return((), location=next(iter(op.ends), None) or op.location))
    p.line(op, "}")


def write_call(p: Printer, op: func.Call) -> str:
    """`call @f(%a) : (type) -> type`"""
    prefix = "" if p.is_function_level else "func."
    callee = function_symbol(op.callee)
    return f"{prefix}call {callee}({p.list(op.args)}){p.dictionary(op)}{p.colon_types(op.args, op.results)}"


def write_return(p: Printer, op: func.Return) -> str:
    """`return %a : type`"""
    values = f" {p.list(op.values)} : {p.types(op.values)}" if op.values else ""
    return f"{'' if p.is_function_level else 'func.'}return{p.dictionary(op)}{values}"


TABLE: Table = {
    func.Module: (read_module, write_module),
    func.Func: (read_func, write_func),
    func.Call: (read_call, write_call),
    func.Return: (None, write_return),
}
