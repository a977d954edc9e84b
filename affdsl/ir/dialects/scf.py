"""The scf dialect: loops and conditions on values known only at run time."""

from __future__ import annotations

from dataclasses import dataclass

from affdsl.ir.core import Argument, Arguments, Op, Operand, Operands, Region, Results


@dataclass(frozen=True, eq=False)
class For(Op):
    """Run body for iv = lower, + step, ... below upper, one after the other; `carried` as in affine.for."""

    name = "scf.for"
    iv: Argument
    lower: Operand
    upper: Operand
    step: Operand
    body: Region
    inits: Operands = ()
    carried: Arguments = ()
    results: Results = ()


@dataclass(frozen=True, eq=False)
class If(Op):
    """Run then if condition is true, otherwise orelse; `results` are what that block yields."""

    name = "scf.if"
    condition: Operand
    then: Region
    orelse: Region = ()
    results: Results = ()


@dataclass(frozen=True, eq=False)
class Yield(Op):
    """Hand values to the loop or condition around."""

    name = "scf.yield"
    is_terminator = True
    values: Operands
