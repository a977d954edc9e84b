"""The scf dialect in generic form."""

from __future__ import annotations

from affdsl.ir.attributes import Attribute, DenseArrayAttr, without
from affdsl.ir.core import Op
from affdsl.ir.dialects import scf
from affdsl.ir.dialects.opaque import Opaque, OpaqueBlock, OpaqueRegion
from affdsl.ir.types import I64
from affdsl.mlir.form import YIELD, Form
from affdsl.mlir.generic.rows import Inside, Reading, Row, Writing, end_of, ended, named, without_terminator
from affdsl.mlir.generic.views import unit_property


def _single_blocks(opaque: Opaque, reading: Reading) -> list[OpaqueBlock]:
    """The one block of each region."""
    found: list[OpaqueBlock] = []
    for region in opaque.regions:
        blocks = (
            [b for b in region.blocks_inside if isinstance(b, OpaqueBlock)] if isinstance(region, OpaqueRegion) else []
        )
        if len(blocks) != 1:
            reading.refuse(opaque, f"each region of {opaque.kind} has one block")
        found.append(blocks[0])
    return found


def _write_reduce(op: scf.Reduce, writing: Writing) -> Opaque:
    regions = tuple([
        OpaqueRegion((OpaqueBlock("", (c.left, c.right), c.body),)) for c in op.combiners if isinstance(c, scf.Combiner)
    ])  # fmt: skip
    return Opaque(op.name, op.values, (), (), regions, attributes=op.attributes, location=op.location)


def _read_reduce(opaque: Opaque, reading: Reading) -> Op:
    combiners: list[Op] = []
    for block in _single_blocks(opaque, reading):
        if len(block.args) != 2:
            reading.refuse(opaque, f"a block of scf.reduce has two arguments, got {len(block.args)}")
        combiners.append(scf.Combiner(*block.args, block.body, location=opaque.location))
    attributes = (*opaque.properties, *opaque.attributes)
    return scf.Reduce(opaque.operands, tuple(combiners), location=opaque.location, attributes=attributes)


def _write_switch(op: scf.IndexSwitch, writing: Writing) -> Opaque:
    cases = [case for case in op.cases if isinstance(case, scf.Case)]
    bodies = [case.body for case in cases] + [op.default]
    *others, default = [
        OpaqueRegion((OpaqueBlock("", (), ended(body, scf.Yield, end_of(op, n))),)) for n, body in enumerate(bodies)
    ]  # in this form the default comes first
    numbers: tuple[tuple[str, Attribute], ...] = (
        ("cases", DenseArrayAttr(I64, tuple([str(case.number) for case in cases]))),
    )
    return Opaque(
        op.name, (op.argument,), op.results, numbers, (default, *others), attributes=op.attributes, location=op.location
    )


def _read_switch(opaque: Opaque, reading: Reading) -> Op:
    said = (*opaque.properties, *opaque.attributes)
    cases = named(said, "cases")
    if len(opaque.operands) != 1 or not isinstance(cases, DenseArrayAttr):
        reading.refuse(opaque, "scf.index_switch takes one operand and needs the property cases")
    blocks = _single_blocks(opaque, reading)
    if len(blocks) != 1 + len(cases.items):
        reading.refuse(opaque, f"scf.index_switch has {len(blocks)} regions for {len(cases.items)} cases and default")
    default, *others = [without_terminator(opaque, b.body, scf.Yield, False, reading) for b in blocks]
    silent = [(b.body, body) for b, body in zip(blocks, (default, *others), strict=True)]
    last, *ends = [whole[-1].location if len(body) < len(whole) else None for whole, body in silent]
    made = [scf.Case(int(n), body, location=opaque.location) for n, body in zip(cases.items, others, strict=True)]
    rest = without(said, "cases")
    return scf.IndexSwitch(
        opaque.operands[0], tuple(made), default, opaque.results,
        ends=(*ends, last), location=opaque.location, attributes=rest,
    )  # fmt: skip


ROWS = (
    Row(scf.For, regions=(Inside("body", scf.Yield, ("iv", "carried")),), inherent={"unsignedCmp": None}),
    Row(scf.If, regions=(Inside("then", scf.Yield), Inside("orelse", scf.Yield, optional=True))),
    Row(scf.Yield, YIELD),
    Row(
        scf.While,
        regions=(Inside("before", scf.Condition, ("before_args",)), Inside("after", scf.Yield, ("after_args",))),
    ),
    Row(scf.Condition, Form("(%condition){}(? %values* : <values*>?)", {"condition": "i1"})),
    Row(scf.Parallel, regions=(Inside("body", scf.Reduce, ("ivs",)),)),
    Row(scf.Reduce, write=_write_reduce, read=_read_reduce),
    Row(scf.ReduceReturn, YIELD),
    Row(scf.IndexSwitch, write=_write_switch, read=_read_switch),
    Row(scf.ExecuteRegion, properties=(unit_property("no_inline", "no_inline"),), regions=(Inside("body", scf.Yield),)),
)
