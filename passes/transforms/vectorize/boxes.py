"""The body of a loop nest for a box of its iterations at once: each operation, in the order of the text, on vectors."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product

from affdsl.ir.core import Block, Lanewise, Op, roles
from affdsl.ir.dialects import affine, arith, math, vector
from affdsl.ir.expr import Affine, Value
from affdsl.ir.layouts import has_rows
from affdsl.ir.maps import AffineMap, dim
from affdsl.ir.messages import op_name, shown
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import I1, INDEX, ComplexType, FloatType, IndexType, IntegerType, MemRefType, VectorType
from affdsl.passes.legality.refusal import IllegalTransform, refusal
from affdsl.passes.legality.words import described, name
from affdsl.passes.transforms.hoist.faults import OPEN_CASTS, OPEN_KINDS
from affdsl.passes.transforms.vectorize.lanes import nothing
from affdsl.passes.transforms.vectorize.varying import Varying
from affdsl.passes.transforms.vectorize.widen import PURE


class Box:
    """The values of a loop nest in all iterations of a box, and the operations that make them.

    A value is the same in all lanes, and stays as it is, or a vector with all dimensions, or an affine expression of
    the induction variables.

    Parameters
    ----------
    loops
        The loop along each dimension of the vectors.
    parts
        The loops whose last iterations do not fill a vector.
    """

    def __init__(
        self, root: affine.For, loops: Sequence[affine.For], shape: tuple[int, ...], parts: frozenset[Value], what: str
    ) -> None:
        self.loops = loops
        self.shape = shape
        self.parts = parts
        self.what = what
        self.varying = Varying(root, frozenset(loop.iv for loop in loops))
        self.exprs = {loop.iv: Affine.of(loop.iv) for loop in loops}
        self._out: list[Op] = []
        self._known: dict[Hashable, Value] = {}

    @contextmanager
    def new_block(self) -> Iterator[list[Op]]:
        """Operations that are emitted meanwhile are of this block, and what they define is known in it alone."""
        before = self._out, self._known
        self._out, self._known = [], dict(self._known)
        yield self._out
        self._out, self._known = before

    def emit(self, op: Op) -> None:
        """Add an operation to the block that is being made."""
        self._out.append(op)

    def define(self, value: Value, made: Value) -> None:
        """Let a vector stand for a value of the nest."""
        self._known[value] = made

    def refusal(self, op: Op, reason: str) -> IllegalTransform:
        """What to raise where an operation is in the way."""
        return refusal(op, self.what, reason, "one loop alone")

    def type_of(self, value: Value) -> VectorType:
        """The type of a value in all lanes. Raises IllegalTransform unless it is a number."""
        if not isinstance(value.type, IntegerType | FloatType | IndexType):
            real = "real " * isinstance(value.type, ComplexType)
            called = described(value, self.loops[0])
            raise self.refusal(self.loops[0], f"{called} is a {value.type}, and lanes are {real}numbers")
        return VectorType(self.shape, value.type)

    def fresh(self, value: Value) -> Value:
        """A vector with the name of a value."""
        return Value(self.type_of(value), value.hint, value.location)

    def vector(self, op: Op, value: Value) -> Value:
        """A value that an operation reads, in all lanes."""
        if value in self._known:
            return self._known[value]
        if value in self.exprs:
            made = self._counted(op, self.exprs[value])
        else:
            made = self.fresh(value)
            self.emit(vector.Broadcast(made, value))
        self.define(value, made)
        return made

    def expr(self, expr: Affine) -> Affine:
        """An expression over the induction variables and what is the same in all lanes."""
        return expr.substitute(dict(self.exprs))

    def applied(self, expr: Affine) -> Value:
        """An index that an expression says."""
        if expr.value is not None:
            return expr.value
        if expr not in self._known:
            made = Value(INDEX)
            self.emit(affine.Apply(made, expr))
            self._known[expr] = made
        return self._known[expr]

    def step(self, expr: Affine, k: int) -> int | None:
        """How much an expression grows from lane to lane along a dimension, where that is one number."""
        found = self._lane(expr, [int(d == k) for d in range(len(self.shape))]) - expr
        return found.constant if found.is_constant else None

    def _lane(self, expr: Affine, lane: Sequence[int]) -> Affine:
        return expr.substitute(
            {loop.iv: loop.iv + loop.step * at for loop, at in zip(self.loops, lane, strict=True) if at}
        )

    def _counted(self, op: Op, expr: Affine) -> Value:
        """An expression of the induction variables as a vector."""
        growth = [self._lane(expr, lane) - expr for lane in product(*map(range, self.shape))]
        if not all(each.is_constant for each in growth):
            raise self.refusal(op, "an index grows unevenly from lane to lane")
        first = self.applied(expr)
        everywhere, offsets, made = (Value(VectorType(self.shape, INDEX)) for _ in range(3))
        self.emit(vector.Broadcast(everywhere, first))
        self.emit(arith.Constant(offsets, tuple(each.constant for each in growth)))
        self.emit(arith.Binary(made, "addi", everywhere, offsets))
        return made

    def mask(self, dims: Sequence[int]) -> Value | None:
        """Which lanes run along some dimensions; None if all do."""
        if not any(self.loops[d].iv in self.parts for d in dims):
            return None
        key = ("mask", *dims)
        if key not in self._known:
            bounds = tuple(self._left(d) for d in dims)
            made = Value(VectorType(tuple(self.shape[d] for d in dims), I1))
            self.emit(vector.CreateMask(made, bounds))
            self._known[key] = made
        return self._known[key]

    def _left(self, d: int) -> Value:
        """How many iterations of a loop are left."""
        key = ("left", d)
        if key not in self._known:
            loop, made = self.loops[d], Value(INDEX)
            counts = tuple((upper - loop.iv).ceildiv(loop.step) for upper in loop.upper)
            if loop.iv not in self.parts:
                self.emit(arith.Constant(made, self.shape[d]))
            else:
                self.emit(affine.Min(made, counts) if len(counts) > 1 else affine.Apply(made, counts[0]))
            self._known[key] = made
        return self._known[key]

    def padding(self, value: Value) -> Value:
        """What is loaded in lanes that do not run."""
        key = ("padding", value.type)
        if key not in self._known:
            made = nothing(value)
            self.emit(made)
            self._known[key] = made.result
        return self._known[key]

    def chosen(self, value: Value, number: int) -> Value:
        """A vector with a number in the lanes that do not run."""
        mask = self.mask(range(len(self.shape)))
        if mask is None:
            return value
        other, made = Value(value.type), Value(value.type)
        assert isinstance(value.type, VectorType)
        self.emit(arith.Constant(other, float(number) if isinstance(value.type.element, FloatType) else number))
        self.emit(arith.Select(made, mask, value, other))
        return made


def widen(box: Box, block: Block) -> None:
    """The operations of a block, without its terminator, added to the block that is being made."""
    for op in block:
        match op:
            case affine.Yield():
                pass
            case affine.Load() | affine.Store():
                _access(box, op)
            case affine.For():
                _loop(box, op)
            case _ if not box.varying.of(op) and isinstance(op, (*PURE, affine.Apply)):
                box.emit(op)
            case affine.Apply() if all(v in box.exprs or v not in box.varying for v in op.expr.values()):
                box.exprs[op.result] = box.expr(op.expr)
            case _ if isinstance(op, Lanewise):
                _lanewise(box, op)
            case _:
                raise box.refusal(op, f"{op_name(op)} has no form on vectors of {len(box.shape)} dimensions")


def _lanewise(box: Box, op: Op) -> None:
    role = roles(type(op))
    changed: dict[str, object] = {each: box.vector(op, getattr(op, each)) for each in role.operands}
    match op:
        case arith.Binary(kind=kind, right=right) if kind in OPEN_KINDS:
            changed["right"] = box.chosen(box.vector(op, right), 1)
        case arith.Cast(kind=kind, operand=operand) if kind in OPEN_CASTS:
            changed["operand"] = box.chosen(box.vector(op, operand), 0)
        case math.Binary(kind="ipowi") if box.parts:
            raise box.refusal(op, "a power of integers may fail where its iteration does not run")
    for each in role.results:
        value: Value = getattr(op, each)
        made = box.fresh(value)
        changed[each] = made
        box.define(value, made)
    box.emit(with_fields(op, **changed))


def _loop(box: Box, op: affine.For) -> None:
    """A loop inside, which all lanes run through together."""
    differing = next((v for e in (*op.lower, *op.upper) for v in e.values() if v in box.varying), None)
    if differing is not None:
        raise box.refusal(op, f"the bounds of {name(op.iv)} depend on {name(differing)}")
    wide = [v in box.varying for v in op.carried]
    inits = tuple(box.vector(op, v) if w else v for v, w in zip(op.inits, wide, strict=True))
    carried, results = (
        tuple(box.fresh(v) if w else v for v, w in zip(values, wide, strict=True))
        for values in (op.carried, op.results)
    )
    with box.new_block() as inside:
        for old, new, w in zip(op.carried, carried, wide, strict=True):
            if w:
                box.define(old, new)
        widen(box, op.body)
        last = op.body[-1] if op.body else None
        if isinstance(last, affine.Yield):
            yielded = tuple(box.vector(last, v) if w else v for v, w in zip(last.values, wide, strict=True))
            box.emit(with_fields(last, values=yielded))
    box.emit(with_fields(op, inits=inits, carried=carried, results=results, body=tuple(inside)))
    for old, new, w in zip(op.results, results, wide, strict=True):
        if w:
            box.define(old, new)


def _access(box: Box, op: affine.Load | affine.Store) -> None:
    """An access of a box of elements: along the dimensions of the array whose subscripts have the loops' counters."""
    if isinstance(op, affine.Load) and op.result not in box.varying:
        box.emit(op)
        return
    assert isinstance(op.memref.type, MemRefType)
    if has_rows(op.memref.type) is False:
        raise box.refusal(op, f"{shown(op.memref)} has a layout")
    index = tuple(box.expr(e) if all(v in box.exprs or v not in box.varying for v in e.values()) else None
                  for e in op.index)  # fmt: skip
    along = _along(box, op, index)
    rank = len(index)
    map = AffineMap(rank, 0, tuple(Affine() if p is None else dim(p) + 0 for p in along))
    indices = tuple(box.applied(e) for e in index if e is not None)
    dims = vector.mask_dims(map)
    found = box.mask(dims)
    mask = () if found is None else (found,)
    in_bounds = (True,) * len(along)
    if isinstance(op, affine.Store):
        value = box.vector(op, op.value)
        box.emit(vector.TransferWrite(value, op.memref, indices, map, in_bounds, mask, location=op.location))
        return
    made = box.fresh(op.result)
    padding = box.padding(op.result)
    box.emit(vector.TransferRead(made, op.memref, indices, padding, map, in_bounds, mask, location=op.location))
    box.define(op.result, made)


def _along(box: Box, op: affine.Load | affine.Store, index: Sequence[Affine | None]) -> list[int | None]:
    """Along which dimension of the array the lanes of each dimension of the vector lie; None where all have one."""
    found: list[int | None] = []
    for k, loop in enumerate(box.loops):
        steps = [None if e is None else box.step(e, k) for e in index]
        growing = [p for p, step in enumerate(steps) if step != 0]
        if len(growing) > 1 or any(steps[p] != 1 for p in growing):
            raise box.refusal(
                op, f"{shown(op.memref)} is not accessed at neighbours from one {name(loop.iv)} to the next"
            )
        if growing and growing[0] in found:
            raise box.refusal(op, f"one subscript of {shown(op.memref)} has the counters of two loops")
        if not growing and isinstance(op, affine.Store):
            raise box.refusal(op, f"{shown(op.memref)} is stored at the same element for each {name(loop.iv)}")
        found.append(growing[0] if growing else None)
    return found
