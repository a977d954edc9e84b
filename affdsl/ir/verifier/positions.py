"""Which values may stand in affine expressions, and where: as dimensions, as symbols, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import Enum

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, func, math, memref, ub
from affdsl.ir.dialects.opaque import MAKE_SYMBOLS_OF_SYMBOLS, Opaque
from affdsl.ir.expr import Affine, Atom, FloorDiv, Product, Value
from affdsl.ir.messages import shown
from affdsl.ir.types import INDEX, MemRefType


class Position(Enum):
    """Where a value may stand in an affine expression."""

    SYMBOL = "a symbol"
    DIM = "a dimension"
    NONE = "no dimension and no symbol"


NO_DIMENSION = "operand cannot be used as a dimension id"
"""What mlir-opt says of a value that is neither a dimension nor a symbol."""


class Positions:
    """The position of each value, found while a function is walked from top to bottom."""

    def __init__(self) -> None:
        self._positions: dict[Value, Position] = {}
        self.constants: dict[Value, int] = {}
        self._definitions: dict[Value, Op] = {}
        self._top: set[Value] = set()

    def define(self, op: Op, *, top: bool) -> None:
        """Take note of what an operation defines; `top`: it stands in the function's own block."""
        if isinstance(op, arith.Constant) and isinstance(op.value, int):
            self.constants[op.result] = op.value
        for value in op.defines():
            self._definitions[value] = op
            if top:
                self._top.add(value)
            if value.type == INDEX:
                self._positions[value] = Position.SYMBOL if top else self._of_result(op)

    def bind(self, op: Op) -> None:
        """Take note of what an operation defines for its own blocks."""
        for value in op.binds():
            if isinstance(op, func.Func):
                self._top.add(value)
                self._positions[value] = Position.SYMBOL
            elif value in _induction_variables(op):
                self._positions[value] = Position.DIM

    def bind_top(self, values: Iterable[Value]) -> None:
        """Take note of the arguments of a block whose own values are symbols, as in a function."""
        for value in values:
            self._top.add(value)
            if value.type == INDEX:
                self._positions[value] = Position.SYMBOL

    @contextmanager
    def within(self, visible: Iterable[Value]) -> Iterator[None]:
        """Inside of a scope of symbols: what is visible from outside does not change there, so that it is a symbol."""
        outside = self._positions
        self._positions = outside | {value: Position.SYMBOL for value in visible if value.type == INDEX}
        yield
        self._positions = outside

    def of(self, value: Value) -> Position:
        """Where a value may stand."""
        return self._positions.get(value, Position.NONE) if value.type == INDEX else Position.NONE

    def misplaced(self, exprs: Iterable[Affine], *, dims: bool = True, what: str = NO_DIMENSION) -> Iterator[str]:
        """What is wrong with the values of exprs; dims=False asks less: any index may stand where a dimension may.

        `what` is said of a value that is neither, as mlir-opt says it.
        """
        seen: set[Atom] = set()
        for expr in exprs:
            for atom, _ in expr.terms:
                yield from self._misplaced(atom, dims, seen, what)

    def misplaced_as_written(self, op: Op) -> Iterator[str]:
        """What is wrong with the values that were written as symbols, used or not, and as dimensions without use."""
        read: set[Value] | None = None
        for field, kept in (op.written or {}).items() if isinstance(op, _REFUSING) else ():
            get, none = self._positions.get, Position.NONE
            if all(get(v, none) is not none for v in kept.dims) and all(
                get(v, none) is Position.SYMBOL for v in kept.symbols
            ):
                continue  # whether they are still what is meant takes longer to find out
            applied = op.spelling(field)
            if applied is None:
                continue
            for value in dict.fromkeys(applied.symbols):
                position = self.of(value)
                if position is Position.DIM or (position is Position.NONE and not isinstance(op, affine.Apply)):
                    yield f"operand cannot be used as a symbol: {shown(value)} is {position.value}"
            for value in dict.fromkeys(applied.dims):
                if self.of(value) is Position.NONE and not isinstance(op, affine.Apply):
                    read = set(op.reads()) if read is None else read
                    if value not in read:
                        yield f"{NO_DIMENSION}: {shown(value)} is {Position.NONE.value}"

    def _of_result(self, op: Op) -> Position:
        """The position of what an operation inside a loop or condition defines."""
        match op:
            case arith.Constant() | ub.Poison():
                return Position.SYMBOL
            case memref.Dim():
                return Position.SYMBOL if self._is_symbolic_size(op) else Position.NONE
            case arith.Binary(kind=kind) if kind in MAY_FAIL:
                return Position.NONE
            case Opaque(kind="tensor.dim", operands=(tensor, _)):
                return Position.SYMBOL if tensor in self._top else Position.NONE
            case Opaque(kind=kind, operands=operands) if kind in MAKE_SYMBOLS_OF_SYMBOLS:
                return Position.SYMBOL if all(self.of(v) is Position.SYMBOL for v in operands) else Position.NONE
            case _ if isinstance(op, OF_SYMBOLS):
                kinds = {self.of(value) for value in op.mentions()}
                if kinds <= {Position.SYMBOL}:
                    return Position.SYMBOL
                if isinstance(op, OF_DIMS) and Position.NONE not in kinds:
                    return Position.DIM
        return Position.NONE

    def _is_symbolic_size(self, op: memref.Dim) -> bool:
        """Whether a size is known outside the loops: that of a buffer from there, static, or itself a symbol."""
        if op.memref in self._top:
            return True
        size = known_size(op, self._definitions.get, self.constants.get(op.index))
        return size if isinstance(size, bool) else self.of(size) is Position.SYMBOL

    def _misplaced(self, atom: Atom, dims: bool, seen: set[Atom], what: str) -> Iterator[str]:
        """What is wrong inside of an atom, told once for each of its parts."""
        if not isinstance(atom, Value):
            if atom in seen:
                return
            seen.add(atom)
        match atom:
            case Value():
                if atom.type != INDEX:
                    yield f"{shown(atom)} of type {atom.type} stands in an affine expression, which takes index"
                elif dims and self.of(atom) is Position.NONE:
                    yield f"{what}: {shown(atom)} {_REASON}"
            case FloorDiv(dividend, divisor):
                for part, _ in dividend.terms:
                    yield from self._misplaced(part, dims, seen, what)
                if isinstance(divisor, Affine):
                    yield from self._not_symbolic(divisor.values(), "a divisor")
                elif divisor <= 0:
                    yield f"the divisor {divisor} is not positive"
            case Product(factors):
                varying = [f for f in factors if not self._is_symbolic(f)]
                for factor in varying[:1]:
                    yield from self._misplaced(factor, dims, seen, what)
                for factor in varying[1:]:
                    yield from self._not_symbolic(Affine.of(factor).values(), "the second varying factor of a product")

    def _is_symbolic(self, atom: Atom) -> bool:
        return all(self.of(value) is Position.SYMBOL for value in Affine.of(atom).values())

    def _not_symbolic(self, values: Iterable[Value], role: str) -> Iterator[str]:
        for value in values:
            if self.of(value) is not Position.SYMBOL:
                yield f"{shown(value)} is {role}, which must be a symbol, but it is {self.of(value).value}"


