"""What isl's scheduler finds for the statements of a loop: bands of loops that may be tiled, and which are parallel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from affdsl.frozen import Frozen
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Affine, Value
from affdsl.ir.messages import op_name, shown
from affdsl.ir.spelling import spell
from affdsl.ir.traverse import walk
from affdsl.passes.analysis.access import Access, met
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.effects import is_pure, may_do_anything
from affdsl.passes.analysis.isl_scheduler import rows_of, scheduled, statements_of
from affdsl.passes.analysis.polyhedral import Dim, Map, Orders, Set, UnknownError, kind_of, spending
from affdsl.passes.analysis.relations import at_depth, domain_of, same_element

BUDGET = 2_000_000
"""How many operations isl may spend on one schedule: some tenths of a second."""
LARGEST = 8
"""The largest coefficient and constant of a row: an order with larger ones is not taken."""
MOST_STATEMENTS = 6
MOST_ACCESSES = 40
"""For more than so many isl is not asked: what it needs grows with their squares, and faster."""
MOST_PARTS = 60
"""isl is not asked about pairs of iterations in so many conjunctions either: orders that steps can take came of 18 at
most."""


class UnscheduledError(Exception):
    """isl cannot be asked, or finds nothing; the text says why, as the end of a sentence."""


class Statement(Frozen):
    """Operations of one block that use each other's values, other than loops.

    Attributes
    ----------
    ops
        Those that touch memory, in the order of the text.
    ivs
        The induction variables around, outermost first, from the loop on that isl was asked about.
    """

    ops: tuple[Op, ...]
    ivs: tuple[Value, ...]


class Row(Frozen):
    """One loop of a band: when an iteration of each statement runs, over the counters of its loops."""

    times: Mapping[Statement, Affine]
    is_parallel: bool
    """Whether iterations that this row tells apart wait for each other nowhere, those of rows before it being equal."""

    def __str__(self) -> str:
        return ", ".join(dict.fromkeys(map(spell, self.times.values()))) + " (parallel)" * self.is_parallel


class Band(Frozen):
    """Loops in the order of which all dependences are kept; if it is permutable, in any order of these loops."""

    rows: tuple[Row, ...]
    is_permutable: bool
    inside: Band | Parts | None

    def __str__(self) -> str:
        *others, last = map(str, self.rows)
        said = f"loops {', '.join(others)} and {last}" if others else f"loop {last}"
        if others and self.is_permutable:
            said += ", which may be tiled"
        return said if self.inside is None else f"{said}, and inside {self.inside}"


class Parts(Frozen):
    """Statements that run one after the other, each group with loops of its own."""

    groups: tuple[tuple[tuple[Statement, ...], Band | Parts | None], ...]

    def __str__(self) -> str:
        if all(inside is None for _, inside in self.groups):
            return "its statements in turn"
        said = (str(inside) if inside else "a statement" for _, inside in self.groups)
        return f"statements apart ({'; '.join(said)})"


def schedule_of(dependences: Dependences, loop: affine.For) -> Band | Parts:
    """The order that isl finds for the statements of a loop, those of the loops around it being in one iteration.

    All dependences count, exactly as the analysis has them; those of which it does not know count, too. Raises
    UnscheduledError.

    References
    ----------
    Verdoolaege and Janssens, "Scheduling for PPCG", 2017.

    >>> from affdsl.mlir.readers import parse
    >>> (f,) = parse('''func.func @f(%A: memref<?x?xf32>, %n: index) {
    ...   affine.for %i = 1 to %n { affine.for %j = 1 to %n {
    ...     %a = affine.load %A[%i - 1, %j + 1] : memref<?x?xf32>
    ...     %b = affine.load %A[%i, %j - 1] : memref<?x?xf32>
    ...     %c = arith.addf %a, %b : f32
    ...     affine.store %c, %A[%i, %j] : memref<?x?xf32>
    ...   } }
    ...   return
    ... }''').functions
    >>> print(schedule_of(Dependences(f), f.body[0]))
    loops i and i + j, which may be tiled
    """
    order = dependences.accesses.order
    statements = tuple(sorted(_statements(loop, ()), key=lambda each: order[each.ops[0]]))
    inside = {op for each in statements for outer in each.ops for op in walk(outer)}
    accesses = [a for a in dependences.accesses.all if a.op in inside]
    _require_known(loop, dependences, statements, accesses)
    domains = [dependences.accesses.domains[each.ops[0]].relation(()) for each in statements]
    around = len(dependences.accesses.domains[loop].ivs)
    edges = _edges(dependences, statements, accesses, around)
    params = tuple(dict.fromkeys(v for each in domains for v in each.params))
    try:
        with spending(BUDGET):
            sets = [_inside(domain_of(each), around) for each in domains]
            root = scheduled(sets, _pairs(edges, around), MOST_PARTS)
            found = _read(root.child(0), statements, params)
    except UnknownError as error:
        why = str(error).partition(" in /")[0].rpartition("failed: ")  # not where in isl's source that is said
        raise UnscheduledError(f"isl's scheduler finds no order: {why[2]}") from None
    if found is None:
        raise UnscheduledError("isl's scheduler finds no order: each statement runs once at most")
    return found


def _statements(loop: affine.For, around: tuple[Value, ...]) -> Iterator[Statement]:
    """The statements of a loop, in the order of the text. Raises UnscheduledError."""
    ivs = (*around, loop.iv)
    if loop.results:
        raise UnscheduledError(f"loop {shown(loop.iv)} carries values from each iteration to the next")
    for op in loop.body:
        if isinstance(op, affine.For):
            yield from _statements(op, ivs)
        elif any(isinstance(each, affine.For) or may_do_anything(each) for each in walk(op)):
            raise UnscheduledError(f"isl's scheduler is not asked about {op_name(op)}")
    yield from (Statement(ops, ivs) for ops in _groups(loop.body))


def _groups(block: Block) -> list[tuple[Op, ...]]:
    """The operations of a block that touch memory, other than loops: those together that use each other's values."""
    needs = _needs(block)
    used = {op for op in needs if not is_pure(op)}
    for op in reversed(needs):
        if op in used:
            used.update(needs[op])
    group_of: dict[Op, list[Op]] = {}
    for op in needs:
        if op not in used:  # what nobody uses ties nothing together
            continue
        groups = {id(group_of[maker]): group_of[maker] for maker in needs[op]}
        largest, *others = sorted(groups.values(), key=len, reverse=True) or [[]]
        for moved in (*others, [op]):
            largest += moved
            group_of.update(dict.fromkeys(moved, largest))
    order = {op: k for k, op in enumerate(block)}
    distinct = {id(group): group for group in group_of.values()}.values()
    found = (sorted((op for op in group if not is_pure(op)), key=order.__getitem__) for group in distinct)
    return sorted(map(tuple, found), key=lambda group: order[group[0]])


