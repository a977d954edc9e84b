"""Makes one operation, rounded once, of a product and the sum that takes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeGuard

from affdsl.ir.core import Block, Lanewise, Op
from affdsl.ir.dialects import arith, math, vector
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.traverse import fresh, map_blocks, rewrite, walk, with_fields
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.like_terms import with_like_terms
from affdsl.passes.transforms.loops.nests import loop_of_any_kind


def contract(function: Func, iv: Value, *, reassociate: bool = False, module: Module | None = None) -> Func:
    """Compute a * b + c in one operation, rounded once, everywhere in a loop.

        t = a * b; s = t + c   ->   s = fma(a, b, c)

    The results round in another way, mostly nearer to the exact number. A product that something else reads too stays,
    as does one that is computed again, one with what is made of bits (a power of 2, by which C scales), and products of
    integers. Of two products that are added the one is contracted
    that is made of what comes later, or else the left one.

    Parameters
    ----------
    iv
        The induction variable of the loop, which may be parallel.
    reassociate
        Allow sums in another order: where products are added before a constant, or a value from before the loop, that
        is added to the first one; and like terms are taken together where that takes fewer operations.

            s = a * b + c * d + 1                     ->   s = fma(c, d, fma(a, b, 1))
            s = 0.5 * (a - 2 * b) + 0.5 * c + 2 * b   ->   s = fma(0.5, a + c, b)
    module
        What the function stands in. Nothing is asked of it here.

    Raises
    ------
    IllegalTransform
        If no sum in the loop takes a product that nothing else reads, nor has like terms that are taken together.

    References
    ----------
    IEEE 754-2019, 5.4.1, fusedMultiplyAdd; ISO C11, 6.5 paragraph 8, contracted expressions.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<8xf32>, %x: f32) {
    ...   affine.for %i = 0 to 8 {
    ...     %a = affine.load %A[%i] : memref<8xf32>
    ...     %p = arith.mulf %a, %x : f32
    ...     %s = arith.subf %a, %p : f32
    ...     affine.store %s, %A[%i] : memref<8xf32>
    ...   }
    ...   return
    ... }''').functions[0]
    >>> print(contract(f, f.body[0].iv).body[0])
    affine.for %i = 0 to 8 {
      %a = affine.load %A[%i] : memref<8xf32>
      %0 = arith.negf %a : f32
      %s = math.fma %0, %x, %a : f32
      affine.store %s, %A[%i] : memref<8xf32>
    }
    """
    what = f"contract products and sums in loop {name(iv)}"
    loop = loop_of_any_kind(function, iv, what)
    uses, as_it_was = _uses(function), loop
    if reassociate:
        early = with_like_terms(loop, function, uses)
        uses += _uses(early)
        uses -= _uses(loop)
        early = map_blocks(early, _NumbersFirst(early, uses).block)
        function, loop = rewrite(function, lambda op: early if op is loop else None), early
    powers = {op.result for op in walk(loop) if isinstance(op, arith.Cast) and op.kind == "bitcast"}
    products = {
        op.result: op for op in walk(loop) if _is(op, "mulf") and uses[op.result] == 1 and op.right not in powers
    }
    kept, late = _computed_again(products.values()), _lateness(loop)
    taken: set[Op] = set()

    def rule(op: Op) -> tuple[Op, ...] | None:
        if not isinstance(op, arith.Binary) or op.kind not in ("addf", "subf"):
            return None
        found = [products[v] for v in (op.left, op.right) if v in products and products[v] not in kept]
        if not found:
            return None
        product = max(found, key=lambda each: late[each.result])
        taken.add(product)
        is_left = product.result is op.left
        other = op.right if is_left else op.left
        if op.kind == "addf":
            return (_fma(op, product.left, product.right, other),)
        negated = Value(op.result.type)
        if is_left:  # a * b - c
            return arith.Negate(negated, other, location=op.location), _fma(op, product.left, product.right, negated)
        minus = arith.Negate(negated, product.left, location=op.location)
        return minus, _fma(op, negated, product.right, other)

    inside = rewrite(loop, rule)
    if not taken and loop is as_it_was:
        raise refusal(loop, what, "no sum in it takes a product that nothing else reads")
    inside = rewrite(inside, lambda op: () if op in taken else None)
    return rewrite(function, lambda op: inside if op is loop else None)


def _uses(root: Op) -> Counter[Value]:
    """How often each value is read."""
    return Counter(v for op in walk(root) for v in op.reads())


def _is(op: Op | None, kind: str) -> TypeGuard[arith.Binary]:
    return isinstance(op, arith.Binary) and op.kind == kind


class _NumbersFirst:
    """Adds what is known before a loop to the first of two products, if their sum is added to it further on."""

    def __init__(self, loop: Op, uses: Mapping[Value, int]) -> None:
        self._uses = uses
        self._made = {v: op for op in walk(loop) for v in (*op.defines(), *op.binds())}

    def block(self, block: Block) -> Block:
        """A block with such sums in another order."""
        inner = tuple(map_blocks(op, self.block) for op in block)
        readers = {v: op for op in inner for v in op.reads()}
        changed: dict[Op, Sequence[Op]] = {}
        for op in inner:
            if _is(op, "addf") and self._is_product(op.left) and self._is_product(op.right):
                found = self._reordered(op, readers)
                changed |= found if changed.keys().isdisjoint(found) else {}  # one number is added to one of two sums
        return tuple(new for op in inner for new in changed.get(op, (op,))) if changed or inner != block else block

    def _is_product(self, value: Value) -> bool:
        return self._uses[value] == 1 and _is(self._made.get(value), "mulf")

    def _reordered(self, first: arith.Binary, readers: Mapping[Value, Op]) -> dict[Op, Sequence[Op]]:
        """The sums from one of two products on up to that of a number, which is added first; nothing without such."""
        chain, added = [first], [first.left, first.right]
        while self._uses[chain[-1].result] == 1 and _is(following := readers.get(chain[-1].result), "addf"):
            value = following.right if following.left is chain[-1].result else following.left
            chain.append(following)
            if (number := self._number(value)) is not None:
                start, makers = number
                sums = [
                    with_fields(op, left=before, right=each)
                    for op, before, each in zip(chain, [start, *(op.result for op in chain[:-1])], added, strict=True)
                ]
                return {op: (*makers, new) if op is first else (new,) for op, new in zip(chain, sums, strict=True)}
            added.append(value)
        return {}

    def _number(self, value: Value) -> tuple[Value, list[Op]] | None:
        """A value known before the loop, or a constant, and what makes it in all lanes again; None for others."""
        match self._made.get(value):
            case None:
                return value, []
            case arith.Constant() as maker:
                again = fresh(value)
                return again, [with_fields(maker, result=again)]
            case vector.Broadcast(source=source) as maker if (number := self._number(source)) is not None:
                again = fresh(value)
                return again, [*number[1], with_fields(maker, result=again, source=number[0])]
        return None


def _computed_again(products: Iterable[arith.Binary]) -> set[Op]:
    """The products that another one is equal to: the C compiler computes both once."""
    numbers: dict[Value, object] = {}
    same: dict[object, list[Op]] = {}
    for op in products:
        key = (numbers.get(op.left, op.left), numbers.get(op.right, op.right))
        numbers[op.result] = key
        same.setdefault(key, []).append(op)
    return {op for ops in same.values() if len(ops) > 1 for op in ops}


def _lateness(loop: Op) -> dict[Value, int]:
    """How many operations stand before each value, with the one before it that hands on what a loop carries."""
    late: dict[Value, int] = {}
    for op in walk(loop):
        late |= dict.fromkeys(op.binds(), 1)
        if isinstance(op, Lanewise):  # loads wait for nothing
            late |= dict.fromkeys(op.defines(), 1 + max((late.get(v, 0) for v in op.reads()), default=0))
    return late


def _fma(op: arith.Binary, a: Value, b: Value, c: Value) -> Op:
    return math.Fma(op.result, a, b, c, location=op.location)  # vector.fma may be rounded twice where LLVM lowers it
