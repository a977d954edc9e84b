"""The arith dialect: constants, arithmetic, comparisons, casts and choice, as tables of kinds."""

from __future__ import annotations

from affdsl.ir.attributes import IntegerAttr
from affdsl.ir.core import Lanewise, Operand, Pure, Result

INTEGER_BINARY = (
    "addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi",
    "andi", "ori", "xori", "shli", "shrsi", "shrui", "maxsi", "maxui", "minsi", "minui",
)  # fmt: skip
FLOAT_BINARY = ("addf", "subf", "mulf", "divf", "remf", "maximumf", "maxnumf", "minimumf", "minnumf")

INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
FLOAT_PREDICATES = (
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true",
)  # fmt: skip
"""o...: ordered, false where an operand is NaN; u...: unordered, true where an operand is NaN."""

CASTS = {
    "extsi": ("integer", "integer"), "extui": ("integer", "integer"), "trunci": ("integer", "integer"),
    "extf": ("float", "float"), "truncf": ("float", "float"),
    "sitofp": ("integer", "float"), "uitofp": ("integer", "float"),
    "fptosi": ("float", "integer"), "fptoui": ("float", "integer"),
    "index_cast": ("integer or index", "integer or index"), "index_castui": ("integer or index", "integer or index"),
    "bitcast": ("integer or float", "integer or float"),
}  # fmt: skip
"""Each cast with the classes of types that it goes from and to."""

EXTENDED = ("addui_extended", "mulsi_extended", "mului_extended")

ROUNDING = ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away")
"""The rounding modes of truncf, by their numbers; the first one is meant where none is said."""


class Constant(Pure):
    """result = value, a number of the result's type (a bool for i1); a vector has one for all lanes, or a tuple"""

    name = "arith.constant"
    result: Result
    value: int | float | bool | tuple[int | float | bool, ...]


class Binary(Lanewise):
    """result = left <kind> right, kind in INTEGER_BINARY or FLOAT_BINARY"""

    name = "arith"
    result: Result
    kind: str
    left: Operand
    right: Operand


class Extended(Lanewise):
    """low, high = left <kind> right: a sum with its carry bit, a product with its upper half; kind in EXTENDED"""

    name = "arith"
    low: Result
    high: Result
    kind: str
    left: Operand
    right: Operand


class Negate(Lanewise):
    """result = -operand, a float"""

    name = "arith.negf"
    result: Result
    operand: Operand


class Compare(Lanewise):
    """result = left <predicate> right, an i1; kind is cmpi or cmpf"""

    name = "arith"
    result: Result
    kind: str
    predicate: str
    left: Operand
    right: Operand


class Cast(Lanewise):
    """result = operand as another type; kind in CASTS; a truncf may say by an attribute how it rounds"""

    name = "arith"
    result: Result
    kind: str
    operand: Operand

    @property
    def rounding(self) -> str:
        """The one of ROUNDING by which a truncf rounds."""
        match dict(self.attributes).get("roundingmode") if self.kind == "truncf" else None:
            case IntegerAttr(number) if 0 <= number < len(ROUNDING):
                return ROUNDING[number]
            case None:
                return ROUNDING[0]
        raise ValueError(f"roundingmode must be a number from 0 to {len(ROUNDING) - 1}")


class Select(Lanewise):
    """result = if_true where condition holds, else if_false"""

    name = "arith.select"
    result: Result
    condition: Operand
    if_true: Operand
    if_false: Operand
