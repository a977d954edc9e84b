"""Which loops may run their iterations in any order, and what prevents the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal, TypeAlias

from affdsl.frozen import Frozen
from affdsl.ir.core import Op
from affdsl.ir.debugging import asserted, why_in_order
from affdsl.ir.dialects import affine, func, scf
from affdsl.ir.expr import Value
from affdsl.ir.location import Location
from affdsl.ir.messages import in_language, op_name, shown
from affdsl.ir.traverse import walk
from affdsl.mlir.naming import numbered
from affdsl.passes.analysis.access import Access, on_one_grid
from affdsl.passes.analysis.dependence import Dependence, Dependences
from affdsl.passes.analysis.early_exits import by_break, early_loops
from affdsl.passes.analysis.effects import may_do_anything
from affdsl.passes.analysis.polyhedral import UnknownError, spending
from affdsl.passes.analysis.reduction import Reduction, Reductions, uncombined
from affdsl.passes.analysis.relations import at_depth, elements, map_from, same_element
from affdsl.passes.analysis.storage import Buffer
from affdsl.passes.analysis.summary import Summaries
from affdsl.shown import ShownAsText, html_table

Loop: TypeAlias = affine.For | affine.Parallel | scf.For | scf.Parallel
Verdict = Literal["parallel", "parallel with reductions", "parallel if privatized", "sequential", "unknown"]
HEAD = ("loop", "line", "verdict", "why")
MOST_SHOWN = 2
"""How many reasons a row of the table gives."""


class Parallelism(Frozen):
    """Whether the iterations of one loop may run in any order, those of the loops around it being the same.

    Attributes
    ----------
    iv, loop
        The induction variable, and the operation to which it belongs.
    depth
        How many loops stand around it.
    verdict
        - "parallel": in any order, also at once;
        - "parallel with reductions": in any order, if updates of the reduced numbers are atomic, or are made to copies
          that are combined in the end (see `needs_reassociation`);
        - "parallel if privatized": in any order, if also each iteration has its own copy of some arrays, of whose
          elements it reads none that it has not written; what is read after the loop must be what was written last;
        - "sequential": two iterations certainly depend on each other;
        - "unknown": they may.
    reductions
        What the iterations combine.
    privatized
        The arrays of which each iteration needs a copy.
    prevented_by
        The dependences between iterations because of which the loop is not parallel.
    reasons
        What else there is: numbers handed from one iteration to the next, and operations that may do anything.
    """

    iv: Value
    loop: Loop
    depth: int
    verdict: Verdict
    reductions: tuple[Reduction, ...] = ()
    privatized: tuple[Buffer, ...] = ()
    prevented_by: tuple[Dependence, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def is_parallel(self) -> bool:
        """Whether the iterations may run in any order as they are."""
        return self.verdict == "parallel"

    @property
    def needs_reassociation(self) -> bool:
        """Whether another order gives another rounding."""
        return any(r.needs_reassociation for r in self.reductions)

    @property
    def why(self) -> tuple[str, ...]:
        """What the verdict rests on, a few words each; none if the loop is just parallel."""
        against = (*map(_described, self.prevented_by), *self.reasons)
        return against or (
            *(f"each iteration needs its own {b.name}" for b in self.privatized),
            *map(str, self.reductions),
        )

    def __str__(self) -> str:
        return ": ".join((f"{shown(self.iv)} is {self.verdict}", *("; ".join(self.why),) * bool(self.why)))


class Loops(ShownAsText, tuple[Parallelism, ...]):
    """The verdicts on the loops of a function, in the order of the text. Printed they are a table."""

    __slots__ = ()

    def in_language(self) -> Loops:
        """The same in the words of who wrote a kernel."""
        return Loops(replace(each, reasons=tuple(map(in_language, each.reasons))) for each in self)

    def __str__(self) -> str:
        return table(self)

    def _repr_html_(self) -> str:
        names = _names(self)
        rows = [("  " * each.depth + names[each.iv], _line(_place(each)), each.verdict, _why(each)) for each in self]
        return html_table(HEAD, rows, code=(0,))


def parallelism(function: func.Func, module: func.Module | None = None) -> Loops:
    """The verdict on every loop of a function, in the order of the text; `module` shows what its calls do.

    >>> from affdsl.mlir.readers import parse
    >>> module = parse('''
    ... func.func @f(%A: memref<?x?xf32>, %n: index) {
    ...   affine.for %i = 1 to %n {
    ...     affine.for %j = 0 to %n {
    ...       %a = affine.load %A[%i - 1, %j] : memref<?x?xf32>
    ...       affine.store %a, %A[%i, %j] : memref<?x?xf32>
    ...     }
    ...   }
    ...   return
    ... }''')
    >>> print(*parallelism(module.functions[0]), sep="\\n")
    %i is sequential: flow of A from line 6 to line 5 at distance [1, 1][0, 0]
    %j is parallel
    """
    return of_loops(Dependences(function, module))


def of_loops(dependences: Dependences) -> Loops:
    """The verdict on every loop of the function whose dependences these are, in the order of the text."""
    reductions = Reductions(dependences)
    summaries = Summaries(dependences.accesses.module)
    return Loops(_of_loop(iv, loop, reductions, summaries) for loop, iv in _loops(dependences.accesses.function))


def of_loop(dependences: Dependences, iv: Value) -> Parallelism | None:
    """The verdict on one loop, which takes less time than that on all; None if the function has no such loop."""
    loop = next((each for each, own in _loops(dependences.accesses.function) if own is iv), None)
    return None if loop is None else _of_loop(iv, loop, Reductions(dependences), Summaries(dependences.accesses.module))


def first_in_the_way(dependences: Dependences, iv: Value) -> Dependence | None:
    """The first dependence found because of which a loop is not parallel: that takes less time than to find all.

    Those that may be part of a reduction are passed over. So None does not say that the loop is parallel.

    >>> from affdsl.mlir.readers import parse
    >>> (f,) = parse('''func.func @f(%A: memref<?xf32>, %n: index) {
    ...   affine.for %i = 1 to %n {
    ...     %a = affine.load %A[%i - 1] : memref<?xf32>
    ...     affine.store %a, %A[%i] : memref<?xf32>
    ...   }
    ...   return
    ... }''').functions
    >>> print(first_in_the_way(Dependences(f), f.body[0].iv))
    flow dependence of A at depth 1: [1, 1]
    """
    groups = {a: (u.store.buffer, u.kind) for u in Reductions(dependences).updates for a in u.accesses}
    for each in dependences.carried_by(iv):
        group = groups.get(each.source)
        if group is None or groups.get(each.sink) != group:
            return each
    return None


def table(found: Iterable[Parallelism]) -> str:
    """The verdicts for people: a row for each loop, those inside of another one below it.

    >>> from affdsl.mlir.readers import parse
    >>> module = parse('''
    ... func.func @f(%A: memref<?xi32>, %s: memref<i32>, %n: index) {
    ...   affine.for %i = 0 to %n {
    ...     %a = affine.load %A[%i] : memref<?xi32>
    ...     %b = affine.load %s[] : memref<i32>
    ...     %c = arith.addi %a, %b : i32
    ...     affine.store %c, %s[] : memref<i32>
    ...   }
    ...   return
    ... }''')
    >>> print(table(parallelism(module.functions[0])))
    loop  line  verdict                   why
    i     3     parallel with reductions  addi of s
    """
    found = [*found]
    names = _names(found)
    own = [("  " * each.depth + names[each.iv], _line(_place(each)), each.verdict, _why(each)) for each in found]
    rows = [HEAD, *own]
    widths = [max(len(row[k]) for row in rows) for k in range(3)]
    return "\n".join("  ".join((*map(str.ljust, row, widths), row[3])).rstrip() for row in rows)


def _names(found: Iterable[Parallelism]) -> dict[Value, str]:
    """What loops are called: as in the source, and `i#1` and `i#2` where there are two."""
    ivs = [each.iv for each in found]
    return dict(zip(ivs, numbered([shown(iv).removeprefix("%") for iv in ivs]), strict=True))


def _why(of: Parallelism) -> str:
    """The first reasons, and how many more there are."""
    more = len(of.why) - MOST_SHOWN
    return "; ".join((*of.why[:MOST_SHOWN], *[f"and {more} more"] * (more > 0)))


def _loops(root: Op) -> Iterator[tuple[Loop, Value]]:
    for op in walk(root):
        match op:
            case affine.For() | scf.For():
                yield op, op.iv
            case affine.Parallel() | scf.Parallel():
                yield from ((op, iv) for iv in op.ivs)


def _of_loop(iv: Value, loop: Loop, reductions: Reductions, summaries: Summaries) -> Parallelism:
    dependences = reductions.dependences
    in_memory, rest = reductions.in_memory(iv)
    through_values, recurrences = _values(loop, reductions)
    barriers = tuple(dict.fromkeys(_barriers(loop, summaries)))
    rest = tuple(d for d in rest if asserted(d.source.op) is None and asserted(d.sink.op) is None)
    found = (*through_values, *in_memory)
    privatized: tuple[Buffer, ...] = ()
    if not recurrences and not barriers:
        privatized, rest = _without_private(iv, rest, dependences)
    verdict: Verdict
    if recurrences or any(d.is_exact for d in rest):
        verdict = "sequential"
    elif rest or barriers:
        verdict = "unknown"
    elif privatized:
        verdict = "parallel if privatized"
    else:
        verdict = "parallel with reductions" if found else "parallel"
    around = dependences.accesses.domains[loop].ivs
    depth = len(around) + (loop.ivs.index(iv) if isinstance(loop, affine.Parallel | scf.Parallel) else 0)
    return Parallelism(iv, loop, depth, verdict, found, privatized, rest, (*recurrences, *barriers))


def _values(loop: Loop, reductions: Reductions) -> tuple[tuple[Reduction, ...], tuple[str, ...]]:
    """The reductions of what a loop carries or gives, and why the rest is none."""
    found: list[Reduction] = []
    recurrences: list[str] = []
    function = reductions.dependences.accesses.function
    left = early_loops(loop, function).get(loop) if isinstance(loop, affine.For | scf.For) else None
    for position, result in enumerate(loop.results):
        if isinstance(loop, affine.For | scf.For):
            if position == left:
                recurrences.append(f"it ends early, by {by_break(loop, function)}")
                continue
            if reductions.is_invariant(loop, position):
                continue
            reduction = reductions.carried(loop, position)
            reason = f"{shown(loop.carried[position])} of one iteration is used in the next, {uncombined(result)}"
        else:
            reduction = reductions.declared(loop, position)
            reason = f"{shown(result)} depends on the order of the iterations"
        if reduction is None:
            recurrences.append(reason)
        else:
            found.append(reduction)
    return tuple(found), tuple(recurrences)


def _barriers(loop: Loop, summaries: Summaries) -> Iterator[str]:
    """Operations of which not even the accesses are known, and assertions: they do what shows outside of memory."""
    for op in walk(loop):
        if isinstance(op, func.Call):
            if summaries.of(op.callee).anything:
                yield f"@{op.callee} may do anything"
        elif asserted(op) is not None or may_do_anything(op):
            yield why_in_order(op, loop) or f"{op_name(op)} may do anything"


def _without_private(
    iv: Value, carried: tuple[Dependence, ...], dependences: Dependences
) -> tuple[tuple[Buffer, ...], tuple[Dependence, ...]]:
    """The buffers of which each iteration may have a copy, if that leaves none of the dependences; and what is left."""
    buffers = tuple(dict.fromkeys(d.source.buffer for d in carried))
    if all(_is_private(iv, buffer, dependences) for buffer in buffers):
        return buffers, ()
    return (), carried


def _is_private(iv: Value, buffer: Buffer, dependences: Dependences) -> bool:
    """Whether all that an iteration reads of a buffer it has certainly written before."""
    storage = dependences.accesses.storage
    inside = [a for a in dependences.compared if iv in a.ivs and storage.may_alias(a.buffer, buffer)]
    if any(a.buffer is not buffer for a in inside):
        return False
    inside = [*on_one_grid(inside)]
    if not all(a.is_exact for a in inside):
        return False
    writes = [a for a in inside if a.kind == "write"]
    try:
        with spending(dependences.budget):
            return all(_is_written_before(a, writes, iv, dependences) for a in inside if a.kind == "read")
    except UnknownError:
        return False


def _is_written_before(read: Access, writes: Iterable[Access], iv: Value, dependences: Dependences) -> bool:
    """Whether every element that an access reads was written in the same iteration of a loop."""
    missing = map_from(read.relation)
    level = read.ivs.index(iv) + 1
    for write in writes:
        common = dependences.common(write, read)
        meeting = same_element(write.relation, read.relation)
        for depth in range(level + 1, common + 2):
            if depth == common + 1 and write.order >= read.order:
                continue
            pairs = at_depth(meeting, depth, common)
            missing = missing.subtract(elements(write.relation, read.relation, pairs).domain_factor_range())
    return bool(missing.is_empty())


def _described(dependence: Dependence) -> str:
    vector = "".join(map(str, dependence.distances))
    start, end = _line(dependence.source.location), _line(dependence.sink.location)
    lines = f" from line {start} to line {end}" if start and end else ""
    unknown = f", if any: {dependence.unknown[0]}" if dependence.unknown else ""
    return f"{dependence.kind} of {dependence.source.buffer.name}{lines} at distance {vector}{unknown}"


def _place(of: Parallelism) -> Location | None:
    return of.loop.location or of.iv.location


def _line(location: Location | None) -> str:
    return "" if location is None else str(location.line)
