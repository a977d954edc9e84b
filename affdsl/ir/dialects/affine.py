"""The affine dialect: loops, conditions and accesses whose indices are affine expressions."""

from __future__ import annotations

from dataclasses import dataclass

from affdsl.ir.core import (
    Argument,
    Arguments,
    Constraints,
    Expr,
    ExprGroups,
    Exprs,
    Op,
    Operand,
    Operands,
    Region,
    Result,
    Results,
)

REDUCTIONS = {
    "addf": "float", "mulf": "float", "maximumf": "float", "minimumf": "float",
    "addi": "integer", "muli": "integer", "andi": "integer", "ori": "integer",
    "maxs": "signed", "mins": "signed", "maxu": "unsigned", "minu": "unsigned",
    "assign": "any",
}  # fmt: skip
"""How the values that the iterations of a parallel band yield are combined, and which types MLIR takes for it."""


@dataclass(frozen=True, eq=False)
class For(Op):
    """Run body for iv = max(lower), + step, ... below min(upper), one after the other.

    `carried` holds `inits` in the first iteration and what the last one yielded in each later one; `results` hold
    what the last iteration yielded, or `inits` if there was none.
    """

    name = "affine.for"
    iv: Argument
    lower: Exprs
    upper: Exprs
    body: Region
    step: int = 1
    inits: Operands = ()
    carried: Arguments = ()
    results: Results = ()


@dataclass(frozen=True, eq=False)
class If(Op):
    """Run then if all constraints hold, otherwise orelse; `results` are what that block yields."""

    name = "affine.if"
    condition: Constraints
    then: Region
    orelse: Region = ()
    results: Results = ()


@dataclass(frozen=True, eq=False)
class Parallel(Op):
    """Run body for every point of a box, in any order; the yielded values are combined by `reductions`.

    Each loop has its group of lower bounds (their maximum counts) and upper bounds (their minimum counts).
    """

    name = "affine.parallel"
    ivs: Arguments
    lower: ExprGroups
    upper: ExprGroups
    steps: tuple[int, ...]
    body: Region
    reductions: tuple[str, ...] = ()
    results: Results = ()


@dataclass(frozen=True, eq=False)
class Apply(Op):
    """result = expr"""

    name = "affine.apply"
    result: Result
    expr: Expr


@dataclass(frozen=True, eq=False)
class Min(Op):
    """result = the smallest of exprs"""

    name = "affine.min"
    result: Result
    exprs: Exprs


@dataclass(frozen=True, eq=False)
class Max(Op):
    """result = the largest of exprs"""

    name = "affine.max"
    result: Result
    exprs: Exprs


@dataclass(frozen=True, eq=False)
class Load(Op):
    """result = memref[index]"""

    name = "affine.load"
    result: Result
    memref: Operand
    index: Exprs


@dataclass(frozen=True, eq=False)
class Store(Op):
    """memref[index] = value"""

    name = "affine.store"
    value: Operand
    memref: Operand
    index: Exprs


@dataclass(frozen=True, eq=False)
class Yield(Op):
    """Hand values to the loop or condition around."""

    name = "affine.yield"
    is_terminator = True
    values: Operands
