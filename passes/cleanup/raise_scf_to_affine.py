"""Turns loops of scf and accesses of memref into affine ones, where that is what they are."""

from __future__ import annotations

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, func, memref, scf
from affdsl.ir.dialects.func import Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.magnitude import NUMBER, is_small
from affdsl.ir.traverse import definitions, kept, map_blocks, operands_first, users, with_fields, without_unread
from affdsl.ir.types import INDEX
from affdsl.ir.verifier.positions import Position, Positions
from affdsl.passes.affine.integer_ranges import IntegerRanges, index_places
from affdsl.passes.affine.positions import are_valid
from affdsl.passes.cleanup.affine_raise_from_memref import MOST_TERMS, affine_raise_from_memref
from affdsl.passes.simplify.ranges import between

LONGEST = 2**62
"""No array has more elements along a dimension: they would not fit into the addresses of 64 bits."""


def raise_scf_to_affine(module: Module) -> Module:
    """The same program with affine loops and subscripts where those of scf and memref are affine.

        scf.for %i = %c0 to %n step %c2           ->  affine.for %i = 0 to %n step 2
        scf.for %j = %i to (minsi of a and b)     ->  affine.for %j = %i to min(a, b)
        scf.parallel (%i) = (%c0) to (%n) ...     ->  affine.parallel (%i) = (0) to (%n)
        memref.load %A[(arith.addi %i, %c1)]      ->  affine.load %A[%i + 1]

    A step is a positive constant, a bound the largest or smallest of affine expressions. Arithmetic on indices wraps,
    affine expressions do not: a sum, difference or product is seen through in a bound only where its range is known to
    fit into 64 bits; what is a symbol may stand for itself. Subscripts are those of `affine-raise-from-memref`. What is
    not proved stays as it is, and so do loops whose counters are no index, unsigned ones, and those of scf.parallel
    that reduce. Arithmetic that nothing reads any more is left out.

    >>> from affdsl.mlir.readers import parse
    >>> print(raise_scf_to_affine(parse('''func.func @f(%n: index, %A: memref<?xf32>, %x: f32) {
    ...     %c0 = arith.constant 0 : index
    ...     %c1 = arith.constant 1 : index
    ...     scf.for %i = %c0 to %n step %c1 {
    ...       %0 = arith.addi %i, %c1 : index
    ...       memref.store %x, %A[%0] : memref<?xf32>
    ...     }
    ...     return
    ... }''')).functions[0])
    func.func @f(%n: index, %A: memref<?xf32>, %x: f32) {
      affine.for %i = 0 to %n {
        affine.store %x, %A[%i + 1] : memref<?xf32>
      }
      return
    }
    """
    raised = _Raising(module).raised(module)
    raised = affine_raise_from_memref(raised)
    return module if raised is module else _without_unread(raised, module)


