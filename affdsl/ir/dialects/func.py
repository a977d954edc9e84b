"""The func dialect: modules, functions, calls."""

from __future__ import annotations

from affdsl.ir.attributes import Attribute
from affdsl.ir.core import Arguments, Facts, Op, Operands, Region, Results, Shapes
from affdsl.ir.expr import Constraint
from affdsl.ir.types import FunctionType, Type


class Func(Op):
    """A function: arguments, one block, and its contract.

    `shapes` has one entry for each argument: the sizes of a memref as expressions over the index arguments, or None
    where nothing is promised; the empty tuple promises nothing at all. `assumes` are facts about the index arguments.
    `unsigned` names the positions of arguments, and `unsigned_results` those of results, whose integer elements the
    caller means as unsigned (the IR's integers have no sign).

    An external function has no body here. `argument_attributes` and `result_attributes` are what MLIR text says of each
    argument and result beside the contract, or empty.
    """

    name = "func.func"
    symbol: str
    args: Arguments
    body: Region
    result_types: tuple[Type, ...] = ()
    shapes: Shapes = ()
    assumes: Facts = ()
    unsigned: frozenset[int] = frozenset()
    unsigned_results: frozenset[int] = frozenset()
    private: bool = False
    external: bool = False
    argument_attributes: tuple[tuple[tuple[str, Attribute], ...], ...] = ()
    result_attributes: tuple[tuple[tuple[str, Attribute], ...], ...] = ()

    @property
    def type(self) -> FunctionType:
        """What the function takes and gives."""
        return FunctionType(tuple(a.type for a in self.args), self.result_types)

    @property
    def promised(self) -> tuple[Constraint, ...]:
        """What the contract says of the index arguments: what is assumed, and that sizes are not negative."""
        sizes = [size for shape in self.shapes for size in shape or ()]
        return (*self.assumes, *(Constraint(size) for size in sizes if size.terms))


class Call(Op):
    """results = callee(operands)"""

    name = "func.call"
    results: Results
    callee: str
    args: Operands


class Return(Op):
    """Leave the function with values."""

    name = "func.return"
    is_terminator = True
    values: Operands


class Module(Op):
    """Functions that may call each other by their symbols, global buffers, and modules of their own symbols.

    `resources` is the text at the end of a file that says what its dense_resource attributes stand for.
    """

    name = "builtin.module"
    body: Region
    symbol: str = ""
    resources: str = ""

    @property
    def functions(self) -> tuple[Func, ...]:
        """The functions, in order."""
        return tuple([op for op in self.body if isinstance(op, Func)])
