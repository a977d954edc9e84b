"""Values as a person would write them: the operations that made them, back as one expression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, math, memref, vector
from affdsl.ir.dialects import complex as complex_
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.spelling import spell, spell_constraint

OPERATORS: Mapping[str, tuple[str, int]] = {
    "addf": ("+", 1), "addi": ("+", 1), "subf": ("-", 1), "subi": ("-", 1),
    "mulf": ("*", 2), "muli": ("*", 2), "divf": ("/", 2), "divsi": ("/", 2), "divui": ("/", 2),
    "floordivsi": ("//", 2), "remsi": ("%", 2), "remui": ("%", 2), "remf": ("%", 2),
    "andi": ("&", 0), "ori": ("|", 0), "xori": ("^", 0), "shli": ("<<", 0), "shrsi": (">>", 0), "shrui": (">>", 0),
}  # fmt: skip
"""The operations that have an operator, and how tightly it binds."""

FUNCTIONS: Mapping[str, str] = {
    "maximumf": "max", "maxnumf": "max", "maxsi": "max", "maxui": "max",
    "minimumf": "min", "minnumf": "min", "minsi": "min", "minui": "min",
    "absf": "abs", "absi": "abs", "powf": "pow", "ceildivsi": "ceildiv", "ceildivui": "ceildiv",
}  # fmt: skip
"""What functions are called that have another name than their operation."""

COMPARISONS: Mapping[str, str] = {
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip
"""By the last two letters of a predicate."""

UPDATES = ("addf", "addi", "subf", "subi", "mulf", "muli")
DEEPEST = 8
"""How many operations inside each other are written out."""


class Expressions:
    """What the values of one function are as expressions of what is loaded, and of loops and arguments."""

    def __init__(self, names: Mapping[Value, str], makers: Mapping[Value, Op]) -> None:
        self.names = names
        self.makers = makers

    def name(self, value: Value) -> str:
        """What a value is called: the result of a loop like what the loop carries, a global buffer by its symbol."""
        match self.makers.get(value):
            case affine.For(results=results, carried=carried) if value in results:
                return self.name(carried[results.index(value)])
            case memref.GetGlobal(symbol=symbol):
                return f"@{symbol}"
        name = self.names.get(value, value.hint or "?")
        return f"%{name}" if name.isdigit() else name

    def index(self, index: Sequence[Affine | Value]) -> str:
        """Subscripts in brackets."""
        return f"[{', '.join(spell(Affine.of(e), self.name) for e in index)}]"

    def condition(self, constraints: Sequence[Constraint]) -> str:
        """Constraints, all of which hold."""
        return " and ".join(spell_constraint(c, self.name) for c in constraints)

    def element(self, op: Op) -> str | None:
        """What an operation loads or stores; None for one that is neither."""
        match op:
            case affine.Load() | affine.Store() | affine.VectorLoad() | affine.VectorStore():
                return self.name(op.memref) + self.index(op.index)
            case memref.Load() | memref.Store() | vector.Load() | vector.Store():
                return self.name(op.memref) + self.index(op.indices)
            case vector.TransferRead() | vector.TransferWrite():
                return self.name(op.memref) + self.index(op.indices)
        return None

    def assignment(self, op: Op, value: Value) -> str:
        """A store of a value: with += where it adds to the element that it replaces."""
        target = self.element(op)
        match self.makers.get(value):
            case arith.Binary(kind=kind, left=left, right=right) if kind in UPDATES:
                commutes = not kind.startswith("sub")
                for old, other in ((left, right), (right, left)) if commutes else ((left, right),):
                    maker = self.makers.get(old)
                    if maker is not None and self.element(maker) == target:
                        return f"{target} {OPERATORS[kind][0]}= {self.value(other)}"
        return f"{target} = {self.value(value)}"

    def value(self, value: Value) -> str:
        """A value as an expression."""
        return self._value(value, 0)[0]

    def _value(self, value: Value, depth: int) -> tuple[str, int]:
        """The expression, and how tightly its outermost operator binds."""
        op = self.makers.get(value)
        if op is None or depth > DEEPEST:
            return (self.name(value) if op is None else "...", 9)
        match op:
            case arith.Constant(value=number):
                return (f"{number:g}" if isinstance(number, float) else str(number).lower(), 9)
            case affine.Apply(expr=expr):
                return (spell(expr, self.name), 1)
            case arith.Binary(kind=kind, left=left, right=right) if kind in OPERATORS:
                operator, binds = OPERATORS[kind]
                return (f"{self._inside(left, binds, depth)} {operator} {self._inside(right, binds + 1, depth)}", binds)
            case arith.Binary(kind=kind, left=left, right=right) | math.Binary(kind=kind, left=left, right=right):
                return (self._call(FUNCTIONS.get(kind, kind), (left, right), depth), 9)
            case complex_.Constant(value=number):
                return (str(number).strip("()") if 0 in (number.real, number.imag) else str(number), 9)
            case complex_.Binary(kind=kind, left=left, right=right) if f"{kind}f" in OPERATORS:
                operator, binds = OPERATORS[f"{kind}f"]
                return (f"{self._inside(left, binds, depth)} {operator} {self._inside(right, binds + 1, depth)}", binds)
            case complex_.Binary(kind=kind, left=left, right=right):
                return (self._call(kind, (left, right), depth), 9)
            case complex_.Create(real=real, imaginary=imaginary):
                return (self._call("complex", (real, imaginary), depth), 9)
            case complex_.Part(kind="re" | "im" as kind, operand=operand):
                return (f"{self._inside(operand, 9, depth)}.{'real' if kind == 're' else 'imag'}", 9)
            case complex_.Unary(kind="neg", operand=operand):
                return (f"-{self._inside(operand, 2, depth)}", 1)
            case complex_.Part(kind=kind, operand=operand) | complex_.Unary(kind=kind, operand=operand):
                return (self._call(kind, (operand,), depth), 9)
            case complex_.Compare(kind=kind, left=left, right=right):
                sign = "==" if kind == "eq" else "!="
                return (f"{self._inside(left, 1, depth)} {sign} {self._inside(right, 1, depth)}", 0)
            case math.Unary(kind=kind, operand=operand):
                return (self._call(FUNCTIONS.get(kind, kind), (operand,), depth), 9)
            case math.Fma(a=a, b=b, c=c):
                return (f"{self._inside(a, 2, depth)} * {self._inside(b, 3, depth)} + {self._inside(c, 2, depth)}", 1)
            case arith.Negate(operand=operand):
                return (f"-{self._inside(operand, 2, depth)}", 1)
            case arith.Cast(operand=operand):
                return self._value(operand, depth + 1)
            case arith.Compare(predicate=predicate, left=left, right=right) if predicate[-2:] in COMPARISONS:
                sign = COMPARISONS[predicate[-2:]]
                return (f"{self._inside(left, 1, depth)} {sign} {self._inside(right, 1, depth)}", 0)
            case arith.Select(condition=condition, if_true=yes, if_false=no):
                return (self._call("select", (condition, yes, no), depth), 9)
            case affine.Min(exprs=exprs) | affine.Max(exprs=exprs):
                return (f"{op.name.removeprefix('affine.')}({', '.join(spell(e, self.name) for e in exprs)})", 9)
        return (self.element(op) or self.name(value), 9)

    def _inside(self, value: Value, binds: int, depth: int) -> str:
        text, own = self._value(value, depth + 1)
        return text if own >= binds else f"({text})"

    def _call(self, name: str, values: Sequence[Value], depth: int) -> str:
        return f"{name}({', '.join(self._value(v, depth + 1)[0] for v in values)})"
