"""Loops, conditions and maps of affine, where no form says it: read, and printed."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence

from affdsl.ir.applied import Applied
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, scf
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.types import INDEX, Type
from affdsl.ir.written import Tree
from affdsl.mlir.irregular.table import Table
from affdsl.mlir.parser import Head, Parser, Reading, Subscripts, Use, says_nothing
from affdsl.mlir.pieces import has_two_roles
from affdsl.mlir.printer import Printer


def read_for(p: Parser, head: Head) -> Reading:
    """`affine.for %i = 0 to %n step 2 iter_args(%a = %b) -> (type) { ... }`"""
    s = p.scanner
    iv, iv_location = p.use(), p.trailing_location()
    s.expect("=")
    lower = _bound(p, "max")
    s.expect("to")
    upper = _bound(p, "min")
    step = 1
    if s.accept("step"):
        place, step = s.start, s.integer()
        if step <= 0:
            s.fail(f"the step must be positive, but is {step}", place)
    names, inits = read_carried(p)
    before = p.enter()
    value = p.define(iv, INDEX, iv_location)
    carried = tuple([p.define(n, i.type) for n, i in zip(names, inits, strict=True)])
    body = yield from read_block(p, affine.Yield, before)
    attributes = p.dictionary()
    results = p.results(head, [v.type for v in carried])
    written = {"lower": lower, "upper": upper}
    return affine.For(
        value, lower.exprs, upper.exprs, body, step, inits, carried, results,
        location=head.location, attributes=attributes, written=written,
    )  # fmt: skip


def constraints(applied: Applied) -> tuple[Constraint, ...]:
    """What a set means."""
    return tuple([c for c in applied.means if isinstance(c, Constraint)])


def _bound(p: Parser, prefix: str) -> Applied:
    s = p.scanner
    if p.is_value:
        value = p.operand(INDEX)
        return Applied(("s0",), (), (value,))
    if s.token == "-" or s.token[:1].isdigit():
        number = s.integer()
        return Applied((number,), (), ())
    place, several = s.start, s.accept(prefix)
    applied = p.applied_map()
    if len(applied.trees) != 1 and not several:
        s.fail(f"a bound with {len(applied.trees)} results needs '{prefix}' before it", place)
    if not applied.trees:
        s.fail("a bound needs at least one result", place)
    return applied


def read_carried(p: Parser) -> tuple[list[Use], tuple[Value, ...]]:
    """`iter_args(%a = %b, ...) -> (types)`, or nothing"""
    s = p.scanner
    if not s.accept("iter_args"):
        return [], ()
    pairs = p.listed(p.assignment)
    s.expect("->")
    return [name for name, _ in pairs], p.typed([init for _, init in pairs], p.types())


def read_block(p: Parser, terminator: type[Op], before: int | None = None) -> Generator[None, Block, Block]:
    """`{ ... }`; `before` is what is in scope behind it, where more is in it."""
    before = p.enter() if before is None else before
    p.scanner.expect("{")
    ops = yield
    body = p.closed(ops, terminator)
    p.leave(before)
    return body


def read_if(p: Parser, head: Head) -> Reading:
    """`affine.if #set(%i)[%n] -> type { ... } else { ... }`"""
    s = p.scanner
    condition = p.applied_set()
    types = p.types() if s.accept("->") else ()
    then, orelse = yield from read_branches(p, head, affine.Yield)
    attributes = p.dictionary()
    return affine.If(
        constraints(condition), then, orelse, p.results(head, types),
        location=head.location, attributes=attributes, written={"condition": condition},
    )  # fmt: skip


def read_branches(p: Parser, head: Head, terminator: type[Op]) -> Generator[None, Block, tuple[Block, Block]]:
    """`{ ... } else { ... }`"""
    then = yield from read_block(p, terminator)
    orelse: Block = ()
    if p.scanner.accept("else"):
        made: Callable[..., Op] = terminator
        orelse = (yield from read_block(p, terminator)) or (made((), location=head.location),)
    return then, orelse


def read_parallel(p: Parser, head: Head) -> Reading:
    """`affine.parallel (%i, %j) = (0, max(%a, %b)) to (min(%c, 8), %d) step (1, 2) reduce ("addf") -> (f32) { ... }`"""
    s = p.scanner
    ivs = p.listed(p.use)
    s.expect("=")
    lower, lower_sizes = _groups(p, "max")
    s.expect("to")
    upper, upper_sizes = _groups(p, "min")
    steps = p.listed(s.integer) if s.accept("step") else (1,) * len(ivs)
    kinds: tuple[str, ...] = ()
    types: tuple[Type, ...] = ()
    if s.accept("reduce"):
        kinds = p.listed(s.string)
        s.expect("->")
        types = p.types()
    p.same_numbers(head, ivs, lower_sizes, upper_sizes, steps)
    before = p.enter()
    values = tuple([p.define(iv, INDEX) for iv in ivs])
    body = yield from read_block(p, affine.Yield, before)
    attributes = p.dictionary()
    return affine.Parallel(
        values, _grouped(lower.exprs, lower_sizes), _grouped(upper.exprs, upper_sizes), steps, body, kinds,
        p.results(head, types),
        location=head.location, attributes=attributes, written={"lower": lower, "upper": upper},
    )  # fmt: skip


def _groups(p: Parser, prefix: str) -> tuple[Applied, list[int]]:
    """Bounds, several for one loop in `max(...)` or `min(...)`; with the number of each loop."""
    s, written = p.scanner, Subscripts(p)
    sizes: list[int] = []
    trees: list[Tree] = []
    place = s.start

    def group() -> tuple[Tree, ...]:
        if s.accept(prefix):
            found = p.listed(lambda: p.expression(written.atom))
            if not found:
                s.fail(f"{prefix}() of nothing is no bound", s.start)
            return found
        return (p.expression(written.atom),)

    for found in p.listed(group):
        sizes.append(len(found))
        trees += found
    return p.apply(tuple(trees), None, written.dims, written.symbols, place), sizes


def _grouped(flat: tuple[Affine, ...], sizes: list[int]) -> tuple[tuple[Affine, ...], ...]:
    rest = iter(flat)
    return tuple([tuple([next(rest) for _ in range(size)]) for size in sizes])


def read_apply(p: Parser, head: Head) -> Op:
    """`affine.apply #map(%i)[%n]`"""
    applied = p.applied_map()
    attributes = p.dictionary()
    if len(applied.trees) != 1:
        p.scanner.fail(f"affine.apply takes a map with 1 result, got {len(applied.trees)}", head.offset)
    result = p.result(head, INDEX)
    return affine.Apply(
        result, applied.exprs[0], location=head.location, attributes=attributes, written={"expr": applied}
    )


def read_extreme(p: Parser, head: Head) -> Op:
    """`affine.min #map(%i)[%n]`; after a map of 2019 the type may follow"""
    is_old = p.scanner.token == "("
    applied = p.applied_map()
    attributes = p.dictionary()
    if is_old and p.scanner.accept(":"):
        p.scanner.expect("index")
    if not applied.trees:
        p.scanner.fail(f"{head.name} takes a map with at least one result, got 0", head.offset)
    kind = affine.Min if head.name == "affine.min" else affine.Max
    result = p.result(head, INDEX)
    return kind(result, applied.exprs, location=head.location, attributes=attributes, written={"exprs": applied})


def write_for(p: Printer, op: affine.For) -> Iterator[Block]:
    """`affine.for %i = 0 to %n step 2 iter_args(%a = %b) -> (type) { ... }`"""
    lower, upper = _bound_text(p, op, "lower", "max"), _bound_text(p, op, "upper", "min")
    step = f" step {op.step}" if op.step != 1 else ""
    inits, results = [p.names(v) for v in op.inits], p.results(op.results)
    with p.scope():
        iv = p.names.define_argument(op.iv) + p.argument_location(op.iv.location)
        carried = write_carried(p, op.carried, inits)
        p.line(None, f"{results}affine.for {iv} = {lower} to {upper}{step}{carried} {{")
        yield op.body
    p.line(op, f"}}{p.dictionary(op)}")


def write_carried(p: Printer, carried: Sequence[Value], inits: Sequence[str]) -> str:
    """` iter_args(%a = %b) -> (type)`, or nothing"""
    if not carried:
        return ""
    pairs = [f"{p.names.define_argument(v)} = {i}" for v, i in zip(carried, inits, strict=True)]
    return f" iter_args({', '.join(pairs)}) -> ({p.types(carried)})"


def _bound_text(p: Printer, op: affine.For, field: str, prefix: str) -> str:
    applied, exprs = op.spelling(field), op.lower if field == "lower" else op.upper
    if applied is not None:
        match applied.trees, applied.dims, applied.symbols:
            case ((int() as number,), (), ()):
                return str(number)
            case ((str(),), (), (value,)):
                return p.names(value)
    elif len(exprs) == 1:
        if exprs[0].is_constant:
            return str(exprs[0].constant)
        if (v := exprs[0].value) is not None and not p.is_dim(v):
            return p.names(v)
    shown = p.map(op, field)
    return shown if len(exprs) == 1 else f"{prefix} {shown}"


def write_if(p: Printer, op: affine.If) -> Iterator[Block]:
    """`affine.if #set(%i)[%n] -> type { ... } else { ... }`"""
    types = p.result_types(op.results)
    head = f"affine.if {p.map(op, 'condition')}{f' -> {types}' if types else ''}"
    return write_branches(p, op, head)


def write_branches(p: Printer, op: affine.If | scf.If, head: str) -> Iterator[Block]:
    """`head { ... } else { ... }`"""
    p.line(None, f"{p.results(op.results)}{head} {{")
    with p.scope():
        yield op.then
    if op.orelse or op.results:
        p.line(None, "} else {")
        with p.scope():
            alone = len(op.orelse) == 1 and op.orelse[0].is_terminator and says_nothing(op.orelse[0])
            yield () if alone else op.orelse
    p.line(op, f"}}{p.dictionary(op)}")


def write_parallel(p: Printer, op: affine.Parallel) -> Iterator[Block]:
    """`affine.parallel (%i, %j) = (0, max(%a, %b)) to (min(%c, 8), %d) step (1, 2) reduce ("addf") -> (f32) { ... }`"""
    if has_two_roles(op, "lower") or has_two_roles(op, "upper"):
        yield from p.generic(op)
        return
    lower = _groups_text(p.subscripts(op, "lower"), [len(g) for g in op.lower], "max")
    upper = _groups_text(p.subscripts(op, "upper"), [len(g) for g in op.upper], "min")
    step = "" if all(s == 1 for s in op.steps) else f" step ({', '.join(map(str, op.steps))})"
    kinds = ", ".join([f'"{kind}"' for kind in op.reductions])
    reduce = f" reduce ({kinds}) -> ({p.types(op.results)})" if op.reductions else ""
    results = p.results(op.results)
    with p.scope():
        ivs = ", ".join(map(p.names.define_argument, op.ivs))
        p.line(None, f"{results}affine.parallel ({ivs}) = ({lower}) to ({upper}){step}{reduce} {{")
        yield op.body
    p.line(op, f"}}{p.dictionary(op)}")


def _groups_text(flat: Sequence[str], sizes: Sequence[int], prefix: str) -> str:
    rest = iter(flat)
    groups = [[next(rest) for _ in range(size)] for size in sizes]
    return ", ".join([g[0] if len(g) == 1 else f"{prefix}({', '.join(g)})" for g in groups])


def write_apply(p: Printer, op: affine.Apply) -> str:
    """`affine.apply #map(%i)[%n]`"""
    return f"affine.apply {p.map(op, 'expr')}{p.dictionary(op)}"


def write_extreme(p: Printer, op: affine.Min | affine.Max) -> str:
    """`affine.min #map(%i)[%n]`"""
    return f"{op.name} {p.map(op, 'exprs')}{p.dictionary(op)}"


TABLE: Table = {
    affine.For: (read_for, write_for),
    affine.If: (read_if, write_if),
    affine.Parallel: (read_parallel, write_parallel),
    affine.Apply: (read_apply, write_apply),
    affine.Min: (read_extreme, write_extreme),
    affine.Max: (read_extreme, write_extreme),
}
