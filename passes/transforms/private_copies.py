"""Loops that update elements which data chooses, as histograms, as parallel bands: each part has its own copy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from affdsl.frozen import FrozenValue
from affdsl.ir import layouts
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, memref, scf
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.location import Location
from affdsl.ir.parts import neutral
from affdsl.ir.traverse import map_blocks, users, walk, with_fields
from affdsl.ir.types import INDEX, ElementType, FloatType, IntegerType, MemRefType, StridedLayout
from affdsl.passes.analysis.boxes import width_of
from affdsl.passes.analysis.combining import COMBINERS
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.effects import may_do_anything
from affdsl.passes.analysis.reduction import ROUNDED
from affdsl.passes.analysis.storage import Buffer
from affdsl.passes.transforms.loops.nests import replaced

PAGE = 4096 * 8
"""How many bits a page of memory has: processors load what lies near an element ahead, but of its page alone."""
IN_A_ROW = 8192
"""How many iterations a part takes in a row: they may read what lies side by side."""
DEEPEST = 6
"""An index is looked at through so many operations."""
Stays: TypeAlias = Callable[[Value], bool]
"""Whether a loop stores to no element of an array."""
_LOADS, _STORES = (affine.Load, memref.Load), (affine.Store, memref.Store)


class Updated(FrozenValue):
    """An array that a loop only updates, each element in one way.

    Attributes
    ----------
    array, shape
        The array, and how long it is along each dimension.
    kind
        The operation of arith that combines what two parts have made.
    accesses
        The loads and stores.
    """

    array: Value
    shape: tuple[Affine, ...]
    kind: str
    accesses: frozenset[Op]


def updated_of(function: Func, loop: affine.For, module: Module | None = None) -> Updated | None:
    """The one array that a loop updates in elements that several iterations may share; None where more is in the way.

    Nothing else goes from one iteration to another, and nothing but the updates touches the array in the loop.
    """
    if loop.results or any(may_do_anything(op) for op in walk(loop)):
        return None
    dependences = Dependences(function, module)
    found: set[Buffer] = set()
    for each in dependences.carried_by(loop.iv):
        found |= {each.source.buffer, each.sink.buffer}
    if len(found) != 1:
        return None
    (buffer,) = found
    storage = dependences.accesses.storage
    inside = [a for a in dependences.compared if loop.iv in a.ivs and storage.may_alias(a.buffer, buffer)]
    arrays = {getattr(a.op, "memref", None) for a in inside}
    (array, *others) = arrays
    if others or not isinstance(array, Value) or any(a.buffer is not buffer for a in inside):
        return None
    shape = _shape(function, array)
    written = [a.buffer for a in dependences.compared if a.kind == "write" and loop.iv in a.ivs]

    def stays(memref: Value) -> bool:
        return not any(storage.may_alias(each, storage.buffer(memref)) for each in written)

    kind = _kind(loop, array, {a.op for a in inside}, stays)
    if shape is None or kind is None:
        return None
    return Updated(array, shape, kind, frozenset(a.op for a in inside))


def needs_reassociation(updated: Updated) -> bool:
    """Whether copies are rounded in another way than the array."""
    return updated.kind in ROUNDED


def in_private_copies(function: Func, loop: affine.For, updated: Updated, parts: int) -> Func:
    """The function where so many parts of a loop's iterations update a copy of an array each, in parallel.

    for i = 0 to n: h[x[i]] += 1
    ->
    copies = alloc(parts, m)
    parallel part = 0 to parts:
        for k: copies[part, k] = 0
        for row = 8192 * part to n step 8192 * parts: for i = row to min(n, row + 8192): copies[part, x[i]] += 1
    for part, for k: h[k] += copies[part, k]

    Copies of one dimension take whole pages: in one page, what a processor loads ahead for one thread would be taken
    from another, again and again.
    """
    at, hint = loop.location, loop.iv.hint
    type = updated.array.type
    assert isinstance(type, MemRefType)
    shape = _in_pages(updated.shape, type.element)
    sizes = [Value(INDEX) for e in shape if not e.is_constant]
    dims = tuple(e.constant if e.is_constant else None for e in shape)
    copies = Value(MemRefType((parts, *dims), type.element), f"{updated.array.hint or 'array'}_copies", at)
    made: list[Op] = [
        affine.Apply(v, e, location=at) for v, e in zip(sizes, (e for e in shape if not e.is_constant), strict=True)
    ]
    made.append(memref.Alloc(copies, tuple(sizes), PAGE // 8, location=at))
    part, row = Value(INDEX, f"{hint}_part", at), Value(INDEX, f"{hint}_row", at)
    own = _own_copy(copies, part, sizes)
    inner = with_fields(_onto(loop, updated, own.result), lower=(Affine.of(row),), written=None, attributes=())
    step = loop.step * IN_A_ROW
    inner = with_fields(inner, upper=(*loop.upper, row + step))
    starts = tuple(low + part * step for low in loop.lower)
    rows = affine.For(row, starts, loop.upper, (inner,), step * parts, location=at)
    nothing = neutral(updated.kind, Value(type.element, location=at))

    def filled(index: Sequence[Affine]) -> list[Op]:
        return [affine.Store(nothing.result, copies, (Affine.of(part), *index), location=at)]

    body = (nothing, _over(updated.shape, filled, at, "k"), own, rows)
    bounds = ((Affine(),),), ((Affine.of(parts),),), (1,)
    made.append(affine.Parallel((part,), *bounds, body, location=at, attributes=loop.attributes))
    each = Value(INDEX, part.hint, at)

    def added(index: Sequence[Affine]) -> list[Op]:
        old, more, new = (Value(type.element, location=at) for _ in range(3))
        return [
            affine.Load(old, updated.array, tuple(index), location=at),
            affine.Load(more, copies, (Affine.of(each), *index), location=at),
            arith.Binary(new, updated.kind, old, more, location=at),
            affine.Store(new, updated.array, tuple(index), location=at),
        ]

    total = _over(updated.shape, added, at, "k")
    made.append(affine.For(each, (Affine(),), (Affine.of(parts),), (total,), 1, location=at))
    made.append(memref.Dealloc(copies, location=at))
    return replaced(function, loop, *made)


def _in_pages(shape: Sequence[Affine], element: ElementType) -> tuple[Affine, ...]:
    """How long a copy is in memory: that of one dimension so that no other one is in the same pages."""
    (last, *_), bits = shape, width_of(element)
    if len(shape) > 1 or not bits or bits > PAGE or PAGE % bits:
        return tuple(shape)
    elements = PAGE // bits
    return (last.ceildiv(elements) * elements,)


def _over(
    shape: Sequence[Affine], inside: Callable[[Sequence[Affine]], list[Op]], at: Location | None, hint: str
) -> affine.For:
    """Loops over all elements of a shape."""
    ivs = [Value(INDEX, f"{hint}{n}" if len(shape) > 1 else hint, at) for n in range(len(shape))]
    body: tuple[Op, ...] = tuple(inside([Affine.of(iv) for iv in ivs]))
    for iv, size in zip(reversed(ivs), reversed(shape), strict=True):
        body = (affine.For(iv, (Affine(),), (size,), body, 1, location=at),)
    (loop,) = body
    assert isinstance(loop, affine.For)
    return loop


def _own_copy(copies: Value, part: Value, sizes: Sequence[Value]) -> memref.SubView:
    """The copy of a part: where it begins is computed once, and not for each element."""
    type = copies.type
    assert isinstance(type, MemRefType)
    whole, rank = layouts.strided(type), len(type.shape)
    assert whole is not None, "what is allocated has strides"
    offsets: tuple[int | None, ...] = (None, *(0,) * (rank - 1))
    steps = (1,) * rank
    of = layouts.subview(whole, offsets, steps)
    made = MemRefType(type.shape[1:], type.element, StridedLayout(of.strides[1:], of.offset))
    own = Value(made, copies.hint.removesuffix("copies") + "copy", copies.location)
    shape = (1, *type.shape[1:])
    return memref.SubView(own, copies, (part,), tuple(sizes), (), offsets, shape, steps, location=copies.location)


def _onto(loop: affine.For, updated: Updated, own: Value) -> affine.For:
    """The loop with the updates of a part's copy."""

    def block(ops: tuple[Op, ...]) -> tuple[Op, ...]:
        return tuple(one(op) for op in ops)

    def one(op: Op) -> Op:
        if op not in updated.accesses:
            return map_blocks(op, block) if any(True for _ in op.blocks()) else op
        assert isinstance(op, affine.Load | affine.Store | memref.Load | memref.Store)
        return (
            with_fields(op, memref=own, written=None) if isinstance(op, affine.Access) else with_fields(op, memref=own)
        )

    made = map_blocks(loop, block)
    assert isinstance(made, affine.For)
    return made


