"""Which scalar loops compilers of C put on vectors by themselves: gcc 12 and clang 22, as far as they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import inf

import numpy as np

from affdsl.ir.core import Lanewise, Op
from affdsl.ir.dialects import affine, arith, func, math, memref, scf
from affdsl.ir.expr import Affine, Constraint, FloorDiv, Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import FloatType, VectorType
from affdsl.optimize.machine import Machine, bits_of, element_of
from affdsl.optimize.model.compiled import always_stored, in_counters, step_of, stride_of, times_unrolled, variables
from affdsl.passes.analysis.iterations import Iterations, Lanes, UncountedError

_SIMPLE = ("absf", "absi", "sqrt", "copysign", "ceil", "floor", "trunc", "round", "roundeven")
_UNSIGNED = ("fptoui", "uitofp")
_QUOTIENTS = ("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi")
_CALLS = (func.Call, scf.While, affine.Parallel)
_CASES = 3
"""So many choices inside each other gcc 12 has on vectors; of one more it makes jumps, or a table."""


def lanes_by_compiler(loop: affine.For, of: Iterations, lanes: Lanes, machine: Machine) -> int:
    """How many iterations of an innermost loop compilers may put into a register; 1 where they leave it as it is."""
    ops = [each for each in walk(loop) if each is not loop]
    if any(isinstance(v.type, VectorType) for each in ops for v in (*each.defines(), *each.reads())):
        return 1
    known = variables(ops, of)
    before = known.difference(v for each in ops for v in each.defines())
    if any(_stays_scalar(each, loop, of, before, machine) for each in ops) or _chosen_and_stored(ops, loop):
        return 1
    if _waits_for_the_one_before(loop, ops, before, of):
        return 1
    plain = [each for each in ops if isinstance(each, affine.Load | affine.Store) and each.memref not in known]
    apart = _apart(plain, loop, of, lanes)
    if not _lie_together(plain, loop, of) or apart == 1:
        return 1
    types = [element_of(each.memref.type) for each in ops if isinstance(each, affine.Load | affine.Store)]
    types += [v.type for each in ops for v in each.defines() if isinstance(v.type, FloatType)]
    found = max(1, machine.target.width // max(map(bits_of, types), default=64))
    if apart < found:  # vectors as long as that, if there are such vectors
        return int(apart) if int(apart).bit_count() == 1 else 1
    if any(isinstance(each, affine.If) and _moves_with(each, loop) for each in ops):
        return min(found, max(1, machine.target.width // 128))  # counters of 64 bits are compared
    return found


def _waits_for_the_one_before(loop: affine.For, ops: Sequence[Op], known: set[Value], of: Iterations) -> bool:
    """Whether an iteration needs what the one before hands on, in values or variables, and no lanes do without it.

    They do without counters, without sums in the order of the text, and without integers that are combined.
    """
    sums, uses = sums_in_order(loop, of), Counter(v for each in ops for v in each.reads())
    alone = sums | {v for v, old, made in _updated(loop, of) if made in loop.body and _counts(made, old, of)}
    for v, made in zip(loop.carried, _yielded(loop, of), strict=False):
        if v not in alone and (uses[v] > 1 or not _is_reduced(v, made)):
            return True
    return _is_carried(loop, known - alone, of) or _is_scan(loop, known, alone - sums)


def sums_in_order(loop: affine.For, of: Iterations) -> set[Value]:
    """The floats that iterations add to, one after the other, and use for nothing else: values, and variables.

    Compilers put on vectors what is added, and add its lanes in order, unless data decides which ones.
    """
    uses = Counter(v for each in walk(loop) if each is not loop for v in each.reads())
    chosen = {op for each in walk(loop) if isinstance(each, scf.If) for op in walk(each)}
    updated = ((v, old, made) for v, (old, *more), made in _updated(loop, of) if not more and made not in chosen)
    return {v for v, old, made in updated if uses[old] == 1 and _adds(made, old)}


def _updated(loop: affine.For, of: Iterations) -> Iterator[tuple[Value, list[Value], Op | None]]:
    """The values that iterations hand on, and variables: what stands for the old number, and what makes the new one."""
    ops = [each for each in walk(loop) if each is not loop]
    yield from ((v, [v], made) for v, made in zip(loop.carried, _yielded(loop, of), strict=False))
    for v in variables(ops, of):
        loads = [each.result for each in ops if isinstance(each, affine.Load) and each.memref is v]
        stores = [each for each in ops if isinstance(each, affine.Store) and each.memref is v]
        if loads and len(stores) == 1:
            yield v, loads, of.maker(stores[0].value)


def _adds(made: Op | None, to: Value) -> bool:
    """Whether an operation adds something to a float."""
    if not isinstance(made, arith.Binary) or not isinstance(to.type, FloatType):
        return False
    return (made.kind == "addf" and to in (made.left, made.right)) or (made.kind == "subf" and made.left is to)


def _chosen_and_stored(ops: Sequence[Op], loop: affine.For) -> bool:
    """Whether data decides which elements are stored that the loop loads, too, or whether they are before the load."""
    always = {array for array, _ in always_stored(loop.body)}
    chosen = {each.memref for each in ops if isinstance(each, memref.Load | memref.Store)}
    stored = {each.memref for each in ops if isinstance(each, memref.Store | affine.Store)}
    again = {each.memref for each in ops if isinstance(each, memref.Load | affine.Load)}
    seldom: set[Value] = set()
    for each in ops:
        if isinstance(each, affine.Store) and each.index and each.memref not in always:
            seldom.add(each.memref)
        elif isinstance(each, affine.Load) and each.memref in seldom:
            return True
    return bool(chosen & stored & again)


def _yielded(loop: affine.For, of: Iterations) -> list[Op | None]:
    """What makes the values that an iteration hands on."""
    ends = (v for op in loop.body[-1:] if isinstance(op, affine.Yield) for v in op.reads())
    return [of.maker(v) for v in ends]


def _counts(made: Op | None, old: Iterable[Value], of: Iterations) -> bool:
    """Whether an operation adds a number to an old integer: each iteration knows by itself what that is."""
    if not isinstance(made, arith.Binary) or made.kind != "addi":
        return False
    numbers = [v for v in made.reads() if isinstance(of.maker(v), arith.Constant)]
    return bool(numbers) and not {*old}.isdisjoint(made.reads())


def _is_reduced(carried: Value, made: Op | None) -> bool:
    """Whether iterations combine integers with a value that is handed on: in any order, as floats are not."""
    if isinstance(carried.type, FloatType) or bits_of(carried.type) == 1 or not isinstance(made, arith.Binary):
        return False  # gcc 12 has no sums of truth values
    return carried in made.reads() and (made.kind != "subi" or made.left is carried)


def _stays_scalar(op: Op, loop: affine.For, of: Iterations, before: set[Value], machine: Machine) -> bool:
    """Whether an operation keeps a loop from vectors: a function, a quotient of integers, what has no instruction.

    Some variables are from before the loop.
    """
    match op:
        case math.Unary() | math.Binary():
            return op.kind not in _SIMPLE
        case affine.For():
            return not times_unrolled(op)
        case memref.Store():
            return not machine.target.has_masks or bits_of(op.value.type) < 32
        case affine.If() if not _moves_with(op, loop):
            return False  # the loop is made twice
        case affine.If() if not all(map(_is_compared, op.condition)):
            return True
        case scf.If() if _converted(op.condition, of) > 1:
            return True  # each conversion has branches for what does not fit, and gcc 12 jumps from one to the other
        case affine.If() | scf.If():
            return _keeps_the_last(op, before)
        case arith.Binary() if op.kind in _QUOTIENTS:
            return bits_of(op.result.type) > 32 or not isinstance(of.maker(op.right), arith.Constant)
        case arith.Cast() if op.kind in _UNSIGNED:
            bits = max(bits_of(v.type) for v in (op.operand, op.result) if not isinstance(v.type, FloatType))
            return bits >= 32 and not machine.target.has_masks
        case arith.Select():
            return _choices(op, of) > _CASES
    return isinstance(op, _CALLS) or getattr(op, "kind", "") == "remf"


def _choices(op: arith.Select, of: Iterations) -> int:
    """How many choices end in this one, each of which is what another one chooses."""
    seen, waiting = set[Op](), [op]
    while waiting:
        each = waiting.pop()
        seen.add(each)
        others = (of.maker(v) for v in (each.if_true, each.if_false))
        waiting += [other for other in others if isinstance(other, arith.Select) and other not in seen]
    return len(seen)


def _is_compared(condition: Constraint) -> bool:
    """Whether a condition on a counter is of a kind that vectors have: less or more, or remainders by powers of two."""
    divisors = [atom.divisor for atom, _ in condition.expr.terms if isinstance(atom, FloorDiv)]
    if not divisors:
        return not condition.equality
    return all(isinstance(each, int) and each & (each - 1) == 0 for each in divisors)


def _converted(condition: Value, of: Iterations) -> int:
    """How many floats become integers on which a condition depends."""
    seen, waiting = set[Op](), [condition]
    while waiting:
        op = of.maker(waiting.pop())
        if isinstance(op, Lanewise) and op not in seen:
            seen.add(op)
            waiting += op.reads()
    return sum(isinstance(op, arith.Cast) and op.kind in ("fptosi", "fptoui") for op in seen)


def _keeps_the_last(op: scf.If | affine.If, before: set[Value]) -> bool:
    """Whether a condition decides if a variable from before the loop gets a number that its old one is no part of."""
    loaded = {each.memref for each in walk(op) if isinstance(each, affine.Load)}
    stored = {each.memref for each in walk(op) if isinstance(each, affine.Store)}
    return bool((stored & before) - loaded)


def _moves_with(op: affine.If, loop: affine.For) -> bool:
    """Whether a condition is one on the counter of a loop."""
    return any(loop.iv in c.expr.values() for c in op.condition)


def _is_carried(loop: affine.For, known: set[Value], of: Iterations) -> bool:
    """Whether an iteration uses what one before has left in a variable, and does more than combine integers with it."""
    ops = [*walk(loop)]
    stored = {op.memref: of.maker(op.value) for op in ops if isinstance(op, affine.Store) and op.memref in known}
    written: set[Value] = set()
    for op in loop.body:
        written |= {op.memref} if isinstance(op, affine.Store) else set()
        for each in walk(op):
            if isinstance(each, affine.Load) and each.memref in stored.keys() - written:
                users = [user for user in ops if each.result in user.reads()]
                if users != [stored[each.memref]] or not _is_reduced(each.result, stored[each.memref]):
                    return True
    return False


def _is_scan(loop: affine.For, known: set[Value], counters: set[Value]) -> bool:
    """Whether an element is stored of what an iteration has been handed by the one before."""
    ops = [*walk(loop)]
    kept = (known - counters).intersection(op.memref for op in ops if isinstance(op, affine.Store))
    handed, written = {*loop.carried} - counters, set[Value]()
    for op in ops:
        if isinstance(op, affine.Store):
            written.add(op.memref)
        elif isinstance(op, affine.Load) and op.memref in kept and op.memref not in written:
            handed.add(op.memref)  # what it is later comes of what it was, if something does
    for op in loop.body:
        if handed.intersection(op.reads()) and not isinstance(op, affine.Load | affine.Store):
            handed.update(op.defines())
        elif isinstance(op, affine.Load) and op.memref in handed:
            handed.add(op.result)
    stores = [op for op in ops if isinstance(op, affine.Store) and op.memref not in known]
    return any(op.value in handed and any(loop.iv in e.values() for e in op.index) for op in stores)


def _lie_together(plain: Sequence[affine.Load | affine.Store], loop: affine.For, of: Iterations) -> bool:
    """Whether accesses move in steps that are known, and what stays is stored each time, and no sum of floats.

    What is stored under a condition has to lie side by side: there are no shuffles under masks.
    """
    always = {*always_stored(loop.body)}
    for each in plain:
        step = stride_of(each, loop, of)
        if step is None:
            return False
        is_float, is_always = isinstance(element_of(each.memref.type), FloatType), (each.memref, each.index) in always
        if isinstance(each, affine.Store) and not step and (is_float or not is_always):
            return False
        if isinstance(each, affine.Store) and not is_always and abs(step * loop.step) > 1:
            return False
    return True


def _apart(plain: Sequence[affine.Load | affine.Store], loop: affine.For, of: Iterations, lanes: Lanes) -> float:
    """How many iterations may run at once: others need what they have stored, or order that vectors do not keep."""
    pairs = (
        _distance(store, other, n < k, loop, of, lanes)
        for k, store in enumerate(plain)
        if isinstance(store, affine.Store)
        for n, other in enumerate(plain)
        if other is not store and other.memref is store.memref
    )
    return min(pairs, default=inf)


def _distance(
    store: affine.Store, other: affine.Load | affine.Store, before: bool, loop: affine.For, of: Iterations, lanes: Lanes
) -> float:
    """After how many iterations another access, which comes before a store or not, needs it to be done."""
    here, there = ([in_counters(e, of) for e in each.index] for each in (store, other))
    apart = [a - b for a, b in zip(here, there, strict=True)]
    steps = [step_of(e, loop.iv) for e in here]
    if all(e.is_constant and not e.constant for e in apart):
        return inf
    if any(e.is_constant and e.constant and not step for e, step in zip(apart, steps, strict=True)):
        return inf
    if steps != [step_of(e, loop.iv) for e in there]:
        return inf if _are_apart(here, there, loop, of, lanes) else 1
    try:
        distances = [int(np.asarray(of.expression(e, lanes)).ravel()[0]) for e in apart]
        trips = int(np.max(of.ranges(loop)[0].count(lanes)))
    except (UncountedError, IndexError, ValueError):
        return inf  # it is asked when it runs
    if any(distance for distance, step in zip(distances, steps, strict=True) if not step):
        return inf
    late = next((distance / step for distance, step in zip(distances, steps, strict=True) if step), 0.0) / loop.step
    if not late.is_integer() or not 0 < abs(late) < trips:
        return inf
    if isinstance(other, affine.Load) and late > 0:
        return late
    return inf if before == (late < 0) else 1


def _are_apart(here: Sequence[Affine], there: Sequence[Affine], loop: affine.For, of: Iterations, lanes: Lanes) -> bool:
    """Whether no element of an access is one of another, since all subscripts of a dimension are less than others."""
    try:
        (each,) = of.ranges(loop)
        first = {v: numbers.ravel()[:1] for v, numbers in lanes.values.items()}
        one = Lanes(first, np.ones(1))
        lower, count = (int(np.ravel(part)[0]) for part in (each.lower(one), each.count(one)))
    except (UncountedError, IndexError, ValueError):
        return False
    ends = Lanes({**first, loop.iv: np.array([lower, lower + loop.step * max(0, count - 1)])}, np.ones(2))
    return any(_is_below(a, b, ends, of) or _is_below(b, a, ends, of) for a, b in zip(here, there, strict=True))


def _is_below(one: Affine, other: Affine, ends: Lanes, of: Iterations) -> bool:
    """Whether an expression is less than another one from one end of a loop to the other."""
    try:
        return bool(np.max(of.expression(one, ends)) < np.min(of.expression(other, ends)))
    except (UncountedError, IndexError, ValueError):
        return False
