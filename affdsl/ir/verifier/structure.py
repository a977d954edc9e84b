"""Walks IR and checks every operation: its own rule, values defined once and before their use, how blocks end."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.errors import VerificationError
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func, scf
from affdsl.ir.expr import Value
from affdsl.ir.messages import op_name, shown, where
from affdsl.ir.types import Type
from affdsl.ir.verifier.positions import Positions
from affdsl.ir.verifier.rules import RULES, Context


def verify(op: func.Module | func.Func) -> None:
    """Check every rule of the dialects.

    A call is checked against its callee where a whole module is given.

    Raises
    ------
    VerificationError
        One line for each problem: where, which operation, which rule, which values.
    """
    problems = list(_module(op) if isinstance(op, func.Module) else _function(op, None, set()))
    if problems:
        raise VerificationError("\n".join(problems))


def _module(module: func.Module) -> Iterator[str]:
    functions: dict[str, func.Func] = {}
    for op in module.body:
        if not isinstance(op, func.Func):
            yield f"{where(module)}: holds functions only, not {op_name(op)}"
        elif op.symbol in functions:
            yield f"{where(op)}: there is more than one function @{op.symbol}"
        else:
            functions[op.symbol] = op
    defined: set[Value] = set()
    for function in module.functions:
        yield from _function(function, functions, defined)


def _function(function: func.Func, functions: dict[str, func.Func] | None, defined: set[Value]) -> Iterator[str]:
    walk = _Walk(Context(Positions(), functions), defined)
    walk.operation(function, None)
    yield from walk.problems


class _Walk:
    """A walk through one function, from top to bottom, that knows which values are visible."""

    def __init__(self, context: Context, defined: set[Value]) -> None:
        self.context = context
        self.defined = defined
        self.visible: set[Value] = set()
        self.problems: list[str] = []

    def operation(self, op: Op, parent: Op | None) -> None:
        problems = self.problems
        for value in dict.fromkeys(op.reads()):
            if value not in self.visible:
                problems.append(f"{where(op)}: {shown(value)} is read {self.absence(value)}")
        rule = RULES.get(type(op))
        if rule is None:
            problems.append(f"{where(op)}: the verifier does not know this operation")
        else:
            problems.extend(f"{where(op)}: {text}" for text in rule(op, self.context))
        bound = list(op.binds())
        self.define(op, bound)
        self.context.positions.bind(op)
        for block in op.blocks():
            self.block(block, op)
        self.visible.difference_update(bound)
        self.define(op, list(op.defines()))
        self.context.positions.define(op, top=isinstance(parent, func.Func))

    def block(self, block: Block, parent: Op) -> None:
        for op in block:
            self.operation(op, parent)
        for op in block:
            self.visible.difference_update(op.defines())
        self.problems.extend(_ending(block, parent))

    def define(self, op: Op, values: list[Value]) -> None:
        for value in values:
            if value in self.defined:
                self.problems.append(f"{where(op)}: {shown(value)} is defined a second time")
            self.defined.add(value)
            self.visible.add(value)

    def absence(self, value: Value) -> str:
        return "outside the block that defines it" if value in self.defined else "before it is defined"


TERMINATORS: dict[type[Op], type[affine.Yield] | type[scf.Yield] | type[func.Return]] = {
    affine.For: affine.Yield,
    affine.If: affine.Yield,
    affine.Parallel: affine.Yield,
    scf.For: scf.Yield,
    scf.If: scf.Yield,
    func.Func: func.Return,
}
"""How the blocks of each operation end where they hand on values."""


def _ending(block: Block, parent: Op) -> Iterator[str]:
    """A block ends with the terminator of its parent, which hands on what the parent gives: if nothing, without one."""
    expected = TERMINATORS.get(type(parent))
    if expected is None:
        return
    for op in block[:-1]:
        if op.is_terminator:
            yield f"{where(op)}: ends a block, but operations of {op_name(parent)} follow it"
    last = block[-1] if block and block[-1].is_terminator else None
    wanted = _handed_on(parent)
    if last is None:
        if wanted:
            yield f"{where(parent)}: a block must end with {expected.name} of {_list(wanted)}"
    elif not isinstance(last, expected):
        yield f"{where(last)}: cannot end a block of {op_name(parent)}; that takes {expected.name}"
    elif not last.values:
        yield f"{where(last)}: hands on nothing; a block that gives no value has no {expected.name}"
    elif (found := tuple(v.type for v in last.values)) != wanted:
        yield f"{where(last)}: hands on {_list(found)}, but {op_name(parent)} gives {_list(wanted)}"


def _handed_on(parent: Op) -> tuple[Type, ...]:
    if isinstance(parent, func.Func):
        return parent.result_types
    if isinstance(parent, affine.For | scf.For):
        return tuple(v.type for v in parent.carried)
    return tuple(v.type for v in parent.defines())


def _list(types: tuple[Type, ...]) -> str:
    return f"({', '.join(map(str, types))})"


# Where this differs from mlir-opt 22.
#
# Stricter: a step must be positive (mlir-opt takes 0), and so must a constant divisor; memref.dim names a dimension
# that exists; a reduction gives a scalar; a divisor or factor of affine.apply is a symbol.
# Laxer: nothing. affine.apply, min and max take any index where a dimension may stand, as there: their result is then
# neither a dimension nor a symbol.
# The reductions maxs, mins, maxu and minu are refused, as there: they take signed or unsigned integer types, and the
# integers of this IR have no sign.
