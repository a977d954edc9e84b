"""Makes one operation, rounded once, of a product and the sum that takes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from affdsl.ir.core import Lanewise, Op
from affdsl.ir.dialects import arith, math
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.traverse import rewrite, walk
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name
from affdsl.passes.transforms.loops.nests import loop_of_any_kind


def contract(function: Func, iv: Value, *, module: Module | None = None) -> Func:
    """Compute a * b + c in one operation, rounded once, everywhere in a loop.

        t = a * b; s = t + c   ->   s = fma(a, b, c)

    The results round in another way, mostly nearer to the exact number. A product that something else reads too stays,
    as does one that is computed again, and products of integers. Of two products that are added the one is contracted
    that is made of what comes later, or else the left one.

    Parameters
    ----------
    iv
        The induction variable of the loop, which may be parallel.
    module
        What the function stands in. Nothing is asked of it here.

    Raises
    ------
    IllegalTransform
        If no sum in the loop takes a product that nothing else reads.

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
    uses = Counter(v for op in walk(function) for v in op.reads())
    products = {
        op.result: op
        for op in walk(loop)
        if isinstance(op, arith.Binary) and op.kind == "mulf" and uses[op.result] == 1
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
    if not taken:
        raise refusal(loop, what, "no sum in it takes a product that nothing else reads")
    inside = rewrite(inside, lambda op: () if op in taken else None)
    return rewrite(function, lambda op: inside if op is loop else None)


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
