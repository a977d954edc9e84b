"""Attributes and types of our own dialects as text, which are one or several of a few words: what is wrong with one."""

from __future__ import annotations

import re

from affdsl.ir.attributes import Attribute, IntegerAttr, OpaqueAttr, UnitAttr
from affdsl.ir.dialects import arith, math
from affdsl.ir.dialects import complex as complex_
from affdsl.ir.types import IntegerType
from affdsl.later import pattern

_FASTMATH = "none reassoc nnan ninf nsz arcp contract afn fast"
_COMBINING = "add mul minui minsi minnumf maxui maxsi maxnumf and or xor maximumf minimumf"
ENUMERATIONS: dict[str, tuple[str, bool]] = {
    "arith.fastmath": (_FASTMATH, True),
    "arith.overflow": ("none nsw nuw", True),
    "vector.kind": (_COMBINING, False),
    "vector.punctuation": ("no_punctuation newline comma open close", False),
    "vector.iterator_type": ("parallel reduction", False),
}
"""The words of each attribute, and whether it may be several of them."""

DIALECTS = frozenset(("affine", "arith", "builtin", "cf", "func", "math", "memref", "scf", "ub", "vector"))
_ATTRIBUTE = pattern(r"#([\w$-]+)\.([\w$-]+)[\w$.-]*\s*(<.*>)?", re.S)
_TYPE = pattern(r"!([\w$-]+)[.<]")


def problem_of_attribute(text: str) -> str | None:
    """What is wrong with `#dialect.name<...>`; None where that is right, or belongs to a dialect of others.

    >>> problem_of_attribute("#arith.overflow<nsw, fast>")
    '#arith.overflow is one of none, nsw, nuw, or several of them, not fast'
    """
    found = _ATTRIBUTE.fullmatch(text)
    if found is None or found[1] not in DIALECTS:
        return None
    name = f"{found[1]}.{found[2]}"
    if name == "ub.poison":
        return None
    if name not in ENUMERATIONS:
        return f"the dialect {found[1]} has no attribute #{name}"
    return problem_of_words(name, (found[3] or "<>")[1:-1])


def problem_of_words(name: str, text: str) -> str | None:
    """What is wrong with the words of an attribute of ENUMERATIONS."""
    words, several = ENUMERATIONS[name]
    known = words.split()
    given = [word.strip().strip('"') for word in text.split(",")]
    rule = f"#{name} is one of {', '.join(known)}{', or several of them' if several else ''}, not"
    if len(given) > 1 and not several:
        return f"{rule} several"
    unknown = [word for word in given if word not in known]
    return f"{rule} {unknown[0] or 'nothing'}" if unknown else None


def problem_of_type(text: str) -> str | None:
    """What is wrong with `!dialect.name<...>`: our own dialects have no such types."""
    found = _TYPE.match(text)
    return f"the dialect {found[1]} has no type {text}" if found is not None and found[1] in DIALECTS else None


_FLOATS = (
    *[f"arith.{kind}" for kind in (*arith.FLOAT_BINARY, "negf", "cmpf", "extf", "truncf")],
    *[f"math.{kind}" for kind in (*math.FLOAT_UNARY, *math.FLOAT_BINARY, "fma", "fpowi", "clampf", "sincos")],
    *[f"complex.{kind}" for kind in (*complex_.PARTS, *complex_.UNARY, *complex_.BINARY)],
    "arith.scaling_extf", "arith.scaling_truncf",
)  # fmt: skip
FLAGS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_FLOATS, ("fastmath",)),
    **{f"arith.{kind}": ("overflow",) for kind in ("addi", "subi", "muli", "shli", "trunci")},
    **{f"arith.{kind}": ("exact",) for kind in ("divsi", "divui", "shrsi", "shrui")},
    "vector.reduction": ("fastmath",),
    "arith.truncf": ("roundingmode", "fastmath"),
    "arith.scaling_truncf": ("roundingmode", "fastmath"),
}
"""What may stand between the operands and the types of an operation, in this order."""

PROPERTIES = {"fastmath": "fastmath", "overflow": "overflowFlags", "exact": "isExact", "roundingmode": "roundingmode"}
"""The name of each flag in the generic form."""


def problem_of_flag(name: str, attribute: Attribute) -> str | None:
    """What is wrong with a property of PROPERTIES; None for any other."""
    match name, attribute:
        case "fastmath", OpaqueAttr(text) if text.startswith("#arith.fastmath<"):
            return None
        case "overflowFlags", OpaqueAttr(text) if text.startswith("#arith.overflow<"):
            return None
        case "isExact", UnitAttr():
            return None
        case "roundingmode", IntegerAttr(value, IntegerType(32, "")) if 0 <= value < 5:
            return None
    if name not in PROPERTIES.values():
        return None
    return f"{name} must be {_WANTED[name]}"


_WANTED = {
    "fastmath": "#arith.fastmath<...>", "overflowFlags": "#arith.overflow<...>", "isExact": "a unit attribute",
    "roundingmode": "a number of type i32 from 0 to 4",
}  # fmt: skip
