"""The scf dialect, printed in its custom form."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import scf
from affdsl.ir.types import INDEX
from affdsl.mlir.printer import Printer
from affdsl.mlir.writing.affine import write_branches, write_carried


def write_for(p: Printer, op: scf.For) -> Iterator[Block]:
    """`scf.for %i = %a to %b step %c iter_args(%x = %y) -> (type) : i32 { ... }`"""
    bounds = f"{p.names(op.lower)} to {p.names(op.upper)} step {p.names(op.step)}"
    inits, results = [p.names(v) for v in op.inits], p.results(op.results)
    type = "" if op.iv.type == INDEX else f" : {p.type(op.iv)}"
    unsigned = "unsigned " if "unsignedCmp" in dict(op.attributes) else ""
    with p.scope():
        iv = p.names.define_argument(op.iv)
        carried = write_carried(p, op.carried, inits)
        p.line(None, f"{results}scf.for {unsigned}{iv} = {bounds}{carried}{type} {{")
        yield op.body
    p.line(op, f"}}{p.dictionary(op, 'unsignedCmp')}")


def write_if(p: Printer, op: scf.If) -> Iterator[Block]:
    """`scf.if %c -> (type) { ... } else { ... }`"""
    types = f" -> ({p.types(op.results)})" if op.results else ""
    return write_branches(p, op, f"scf.if {p.names(op.condition)}{types}")


WRITERS: dict[type[Op], Callable[..., str | Iterator[Block]]] = {
    scf.For: write_for,
    scf.If: write_if,
}
