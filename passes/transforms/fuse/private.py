"""A buffer of its own for a fused nest: only the elements that one iteration of its outer loops uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod

from affdsl.frozen import Frozen, FrozenValue, replace
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, memref
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.traverse import clone_block, rewrite, walk, with_fields
from affdsl.ir.types import INDEX, MemRefType
from affdsl.passes.analysis.access import Accesses
from affdsl.passes.analysis.boxes import BUDGET, width_of
from affdsl.passes.analysis.polyhedral import Dim, Map, UnknownError, function_of, hull_of, merged, spending
from affdsl.passes.analysis.region import region_of
from affdsl.passes.transforms.fuse.slices import sides

DIRECT = (affine.Load, affine.Store, affine.VectorLoad, affine.VectorStore)


class FastMemory(FrozenValue):
    """A memory space for private buffers of at most so many bytes."""

    space: int
    most_bytes: int


class PrivateBuffer(Frozen):
    """What stands for a buffer in a nest.

    Attributes
    ----------
    old, new
        The memref that was used, and the one that is used now.
    offsets
        The element of the old one that is the first of the new one, over the loops around.
    sizes
        Of its dimensions; None is the whole dimension, whose size is known only at run time.
    dynamic
        Of its dynamic dimensions.
    made
        The operations that compute these.
    """

    old: Value
    new: Value
    offsets: tuple[Affine, ...]
    sizes: tuple[Affine | None, ...]
    dynamic: tuple[Value, ...]
    made: Block

    def bytes(self, sizes: Mapping[Value, int]) -> int:
        """How large it is where sizes have these numbers."""
        assert isinstance(self.new.type, MemRefType)
        elements = prod(sizes[self.old] if e is None else max(0, e.evaluate(sizes)) for e in self.sizes)
        return elements * (width_of(self.new.type.element) or 1)

    @property
    def is_smaller(self) -> bool:
        """Whether it has fewer elements than the one that was there."""
        return self.old.type != self.new.type

    def placed(self, fast: FastMemory) -> PrivateBuffer:
        """This buffer in a fast memory, if its size is known and it fits."""
        type = self.new.type
        assert isinstance(type, MemRefType)
        if None in type.shape or self.bytes({}) > fast.most_bytes:
            return self
        new = Value(replace(type, space=fast.space), self.new.hint, self.new.location)
        return replace(self, new=new)

    def allocated(self, like: Op | None = None) -> Block:
        """The operations that make it, on the heap or as another allocation does."""
        cls = memref.Alloca if isinstance(like, memref.Alloca) else memref.Alloc
        return (*self.made, cls(self.new, self.dynamic))

    def renamed(self, values: Mapping[Value, Value]) -> PrivateBuffer:
        """The same for a nest that is like this one, with other values."""
        new: dict[Value, Term] = dict(values)
        made = clone_block(self.made, new)
        old = values[self.old]
        return PrivateBuffer(
            old,
            Value(self.new.type, old.hint, old.location),
            tuple([e.substitute(new) for e in self.offsets]),
            tuple([None if e is None else e.substitute(new) for e in self.sizes]),
            tuple([_value(new.get(v, v)) for v in self.dynamic]),
            made,
        )

    def redirected(self, nest: Op, constants: Mapping[Value, int]) -> Op:
        """A nest that uses this buffer instead of the old one; some values around are known to be constants."""
        computed: dict[Value, Term] = {v: Affine.of(number) for v, number in constants.items()}
        computed |= {op.result: op.expr for op in walk(nest) if isinstance(op, affine.Apply)}

        def moved(op: Op) -> Op | None:
            if not isinstance(op, DIRECT) or op.memref is not self.old:
                return None
            index = tuple(_less(e, offset, computed) for e, offset in zip(op.index, self.offsets, strict=True))
            return with_fields(op, memref=self.new, index=index, written=None)

        return rewrite(Module((nest,)), moved).body[0]


def _less(index: Affine, offset: Affine, computed: Mapping[Value, Term]) -> Affine:
    """How far an index is behind an offset, with what values are computed from written out: most of it goes away."""
    if offset == Affine():
        return index
    found = index - offset
    while not computed.keys().isdisjoint(found.values()):
        found = found.substitute(computed)
    return found


def _value(term: Term) -> Value:
    assert isinstance(term, Value), "an operation that makes a size gives a value"
    return term


def private_buffer(function: Func, nest: Op, inside: Op, old: Value, fast: FastMemory | None = None) -> PrivateBuffer:
    """A buffer for what a nest uses of another in one iteration of the loops around an operation.

    Raises UnknownError where the nest does not use it by affine subscripts alone.
    """
    accesses = Accesses(function)
    type = old.type
    is_plain = isinstance(type, MemRefType) and type.layout is None
    if not is_plain or not all(isinstance(op, DIRECT) for op in walk(nest) if old in op.reads()):
        raise UnknownError(f"{old!r} is not used by affine subscripts alone")
    assert isinstance(type, MemRefType)
    depth = len(accesses.domains[inside].ivs)
    region = region_of(accesses, [a for a in accesses.inside(nest) if a.buffer.root is old], depth)
    if region.hidden:
        raise UnknownError(f"the subscripts of {old!r} hide dimensions")
    top = {*function.args, *(v for op in function.body for v in op.defines())}
    params = [v for v in region.params if v in top]
    axes = [_within(size, _axis(region.may, k, region.ivs, params)) for k, size in enumerate(type.shape)]
    made: list[Op] = []
    dynamic = iter(_dynamic_sizes(function, old, made))
    wholes = [next(dynamic) if size is None else None for size in type.shape]
    values = [
        whole if e is None else None if e.is_constant else _not_negative(e, made)
        for (_, e), whole in zip(axes, wholes, strict=True)
    ]
    sizes = tuple(v for v in values if v is not None)
    shape = tuple(e.constant if e is not None and e.is_constant else None for _, e in axes)
    new = Value(replace(type, shape=shape), old.hint, old.location)
    read = {v for op in made for v in op.reads()}.union(sizes)
    needed = tuple(op for op in made if read.intersection(op.defines()))
    found = PrivateBuffer(old, new, tuple(o for o, _ in axes), tuple(e for _, e in axes), sizes, needed)
    return found if fast is None else found.placed(fast)


def _within(whole: int | None, axis: tuple[Affine, Affine] | None) -> tuple[Affine, Affine | None]:
    """Where the elements begin and how many there are, of a dimension with so many, if that is known."""
    if whole is not None and (axis is None or not axis[1].is_constant or axis[1].constant >= whole):
        return Affine(), Affine.of(whole)
    return (Affine(), None) if axis is None else axis


def _axis(elements: Map, k: int, ivs: Sequence[Value], params: Sequence[Value]) -> tuple[Affine, Affine] | None:
    """Where the elements of one dimension begin, and how many there are: a number, or an expression of symbols."""
    index = Value(INDEX, f"x{k}")
    with spending(BUDGET):
        line = elements.project_out(Dim.out, k + 1, elements.dim(Dim.out) - k - 1).project_out(Dim.out, 0, k)
        line = merged(line)
        only = function_of(line, ivs, params)
        if only is not None:
            return only, Affine.of(1)
        hull = hull_of(line.wrap().flatten(), (*ivs, index), params)
    lower, upper = ([e for each in side for e in each] for side in zip(*(sides(c, index) for c in hull), strict=True))
    ranges = [(low, high - low) for low, high in product(lower, upper)]
    fixed = [(low, size) for low, size in ranges if size.is_constant]
    if fixed:
        return min(fixed, key=lambda each: each[1].constant)
    return next(((low, size) for low, size in ranges if not set(size.values()).intersection(ivs)), None)


def _dynamic_sizes(function: Func, old: Value, made: list[Op]) -> Iterator[Value]:
    """The sizes of the dynamic dimensions of a buffer."""
    assert isinstance(old.type, MemRefType)
    for op in walk(function):
        if isinstance(op, memref.Allocation) and op.result is old:
            yield from op.sizes
            return
    for axis, size in enumerate(old.type.shape):
        if size is None:
            number = arith.Constant(Value(INDEX, f"c{axis}"), axis)
            dim = memref.Dim(Value(INDEX, old.hint), old, number.result)
            made += [number, dim]
            yield dim.result


def _not_negative(size: Affine, made: list[Op]) -> Value:
    """A size as a value, or zero where it would be negative."""
    largest = affine.Max(Value(INDEX, "size"), (size, Affine()))
    made.append(largest)
    return largest.result
