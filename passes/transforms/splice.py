"""Loads each element of a row once in a loop over vectors: what overlaps with others is put together in registers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from affdsl.frozen import Frozen
from affdsl.ir.blocks import yielded
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, vector
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.messages import shown
from affdsl.ir.renaming import renamed
from affdsl.ir.traverse import holders, rewrite, walk, with_fields
from affdsl.ir.types import VectorType
from affdsl.passes.analysis.dependence import Dependences, unwarned
from affdsl.passes.analysis.trip_count import runs_at_least
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.an_iteration_ahead import last_iteration, named, require_whole_steps, why_it_is_stored
from affdsl.passes.transforms.scalar_replace.carried import Index, Load, Store, carrying, if_it_runs, written_out

MOST_FIRST = 8
"""How many loads stand first in the body. So none comes after a store to an address that ends in the same 12 bits, for
which it would wait; more of them would not leave enough registers."""


def splice(
    function: Func, iv: Value, *, ahead: bool = False, more_loads: int = 0, module: Module | None = None
) -> Func:
    """The function with vectors of a loop that overlap spliced from those that it loads one after the other.

        for j by 8: { a = A[j - 1 :+ 8]; b = A[j :+ 8]; c = A[j + 1 :+ 8]; S(a, b, c) }
            ->   p = A[lower - 1 :+ 8], turned by two lanes to its end
                 for j by 8, p: { c = A[j + 1 :+ 8]; a, b = lanes of (p, c); S(a, b, c); yield c }

    Of loads right in the body along one row, the foremost one stays; what the others give is in that vector, or in that
    of the iteration before. It takes loads that move by one vector in each iteration, and of which no element is stored
    in the loop before it is loaded. All that is loaded before the loop is what its first iteration loads; if the loop
    may not run, all is put under the condition that it does. It pays where a vector that is not aligned costs more than
    a shuffle: where vectors are as long as lines of the cache, for one.

    Parameters
    ----------
    iv
        The induction variable of an affine.for, which a vector is one iteration of.
    ahead
        Load in each iteration what the next one splices, and run the last iteration behind the loop. Then no load comes
        soon after a store to an address a line or two further on, as far as the last 12 bits say, for which it would
        wait: so arrays lie that are made one after the other. It takes a loop that carries nothing else, of which a
        whole number of steps is left between its bounds.
    more_loads
        How many more vectors of each row an iteration loads: those in front of the one that takes part in all shuffles.
        They are loaded in the iteration that reads them, also with `ahead`. It pays where shuffles wait for the units
        that add and multiply, and loads do not wait.
    module
        What the function stands in: the functions that it calls.

    Raises
    ------
    ValueError
        If no affine.for of the function has this induction variable, or `more_loads` is less than 0.
    IllegalTransform
        If all vectors that overlap are to be loaded, or what they load may be stored before: with the reason for each.

    References
    ----------
    Eichenberger, Wu, O'Brien, "Vectorization for SIMD architectures with alignment constraints", PLDI 2004, section 4.

    >>> from affdsl.mlir.readers import parse
    >>> function = parse('''func.func @f(%A: memref<18xf32>, %B: memref<18xf32>) {
    ...     affine.for %j = 0 to 16 step 4 {
    ...       %a = affine.vector_load %A[%j] : memref<18xf32>, vector<4xf32>
    ...       %b = affine.vector_load %A[%j + 1] : memref<18xf32>, vector<4xf32>
    ...       %c = arith.addf %a, %b : vector<4xf32>
    ...       affine.vector_store %c, %B[%j] : memref<18xf32>, vector<4xf32>
    ...     }
    ...     return
    ... }''').functions[0]
    >>> print(splice(function, function.body[0].iv))
    func.func @f(%A: memref<18xf32>, %B: memref<18xf32>) {
      %a = affine.vector_load %A[0] : memref<18xf32>, vector<4xf32>
      %a_0 = vector.shuffle %a, %a [0, 0, 0, 0] : vector<4xf32>, vector<4xf32>
      %0 = affine.for %j = 0 to 16 step 4 iter_args(%b = %a_0) -> (vector<4xf32>) {
        %b_0 = affine.vector_load %A[%j + 1] : memref<18xf32>, vector<4xf32>
        %a_1 = vector.shuffle %b, %b_0 [3, 4, 5, 6] : vector<4xf32>, vector<4xf32>
        %c = arith.addf %a_1, %b_0 : vector<4xf32>
        affine.vector_store %c, %B[%j] : memref<18xf32>, vector<4xf32>
        affine.yield %b_0 : vector<4xf32>
      }
      return
    }
    """
    loop = next((op for op in holders(function) if isinstance(op, affine.For) and op.iv is iv), None)
    if loop is None:
        raise ValueError(f"{shown(iv)} is no induction variable of an affine.for of @{function.symbol}")
    if more_loads < 0:
        raise ValueError(f"more_loads is at least 0, not {more_loads}")
    with unwarned():  # what the analysis gives up on counts as stored
        dependences = Dependences(function, module)
        reasons, rows = _rows(loop, dependences, more_loads)
        runs = runs_at_least(loop, 1, dependences.accesses)
    if not rows:
        reason = "\n".join(reasons) or "no load of a vector stands right in its body"
        raise refusal(loop, f"splice vectors that loop {name(iv)} loads", reason)
    if ahead:
        require_whole_steps(loop, f"load what loop {name(iv)} splices an iteration ahead")
    before, made, values = _spliced(loop, rows, ahead=ahead)
    behind: Block = ()
    if ahead:
        made = renamed(made, values)
        behind = last_iteration(made, {*yielded(made.body)[len(rows) :]})
        made = with_fields(made, upper=(loop.upper[0] - loop.step,), written=None)
    new = (*before, made, *behind) if runs else if_it_runs(loop, before, made, behind)
    return renamed(rewrite(function, lambda op: new if op is loop else None), values)


class _Row(Frozen):
    """Loads along one row, each with how many elements it lies behind the foremost: at most the lanes of a vector."""

    loads: Sequence[tuple[affine.VectorLoad, int]]
    index: Index
    """The subscripts of the foremost load."""
    more: Mapping[affine.VectorLoad, affine.VectorLoad]
    """The loads of places in front of it, which are loaded as well, and what each becomes."""

    @property
    def type(self) -> VectorType:
        """That of all its vectors."""
        type = self.loads[0][0].result.type
        assert isinstance(type, VectorType)
        return type

    @property
    def span(self) -> int:
        """How many elements the last load lies behind the foremost."""
        return max(behind for _, behind in self.loads)


def _rows(loop: affine.For, dependences: Dependences, more_loads: int) -> tuple[list[str], list[_Row]]:
    """Why loads stay, and the rows of those that overlap."""
    reasons: list[str] = []
    index = written_out(loop)
    inside = {v for op in walk(loop) for values in (op.defines(), op.binds()) for v in values}
    accesses = [a for a in dependences.compared if loop.iv in a.ivs]
    alike: dict[object, list[tuple[affine.VectorLoad, Affine]]] = defaultdict(list)
    for op in loop.body:
        if not isinstance(op, affine.VectorLoad):
            continue
        reason = _why_it_stays(loop, op, index[op], inside) or why_it_is_stored(op, accesses, dependences)
        if reason:
            reasons.append(f"{named(op)} stays: {reason}")
            continue
        *outer, last = index[op]
        alike[op.memref, (*outer,), last - last.constant, op.result.type].append((op, last))
    rows = [row for loads in alike.values() for row in _apart(loads, index, more_loads)]
    overlapping = [row for row in rows if row.span]
    lone = [(op, row) for row in rows if not row.span for op in (*row.more, *(op for op, _ in row.loads))]
    for op, row in lone:
        why = f"more_loads={more_loads} leaves none to splice" if row.more else "no other one overlaps with it"
        reasons.append(f"{named(op)} stays: {why}")
    return reasons, overlapping


def _why_it_stays(loop: affine.For, load: affine.VectorLoad, index: Index, inside: set[Value]) -> str:
    """What about a load itself is in the way."""
    if len(loop.lower) != 1:
        return "the loop has several lower bounds"
    if load.memref in inside:
        return "the loop makes the buffer, or the view of it, that it loads from"
    if any(v in inside and v is not loop.iv for e in index for v in e.values()):
        return "its subscripts are not known before the loop"
    if not isinstance(load.result.type, VectorType) or len(load.result.type.shape) != 1:
        return "its vector has several dimensions"
    moved = [e.substitute({loop.iv: loop.iv + loop.step}) - e for e in index]
    if any(e.constant or not e.is_constant for e in moved[:-1]) or moved[-1] != Affine.of(load.result.type.shape[0]):
        return "it does not move along a row by one vector in each iteration"
    return ""


def _apart(
    loads: Sequence[tuple[affine.VectorLoad, Affine]], index: Mapping[Load | Store, Index], more_loads: int
) -> Iterator[_Row]:
    """Loads along a row, from the front back, so that one vector and that before it hold each group of them.

    In front of that vector, as many places of the group are loaded as well.
    """
    waiting = sorted(((op, last.constant) for op, last in loads), key=lambda each: -each[1])
    while waiting:
        first, at = waiting[0]
        assert isinstance(first.result.type, VectorType)
        (lanes,) = first.result.type.shape
        places = sorted({place for _, place in waiting if at - place <= lanes}, reverse=True)[: more_loads + 1]
        front = [op for op, place in waiting if place > places[-1]]
        behind = [(op, places[-1] - place) for op, place in waiting[len(front) :]]
        together = [each for each in behind if each[1] <= lanes]
        more = {op: with_fields(op, index=index[op], written=None) for op in front}
        yield _Row(together, index[together[0][0]], more)
        waiting = waiting[len(front) + len(together) :]


def _spliced(
    loop: affine.For, rows: Sequence[_Row], *, ahead: bool
) -> tuple[tuple[Op, ...], affine.For, dict[Value, Value]]:
    """What stands before the loop, the loop, and the values that stand for the loads'."""
    before: list[Op] = []
    inits: list[Value] = []
    carried: list[Value] = []
    yielded: list[Value] = []
    values: dict[Value, Value] = {}
    made: dict[Op, tuple[Op, ...]] = {}
    first: list[Op] = []
    ready: list[tuple[Value, Value, Value]] = []
    for row in rows:
        (lanes,), span = row.type.shape, row.span
        last = next(op for op, behind in row.loads if behind == span)
        foremost = row.loads[0][0]
        *outer, end = (e.substitute({loop.iv: loop.lower[0]}) for e in row.index)
        start, turned = (Value(row.type, last.result.hint, last.location) for _ in range(2))
        before.append(with_fields(last, result=start, index=(*outer, end - span), written=None))
        before.append(vector.Shuffle(turned, start, start, _ending(lanes, span), location=last.location))
        kept, new, first_one = (Value(row.type, foremost.result.hint, foremost.location) for _ in range(3))
        now = new
        if ahead:
            now = Value(row.type, foremost.result.hint, foremost.location)
            before.append(with_fields(foremost, result=first_one, index=(*outer, end), written=None))
            ready.append((first_one, now, new))
        inits, carried, yielded = [*inits, turned], [*carried, kept], [*yielded, now]
        for op in {op for op, _ in row.loads}:
            made[op] = ()
        index = tuple(e.substitute({loop.iv: loop.iv + loop.step}) for e in row.index) if ahead else row.index
        load = with_fields(foremost, result=new, index=index, written=None)
        first += [*row.more.values(), load]
        made |= {op: (new_op,) for op, new_op in row.more.items()}
        ops: list[Op] = [load]
        of: dict[int, Value] = {0: now, lanes: kept}
        for op, behind in row.loads:
            if behind not in of:
                of[behind] = Value(row.type, op.result.hint, op.location)
                order = tuple(range(lanes - behind, 2 * lanes - behind))
                ops.append(vector.Shuffle(of[behind], kept, now, order, location=op.location))
            values[op.result] = of[behind]
        made[min((op for op, _ in row.loads), key=loop.body.index)] = tuple(ops)
    for starts, now, new in ready:
        inits, carried, yielded = [*inits, starts], [*carried, now], [*yielded, new]
    body = [each for op in loop.body for each in made.get(op, (op,))]
    if ahead or len(first) <= MOST_FIRST:
        loads = {*first}
        body = [*first, *(op for op in body if op not in loads)]
    return tuple(before), carrying(loop, body, inits, carried, yielded), values


def _ending(lanes: int, span: int) -> tuple[int, ...]:
    """The order that turns a vector so that its first lanes are the last ones; any stand before them."""
    return tuple(max(k - (lanes - span), 0) for k in range(lanes))
