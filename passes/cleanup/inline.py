"""Puts the bodies of functions in the place of calls."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func, memref
from affdsl.ir.dialects.func import Module
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.renaming import renamed
from affdsl.ir.traverse import clone_block, kept, map_blocks, rewrite, walk, with_fields
from affdsl.ir.verifier.context import Context
from affdsl.ir.verifier.positions import Positions
from affdsl.ir.verifier.rules import RULES
from affdsl.passes.affine.positions import respelled
from affdsl.passes.cleanup.canonicalize import canonicalize
from affdsl.passes.cleanup.symbol_dce import is_discardable, references, symbol_of


def inline(module: Module, *, default_pipeline: str = "canonicalize") -> Module:
    """The same program with calls replaced by copies of the bodies of the functions that they call.

        func.func private @twice(%x: f32) -> f32 { ... return %y : f32 }
        %0 = call @twice(%a) : (f32) -> f32                                   ->   the operations that compute %y of %a

    Functions are taken from the bottom of the calls to the top. A call stays if its function has no body here or calls
    itself, directly or through others, if one of them says `no_inline`, and where the rules of the affine dialect do
    not allow the body: where an operand would be a dimension or symbol and may not be one. Functions that are not
    public are removed as mlir-opt does it: those that nothing refers to, and those whose last call is replaced. What
    only a removed function referred to stays, as there; `symbol_dce` removes it.

    Parameters
    ----------
    default_pipeline
        What is done to each function before others get copies of it: "canonicalize" or nothing.

    >>> from affdsl.mlir.readers import parse
    >>> print(inline(parse('''
    ... func.func private @next(%n: index) -> index {
    ...     %0 = affine.apply affine_map<(d0) -> (d0 + 1)>(%n)
    ...     return %0 : index
    ... }
    ... func.func @f(%n: index) -> index { %0 = call @next(%n) : (index) -> index return %0 : index }''')))
    #map = affine_map<()[s0] -> (s0 + 1)>
    module {
      func.func @f(%n: index) -> index {
        %0 = affine.apply #map()[%n]
        return %0 : index
      }
    }
    """
    return _inlined(module, default_pipeline, _from_outside(module), _Inliner)


def inline_into_loops(module: Module) -> Module:
    """`inline`, also of calls with a size that is a minimum, where that size is only where loops end.

        %n = affine.min (4, N - i)         ->    affine.for %j = 0 to min(4, N - i)
        call @f(%n, ...)                             what @f does for %j = 0 to %n

    A function that is called for each tile has such a size, since the last tile is smaller. In MLIR it may not stand in
    a bound, so that mlir-opt, and `inline`, leave the call.
    """
    return _inlined(module, "canonicalize", _from_outside(module), _IntoLoops)


def _from_outside(module: Module) -> Set[str]:
    return {path[-1] for op in walk(module) for path in references(op) if len(path) > 1}


def _inlined(module: Module, default_pipeline: str, from_outside: Set[str], kind: type[_Inliner]) -> Module:
    """`inline`; functions of a module inside stay if their names are among those that paths from elsewhere end in."""
    simplified = _PIPELINES[default_pipeline]
    module = _with_modules(module, default_pipeline, from_outside, kind)
    functions = {f.symbol: f for f in module.functions}
    buffers = {op.symbol: op for op in module.body if isinstance(op, memref.Global)}
    of_blocks = {symbol_of(op): op for op in module.body if isinstance(op, Opaque) and op.kind == "func.func"}
    everything = {symbol_of(op): op for op in module.body if symbol_of(op) in {**functions, **of_blocks}}
    calls = {symbol: _callees(op, everything) for symbol, op in everything.items()}
    callees: dict[str, func.Func] = {}
    uses = _Uses(module.body, from_outside)
    for group in _groups(calls):
        for symbol in group:
            if uses.is_dead(symbol):
                uses.removed.add(symbol)
                continue
            if symbol in of_blocks:
                continue
            if any(callee in callees for callee in calls[symbol]):
                functions[symbol] = kind(callees, functions, buffers).function(functions[symbol])
                uses.update(symbol, functions[symbol])
                for callee in calls[symbol]:
                    if callee in callees and uses.is_dead(callee):
                        uses.replace(callee)
            functions[symbol] = simplified(functions[symbol])
            uses.update(symbol, functions[symbol])
        (symbol, *others) = group
        if not others and symbol in functions and symbol not in calls[symbol] and _has_body(functions[symbol]):
            callees[symbol] = functions[symbol]
    left = [op for op in module.body if symbol_of(op) not in uses.removed]
    body = tuple(functions[op.symbol] if isinstance(op, func.Func) else op for op in left)
    return map_blocks(module, lambda _: body)


def _canonical(function: func.Func) -> func.Func:
    (simple,) = canonicalize(Module((function,))).body
    assert isinstance(simple, func.Func), "canonicalization keeps functions"
    return simple


_PIPELINES: dict[str, Callable[[func.Func], func.Func]] = {"": lambda function: function, "canonicalize": _canonical}


def _with_modules(module: Module, default_pipeline: str, from_outside: Set[str], kind: type[_Inliner]) -> Module:
    """module with the modules inside done: they know their own functions only."""
    body = tuple(
        _inlined(op, default_pipeline, from_outside, kind) if isinstance(op, Module) else op for op in module.body
    )
    return map_blocks(module, lambda _: body)


def _has_body(function: func.Func) -> bool:
    return not function.external and not _says_no(function)


def _says_no(op: Op) -> bool:
    return any(name == "no_inline" for name, _ in op.attributes)


class _Inliner:
    """Replaces the calls of one function, which is walked from top to bottom: it knows the position of each value."""

    def __init__(
        self,
        callees: dict[str, func.Func],
        functions: dict[str, func.Func],
        buffers: dict[str, memref.Global],
    ) -> None:
        self.callees = callees
        self.context = Context(Positions(), functions, buffers)
        self.replaced: dict[Value, Value] = {}

    def function(self, caller: func.Func) -> func.Func:
        """A function without the calls that can be replaced."""
        self.context.positions.bind(caller)
        return renamed(map_blocks(caller, lambda block: self.block(block, top=True)), self.replaced)

    def block(self, block: Block, *, top: bool) -> Block:
        positions = self.context.positions
        out: list[Op] = []
        for op in block:
            body = self.body(op, top=top) if isinstance(op, func.Call) else None
            if body is not None:
                out += body
                continue
            positions.bind(op)
            out.append(map_blocks(op, lambda inner: self.block(inner, top=False)))
            positions.define(op, top=top)
        return kept(block, out)

    def body(self, call: func.Call, *, top: bool) -> Sequence[Op] | None:
        """What stands in the place of a call; None if it stays."""
        callee = self.callees.get(call.callee)
        if callee is None or _says_no(call):
            return None
        args = [self.replaced.get(a, a) for a in call.args]
        new: dict[Value, Term] = dict(zip(callee.args, args, strict=True))
        copy = clone_block(callee.body, new)
        values: tuple[Value, ...] = ()
        if copy and isinstance(end := copy[-1], func.Return):
            copy, values = copy[:-1], end.values
        copy = self.prepared(copy)
        if not self.is_valid(copy, top=top):
            return None
        self.replaced.update(zip(call.results, values, strict=True))
        return tuple(respelled(op, self.context.positions) for op in copy)

    def prepared(self, block: Block) -> Block:
        """The body of a function as it is to stand in the place of a call."""
        return block

    def is_valid(self, block: Block, *, top: bool) -> bool:
        """Whether the operations of a block keep the rules where it is to stand."""
        positions = self.context.positions
        for op in block:
            rule = RULES.get(type(op))
            if rule is not None and next(rule(op, self.context), None) is not None:
                return False
            positions.bind(op)
            if not all(self.is_valid(inner, top=False) for inner in op.blocks()):
                return False
            positions.define(op, top=top)
        return True


class _IntoLoops(_Inliner):
    """Puts the expressions of minima in their place where loops end."""

    def function(self, caller: func.Func) -> func.Func:
        self.minima = {op.result: op.exprs for op in walk(caller) if isinstance(op, affine.Min)}
        return super().function(caller)

    def prepared(self, block: Block) -> Block:
        def rule(op: Op) -> Op | None:
            if not isinstance(op, affine.For) or not any(v in self.minima for e in op.upper for v in e.values()):
                return None
            return with_fields(op, upper=tuple(dict.fromkeys(e for u in op.upper for e in self.ends(u))), written=None)

        inside = [rewrite(op, rule) for op in block]
        return tuple(rule(op) or op for op in inside)

    def ends(self, upper: Affine) -> tuple[Affine, ...]:
        """An end of a loop, or those of which it is the smallest."""
        atoms = [atom for atom, factor in upper.terms if isinstance(atom, Value) and atom in self.minima and factor > 0]
        if len(atoms) != 1 or any(v in self.minima for v in (upper - atoms[0]).values() if v is not atoms[0]):
            return (upper,)
        return tuple(upper.substitute({atoms[0]: e}) for e in self.minima[atoms[0]])


def _groups(calls: dict[str, list[str]]) -> list[list[str]]:
    """Functions that call each other, directly or not, in one group; each group after those that it calls."""
    order = _postorder(calls, list(calls))
    callers: dict[str, list[str]] = defaultdict(list)
    for symbol, found in calls.items():
        for callee in found:
            callers[callee].append(symbol)
    group_of: dict[str, str] = {}
    for symbol in reversed(order):  # what reaches it backwards and has no group yet is in a cycle with it
        if symbol in group_of:
            continue
        pending = [symbol]
        while pending:
            reached = pending.pop()
            if reached not in group_of:
                group_of[reached] = symbol
                pending += callers[reached]
    groups: dict[str, list[str]] = {}
    for symbol in order:
        groups.setdefault(group_of[symbol], []).append(symbol)
    last = {leader: order.index(group[-1]) for leader, group in groups.items()}
    return [groups[leader] for leader in sorted(groups, key=last.__getitem__)]


def _callees(function: Op, functions: Mapping[str, Op]) -> list[str]:
    return list(dict.fromkeys(op.callee for op in walk(function)
                              if isinstance(op, func.Call) and op.callee in functions))  # fmt: skip


def _postorder(edges: dict[str, list[str]], roots: Sequence[str]) -> list[str]:
    seen: set[str] = set()
    order: list[str] = []
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        stack: list[tuple[str, Iterator[str]]] = [(root, iter(edges[root]))]
        while stack:
            symbol, rest = stack[-1]
            following = next((s for s in rest if s not in seen), None)
            if following is None:
                order.append(symbol)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(edges[following])))
    return order


class _Uses:
    """How often each symbol of a module is referred to, and which functions nobody needs."""

    def __init__(self, body: Block, from_outside: Set[str]) -> None:
        self.removed: set[str] = set()
        self._of: dict[str, Counter[str]] = {symbol_of(op): _used(op) for op in body if symbol_of(op)}
        self._count: Counter[str] = Counter(from_outside)
        for op in body:
            self._count.update(self._of.get(symbol_of(op)) or _used(op))
        self._may_go = {symbol_of(op) for op in body if is_discardable(op) and _is_defined(op)}

    def is_dead(self, symbol: str) -> bool:
        """Whether a function may go and nothing refers to it."""
        return symbol in self._may_go and symbol not in self.removed and not self._count[symbol]

    def update(self, symbol: str, function: func.Func) -> None:
        """A function has changed."""
        self._count.subtract(self._of[symbol])
        self._of[symbol] = _used(function)
        self._count.update(self._of[symbol])

    def replace(self, symbol: str) -> None:
        """A function goes because its last call was replaced: what it refers to is counted there now."""
        self.removed.add(symbol)
        self._count.subtract(self._of.pop(symbol))


def _used(op: Op) -> Counter[str]:
    return Counter(path[0] for inner in walk(op) for path in references(inner))


def _is_defined(op: Op) -> bool:
    """Whether it is a function with a body: one of several blocks is opaque."""
    return not op.external if isinstance(op, func.Func) else isinstance(op, Opaque) and op.kind == "func.func"
