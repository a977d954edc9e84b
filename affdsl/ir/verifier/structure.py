"""Walks IR and checks every operation: its own rule, values defined once and before their use, how blocks end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from affdsl.errors import VerificationError
from affdsl.ir.applied import Applied
from affdsl.ir.attributes import TypeAttr
from affdsl.ir.core import Op, roles
from affdsl.ir.dialects import func, memref
from affdsl.ir.dialects.opaque import AFFINE_SCOPES, Opaque, OpaqueBlock, OpaqueRegion, symbol_of
from affdsl.ir.expr import Value
from affdsl.ir.messages import op_name, shown, where
from affdsl.ir.nesting import DEEPEST, INSTEAD, TOO_DEEP, levels_of
from affdsl.ir.types import FunctionType
from affdsl.ir.verifier.attributes import attributes
from affdsl.ir.verifier.context import Context, UnmetError
from affdsl.ir.verifier.dominance import dominators, is_ordered
from affdsl.ir.verifier.endings import HeldBlock, ending, misplaced, scopes
from affdsl.ir.verifier.opaque import branches
from affdsl.ir.verifier.opaque import ending as ends_of
from affdsl.ir.verifier.positions import Positions
from affdsl.ir.verifier.rules import RULES


def verify(op: func.Module | func.Func) -> None:
    """Check every rule of the dialects.

    A call is checked against its callee, and memref.get_global against its buffer, where a whole module is given.

    Raises
    ------
    VerificationError
        One line for each problem: where, which operation, which rule, which values.
    """
    problems = list(_module(op, set()) if isinstance(op, func.Module) else _function(op, None, None, set()))
    if problems:
        raise VerificationError("\n".join(problems))


def _module(module: func.Module, defined: set[Value]) -> Iterator[str]:
    """A module: each symbol once; its operations, whose symbols are those of this module alone."""
    symbols: dict[str, Op] = {}
    for op in module.body:
        name = _symbol(op)
        if name in symbols:
            yield f"{where(op)}: there is more than one {_kind(op, symbols[name])} @{name}"
        elif name:
            symbols[name] = op
    functions = {name: found for name, op in symbols.items() if (found := _function_of(op)) is not None}
    buffers = {name: op for name, op in symbols.items() if isinstance(op, memref.Global)}
    around = _Walk(Context(Positions(), functions, buffers, runs=False), defined)
    around.anywhere([op for op in module.body if not isinstance(op, func.Func | func.Module)])
    for op in module.body:
        match op:
            case func.Func():
                yield from _function(op, functions, buffers, defined)
            case func.Module():
                yield from _module(op, defined)
            case _:
                around.operation(op, module)
                around.problems.extend(misplaced(op, module))
                if isinstance(op, memref.Alloca):
                    around.problems.append(f"{where(op)}: stands in no function, at whose end its buffer would go")
    yield from around.problems


def _symbol(op: Op) -> str:
    if isinstance(op, Opaque):
        return symbol_of(op)
    return op.symbol if isinstance(op, func.Func | func.Module | memref.Global) else ""


def _function_of(op: Op) -> func.Func | None:
    """A function that may be called; one of several blocks has no class, and stands here without them."""
    if isinstance(op, Opaque) and op.kind == "func.func":
        match dict(op.properties or op.attributes).get("function_type"):
            case TypeAttr(FunctionType(inputs, results)):
                return func.Func(_symbol(op), tuple(Value(t) for t in inputs), (), results, private=True, external=True)
    return op if isinstance(op, func.Func) else None


def _may_hold(parent: Op | None) -> bool:
    """Whether functions, modules and global buffers may stand in an operation; of others than ours nothing is known."""
    return isinstance(parent, func.Module | OpaqueBlock | None)


def _kind(op: Op, other: Op) -> str:
    return "function" if isinstance(op, func.Func) and isinstance(other, func.Func) else "operation"


def _function(
    function: func.Func,
    functions: dict[str, func.Func] | None,
    buffers: dict[str, memref.Global] | None,
    defined: set[Value],
) -> Iterator[str]:
    walk = _Walk(Context(Positions(), functions, buffers), defined)
    walk.operation(function, None)
    yield from walk.problems


_OF_MODULES = (memref.Global, func.Module, func.Func)
_TOP = (func.Func, func.Module)


class _Walk:
    """A walk through one function, from top to bottom, that knows which values are visible."""

    def __init__(self, context: Context, defined: set[Value]) -> None:
        self.context = context
        self.defined = defined
        self.visible: set[Value] = set()
        self.around = 0  # loops and branches
        self.problems: list[str] = []
        self.top: set[Op] = set()  # blocks of opaque operations in which values are symbols

    def operation(self, op: Op, parent: Op | None) -> None:
        problems, role = self.problems, roles(type(op))
        for value in dict.fromkeys([v for v in op.reads() if v not in self.visible]):
            problems.append(f"{where(op)}: {shown(value)} is read {self.absence(value)}")
        if op.written:
            problems.extend(self.unseen_as_written(op, op.written))
        if isinstance(op, _OF_MODULES) and parent is not None and not _may_hold(parent):
            which = f"@{op.symbol} " if op.symbol else ""
            problems.append(f"{where(op)}: {which}stands in {op_name(parent)}, but belongs into a module")
        rule = RULES.get(type(op))
        if rule is None:
            problems.append(f"{where(op)}: the verifier does not know this operation")
        else:
            with suppress(UnmetError):
                for text in rule(op, self.context):
                    problems.append(f"{where(op)}: {text}")
            if op.attributes:
                problems.extend(f"{where(op)}: {text}" for text in attributes(op))
            if op.written:
                problems.extend(f"{where(op)}: {text}" for text in self.context.positions.misplaced_as_written(op))
        if role.regions:
            self.context.positions.bind(op)
            levels = levels_of(op)
            self.around += levels
            if self.around > DEEPEST:  # what is inside is not looked at, for it may be deeper than calls reach
                problems.append(f"{where(op)}: {TOO_DEEP}; {INSTEAD}")
            elif isinstance(op, OpaqueRegion) and isinstance(parent, Opaque) and parent.kind in AFFINE_SCOPES:
                self.top.update(block for block in op.blocks_inside if isinstance(block, OpaqueBlock))
                with self.context.positions.within(self.visible):
                    self.region(op, parent)
            elif isinstance(op, OpaqueRegion):
                self.region(op, parent)
            elif not (isinstance(op, func.Func) and op.external):
                for scope in scopes(op):
                    self.scope(scope, op)
            self.around -= levels
        if isinstance(op, Opaque):
            problems.extend(f"{where(last)}: {text}" for last, text in ends_of(op))
        if role.results:
            self.define(op, op.defines())
            top = isinstance(parent, _TOP) or parent in self.top
            self.context.positions.define(op, top=top)

    def unseen_as_written(self, op: Op, written: Mapping[str, Applied]) -> list[str]:
        """What is wrong with operands of maps that no expression reads: that they are not visible."""
        seen = self.visible
        for kept in written.values():
            if not (seen.issuperset(kept.dims) and seen.issuperset(kept.symbols)):
                break
        else:
            return []  # so it nearly always is, and this is asked of every operation
        unseen = dict.fromkeys(v for v in op.mentions() if v not in seen)
        text = "is an operand of a map, as it was written,"
        return [f"{where(op)}: {shown(v)} {text} {self.absence(v)}" for v in unseen if v not in set(op.reads())]

    def anywhere(self, ops: Iterable[Op]) -> None:
        """Make visible what operations define, before and after them: that is so in a module."""
        for op in ops:
            self.visible.update(op.defines())
            self.context.positions.define(op, top=True)

    def scope(self, scope: HeldBlock, parent: Op) -> None:
        self.define(parent, scope.arguments)
        for op in scope.block:
            self.operation(op, parent)
        for op in scope.block:
            if roles(type(op)).results:
                self.visible.difference_update(op.defines())
        self.visible.difference_update(scope.arguments)
        self.problems.extend(ending(scope, parent))

    def region(self, region: OpaqueRegion, owner: Op | None) -> None:
        """The blocks of an opaque operation: in each, what the blocks before it define is visible."""
        dominating = dominators(region)
        inside = {b: [v for op in b.body for v in op.defines()] + list(b.args) for b in dominating}
        everything = [v for values in inside.values() for v in values]
        waiting = list(dominating)
        while waiting:  # a block after all those that dominate it
            block = next(b for b in waiting if not (dominating[b] - {b}) & set(waiting))
            waiting.remove(block)
            before = {v for b in dominating[block] - {block} for v in inside[b]}
            self.visible.update(before if is_ordered(owner) else everything)
            self.define(region, block.args)
            if block in self.top:
                self.context.positions.bind_top(block.args)
            for op in block.body:
                self.operation(op, block)
                self.problems.extend(misplaced(op, owner))
            self.visible.difference_update(everything)
        labels = {b.label: b for b in region.blocks_inside if isinstance(b, OpaqueBlock)}
        for last in [b.body[-1] for b in labels.values() if b.body]:
            if isinstance(last, Opaque) and last.successors:
                self.problems.extend(f"{where(last)}: {text}" for text in branches(last, labels))

    def define(self, op: Op, values: Iterable[Value]) -> None:
        for value in values:
            if value in self.defined:
                self.problems.append(f"{where(op)}: {shown(value)} is defined a second time")
            self.defined.add(value)
            self.visible.add(value)

    def absence(self, value: Value) -> str:
        return "outside the block that defines it" if value in self.defined else "before it is defined"


# Where this differs from mlir-opt 22.
#
# Stricter: a step must be positive (mlir-opt takes 0), and so must a constant divisor; memref.dim names a dimension
# that exists, but for functions of other dialects; a reduction gives a scalar; a divisor or factor of affine.apply is a
# symbol; affine.dma_start and affine.dma_wait have a subscript for each dimension, and what is copied keeps the type of
# its elements.
# Laxer: nothing. affine.apply, min and max take any index where a dimension may stand, as there: their result is then
# neither a dimension nor a symbol.
# Blocks of an opaque operation that the first one does not lead to are not looked at.
