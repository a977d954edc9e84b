"""Whether an operation may run where it did not run before: it changes nothing, cannot fail, and cannot be seen."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, func, math, memref, scf, vector
from affdsl.ir.dialects import complex as complex_
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.traverse import subscripts, walk
from affdsl.ir.types import IndexType, IntegerType, MemRefType, Type, VectorType
from affdsl.passes.analysis.access import Accesses
from affdsl.passes.analysis.certain import divisors, holds
from affdsl.passes.analysis.domain import Domain
from affdsl.passes.analysis.effects import effects

_TOTAL = (
    affine.If, affine.For, affine.Parallel, affine.Yield, affine.Apply, affine.Min, affine.Max,
    arith.Constant, arith.Extended, arith.Negate, arith.Compare, arith.Select,
    math.Unary, math.Fma, complex_.ComplexOp, memref.Rank, memref.ExtractAlignedPointerAsIndex, memref.GetGlobal,
    vector.Fma, vector.Broadcast, vector.CreateMask, vector.FromElements, vector.Shuffle, vector.Transpose,
    vector.ShapeCast, vector.Step,
)  # fmt: skip
"""Operations that have a result for all operands, if their affine expressions have one."""
OPEN_KINDS = frozenset(
    ("divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi", "shli", "shrsi", "shrui")
)
"""Kinds of arith that LLVM leaves open for some right operands, whatever they give here."""
OPEN_CASTS = frozenset(("fptosi", "fptoui"))
"""Casts that LLVM leaves open for some operands."""
_Load = affine.Load | affine.VectorLoad | vector.MaskedLoad
_MAY_NOT_RETURN = (func.Call, scf.While, Opaque)
_MOST_OTHERS = 16
"""So many accesses are asked about when a load needs them."""


class Faults:
    """What may go wrong where an operation of one function runs more often than it did."""

    def __init__(self, accesses: Accesses, module: func.Module | None = None) -> None:
        self._of = accesses
        calls = any(isinstance(a.op, func.Call) for a in accesses.all)
        functions = {f.symbol: f for f in module.functions} if module is not None and calls else {}
        self._constants = {op.result: op.value for op in walk(accesses.function) if isinstance(op, arith.Constant)}
        self._masks = {op.result: op for op in walk(accesses.function) if isinstance(op, vector.CreateMask)}
        self._frees = [a for a in accesses.all if a.kind == "write" and _may_free(a.op, functions, frozenset())]

    def are_impossible(self, op: Op, loop: Op) -> bool:
        """Whether an operation inside of a loop may run before it too, though the loop may not run at all; or inside of
        a condition."""
        if isinstance(op, _Load):
            domain = self._of.domains[loop]
            return self._has_content(op, loop) and (
                self._is_inside(op, domain) or self._is_inside(op, self._where_others_are_inside(loop, domain))
            )
        return never_fails(op, self._constants)

    def _where_others_are_inside(self, loop: Op, domain: Domain) -> Domain:
        """Where a loop is reached, and the accesses that certainly run there lie inside of their buffers.

        Where one of them does not, the program has no meaning, whatever else moves.
        """
        scope = self._of.scope
        for other in self._certain.get(loop, ())[:_MOST_OTHERS]:
            exprs, domain = scope.exprs(other.index, domain)
            for axis, expr in enumerate(exprs):
                size = scope.size_of(other.memref, axis)
                if size is not None:
                    size, domain = scope.expr(size, domain)
                    domain = domain.where(((Constraint(expr), Constraint(size - 1 - expr)),))
        return domain

    @cached_property
    def _certain(self) -> dict[Op, tuple[affine.Load | affine.Store, ...]]:
        """The accesses that run in each iteration that reaches a loop, those nearest to it first.

        Those that come after the loop count only where nothing in the function may keep it from going on.
        """
        found: dict[Op, tuple[affine.Load | affine.Store, ...]] = {}
        goes_on = not any(isinstance(op, _MAY_NOT_RETURN) for op in walk(self._of.function))

        def visit(block: Block, around: tuple[affine.Load | affine.Store, ...]) -> None:
            own = [(k, op) for k, op in enumerate(block) if isinstance(op, affine.Load | affine.Store)]
            for k, op in enumerate(block):
                inner = list(op.blocks())
                if not inner:
                    continue
                here = (*(other for at, other in own if at < k or goes_on), *around)
                found[op] = here
                for each in inner:
                    visit(each, () if isinstance(op, Opaque) else here)

        visit(self._of.function.body, ())
        return found

    def _has_content(self, op: _Load, loop: Op) -> bool:
        """Whether what is read was certainly written, and not given back: an argument, or a variable stored before."""
        buffer = self._of.storage.buffer(op.memref)
        around = self._of.domains[loop].ivs[:1]
        freed = any(
            self._of.storage.may_alias(buffer, free.buffer)
            and (self._of.order[free.op] < self._of.order[loop] or (around and free.ivs[:1] == around))
            for free in self._frees
        )
        return not freed and (buffer.kind == "argument" or self._is_set(op.memref, loop))

    def _is_set(self, variable: Value, loop: Op) -> bool:
        """Whether the one element of a buffer was certainly stored to before a loop."""
        return (
            isinstance(variable.type, MemRefType)
            and not variable.type.rank
            and any(
                isinstance(other, affine.Store)
                and other.memref is variable
                and self._of.order[other] < self._of.order[loop]
                for other in self._certain.get(loop, ())
            )
        )

    def _is_inside(self, op: _Load, domain: Domain) -> bool:
        """Whether a load lies inside of its buffer wherever a loop is reached, though it may not run.

        Of a masked load so do its first lanes, if a mask of a known number of them keeps the others out.
        """
        type = op.memref.type
        if not isinstance(type, MemRefType):
            return False
        lanes = [1] * type.rank
        if not isinstance(op, affine.Load) and not isinstance(type.element, VectorType):
            assert isinstance(op.result.type, VectorType)
            if any(op.result.type.scalable):
                return False
            lanes[type.rank - op.result.type.rank :] = op.result.type.shape
            if isinstance(op, vector.MaskedLoad) and (mask := self._masks.get(op.mask)) is not None:
                bounds, domain = self._of.scope.exprs([Affine.of(bound) for bound in mask.bounds], domain)
                if all(bound.is_constant for bound in bounds):
                    within = (
                        max(0, min(lane, bound.constant))
                        for lane, bound in zip(op.result.type.shape, bounds, strict=True)
                    )
                    lanes[type.rank - op.result.type.rank :] = within
        exprs, domain = self._of.scope.exprs(subscripts(op), domain)
        for axis, (expr, lane) in enumerate(zip(exprs, lanes, strict=True)):
            size = self._of.scope.size_of(op.memref, axis)
            if size is None:
                return False
            size, domain = self._of.scope.expr(size, domain)
            if not (holds(expr, domain) and holds(size - lane - expr, domain)):
                return False
        return True


def never_fails(op: Op, constants: Mapping[Value, object]) -> bool:
    """Whether an operation, with its blocks, has a result for all operands, touches no memory and ends.

    >>> from affdsl.ir.types import INDEX
    >>> x, y, seven, result = (Value(INDEX) for _ in range(4))
    >>> never_fails(arith.Binary(result, "divsi", x, y), {}), never_fails(arith.Binary(result, "addi", x, y), {})
    (False, True)
    >>> never_fails(arith.Binary(result, "divsi", x, seven), {seven: 7})
    True
    """
    for inner in walk(op):
        match inner:
            case _ if isinstance(inner, _TOTAL):
                if next(divisors(inner), None) is not None:
                    return False
            case arith.Binary(kind=kind, right=right, result=result) if kind in OPEN_KINDS:
                if not _is_defined(kind, constants.get(right), result.type):
                    return False
            case arith.Binary():
                pass
            case math.Binary(kind=kind) if kind != "ipowi":
                pass
            case arith.Cast(kind=kind) if kind not in OPEN_CASTS:
                pass
            case _:
                return False
    return True


def _may_free(op: Op, functions: Mapping[str, func.Func], around: frozenset[str]) -> bool:
    """Whether an operation may give back a buffer, itself or by a function that it calls from inside of some others."""
    if not isinstance(op, func.Call):
        what = effects(op)
        return what.unknown or bool(what.frees)
    called = functions.get(op.callee)
    if called is None or called.external or op.callee in around:
        return True
    return any(_may_free(inner, functions, around | {op.callee}) for inner in walk(called) if inner is not called)


def _is_defined(kind: str, right: object, type: Type) -> bool:
    """Whether a kind of arith has a result for any left operand and this right one."""
    if isinstance(right, bool) or not isinstance(right, int) or right < 1:
        return False
    bits = type.width if isinstance(type, IntegerType) else 64 if isinstance(type, IndexType) else 0
    return not kind.startswith("sh") or right < bits
