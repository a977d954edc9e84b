"""The loops and choices of scf that stand for themselves, printed in their custom form."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import scf
from affdsl.ir.expr import Value
from affdsl.mlir.generic.rows import end_of, ended
from affdsl.mlir.printer import Printer


def _arguments(p: Printer, values: tuple[Value, ...]) -> None:
    """A line `^bb0(%x: type):` where a block has arguments."""
    shown = [f"{p.names.define_argument(v)}: {p.type(v)}{p.argument_location(v.location)}" for v in values]
    if shown:
        p.line(None, f"^bb0({', '.join(shown)}):")


def write_while(p: Printer, op: scf.While) -> Iterator[Block]:
    """`scf.while (%x = %a) : (types) -> (types) { ... } do { ^bb0(%y: type): ... } attributes {...}`"""
    inits, results = [p.names(v) for v in op.inits], p.results(op.results)
    outputs = [p.type(v) for v in op.results]
    plain = len(outputs) == 1 and not outputs[0].startswith("(")
    types = f"({p.types(op.inits)}) -> {outputs[0] if plain else '(' + ', '.join(outputs) + ')'}"
    with p.scope():
        pairs = [f"{p.names.define_argument(v)} = {i}" for v, i in zip(op.before_args, inits, strict=True)]
        shown = f"({', '.join(pairs)}) " if pairs else ""
        p.line(None, f"{results}scf.while {shown}: {types} {{")
        yield op.before
    p.line(None, "} do {")
    with p.scope():
        _arguments(p, op.after_args)
        yield _ended(op, 1, op.after)
    attributes = p.dictionary(op)
    p.line(op, f"}}{f' attributes{attributes}' if attributes else ''}")


def _ended(op: Op, number: int, block: Block) -> Block:
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
                yield _ended(op, number, case.body)
            p.line(None, "}")
    p.line(None, "default {")
    with p.scope():
        yield _ended(op, len(op.cases), op.default)
    p.line(op, "}")


def write_execute_region(p: Printer, op: scf.ExecuteRegion) -> Iterator[Block]:
    """`scf.execute_region -> type no_inline { ... }`"""
    types = f" -> {p.result_types(op.results)}" if op.results else ""
    no_inline = " no_inline" if op.no_inline else ""
    p.line(None, f"{p.results(op.results)}scf.execute_region{types}{no_inline} {{")
    with p.scope():
        yield _ended(op, 0, op.body)
    p.line(op, f"}}{p.dictionary(op)}")


WRITERS: dict[type[Op], Callable[..., str | Iterator[Block]]] = {
    scf.While: write_while,
    scf.Parallel: write_parallel,
    scf.Reduce: write_reduce,
    scf.IndexSwitch: write_index_switch,
    scf.ExecuteRegion: write_execute_region,
}
