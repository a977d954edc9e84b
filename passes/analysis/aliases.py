"""Which arguments of a function may be one buffer, or a global one, as the calls in its module show."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import func
from affdsl.ir.expr import Value
from affdsl.ir.traverse import definitions, gathered
from affdsl.ir.types import MemRefType, UnrankedMemRefType
from affdsl.passes.analysis.summary import NEW, Summaries

Pair = frozenset[int | str]
"""Two arguments by position, or an argument and the name of a global buffer."""
ANY_GLOBAL = "@"
"""What stands for every global buffer."""


class _Given(FrozenValue):
    """What a call gives as one argument: where its buffer comes from, as `Summaries.origin` says."""

    position: int
    root: Value
    place: int | str | None


class Aliases:
    """What the calls of a module say of the arguments of its functions.

    Arguments of a function that nothing in the module calls are different buffers, as mlir-opt assumes, and a call of a
    compiled kernel checks.
    """

    def __init__(self, module: func.Module | None, summaries: Summaries) -> None:
        functions = module.functions if module is not None and gathered(module, calls) else ()
        made = [(f, call, given) for f in functions if gathered(f, calls) for call, given in _calls(f, summaries)]
        self._found: dict[str, set[Pair]] = {f.symbol: set() for f in functions} if made else {}
        changed = True
        while changed:  # what a function is given may be what it returns
            changed = False
            for caller, call, given in made:
                found = self._found.get(call.callee)
                if found is None:
                    continue
                new = set(self._pairs(caller.symbol, given)) - found
                changed = changed or bool(new)
                found |= new

    def of(self, function: func.Func) -> frozenset[Pair]:
        """The pairs that may be one buffer."""
        return frozenset(self._found.get(function.symbol, ()))

    def _pairs(self, caller: str, given: list[_Given]) -> Iterator[Pair]:
        for a, b in combinations(given, 2):
            if self._may_be_one(caller, a, b):
                yield frozenset((a.position, b.position))
        for each in given:
            for name in self._globals_of(caller, each):
                yield frozenset((each.position, name))

    def _globals_of(self, caller: str, given: _Given) -> Iterator[str]:
        """The global buffers that an argument of a call may be."""
        if given.place is None:
            yield ANY_GLOBAL
        elif isinstance(given.place, int):
            pairs = (pair for pair in self._found[caller] if given.place in pair)
            yield from (x for pair in pairs for x in pair if isinstance(x, str))
        elif given.place != NEW:
            yield given.place

    def _may_be_one(self, caller: str, a: _Given, b: _Given) -> bool:
        if a.root is b.root or None in (a.place, b.place):
            return True
        if NEW in (a.place, b.place):
            return False
        return a.place == b.place or frozenset((a.place, b.place)) in self._found[caller]


def _calls(caller: func.Func, summaries: Summaries) -> Iterator[tuple[func.Call, list[_Given]]]:
    """The calls in a function, and where the buffers come from that they give."""
    makers = definitions(caller)
    for op in gathered(caller, calls):
        buffers = [(k, v) for k, v in enumerate(op.args) if isinstance(v.type, MemRefType | UnrankedMemRefType)]
        yield op, [_Given(k, *summaries.origin(v, caller, makers)) for k, v in buffers]


def calls(op: Op) -> tuple[func.Call, ...]:
    """An operation, if it is a call: to be gathered."""
    return (op,) if isinstance(op, func.Call) else ()
