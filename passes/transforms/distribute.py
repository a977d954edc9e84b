"""Splits a loop into loops over its statements, one after the other (loop fission)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func, scf
from affdsl.ir.expr import Term, Value
from affdsl.ir.traverse import clone_block, fresh, walk, with_fields
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.alike import by_subscripts, grouped
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.effects import is_pure
from affdsl.passes.analysis.graph import circles_in_order
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
    joined: dict[Op, Op] = {}  # towards the statement that stands for all of its piece

    def first_of(op: Op) -> Op:
        while joined[op] is not op:
            joined[op] = op = joined[joined[op]]
        return op

    needs: dict[Value, set[Op]] = {}
    barrier: Op | None = None
    for op in loop.body:
        used = {maker for inner in walk(op) for value in inner.mentions() for maker in needs.get(value, ())}
        if _is_free(op):
            found = used
        else:
            if any(is_barrier(inner, summaries) for inner in walk(op)):
                used |= {barrier} if barrier is not None else set()
                barrier = op
            found = {op}
            joined[op] = op
            for each in used:
                joined[first_of(each)] = op
        found = {first_of(each) for each in found}
        needs.update((value, found) for value in op.defines())
    # A free operation that reads two statements ties nothing; what reads it has tied them.
    pieces: dict[Op, list[Op]] = {}
    for op in loop.body:
        if op in joined:
            pieces.setdefault(first_of(op), []).append(op)
    return [tuple(each) for each in pieces.values()]


def _edges(
    dependences: Dependences, loop: affine.For | scf.For, pieces: Sequence[Group], commuting: Sequence[Reduction] = ()
) -> list[set[int]]:
    """For each piece those that must not run before it; not those that others of these keep behind it anyway."""
    combined = {access: k for k, each in enumerate(commuting) for u in each.updates for access in u.accesses}
    piece_of = _index_of(pieces)
    level = len(dependences.accesses.domains[loop].ivs) + 1
    edges: list[set[int]] = [set() for _ in pieces]
    reached = [1 << k for k in range(len(pieces))]  # with bits for the pieces behind each one, as far as is known
    inside = [a for a in dependences.compared if a.op in piece_of]
    kinds = [_Kind(each, piece_of) for each in grouped(inside, lambda a: (by_subscripts(a), combined.get(a)))]
    kind_of = {access: kind for kind in kinds for access in kind.accesses}

    @cache
    def questions(source: _Kind) -> list[tuple[_Kind, bool]]:
        """The kinds of sinks, with whether only those behind the source in the text are asked."""
        found: list[tuple[_Kind, bool]] = []
        for sink in kinds:
            a, b = source.accesses[0], sink.accesses[0]
            common = dependences.common(a, b)
            is_one = a in combined and combined[a] == combined.get(b)
            if not is_one and not dependences.never_meet(a, b, range(level, common + 2)):
                found.append((sink, dependences.never_meet(a, b, range(level, common + 1))))
        return found

    def depends(source: Access, sink: Access) -> bool:
        depths = range(level, dependences.common(source, sink) + 2)
        return any(dependences.at(source, sink, depth) is not None for depth in depths)

    for source in reversed(inside):
        first = piece_of[source.op]
        for kind, is_behind in questions(kind_of[source]):
            asked = kind.behind if is_behind else kind.anywhere
            while asked := asked & ~reached[first]:
                second = (asked & -asked).bit_length() - 1
                asked ^= 1 << second
                if any(depends(source, sink) for sink in kind.of_piece[second]):
                    edges[first].add(second)
                    reached[first] |= reached[second]
        kind_of[source].behind |= 1 << first
    return edges


class _Kind:
    """Accesses that are alike, by the pieces that they are of: sets of pieces are numbers, a bit for each."""

    def __init__(self, accesses: Sequence[Access], piece_of: Mapping[Op, int]) -> None:
        self.accesses = accesses
        self.of_piece: dict[int, list[Access]] = {}
        for access in accesses:
            self.of_piece.setdefault(piece_of[access.op], []).append(access)
        self.anywhere = sum(1 << piece for piece in self.of_piece)
        self.behind = 0
        """Of those, the ones behind what is looked at."""


def _groups(pieces: Sequence[Group], edges: Sequence[Collection[int]]) -> list[Group]:
    """The pieces that depend on each other in a cycle together, in an order that keeps all dependences."""
    return [tuple(op for k in circle for op in pieces[k]) for circle in circles_in_order(edges)]


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
