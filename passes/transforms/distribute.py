"""Splits a loop into loops over its statements, one after the other (loop fission)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func, scf
from affdsl.ir.expr import Term, Value
from affdsl.ir.traverse import clone_block, fresh, walk, with_fields
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.effects import is_pure
from affdsl.passes.analysis.reduction import Reduction, Reductions
from affdsl.passes.analysis.summary import Summaries
from affdsl.passes.legality.order import Time, is_barrier, text_time
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.require import require_order
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.loops.nests import any_loop_of, replaced


def distribute(function: func.Func, iv: Value, *, module: func.Module | None = None) -> func.Func:
    """Split a loop into as many loops as its dependences allow, each with some of its statements.

        for i: { S(i); T(i) }      ->      for i: S(i);  for i: T(i)

    Statements that use each other's values, or depend on each other in a cycle, stay together. What only computes
    numbers from numbers is repeated in each loop that needs it. The loops run in the order that the dependences ask
    for, and else in that of the text. Statements that only add to elements, or combine them in another way that comes
    to the same in any order, as `max` does, may change places.

    Parameters
    ----------
    iv
        The induction variable of the loop. The first of the new loops keeps it; the others have new ones of its name.
    module
        What the function stands in: it shows what calls do, and which arguments are one buffer.

    Raises
    ------
    IllegalTransform
        If all statements stay together: with a dependence that keeps them so; or if the loop carries values.

    References
    ----------
    Allen and Kennedy, "Optimizing compilers for modern architectures", section 2.4.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<9xf32>, %B: memref<9xf32>, %x: f32) {
    ...   affine.for %i = 0 to 9 {
    ...     affine.store %x, %A[%i] : memref<9xf32>
    ...     affine.store %x, %B[%i] : memref<9xf32>
    ...   }
    ...   return
    ... }''').functions[0]
    >>> print(distribute(f, f.body[0].iv))
    func.func @f(%A: memref<9xf32>, %B: memref<9xf32>, %x: f32) {
      affine.for %i = 0 to 9 {
        affine.store %x, %A[%i] : memref<9xf32>
      }
      affine.for %i = 0 to 9 {
        affine.store %x, %B[%i] : memref<9xf32>
      }
      return
    }
    """
    what = f"distribute loop {name(iv)}"
    loop = any_loop_of(function, iv, what)
    if loop.results:
        raise refusal(loop, what, f"the loop {name(iv)} carries values (iter_args) from each iteration to the next")
    dependences = Dependences(function, module)
    pieces = _pieces(loop, Summaries(module))
    if len(pieces) < 2:
        raise refusal(loop, what, "its statements use each other's values, or are only one")
    groups = _groups(pieces, _edges(dependences, loop, pieces))
    commuting: tuple[Reduction, ...] = ()
    if len(groups) < 2 and (commuting := Reductions(dependences).commuting(iv)):
        groups = _groups(pieces, _edges(dependences, loop, pieces, commuting))
    if len(groups) < 2:
        require_order(dependences, loop, _time(dependences, loop, pieces), what=what)
        raise refusal(loop, what, "its statements depend on each other in a cycle")
    require_order(dependences, loop, _time(dependences, loop, groups), what=what, commuting=commuting)
    return replaced(function, loop, *_loops(loop, groups))


Group = tuple[Op, ...]
"""Statements of one loop, in the order of the text."""


def _is_free(op: Op) -> bool:
    """Whether an operation may be repeated wherever its result is needed."""
    return is_pure(op) and not any(True for _ in op.blocks())


def _pieces(loop: affine.For | scf.For, summaries: Summaries) -> list[Group]:
    """The statements of a loop, those together that use each other's values or may both do anything."""
    together: dict[Op, list[Op]] = {}
    needs: dict[Value, set[Op]] = {}
    barriers: set[Op] = set()
    for op in loop.body:
        used = {maker for inner in walk(op) for value in inner.mentions() for maker in needs.get(value, ())}
        if _is_free(op):
            found = used
        else:
            if any(is_barrier(inner, summaries) for inner in walk(op)):
                used |= barriers
                barriers.add(op)
            merged = list(dict.fromkeys([op, *(other for each in used for other in together[each])]))
            together.update((each, merged) for each in merged)
            found = {op}
        needs.update((value, found) for value in op.defines())
    # A free operation that reads two statements ties nothing; what reads it has tied them.
    order = {op: k for k, op in enumerate(loop.body)}
    distinct = {id(group): tuple(sorted(group, key=order.__getitem__)) for group in together.values()}
    return sorted(distinct.values(), key=lambda group: order[group[0]])


def _edges(
    dependences: Dependences, loop: affine.For | scf.For, pieces: Sequence[Group], commuting: Sequence[Reduction] = ()
) -> list[set[int]]:
    """For each piece those that must not run before it."""
    alike = {access: k for k, each in enumerate(commuting) for u in each.updates for access in u.accesses}
    piece_of = _index_of(pieces)
    level = len(dependences.accesses.domains[loop].ivs) + 1
    edges: list[set[int]] = [set() for _ in pieces]
    inside = [a for a in dependences.compared if a.op in piece_of]
    for source in inside:
        for sink in inside:
            first, second = piece_of[source.op], piece_of[sink.op]
            if first == second or second in edges[first] or "write" not in (source.kind, sink.kind):
                continue
            if source in alike and alike[source] == alike.get(sink):
                continue
            depths = range(level, dependences.common(source, sink) + 2)
            if any(dependences.at(source, sink, depth) is not None for depth in depths):
                edges[first].add(second)
    return edges


def _groups(pieces: Sequence[Group], edges: Sequence[set[int]]) -> list[Group]:
    """The pieces that depend on each other in a cycle together, in an order that keeps all dependences."""
    after = [_reached(k, edges) for k in range(len(pieces))]
    cycles = sorted(
        {
            tuple(m for m in range(len(pieces)) if m == k or (m in after[k] and k in after[m]))
            for k in range(len(pieces))
        }
    )
    groups: list[Group] = []
    waiting = list(cycles)
    while waiting:
        ready = next(c for c in waiting if not any(c[0] in after[o[0]] for o in waiting if o is not c))
        waiting.remove(ready)
        groups.append(tuple(op for k in ready for op in pieces[k]))
    return groups


def _reached(start: int, edges: Sequence[set[int]]) -> set[int]:
    found: set[int] = set()
    waiting = [start]
    while waiting:
        new = edges[waiting.pop()] - found
        found |= new
        waiting.extend(new)
    return found


def _index_of(groups: Sequence[Group]) -> dict[Op, int]:
    """In which group each operation is, with those inside of its blocks."""
    return {inner: k for k, group in enumerate(groups) for op in group for inner in walk(op)}


def _time(dependences: Dependences, loop: affine.For | scf.For, groups: Sequence[Group]) -> Time:
    group_of = _index_of(groups)
    around = len(dependences.accesses.domains[loop].ivs)

    def time(access: Access) -> Sequence[Term]:
        return (group_of[access.op], *text_time(dependences, access, around)[1:])

    return time


def _loops(loop: affine.For | scf.For, groups: Sequence[Group]) -> Iterator[affine.For | scf.For]:
    for k, group in enumerate(groups):
        wanted = _with_needed(loop, group)
        if k == 0:
            yield with_fields(loop, body=wanted)
        else:
            counter = fresh(loop.iv)
            new: dict[Value, Term] = {loop.iv: counter}
            yield with_fields(loop, iv=counter, body=clone_block(wanted, new))


def _with_needed(loop: affine.For | scf.For, group: Group) -> Group:
    """The statements of a group, and what computes the numbers that they need."""
    makers: Mapping[Value, Op] = {value: op for op in loop.body for value in op.defines()}
    wanted: set[Op] = set()
    waiting = list(group)
    while waiting:
        op = waiting.pop()
        if op not in wanted:
            wanted.add(op)
            waiting += [makers[v] for inner in walk(op) for v in inner.mentions() if v in makers]
    return tuple(op for op in loop.body if op in wanted)
