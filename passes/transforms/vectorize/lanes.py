"""What the values of a loop are in several iterations at once: vectors, lanes, and affine expressions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, vector
from affdsl.ir.dialects import complex as complex_
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.integers import wrap
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import I1, INDEX, ComplexType, FloatType, IndexType, IntegerType, ScalarType, VectorType
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import described
from affdsl.passes.transforms.vectorize.branches import neutral_of, place_of
from affdsl.passes.transforms.vectorize.strides import Groups
from affdsl.passes.transforms.vectorize.varying import Varying

AS_COMPLEX = "the loop as it is, of which the compiler of C makes vectors; or one on arrays of real and imaginary parts"
"""What there is instead of vectors of complex numbers."""


class Lanes:
    """The values of one loop in `width` iterations at once, and the operations that make them.

    A value that varies from lane to lane is known as a vector, as lanes, as an affine expression of the induction
    variable, or as a number that grows by the same from lane to lane; the last two get any of the others when somebody
    asks. All other values stay as they are.

    Parameters
    ----------
    what
        What is asked for, as refusals say it.
    filled
        Arrays of which the first element may be loaded, whatever lanes run.
    mask
        Which iterations run, as a vector of i1; None where all do.
    """

    def __init__(
        self,
        loop: affine.For,
        width: int,
        varying: Varying,
        what: str,
        filled: Set[Value] = frozenset(),
        mask: Value | None = None,
    ) -> None:
        self.loop = loop
        self.width = width
        self.what = what
        self.mask = mask
        self.varying = varying
        self.filled = filled
        self.exprs: dict[Value, Affine] = {loop.iv: Affine.of(loop.iv)}
        self.groups: Groups = {}
        self.before: list[Op] = []
        """What is made once, before the loop."""
        self._out: list[Op] = []
        self._vectors: dict[Value, Value] = {}
        self._lanes: dict[Value, Sequence[Value]] = {}
        self._even: dict[Value, tuple[Value, int]] = {}
        self.constants: dict[Value, int] = {}
        self._chosen: set[Value] = set()

    def emit(self, op: Op) -> None:
        """Add an operation to the block that is being made."""
        if op.written is not None and any(map(self.varies, op.mentions())):  # a map takes it, and no result needs it
            op = with_fields(op, written=None)
        if isinstance(op, arith.Constant) and isinstance(op.value, int):
            self.constants[op.result] = op.value
        self._out.append(op)

    def varies(self, value: Value) -> bool:
        """Whether a value differs from lane to lane."""
        return value in self.varying

    def vector_type(self, value: Value) -> VectorType:
        """The type of a value in all lanes."""
        return self.vector_of_type(self.scalar(value))

    def vector_of_type(self, element: ScalarType) -> VectorType:
        """A vector of the width."""
        return VectorType((self.width,), element)

    def scalar(self, value: Value) -> ScalarType:
        """The type of a value that is a number. Raises IllegalTransform for any other."""
        if not isinstance(value.type, IntegerType | FloatType | IndexType):
            real, instead = ("real ", AS_COMPLEX) if isinstance(value.type, ComplexType) else ("", "")
            reason = f"{described(value, self.loop)} is a {value.type}, and lanes are {real}numbers"
            raise refusal(self.loop, self.what, reason, instead)
        return value.type

    def define(self, value: Value, vector: Value) -> None:
        """Let a vector stand for a value of the loop."""
        self._vectors[value] = vector

    def define_lanes(self, value: Value, lanes: Sequence[Value]) -> None:
        """Let one value for each lane stand for a value of the loop."""
        self._lanes[value] = tuple(lanes)

    def define_even(self, value: Value, first: Value, step: int) -> None:
        """Let an integer stand for a value of the loop that grows by the same from lane to lane, and wraps."""
        self._even[value] = first, step

    def even(self, value: Value) -> tuple[Value, int] | None:
        """An integer in the first lane, and how much it grows from lane to lane; None where nobody said that."""
        return self._even.get(value)

    def expr(self, expr: Affine) -> Affine:
        """An expression over the induction variable, and values that do not vary, as far as it can be one."""
        return expr.substitute(dict(self.exprs))

    def lane(self, expr: Affine, k: int) -> Affine:
        """An expression as it is in lane k."""
        return expr.substitute({self.loop.iv: self.loop.iv + self.loop.step * k})

    def step(self, expr: Affine) -> int | None:
        """How much an expression grows from lane to lane, where that is one number."""
        found = self.lane(expr, 1) - expr
        return found.constant if found.is_constant else None

    def is_affine(self, value: Value) -> bool:
        """Whether a value is an affine expression of the induction variable, or does not vary."""
        return value in self.exprs or not self.varies(value)

    def in_lane(self, value: Value, k: int) -> Value:
        """A value as it is in lane k."""
        if value in self.exprs:
            return self.applied(self.lane(self.exprs[value], k))
        if not self.varies(value):
            return value
        if value in self._lanes:
            return self._lanes[value][k]
        if k == 0 and value in self._even:
            return self._even[value][0]
        return self.extract(self.vector(value), k)

    def extract(self, source: Value, k: int) -> Value:
        """Lane k of a vector."""
        assert isinstance(source.type, VectorType)
        made = Value(source.type.element)
        self.emit(vector.Extract(made, source, (), (k,)))
        return made

    def applied(self, expr: Affine) -> Value:
        """An index that an expression says."""
        if expr.value is not None:
            return expr.value
        made = Value(INDEX)
        self.emit(affine.Apply(made, expr))
        return made

    def from_lanes(self, lanes: Sequence[Value], element: ScalarType) -> Value:
        """The vector of some numbers."""
        made = Value(self.vector_of_type(element))
        self.emit(vector.FromElements(made, tuple(lanes)))
        return made

    def constant(self, numbers: Sequence[int | float | bool], element: ScalarType) -> Value:
        """A constant vector."""
        made = Value(self.vector_of_type(element))
        self.emit(arith.Constant(made, tuple(numbers)))
        return made

    def binary(self, kind: str, left: Value, right: Value) -> Value:
        """An operation of arith on two vectors."""
        made = Value(left.type)
        self.emit(arith.Binary(made, kind, left, right))
        return made

    def vector(self, value: Value) -> Value:
        """A value in all lanes."""
        found = self._vectors.get(value)
        if found is not None:
            return found
        if value in self._lanes:
            made = self.from_lanes(self._lanes[value], self.scalar(value))
        elif value in self.exprs:
            made = self.vector_of_expr(self.exprs[value])
        elif value in self._even:
            made = self._vector_of_even(*self._even[value])
        elif self.varies(value):
            reason = f"{described(value, self.loop)} is used before the iterations in a row that make it"
            raise refusal(self.loop, self.what, reason)
        else:
            made = Value(self.vector_type(value), value.hint)
            self.emit(vector.Broadcast(made, value))
        self._vectors[value] = made
        return made

    def vector_of_expr(self, expr: Affine) -> Value:
        """An affine expression in all lanes."""
        step = self.step(expr)
        if step is None:
            return self.from_lanes([self.applied(self.lane(expr, k)) for k in range(self.width)], INDEX)
        first = Value(self.vector_of_type(INDEX))
        self.emit(vector.Broadcast(first, self.applied(expr)))
        if step == 0:
            return first
        return self.binary("addi", first, self.constant([step * k for k in range(self.width)], INDEX))

    def _vector_of_even(self, first: Value, step: int) -> Value:
        """A number in the first lane, and so much more in each of the next ones, as its type wraps."""
        wide = Value(self.vector_type(first))
        self.emit(vector.Broadcast(wide, first))
        assert isinstance(first.type, IntegerType)
        numbers = [wrap(step * k, first.type.width) for k in range(self.width)]
        return self.binary("addi", wide, self.constant(numbers, first.type))

    @contextmanager
    def new_block(self) -> Iterator[list[Op]]:
        """A block inside: what is known only there is forgotten afterwards."""
        kept = self._out, dict(self._vectors), dict(self._lanes), dict(self._even)
        self._out = []
        try:
            yield self._out
        finally:
            self._out, self._vectors, self._lanes, self._even = kept

    @contextmanager
    def where(self, mask: Value | None) -> Iterator[None]:
        """Operations of which only those lanes run that a mask sets; all of them, without one."""
        kept = self.mask
        self.mask = mask
        try:
            yield
        finally:
            self.mask = kept

    def both(self, mask: Value) -> Value:
        """Which lanes run here and are set in a mask."""
        return mask if self.mask is None else self.binary("andi", self.mask, mask)

    def chosen(self, given: Value, number: int) -> Value:
        """A vector, with a number in the lanes that do not run."""
        assert isinstance(given.type, VectorType)
        assert self.mask is not None
        element = given.type.element
        other = self.constant([float(number) if isinstance(element, FloatType) else number] * self.width, element)
        return self.select(self.mask, given, other)

    def select(self, condition: Value, if_true: Value, if_false: Value) -> Value:
        """One of two vectors, lane by lane.

        Where one is the other combined with something, what it is combined with is chosen, so that a chain of such
        operations has no choice in it. What a mask leaves out of a load may be chosen by the load, but only once.
        """
        made = Value(if_true.type)
        maker, other = self._maker(if_true), self._maker(if_false)
        is_load = isinstance(maker, vector.MaskedLoad) and maker.mask is condition and if_true not in self._chosen
        if isinstance(maker, vector.MaskedLoad) and is_load and isinstance(other, arith.Constant):
            self._chosen.add(if_true)
            self._out.remove(other)
            place = self._out.index(maker)
            self._out[place : place + 1] = [other, with_fields(maker, pass_thru=if_false)]
            return if_true
        if isinstance(maker, arith.Binary) and place_of(maker, if_false) == "right":
            none = neutral_of(maker.kind, Value(_element(if_true)))
            nothing = self.constant([none] * self.width, _element(if_true))
            return self.binary(maker.kind, if_false, self.select(condition, maker.right, nothing))
        self.emit(arith.Select(made, condition, if_true, if_false))
        return made

    def _maker(self, value: Value) -> Op | None:
        """The operation of the block being made that defines a value."""
        return next((op for op in reversed(self._out) if value in op.defines()), None)

    def holds(self, constraints: Sequence[Constraint]) -> Value:
        """In which lanes all of some constraints hold."""
        found: Value | None = None
        for constraint in constraints:
            made = self._where(constraint)
            found = made if found is None else self.binary("andi", found, made)
        return self._all_set() if found is None else found

    def _where(self, constraint: Constraint) -> Value:
        """In which lanes a constraint holds: an inequality in the first or the last ones."""
        expr = self.expr(constraint.expr)
        step, made = self.step(expr), Value(self.vector_of_type(I1))
        if constraint.equality or not step:  # from here on the step is not 0
            left, zero = self.vector_of_expr(expr), self.constant([0] * self.width, INDEX)
            self.emit(arith.Compare(made, "cmpi", "eq" if constraint.equality else "sge", left, zero))
            return made
        count = (-expr).ceildiv(step) if step > 0 else expr // -step + 1
        self.emit(vector.CreateMask(made, (self.applied(count),)))
        return self.binary("xori", made, self._all_set()) if step > 0 else made

    def _all_set(self) -> Value:
        """The mask of all lanes."""
        return self.constant([True] * self.width, I1)


def _element(vector: Value) -> ScalarType:
    """The type of the numbers of a vector."""
    assert isinstance(vector.type, VectorType)
    element = vector.type.element
    assert isinstance(element, IntegerType | FloatType | IndexType)
    return element


def zero(value: Value) -> int | float:
    """A real number of a value's type that stands where nothing is known."""
    return 0.0 if isinstance(value.type, FloatType) else 0


def nothing(like: Value) -> arith.Constant | complex_.Constant:
    """What defines a number of a value's type, real or complex, that stands where nothing is known."""
    made = Value(like.type)
    return complex_.Constant(made, 0j) if isinstance(like.type, ComplexType) else arith.Constant(made, zero(like))
