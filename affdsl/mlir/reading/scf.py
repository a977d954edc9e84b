"""The scf dialect, read from its custom form."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.ir.attributes import UnitAttr
from affdsl.ir.dialects import scf
from affdsl.ir.types import I1, INDEX
from affdsl.mlir.parser import Head, Parser, Reader, Reading
from affdsl.mlir.reading.affine import read_branches, read_carried


def read_for(p: Parser, head: Head) -> Reading:
    """`scf.for %i = %a to %b step %c iter_args(%x = %y) -> (type) : i32 { ... }`"""
    s = p.scanner
    unsigned = s.accept("unsigned")
    iv = p.use()
    s.expect("=")
    lower = p.use()
    s.expect("to")
    upper = p.use()
    s.expect("step")
    step = p.use()
    names, inits = read_carried(p)
    type = p.type() if s.accept(":") else INDEX
    first, last, by = p.typed((lower, upper, step), (type,) * 3)
    before = p.enter()
    value = p.define(iv, type)
    carried = tuple([p.define(n, i.type) for n, i in zip(names, inits, strict=True)])
    s.expect("{")
    ops = yield
    body = p.closed(ops, scf.Yield)
    p.leave(before)
    attributes = p.dictionary()
    if unsigned:
        attributes = (*attributes, ("unsignedCmp", UnitAttr()))
    results = p.results(head, [v.type for v in carried])
    return scf.For(value, first, last, by, body, inits, carried, results, location=head.location, attributes=attributes)


def read_if(p: Parser, head: Head) -> Reading:
    """`scf.if %c -> (type) { ... } else { ... }`"""
    condition = p.operand(I1)
    types = p.types() if p.scanner.accept("->") else ()
    then, orelse = yield from read_branches(p, head, scf.Yield)
    attributes = p.dictionary()
    return scf.If(condition, then, orelse, p.results(head, types), location=head.location, attributes=attributes)


READERS: Mapping[str, Reader] = {"scf.for": read_for, "scf.if": read_if}
