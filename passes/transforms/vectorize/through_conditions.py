"""What a condition may have stored is chosen, not loaded: a vector waits for lanes that a mask has just stored."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, scf
from affdsl.ir.expr import Term, Value
from affdsl.ir.traverse import substitute, walk, with_fields
from affdsl.passes.transforms.vectorize.loads import QUIET, MayAlias, Place, may_meet


def chosen_through_conditions(loop: affine.For, may_alias: MayAlias) -> affine.For:
    """The loop where an element that is stored under a condition, and loaded behind it, is loaded before.

        if c: A[i] = x             a = A[i]
        S(A[i])              ->    r = if c: A[i] = x; yield x else: yield a
                                   S(r)

    It is the same object if there is nothing to do.
    """
    found = _Body(may_alias)
    for op in loop.body:
        found.add(op)
    return with_fields(loop, body=found.block()) if found.chosen else loop


class _Body:
    """The operations of a body, one after the other, and what conditions among them have stored last."""

    def __init__(self, may_alias: MayAlias) -> None:
        self.chosen: dict[Op, list[tuple[affine.Store, Value, Value]]] = {}
        """For each condition what it stores, what was there before, and what is there then."""
        self._may_alias = may_alias
        self._ops: list[Op] = []
        self._new: dict[Value, Term] = {}
        self._stored: dict[Place, tuple[scf.If, affine.Store]] = {}
        self._known: dict[Place, Value] = {}

    def add(self, op: Op) -> None:
        """The next operation, which is gone if it loads what is chosen."""
        if isinstance(op, affine.Load) and self._choose(op):
            return
        op = substitute(op, self._new) if self._new else op
        for each in walk(op):
            if isinstance(each, affine.Store):
                self._forget(each)
            elif not isinstance(each, QUIET) and not each.is_terminator:
                self._stored.clear()
                self._known.clear()
        if isinstance(op, scf.If) and _is_simple(op):
            self._stored |= {(store.memref, store.index): (op, store) for store in self._last(op)}
        self._ops.append(op)

    def block(self) -> Block:
        """All of them, with what is loaded before conditions and what these yield."""
        return tuple(made for op in self._ops for made in self._made(op))

    def _choose(self, load: affine.Load) -> bool:
        """Whether a condition has stored last what an operation loads, which then is a result of that condition."""
        place = load.memref, load.index
        if place in self._stored:
            condition, store = self._stored.pop(place)
            old, new = (Value(load.result.type, load.result.hint) for _ in range(2))
            self.chosen.setdefault(condition, []).append((store, old, new))
            self._known[place] = new
        if place not in self._known:
            return False
        self._new[load.result] = self._known[place]
        return True

    def _forget(self, store: affine.Store) -> None:
        """Take note that an element may be another now."""
        self._stored = {p: each for p, each in self._stored.items() if not may_meet(p, store, self._may_alias)}
        self._known = {p: each for p, each in self._known.items() if not may_meet(p, store, self._may_alias)}

    def _last(self, op: scf.If) -> Iterator[affine.Store]:
        """The stores of a condition behind which it stores nothing that may be the same element."""
        inside = {v for each in op.then for v in each.defines()}
        behind: list[affine.Store] = []
        for store in reversed([each for each in op.then if isinstance(each, affine.Store)]):
            place = store.memref, store.index
            is_last = not any(may_meet(place, each, self._may_alias) for each in behind)
            if is_last and inside.isdisjoint(v for e in store.index for v in e.values()):
                yield store
            behind.append(store)

    def _made(self, op: Op) -> tuple[Op, ...]:
        found = self.chosen.get(op)
        if found is None:
            return (op,)
        assert isinstance(op, scf.If)
        loads = [affine.Load(old, store.memref, store.index, location=store.location) for store, old, _ in found]
        then = _with_values(op.then, [store.value for store, _, _ in found])
        orelse = _with_values(op.orelse, [old for _, old, _ in found])
        results = (*op.results, *(new for *_, new in found))
        return (*loads, with_fields(op, then=then, orelse=orelse, results=results))


def _is_simple(op: scf.If) -> bool:
    """Whether a condition does nothing but compute, load, and store in its first branch."""
    stores = [each for each in op.then if isinstance(each, affine.Store)]
    return bool(stores) and all(isinstance(each, QUIET) or each in stores or each is op for each in walk(op))


def _with_values(block: Block, values: list[Value]) -> Block:
    """A branch that yields more values."""
    last = block[-1] if block else None
    if isinstance(last, scf.Yield):
        return (*block[:-1], with_fields(last, values=(*last.values, *values)))
    return (*block, scf.Yield(tuple(values)))
