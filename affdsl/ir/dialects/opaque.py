"""Operations that the IR has no class for: kept as they are, and a barrier to every analysis."""

from __future__ import annotations

from dataclasses import dataclass

from affdsl.ir.attributes import Attribute
from affdsl.ir.core import Arguments, Op, Operands, Region, Results


@dataclass(frozen=True, eq=False)
class Opaque(Op):
    """results = kind(operands): any operation of MLIR in its generic form.

    `properties` are the attributes that belong to the operation itself, `attributes` the others. `regions` holds an
    `OpaqueRegion` for each region, and `successors` names blocks of the region that holds the operation.
    """

    kind: str
    operands: Operands
    results: Results
    properties: tuple[tuple[str, Attribute], ...] = ()
    regions: Region = ()
    successors: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class OpaqueRegion(Op):
    """A region of an opaque operation: its blocks, each an `OpaqueBlock`."""

    name = "region"
    blocks_inside: Region


@dataclass(frozen=True, eq=False)
class OpaqueBlock(Op):
    """A block of an opaque operation: its label, its arguments, and all of its operations, terminator included."""

    name = "block"
    label: str
    args: Arguments
    body: Region
