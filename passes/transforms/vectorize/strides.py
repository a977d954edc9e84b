"""Accesses at a stride that lie between one another, and may be done together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, memref
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import IndexType, MemRefType
from affdsl.passes.transforms.vectorize.varying import Varying

LONGEST = 8
"""The largest stride: so many vectors are loaded for one of which the lanes are used."""

Access = affine.Load | affine.Store
_Load = affine.Load | memref.Load
_Store = affine.Store | memref.Store
MayAlias = Callable[[Value, Value], bool]


class Element(FrozenValue):
    """Where an access at a stride lies: `first` in the row that begins with dimension `dim`, in the first iteration."""

    op: Access
    dim: int
    first: Affine
    stride: int

    def distance(self, other: Element) -> int | None:
        """How far behind another one it lies in each iteration; None where that is not one number."""
        if (self.op.memref, self.dim, self.stride) != (other.op.memref, other.dim, other.stride):
            return None
        if self.op.index[: self.dim] != other.op.index[: other.dim]:
            return None
        apart = self.first - other.first
        return apart.constant if apart.is_constant else None

    def may_meet(self, other: Element | Op, may_alias: MayAlias) -> bool:
        """Whether it may be an element of another access, in any two lanes."""
        op = other.op if isinstance(other, Element) else other
        assert isinstance(op, _Load | _Store)
        if isinstance(op, _Load) and isinstance(self.op, _Load):
            return False
        if not may_alias(self.op.memref, op.memref):
            return False
        apart = self.distance(other) if isinstance(other, Element) else None
        return apart is None or apart % self.stride == 0


class Group:
    """Loads, or stores, of elements less than a stride apart, which are done at one place in the text."""

    def __init__(self) -> None:
        self.members: list[Element] = []
        self.behind: list[int] = []
        """How many accesses of the block stand before what is behind each of them."""
        self.ahead = 0
        """How far before the lowest element of stores their vectors begin: where those of loads do.

        The next iteration else loads what lies behind the last element of a vector that was stored, and waits for it.
        """
        self.takes_gaps = False
        """Whether the elements between those that are loaded may be loaded, too: no iteration stores to them."""

    @property
    def is_load(self) -> bool:
        """Whether it loads."""
        return isinstance(self.members[0].op, affine.Load)

    @property
    def place(self) -> Op:
        """Where it is done: loads where the first of them stands, stores where the last one does."""
        return self.members[0 if self.is_load else -1].op

    @property
    def offsets(self) -> list[int]:
        """How far behind the place where vectors begin each member is: the lowest element, or what lies `ahead`."""
        apart = [each.distance(self.members[0]) or 0 for each in self.members]
        return [each - min(apart) + self.ahead for each in apart]

    def begin_with(self, loads: Group) -> None:
        """Let the vectors of stores begin where those of loads of the same row do, if these begin before."""
        apart = self.members[0].distance(loads.members[0])
        if apart is None or self.is_load or not loads.is_load:
            return
        ahead = apart - self.offsets[0] + self.ahead + loads.offsets[0]
        if self.ahead < ahead < abs(self.members[0].stride) - max(self.offsets) + self.ahead:
            self.ahead = ahead

    def takes(self, element: Element, seen: Sequence[Element | Op], may_alias: MayAlias) -> bool:
        """Whether an access may join: what is done earlier, or later, than in the text meets nothing in between.

        `seen` are the accesses of the block before it.
        """
        apart = [element.distance(each) for each in self.members]
        if None in apart or type(element.op) is not type(self.members[0].op):
            return False
        together = [0, *(each for each in apart if each is not None)]
        if max(together) - min(together) >= abs(element.stride):
            return False
        moved = [(element, self.behind[0])] if self.is_load else zip(self.members, self.behind, strict=True)
        return not any(each.may_meet(other, may_alias) for each, first in moved for other in seen[first:])

    def pays(self, width: int) -> bool:
        """Whether vectors and shuffles are fewer than the elements."""
        vectors, count = abs(self.members[0].stride), len(self.members)
        return vectors + count * (vectors - 1) < count * width


Groups = Mapping[Op, Group]


def groups(loop: affine.For, varying: Varying, width: int, may_alias: MayAlias, alone: Collection[Op] = ()) -> Groups:
    """The groups of a loop, by the accesses in them; those `alone` are in none."""
    found = [
        group for block in _blocks(loop.body, varying) for group in _of_block(loop, block, varying, may_alias, alone)
    ]
    for group in found:
        group.takes_gaps = group.is_load and _may_take_gaps(loop, group.members[0], found, may_alias)
    return {each.op: group for group in found if group.pays(width) for each in group.members}


def _may_take_gaps(loop: affine.For, first: Element, found: Sequence[Group], may_alias: MayAlias) -> bool:
    """Whether no iteration stores to what lies between the elements of loads, so that they may be loaded with them."""
    known = {each.op: each for group in found for each in group.members}

    def stays_out(store: _Store) -> bool:
        apart = known[store].distance(first) if store in known else None
        return apart is not None and apart % first.stride == 0

    stores = (op for op in walk(loop) if isinstance(op, _Store) and may_alias(op.memref, first.op.memref))
    return all(map(stays_out, stores))


def _blocks(block: Block, varying: Varying) -> Iterator[Block]:
    """Blocks whose operations all lanes run."""
    yield block
    for op in block:
        if isinstance(op, affine.For) or not varying.of(op):
            for inner in op.blocks():
                yield from _blocks(inner, varying)


def _of_block(
    loop: affine.For, block: Block, varying: Varying, may_alias: MayAlias, alone: Collection[Op]
) -> list[Group]:
    made = {v for op in block for inner in walk(op) for v in (*inner.defines(), *inner.binds())}
    found: list[Group] = []
    seen: list[Element | Op] = []
    known: dict[Value, Term] = {}
    for op in block:
        if isinstance(op, arith.Constant) and isinstance(op.value, int) and isinstance(op.result.type, IndexType):
            known[op.result] = Affine.of(op.value)
        elif isinstance(op, affine.Apply):
            known[op.result] = op.expr.substitute(known)
        element = None if op in alone or not isinstance(op, Access) else _element(loop, op, known, made, varying)
        if element is None:
            seen += [inner for inner in walk(op) if isinstance(inner, _Load | _Store)]
            continue
        group = next((each for each in reversed(found) if each.takes(element, seen, may_alias)), None)
        if group is None:
            group = Group()
            found.append(group)
        seen.append(element)
        group.members.append(element)
        group.behind.append(len(seen))
    for stores, loads in product(found, found):
        stores.begin_with(loads)
    return found


def _element(
    loop: affine.For, op: Access, known: Mapping[Value, Term], made: Collection[Value], varying: Varying
) -> Element | None:
    """Where an access lies, if it is at a stride of at most `LONGEST`.

    `known` are values as expressions over others, and `made` the values of its block.
    """
    type = op.memref.type
    if not isinstance(type, MemRefType) or type.layout is not None or not op.index:
        return None
    index = [e.substitute(known) for e in op.index]
    if any(v in made or (v in varying and v is not loop.iv) for e in index for v in e.values()):
        return None
    moves = [(e.substitute({loop.iv: loop.iv + loop.step}) - e) for e in index]
    if not all(each.is_constant for each in moves) or not any(each.constant for each in moves):
        return None
    dim = next(k for k, each in enumerate(moves) if each.constant)
    sizes = [size for size in type.shape[dim + 1 :] if size is not None]
    if len(sizes) < len(type.shape) - dim - 1:
        return None
    strides = [prod(sizes[k:]) for k in range(len(sizes) + 1)]
    stride = sum(each.constant * of for each, of in zip(moves[dim:], strides, strict=True))
    first = sum((e * of for e, of in zip(index[dim:], strides, strict=True)), Affine())
    return Element(op, dim, first, stride) if 2 <= abs(stride) <= LONGEST else None
