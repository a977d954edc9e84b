"""What values are compared by: nodes, which have a value in each of their instances, and what these come from.

A *node* is something that has a value in each of its instances, which are points of as many dimensions as it has: a
value of the program, in each iteration of the loops around; what is left in a buffer in the end, in each element.
One *step* says of a node either that its instances are those of other nodes (a load finds what a store stored, a loop
gives what its last iteration yielded) or what computes it.
"""

from __future__ import annotations

from affdsl.frozen import Frozen, FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.expr import Value
from affdsl.passes.analysis.polyhedral import Map
from affdsl.passes.analysis.storage import Buffer


class Final(FrozenValue):
    """What is in a buffer in the end: its instances are the elements."""

    buffer: Buffer


class Cell(FrozenValue):
    """What was in a buffer before the function began: its instances are the elements. Two of one key are one."""

    key: str


class Undefined(FrozenValue):
    """What nobody wrote: it may be anything, in each instance."""


FlowNode = Value | Final | Cell | Undefined


class Cases(Frozen):
    """The instances of a node are those of others: each map is from its instances to those of the node with it."""

    parts: tuple[tuple[Map, FlowNode], ...]


class Number(Frozen):
    """An integer: the map is from the instances of the node to its one number."""

    map: Map


class Computed(Frozen):
    """What an operation computes from nodes, each with the map to its instance; `signature` says what it computes."""

    signature: tuple[object, ...]
    operands: tuple[tuple[Map, FlowNode], ...] = ()
    op: Op | None = None


Meaning = Cases | Number | Computed | Cell | Undefined
