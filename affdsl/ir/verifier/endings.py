"""How blocks end: with a terminator of their operation, which yields what that operation gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from affdsl.frozen import FrozenValue, replace
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func, scf
from affdsl.ir.dialects.opaque import Opaque, may_end, must_end
from affdsl.ir.expr import Value
from affdsl.ir.messages import op_name, where
from affdsl.ir.types import Type


class HeldBlock(FrozenValue):
    """A block that an operation holds, and what is defined in it alone."""

    block: Block
    arguments: tuple[Value, ...]
    terminator: type[Op] | None = None
    wanted: tuple[Type, ...] = ()
    """What the terminator yields."""
    role: str = "a block"
    number: int = 0
    """Its place among the blocks of the operation."""


def scopes(op: Op) -> Iterator[HeldBlock]:
    """The blocks of an operation."""
    match op:
        case affine.For() | scf.For():
            terminator = affine.Yield if isinstance(op, affine.For) else scf.Yield
            yield HeldBlock(op.body, (op.iv, *op.carried), terminator, _types(op.carried))
        case affine.If() | scf.If():
            terminator = affine.Yield if isinstance(op, affine.If) else scf.Yield
            yield HeldBlock(op.then, (), terminator, _types(op.results))
            yield HeldBlock(op.orelse, (), terminator, _types(op.results), "the else block", 1)
        case affine.Parallel():
            yield HeldBlock(op.body, op.ivs, affine.Yield, _types(op.results))
        case scf.Parallel():
            yield HeldBlock(op.body, op.ivs, scf.Reduce, _types(op.results))
        case scf.While():
            yield HeldBlock(op.before, op.before_args, scf.Condition, _types(op.after_args))
            yield HeldBlock(op.after, op.after_args, scf.Yield, _types(op.before_args))
        case scf.Combiner():
            yield HeldBlock(op.body, (op.left, op.right), scf.ReduceReturn, (op.left.type,))
        case scf.IndexSwitch():
            for case in op.cases:
                yield HeldBlock(case.body if isinstance(case, scf.Case) else (case,), (), scf.Yield, _types(op.results))
            yield HeldBlock(op.default, (), scf.Yield, _types(op.results))
        case scf.ExecuteRegion():
            yield HeldBlock(op.body, (), scf.Yield, _types(op.results))
        case func.Func():
            yield HeldBlock(op.body, op.args, func.Return, op.result_types)
        case _:
            arguments = tuple(op.binds())
            for block in op.blocks():
                yield HeldBlock(block, arguments)


def ending(scope: HeldBlock, parent: Op) -> Iterator[str]:
    """A block ends with the terminator of its operation, which yields what that gives: if nothing, without one."""
    expected, block = scope.terminator, scope.block
    if expected is None:
        return
    for op in block[:-1]:
        if must_end(op):
            yield f"{where(op)}: ends a block, but operations of {op_name(parent)} follow it"
    ends = may_end if expected is func.Return else must_end
    last = block[-1] if block and ends(block[-1]) else None
    if last is None:
        silent = parent.ends[scope.number] if scope.number < len(parent.ends) else None
        if silent is not None and scope.wanted:
            silent_end: Callable[..., Op] = expected
            yield from ending(replace(scope, block=(silent_end((), location=silent),)), parent)
        elif scope.wanted or expected is scf.Condition:
            yield f"{where(parent)}: {scope.role} must end with {expected.name} of {_list(scope.wanted)}"
        return
    if isinstance(last, Opaque) and expected is func.Return:
        return
    if not isinstance(last, expected):
        place = parent if isinstance(parent, scf.While) else last
        what = f"{op_name(last)} cannot" if place is parent else "cannot"
        yield f"{where(place)}: {what} end a block of {op_name(parent)}; that takes {expected.name}"
        return
    values: tuple[Value, ...] = getattr(last, "values")  # noqa: B009 - each terminator has them
    if (found := _types(values)) != scope.wanted:
        fitting_reduce = expected is scf.Reduce and len(found) == len(scope.wanted)
        place = parent if isinstance(parent, _BLAMED) and not fitting_reduce else last
        what = f"{op_name(last)} hands" if place is parent else "hands"
        yield f"{where(place)}: {what} on {_list(found)}, but {op_name(parent)} gives {_list(scope.wanted)}"


def misplaced(op: Op, parent: Op | None) -> Iterator[str]:
    """A terminator of ours ends blocks of certain operations only; `parent` is one that has no class, or a module."""
    owners = _OWNERS.get(op_name(op))
    if owners is not None and (parent is None or op_name(parent) not in owners):
        yield f"{where(op)}: ends blocks of {', '.join(owners)} only"


_BLAMED = (scf.For, scf.If, scf.While, scf.Parallel, scf.IndexSwitch, scf.ExecuteRegion)
"""What is named where one of its blocks yields something else than it gives, and not the terminator; as mlir-opt."""
_OWNERS = {
    "affine.yield": ("affine.for", "affine.if", "affine.parallel"),
    "func.return": ("func.func",),
    "scf.condition": ("scf.while",),
    "scf.forall.in_parallel": ("scf.forall",),
    "scf.reduce": ("scf.parallel",),
    "scf.reduce.return": ("scf.reduce",),
    "scf.yield": ("scf.execute_region", "scf.for", "scf.if", "scf.index_switch", "scf.while"),
}


def _types(values: tuple[Value, ...]) -> tuple[Type, ...]:
    return tuple(v.type for v in values)


def _list(types: tuple[Type, ...]) -> str:
    return f"({', '.join(map(str, types))})"
