"""Keeps in memory what a loop carries in values from one iteration to the next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from affdsl.frozen import Frozen
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func, memref, scf
from affdsl.ir.expr import Affine, Value
from affdsl.ir.messages import shown
from affdsl.ir.renaming import renamed
from affdsl.ir.traverse import definitions, fresh, holders, rewrite, users, walk, with_fields
from affdsl.ir.types import MemRefType, NumberType
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependences, unwarned
from affdsl.passes.legality.early import require_to_end
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.hoist import may_meet

Loop = affine.For | scf.For


def demote(function: func.Func, iv: Value, *, module: func.Module | None = None) -> func.Func:
    """Keep in memory what a loop carries in values (iter_args): the inverse of `scalar_replace`.

        for i, s = 0: { yield s + T(i) }; A[j] = s   ->   A[j] = 0; for i: A[j] = A[j] + T(i)

    Where the last value is stored behind the loop, and nothing else touches that element in between, the element keeps
    the value all the time. So does one that the first value is loaded from, if it is stored to anew behind the loop,
    and nothing else touches it from the one to the other. Otherwise a new buffer of one element does, made right before
    the loop. Loops right around, or inside, that only hand the values on have them in the same place. The numbers are
    the same, to the bit. A loop that carries nothing can be tiled, interchanged, and made perfectly nested with others.

    Parameters
    ----------
    iv
        The induction variable of the loop, an affine.for or scf.for.
    module
        What the function stands in: it shows what calls do, and which arguments are one buffer.

    Raises
    ------
    IllegalTransform
        If the loop carries nothing, or something of which no buffer can be made, as a vector.

    References
    ----------
    The opposite of scalar replacement (Callahan, Carr, Kennedy, PLDI 1990); LLVM calls it demotion (reg2mem).

    >>> from affdsl.mlir.readers import parse
    >>> function = parse('''func.func @f(%A: memref<9xf32>, %B: memref<1xf32>, %x: f32) {
    ...     %s = affine.for %i = 0 to 9 iter_args(%t = %x) -> (f32) {
    ...       %a = affine.load %A[%i] : memref<9xf32>
    ...       %b = arith.addf %t, %a : f32
    ...       affine.yield %b : f32
    ...     }
    ...     affine.store %s, %B[0] : memref<1xf32>
    ...     return
    ... }''').functions[0]
    >>> print(demote(function, function.body[0].iv))
    func.func @f(%A: memref<9xf32>, %B: memref<1xf32>, %x: f32) {
      affine.store %x, %B[0] : memref<1xf32>
      affine.for %i = 0 to 9 {
        %t = affine.load %B[0] : memref<1xf32>
        %a = affine.load %A[%i] : memref<9xf32>
        %b = arith.addf %t, %a : f32
        affine.store %b, %B[0] : memref<1xf32>
      }
      return
    }
    """
    what = f"keep in memory what loop {name(iv)} carries"
    loop = next((op for op in holders(function) if isinstance(op, Loop) and op.iv is iv), None)
    if loop is None:
        raise ValueError(f"{shown(iv)} is no induction variable of a loop of @{function.symbol}")
    if not loop.results:
        raise refusal(loop, what, "it carries no value (iter_args) from one iteration to the next")
    with unwarned():  # what the analysis gives up on gets a buffer of its own
        made = _Demotion(function, module)
        top = made.outermost(loop)
        require_to_end(top, function, what, "from memory, nobody would see where it does")
        others = [v for op in holders(top) if isinstance(op, Loop) for v in op.carried]
        odd = next((v for v in others if not isinstance(v.type, NumberType)), None)
        if odd is not None:
            raise refusal(loop, what, f"{shown(odd)} has type {odd.type}, and a buffer of one element holds a number")
        block = made.block_of[top]
        new = made.around(top, block, {})
    return made.placed(top, new)


class _Cell(Frozen):
    """An element that holds a carried value."""

    memref: Value
    index: tuple[Affine, ...] = ()


class _Demotion:
    """Makes the loops without carried values, and notes what else goes, and which values stand for others."""

    def __init__(self, function: func.Func, module: func.Module | None) -> None:
        self._function = function
        self._dependences = Dependences(function, module)
        self._users = users(function)
        self._makers = definitions(function)
        self._replaced: dict[Value, Value] = {}
        self._dropped: set[Op] = set()
        self.block_of = {op: block for around in walk(function) for block in around.blocks() for op in block}
        self._around = {op: each for each in walk(function) for block in each.blocks() for op in block}

    def outermost(self, loop: Loop) -> Loop:
        """The outermost of the loops that only forward what a loop carries."""
        outer = self._around[loop]
        while isinstance(outer, Loop) and any(self._handed(outer, k, loop) for k in range(len(outer.carried))):
            loop, outer = outer, self._around[outer]
        return loop

    def around(self, loop: Loop, block: Block, given: Mapping[int, _Cell]) -> tuple[Op, ...]:
        """A loop that stands in a block without what it carries, and what stands before and behind it then.

        `given` has the cells of the values, by position, that a loop around keeps there already.
        """
        before: list[Op] = []
        behind: list[Op] = []
        cells: list[_Cell] = []
        at = loop.location
        for position, (init, carried, result) in enumerate(zip(loop.inits, loop.carried, loop.results, strict=True)):
            if position in given:
                cells.append(given[position])
                continue
            store = self._store_of(result, loop, block)
            cell = _Cell(store.memref, store.index) if store is not None else self._overwritten(init, loop, block)
            if cell is None:
                assert isinstance(carried.type, NumberType)
                buffer = Value(MemRefType((), carried.type), carried.hint or result.hint, carried.location)
                before.append(memref.Alloca(buffer, location=at))
                cell = _Cell(buffer)
            if not self._is_there(init, cell, loop, block):
                before.append(affine.Store(init, cell.memref, cell.index, location=at))
            if any(user is not store for user in self._users.get(result, ())):
                last = fresh(result)
                behind.append(affine.Load(last, cell.memref, cell.index, location=at))
                self._replaced[result] = last
            if store is not None:
                self._dropped.add(store)
            cells.append(cell)
        return (*before, self._without_values(loop, cells), *behind)

    def _without_values(self, loop: Loop, cells: Sequence[_Cell]) -> Op:
        end = loop.body[-1]
        assert isinstance(end, affine.Yield | scf.Yield)
        first: list[Op] = []
        last: list[Op] = []
        inner: dict[Op, dict[int, _Cell]] = {}
        for k, cell in enumerate(cells):
            carried, handed = loop.carried[k], self._handed(loop, k)
            if handed is not None:
                inner.setdefault(handed[0], {})[handed[1]] = cell
                continue
            if self._users.get(carried):
                value = fresh(carried)
                self._replaced[carried] = value
                first.append(affine.Load(value, cell.memref, cell.index, location=loop.location))
            if end.values[k] is not carried:
                last.append(affine.Store(end.values[k], cell.memref, cell.index, location=end.location))
        body: list[Op] = []
        for op in loop.body[:-1]:
            body += self.around(op, loop.body, inner[op]) if isinstance(op, Loop) and op in inner else (op,)
        body = [op for op in body if op not in self._dropped]
        return with_fields(loop, body=(*first, *body, *last), inits=(), carried=(), results=())

    def _handed(self, loop: Loop, position: int, to: Loop | None = None) -> tuple[Loop, int] | None:
        """The loop right inside, and its position, to which a loop only hands a value on, and back."""
        carried, end = loop.carried[position], loop.body[-1]
        match self._users.get(carried, []):
            case [affine.For() | scf.For() as inner] if inner in loop.body and (to is None or inner is to):
                found = [k for k, init in enumerate(inner.inits) if init is carried]
                assert isinstance(end, affine.Yield | scf.Yield)
                if len(found) == 1 and end.values[position] is inner.results[found[0]]:
                    result = inner.results[found[0]]
                    if self._users[result] == [end] and end.values.count(result) == 1:
                        return inner, found[0]
        return None

    def _store_of(self, result: Value, loop: Loop, block: Block) -> affine.Store | None:
        """The store behind a loop whose element nothing else touches from before the loop on."""
        place = block.index(loop)
        for op in self._users.get(result, ()):
            if isinstance(op, affine.Store) and op.value is result and op in block[place:] and op not in self._dropped:
                between = block[place : block.index(op)]
                made = {v for each in between for v in each.defines()}
                named = {op.memref, *(v for e in op.index for v in e.values())}
                if not made & named and not any(self._meet(op, a, loop) for a in self._inside(between)):
                    return op
        return None

    def _overwritten(self, init: Value, loop: Loop, block: Block) -> _Cell | None:
        """The element that the first value is loaded from, if nothing needs that before it is stored to again."""
        load, place = self._makers.get(init), block.index(loop)
        if not isinstance(load, affine.Load) or load not in block[:place] or loop.inits.count(init) > 1:
            return None
        for at, op in enumerate(block[place:], place):
            if isinstance(op, affine.Store) and (op.memref, op.index) == (load.memref, load.index):
                between = self._inside(block[block.index(load) + 1 : at])
                kept = op.value not in loop.results and not any(self._meet(load, a, loop) for a in between)
                return _Cell(load.memref, load.index) if kept else None
        return None

    def _is_there(self, init: Value, cell: _Cell, loop: Loop, block: Block) -> bool:
        """Whether an element holds the first value already, since that is loaded from it; the load goes if it may."""
        load, place = self._makers.get(init), block.index(loop)
        if not isinstance(load, affine.Load) or load not in block[:place]:
            return False
        if load.memref is not cell.memref or load.index != cell.index:
            return False
        if any(a.kind == "write" and self._meet(load, a, loop) for a in self._inside(block[block.index(load) : place])):
            return False
        if self._users[init] == [loop] and loop.inits.count(init) == 1:
            self._dropped.add(load)
        return True

    def _inside(self, ops: Sequence[Op]) -> Iterator[Access]:
        return (access for op in ops for access in self._dependences.accesses.inside(op))

    def _meet(self, op: Op, other: Access, loop: Loop) -> bool:
        """Whether an access may touch the element of a load or a store, in the same iteration of the loops around."""
        accesses = self._dependences.accesses
        (own,) = accesses.inside(op)
        return may_meet(accesses, own, other, len(accesses.domains[loop].ivs))

    def placed(self, loop: Loop, new: Sequence[Op]) -> func.Func:
        """The function with what was made of a loop, and without what went."""

        def rule(op: Op) -> Sequence[Op] | None:
            return new if op is loop else () if op in self._dropped else None

        return renamed(rewrite(self._function, rule), self._replaced)
