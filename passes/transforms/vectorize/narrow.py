"""Sums of narrow integers, or of products of two: few accumulators, to each of which neighbouring lanes are added."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from affdsl.frozen import FrozenValue, replace
from affdsl.ir.blocks import yielded
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, vector
from affdsl.ir.expr import Affine, Value
from affdsl.ir.maps import AffineMap, dim
from affdsl.ir.traverse import walk
from affdsl.ir.types import IntegerType, VectorType
from affdsl.passes.lowering.carried_variables import without_own_variables
from affdsl.passes.transforms.vectorize.lanes import Lanes
from affdsl.passes.transforms.vectorize.short_integers import in_short_integers

_ROW, _LANE = Affine.of(dim(0)), Affine.of(dim(1))
MAPS = (AffineMap(2, 0, (_ROW, _LANE)), AffineMap(2, 0, (_ROW, _LANE)), AffineMap(2, 0, (_ROW,)))
"""Both factors have an accumulator and a number of a lane that is added to it."""
FEWEST = 4
"""So many accumulators there are at least."""
FOLDED = 4
"""So many sums of 32 bits are added to each other before they are made longer, where they certainly fit."""
WORD, LONG = IntegerType(32), IntegerType(64)


class Widened(FrozenValue):
    """An integer of 8 or 16 bits, and the sign or zero extensions that make it long."""

    value: Value
    kind: str
    casts: tuple[Op, ...]

    @property
    def bits(self) -> int:
        """How many bits it has."""
        assert isinstance(self.value.type, IntegerType)
        return self.value.type.width


class Narrow(FrozenValue):
    """A sum that a loop carries: the addition, what it adds, and the number or the two factors that this is made of.

    Attributes
    ----------
    for_it
        The operations that nothing but such sums needs.
    """

    addition: arith.Binary
    added: Value
    factors: tuple[Widened, ...]
    for_it: frozenset[Op]

    @property
    def ratio(self) -> int:
        """How many lanes are added to each other in 32 bits."""
        return 32 // self.factors[0].bits

    @property
    def is_long(self) -> bool:
        """Whether the sum has 64 bits."""
        return self.addition.result.type == LONG

    @property
    def just_fits(self) -> bool:
        """Whether two terms make 2^31 at most, and more than -2^31: one less fits into 32 bits."""
        return self.is_long and len(self.factors) == 2 and self.factors[0].bits == 16

    def accumulators(self, width: int) -> int:
        """How many there are for so many lanes."""
        lanes = width // self.ratio
        return lanes // FOLDED if self.is_folded(width) else lanes

    def is_folded(self, width: int) -> bool:
        """Whether sums of 32 bits are added to each other."""
        return self.is_long and not self.just_fits and width // self.ratio >= FEWEST * FOLDED


def narrow_sums(loop: affine.For, positions: Iterable[int], width: int) -> dict[int, Narrow]:
    """The sums of narrow integers, or of their products, that are widened before, of some that a loop carries.

    Nothing else reads a sum, nor what such sums add. The lanes of the narrow integers fill as many bits as their sums
    in 32 bits do, so that one instruction may do it all. Sums of 64 bits take such sums, each of so few terms that it
    is exact.
    """
    makers = {v: op for op in loop.body for v in op.defines()}
    readers: dict[Value, list[Op]] = {}
    for op in walk(loop):
        for v in op.reads():
            readers.setdefault(v, []).append(op)
    found = {}
    for k in positions:
        terms = _added(loop, k, makers, readers)
        if terms is not None and not width % terms.ratio and width // terms.ratio >= FEWEST:
            found[k] = terms
    while True:
        alone: set[Op] = {each.addition for each in found.values()}
        made = {op for each in found.values() for op in each.for_it}
        for op in reversed(loop.body):
            if op in made and all(each in alone for v in op.defines() for each in readers[v]):
                alone.add(op)
        kept = {k: each for k, each in found.items() if makers[each.added] in alone}
        if len(kept) == len(found):
            return {k: replace(each, for_it=each.for_it & alone) for k, each in found.items()}
        found = kept


def _added(
    loop: affine.For, position: int, makers: Mapping[Value, Op], readers: Mapping[Value, Sequence[Op]]
) -> Narrow | None:
    """A sum and all that makes what it adds, whatever else needs that; None if it does not add narrow integers."""
    carried, yields = loop.carried[position], yielded(loop.body)
    addition = makers.get(yields[position])
    if not isinstance(addition, arith.Binary) or addition.kind != "addi" or carried.type not in (WORD, LONG):
        return None
    if carried not in (addition.left, addition.right):
        return None
    added = addition.right if addition.left is carried else addition.left
    terms = _terms(added, makers)
    if terms is None or any(len(readers[v]) != 1 for v in (carried, addition.result)):
        return None
    factors, made = terms
    return Narrow(addition, added, factors, frozenset(made))


def _terms(added: Value, makers: Mapping[Value, Op]) -> tuple[tuple[Widened, ...], tuple[Op, ...]] | None:
    """The narrow integer, or the factors, of what a sum adds, and the operations between; None if it is none."""
    number = _widened(added, makers)
    if number is not None:
        return (number,), number.casts
    longer: tuple[Op, ...] = ()
    product = makers.get(added)
    if isinstance(product, arith.Cast) and product.kind == "extsi" and product.operand.type == WORD:
        longer, product = (product,), makers.get(product.operand)
    if not isinstance(product, arith.Binary) or product.kind != "muli":
        return None
    factors = [_widened(v, makers) for v in (product.left, product.right)]
    left, right = factors
    if left is None or right is None or left.bits != right.bits:
        return None
    if added.type == LONG and left.bits == 16 and (left.kind, right.kind) != ("extsi", "extsi"):
        return None
    return (left, right), (*longer, product, *left.casts, *right.casts)


def _widened(value: Value, makers: Mapping[Value, Op]) -> Widened | None:
    """The integer of 8 or 16 bits that is made longer by sign or by zeros alone; None for all others."""
    casts: list[arith.Cast] = []
    while isinstance(op := makers.get(value), arith.Cast) and op.kind in ("extsi", "extui"):
        casts.append(op)
        value = op.operand
    kinds = [op.kind for op in casts]
    if value.type not in (IntegerType(8), IntegerType(16)) or not kinds:
        return None
    if kinds[-1] == "extsi" and "extui" in kinds:
        return None
    return Widened(value, kinds[-1], tuple(casts))


def add_narrow(at: Lanes, sum: Narrow, accumulators: Value) -> None:
    """All of a sum: the terms of the lanes that run are added to the accumulators, neighbours to one of them."""
    location = sum.addition.location
    numbers = [at.vector(each.value) for each in sum.factors]
    if at.mask is not None:
        numbers[0] = at.chosen(numbers[0], 0)
    kinds = [each.kind for each in sum.factors]
    if len(numbers) == 1:
        element = sum.factors[0].value.type
        assert isinstance(element, IntegerType)
        numbers, kinds = [*numbers, at.constant([1] * at.width, element)], kinds * 2
    lanes = at.width // sum.ratio
    left, right = (Value(VectorType((lanes, sum.ratio), WORD)) for _ in "lr")
    for row, given, kind in zip((left, right), numbers, kinds, strict=True):
        wide = Value(VectorType((at.width,), WORD))
        at.emit(arith.Cast(wide, kind, given, location=location))
        at.emit(vector.ShapeCast(row, wide, location=location))
    before = _filled(at, lanes, -1 if sum.just_fits else 0, WORD) if sum.is_long else accumulators
    made = Value(before.type, sum.addition.result.hint)
    iterators = ("parallel", "reduction")
    at.emit(vector.Contract(made, left, right, before, maps=MAPS, iterators=iterators, location=location))
    if sum.is_long:
        made = _longer(at, sum, made, accumulators)
    at.define(sum.addition.result, made)


def _longer(at: Lanes, sum: Narrow, words: Value, accumulators: Value) -> Value:
    """Accumulators of 64 bits with sums of 32 bits added."""
    lanes = at.width // sum.ratio
    while lanes > sum.accumulators(at.width):
        lanes //= 2
        low, high = (Value(VectorType((lanes,), WORD)) for _ in "lh")
        for half, first in ((low, 0), (high, lanes)):
            at.emit(vector.ExtractStridedSlice(half, words, (first,), (lanes,), (1,)))
        words = at.binary("addi", low, high)
    long = Value(accumulators.type)
    at.emit(arith.Cast(long, "extsi", words, location=sum.addition.location))
    if sum.just_fits:  # what was taken away before
        long = at.binary("addi", long, _filled(at, lanes, 1, LONG))
    return at.binary("addi", accumulators, long)


def _filled(at: Lanes, lanes: int, number: int, element: IntegerType) -> Value:
    made = Value(VectorType((lanes,), element))
    at.emit(arith.Constant(made, (number,) * lanes))
    return made


def bits_added(loop: affine.For) -> int:
    """The bits of the widest number that the sums add which a loop carries, where all add narrow ones; 0 for others."""
    short = in_short_integers(without_own_variables(loop))
    sums = narrow_sums(short, range(len(short.carried)), 64)
    return max((f.bits for each in sums.values() for f in each.factors), default=0) * (len(sums) == len(short.carried))
