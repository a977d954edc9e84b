"""How blocks end: with a terminator of their operation, which hands on what that operation gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func, scf
from affdsl.ir.expr import Value
from affdsl.ir.messages import op_name, where
from affdsl.ir.types import Type


@dataclass(frozen=True)
class Scope:
    """A block that an operation holds, and what is defined in it alone."""

    block: Block
    arguments: tuple[Value, ...]
    terminator: type[Op] | None = None
    wanted: tuple[Type, ...] = ()
    """What the terminator hands on."""


def scopes(op: Op) -> Iterator[Scope]:
    """The blocks of an operation."""
    match op:
        case affine.For() | scf.For():
            terminator = affine.Yield if isinstance(op, affine.For) else scf.Yield
            yield Scope(op.body, (op.iv, *op.carried), terminator, _types(op.carried))
        case affine.If() | scf.If():
            terminator = affine.Yield if isinstance(op, affine.If) else scf.Yield
            yield Scope(op.then, (), terminator, _types(op.results))
            yield Scope(op.orelse, (), terminator, _types(op.results))
        case affine.Parallel():
            yield Scope(op.body, op.ivs, affine.Yield, _types(op.results))
        case scf.Parallel():
            yield Scope(op.body, op.ivs, scf.Reduce, _types(op.results))
        case scf.While():
            yield Scope(op.before, op.before_args, scf.Condition, _types(op.after_args))
            yield Scope(op.after, op.after_args, scf.Yield, _types(op.before_args))
        case scf.Combiner():
            yield Scope(op.body, (op.left, op.right), scf.ReduceReturn, (op.left.type,))
        case scf.IndexSwitch():
            for case in op.cases:
                yield Scope(case.body if isinstance(case, scf.Case) else (case,), (), scf.Yield, _types(op.results))
            yield Scope(op.default, (), scf.Yield, _types(op.results))
        case scf.ExecuteRegion():
            yield Scope(op.body, (), scf.Yield, _types(op.results))
        case func.Func():
            yield Scope(op.body, op.args, func.Return, op.result_types)
        case _:
            arguments = tuple(op.binds())
            for block in op.blocks():
                yield Scope(block, arguments)


def ending(scope: Scope, parent: Op) -> Iterator[str]:
    """A block ends with the terminator of its operation, which hands on what that gives: if nothing, without one."""
    expected, block = scope.terminator, scope.block
    if expected is None:
        return
    for op in block[:-1]:
        if op.is_terminator:
            yield f"{where(op)}: ends a block, but operations of {op_name(parent)} follow it"
    last = block[-1] if block and block[-1].is_terminator else None
    if last is None:
        if scope.wanted or expected is scf.Condition:
            yield f"{where(parent)}: a block must end with {expected.name} of {_list(scope.wanted)}"
        return
    if not isinstance(last, expected):
        yield f"{where(last)}: cannot end a block of {op_name(parent)}; that takes {expected.name}"
        return
    values: tuple[Value, ...] = getattr(last, "values")  # noqa: B009 - each terminator has them
    if (found := _types(values)) != scope.wanted:
        yield f"{where(last)}: hands on {_list(found)}, but {op_name(parent)} gives {_list(scope.wanted)}"


def _types(values: tuple[Value, ...]) -> tuple[Type, ...]:
    return tuple(v.type for v in values)


def _list(types: tuple[Type, ...]) -> str:
    return f"({', '.join(map(str, types))})"
