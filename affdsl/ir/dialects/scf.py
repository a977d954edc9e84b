"""The scf dialect: loops and conditions on values known only at run time."""

from __future__ import annotations

from affdsl.ir.core import Argument, Arguments, Nested, Operand, Operands, Pure, Region, Results


class For(Nested):
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

    @property
    def is_unsigned(self) -> bool:
        """Whether bounds and step are unsigned numbers, which an attribute says."""
        return any(name == "unsignedCmp" for name, _ in self.attributes)


class If(Nested):
    """Run then if condition is true, otherwise orelse; `results` are what that block yields."""

    name = "scf.if"
    condition: Operand
    then: Region
    orelse: Region = ()
    results: Results = ()


class Yield(Pure):
    """Hand values to the loop or condition around."""

    name = "scf.yield"
    is_terminator = True
    values: Operands


class While(Nested):
    """Run before; while its condition holds, run after, and before again.

    `before_args` are `inits` first, and what after yields then; `after_args` are what the condition yields, and so
    are `results` in the end.
    """

    name = "scf.while"
    inits: Operands
    before_args: Arguments
    before: Region
    after_args: Arguments
    after: Region
    results: Results = ()


class Condition(Pure):
    """Hand values to the after block of the loop around if condition is true, otherwise out of the loop."""

    name = "scf.condition"
    is_terminator = True
    condition: Operand
    values: Operands = ()


class Parallel(Nested):
    """Run body for every point of a box, in any order; what its scf.reduce yields is combined, with `inits`."""

    name = "scf.parallel"
    ivs: Arguments
    lower: Operands
    upper: Operands
    steps: Operands
    body: Region
    inits: Operands = ()
    results: Results = ()


class Reduce(Nested):
    """Hand values to the scf.parallel around; `combiners` has a `Combiner` for each, which says how."""

    name = "scf.reduce"
    is_terminator = True
    values: Operands = ()
    combiners: Region = ()


class Combiner(Nested):
    """A block of scf.reduce: left and right, two values to be combined, and what makes one of them."""

    name = "scf.reduce block"
    left: Argument
    right: Argument
    body: Region


class ReduceReturn(Pure):
    """Hand a value to the scf.reduce around."""

    name = "scf.reduce.return"
    is_terminator = True
    values: Operands


class IndexSwitch(Nested):
    """Run the case of number `argument`, otherwise default; `results` are what that block yields."""

    name = "scf.index_switch"
    argument: Operand
    cases: Region
    default: Region
    results: Results = ()


class Case(Nested):
    """A block of scf.index_switch, for one number."""

    name = "scf.index_switch case"
    number: int
    body: Region


class ExecuteRegion(Nested):
    """Run body once; `results` are what it yields."""

    name = "scf.execute_region"
    body: Region
    results: Results = ()
    no_inline: bool = False
