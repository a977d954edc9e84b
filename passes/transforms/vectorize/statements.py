"""Orders of the statements of a loop in which several of its iterations may run each of them at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, math, scf
from affdsl.ir.expr import Term, Value
from affdsl.ir.traverse import operands_first, walk, with_fields
from affdsl.passes.analysis.dependence import Dependences


class Order(FrozenValue):
    """The operations of the body of a loop in a new order, without the terminator.

    Attributes
    ----------
    places
        Where each of them stood.
    units
        Which of them, from a number on and up to another, run for one iteration after the other.
    """

    places: tuple[int, ...]
    units: tuple[tuple[int, int], ...] = ()


Edge = tuple[Op, Op]
"""An operation of the body, and one that runs after it."""


def orders(
    loop: affine.For, chain: Sequence[Op], row: Mapping[Value, Value], width: int, dependences: Dependences
) -> Iterator[Order]:
    """Orders of the body in which values are made before they are used: that of the text, or near it, first.

    In the other one each dependence between iterations that run at once leads forward. Operations around which some of
    them lead in a circle run for one iteration after the other, if something is left that computes in all lanes.

    Parameters
    ----------
    chain
        The operations by which what the loop carries goes from lane to lane: all of them run before any other that
        reads what they make, or what it carries.
    row
        What the loop carries from lane to lane, and what it yields for it.
    """
    values = list(_uses(loop, row))
    text = _sorted(loop, chain, values)
    if text is not None:
        yield text
    edges = [*values, *_dependent(loop, width, dependences)]
    other = _sorted(loop, chain, [edge for edge in edges if edge[0] is not edge[1]])
    if other is not None and other != text:
        yield other
    circles = [circle for circle in _circles(loop, edges) if not set(circle) <= set(chain)]
    last = _sorted(loop, chain, edges, circles) if circles and _is_worth_it(loop, circles, chain) else None
    if last is not None:
        yield last


def reordered(loop: affine.For, order: Order) -> affine.For:
    """A loop with its statements in another order."""
    return with_fields(loop, body=(*(loop.body[k] for k in order.places), *loop.body[len(order.places) :]))


def _circles(loop: affine.For, edges: Sequence[Edge]) -> list[tuple[Op, ...]]:
    """Operations each of which depends on all others of its kind, and on itself."""
    before, after = ({op: dict[Op, None]() for op in loop.body} for _ in range(2))
    for source, sink in edges:
        after[source][sink] = before[sink][source] = None
    ends: dict[Op, None] = {}  # each behind all that depends on it, but for circles
    for op in loop.body:
        ends.update(dict.fromkeys(operands_first(op, lambda each: (v for v in after[each] if v not in ends))))
    circle_of: dict[Op, Op] = {}
    for op in reversed(ends):  # what it depends on of those that are left depends on it, too
        if op not in circle_of:
            new = operands_first(op, lambda each: (v for v in before[each] if v not in circle_of))
            circle_of.update(dict.fromkeys(new, op))
    found: dict[Op, list[Op]] = {}
    for op in loop.body:
        found.setdefault(circle_of[op], []).append(op)
    return [tuple(circle) for circle in found.values() if len(circle) > 1 or circle[0] in after[circle[0]]]


def _is_worth_it(loop: affine.For, circles: Sequence[Sequence[Op]], chain: Sequence[Op]) -> bool:
    """Whether something is computed outside of circles, which touch no chain."""
    inside = {op for circle in circles for op in circle}
    computes = [op for op in loop.body if isinstance(op, arith.Binary | math.Unary | math.Binary | math.Fma)]
    return inside.isdisjoint(chain) and any(op not in inside and op not in chain for op in computes)


def _uses(loop: affine.For, row: Mapping[Value, Value]) -> Iterator[Edge]:
    """What makes a value before what uses it; what the last lane yields before what uses it in the next one."""
    makers: dict[Value, Op] = {value: op for op in loop.body for value in op.defines()}
    for op in loop.body:
        for value in {v for inner in walk(op) for v in inner.mentions()}:
            for each in _handed_on(value, row):
                if each in makers and not op.is_terminator:
                    yield makers[each], op


def _handed_on(value: Value, yielded: Mapping[Value, Value]) -> Iterator[Value]:
    """A value, and what a loop yields for it: in the last iteration, the one before, and so on."""
    seen = set[Value]()
    while value not in seen:
        yield value
        seen.add(value)
        value = yielded.get(value, value)


def _dependent(loop: affine.For, width: int, dependences: Dependences) -> Iterator[Edge]:
    """The dependences between iterations that may run at once, and within each of them.

    One of an operation on itself is that of another iteration.
    """
    top = {inner: op for op in loop.body for inner in walk(op)}
    level = len(dependences.accesses.domains[loop].ivs)
    inside = [a for a in dependences.compared if a.op in top]
    storage, seen, buffers = dependences.accesses.storage, set[Edge](), {a.buffer for a in inside}
    for source in inside:
        others = {buffer for buffer in buffers if storage.may_alias(source.buffer, buffer)}
        for sink in inside:
            if "write" not in (source.kind, sink.kind) or sink.buffer not in others:
                continue
            if (top[source.op], top[sink.op]) in seen:
                continue
            last = level + 1 if top[source.op] is top[sink.op] else dependences.common(source, sink) + 1
            for depth in range(level + 1, last + 1):
                found = dependences.at(source, sink, depth)
                if found is not None and not (depth == level + 1 and _is_far(found.distances, level, width)):
                    seen.add((top[source.op], top[sink.op]))
                    yield top[source.op], top[sink.op]
                    break


def _is_far(distances: Sequence[object], level: int, width: int) -> bool:
    """Whether a dependence that the loop carries leads further than the lanes of one vector."""
    low = getattr(distances[level], "low", None) if len(distances) > level else None
    return isinstance(low, int) and low >= width


def _sorted(
    loop: affine.For, chain: Sequence[Op], edges: Sequence[Edge], circles: Sequence[tuple[Op, ...]] = ()
) -> Order | None:
    """The operations in an order that keeps all edges, as near to the text as can be; None if there is none.

    The edges within a circle are kept by running it for one iteration after the other.
    """
    ops = [op for op in loop.body if not op.is_terminator]
    place = {op: k for k, op in enumerate(ops)}
    whole = tuple(sorted(chain, key=place.__getitem__))
    together = {op: each for each in (whole, *circles) for op in each}
    first = {op: together.get(op, (op,))[0] for op in ops}  # stands for all that run together
    needs: dict[Op, set[Op]] = {each: set() for each in first.values()}
    for source, sink in edges:
        if first[source] is not first[sink]:
            needs[first[sink]].add(first[source])
    found: list[int] = []
    units: list[tuple[int, int]] = []
    circle_of = {circle[0]: circle for circle in circles}
    done: set[Op] = set()
    waiting = dict.fromkeys(needs)
    while waiting:
        ready = next((each for each in waiting if needs[each] <= done), None)
        if ready is None:
            return None
        del waiting[ready]
        done.add(ready)
        if ready in circle_of:
            units.append((len(found), len(found) + len(circle_of[ready])))
        found += [place[op] for op in together.get(ready, (ready,))]
    return Order(tuple(found), tuple(units))


def numbered(block: Block, before: tuple[Term, ...], places: dict[Op, tuple[Term, ...]]) -> None:
    """Where each operation runs: the loops around it that all lanes share, and its places in their bodies.

    What stands under a condition has its place in the body of the loop around: one after the other, as in the text.
    """
    pending = [(block, before)]
    while pending:
        block, before = pending.pop()
        for k, op in enumerate(_of_one_body(block)):
            places[op] = (*before, k)
            if isinstance(op, affine.For | scf.For):
                pending.append((op.body, (*before, k, op.iv)))


def _of_one_body(block: Block) -> Iterator[Op]:
    """The operations of a block, with those under conditions, and not those inside of loops."""
    for op in block:
        yield op
        if not isinstance(op, affine.For | scf.For):
            for inner in op.blocks():
                yield from _of_one_body(inner)
