"""Values as sums, or products and the like, whose terms may be combined in any order: those of loops and bands.

for k in 0 .. n: s = s + t(k), from s = a        is    a + t(0) + ... + t(n - 1)
parallel k in 0 .. n reduce (+): t(k)            is        t(0) + ... + t(n - 1)
"""

from __future__ import annotations

from collections.abc import Iterator
from math import copysign

from affdsl.frozen import Frozen
from affdsl.ir.blocks import yielded
from affdsl.ir.dialects import affine, arith
from affdsl.ir.expr import Affine, Value
from affdsl.passes.analysis.polyhedral import Dim, Map, UnknownError, spending
from affdsl.passes.analysis.reduction import DECLARED, ROUNDED
from affdsl.passes.proof.dataflow import BUDGET, Dataflow

NEUTRAL: dict[str, float] = {"addi": 0, "addf": -0.0, "muli": 1, "mulf": 1.0, "ori": 0, "xori": 0, "andi": -1}
"""What changes nothing where it is one of the terms."""
KINDS = frozenset(DECLARED.values())
MOST_TERMS = 500
"""A sum of more terms is not compared: x + x + ..., written as a loop that doubles, has two to the power of its length.
"""


class Term(Frozen):
    """A value for each iteration of some loops, or one where there are none.

    Attributes
    ----------
    value
        What is combined.
    iterations
        From the instances of the sum to the iterations in which the value is a term.
    positions
        From these to how many iterations come before in each of the loops.
    """

    value: Value
    iterations: Map
    positions: Map


class Sum(Frozen):
    """What combines to a value, and whether the program itself leaves the order open."""

    kind: str
    terms: tuple[Term, ...]
    is_open: bool

    @property
    def rounds(self) -> bool:
        """Whether another order gives another result."""
        return self.kind in ROUNDED


def sum_of(of: Dataflow, value: Value, *, reassociated: bool = False) -> Sum | None:
    """A value as a sum of more than it says itself; None if it is none. Raises UnknownError.

    reassociated
        Whether sums that round may be taken apart wherever they are sums, not only where a loop or band makes them.
    """
    kind = _kind(of, value)
    if kind is None:
        return None
    found = [*_terms(of, kind, value, ())] if reassociated or kind not in ROUNDED else _made(of, kind, value)
    if not found:
        return None
    is_open = any(isinstance(op, affine.Parallel) for _, around in found for op in around)
    terms = [_term(of, value, v, around) for v, around in found if not _is_neutral(of, kind, v)]
    return Sum(kind, tuple(sorted(terms, key=lambda term: str(of.form(term.value)))), is_open)


def matched(pairs: Map, a: Term, b: Term) -> Map:
    """The pairs of iterations in which two terms stand at one position, in some pairs of instances of their sums.

    Raises UnknownError unless each iteration has its partner there.
    """
    ours = pairs.domain_map().apply_range(a.iterations)
    theirs = pairs.range_map().apply_range(b.iterations)
    if a.positions.dim(Dim.out) != b.positions.dim(Dim.out):
        raise UnknownError("a sum is made by other loops")
    if not ours.apply_range(a.positions).is_equal(theirs.apply_range(b.positions)):
        raise UnknownError("a sum has terms in other iterations")
    at_once = ours.range_product(theirs).range().unwrap()
    return at_once.intersect(a.positions.apply_range(b.positions.reverse()))


Loops = tuple[affine.For | affine.Parallel, ...]


def _kind(of: Dataflow, value: Value) -> str | None:
    """How a value is combined, if it is."""
    match of.maker(value):
        case arith.Binary(kind=kind) if kind in KINDS:
            return kind
        case affine.Parallel() as op if value in op.results:
            return DECLARED.get(op.reductions[op.results.index(value)])
        case affine.For() as op if value in op.results:
            last = yielded(op.body)
            return _kind(of, last[op.results.index(value)]) if last else None
    return None


def _terms(of: Dataflow, kind: str, value: Value, around: Loops) -> Iterator[tuple[Value, Loops]]:
    """What is combined to a value, each with the loops of the sum around it."""
    waiting, count = [value], 0
    while waiting:
        match of.maker(waiting[-1]):
            case arith.Binary(kind=k, left=left, right=right) if k == kind:
                waiting[-1:] = (right, left)
            case _:
                for term in _terms_of_loop(of, kind, waiting.pop(), around):
                    count += 1
                    if count > MOST_TERMS:
                        raise UnknownError(f"a sum has more than {MOST_TERMS} terms")
                    yield term