def _needs(block: Block) -> dict[Op, list[Op]]:
    """Which operations of a block, other than loops, touch memory or use values of such, and which of these each uses.

    Those that are made of constants and counters alone tie nothing together, and are left out.
    """
    needs: dict[Op, list[Op]] = {}
    makers: dict[Value, Op] = {}
    for op in block:
        if isinstance(op, affine.For) or op.is_terminator:
            continue
        found = [makers[v] for inner in walk(op) for v in inner.mentions() if v in makers]
        if found or not is_pure(op):
            needs[op] = found
            makers.update(dict.fromkeys(op.defines(), op))
    return needs


def _require_known(
    loop: affine.For, dependences: Dependences, statements: Sequence[Statement], accesses: Sequence[Access]
) -> None:
    """Raise UnscheduledError where isl would not know enough, or need too long."""
    if not statements:
        raise UnscheduledError("nothing in it touches memory")
    if len(statements) > MOST_STATEMENTS or len(accesses) > MOST_ACCESSES:
        count = f"{len(statements)} statements with {len(accesses)} accesses"
        raise UnscheduledError(f"isl's scheduler is not asked about {count}")
    blocks = [loop, *(op for op in walk(loop) if isinstance(op, affine.For))]
    for block in blocks:
        own = _from_memory(block.body)
        inner = (op for op in block.body if isinstance(op, affine.For))
        if any(v in own for each in inner for op in walk(each) for v in op.mentions()):
            raise UnscheduledError("a loop uses a number that is made beside it")
    for one, other in combinations(dict.fromkeys(a.buffer for a in accesses), 2):
        if dependences.accesses.storage.may_alias(one, other):
            raise UnscheduledError(f"{one.name} and {other.name} may be one buffer")


