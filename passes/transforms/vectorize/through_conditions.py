"""What a condition may have stored is chosen, not loaded: a vector waits for lanes that a mask has just stored."""

from __future__ import annotations

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, scf
from affdsl.ir.expr import Value
from affdsl.ir.traverse import substitute, walk, with_fields
from affdsl.passes.transforms.vectorize.loads import QUIET, MayAlias, Place, may_meet


def chosen_through_conditions(loop: affine.For, may_alias: MayAlias) -> affine.For:
    """The loop where an element that is stored under a condition, and loaded behind it, is loaded before.

        if c: A[i] = x             a = A[i]
        S(A[i])              ->    r = if c: A[i] = x; yield x else: yield a
                                   S(r)

    It is the same object if there is nothing to do.
    """
    body, k = loop.body, 0
    while k < len(body):
        op = body[k]
        found = _with_choice(op, body[k + 1 :], may_alias) if isinstance(op, scf.If) else None
        if found is None:
            k += 1
        else:
            body = (*body[:k], *found)  # there may be another store in the same condition
    return loop if body is loop.body else with_fields(loop, body=body)


def _with_choice(op: scf.If, rest: Block, may_alias: MayAlias) -> Block | None:
    """A condition with what it may have stored as a result, and what follows; None where that loads nothing of it."""
    if not _is_simple(op):
        return None
    inside = {v for each in op.then for v in each.defines()}
    for at, store in enumerate(op.then):
        if not isinstance(store, affine.Store) or not inside.isdisjoint(v for e in store.index for v in e.values()):
            continue
        place = store.memref, store.index
        if any(isinstance(each, affine.Store) and may_meet(place, each, may_alias) for each in op.then[at + 1 :]):
            continue
        end = _loaded_until(rest, place, may_alias)
        if not any(_is_load(each, place) for each in rest[:end]):
            continue
        old, new = (Value(store.value.type, store.value.hint) for _ in range(2))
        load = affine.Load(old, store.memref, store.index, location=store.location)
        rows = _with_value(op.then, store.value), _with_value(op.orelse, old)
        made = with_fields(op, then=rows[0], orelse=rows[1], results=(*op.results, new))
        loads = {each.result: new for each in rest[:end] if isinstance(each, affine.Load) and _is_load(each, place)}
        kept = [substitute(each, loads) for each in rest if not set(each.defines()) & loads.keys()]
        return (load, made, *kept)
    return None


def _is_simple(op: scf.If) -> bool:
    """Whether a condition does nothing but compute, load, and store in its first branch."""
    stores = [each for each in op.then if isinstance(each, affine.Store)]
    return bool(stores) and all(isinstance(each, QUIET) or each in stores or each is op for each in walk(op))


def _is_load(op: Op, place: Place) -> bool:
    return isinstance(op, affine.Load) and (op.memref, op.index) == place


def _loaded_until(rest: Block, place: Place, may_alias: MayAlias) -> int:
    """How many of some operations come before one that may store to an element, or may do anything."""
    for k, op in enumerate(rest):
        for each in walk(op):
            if isinstance(each, affine.Store):
                if may_meet(place, each, may_alias):
                    return k
            elif not isinstance(each, QUIET) and not each.is_terminator:
                return k
    return len(rest)


def _with_value(block: Block, value: Value) -> Block:
    """A branch that yields one more value."""
    last = block[-1] if block else None
    if isinstance(last, scf.Yield):
        return (*block[:-1], with_fields(last, values=(*last.values, value)))
    return (*block, scf.Yield((value,)))
