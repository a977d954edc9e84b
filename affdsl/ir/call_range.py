"""Which index arguments a function can take: those with which all that it computes of them fits into 64 bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Block, Lanewise, Op
from affdsl.ir.dialects import affine, arith, memref, scf
from affdsl.ir.dialects.func import Call, Func
from affdsl.ir.expr import Affine, Atom, FloorDiv, Product, Value
from affdsl.ir.magnitude import NUMBER
from affdsl.ir.traverse import affine_exprs
from affdsl.ir.types import IndexType, IntegerType

DATA, SIZE = 2**31, 2**47
"""Indices that come from data are taken to be smaller than the first; no array has more elements than the second."""
MOST_BITS, BITS_BESIDE_DATA = 63, 20


class CallRange(FrozenValue):
    """Which numbers a function can take.

    Attributes
    ----------
    limit
        As long as no index argument is larger, without its sign, what loops and subscripts compute is below 2**62.
        Sizes of arrays are taken to be no larger either. Indices that come from data, or that a loop carries, are taken
        to be small; where these, or constants, alone get larger than that, whatever the arguments, it is 2**20 at most.
    counted
        The index arguments that loops and subscripts use, by position: the limit is for these.
    """

    limit: int
    counted: frozenset[int]


def call_range(function: Func, functions: Mapping[str, Func]) -> CallRange:
    """The numbers that a function of a module can take; `functions` are those that it may call, by their symbols.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%n: index, %A: memref<?xf32>, %x: f32) {
    ...     affine.for %i = 0 to %n { affine.store %x, %A[%i * 1024] : memref<?xf32> }
    ...     return
    ... }''').functions[0]
    >>> found = call_range(f, {})
    >>> found.limit == 2**51, found.counted
    (True, frozenset({0}))
    """
    counted: set[Value] = set()

    def too_large(bits: int) -> int:
        sizes = _Sizes(functions, counted)
        sizes.enter(function, [1 << bits] * len(function.args))
        return sizes.too_large

    anyway = too_large(0)
    low, high = 0, BITS_BESIDE_DATA if anyway else MOST_BITS
    while low < high:
        bits = (low + high + 1) // 2
        low, high = (bits, high) if too_large(bits) == anyway else (low, bits - 1)
    return CallRange(1 << low, frozenset(k for k, arg in enumerate(function.args) if arg in counted))


def fits(function: Func, functions: Mapping[str, Func], given: Sequence[int]) -> bool:
    """Whether what loops and subscripts compute is below 2**62 with these arguments; those that are no index have any.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%n: index, %m: index) {
    ...     affine.for %i = 0 to affine_map<()[a, b] -> (a * b)>()[%n, %m] {}
    ...     return
    ... }''').functions[0]
    >>> fits(f, {}, [2**40, 2]), fits(f, {}, [2**40, 2**40])
    (True, False)
    """
    sizes = _Sizes(functions, set())
    sizes.enter(function, [abs(n) for n in given])
    return not sizes.too_large


@dataclass
class _Sizes:
    """How large the indices of functions get, without their signs."""

    functions: Mapping[str, Func]
    counted: set[Value]
    too_large: int = 0
    """How many numbers do not fit."""
    _known: dict[Value, int] = field(default_factory=dict)
    _starts: dict[tuple[Value, Atom], int] = field(default_factory=dict)
    """How large tiles' counters get times their size, where that is no number: that is where the tiles start."""
    _around: tuple[str, ...] = ()

    def enter(self, function: Func, given: list[int]) -> None:
        """Look at a function that is called with such arguments."""
        self._known.update(zip(function.args, given, strict=True))
        if function.symbol not in self._around:
            self._around = (*self._around, function.symbol)
            self._block(function.body)
            self._around = self._around[:-1]

    def _block(self, block: Block) -> None:
        for op in block:
            self._op(op)
            for inner in op.blocks():
                self._block(inner)

    def _op(self, op: Op) -> None:
        if isinstance(op, Lanewise) and not any(isinstance(v.type, IndexType | IntegerType) for v in op.defines()):
            return  # most compute floats
        exprs = [self._expr(expr) for expr in affine_exprs(op)]
        match op:
            case affine.For(iv=iv, step=step):
                self._known[iv] = self._used(max(exprs) + step)
                self._tiles(iv, op.lower, op.upper)
            case affine.Parallel(ivs=ivs, steps=steps):
                largest = max(exprs, default=0)
                self._known.update((iv, self._used(largest + step)) for iv, step in zip(ivs, steps, strict=True))
                for each in zip(ivs, op.lower, op.upper, strict=True):
                    self._tiles(*each)
            case affine.Apply(result=result) | affine.Min(result=result) | affine.Max(result=result):
                self._known[result] = max(exprs)
            case scf.For(iv=iv, lower=lower, upper=upper, step=by):
                self._known[iv] = self._used(max(self._value(lower), self._value(upper)) + self._value(by))
            case arith.Constant(result=result, value=int() as number) if isinstance(result.type, IndexType):
                self._known[result] = abs(number)
            case arith.Binary(result=result, left=left, right=right) if isinstance(result.type, IndexType):
                self._known[result] = self._used(self._combined(op.kind, self._value(left), self._value(right)))
            case arith.Cast(result=result, operand=operand) if isinstance(operand.type, IntegerType):
                self._known[result] = min(DATA, 1 << operand.type.width)
            case memref.Dim(result=result):
                self._known[result] = SIZE
            case Call(callee=callee, args=args) if callee in self.functions:
                self.enter(self.functions[callee], [self._value(arg) for arg in args])

    def _combined(self, kind: str, left: int, right: int) -> int:
        if kind in ("addi", "subi"):
            return left + right
        return left * right if kind == "muli" else max(left, right)

    def _tiles(self, iv: Value, lower: Sequence[Affine], upper: Sequence[Affine]) -> None:
        """Remember how large iv * T gets where iv counts from 0 up to something divided by T, or by some of it."""
        for bound in upper if all(low == Affine() for low in lower) else ():
            match bound:
                case Affine(
                    terms=((FloorDiv(dividend, Affine(((size, factor),), 0) as divisor), 1 | -1),), constant=more
                ):
                    whole = (self._expr(dividend) + self._expr(divisor) * (1 + abs(more))) // abs(factor) + 1
                    self._starts[iv, size] = self._used(whole)

    def _expr(self, expr: Affine, done: dict[Atom, int] | None = None) -> int:
        """How large the parts of an expression get, added up."""
        total, known = abs(expr.constant), {} if done is None else done
        for atom, factor in expr.terms:
            total += abs(factor) * self._atom(atom, known)
        return self._used(total)

    def _atom(self, atom: Atom, done: dict[Atom, int]) -> int:
        if isinstance(atom, Value):
            return self._value(atom)
        if atom not in done:
            match atom:
                case FloorDiv(dividend, divisor):
                    size = self._expr(dividend, done)
                    done[atom] = size + (self._expr(divisor, done) if isinstance(divisor, Affine) else 0)
                case Product(factors):
                    done[atom] = self._product(factors, done)
        return done[atom]

    def _product(self, factors: tuple[Atom, ...], done: dict[Atom, int]) -> int:
        """A quotient by T, and what counts up to one, is no larger times T than what is divided, and T."""
        if len(factors) == 2:
            for one, other in (factors, factors[::-1]):
                match one:
                    case FloorDiv(dividend, Affine(((size, factor),), 0) as divisor) if size == other:
                        return (self._expr(dividend, done) + self._expr(divisor, done)) // abs(factor) + 1
                    case Value() if (one, other) in self._starts:
                        return self._starts[one, other]
        return prod([self._atom(factor, done) for factor in factors])

    def _value(self, value: Value) -> int:
        self.counted.add(value)
        return self._known.get(value, DATA)

    def _used(self, size: int) -> int:
        self.too_large += size >= NUMBER
        return size
