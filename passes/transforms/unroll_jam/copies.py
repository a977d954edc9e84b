"""The body of a loop for several of its iterations at once: statements copied, the loops inside shared."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith
from affdsl.ir.expr import Affine, FloorDiv, Term, Value
from affdsl.ir.messages import shown
from affdsl.ir.traverse import clone_block, like, walk, with_fields
from affdsl.ir.types import INDEX
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.transforms.loops.pieces import ahead


class Copies:
    """Makes the body of a loop that runs `factor` iterations at once.

    The first copy keeps the values of the body; `copies` maps them to those of each other copy, and grows.
    """

    def __init__(self, loop: affine.For, factor: int, what: str) -> None:
        self.loop = loop
        self.factor = factor
        self.what = what
        self.copies: list[dict[Value, Term]] = [{} for _ in range(factor)]
        self.carried = [loop.carried, *[tuple(map(like, loop.carried)) for _ in range(factor - 1)]]
        """What the loop carries for each copy, where the copies run together."""
        self.made: dict[Value, Affine] = {}
        """What the results of affine.apply are over the loops around."""
        self.moving = {loop.iv, *loop.carried}
        """The values that are not the same for all copies."""

    @property
    def in_sequence(self) -> bool:
        """Whether each copy runs after the one before it, so that it may take what that one yields."""
        return not any(isinstance(op, affine.For) for op in self.loop.body)

    def body(self) -> Block:
        """The new body. Raises IllegalTransform where a loop inside cannot be shared."""
        if self.loop.carried and self.in_sequence:
            return self._in_sequence()
        for values, new in zip(self.carried[1:], self.copies[1:], strict=True):
            new.update(zip(self.loop.carried, values, strict=True))
        return self._block(self.loop.body)

    def _in_sequence(self) -> Block:
        """The body where each copy takes the values that the one before it yields."""
        *run, end = self.loop.body
        assert isinstance(end, affine.Yield), "a loop with results ends with affine.yield"
        out: list[Op] = list(run)
        values: Sequence[Value] = end.values
        counts = self._reads_iv(tuple(run))
        for k in range(1, self.factor):
            self.copies[k].update(zip(self.loop.carried, values, strict=True))
            out += self._copied(tuple(run), k, counts)
            applies, values = self._values(end.values, k)
            out += applies
        return (*out, with_fields(end, values=tuple(values)))

    def _block(self, block: Block) -> Block:
        """The operations of a block for all copies; what ends it yields the values of all of them."""
        out: list[Op] = []
        run: list[Op] = []
        for op in block:
            if isinstance(op, affine.For):
                out += self._run(tuple(run))
                out += self._shared(op)
                run = []
            elif isinstance(op, affine.Yield):
                out += self._run(tuple(run))
                run = []
                applies, values = self._of_all(op.values)
                out += (*applies, with_fields(op, values=tuple(v for each in values for v in each)))
            else:
                run.append(op)
        return (*out, *self._run(tuple(run)))

    def _run(self, run: Block) -> Block:
        """Operations between two loops, copy by copy."""
        for op in run:
            self._note(op)
        counts = self._reads_iv(run)
        return (*run, *(op for k in range(1, self.factor) for op in self._copied(run, k, counts)))

    def _reads_iv(self, run: Block) -> bool:
        """Whether operations read the induction variable."""
        iv = self.loop.iv
        return any(iv in inner.reads() for op in run for inner in walk(op))

    def _copied(self, run: Block, k: int, counts: bool, new: dict[Value, Term] | None = None) -> Block:
        """Operations for one copy, after what computes its induction variable where they read it: if `counts`."""
        mapped = self.copies[k] if new is None else new
        if k == 0 or not counts:
            return clone_block(run, mapped)
        there = self._counter(k)
        mapped[self.loop.iv] = there.result
        return (there, *clone_block(run, mapped))

    def _counter(self, k: int) -> affine.Apply:
        """What computes the induction variable of a copy."""
        iv = self.loop.iv
        return ahead(self.loop, k * self.loop.step, Value(INDEX, f"{iv.hint}_{k}" if iv.hint else "", iv.location))

    def _values(self, values: Sequence[Value], k: int) -> tuple[Block, list[Value]]:
        """What values are in a copy, after what computes its induction variable if that is one of them."""
        iv, found = self.loop.iv, [self.copies[k].get(v, v) for v in values]
        before: Block = ()
        if k > 0 and iv in values:
            there = self._counter(k)
            before = (there,)
            found = [there.result if v is iv else new for v, new in zip(values, found, strict=True)]
        assert all(isinstance(v, Value) for v in found), "a copy of a value is a value"
        return before, [v for v in found if isinstance(v, Value)]

    def _of_all(self, values: Sequence[Value]) -> tuple[Block, list[list[Value]]]:
        """What values are in each copy."""
        both = [self._values(values, k) for k in range(self.factor)]
        return tuple(op for applies, _ in both for op in applies), [found for _, found in both]

    def _note(self, op: Op) -> None:
        """Remember which of its results differ between copies, and what affine.apply computes."""
        same = isinstance(op, _PURE) and not any(v in self.moving for v in op.reads())
        if not same:
            self.moving.update(op.defines())
        if isinstance(op, affine.Apply):
            self.made[op.result] = op.expr.substitute(self.made)

    def _shared(self, op: affine.For) -> Block:
        """A loop inside, run once for all copies: in one piece, or with parts for single copies around it."""
        lower, upper = (tuple(self._known(e) for e in bounds) for bounds in (op.lower, op.upper))
        low_moves, high_moves = (any(self._moves(e) for e in bounds) for bounds in (lower, upper))
        applies, inits = self._of_all(op.inits)
        self.moving.update(op.results)
        if not low_moves and not high_moves:
            return (*applies, self._together(op, inits))
        starts = [tuple(self._at(e, k) for e in lower) for k in range(self.factor)]
        stops = [tuple(self._at(e, k) for e in upper) for k in range(self.factor)]
        first = self._extreme(op, lower, 1) if low_moves else None
        last = self._extreme(op, upper, -1) if high_moves else None
        self._check_steps(op, low_moves)
        before: list[Op] = [*applies]
        after: list[Op] = []
        results: list[list[Value]] = []
        for k in range(self.factor):
            if first is not None and first not in starts[k]:
                part, inits[k] = self._alone(op, k, starts[k], (first, *stops[k]), inits[k])
                before += part
        main_lower = lower if first is None else (*self._fixed(lower), first)
        main_upper = upper if last is None else (*self._fixed(upper), last)
        for k in range(self.factor):
            if last is None or last in stops[k]:
                results.append([])
                continue
            results.append(list(map(like, op.results)))
            lows = self._from(op, last, main_lower)
            part, found = self._alone(op, k, lows, stops[k], results[k], op.results if k == 0 else ())
            if k > 0:
                self.copies[k].update(zip(op.results, found, strict=True))
            after += part
        main = self._together(with_fields(op, lower=main_lower, upper=main_upper, written=None), inits, results)
        return (*before, main, *after)

    def _together(
        self, op: affine.For, inits: Sequence[Sequence[Value]], results: Sequence[Sequence[Value]] = ()
    ) -> affine.For:
        """A loop over all copies. `results` are those of each copy where another part follows, and else empty."""
        carried = list(op.carried)
        self.moving.update(op.carried)
        found: list[Value] = []
        for k in range(self.factor):
            if k > 0:
                fresh = list(map(like, op.carried))
                self.copies[k].update(zip(op.carried, fresh, strict=True))
                carried += fresh
            if results and results[k]:
                found += results[k]
                continue
            own = op.results if k == 0 else tuple(map(like, op.results))
            if k > 0:
                self.copies[k].update(zip(op.results, own, strict=True))
            found += own
        given = tuple(v for each in inits for v in each)
        body = self._block(op.body)
        return with_fields(op, inits=given, carried=tuple(carried), results=tuple(found), body=body)

    def _alone(
        self,
        op: affine.For,
        k: int,
        lower: tuple[Affine, ...],
        upper: tuple[Affine, ...],
        inits: Sequence[Value],
        results: tuple[Value, ...] = (),
    ) -> tuple[Block, list[Value]]:
        """A part of a loop for one copy, and its results, which are new if none are given."""
        new = dict(self.copies[k])
        alone = (with_fields(op, inits=(), written=None, lower=(), upper=()),)
        *before, copy = self._copied(alone, k, self._reads_iv(alone), new)
        assert isinstance(copy, affine.For)
        made = with_fields(
            copy,
            lower=tuple(dict.fromkeys(lower)),
            upper=tuple(dict.fromkeys(upper)),
            inits=tuple(inits),
            results=results or copy.results,
        )
        return (*before, made), list(made.results)

    def _known(self, expr: Affine) -> Affine:
        """A bound over values that are the same for all copies, and the induction variable where it moves."""
        full = expr.substitute(self.made)
        return full if self._moves(full) else expr

    def _moves(self, expr: Affine) -> bool:
        return any(v in self.moving for v in expr.values())

    def _fixed(self, bounds: Sequence[Affine]) -> tuple[Affine, ...]:
        return tuple([e for e in bounds if not self._moves(e)])

    def _at(self, expr: Affine, k: int) -> Affine:
        return expr.substitute({self.loop.iv: self.loop.iv + k * self.loop.step})

    def _extreme(self, op: affine.For, bounds: Sequence[Affine], sign: int) -> Affine:
        """The largest (sign 1) or smallest (sign -1), over all copies, of the one bound that moves."""
        bound, *more = filter(self._moves, bounds)
        others = [shown(v) for v in bound.values() if v in self.moving and v is not self.loop.iv]
        if others:
            reason = f"a bound of the loop {shown(op.iv)} inside is {others[0]}, of which each copy has its own"
            raise refusal(op, self.what, reason)
        if more:
            side = "lower" if sign > 0 else "upper"
            reason = (f"the loop {shown(op.iv)} inside has several {side} bounds that move with "
                      f"{shown(self.loop.iv)}: where all copies run is not affine")  # fmt: skip
            raise refusal(op, self.what, reason)
        grows = _slope(bound, self.loop.iv)
        if grows is None:
            reason = f"whether a bound of the loop {shown(op.iv)} inside grows with {shown(self.loop.iv)} is not known"
            raise refusal(op, self.what, reason)
        return self._at(bound, self.factor - 1 if grows == sign else 0)

    def _check_steps(self, op: affine.For, low_moves: bool) -> None:
        if op.step > 1 and (low_moves or len(op.lower) > 1):
            reason = f"the loop {shown(op.iv)} inside has step {op.step} and no single start for all copies"
            raise refusal(op, self.what, reason)

    def _from(self, op: affine.For, last: Affine, lower: tuple[Affine, ...]) -> tuple[Affine, ...]:
        """Where a loop goes on that has run up to `last`, or not at all."""
        if op.step == 1:
            return (*lower, last)
        return (*lower, lower[0] + (last - lower[0]).ceildiv(op.step) * op.step)


_PURE = (affine.Apply, affine.Min, affine.Max, arith.Constant)


def _slope(expr: Affine, iv: Value) -> int | None:
    """1 where an expression never falls as iv grows, -1 where it never rises; None where that is not known."""
    slopes: set[int | None] = set()
    for atom, c in expr.terms:
        sign = 1 if c > 0 else -1
        match atom:
            case Value():
                slopes.update([sign] if atom is iv else [])
            case FloorDiv(dividend, int()) if iv in set(dividend.values()):
                inner = _slope(dividend, iv)
                slopes.add(None if inner is None else inner * sign)
            case _ if iv in set(Affine(((atom, c),)).values()):
                slopes.add(None)
    return slopes.pop() if len(slopes) == 1 else None