class _Raising:
    """Goes through a module from top to bottom: a loop is raised before what stands in it is looked at."""

    def __init__(self, module: Module) -> None:
        self._definitions = definitions(module)
        self._positions = Positions()
        self._ranges = IntegerRanges()
        self._known: dict[Value, Affine | None] = {}  # of loops around that are raised, or not, by then
        for op, context in index_places(module):
            self._ranges.learn(op, context)
            if isinstance(op, memref.Dim):
                self._ranges.know(op.result, between(0, LONGEST))

    def raised(self, op: Op) -> Module:
        """The module with raised loops."""
        new = self._with_blocks(op)
        assert isinstance(new, Module), "it stays one"
        return new

    def _with_blocks(self, op: Op) -> Op:
        self._positions.bind(op)
        return map_blocks(op, lambda block: self._block(block, top=isinstance(op, func.Func)))

    def _block(self, block: Block, *, top: bool) -> Block:
        found = []
        for op in block:
            new = self._with_blocks(self._loop(op) or op)
            self._positions.define(new, top=top)
            found.append(new)
        return kept(block, found)

    def _loop(self, op: Op) -> Op | None:
        """An affine loop in the place of another one, its body as it was but for the terminator."""
        match op:
            case scf.For() if op.iv.type == INDEX and not op.is_unsigned:
                steps, ends = [op.step], [(op.lower, op.upper)]
            case scf.Parallel() if not op.inits:
                steps, ends = [*op.steps], [*zip(op.lower, op.upper, strict=True)]
            case _:
                return None
        numbers = [self._positions.constants.get(step, 0) for step in steps]
        lower = [self._bounds(first, "maxsi", affine.Max) for first, _ in ends]
        upper = [self._bounds(last, "minsi", affine.Min) for _, last in ends]
        if not (all(lower) and all(upper) and all(0 < number < NUMBER for number in numbers)):
            return None
        if isinstance(op, scf.For):
            made: Op = affine.For(
                op.iv, lower[0], upper[0], _ended(op.body), numbers[0], op.inits, op.carried, op.results,
                location=op.location,
            )  # fmt: skip
        else:
            made = affine.Parallel(
                op.ivs, tuple(lower), tuple(upper), tuple(numbers), _ended(op.body), location=op.location
            )
        return with_fields(made, attributes=op.attributes, ends=op.ends)

    def _bounds(self, value: Value, kind: str, chooses: type[affine.Min | affine.Max]) -> tuple[Affine, ...]:
        """The expressions of which a bound is the largest or smallest one; none where it is not affine."""
        pending: list[Value] = [value]
        found: list[Affine] = []
        while pending:
            current = pending.pop()
            match self._definitions.get(current):
                case arith.Binary(kind=made, left=left, right=right) if made == kind:
                    pending += [right, left]
                    continue
                case affine.Min() | affine.Max() as op if isinstance(op, chooses):
                    exprs = list(op.exprs)
                case _:
                    expr = self._expr(current)
                    exprs = [] if expr is None else [expr]
            if not exprs or not are_valid(exprs, self._positions) or len(found) + len(pending) > MOST_TERMS:
                return ()
            found += exprs
        return tuple(dict.fromkeys(found))

    def _expr(self, value: Value) -> Affine | None:
        """An index as an exact affine expression of values that may stand in one."""
        for part in operands_first(value, self._operands):
            if part not in self._known:
                self._known[part] = self._made(part)
        return self._known[value]

    def _operands(self, value: Value) -> tuple[Value, ...]:
        """What is looked at before a value: the operands of exact arithmetic."""
        match self._definitions.get(value):
            case arith.Binary(kind="addi" | "subi" | "muli", left=left, right=right) if self._is_exact(value):
                return () if value in self._known else (left, right)
        return ()

    def _made(self, value: Value) -> Affine | None:
        op = self._definitions.get(value)
        match op:
            case arith.Constant(value=int() as number) if value.type == INDEX:
                return Affine.of(number)
            case arith.Binary(kind="addi" | "subi" | "muli" as kind, left=left, right=right) if self._is_exact(value):
                made = self._combined(kind, self._known[left], self._known[right])
                if made is not None:
                    return made
        return None if self._positions.of(value) is Position.NONE else Affine.of(value)

    def _is_exact(self, value: Value) -> bool:
        """Whether arithmetic on indices has certainly not wrapped."""
        return value.type == INDEX and self._ranges.is_known(value)

    def _combined(self, kind: str, left: Affine | None, right: Affine | None) -> Affine | None:
        if left is None or right is None:
            return None
        if kind == "muli" and not (self._is_symbolic(left) or self._is_symbolic(right)):
            return None
        made = left + right if kind == "addi" else left - right if kind == "subi" else left * right
        fits = len(made.terms) <= MOST_TERMS and is_small(made) and are_valid([made], self._positions)
        return made if fits else None

    def _is_symbolic(self, expr: Affine) -> bool:
        return all(self._positions.of(v) is Position.SYMBOL for v in expr.values())


def _ended(body: Block) -> Block:
    """The body of a loop with a terminator of the affine dialect, where it has one that says something."""
    match body[-1:]:
        case (scf.Yield(values=values) as last,):
            return (*body[:-1], affine.Yield(values, location=last.location, attributes=last.attributes))
        case (scf.Reduce() as last,):
            return (*body[:-1], affine.Yield((), location=last.location, attributes=last.attributes))
    return body


def _without_unread(module: Module, before: Module) -> Module:
    """module without constants and arithmetic of indices that nothing reads any more."""
    read = users(before)

    def may_go(op: Op) -> bool:
        return isinstance(op, arith.Constant | arith.Binary) and op.result.type == INDEX and op.result in read

    return without_unread(module, may_go)
