"""The loops and choices of scf that stand for themselves, read from their custom form."""

from __future__ import annotations

from collections.abc import Generator, Mapping

from affdsl.ir.attributes import Attributes, UnitAttr
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import scf
from affdsl.ir.dialects.opaque import OpaqueRegion
from affdsl.ir.expr import Value
from affdsl.ir.types import INDEX, Type
from affdsl.mlir.parser import Head, Parser, Reader, Reading
from affdsl.mlir.reading.opaque import opaque
from affdsl.mlir.reading.regions import read_blocks


def read_while(p: Parser, head: Head) -> Reading:
    """`scf.while (%x = %a) : (types) -> (types) { ... } do { ^bb0(%y: type): ... } attributes {...}`"""
    s = p.scanner
    pairs = p.listed(p.assignment) if s.token == "(" else ()
    type = p.colon_function()
    inits = p.typed([init for _, init in pairs], type.inputs, head.offset)
    around = p.enter()
    before_args = tuple([p.define(name, t) for (name, _), t in zip(pairs, type.inputs, strict=True)])
    s.expect("{")
    ops = yield
    before = p.closed(ops, scf.Condition)
    p.leave(around)
    s.expect("do")
    s.expect("{")
    after_args = _block_arguments(p)
    ops = yield
    after = _ended(p, ops)
    p.leave(around)
    attributes = p.dictionary() if s.accept("attributes") else ()
    return scf.While(
        inits, before_args, before, after_args, after, p.results(head, type.results),
        location=head.location, attributes=attributes,
    )  # fmt: skip


def _ended(p: Parser, ops: Block) -> Block:
    """A block whose scf.yield must be written."""
    if p.scanner.token[:1] == "^":
        p.scanner.fail("several blocks can be read in generic form only")
    if not ops or not ops[-1].is_terminator:
        p.scanner.fail("a block must end with scf.yield here")
    return p.closed(ops, scf.Yield)


def _block_arguments(p: Parser) -> tuple[Value, ...]:
    """`^bb0(%x: type):`, or nothing"""
    s = p.scanner
    if s.token[:1] != "^":
        return ()
    s.advance()
    parameters = p.listed(p.block_parameter) if s.token == "(" else ()
    s.expect(":")
    return tuple([p.define(a.use, a.type, a.location) for a in parameters])


def read_parallel(p: Parser, head: Head) -> Reading:
    """`scf.parallel (%i) = (%a) to (%b) step (%c) init (%x) -> type { ... }`"""
    s = p.scanner
    ivs = p.listed(p.use)
    s.expect("=")
    lower = p.listed(lambda: p.operand(INDEX))
    s.expect("to")
    upper = p.listed(lambda: p.operand(INDEX))
    s.expect("step")
    steps = p.listed(lambda: p.operand(INDEX))
    if len({len(ivs), len(lower), len(upper), len(steps)}) > 1:
        counts = f"{len(ivs)}, {len(lower)}, {len(upper)} and {len(steps)}"
        s.fail(f"the numbers of variables, bounds and steps differ: {counts}", head.offset)
    uses = p.listed(p.use) if s.accept("init") else ()
    types = p.types() if s.accept("->") else ()
    inits = p.typed(uses, types, head.offset)
    around = p.enter()
    values = tuple([p.define(iv, INDEX) for iv in ivs])
    s.expect("{")
    ops = yield
    body = p.closed(ops, scf.Reduce)
    p.leave(around)
    attributes = p.dictionary()
    return scf.Parallel(
        values, lower, upper, steps, body, inits, p.results(head, types), location=head.location, attributes=attributes
    )


def read_reduce(p: Parser, head: Head) -> Reading:
    """`scf.reduce(%x, %y : f32, index) { ^bb0(%a: f32, %b: f32): ... }, { ... }`"""
    s = p.scanner
    p.no_results(head)
    values: tuple[Value, ...] = ()
    if s.accept("(") and not s.accept(")"):
        uses = p.uses()
        s.expect(":")
        values = p.typed(uses, p.type_list(), head.offset)
        s.expect(")")
    combiners: list[Op] = []
    for position in range(len(values)):
        if position:
            s.expect(",")
        combiners.append((yield from combiner(p, head)))
    attributes = p.dictionary()
    return scf.Reduce(values, tuple(combiners), location=head.location, attributes=attributes)


def combiner(p: Parser, head: Head) -> Generator[None, Block, scf.Combiner]:
    """`{ ^bb0(%a: f32, %b: f32): ... }`, how scf.reduce combines two values"""
    s = p.scanner
    s.expect("{")
    around, place = p.enter(), s.start
    args = _block_arguments(p)
    if len(args) != 2:
        s.fail(f"a block of scf.reduce has two arguments, got {len(args)}", place)
    ops = yield
    body = p.closed(ops, scf.ReduceReturn)
    p.leave(around)
    return scf.Combiner(*args, body, location=head.location)


def read_index_switch(p: Parser, head: Head) -> Reading:
    """`scf.index_switch %n -> f32, index case 2 { ... } default { ... }`"""
    s = p.scanner
    argument = p.operand(INDEX)
    attributes = p.dictionary()
    types = tuple(p.type_list()) if s.accept("->") else ()
    cases: list[Op] = []
    while s.token == "case":
        place = s.location()
        s.advance()
        number = s.integer()
        cases.append(scf.Case(number, (yield from _yielding(p)), location=place))
    s.expect("default")
    default = yield from _yielding(p)
    results = p.results(head, types)
    return scf.IndexSwitch(argument, tuple(cases), default, results, location=head.location, attributes=attributes)


def _yielding(p: Parser) -> Generator[None, Block, Block]:
    p.scanner.expect("{")
    around = p.enter()
    ops = yield
    body = p.closed(ops, scf.Yield)
    p.leave(around)
    return body


def read_execute_region(p: Parser, head: Head) -> Reading:
    """`scf.execute_region -> type no_inline { ... }`"""
    s = p.scanner
    types: tuple[Type, ...] = p.types() if s.accept("->") else ()
    no_inline = s.accept("no_inline")
    s.expect("{")
    around = p.enter()
    blocks = yield from read_blocks(p, head)
    if len(blocks) > 1:
        s.expect("}")
        p.leave(around)
        attributes = p.dictionary()
        own: Attributes = (("no_inline", UnitAttr()),) if no_inline else ()
        return opaque(p, head, (), types, own, attributes, (OpaqueRegion(blocks),))
    body = _ended(p, blocks[0].body if blocks else ())
    p.leave(around)
    attributes = p.dictionary()
    return scf.ExecuteRegion(body, p.results(head, types), no_inline, location=head.location, attributes=attributes)


READERS: Mapping[str, Reader] = {
    "scf.while": read_while,
    "scf.parallel": read_parallel,
    "scf.reduce": read_reduce,
    "scf.index_switch": read_index_switch,
    "scf.execute_region": read_execute_region,
}
