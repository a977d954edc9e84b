"""How errors name operations and values, and what may have been meant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from affdsl.ir.core import Op
from affdsl.ir.expr import Value
from affdsl.ir.spelling import hint
from affdsl.later import pattern


def op_name(op: Op) -> str:
    """The full name of an operation, its kind included: arith.addi."""
    kind: str = getattr(op, "kind", "")
    return ".".join(part for part in (op.name, kind) if part)


def in_language(text: str) -> str:
    """A text about operations in the words of who wrote a kernel, and never saw the names that MLIR has for them.

    >>> in_language("memref.alloca, math.sqrt and arith.addf have no form on vectors")
    'affdsl.alloca or affdsl.var, affdsl.sqrt and + have no form on vectors'
    """
    return _OPERATION.sub(lambda found: _in_language(found[0], found[1], found[2]), text)


def _in_language(name: str, dialect: str, kind: str) -> str:
    return _IN_LANGUAGE.get(name) or (f"affdsl.{kind}" if dialect == "math" else name)


_OPERATION = pattern(r"(?<![\w.#])(affine|arith|cf|complex|func|math|memref|scf|vector)\.(\w+)")
_IN_LANGUAGE = {
    "vector.print": "affdsl.print_", "cf.assert": "affdsl.assert_", "func.call": "the call of a kernel",
    "affine.for": "affdsl.for_", "affine.if": "affdsl.if_ of indices",
    **dict.fromkeys(("affine.parallel", "scf.parallel"), "affdsl.parallel"),
    "scf.for": "affdsl.for_ over data", "scf.if": "affdsl.if_ of data", "scf.while": "affdsl.while_",
    "affine.yield": "affdsl.yield_", "scf.yield": "affdsl.yield_",
    "memref.alloc": "affdsl.alloc", "memref.alloca": "affdsl.alloca or affdsl.var", "memref.copy": "affdsl.copy",
    "memref.dealloc": "the end of an array of affdsl.alloc", "memref.get_global": "affdsl.constant",
    "affine.load": "a load", "memref.load": "a load", "affine.store": "a store", "memref.store": "a store",
    "affine.vector_load": "a load of a vector", "affine.vector_store": "a store of a vector",
    "affine.min": "affdsl.min", "affine.max": "affdsl.max", "affine.apply": "an index", "arith.constant": "a number",
    **dict.fromkeys(("arith.addf", "arith.addi"), "+"), **dict.fromkeys(("arith.subf", "arith.subi"), "-"),
    **dict.fromkeys(("arith.mulf", "arith.muli"), "*"), "arith.divf": "/", "arith.negf": "-",
    **dict.fromkeys(("arith.divsi", "arith.divui", "arith.floordivsi"), "//"), "arith.andi": "&", "arith.ori": "|",
    **dict.fromkeys(("arith.remsi", "arith.remui"), "%"), "arith.xori": "^", "arith.shli": "<<",
    **dict.fromkeys(("arith.shrsi", "arith.shrui"), ">>"), "arith.remf": "affdsl.fmod",
    **dict.fromkeys(("arith.cmpf", "arith.cmpi"), "a comparison"), "arith.select": "affdsl.select",
    "arith.maximumf": "affdsl.max", "arith.minimumf": "affdsl.min", "arith.maxnumf": "affdsl.fmax",
    "arith.minnumf": "affdsl.fmin", **dict.fromkeys(("arith.maxsi", "arith.maxui"), "affdsl.max"),
    **dict.fromkeys(("arith.minsi", "arith.minui"), "affdsl.min"),
    **dict.fromkeys(("math.absf", "math.absi"), "affdsl.abs"), "math.powf": "affdsl.pow", "math.ipowi": "affdsl.pow",
    **{f"arith.{kind}": "a conversion" for kind in
       "extf extsi extui truncf trunci sitofp uitofp fptosi fptoui index_cast index_castui bitcast".split()},
}  # fmt: skip
"""What is written in a kernel for operations that messages may name; others keep their names."""


def where(op: Op) -> str:
    """Which operation a message is about, and its place in the user's source if that is known."""
    place = op.location
    if place is None:
        return op_name(op)
    return f"{place}:{place.column}: {op_name(op)}" if place.column else f"{place}: {op_name(op)}"


def shown(value: Value) -> str:
    """A value as MLIR writes it, or in words if it has no name."""
    text = hint(value).removeprefix("%")
    return text if " " in text else f"%{text}"


def nearest(name: str, known: Sequence[str]) -> str:
    """`; did you mean 'x'?` where something known is close to a name, else nothing."""
    alike: Callable[..., list[str]] = import_module("difflib").get_close_matches  # who mistypes nothing does not wait
    close = alike(name, known, n=1, cutoff=0.6)
    return f"; did you mean '{close[0]}'?" if close else ""
