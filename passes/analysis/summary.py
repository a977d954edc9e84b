"""What a call may read and write: the buffers that it is given, and global ones."""

from __future__ import annotations

from functools import cached_property

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func, memref
from affdsl.ir.expr import Value
from affdsl.ir.traverse import definitions, walk
from affdsl.ir.types import MemRefType, UnrankedMemRefType
from affdsl.passes.analysis.effects import effects
from affdsl.passes.analysis.views import VIEWS

Touched = frozenset[int | str]
"""Arguments by position, and global buffers by name."""
NEW = ""
"""What stands for a buffer that a function makes, in place of a position or a name."""


class Summary(FrozenValue):
    """The arguments and globals that a function reads and writes; `anything` is one of which nothing is known.

    `results` has for each result the argument, the global or the `NEW` buffer that it is, or is a part of, and None for
    what is no buffer, or not known. It is empty if `anything`.
    """

    reads: Touched = frozenset()
    writes: Touched = frozenset()
    anything: bool = False
    results: tuple[int | str | None, ...] = ()

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
        self._module = module
        self._found: dict[str, Summary] = {}

    @cached_property
    def _functions(self) -> dict[str, func.Func]:
        return {f.symbol: f for f in self._module.functions} if self._module is not None else {}

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
                _, place = self.origin(value, function, makers)
                if place is None:
                    return False
                if place != NEW:
                    to.add(place)
            return True

        returned: tuple[Value, ...] = ()
        for op in walk(function):
            if isinstance(op, func.Return):
                returned = op.values
            if op is function or op.is_terminator or isinstance(op, affine.Prefetch | memref.Prefetch):
                continue
            if stores_a_buffer(op):
                return ANYTHING
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
        origins = [self.origin(v, function, makers) if is_buffer(v) else (v, None) for v in returned]
        roots = [root for root, _ in origins]
        results = tuple(None if place == NEW and roots.count(root) > 1 else place for root, place in origins)
        return Summary(frozenset(reads), frozenset(writes), results=results)

    def origin(self, value: Value, function: func.Func, makers: dict[Value, Op]) -> tuple[Value, int | str | None]:
        """What a buffer in a function is, or is a part of: a memref, and where it comes from.

        That is the position of an argument, the name of a global buffer, or NEW, or None where it is not known.
        """
        while True:
            match makers.get(value):
                case memref.GetGlobal(symbol=symbol):
                    return value, f"@{symbol}"
                case memref.Allocation():
                    return value, NEW
                case func.Call(callee=callee, args=args, results=results):
                    of = self.of(callee).results
                    place = of[results.index(value)] if of else None
                    if not isinstance(place, int):
                        return value, place
                    value = args[place]
                case maker if isinstance(maker, VIEWS):
                    value = maker.source
                case _:
                    return value, function.args.index(value) if value in function.args else None


def stores_a_buffer(op: Op) -> bool:
    """Whether an operation puts a memref itself into memory."""
    value = getattr(op, "value", None)
    return isinstance(value, Value) and is_buffer(value)


def is_buffer(value: Value) -> bool:
    """Whether a value is a memref, of a known rank or not."""
    return isinstance(value.type, MemRefType | UnrankedMemRefType)
