"""A kernel's program with other IR, called with the same arguments and giving the same results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from affdsl.errors import UnsupportedError
from affdsl.ir.dialects.func import Call, Func, Module
from affdsl.ir.dialects.memref import GetGlobal, Global
from affdsl.ir.traverse import walk
from affdsl.lang.trace import Program


def derived(program: Program, module: Module) -> Program:
    """What remains of a program when `module` stands for its own: the function of its name, and what that calls.

    Raises
    ------
    UnsupportedError
        The module has no such function, or one that is called in another way.
    """
    symbol = program.func.symbol
    functions = {f.symbol: f for f in module.functions if not f.external}
    made = functions.get(symbol)
    if made is None:
        raise UnsupportedError(f"{symbol}: there is no function @{symbol} any more, so nothing can be called")
    if made.args != program.func.args or made.result_types != program.func.result_types:
        raise UnsupportedError(f"{symbol}: its arguments or results are not those that it is called with from Python")
    constants = {op.symbol: op for op in module.body if isinstance(op, Global)}
    callees: dict[str, Program] = {}
    unchanged = {each.func: each for each in all_called(program)}

    def parts(function: Func) -> tuple[dict[str, Program], tuple[Global, ...]]:
        inside = list(walk(function))
        called = dict.fromkeys(op.callee for op in inside if isinstance(op, Call))
        read = dict.fromkeys(op.symbol for op in inside if isinstance(op, GetGlobal))
        for callee in called:
            if callee not in functions:
                raise UnsupportedError(f"{symbol}: it calls @{callee}, which is not in the module or has no body")
            if callee not in callees and functions[callee] in unchanged:
                callees[callee] = unchanged[functions[callee]]
            elif callee not in callees:
                callee_parts = parts(functions[callee])
                callees[callee] = Program(functions[callee], (), (), (), frozenset(), *callee_parts)
        return {callee: callees[callee] for callee in called}, tuple(constants[name] for name in read)

    own, read = parts(made)
    return replace(program, func=made, callees=own, constants=read, downward={})


def all_called(program: Program) -> Iterator[Program]:
    """The kernels that a program calls, and those that these call."""
    for callee in program.callees.values():
        yield callee
        yield from all_called(callee)
