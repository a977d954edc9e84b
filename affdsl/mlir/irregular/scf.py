"""Loops and choices of scf: read, and printed."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from affdsl.ir.attributes import Attributes, UnitAttr
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import scf
from affdsl.ir.dialects.opaque import OpaqueRegion
from affdsl.ir.expr import Value
from affdsl.ir.types import I1, INDEX, Type
from affdsl.mlir.generic.rows import end_of, ended
from affdsl.mlir.irregular.affine import read_block, read_branches, read_carried, write_branches, write_carried
from affdsl.mlir.irregular.table import Table
from affdsl.mlir.parser import Head, Parser, Reading
from affdsl.mlir.printer import Printer
from affdsl.mlir.reading.opaque import opaque
from affdsl.mlir.reading.regions import read_blocks


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
    body = yield from read_block(p, scf.Yield, before)
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


def read_while(p: Parser, head: Head) -> Reading:
    """`scf.while (%x = %a) : (types) -> (types) { ... } do { ^bb0(%y: type): ... } attributes {...}`"""
    s = p.scanner
    pairs = p.listed(p.assignment) if s.token == "(" else ()
    type = p.colon_function()
    inits = p.typed([init for _, init in pairs], type.inputs, head.offset)
    around = p.enter()
    before_args = tuple([p.define(name, t) for (name, _), t in zip(pairs, type.inputs, strict=True)])
    before = yield from read_block(p, scf.Condition, around)
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
    p.same_numbers(head, ivs, lower, upper, steps)
    uses = p.listed(p.use) if s.accept("init") else ()
    types = p.types() if s.accept("->") else ()
    inits = p.typed(uses, types, head.offset)
    around = p.enter()
    values = tuple([p.define(iv, INDEX) for iv in ivs])
    body = yield from read_block(p, scf.Reduce, around)
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
        cases.append(scf.Case(number, (yield from read_block(p, scf.Yield)), location=place))
    s.expect("default")
    default = yield from read_block(p, scf.Yield)
    results = p.results(head, types)
    return scf.IndexSwitch(argument, tuple(cases), default, results, location=head.location, attributes=attributes)


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


def _arguments(p: Printer, values: tuple[Value, ...]) -> None:
    """A line `^bb0(%x: type):` where a block has arguments."""
    shown = [f"{p.names.define_argument(v)}: {p.type(v)}{p.argument_location(v.location)}" for v in values]
    if shown:
        p.line(None, f"^bb0({', '.join(shown)}):")


def write_while(p: Printer, op: scf.While) -> Iterator[Block]:
    """`scf.while (%x = %a) : (types) -> (types) { ... } do { ^bb0(%y: type): ... } attributes {...}`"""
    inits, results = [p.names(v) for v in op.inits], p.results(op.results)
    with p.scope():
        pairs = [f"{p.names.define_argument(v)} = {i}" for v, i in zip(op.before_args, inits, strict=True)]
        shown = f" ({', '.join(pairs)})" if pairs else ""
        p.line(None, f"{results}scf.while{shown}{p.colon_types(op.inits, op.results)} {{")
        yield op.before
    p.line(None, "} do {")
    with p.scope():
        _arguments(p, op.after_args)
        yield _ended_text(op, 1, op.after)
    attributes = p.dictionary(op)
    p.line(op, f"}}{f' attributes{attributes}' if attributes else ''}")


def _ended_text(op: Op, number: int, block: Block) -> Block:
    """A block, and its number, with its scf.yield, which must be written here even if it yields nothing."""
    return ended(block, scf.Yield, end_of(op, number))


def write_parallel(p: Printer, op: scf.Parallel) -> Iterator[Block]:
    """`scf.parallel (%i) = (%a) to (%b) step (%c) init (%x) -> type { ... }`"""
    bounds = f"({p.list(op.lower)}) to ({p.list(op.upper)}) step ({p.list(op.steps)})"
    init = f" init ({p.list(op.inits)}) -> {p.result_types(op.results)}" if op.results else ""
    results = p.results(op.results)
    with p.scope():
        ivs = ", ".join(map(p.names.define_argument, op.ivs))
        p.line(None, f"{results}scf.parallel ({ivs}) = {bounds}{init} {{")
        # With its place, as mlir-opt writes it: where it is not written, it would be where the text is read.
        yield ended(op.body, scf.Reduce, end_of(op, 0)) if p.shows_locations else op.body
    p.line(op, f"}}{p.dictionary(op)}")


def write_reduce(p: Printer, op: scf.Reduce) -> str | Iterator[Block]:
    """`scf.reduce(%x, %y : f32, index) { ^bb0(%a: f32, %b: f32): ... }, { ... }`"""
    if not op.values:
        return p.generic(op) if op.attributes else "scf.reduce"
    return _blocks_of_reduce(p, op)


def _blocks_of_reduce(p: Printer, op: scf.Reduce) -> Iterator[Block]:
    p.line(None, f"scf.reduce({p.list(op.values)} : {p.types(op.values)}) {{")
    combiners = [c for c in op.combiners if isinstance(c, scf.Combiner)]
    for position, combiner in enumerate(combiners):
        if position:
            p.line(None, "}, {")
        with p.scope():
            _arguments(p, (combiner.left, combiner.right))
            yield combiner.body
    p.line(op, f"}}{p.dictionary(op)}")


def write_index_switch(p: Printer, op: scf.IndexSwitch) -> Iterator[Block]:
    """`scf.index_switch %n -> f32, index case 2 { ... } default { ... }`"""
    types = f" -> {p.types(op.results)}" if op.results else ""
    p.line(None, f"{p.results(op.results)}scf.index_switch {p.names(op.argument)}{p.dictionary(op)}{types}")
    for number, case in enumerate(op.cases):
        if isinstance(case, scf.Case):
            p.line(None, f"case {case.number} {{")
            with p.scope():
                yield _ended_text(op, number, case.body)
            p.line(None, "}")
    p.line(None, "default {")
    with p.scope():
        yield _ended_text(op, len(op.cases), op.default)
    p.line(op, "}")


def write_execute_region(p: Printer, op: scf.ExecuteRegion) -> Iterator[Block]:
    """`scf.execute_region -> type no_inline { ... }`"""
    types = f" -> {p.result_types(op.results)}" if op.results else ""
    no_inline = " no_inline" if op.no_inline else ""
    p.line(None, f"{p.results(op.results)}scf.execute_region{types}{no_inline} {{")
    with p.scope():
        yield _ended_text(op, 0, op.body)
    p.line(op, f"}}{p.dictionary(op)}")


TABLE: Table = {
    scf.For: (read_for, write_for),
    scf.If: (read_if, write_if),
    scf.While: (read_while, write_while),
    scf.Parallel: (read_parallel, write_parallel),
    scf.Reduce: (read_reduce, write_reduce),
    scf.IndexSwitch: (read_index_switch, write_index_switch),
    scf.ExecuteRegion: (read_execute_region, write_execute_region),
}
