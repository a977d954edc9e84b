"""Loops whose iterations wait for each other, of which gcc makes vectors all the same: wrong ones, or slow ones.

Wrong are some where each iteration loads and stores several integers of one array, at places that do not move with it:
the quirk `integers_handed_on`. Without its vectorizer of loops gcc is right; what the vectorizer takes wrong is not
known. Slow are sums of floats in the order of the text, the quirk `sums_in_order`: products become vectors, whose lanes
are then taken out one by one and added. Wrong is a sum under a condition that is -0.0, and to which nothing is added:
the quirk `sums_under_conditions`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product, takewhile

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, memref, scf
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Value
from affdsl.ir.traverse import subscripts, walk
from affdsl.ir.types import FloatType, IndexType, IntegerType, Type

_Element = tuple[Value, tuple[object, ...]]
_LOADS = (affine.Load, memref.Load)
_STORES = (affine.Store, memref.Store)
_ACCESSES = (*_LOADS, *_STORES)
_ADDITIONS = ("addf", "subf")
_EXTREMES = ("maximumf", "minimumf", "maxnumf", "minnumf")
_QUICK = (*_ADDITIONS, "mulf")
_AROUND = (*_ACCESSES, affine.Apply, affine.Yield, scf.Yield, arith.Constant)
MOST_OPERATIONS = 5
"""How many operations beside each sum scalars do while an addition waits for the one before it."""
SHORT, LONGEST, STRAIGHT = 16, 32, 200
"""Sums of so few terms in one loop, and in all loops that they run over, are unrolled as a whole by gcc, if that is no
more than so many operations: it then has vectors of the loop around, whose lanes are sums of their own."""
NEAR = 4
"""So many elements are between those of two iterations at most: farther ones, as in columns, are left to compilers."""


def hands_on_integers(loop: affine.For | scf.For) -> bool:
    """Whether a loop without others inside loads and stores several integers of one array, always the same ones.

    >>> from affdsl.mlir.readers import parse
    >>> loop = parse('''func.func @f(%A: memref<4xi32>, %x: i32) {
    ...   affine.for %i = 0 to 8 {
    ...     %a = affine.load %A[0] : memref<4xi32>
    ...     %b = affine.load %A[1] : memref<4xi32>
    ...     affine.store %b, %A[0] : memref<4xi32>
    ...     affine.store %a, %A[1] : memref<4xi32>
    ...   }
    ...   return
    ... }''').functions[0].body[0]
    >>> hands_on_integers(loop)
    True
    """
    inside = [op for each in loop.body for op in walk(each)]
    if any(isinstance(op, affine.For | scf.For | scf.While | affine.Parallel | scf.Parallel) for op in inside):
        return False
    made = {loop.iv, *loop.carried, *(v for op in inside for v in op.defines())}
    loaded, stored = set[_Element](), set[_Element]()
    for op, element in _still(inside, made):
        (stored if isinstance(op, _STORES) else loaded).add(element)
    return any(count > 1 for count in Counter(array for array, _ in loaded & stored).values())


def sums_floats_up(loop: affine.For | scf.For) -> bool:
    """Whether a loop sums floats up along rows, in few operations for each sum, and at most stores floats beside.

    Conditions may choose what is added, but not among sums. Divisions and functions are left to vectors: these take
    longer than to wait for the sums. Where the loop goes from row to row, compilers may have vectors of one around it.

    >>> from affdsl.mlir.readers import parse
    >>> loop = parse('''func.func @dot(%x: memref<9xf32>, %y: memref<9xf32>, %start: f32) -> f32 {
    ...   %total = affine.for %i = 0 to 9 iter_args(%sum = %start) -> (f32) {
    ...     %a = affine.load %x[%i] : memref<9xf32>
    ...     %b = affine.load %y[%i] : memref<9xf32>
    ...     %product = arith.mulf %a, %b : f32
    ...     %next = arith.addf %sum, %product : f32
    ...     affine.yield %next : f32
    ...   }
    ...   return %total : f32
    ... }''').functions[0].body[0]
    >>> sums_floats_up(loop)
    True
    """
    made = {loop.iv, *loop.carried, *(v for op in loop.body for v in op.defines())}
    sums, additions, operations = sum(_is_float(v.type) for v in loop.carried), 0, 0
    handed_on = {*loop.carried}
    for op in loop.body:
        if isinstance(op, arith.Binary) and op.kind in _QUICK and _is_float(op.result.type):
            operations += 1
            additions += op.kind in _ADDITIONS
            handed_on.update(op.defines() if op.left in handed_on or op.right in handed_on else ())
        elif _chooses(op) and handed_on.isdisjoint(op.reads()):
            operations += 1
        elif not isinstance(op, _AROUND) or not _is_along_rows(op, loop.iv, made):
            return False
        elif isinstance(op, _LOADS) and made.isdisjoint(_says(op)):
            handed_on.add(op.result)
        elif isinstance(op, _STORES):
            is_sum = made.isdisjoint(_says(op))
            if not _is_float(op.value.type) or (is_sum and op.value not in handed_on):
                return False
            sums += is_sum
        elif op.is_terminator and not handed_on.issuperset(op.reads()):
            return False
    return 0 < sums <= additions and operations <= (1 + MOST_OPERATIONS) * sums


def is_short_sum(loop: affine.For | scf.For, around: Sequence[Op]) -> bool:
    """Whether a loop makes sums of few terms, whose number is known, from the first to the last one.

    Parameters
    ----------
    around
        What stands around the loop, from outside to inside.

    >>> from affdsl.mlir.readers import parse
    >>> rows = parse('''func.func @rows(%x: memref<?x3xf32>, %y: memref<?xf32>, %n: index) {
    ...   affine.for %i = 0 to %n {
    ...     affine.for %k = 0 to 3 {
    ...       %a = affine.load %x[%i, %k] : memref<?x3xf32>
    ...       %s = affine.load %y[%i] : memref<?xf32>
    ...       %next = arith.addf %s, %a : f32
    ...       affine.store %next, %y[%i] : memref<?xf32>
    ...     }
    ...   }
    ...   return
    ... }''').functions[0].body[0]
    >>> is_short_sum(rows.body[0], [rows]), is_short_sum(rows, [])
    (True, False)
    """
    terms = _trips(loop)
    if terms is None or not 0 < terms <= SHORT or terms * len(loop.body) > STRAIGHT:
        return False
    places = {(op.memref, subscripts(op)) for op in loop.body if isinstance(op, _STORES)}
    inner = loop
    for each in reversed([op for op in around if isinstance(op, affine.For | scf.For)]):
        before = _before(inner, each.body)
        inits = {*inner.inits}
        places |= {(op.memref, subscripts(op)) for op in before if isinstance(op, _LOADS) and op.result in inits}
        begun = {(op.memref, subscripts(op)) for op in before if isinstance(op, _STORES)}
        made = {each.iv, *(v for op in each.body for v in op.defines())}
        places = {
            (memref, index)
            for memref, index in places - begun
            if memref not in made and made.isdisjoint(v for e in index for v in e.values())
        }
        if not places and inits.isdisjoint(each.carried):
            return True
        trips = _trips(each)
        terms = terms * trips if trips is not None else LONGEST + 1
        if terms > LONGEST:
            return False
        inner = each
    return True


def _before(op: Op, block: Iterable[Op]) -> list[Op]:
    """What stands before an operation of a block."""
    return [*takewhile(lambda each: each is not op, block)]


def _trips(loop: affine.For | scf.For) -> int | None:
    """How often a loop runs, where its bounds are numbers."""
    if not isinstance(loop, affine.For) or len(loop.lower) != 1 or len(loop.upper) != 1:
        return None
    span = loop.upper[0] - loop.lower[0]
    return -(-span.constant // loop.step) if span.is_constant else None


def loses_zeros(loop: affine.For | scf.For, function: Func, made: Mapping[Value, Op]) -> bool:
    """Whether a loop without others inside adds floats under conditions to what may begin as -0.0.

    A number that is no -0.0 at first becomes none by additions, and a subtraction of 0.0 changes no number.

    >>> from affdsl.ir.traverse import definitions
    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%x: memref<9xf32>, %c: i1, %start: f32) -> f32 {
    ...   %total = affine.for %i = 0 to 9 iter_args(%sum = %start) -> (f32) {
    ...     %a = affine.load %x[%i] : memref<9xf32>
    ...     %more = arith.addf %sum, %a : f32
    ...     %next = arith.select %c, %more, %sum : f32
    ...     affine.yield %next : f32
    ...   }
    ...   return %total : f32
    ... }''').functions[0]
    >>> loses_zeros(f.body[0], f, definitions(f))
    True
    """
    ops = [op for each in loop.body for op in walk(each)]
    if any(isinstance(op, affine.For | scf.For | scf.While | affine.Parallel | scf.Parallel) for op in ops):
        return False
    if not any(_adds_by_choice(op, made) for op in ops):
        return False
    moving = {loop.iv, *loop.carried, *(v for op in ops for v in op.defines())}
    stores = [op for op in ops if isinstance(op, _STORES) and _is_float(op.value.type) and moving.isdisjoint(_says(op))]
    kept = {op.memref for op in stores if isinstance(made.get(op.memref), memref.Alloca)}
    if any(op.memref not in kept and any(op is each for each in loop.body) for op in stores):
        return True
    starts = [v for v in loop.inits if _is_float(v.type)] + [
        op.value for op in walk(function) if isinstance(op, _STORES) and op.memref in kept and op.value not in moving
    ]
    return any(not isinstance(start := made.get(v), arith.Constant) or str(start.value) == "-0.0" for v in starts)


def _adds_by_choice(op: Op, made: Mapping[Value, Op]) -> bool:
    """Whether an operation adds floats in a branch, or chooses a sum or what is added."""
    if isinstance(op, affine.If | scf.If):
        return any(_is_sum(inner) for inner in walk(op))
    if isinstance(op, arith.Select):
        return any(_is_sum(made.get(v)) for v in (op.if_true, op.if_false))
    return _is_sum(op) and any(isinstance(made.get(v), arith.Select) for v in op.reads())


def _is_sum(op: Op | None) -> bool:
    return isinstance(op, arith.Binary) and op.kind == "addf" and _is_float(op.result.type)


def runs_once_at_most(loop: affine.For | scf.For) -> bool:
    """Whether a loop runs once or not at all, which none of its bounds alone says, and stores something.

    >>> from affdsl.mlir.readers import parse
    >>> loop = parse('''func.func @last(%A: memref<?xi8>, %x: i8, %n: index) {
    ...   affine.for %i = max affine_map<(n) -> (1, n - 1)>(%n) to %n {
    ...     affine.store %x, %A[%i] : memref<?xi8>
    ...   }
    ...   return
    ... }''').functions[0].body[0]
    >>> runs_once_at_most(loop)
    True
    """
    if isinstance(loop, scf.For) or len(loop.lower) + len(loop.upper) == 2:
        return False
    spans = (upper - lower for upper in loop.upper for lower in loop.lower)
    is_short = any(span.is_constant and span.constant <= loop.step for span in spans)
    return is_short and any(isinstance(op, _STORES) for op in loop.body)


def _chooses(op: Op) -> bool:
    """Whether an operation chooses among numbers, or is part of a condition that does."""
    is_truth = isinstance(op, arith.Binary) and op.result.type == IntegerType(1)
    return is_truth or isinstance(op, arith.Compare | arith.Select | arith.Negate)


def _is_along_rows(op: Op, iv: Value, made: set[Value]) -> bool:
    """Whether an operation accesses no elements, or the same in all iterations of a loop, or some near it in a row."""
    if not isinstance(op, _ACCESSES) or made.isdisjoint(_says(op)):
        return True
    if not isinstance(op, affine.Load | affine.Store):
        return False
    *before, last = op.index
    step = dict(last.terms).get(iv, 0)
    return 1 <= abs(step) <= NEAR and all(made.isdisjoint(e.values()) for e in (*before, last - iv * step))


def _is_float(type: Type) -> bool:
    """Whether values have a type that processors add up as it is."""
    return isinstance(type, FloatType) and type.width in (32, 64)


def _still(ops: list[Op], made: set[Value]) -> Iterator[tuple[Op, _Element]]:
    """The accesses to integers at places that no value of the loop says, and what they touch."""
    for op in ops:
        if isinstance(op, _ACCESSES) and made.isdisjoint(_says(op)):
            element = op.value if isinstance(op, _STORES) else op.result
            if isinstance(element.type, IntegerType | IndexType):
                yield op, (op.memref, subscripts(op))


def _says(op: affine.Load | affine.Store | memref.Load | memref.Store) -> set[Value]:
    """The values that say which element an access touches."""
    return {op.memref, *(v for e in subscripts(op) for v in e.values())}


def waiting_extremes(f: Func) -> Iterator[Op]:
    """The lesser or larger of two floats, in innermost loops, that need what another iteration has made.

    Both come from arrays that the loop stores, or data decides which element it is, or one is computed from what the
    loop hands on, and the other one changes as well: nobody foresees which one it will be. Where one comes from
    elsewhere, as in extremes so far, a branch is mostly foreseen, and nothing waits.
    """
    for loop in walk(f):
        if isinstance(loop, affine.For):
            inside = [*walk(loop)][1:]
            if not any(isinstance(op, affine.For) for op in inside):
                yield from _of_stored(inside)
                yield from _of_handed_on(loop, inside)


def _of_stored(inside: Sequence[Op]) -> Iterator[Op]:
    stored = {op.memref: subscripts(op) for op in inside if isinstance(op, _STORES)}
    kept, late, chosen = set[Value](), set[Value](), set[Value]()
    for op in inside:
        if isinstance(op, _LOADS) and op.memref in stored:
            kept.add(op.result)
            late.update((op.result,) if subscripts(op) != stored[op.memref] else ())
            chosen.update((op.result,) if isinstance(op, memref.Load) else ())
        elif isinstance(op, arith.Binary) and not kept.isdisjoint(op.reads()):
            is_late, is_kept = not late.isdisjoint(op.reads()), kept.issuperset(op.reads())
            if op.kind in _EXTREMES and ((is_kept and is_late) or not chosen.isdisjoint(op.reads())):
                yield op
            kept.add(op.result)
            late.update((op.result,) if is_late else ())


def _of_handed_on(loop: affine.For, inside: Sequence[Op]) -> Iterator[Op]:
    """Extremes on the way from what a loop hands on to the same of the next iteration, beside other arithmetic.

    Extremes so far are not among them, even of what is made of others that are handed on: they seldom change.
    """
    wanted = {v for v in loop.carried if _is_float(v.type)}
    if not wanted:
        return
    so_far = {*zip(loop.carried, inside[-1].reads(), strict=True)}
    handed, moved, varying = {*wanted}, set[Value](), {loop.iv, *loop.carried}
    found, needed = list[Op](), set(inside[-1].reads())
    for op in inside:
        reads, made = {*op.reads()}, {*op.defines()}
        if not varying.isdisjoint(reads):
            varying |= made
        if handed.isdisjoint(reads):
            continue
        is_extreme = isinstance(op, arith.Binary) and op.kind in _EXTREMES
        handed |= made
        if not moved.isdisjoint(reads) or (isinstance(op, arith.Binary) and not is_extreme):
            moved |= made
            if is_extreme and varying.issuperset(reads) and so_far.isdisjoint(product(reads, made)):
                found.append(op)
    for op in reversed(inside):
        if not needed.isdisjoint(op.defines()):
            needed.update(v for each in walk(op) for v in each.reads())
    yield from (op for op in found if not needed.isdisjoint(op.defines()))