_REFUSING = (affine.For, affine.If, affine.Parallel, affine.Load, affine.Store, affine.VectorLoad, affine.VectorStore,
               affine.Apply)  # fmt: skip
"""What refuses a value that is written as a symbol and is none; mlir-opt lets the others pass."""
MAY_FAIL = ("divsi", "divui", "ceildivsi", "ceildivui")
"""Kinds of arith that make no symbol of symbols."""
OF_DIMS = (affine.Apply, affine.DelinearizeIndex, affine.LinearizeIndex)
"""Operations that make dimensions of dimensions."""
OF_SYMBOLS = (*OF_DIMS, affine.Min, affine.Max, arith.Binary, math.Unary, math.Binary)
"""Operations that make symbols of symbols."""
_REASON = "is computed inside a loop from something other than loop counters, sizes and constants"


def known_size(op: memref.Dim, definition: Callable[[Value], Op | None], axis: int | None) -> bool | Value:
    """Whether a size along an axis is known where the buffer is made, or the value that it is there."""
    source = definition(op.memref)
    while isinstance(source, memref.Cast):
        source = definition(source.source)
    if not isinstance(source, memref.Alloc | memref.SubView | memref.View) or axis is None:
        return False
    type = source.result.type
    if not isinstance(type, MemRefType) or not 0 <= axis < type.rank:
        return False
    return type.shape[axis] is not None or source.sizes[type.shape[:axis].count(None)]


def _induction_variables(op: Op) -> tuple[Value, ...]:
    match op:
        case affine.For():
            return (op.iv,)
        case affine.Parallel():
            return op.ivs
    return ()


# Dimensions and symbols.
#
# A symbol does not change while the function runs its loops: an index argument, what the function's own block defines,
# a constant, the size of a buffer from the function's own block (or of an alloc, subview or view whose size is static
# or a symbol), and what pure operations make of nothing but symbols. A dimension may also be the counter of an affine
# loop, or what affine.apply and the operations that take numbers apart or put them together make of dimensions and
# symbols. The counters of scf loops and the values that a loop carries are neither. In the blocks of an operation that
# is a scope of symbols, such as gpu.launch in a loop, all that is visible from outside is a symbol.
#
# This is what mlir-opt 22 accepts: there, a division that may meet a zero is not pure (floordivsi is), and neither is a
# choice or a cast, since its i1 or iN operand is no symbol.
