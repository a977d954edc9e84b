"""Loops that see what they combine on its way, as prefix sums, as parallel bands: sums of parts first, then parts."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.frozen import FrozenValue
from affdsl.ir.blocks import yielded
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, memref
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.parts import LONGEST_STEP, PARTS, arrays_of_parts, loads_of_part, neutral, over_parts, stores_of_part
from affdsl.ir.traverse import clone, fresh, like, likes, walk, with_fields
from affdsl.ir.types import INDEX, ScalarType
from affdsl.passes.analysis.combining import Chains
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.effects import effects
from affdsl.passes.analysis.reduction import ROUNDED
from affdsl.passes.transforms.loops.nests import with_arrays_outside

LENGTH = 1 << 12
"""How many iterations a part has, of 64 that threads share at a time: what they read twice is in their near caches."""


class Scans(FrozenValue):
    """What a loop combines with what each of its iterations has, while something may see it on its way.

    Attributes
    ----------
    kinds
        For each value that it carries, the operation of arith that combines it; "" for one that stays as it is.
    own
        The operations that make what an iteration has, and combine it, in the order of the text. They write nothing
        and make no arrays.
    """

    kinds: tuple[str, ...]
    own: tuple[Op, ...]

    @property
    def needs_reassociation(self) -> bool:
        """Whether parts are rounded in another way than one iteration after the other."""
        return not ROUNDED.isdisjoint(self.kinds)


def scans_of(function: Func, loop: affine.For, module: Module | None = None) -> Scans | None:
    """What a loop combines; None where it carries something else, or what it reads depends on what it has written."""
    last = loop.body[-1] if loop.body else None
    if not isinstance(last, affine.Yield) or not all(isinstance(v.type, ScalarType) for v in loop.carried):
        return None
    moving = [k for k, v in enumerate(loop.carried) if last.values[k] is not v]
    needed, own = {last.values[k] for k in moving}, list[Op]()
    for op in reversed(loop.body[:-1]):
        if not needed.isdisjoint(op.defines()):
            own.insert(0, op)
            needed.update(v for inner in walk(op) for v in inner.mentions())
    found = Dependences(function, module)
    inside = {inner for op in own for inner in walk(op)}
    touched = [effects(op) for op in inside if not op.is_terminator]
    if any(each.unknown or each.writes or each.allocates for each in touched):
        return None
    if _reads_what_is_new(found, loop, inside):
        return None
    chains, kinds = Chains(found.accesses), [""] * len(loop.carried)
    for k in moving:
        place = chains.order[loop], (last, f"{k}")
        chain = chains.between(loop.carried[k], last.values[k], *place, within=inside | {last})
        if chain is None or chain.kind is None:
            return None
        kinds[k] = chain.kind
    return Scans(tuple(kinds), tuple(own))


def _reads_what_is_new(found: Dependences, loop: affine.For, inside: set[Op]) -> bool:
    """Whether operations may read what their own iteration has written before them."""
    accesses, order = found.accesses, found.accesses.order
    of_loop = [a for a in accesses.all if loop.iv in accesses.domains[a.op].ivs]
    writes = [a for a in of_loop if a.kind == "write"]
    reads = [a for a in of_loop if a.kind == "read" and a.op in inside]
    return any(
        order[w.op] < order[r.op] and accesses.storage.may_alias(w.buffer, r.buffer) for w in writes for r in reads
    )


def scanned_in_parts(function: Func, loop: affine.For, scans: Scans) -> Func | None:
    """The function with a loop that sees what it combines as parallel bands; None where its steps are too long.

        s = for i = 0 to n, s = x: { s += f(i); A[i] = s; yield s }
        ->
        s = for block = 0 to n step 64 * 4096, s = x:
            parallel part = 0 to 64:
                parts[part] = for i = block + 4096 * part to min(n, block + 4096 * (part + 1)), t = 0: t + f(i)
            s = for part = 0 to 64: { t = s + parts[part]; parts[part] = s; yield t }
            parallel part = 0 to 64:
                for i = the same, s = parts[part]: { s += f(i); A[i] = s; yield s }

    Each iteration computes what it combines twice, so threads gain where that is little beside what the loop loads and
    stores. The bits do not depend on how many threads there are. Nothing else may stand in the way: who asks has seen
    to it that iterations depend on each other in no other way.

    References
    ----------
    Blelloch, "Prefix Sums and Their Applications", 1990: each processor sums up, then scans its part.
    """
    if loop.step > LONGEST_STEP:
        return None
    at, hint, length = loop.location, loop.iv.hint, loop.step * LENGTH
    block = Value(INDEX, f"{hint}_block", loop.iv.location)
    moving = [k for k, kind in enumerate(scans.kinds) if kind]
    arrays = dict(zip(moving, arrays_of_parts([loop.carried[k] for k in moving], hint, at), strict=True))
    starts = {k: neutral(scans.kinds[k], like(loop.carried[k])) for k in moving}

    def bounds(part: Value) -> tuple[tuple[Affine, ...], tuple[Affine, ...]]:
        begin = Affine.of(block) + part * length
        return (begin,), (*loop.upper, begin + length)

    part = _part_of(loop)
    summing = _summing(loop, scans.own, moving, [starts[k].result for k in moving])
    lower, upper = bounds(part)
    summing = with_fields(summing, lower=lower, upper=upper)
    stores = stores_of_part(summing.results, [*arrays.values()], part, at)
    sums = over_parts(part, (summing, *stores), at, loop.attributes)

    carried = likes(loop.carried)
    begins = _begins(loop, scans, arrays, carried)
    part = _part_of(loop)
    loads = dict(
        zip(moving, loads_of_part([loop.carried[k] for k in moving], [*arrays.values()], part, at), strict=True)
    )
    inits = tuple(next(iter(loads[k].defines())) if k in loads else v for k, v in enumerate(loop.inits))
    lower, upper = bounds(part)
    scanning = with_fields(
        loop, lower=lower, upper=upper, inits=inits, results=likes(loop.results), written=None,
        attributes=(),
    )  # fmt: skip
    scans_of_parts = over_parts(part, (*loads.values(), scanning), at, loop.attributes)
    body = (sums, begins, scans_of_parts, affine.Yield(begins.results, location=at))
    blocks = affine.For(
        block, loop.lower, loop.upper, body, length * PARTS, loop.inits, carried, loop.results, location=at
    )  # fmt: skip
    allocated = [memref.Alloca(array, location=at) for array in arrays.values()]
    return with_arrays_outside(function, loop, (*starts.values(), *allocated, blocks))


def _summing(loop: affine.For, own: Sequence[Op], moving: Sequence[int], inits: Sequence[Value]) -> affine.For:
    """The loop that combines what iterations have, and nothing else; its bounds are still those of all of them."""
    yields = yielded(loop.body)
    new: dict[Value, Term] = {v: v if k in moving else loop.inits[k] for k, v in enumerate(loop.carried)}
    new |= {v: fresh(v) for v in (loop.iv, *(loop.carried[k] for k in moving))}
    carried = tuple(_value(new[loop.carried[k]]) for k in moving)
    body = [clone(op, new) for op in own]
    sums = tuple(_value(new.get(yields[k], yields[k])) for k in moving)
    return affine.For(
        _value(new[loop.iv]), loop.lower, loop.upper, (*body, affine.Yield(sums, location=loop.location)), loop.step,
        tuple(inits), carried, likes(carried), location=loop.location,
    )  # fmt: skip


def _begins(loop: affine.For, scans: Scans, arrays: dict[int, Value], inits: tuple[Value, ...]) -> affine.For:
    """The loop that gives each part what it begins with, in place of what it comes to; and what all come to."""
    part, at = _part_of(loop), loop.location
    carried, sums, body = likes(inits), list[Value](), list[Op]()
    for k, value in enumerate(carried):
        if k not in arrays:
            sums.append(value)
            continue
        own, new = like(value), like(value)
        body += [
            affine.Load(own, arrays[k], (Affine.of(part),), location=at),
            arith.Binary(new, scans.kinds[k], value, own, location=at),
            affine.Store(value, arrays[k], (Affine.of(part),), location=at),
        ]
        sums.append(new)
    body.append(affine.Yield(tuple(sums), location=at))
    results = likes(inits)
    return affine.For(
        part, (Affine(),), (Affine.of(PARTS),), tuple(body), 1, inits, carried, results, location=at
    )  # fmt: skip


def _part_of(loop: affine.For) -> Value:
    return Value(INDEX, f"{loop.iv.hint}_part", loop.iv.location)


def _value(term: Term) -> Value:
    assert isinstance(term, Value), "a value stands for a value"
    return term