def _shape(function: Func, array: Value) -> tuple[Affine, ...] | None:
    """How long an array is along each dimension; None where that is not known, or it has none."""
    type = array.type
    if not isinstance(type, MemRefType) or not type.shape or not isinstance(type.element, IntegerType | FloatType):
        return None
    if None not in type.shape:
        return tuple(Affine.of(size) for size in type.shape if size is not None)
    if array not in function.args or not function.shapes:
        return None
    return function.shapes[function.args.index(array)]


def _kind(loop: affine.For, array: Value, accesses: set[Op], stays: Stays) -> str | None:
    """How a loop combines elements of an array with what does not depend on them; None where it does more to it."""
    used = users(loop)
    makers = {v: op for op in walk(loop) for v in op.defines()}
    kinds = set[str]()
    left = set(accesses)
    for block in _blocks(loop):
        for store in block:
            if store not in left or not isinstance(store, _STORES) or store.memref is not array:
                continue
            combine = makers.get(store.value)
            if not isinstance(combine, arith.Binary) or combine.kind not in COMBINERS or combine not in block:
                return None
            kind, side = COMBINERS[combine.kind]
            operands = (combine.left,) if side == "left" else (combine.left, combine.right)
            load = next((makers[v] for v in operands if makers.get(v) in left), None)
            if not isinstance(load, _LOADS) or load not in block or used.get(store.value) != [store]:
                return None
            if (
                used.get(load.result) != [combine]
                or combine.left is combine.right
                or not _is_same(load, store, makers, stays)
            ):
                return None
            between = block[block.index(load) + 1 : block.index(store)]
            if any(op in left for each in between for op in walk(each)):
                return None
            kinds.add(kind)
            left -= {load, store}
    return kinds.pop() if len(kinds) == 1 and not left else None


