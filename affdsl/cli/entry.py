"""Which function of a module a command is about."""

from __future__ import annotations

from affdsl.cli.flags import UsageError
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.messages import nearest


def entry_of(module: Module, name: str | None, command: str) -> Func:
    """The function that is named, or the only public one. Raises UsageError where there is none, or no only one."""
    functions = {f.symbol: f for f in module.functions if not f.external}
    listed = ", ".join(f"@{symbol}" for symbol in functions)
    if not functions:
        raise UsageError(f"affdsl {command}: the text has no function with a body")
    if name is not None:
        symbol = name.removeprefix("@")
        if symbol not in functions:
            close = nearest(symbol, [*functions])
            raise UsageError(f"affdsl {command}: there is no function @{symbol}{close}; the text has {listed}")
        return functions[symbol]
    public = [f for f in functions.values() if not f.private]
    if len(public) != 1:
        raise UsageError(f"affdsl {command}: say which function with --entry=<name>: the text has {listed}")
    return public[0]
