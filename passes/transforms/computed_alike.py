"""Computes once, before a loop, the elements of an array that each of its iterations computes alike."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import product

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, memref
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Constraint, Term, Value
from affdsl.ir.messages import op_name
from affdsl.ir.traverse import affine_exprs, clone_block, definitions, holders, rewrite, walk, with_fields
from affdsl.ir.types import MemRefType
from affdsl.passes.analysis.dependence import Dependences, unwarned
from affdsl.passes.analysis.early_exits import early_loops
from affdsl.passes.analysis.flow import Flow
from affdsl.passes.analysis.polyhedral import Dim, UnknownError, spending
from affdsl.passes.analysis.relations import BUDGET
from affdsl.passes.legality.refusal import IllegalTransform, refusal
from affdsl.passes.legality.words import access_name
from affdsl.passes.legality.words import name as called
from affdsl.passes.transforms.data_copy.private import only_where_seen, outermost
from affdsl.passes.transforms.hoist.faults import never_fails
from affdsl.passes.transforms.loops.nests import replaced

Cell = affine.Load | affine.Store


def computed_alike(
    function: Func, loop: affine.For, buffer: Value, sizes: Block, module: Module | None, what: str
) -> Func:
    """The function where an array that each iteration of a loop computes alike is computed before the loop.

        for i: { p[i, 0] = x; for j: p[i, j] = S(p[i, j - 1]); for j: T(i, p[i, j]) }
            ->  t[0] = x; for j: t[j] = S(t[j - 1])
                for i: for j: T(i, t[j])
                for i: { p[i, 0] = t[0]; for j: p[i, j] = t[j] }

    The new array has the dimensions along which the loop does not move; of the old one is stored what something sees.
    What is stored comes from numbers and elements that are the same in each iteration, and from the array itself: each
    read sees what its own iteration has stored, and an iteration stores each element once. Nothing runs where the loop
    does not.

    Parameters
    ----------
    sizes
        The operations that give the sizes of the array that its type does not say, each by a `memref.dim`.

    Raises
    ------
    IllegalTransform
        With what is in the way, and where.
    """
    inside = Inside(loop, buffer, what)
    stores = inside.computed(function)
    _require_own(
        function, loop, buffer, {op.memref for op in inside.needed if isinstance(op, affine.Load)}, module, what
    )
    type = buffer.type
    assert isinstance(type, MemRefType)
    made = Value(MemRefType(tuple(type.shape[k] for k in inside.kept), type.element), f"{buffer.hint or 'array'}_made")
    dims = dict(
        zip(
            [k for k, size in enumerate(type.shape) if size is None],
            [op.result for op in sizes if isinstance(op, memref.Dim)],
            strict=True,
        )
    )
    alloc = memref.Alloc(made, tuple(dims[k] for k in inside.kept if k in dims), location=loop.location)

    def on_made(op: Op) -> Op | None:
        return inside.moved(op, made) if isinstance(op, Cell) and op.memref is buffer else None

    def reading(op: Op) -> Op | tuple[Op, ...] | None:
        return () if isinstance(op, affine.Store) and op.memref is buffer else on_made(op)

    def taken_back(op: Op) -> Op | tuple[Op, ...] | None:
        if not isinstance(op, affine.Store) or op.memref is not buffer:
            return None
        value = Value(op.value.type, location=op.location)
        at = inside.moved(op, made)
        load = affine.Load(value, made, at.index, location=op.location)
        return load, affine.Store(value, buffer, inside.place(op), location=op.location)

    runs = tuple(Constraint(last - first - 1) for last in loop.upper for first in loop.lower)
    skeleton = _part(loop.body, {*stores})
    holder = with_fields(loop, body=_part(loop.body, {*stores, *inside.needed}), inits=(), carried=(), results=())
    first = _if(runs, clone_block(rewrite(holder, on_made).body, {}), loop)
    whole = with_fields(loop, body=skeleton, inits=(), carried=(), results=())
    back = clone_block((rewrite(whole, taken_back),), {})
    if len(inside.kept) == type.rank:  # each iteration stores the same elements
        (only,) = back
        assert isinstance(only, affine.For)
        back = _if(runs, only.body, loop)
    after = rewrite(loop, reading)
    free = memref.Dealloc(made, location=loop.location)
    outer = outermost(function, loop, {buffer})
    if outer is loop:
        found = replaced(function, loop, *sizes, alloc, *first, after, *back, free)
    else:
        found = replaced(function, loop, *first, after, *back)
        (around,) = (op for op in holders(found) if isinstance(op, affine.For) and op.iv in outer.binds())
        found = replaced(found, around, *sizes, alloc, around, free)
    return only_where_seen(found, back, module) if isinstance(back[0], affine.For) else found


def _if(runs: tuple[Constraint, ...], body: Block, loop: affine.For) -> Block:
    runs = tuple(each for each in runs if not each.expr.is_constant or each.expr.constant < 0)
    return (affine.If(runs, body, location=loop.location),) if runs else body


def _part(block: Block, ops: Collection[Op]) -> Block:
    """Some of the operations of a block, and the loops and conditions around them."""
    found: list[Op] = []
    for op in block:
        if op in ops:
            found.append(op)
        elif isinstance(op, affine.For) and (body := _part(op.body, ops)):
            found.append(with_fields(op, body=body))
        elif isinstance(op, affine.If) and ((then := _part(op.then, ops)) or _part(op.orelse, ops)):
            found.append(with_fields(op, then=then, orelse=_part(op.orelse, ops)))
    return tuple(found)


class Inside:
    """What a loop does with an array, if that is the same in each iteration.

    Attributes
    ----------
    kept
        The dimensions of the array along which the loop does not move.
    needed
        The operations from which what is stored is computed, loads of the array included.

    Raises
    ------
    IllegalTransform
        If the loop moves along the array, or stores to it, in another way.
    """

    def __init__(self, loop: affine.For, buffer: Value, what: str) -> None:
        self.loop, self.buffer, self.what = loop, buffer, what
        self.needed: set[Op] = set()
        self._ops = [*walk(loop)]
        self._applies: dict[Value, Term] = {}
        for op in self._ops:
            if isinstance(op, affine.Apply):
                self._applies[op.result] = op.expr.substitute(self._applies)
        self._cells = [op for op in self._ops if isinstance(op, Cell) and op.memref is buffer]
        self._counters = {op.iv for op in self._ops if isinstance(op, affine.For)} - {loop.iv}
        self._inner = {v for op in self._ops for v in (*op.defines(), *op.binds())}
        along = {k for op in self._cells for k, e in enumerate(self.place(op)) if loop.iv in e.values()}
        rank = buffer.type.rank if isinstance(buffer.type, MemRefType) else 0
        self.kept = tuple(k for k in range(rank) if k not in along)
        if not self.kept:
            raise self._no(loop, "no dimension is left along which the loop does not move")
        for op in self._cells:
            place = self.place(op)
            for k in along:
                moves = self._inner & {*(place[k] - loop.iv).values()}
                if moves or place[k] != self.place(self._cells[0])[k]:
                    raise self._no(op, f"{called(loop.iv)} moves along it in more than one way")
            self._require_alike(op, [place[k] for k in self.kept])

    def place(self, op: Cell) -> tuple[Affine, ...]:
        """The subscripts, by counters and what is known before the loop."""
        return tuple(e.substitute(self._applies) for e in op.index)

    def moved(self, op: Cell, made: Value) -> Cell:
        """A load or store of the array that has the kept dimensions."""
        place = self.place(op)
        return with_fields(op, memref=made, index=tuple(place[k] for k in self.kept), written=None)

    def computed(self, function: Func) -> list[affine.Store]:
        """The stores, of values that are computed alike; `needed` is then known."""
        stores = [op for op in self._cells if isinstance(op, affine.Store)]
        if early_loops(self.loop, function):
            raise self._no(self.loop, "a loop may end early")
        self._require_skeleton(self.loop.body, {*stores})
        known = definitions(self.loop)
        constants = {op.result: op.value for op in walk(function) if isinstance(op, arith.Constant)}
        waiting = [store.value for store in stores]
        while waiting:
            value = waiting.pop()
            if value not in self._inner or value in self._counters:
                continue
            op = known.get(value)
            if op is None or value is self.loop.iv:
                raise self._no(stores[0], f"what it stores depends on {called(value)}")
            if op in self.needed:
                continue
            self.needed.add(op)
            if not isinstance(op, affine.Load):
                if not never_fails(op, constants) or any(op.blocks()):
                    raise self._no(op, f"what it stores depends on {op_name(op)}, which may fail, or do something else")
                waiting += op.reads()
            elif op.memref is not self.buffer:
                self._require_alike(op, op.index)
        self._require_skeleton(self.loop.body, {*stores, *self.needed})
        return stores

    def _require_skeleton(self, block: Block, ops: Collection[Op]) -> None:
        """Refuse where loops and conditions around some operations hand on values, or are others in each iteration."""
        for op in block:
            held = [inner for inner in walk(op) if inner in ops]
            if not held or op in ops:
                continue
            if not isinstance(op, affine.For | affine.If) or op.results:
                raise self._no(op, f"{op_name(op)} is around a store, and does more than to repeat it")
            self._require_alike(op, affine_exprs(op))
            for inner in op.blocks():
                self._require_skeleton(inner, ops)

    def _require_alike(self, op: Op, exprs: Iterable[Affine]) -> None:
        for e in exprs:
            lost = next((v for v in e.values() if v in self._inner and v not in self._counters), None)
            if lost is not None:
                raise self._no(op, f"its place, or a bound around it, depends on {called(lost)}")

    def _no(self, op: Op, why: str) -> IllegalTransform:
        return refusal(
            op, self.what, f"it may write to {called(self.buffer)}, and not the same in each iteration: {why}"
        )


def _require_own(
    function: Func, loop: affine.For, buffer: Value, loaded: Collection[Value], module: Module | None, what: str
) -> None:
    """Refuse where an iteration reads what it has not stored itself, or stores an element twice.

    Other arrays that are `loaded` hold the same in all iterations.
    """
    inside = {*walk(loop)}
    try:
        with unwarned(), spending(BUDGET):
            dependences = Dependences(function, module)
            storage, flow = dependences.accesses.storage, Flow(dependences)
            own, level = storage.buffer(buffer), len(dependences.accesses.domains[loop].ivs) + 1
            mine = [a for a in dependences.compared if a.op in inside and storage.may_alias(a.buffer, own)]
            for access in mine:
                if not isinstance(access.op, Cell) or access.op.memref is not buffer:
                    raise refusal(access.op, what, f"it may touch {called(buffer)} in another way")
            others = [storage.buffer(array) for array in loaded if array is not buffer]
            for access in (a for a in dependences.compared if a.kind == "write" and a.op in inside):
                if any(storage.may_alias(access.buffer, other) for other in others):
                    raise refusal(access.op, what, f"{access_name(access)} may change what is stored from it")
            for read in (a for a in mine if a.kind == "read"):
                before = flow.live_in(read)
                seen = flow.writers(read)
                is_own = before is not None and before.is_empty()
                for last in seen:
                    same = last.map
                    if same is None or not last.is_exact or last.write.op not in inside:
                        is_own = False
                        break
                    for k in range(level):
                        same = same.equate(Dim.in_, k, Dim.out, k)
                    assert last.map is not None
                    is_own = is_own and last.map.subtract(same).is_empty()
                if not is_own:
                    reason = f"{access_name(read)} may see what its iteration of {called(loop.iv)} has not stored"
                    raise refusal(read.op, what, reason)
            writes = [a for a in mine if a.kind == "write"]
            for one, other in product(writes, repeat=2):
                if dependences.depths(one, other, level + 1):
                    raise refusal(other.op, what, f"an iteration of {called(loop.iv)} stores an element twice")
    except UnknownError as error:
        raise refusal(loop, what, f"what its iterations see is not known: {error}") from error
