"""Carries in values what is kept in buffers of one element, under conditions and in loops, too."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from affdsl.frozen import FrozenValue, field
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, func, memref, scf
from affdsl.ir.dialects import complex as complex_
from affdsl.ir.expr import Affine, Value
from affdsl.ir.renaming import renamed
from affdsl.ir.traverse import OpT, map_blocks, rewrite, users, walk, with_fields
from affdsl.ir.types import I1, ComplexType, FloatType, IndexType, IntegerType, MemRefType

Structured = affine.For | affine.If | scf.For | scf.If | scf.While
"""Operations that can hand values on: to the next iteration, and out of them."""
Shared = affine.Parallel | scf.Parallel
"""Loops whose iterations may run at once, which can only read what stands outside."""
Index = tuple[Affine, ...]
Place = tuple[Value, Index]
"""A buffer, and which element of it: that of a buffer of rank 0 has no subscripts."""
Numbers = dict[Place, Value]
"""What each place holds."""
Loads = affine.Load | memref.Load
Stores = affine.Store | memref.Store
MOST_ELEMENTS = 64
"""Arrays of so many elements at most are numbers, where all their subscripts are."""


class _Kept(FrozenValue):
    """The buffers that are gone altogether, and what stands for each number that was loaded.

    Attributes
    ----------
    gone
        The buffers, and which elements of each hold 0 at first.
    stored
        What is stored in an operation, as far as somebody has asked.
    """

    gone: Mapping[Value, Sequence[Place]] = field(default_factory=dict)
    replaced: dict[Value, Value] = field(default_factory=dict)
    stored: dict[Op, frozenset[Place]] = field(default_factory=dict)

    def is_stored(self, op: Op) -> frozenset[Place]:
        """The elements that are stored in an operation."""
        found = self.stored.get(op)
        if found is None:
            place = _place(op) if isinstance(op, Stores) else None
            inner = [self.is_stored(each) for block in op.blocks() for each in block]
            found = frozenset(() if place is None else (place,)).union(*inner)
            if any(op.blocks()):
                self.stored[op] = found
        return found


def carried_variables(root: OpT) -> OpT:
    """The same program with values in place of local buffers of one element, and of short ones with known subscripts.

        s = alloca; s[] = 0; for i: s[] += A[i]; B[0] = s[]   ->   t = for i, s = 0: yield s + A[i]; B[0] = t

    Nothing but loads and stores uses the buffers, below conditions and loops; loops whose iterations may run at once
    only load of those that are made outside. It is the same object where there are none.

    >>> from affdsl.mlir.readers import parse
    >>> print(carried_variables(parse('''func.func @f(%A: memref<9xf32>, %x: f32) -> f32 {
    ...     %s = memref.alloca() : memref<f32>
    ...     affine.store %x, %s[] : memref<f32>
    ...     affine.for %i = 0 to 9 {
    ...       %a = affine.load %A[%i] : memref<9xf32>
    ...       affine.store %a, %s[] : memref<f32>
    ...     }
    ...     %y = affine.load %s[] : memref<f32>
    ...     return %y : f32
    ... }''')).functions[0])
    func.func @f(%A: memref<9xf32>, %x: f32) -> f32 {
      %s = affine.for %i = 0 to 9 iter_args(%s_0 = %x) -> (f32) {
        %a = affine.load %A[%i] : memref<9xf32>
        affine.yield %a : f32
      }
      return %s : f32
    }
    """
    own = _Own(root)
    return _without(root, own.found(), own.is_set)


def without_own_variables(loop: affine.For) -> affine.For:
    """The loop where what an iteration keeps in buffers of one element of its own are values, and no buffers.

        for i: { s = alloca; s[] = 0; for j: s[] += A[i, j]; B[i] = s[] }
            ->   for i: { t = for j, s = 0: yield s + A[i, j]; B[i] = t }

    The buffers are of rank 0, set first of all in the block that makes them, and nothing but loads and stores below
    conditions and loops uses them. It is the same object where there are none.
    """
    own = _Own(loop)
    found = {v: places for v, places in own.found().items() if {(v, ())} == {*places} & own.is_set}
    return _without(loop, found, own.is_set)


def variables_replaced(function: func.Func, loop: affine.For | scf.For, elements: Sequence[Place]) -> func.Func | None:
    """The function with what a loop changes in buffers of one element carried in values; None if there is nothing.

    So are elements of arrays that are given, of which none is another one.

        for i: if c: s[] += x     ->     a = s[]; b = for i, t = a: { r = if c: t + x else: t; yield r }; s[] = b

    The buffers are the function's own, of rank 0, set before the loop, and nothing but loads and stores uses them, in
    the loop below conditions and loops only.
    """
    found = [v for v in _variables(function) if _is_changed_in(loop, v) and _is_set_before(function, loop, v)]
    carried: list[Place] = [*((v, ()) for v in found), *(place for place in elements if _is_plain(loop, place[0]))]
    if not carried:
        return None
    before, numbers, kept = list[Op](), Numbers(), _Kept()
    for buffer, index in carried:
        numbers[buffer, index] = _number(buffer)
        before.append(affine.Load(numbers[buffer, index], buffer, index, location=loop.location))
    (made,) = _block((loop,), numbers, kept)
    behind = [affine.Store(numbers[v, index], v, index, location=loop.location) for v, index in carried]
    new = (*before, made, *behind)
    return renamed(rewrite(function, lambda op: new if op is loop else None), kept.replaced)


def _without(root: OpT, buffers: Mapping[Value, Sequence[Place]], is_set: Container[Place] = ()) -> OpT:
    if not buffers:
        return root
    kept = _Kept({v: [place for place in places if place not in is_set] for v, places in buffers.items()})
    return renamed(map_blocks(root, lambda block: tuple(_block(block, {}, kept))), kept.replaced)


class _Own:
    """The buffers that an operation makes of which values can be made, and the elements of each that are used."""

    def __init__(self, root: Op) -> None:
        self.is_set: set[Place] = set()
        """The elements that are stored to first of all, in the block that makes their buffer."""
        self._places: dict[Value, list[Place]] = {}
        self._depths: dict[Value, int] = {}
        self._around: list[Op] = []
        self._others: set[Value] = set()
        for block in root.blocks():
            self._look_into(block)

    def found(self) -> dict[Value, list[Place]]:
        """The buffers, in the order in which they are made."""
        return {
            v: places
            for v, places in self._places.items()
            if v not in self._others and (_zero(v) is not None or self.is_set.issuperset(places))
        }

    def _look_into(self, block: Block) -> None:
        for op in block:
            if isinstance(op, memref.Alloca | memref.Alloc) and _is_small(op.result):
                self._places[op.result] = []
                self._depths[op.result] = len(self._around)
            for buffer in self._places.keys() & set(op.mentions()):
                if not self._is_plain(op, buffer):
                    self._others.add(buffer)
            self._around.append(op)
            for inner in op.blocks():
                self._look_into(inner)
            self._around.pop()

    def _is_plain(self, op: Op, buffer: Value) -> bool:
        """Whether an operation loads or stores an element that is known, where values can be handed on."""
        place = _place(op)
        if place is None or place[0] is not buffer or (isinstance(op, Stores) and op.value is buffer):
            return False
        if not all(each.is_constant for each in place[1]):
            return False
        between = self._around[self._depths[buffer] :]
        if place not in self._places[buffer]:
            self._places[buffer].append(place)
            if isinstance(op, Stores) and not between:
                self.is_set.add(place)
        passed = Structured | Shared if isinstance(op, Loads) else Structured
        return all(isinstance(each, passed) for each in between)


def _place(op: Op) -> Place | None:
    """What an operation loads or stores, if it is one element whose subscripts are affine."""
    match op:
        case affine.Load() | affine.Store():
            return op.memref, op.index
        case memref.Load() | memref.Store() if not op.indices:
            return op.memref, ()
    return None


def _is_small(buffer: Value) -> bool:
    if not isinstance(buffer.type, MemRefType) or buffer.type.space or buffer.type.layout is not None:
        return False
    elements = 1
    for size in buffer.type.shape:
        elements *= MOST_ELEMENTS + 1 if size is None else size
    return elements <= MOST_ELEMENTS


def _zero(buffer: Value) -> Op | None:
    """What an element of a buffer holds that nobody has stored to: any number will do."""
    assert isinstance(buffer.type, MemRefType)
    match buffer.type.element:
        case ComplexType():
            return complex_.Constant(_number(buffer), 0j, location=buffer.location)
        case FloatType():
            return arith.Constant(_number(buffer), 0.0, location=buffer.location)
        case IntegerType() | IndexType() as type:
            return arith.Constant(_number(buffer), False if type == I1 else 0, location=buffer.location)
    return None


def _variables(root: Op) -> list[Value]:
    """The buffers of one element that nothing but loads and stores uses."""
    used = users(root)
    made = [op.result for op in walk(root) if isinstance(op, memref.Alloca | memref.Alloc)]
    return [
        v
        for v in made
        if isinstance(v.type, MemRefType) and not v.type.rank and all(_accesses(op, v) for op in used.get(v, ()))
    ]


def _accesses(op: Op, buffer: Value) -> bool:
    return isinstance(op, affine.Load) or (isinstance(op, affine.Store) and op.value is not buffer)


def _is_changed_in(loop: affine.For | scf.For, buffer: Value) -> bool:
    """Whether a loop stores to a buffer that is made outside, and uses it below loops and conditions only."""
    if buffer in {v for op in walk(loop) for v in op.defines()}:
        return False
    return _stores(loop, (buffer, ())) and _is_plain(loop, buffer)


def _stores(op: Op, place: Place) -> bool:
    return any(isinstance(inner, affine.Store) and (inner.memref, inner.index) == place for inner in walk(op))


def _is_plain(op: Op, buffer: Value) -> bool:
    if not any(isinstance(inner, affine.Load | affine.Store) and inner.memref is buffer for inner in walk(op)):
        return True
    if isinstance(op, affine.Load | affine.Store):
        return True
    return isinstance(op, Structured) and all(_is_plain(inner, buffer) for block in op.blocks() for inner in block)


def _is_set_before(function: func.Func, loop: affine.For | scf.For, buffer: Value) -> bool:
    """Whether the buffer certainly holds a number when the loop begins."""

    def reached(block: Block) -> bool | None:
        is_set = False
        for op in block:
            if op is loop:
                return is_set
            inside = [found for inner in op.blocks() if (found := reached(inner)) is not None]
            if inside:
                return is_set or inside[0]
            is_set |= isinstance(op, affine.Store) and op.memref is buffer
        return None

    return bool(reached(function.body))


def _block(block: Sequence[Op], numbers: Numbers, kept: _Kept) -> list[Op]:
    """Operations without loads and stores of variables; `numbers` changes to what these hold after them."""
    made: list[Op] = []
    for op in block:
        place = _place(op)
        match op:
            case affine.Load() | memref.Load() if place is not None and place in numbers:
                kept.replaced[op.result] = numbers[place]
            case affine.Store() | memref.Store() if place is not None and (place in numbers or place[0] in kept.gone):
                numbers[place] = op.value
            case memref.Alloca() | memref.Alloc() if op.result in kept.gone:
                for unset in kept.gone[op.result]:
                    zero = _zero(op.result)
                    assert zero is not None, "other buffers are set first"
                    made.append(zero)
                    (numbers[unset],) = zero.defines()
            case affine.For() | scf.For():
                made.append(_loop(op, numbers, kept))
            case scf.While():
                made.append(_while(op, numbers, kept))
            case affine.If() | scf.If():
                made.append(_branch(op, numbers, kept))
            case _ if numbers or kept.gone:
                made.append(map_blocks(op, lambda block: tuple(_block(block, dict(numbers), kept))))
            case _:
                made.append(op)
    return made


def _loop(op: affine.For | scf.For, numbers: Numbers, kept: _Kept) -> Op:
    changed = _changed(op, numbers, kept)
    inside = numbers | {place: _number(place[0]) for place in changed}
    carried = tuple(inside[place] for place in changed)
    inits = tuple(numbers[place] for place in changed)
    body = _ended(op.body, inside, changed, kept, affine.Yield if isinstance(op, affine.For) else scf.Yield)
    results = _results(changed, numbers)
    return with_fields(
        op, body=body, inits=(*op.inits, *inits), carried=(*op.carried, *carried), results=(*op.results, *results)
    )


def _while(op: scf.While, numbers: Numbers, kept: _Kept) -> Op:
    changed = _changed(op, numbers, kept)
    inits = tuple(numbers[place] for place in changed)
    asked = numbers | {place: _number(place[0]) for place in changed}
    asks = tuple(asked[place] for place in changed)
    *before, condition = _block(op.before, asked, kept)
    assert isinstance(condition, scf.Condition), "a while loop asks"
    handed = tuple(asked[place] for place in changed)
    inside = numbers | {place: _number(place[0]) for place in changed}
    carried = tuple(inside[place] for place in changed)
    after = _ended(op.after, inside, changed, kept, scf.Yield)
    return with_fields(
        op,
        inits=(*op.inits, *inits),
        before_args=(*op.before_args, *asks),
        before=(*before, with_fields(condition, values=(*condition.values, *handed))),
        after_args=(*op.after_args, *carried),
        after=after,
        results=(*op.results, *_results(changed, numbers)),
    )


def _branch(op: affine.If | scf.If, numbers: Numbers, kept: _Kept) -> Op:
    changed = _changed(op, numbers, kept)
    end = affine.Yield if isinstance(op, affine.If) else scf.Yield
    then = _ended(op.then, dict(numbers), changed, kept, end)
    orelse = _ended(op.orelse, dict(numbers), changed, kept, end)
    return with_fields(op, then=then, orelse=orelse, results=(*op.results, *_results(changed, numbers)))


def _changed(op: Op, numbers: Numbers, kept: _Kept) -> list[Place]:
    """The places to which an operation stores."""
    stored = kept.is_stored(op)
    return [place for place in numbers if place in stored]


def _ended(
    block: Block, inside: Numbers, changed: Sequence[Place], kept: _Kept,
    end: type[affine.Yield] | type[scf.Yield],
) -> Block:  # fmt: skip
    """A block that also yields what the variables hold in the end."""
    made = _block(block, inside, kept)
    if not changed:
        return tuple(made)
    last = tuple(inside[place] for place in changed)
    if made and isinstance(made[-1], affine.Yield | scf.Yield):
        return (*made[:-1], with_fields(made[-1], values=(*made[-1].values, *last)))
    return (*made, end(last))


def _results(changed: Sequence[Place], numbers: Numbers) -> tuple[Value, ...]:
    for place in changed:
        numbers[place] = _number(place[0])
    return tuple(numbers[place] for place in changed)


def _number(buffer: Value) -> Value:
    assert isinstance(buffer.type, MemRefType)
    return Value(buffer.type.element, buffer.hint, buffer.location)
