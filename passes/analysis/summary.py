"""What a call may read and write: the buffers that it is given, and global ones."""

from __future__ import annotations

from dataclasses import dataclass

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func, memref
from affdsl.ir.expr import Value
from affdsl.ir.traverse import definitions, walk
from passes.analysis.storage import VIEWS
from passes.effects import effects

Touched = frozenset[int | str]
"""Arguments by position, and global buffers by name."""


@dataclass(frozen=True)
class Summary:
    """The arguments and globals that a function reads and writes; `anything` is one of which nothing is known."""

    reads: Touched = frozenset()
    writes: Touched = frozenset()
    anything: bool = False

    def touches(self, kind: str, passed: list[int], name: str, *, escapes: bool) -> bool:
        """Whether a call reads, or writes, a buffer given at these positions, or a global one of this name."""
        if self.anything:
            return bool(passed) or escapes
        found = self.reads if kind == "read" else self.writes
        return name in found or any(position in found for position in passed)


ANYTHING = Summary(anything=True)


class Summaries:
    """The summaries of the functions of a module, made when asked for."""

    def __init__(self, module: func.Module | None) -> None:
        self._functions = {f.symbol: f for f in module.functions} if module is not None else {}
        self._found: dict[str, Summary] = {}

    def of(self, symbol: str) -> Summary:
        """What a call of the function may do. One that calls itself may do anything."""
        found = self._found.get(symbol)
        if found is None:
            self._found[symbol] = ANYTHING
            function = self._functions.get(symbol)
            found = self._found[symbol] = ANYTHING if function is None or function.external else self._made(function)
        return found

    def _made(self, function: func.Func) -> Summary:
        makers = definitions(function)
        reads: set[int | str] = set()
        writes: set[int | str] = set()

        def add(values: tuple[Value, ...], to: set[int | str]) -> bool:
            """Take buffers into a set; False where one comes from who knows where."""
            for value in values:
                found = _place(value, function, makers)
                if found is None:
                    return False
                if found != "":
                    to.add(found)
            return True

        for op in walk(function):
            if op is function or op.is_terminator or isinstance(op, affine.Prefetch | memref.Prefetch):
                continue
            if isinstance(op, func.Call):
                inner = self.of(op.callee)
                if inner.anything:
                    return ANYTHING
                for touched, to in ((inner.reads, reads), (inner.writes, writes)):
                    to.update(name for name in touched if isinstance(name, str))
                    if not add(tuple(op.args[k] for k in touched if isinstance(k, int)), to):
                        return ANYTHING
                continue
            what = effects(op)
            if what.unknown or not add(what.reads, reads) or not add((*what.writes, *what.frees), writes):
                return ANYTHING
        return Summary(frozenset(reads), frozenset(writes))


def _place(value: Value, function: func.Func, makers: dict[Value, Op]) -> int | str | None:
    """The position of the argument, or the name of the global; "" is the function's own, and None is not known."""
    while isinstance(maker := makers.get(value), VIEWS):
        value = maker.source
    if value in function.args:
        return function.args.index(value)
    match maker:
        case memref.GetGlobal(symbol=symbol):
            return f"@{symbol}"
        case memref.Alloc() | memref.Alloca():
            return ""
    return None
