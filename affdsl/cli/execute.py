"""Calls a function of a module: by the interpreter, or compiled for this machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from affdsl.cli.arguments import Argument
from affdsl.cli.sizes import with_sizes
from affdsl.codegen.arguments import ArrayArgument, ScalarArgument, Scalars, Shapes
from affdsl.codegen.c.emit import emit_jit
from affdsl.codegen.c.entry import signature as signature_of
from affdsl.codegen.c.sites import Sites
from affdsl.codegen.cache import default_cache
from affdsl.codegen.caller import load
from affdsl.codegen.toolchain import jit_flags
from affdsl.errors import InternalError
from affdsl.ir.core import Op
from affdsl.ir.dialects.func import Call, Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.interpreter import run
from affdsl.ir.interpreter.contract import argument, check_contract
from affdsl.ir.spelling import hint
from affdsl.ir.traverse import walk


def interpret(module: Module, function: Func, arguments: Sequence[Argument]) -> tuple[object, ...]:
    """The results of a call by the interpreter, which checks each access; arrays are changed in place."""
    return tuple(run(function, *arguments, module=module))


def compile_and_call(module: Module, function: Func, arguments: Sequence[Argument]) -> tuple[object, ...]:
    """The results of a call, compiled; arrays are changed in place.

    Raises UnsupportedError for what C or NumPy has no type for, ToolchainError without a compiler, and what the
    interpreter raises where the arguments break the contract of the function.
    """
    given = [argument(function, position, x) for position, x in enumerate(arguments)]
    check_contract(function, dict(zip(function.args, given, strict=True)))
    sized, counts = with_sizes(module)
    count = counts.get(function.symbol, 0)
    signature = signature_of(sized, function.symbol, sizes=count, names=argument_names(function))
    sites = Sites()
    source = emit_jit(sized, function.symbol, sizes=count, sites=sites, checked=False)
    cache = default_cache()
    compiler = cache.compiler()
    library = cache.library(compiler, source, jit_flags(compiler))

    def explain(shapes: Shapes, scalars: Scalars) -> NoReturn:
        raise InternalError(f"@{function.symbol}: compiled, it refused {shapes} and {scalars}, which are right")

    call = load(library, signature, explain, sites=sites)
    passed = [_converted(x, part) for x, part in zip(arguments, signature.arguments, strict=True)]
    results = call(*passed)
    return () if not signature.results else results if isinstance(results, tuple) else (results,)


def external_calls(module: Module, function: Func) -> tuple[str, ...]:
    """The functions without a body that a function calls, or that are called by what it calls."""
    functions = {f.symbol: f for f in module.functions}
    reached: dict[str, None] = {function.symbol: None}
    pending: list[Op] = [function]
    while pending:
        for op in walk(pending.pop()):
            if isinstance(op, Call) and op.callee not in reached:
                reached[op.callee] = None
                pending += [functions[op.callee]] if op.callee in functions else []
    return tuple(name for name in reached if name not in functions or functions[name].external)


def argument_names(function: Func) -> list[str]:
    """What the arguments are called in messages and files: by the text, or arg0, arg1 ...; each name once."""
    names: list[str] = []
    for position, value in enumerate(function.args):
        name = _plain_name(value) or f"arg{position}"
        names.append(name if name not in names else f"{name}_{position}")
    return names


def _plain_name(value: Value) -> str:
    return hint(value).removeprefix("%") if value.hint else ""


def _converted(given: Argument, part: ArrayArgument | ScalarArgument) -> object:
    return bool(given) if isinstance(part, ScalarArgument) and part.dtype.kind == "b" else given
