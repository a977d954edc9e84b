"""Accesses as the user wrote them, for messages: `A[ix[i] + 1] = ...`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, func, memref, vector
from affdsl.ir.expr import Affine, Value
from affdsl.ir.location import Location
from affdsl.ir.messages import op_name
from affdsl.ir.spelling import spell
from affdsl.ir.traverse import operands_first, walk
from affdsl.ir.types import VectorType

LONGEST = 48
"""An index that takes more characters is left out."""

_OPERATORS = {"addi": "+", "subi": "-", "muli": "*", "floordivsi": "//", "remsi": "%", "andi": "&"}
_WRITES = (
    affine.Store, memref.Store, affine.VectorStore, vector.TransferWrite, vector.Store, vector.MaskedStore,
    vector.Scatter, vector.CompressStore,
)  # fmt: skip


class Words:
    """What values and accesses of one function are called."""

    def __init__(self, function: func.Func) -> None:
        self._function = function
        self._made = {v: op for op in walk(function) for v in op.defines()}
        self._texts: dict[Value, str] = {}

    def where(self, op: Op) -> Location | str:
        """The user's file and line, or which operation it is."""
        return op.location or f"{op_name(op)} of {self._function.symbol}"

    def array(self, value: Value) -> str:
        """The name of an array; that of what it is a view of where it has none itself."""
        made = self._made.get(value)
        if not value.hint and isinstance(made, memref.Cast | memref.SubView | memref.ReinterpretCast):
            return self.array(made.source)
        return value.hint.removeprefix("%") or "an array"

    def access(self, op: Op, array: Value, index: Sequence[Affine]) -> str:
        """An access to the element at index."""
        lanes = next((v.type for v in (*op.defines(), *op.reads()) if isinstance(v.type, VectorType)), None)
        as_vector = f" ({' x '.join(map(str, lanes.shape))} lanes)" if lanes is not None else ""
        return f"{self._element(array, index)}{as_vector}{' = ...' if isinstance(op, _WRITES) else ''}"

    def expression(self, expr: Affine) -> str:
        """An index as a Python expression."""
        alone = expr.value
        text = self._value(alone) if alone is not None else spell(expr, self._operand)
        text = text.replace(" floordiv ", " // ").replace(" mod ", " % ")
        return text if len(text) <= LONGEST else "..."

    def _element(self, array: Value, index: Sequence[Affine]) -> str:
        return f"{self.array(array)}[{', '.join(map(self.expression, index))}]"

    def _operand(self, value: Value) -> str:
        text = self._value(value)
        return f"({text})" if " " in text and not text.endswith("]") else text

    def _value(self, value: Value) -> str:
        """A value as an expression, of which no more is kept than what is left out for its length anyway."""
        for each in operands_first(value, self._operands):
            if each not in self._texts:
                self._texts[each] = self._text(each)[: LONGEST + 1]
        return self._texts[value]

    def _operands(self, value: Value) -> Iterable[Value]:
        op = self._made.get(value)
        return op.reads() if op is not None and not value.hint and value not in self._texts else ()

    def _text(self, value: Value) -> str:
        """A value as an expression, those that it is made of being known."""
        if value.hint:
            return value.hint.removeprefix("%")
        match self._made.get(value):
            case affine.Load(memref=array, index=index):
                return self._element(array, index)
            case memref.Load(memref=array, indices=indices):
                return self._element(array, tuple(map(Affine.of, indices)))
            case arith.Cast(operand=operand):
                return self._value(operand)
            case arith.Constant(value=int() as number):
                return str(number)
            case arith.Binary(kind=kind, left=left, right=right) if kind in _OPERATORS:
                return f"{self._operand(left)} {_OPERATORS[kind]} {self._operand(right)}"
            case affine.Apply(expr=expr):
                return self.expression(expr)
        return "..."