def _blocks(op: Op) -> Iterator[tuple[Op, ...]]:
    for block in op.blocks():
        yield block
        for inner in block:
            if isinstance(inner, affine.For | affine.If | scf.If | scf.For):
                yield from _blocks(inner)


def _is_same(load: Op, store: Op, makers: Mapping[Value, Op], stays: Stays) -> bool:
    """Whether a load and a store of one block have the same subscripts."""
    if isinstance(load, affine.Load) and isinstance(store, affine.Store):
        return load.index == store.index
    if isinstance(load, memref.Load) and isinstance(store, memref.Store):
        return all(_is_equal(a, b, makers, stays, DEEPEST) for a, b in zip(load.indices, store.indices, strict=True))
    return False


def _is_equal(a: Value, b: Value, makers: Mapping[Value, Op], stays: Stays, deep: int) -> bool:
    """Whether two values are made in the same way of the same ones, by arithmetic."""
    if a is b:
        return True
    one, other = makers.get(a), makers.get(b)
    if isinstance(one, arith.Constant) and isinstance(other, arith.Constant):
        return a.type == b.type and one.value == other.value
    if isinstance(one, affine.Load) and isinstance(other, affine.Load):
        return one.memref is other.memref and one.index == other.index and stays(one.memref)
    if not deep or type(one) is not type(other) or not isinstance(one, arith.Cast | arith.Binary):
        return False
    if getattr(one, "kind", "") != getattr(other, "kind", "") or a.type != b.type:
        return False
    assert other is not None
    return all(_is_equal(x, y, makers, stays, deep - 1) for x, y in zip(one.reads(), other.reads(), strict=True))
