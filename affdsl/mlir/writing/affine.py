"""The affine dialect, printed in its custom form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, scf
from affdsl.ir.expr import Value
from affdsl.mlir.parser import says_nothing
from affdsl.mlir.pieces import has_two_roles
from affdsl.mlir.printer import Printer


def write_for(p: Printer, op: affine.For) -> Iterator[Block]:
    """`affine.for %i = 0 to %n step 2 iter_args(%a = %b) -> (type) { ... }`"""
    lower, upper = _bound(p, op, "lower", "max"), _bound(p, op, "upper", "min")
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


def _bound(p: Printer, op: affine.For, field: str, prefix: str) -> str:
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
    lower = _groups(p.subscripts(op, "lower"), [len(g) for g in op.lower], "max")
    upper = _groups(p.subscripts(op, "upper"), [len(g) for g in op.upper], "min")
    step = "" if all(s == 1 for s in op.steps) else f" step ({', '.join(map(str, op.steps))})"
    kinds = ", ".join([f'"{kind}"' for kind in op.reductions])
    reduce = f" reduce ({kinds}) -> ({p.types(op.results)})" if op.reductions else ""
    results = p.results(op.results)
    with p.scope():
        ivs = ", ".join(map(p.names.define_argument, op.ivs))
        p.line(None, f"{results}affine.parallel ({ivs}) = ({lower}) to ({upper}){step}{reduce} {{")
        yield op.body
    p.line(op, f"}}{p.dictionary(op)}")


def _groups(flat: Sequence[str], sizes: Sequence[int], prefix: str) -> str:
    rest = iter(flat)
    groups = [[next(rest) for _ in range(size)] for size in sizes]
    return ", ".join([g[0] if len(g) == 1 else f"{prefix}({', '.join(g)})" for g in groups])


def write_apply(p: Printer, op: affine.Apply) -> str:
    """`affine.apply #map(%i)[%n]`"""
    return f"affine.apply {p.map(op, 'expr')}{p.dictionary(op)}"


def write_extreme(p: Printer, op: affine.Min | affine.Max) -> str:
    """`affine.min #map(%i)[%n]`"""
    return f"{op.name} {p.map(op, 'exprs')}{p.dictionary(op)}"


WRITERS: dict[type[Op], Callable[..., str | Iterator[Block]]] = {
    affine.For: write_for,
    affine.If: write_if,
    affine.Parallel: write_parallel,
    affine.Apply: write_apply,
    affine.Min: write_extreme,
    affine.Max: write_extreme,
}
