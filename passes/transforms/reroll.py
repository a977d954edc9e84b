"""Makes one short body of a long one that does the same several times: loops that were unrolled by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields

from affdsl.ir.blocks import yielded
from affdsl.ir.core import Lanewise, Op, roles
from affdsl.ir.dialects import affine, arith
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import with_fields
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.loops.nests import loop_of
from affdsl.passes.transforms.loops.pieces import with_loop

_BESIDE = ("location", "written", "ends")
"""What an operation says of its source."""


def reroll(function: Func, iv: Value, *, module: Module | None = None) -> Func:
    """Let a loop whose body does the same for several numbers do it for one of them in each iteration.

        for i = 0 to n step 3: S(i); S(i + 1); S(i + 2)      ->      for i = 0 to n rounded up to threes: S(i)
        for i = 0 to n: S(3 * i); S(3 * i + 1); S(3 * i + 2)  ->      for i = 0 to 3 * n: S(i)

    It is what `unroll` undoes. Nothing runs in another order, so this is always legal. What one part hands on to the
    next, as a sum, is carried by the loop.

    Parameters
    ----------
    iv
        The induction variable of the loop, which it keeps.

    Raises
    ------
    IllegalTransform
        If the body is not several times the same, for numbers that follow each other; or if there is no such loop.

    References
    ----------
    Rountev and others; "Loop rerolling", as LLVM's pass of that name did it for loops that were unrolled by hand.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<99xf32>, %x: f32) {
    ...   affine.for %i = 0 to 48 {
    ...     affine.store %x, %A[%i * 2] : memref<99xf32>
    ...     affine.store %x, %A[%i * 2 + 1] : memref<99xf32>
    ...   }
    ...   return
    ... }''').functions[0]
    >>> print(reroll(f, f.body[0].iv).body[0])
    affine.for %i = 0 to 96 {
      affine.store %x, %A[%i] : memref<99xf32>
    }
    """
    what = f"reroll loop {name(iv)}"
    loop = loop_of(function, iv, what)
    if len(loop.lower) > 1:
        raise refusal(loop, what, "it begins at the largest of several numbers")
    constants = {op.result: op for op in loop.body if isinstance(op, arith.Constant)}
    ops = [op for op in loop.body if not isinstance(op, arith.Constant) and not op.is_terminator]
    for parts in range(len(ops), 1, -1):
        if len(ops) % parts == 0:
            new = _Parts(loop, ops, constants, parts).loop()
            if new is not None:
                return with_loop(function, loop, [new])
    raise refusal(loop, what, "its body does not do the same several times, for numbers that follow each other")


class _Parts:
    """The operations of a body, in so many parts that may do the same."""

    def __init__(
        self, loop: affine.For, ops: Sequence[Op], constants: Mapping[Value, arith.Constant], parts: int
    ) -> None:
        self._loop, self._constants, self._parts = loop, constants, parts
        size = len(ops) // parts
        self._first, *self._others = (ops[k : k + size] for k in range(0, len(ops), size))
        self._inside = {v for op in self._first for v in op.defines()}
        self._handed: dict[Value, Value] = {}  # what a part hands on in place of what the loop carries

    def loop(self) -> affine.For | None:
        """The loop whose body is the first part; None where others do something else."""
        loop = self._loop
        if any(not isinstance(op, affine.Load | affine.Store | Lanewise | affine.Apply) for op in self._first):
            return None
        before: dict[Value, Value] = dict(zip(loop.carried, loop.carried, strict=True))
        known = {v: v for v in self._inside}
        for number, part in enumerate(self._others, 1):
            now, state = dict[Value, Value](), dict[Value, Value]()
            for op, other in zip(self._first, part, strict=True):
                if not self._is_same(op, other, number, now, state):
                    return None
                now.update(zip(op.defines(), other.defines(), strict=True))
            if not self._follows(before, known, state):
                return None
            before, known = state, now
        if not self._follows(before, known, dict(zip(loop.carried, yielded(loop.body), strict=True))):
            return None
        return self._made()

    def _is_same(self, op: Op, other: Op, number: int, now: Mapping[Value, Value], state: dict[Value, Value]) -> bool:
        """Whether an operation does what one of the first part does, for the number of its part."""
        if type(op) is not type(other):
            return False
        results = roles(type(op)).results
        for each in fields(op):
            if each.name in _BESIDE or each.name in results:
                continue
            a, b = getattr(op, each.name), getattr(other, each.name)
            if isinstance(a, Value) and isinstance(b, Value):
                if not self._stands_for(a, b, now, state):
                    return False
            elif isinstance(a, Affine | tuple):
                exprs, others = ((x,) if isinstance(x, Affine) else x for x in (a, b))
                if len(exprs) != len(others) or not all(
                    isinstance(x, Affine) and isinstance(y, Affine) and self._at(x, number, now) == y
                    for x, y in zip(exprs, others, strict=True)
                ):
                    return False
            elif a != b:
                return False
        pairs = zip(op.defines(), other.defines(), strict=True)
        return all(x.type == y.type for x, y in pairs)

    def _stands_for(self, a: Value, b: Value, now: Mapping[Value, Value], state: dict[Value, Value]) -> bool:
        """Whether another part reads b where the first one reads a."""
        if a in self._loop.carried:
            return state.setdefault(a, b) is b
        if a in self._constants and b in self._constants:
            one, two = self._constants[a], self._constants[b]
            return one.value == two.value and repr(one.value) == repr(two.value) and a.type == b.type
        return a is not self._loop.iv and now.get(a, a) is b

    def _at(self, expr: Affine, number: int, now: Mapping[Value, Value]) -> Affine | None:
        """An expression of the first part in another one; None where it would be at a fraction of a number."""
        slope = expr.substitute({self._loop.iv: self._loop.iv + 1}) - expr
        by = slope.constant * self._loop.step
        if not slope.is_constant or by % self._parts:
            return None
        return expr.substitute({v: Affine.of(now[v]) for v in expr.values() if v in now}) + by // self._parts * number

    def _follows(
        self, before: Mapping[Value, Value], known: Mapping[Value, Value], state: Mapping[Value, Value]
    ) -> bool:
        """Whether each part hands on the same of what it makes, or got, in place of what the loop carries."""
        for carried in self._loop.carried:
            if carried not in state:
                return False
            made = state[carried]
            names = [v for v, value in known.items() if value is made]
            names += [v for v, value in before.items() if value is made]
            if not names or self._handed.setdefault(carried, names[0]) is not names[0]:
                return False
        return True

    def _made(self) -> affine.For:
        """The loop of the first part: from where it began if it went in steps of as many, and else from 0 on."""
        loop, parts = self._loop, self._parts
        start, goes_on = loop.lower[0], loop.step % parts == 0
        each = loop.step // parts if goes_on else 1
        lower = start if goes_on else Affine()
        upper = tuple(lower + (bound - start).ceildiv(loop.step) * (parts * each) for bound in loop.upper)
        needed = {v for op in self._first for v in op.mentions()} | set(self._handed.values())
        body: list[Op] = [op for v, op in self._constants.items() if v in needed]
        body += self._first if goes_on else map(self._from_zero, self._first)
        if loop.carried:
            body.append(with_fields(loop.body[-1], values=tuple(self._handed[v] for v in loop.carried)))
        return with_fields(loop, lower=(lower,), upper=upper, step=each, body=tuple(body), written=None)

    def _from_zero(self, op: Op) -> Op:
        """An operation of the first part where the loop counts all parts, from 0 on."""
        new: dict[str, object] = {}
        for each in fields(op):
            found = getattr(op, each.name)
            if isinstance(found, Affine):
                new[each.name] = self._counted(found)
            elif isinstance(found, tuple) and found and all(isinstance(expr, Affine) for expr in found):
                new[each.name] = tuple(map(self._counted, found))
        return with_fields(op, **new, written=None) if new else op

    def _counted(self, expr: Affine) -> Affine:
        iv = self._loop.iv
        slope = (expr.substitute({iv: iv + 1}) - expr).constant
        return expr.substitute({iv: self._loop.lower[0]}) + iv * (slope * self._loop.step // self._parts)
