"""Modules, functions and calls, printed in their custom form."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from affdsl.ir.attributes import StringAttr
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import func
from affdsl.mlir.attributes import dictionary_text
from affdsl.mlir.contract import contract_attributes, ends_itself
from affdsl.mlir.names import function_symbol
from affdsl.mlir.printer import Printer


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


def _attributes(p: Printer, op: func.Func, contract: str = "") -> str:
    text = p.dictionary(op, "sym_visibility").strip()
    if contract:
        text = f"{{{contract}, {text[1:]}" if text else f"{{{contract}}}"
    return f" attributes {text}" if text else ""


def write_func(p: Printer, op: func.Func) -> Iterator[Block]:
    """`func.func private @name(%a: type {...}) -> (type {...}) attributes {...} { ... }`"""
    with p.function():
        yield from _function(p, op)


def _function(p: Printer, op: func.Func) -> Iterator[Block]:
    names = [p.names.define_argument(v) for v in op.args]
    of_args, of_results, contract = contract_attributes(op, names)
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
    heading = f"func.func{private} {function_symbol(op.symbol)}({', '.join(shown)}){results}"
    heading += _attributes(p, op, dictionary_text(contract)[1:-1])
    if external:
        p.line(op, heading)
        return
    p.line(None, f"{heading} {{")
    yield op.body if ends_itself(op) else (*op.body, func.Return((), location=next(iter(op.ends), None) or op.location))
    p.line(op, "}")


def write_call(p: Printer, op: func.Call) -> str:
    """`call @f(%a) : (type) -> type`"""
    prefix = "" if p.is_function_level else "func."
    results = [p.type(v) for v in op.results]
    plain = len(results) == 1 and not results[0].startswith("(")
    shown = results[0] if plain else f"({', '.join(results)})"
    callee = function_symbol(op.callee)
    return f"{prefix}call {callee}({p.list(op.args)}){p.dictionary(op)} : ({p.types(op.args)}) -> {shown}"


def write_return(p: Printer, op: func.Return) -> str:
    """`return %a : type`"""
    values = f" {p.list(op.values)} : {p.types(op.values)}" if op.values else ""
    return f"{'' if p.is_function_level else 'func.'}return{p.dictionary(op)}{values}"


WRITERS: dict[type[Op], Callable[..., str | Iterator[Block]]] = {
    func.Module: write_module,
    func.Func: write_func,
    func.Call: write_call,
    func.Return: write_return,
}
