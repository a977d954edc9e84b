"""Moves what stands beside a loop into it: what only the loop uses, or everything, under conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from affdsl.ir.blocks import split_body
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, func, memref, vector
from affdsl.ir.expr import Constraint, Value
from affdsl.ir.messages import op_name
from affdsl.ir.traverse import holders, walk, with_fields
from affdsl.ir.types import INDEX
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependence, Dependences, unwarned
from affdsl.passes.analysis.effects import is_pure
from affdsl.passes.analysis.trip_count import trip_count
from affdsl.passes.legality.proposals import Proposal, Step
from affdsl.passes.legality.refusal import IllegalTransform, Reason, refusal
from affdsl.passes.legality.running import peeled_first, so_that_it_runs
from affdsl.passes.legality.words import access_name, accessed_element, explained, name
from affdsl.passes.transforms.hoist import may_meet
from affdsl.passes.transforms.loops.nests import loop_of
from affdsl.passes.transforms.loops.pieces import block_around, with_block

_LOADS = (affine.Load, affine.VectorLoad, memref.Load, vector.Load)


def sink(function: func.Func, iv: Value, *, module: func.Module | None = None) -> func.Func:
    """Compute what only a loop uses in each of its iterations, instead of once before it: the inverse of `hoist`.

        x = S; for i: T(i, x)      ->      for i: { x = S; T(i, x) }

    What moves stands before the loop, in the same block, and only computes or loads; no element that it loads is
    written before the loop ends. It then takes no register while the loop runs, and two loops around it may become
    perfectly nested.

    Parameters
    ----------
    iv
        The induction variable of the loop.
    module
        What the function stands in: it shows what calls do, and which arguments are one buffer.

    Raises
    ------
    IllegalTransform
        If nothing can be moved: with the reason for each operation whose result the loop uses.

    References
    ----------
    Aho, Lam, Sethi, Ullman, "Compilers", 9.5 (partial-dead-code elimination is the general form).

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<9xf32>, %B: memref<9xf32>) {
    ...   %b = affine.load %B[0] : memref<9xf32>
    ...   affine.for %i = 0 to 9 { affine.store %b, %A[%i] : memref<9xf32> }
    ...   return
    ... }''').functions[0]
    >>> print(sink(f, f.body[1].iv))
    func.func @f(%A: memref<9xf32>, %B: memref<9xf32>) {
      affine.for %i = 0 to 9 {
        %b = affine.load %B[0] : memref<9xf32>
        affine.store %b, %A[%i] : memref<9xf32>
      }
      return
    }
    """
    what = f"sink anything into loop {name(iv)}"
    loop = loop_of(function, iv, what)
    block = block_around(function, loop)
    place = block.index(loop)
    motion = _Motion(function, module)
    moved: dict[Op, None] = {}
    kept: list[Op] = []
    reasons: list[str] = []
    used_inside = _used(loop.body)
    elsewhere = _used(block[place + 1 :]) | set(loop.mentions())
    for op in reversed(block[:place]):
        results = set(op.defines())
        if not results & used_inside:
            reason = ""
        elif results & elsewhere and (is_pure(op) or isinstance(op, _LOADS)):
            reason = f"{_named(op)} stays: something outside of the loop uses its result"
        else:
            reason = motion.why_not(op, (*kept, loop), is_top=block is function.body)
            if not reason:
                moved[op] = None
                used_inside |= _used((op,))
                continue
        kept.append(op)
        elsewhere |= _used((op,))
        reasons += [reason] * bool(reason)
    if not moved:
        reason = "\n".join(reasons) or "it uses no result of what stands before it in its block"
        raise motion.refused(loop, what, reason)
    new = with_fields(loop, body=(*reversed(moved), *loop.body))
    return with_block(function, block, (*(op for op in block[:place] if op not in moved), new, *block[place + 1 :]))


def make_perfect(function: func.Func, outer: Value, inner: Value, *, module: func.Module | None = None) -> func.Func:
    """Move all that stands beside an inner loop into it, so that the two loops are perfectly nested (code sinking).

        for i: { S(i); for j = l to u: T(i, j); U(i) }
            ->      for i: for j = l to u: { if j == l: S(i); T(i, j); if j == last: U(i) }

    Nothing runs in another order. What the inner loop only computes with is computed in each of its iterations.

    Parameters
    ----------
    outer, inner
        The induction variables of the loops. The inner one stands right in the body of the outer one.
    module
        What the function stands in: it shows what calls do, and which arguments are one buffer.

    Raises
    ------
    IllegalTransform
        If the inner loop may not run, where something beside it must; if its first or last iteration cannot be said by
        a condition; if a value that the inner loop uses cannot be computed in each iteration; or if a loop carries
        values (iter_args).

    References
    ----------
    Wolfe, "High Performance Compilers for Parallel Computing", section 9.3.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%C: memref<9xf32>, %A: memref<9x9xf32>, %zero: f32) {
    ...   affine.for %i = 0 to 9 {
    ...     affine.store %zero, %C[%i] : memref<9xf32>
    ...     affine.for %j = 0 to 9 {
    ...       %a = affine.load %A[%i, %j] : memref<9x9xf32>
    ...       %c = affine.load %C[%i] : memref<9xf32>
    ...       %d = arith.addf %c, %a : f32
    ...       affine.store %d, %C[%i] : memref<9xf32>
    ...     }
    ...   }
    ...   return
    ... }''').functions[0]
    >>> print(make_perfect(f, f.body[0].iv, f.body[0].body[1].iv).body[0])
    affine.for %i = 0 to 9 {
      affine.for %j = 0 to 9 {
        affine.if affine_set<(d0) : (d0 == 0)>(%j) {
          affine.store %zero, %C[%i] : memref<9xf32>
        }
        %a = affine.load %A[%i, %j] : memref<9x9xf32>
        %c = affine.load %C[%i] : memref<9xf32>
        %d = arith.addf %c, %a : f32
        affine.store %d, %C[%i] : memref<9xf32>
      }
    }
    """

    what = f"make loops {name(outer)} and {name(inner)} perfectly nested"
    around, loop = loop_of(function, outer, what), loop_of(function, inner, what)
    if loop not in around.body:
        between = [name(op.iv) for op in holders(around) if isinstance(op, affine.For) and _is_inside(loop, op)][1:]
        where = f"but in that of {between[-1]}: make these two perfect first" if between else ""
        if _is_inside(around, loop):
            where = "but around it: name the outer one first"
        reason = f"the loop {name(inner)} does not stand right in the body of the loop {name(outer)}"
        raise refusal(loop, what, f"{reason}, {where}" if where else reason)
    for each in (around, loop):
        if each.results:
            reason = f"the loop {name(each.iv)} carries values (iter_args) from each iteration to the next"
            raise refusal(each, what, reason)
    place = around.body.index(loop)
    before, after = around.body[:place], around.body[place + 1 :]
    if not before and not after:
        return function
    motion = _Motion(function, module)
    repeated = _repeated(motion, before, loop, after, what)
    first = tuple(op for op in before if op not in repeated)
    if first or after:
        count = trip_count(loop, inner, motion.accesses)
        if not count.runs:
            reason = f"the loop {name(inner)} may not run, and {_named((*first, *after)[0])} beside it must"
            raise refusal(loop, what, reason, candidates=_instead(function, around, loop))
    body, _ = split_body(loop.body)
    guarded = (
        *(op for op in before if op in repeated),
        *_only_at(loop, first, loop.lower, 0, what),
        *body,
        *_only_at(loop, after, loop.upper, loop.step, what),
    )
    perfect = with_fields(loop, body=guarded)
    return with_block(function, around.body, (perfect,))


def _instead(function: func.Func, outer: affine.For, inner: affine.For) -> Iterator[Proposal]:
    """What may help where the inner loop may not run: that it does, or loops apart from each other."""
    facts = so_that_it_runs(function, inner)
    if facts:
        yield Proposal(assumes=facts)
    yield from (Proposal((step,)) for step in peeled_first(function, inner))
    yield Proposal((Step("distribute", (outer.iv,)),), asks_again=False)


class _Motion:
    """What may be done again and again in a loop, in one function."""

    def __init__(self, function: func.Func, module: func.Module | None) -> None:
        self._dependences = Dependences(function, module)
        self.accesses = self._dependences.accesses
        self._blocked: tuple[Access, Access] | None = None
        self._at: dict[Op, list[Access]] = {}
        for access in self.accesses.all:
            self._at.setdefault(access.op, []).append(access)

    def why_not(self, op: Op, past: Sequence[Op], *, is_top: bool) -> str:
        """Why an operation may not be done behind some others, or several times; empty if it may."""
        if is_top and not isinstance(op, arith.Constant) and any(v.type == INDEX for v in op.defines()):
            return f"{_named(op)} stays: its result is a symbol, which it would not be in a loop"
        if is_pure(op):
            return ""
        if not isinstance(op, _LOADS):
            return f"{_named(op)} stays: it does more than to compute or to load"
        around = len(self.accesses.domains[op].ivs)
        for mine in self._at.get(op, ()):
            for other in (a for outer in past for inner in walk(outer) for a in self._at.get(inner, ())):
                if other.kind == "write" and may_meet(self.accesses, mine, other, around):
                    self._blocked = self._blocked or (mine, other)
                    return f"{_named(op)} stays: {access_name(other)} may change what it loads"
        return ""

    def refused(self, op: Op, what: str, reason: str) -> IllegalTransform:
        """The refusal, with two iterations where a write is in the way that certainly changes what is loaded."""

        def shown() -> Reason:
            found: Dependence | None = None
            if self._blocked is not None:
                load, write = self._blocked
                with unwarned():  # what the analysis gives up on is no example
                    found = self._dependences.at(load, write, self._dependences.common(load, write) + 1)
            witness = found.witness() if found is not None and found.is_exact else None
            if found is None or witness is None:
                return Reason(reason)
            return Reason(f"{reason}:\n{explained(found, witness)}", found, witness)

        return refusal(op, what, shown)


def _repeated(motion: _Motion, before: Sequence[Op], loop: affine.For, after: Sequence[Op], what: str) -> frozenset[Op]:
    """What stands before a loop and is computed in each iteration of it, since the loop or what follows uses it."""
    makers = {value: op for op in before for value in op.defines()}
    bound = next((makers[v] for v in loop.mentions() if v in makers), None)
    if bound is not None:
        raise refusal(bound, what, f"the bounds of {name(loop.iv)} use the result of {_named(bound)}")
    made_behind = {value for op in after for value in op.defines()}
    assert not made_behind & _used(loop.body), "nothing is used before it is made"
    found: set[Op] = set()
    waiting = [makers[v] for v in _used((*loop.body, *after)) if v in makers]
    while waiting:
        op = waiting.pop()
        if op not in found:
            found.add(op)
            waiting += [makers[v] for v in _used((op,)) if v in makers]
    for op in before:
        if op in found:
            why = motion.why_not(op, (*(o for o in before if o is not op), loop, *after), is_top=False)
            if why:
                reason = f"what {name(loop.iv)} uses must be computed in each iteration, but {why}"
                raise motion.refused(op, what, reason)
    return frozenset(found)


def _only_at(loop: affine.For, ops: Block, bounds: Sequence[object], beyond: int, what: str) -> Iterator[Op]:
    """Operations in the first iteration of a loop alone, or in the last one, which is `beyond` from the upper bound."""
    if not ops:
        return
    if len(bounds) > 1:
        which = "last" if beyond else "first"
        reason = f"no condition says which iteration of {name(loop.iv)} is the {which}: it has several bounds there"
        raise refusal(ops[0], what, reason)
    condition = (
        Constraint(loop.iv + loop.step - loop.upper[0])
        if beyond
        else Constraint(loop.iv - loop.lower[0], equality=True)
    )
    if beyond and loop.step == 1:
        condition = Constraint(loop.iv + 1 - loop.upper[0], equality=True)
    yield affine.If((condition,), tuple(ops), location=ops[0].location)


def _is_inside(inner: Op, outer: Op) -> bool:
    return inner is not outer and any(op is inner for op in walk(outer))


def _used(block: Sequence[Op]) -> set[Value]:
    """What some operations and their blocks read, or mention."""
    return {v for op in block for inner in walk(op) for v in inner.mentions()}


def _named(op: Op) -> str:
    at = f" at line {op.location.line}" if op.location is not None else ""
    accessed = f"the loop {name(op.iv)}" if isinstance(op, affine.For) else accessed_element(op)
    if accessed:
        return f"{accessed}{at}"
    made = next((v for v in op.defines() if v.hint), None)
    return f"{op_name(op)}{f' of {name(made)}' if made is not None else ''}{at}"