def _from_memory(block: Block) -> set[Value]:
    """The values that operations of a block make, other than loops, of what is in memory."""
    found: set[Value] = set()
    for op in block:
        if isinstance(op, affine.For):
            continue
        if not is_pure(op) or any(v in found for inner in walk(op) for v in inner.mentions()):
            found.update(op.defines())
    return found


_Edge = tuple[int, Access, Access, int, int, int]
"""Statement, source, sink, depth, common loops, statement."""


def _edges(
    dependences: Dependences, statements: Sequence[Statement], accesses: Sequence[Access], around: int
) -> list[_Edge]:
    """Which accesses depend on which, at which depths, the loops around all statements being in one iteration."""
    of = {op: k for k, each in enumerate(statements) for outer in each.ops for op in walk(outer)}
    found: list[_Edge] = []
    for source in accesses:
        for sink in accesses:
            if "write" not in (source.kind, sink.kind) or source.buffer is not sink.buffer:
                continue
            start, common, end = of[source.op], dependences.common(source, sink), of[sink.op]
            for depth in dependences.depths(source, sink, around + 1):
                if start != end or depth <= common:  # a statement does not wait for itself
                    found.append((start, *met(source, sink), depth, common, end))
    return found


def _pairs(edges: Sequence[_Edge], around: int) -> Iterator[tuple[int, Map, int]]:
    """The iterations that depend on each other."""
    for start, source, sink, depth, common, end in edges:
        pairs = at_depth(same_element(source.relation, sink.relation), depth, common)
        pairs = pairs.project_out(Dim.out, 0, around)
        if around:
            place = pairs.dim(Dim.param)
            pairs = pairs.move_dims(Dim.param, place, Dim.in_, 0, around)
            for k in range(around):
                pairs = pairs.set_dim_name(Dim.param, place + k, f"around{k}")
        yield start, pairs, end


def _inside(points: Set, around: int) -> Set:
    """The iterations of the loops inside of those around, whose counters are parameters."""
    if around:
        place = points.dim(Dim.param)
        points = points.move_dims(Dim.param, place, Dim.set, 0, around)
        for k in range(around):
            points = points.set_dim_name(Dim.param, place + k, f"around{k}")
    return points


def _read(node: Orders, statements: Sequence[Statement], params: Sequence[Value]) -> Band | Parts | None:
    """What a part of isl's tree says; None for a leaf. Raises UnscheduledError for rows that are no plain sums."""
    match kind_of(node):
        case "leaf":
            return None
        case "filter":
            return _read(node.child(0), statements, params)
        case "sequence" | "set":
            parts = [node.child(k) for k in range(node.n_children())]
            groups = (([statements[k] for k in statements_of(each)], each) for each in parts)
            return Parts(tuple((tuple(group), _read(each, statements, params)) for group, each in groups))
        case "band":
            rows: list[Row] = []
            for k, times in enumerate(rows_of(node, [each.ivs for each in statements], params)):
                exprs = {statements[s]: e for s, e in times.items() if e is not None}
                if len(exprs) < len(times):
                    raise UnscheduledError("the order that isl finds for it is no sum of counters")
                if any(abs(n) > LARGEST for e in exprs.values() for n in (e.constant, *(c for _, c in e.terms))):
                    raise UnscheduledError(f"the order that isl finds for it has numbers above {LARGEST}")
                rows.append(Row(exprs, bool(node.band_member_get_coincident(k))))
            is_permutable = bool(node.band_get_permutable())
            return Band(tuple(rows), is_permutable, _read(node.child(0), statements, params))
        case kind:
            raise AssertionError(f"isl's schedules have no part of kind {kind}, where nothing asks for one")