def _terms_of_loop(of: Dataflow, kind: str, value: Value, around: Loops) -> Iterator[tuple[Value, Loops]]:
    """What a loop combines to a value; a value that no loop makes is a term itself."""
    match of.maker(value):
        case affine.Parallel() as op if value in op.results and _kind(of, value) == kind:
            yield from _terms(of, kind, yielded(op.body)[op.results.index(value)], (*around, op))
            return
        case affine.For() as op if value in op.results and (last := yielded(op.body)):
            place = op.results.index(value)
            inside = [*_terms(of, kind, last[place], (*around, op))]
            start = [t for t in inside if t == (op.carried[place], (*around, op))]
            if len(start) == 1:  # what it had is combined with the rest, once
                yield from _terms(of, kind, op.inits[place], around)
                yield from (t for t in inside if t is not start[0])
                return
    yield value, around


def _made(of: Dataflow, kind: str, value: Value) -> list[tuple[Value, Loops]]:
    """What the band or the loop that makes a value combines to it, each as it is; nothing if it combines nothing."""
    match of.maker(value):
        case affine.Parallel() as op if value in op.results:
            return [(yielded(op.body)[op.results.index(value)], (op,))]
        case affine.For() as op if value in op.results:
            place = op.results.index(value)
            added = _added(of, kind, yielded(op.body)[place], op.carried[place], (op,))
            return [] if added is None else [(op.inits[place], ()), *added]
    return []


def _added(of: Dataflow, kind: str, value: Value, start: Value, around: Loops) -> list[tuple[Value, Loops]] | None:
    """What is combined with `start` to a value, one after the other; None if it is made in another way."""
    added_behind: dict[Value, tuple[Value, Value] | None] = {}
    waiting: list[tuple[Value, tuple[Value, Value] | None]] = [(value, None)]
    while waiting:
        each, behind = waiting.pop()
        if each in added_behind:
            continue
        added_behind[each] = behind
        found: list[tuple[Value, Loops]] | None = [] if each is start else None
        match of.maker(each):
            case _ if found is not None:
                pass
            case arith.Binary(kind=k, left=left, right=right) if k == kind:
                waiting += ((right, (each, left)), (left, (each, right)))
            case affine.For() as op if each in op.results:
                place = op.results.index(each)
                first = _added(of, kind, op.inits[place], start, around)
                rest = _added(of, kind, yielded(op.body)[place], op.carried[place], (*around, op))
                found = [*first, *rest] if first is not None and rest is not None else None
        if found is not None:
            while behind is not None:
                found.append((behind[1], around))
                behind = added_behind[behind[0]]
            return found
    return None


def _term(of: Dataflow, whole: Value, value: Value, around: Loops) -> Term:
    domain = of.around(whole)
    outer = len(domain.ivs)
    positions: list[Affine] = []
    for op in around:
        if of.accesses.domains[op].ivs != domain.ivs:
            raise UnknownError("a loop of a sum stands elsewhere")
        domain = of.body(op)
        ivs = (op.iv,) if isinstance(op, affine.For) else op.ivs
        lowers = (op.lower,) if isinstance(op, affine.For) else op.lower
        steps = (op.step,) if isinstance(op, affine.For) else op.steps
        for iv, lower, step in zip(ivs, lowers, steps, strict=True):
            if len(lower) != 1:
                raise UnknownError("where a loop of a sum begins is not known")
            positions.append((iv - lower[0]) // step)
    exprs, inside = of.scope.exprs(positions, domain)
    if inside.unknown:
        raise UnknownError(inside.unknown[0])
    with spending(BUDGET):
        points = of.points(domain)
        iterations = points.identity().project_out(Dim.in_, outer, len(domain.ivs) - outer)
        return Term(value, iterations, of.number_map(inside, exprs))


def _is_neutral(of: Dataflow, kind: str, value: Value) -> bool:
    """Whether a term is what such sums start with anyway; 0.0 is not: a sum of nothing is -0.0."""
    maker = of.maker(value)
    if not isinstance(maker, arith.Constant) or kind not in NEUTRAL or maker.value != NEUTRAL[kind]:
        return False
    return not isinstance(maker.value, float) or copysign(1.0, maker.value) == copysign(1.0, NEUTRAL[kind])
