"""Rules for scf.for and scf.parallel."""

from __future__ import annotations

from affdsl.ir.core import Op
from affdsl.ir.dialects import scf
from affdsl.ir.expr import Value
from affdsl.ir.traverse import with_fields
from affdsl.passes.cleanup.canonicalize.affine_loops import only_block
from affdsl.passes.cleanup.canonicalize.conditions import hand_on, yielded
from affdsl.passes.cleanup.canonicalize.graph import Body, Graph, OpNode
from affdsl.passes.cleanup.canonicalize.numbers import index_number
from affdsl.passes.cleanup.canonicalize.rules import Rules


def trip_count(graph: Graph, lower: Value, upper: Value, step: Value) -> int | None:
    """How often a loop runs, if that is known."""
    if lower is upper:
        return 0
    low, high, by = (index_number(graph, v) for v in (lower, upper, step))
    if low is None or high is None:
        return None
    if high <= low:
        return 0
    return None if by is None or by <= 0 else -(-(high - low) // by)


def trivial_loop(graph: Graph, node: OpNode, op: scf.For) -> bool:
    """A loop that does not run, runs once, or yields what it does not compute."""
    count = None if op.is_unsigned else trip_count(graph, op.lower, op.upper, op.step)
    if count is None:
        return False
    body = node.region("body")
    if count == 0:
        graph.replace(node, op.inits)
        return True
    if count == 1:
        for old, new in ((op.iv, op.lower), *zip(op.carried, op.inits, strict=True)):
            graph.rename(old, new)
        only_block(graph, node, body)
        return True
    values = yielded(body)
    if not body.is_empty or not op.results or any(v is op.iv or v in op.carried for v in values):
        return False
    graph.replace(node, values)
    return True


def forwarded_arguments(graph: Graph, node: OpNode, op: scf.For) -> bool:
    """Carried values that never change, or that nobody reads, are not carried."""
    values = yielded(node.region("body"))
    kept: list[int] = []
    for k, (carried, init, value, result) in enumerate(zip(op.carried, op.inits, values, op.results, strict=True)):
        is_unread = not graph.uses(carried) and (not graph.uses(result) or init is value)
        if not (value is carried or is_unread):
            kept.append(k)
    if len(kept) == len(op.carried):
        return False
    for k, (carried, init, result) in enumerate(zip(op.carried, op.inits, op.results, strict=True)):
        if k not in kept:
            graph.rename(carried, init)
            graph.rename(result, init)
    current = node.op
    assert isinstance(current, scf.For)
    hand_on(graph, node.region("body"), tuple([yielded(node.region("body"))[k] for k in kept]))
    fields = {name: tuple([getattr(current, name)[k] for k in kept]) for name in ("inits", "carried", "results")}
    graph.update(node, with_fields(current, **fields))
    return True


def trivial_dimensions(graph: Graph, node: OpNode, op: scf.Parallel) -> bool:
    """Dimensions that run once are left out, and a band with one that does not run altogether."""
    counts = [trip_count(graph, *bounds) for bounds in zip(op.lower, op.upper, op.steps, strict=True)]
    if 0 in counts:
        graph.replace(node, op.inits)
        return True
    kept = [k for k, count in enumerate(counts) if count != 1]
    if len(kept) == len(counts):
        return False
    for k, (iv, lower) in enumerate(zip(op.ivs, op.lower, strict=True)):
        if k not in kept:
            graph.rename(iv, lower)
    if kept:
        fields = {name: tuple([getattr(op, name)[k] for k in kept]) for name in ("ivs", "lower", "upper", "steps")}
        graph.update(node, with_fields(op, **fields))
    else:
        _run_once(graph, node, op)
    return True


def _run_once(graph: Graph, node: OpNode, op: scf.Parallel) -> None:
    """Put the body in place of the band, and combine what it yields with what the band starts from."""
    body = node.region("body")
    last = body.terminator
    graph.inline(body, node)
    results: list[Value] = []
    if last is not None:
        combiners = last.region("combiners")
        for combiner, init, value in zip(list(combiners), op.inits, last.reads, strict=True):
            found: Op = combiner.op
            assert isinstance(found, scf.Combiner)
            graph.rename(found.left, init)
            graph.rename(found.right, value)
            inner: Body = combiner.region("body")
            results += yielded(inner)
            graph.inline(inner, node)
    graph.replace(node, results)


def merge_nested(graph: Graph, node: OpNode, op: scf.Parallel) -> bool:
    """A band with nothing but a band in it is one band."""
    inner = node.region("body").first
    if inner is None or inner.after is not None or not isinstance(inner.op, scf.Parallel):
        return False
    nested = inner.op
    if op.inits or nested.inits or any(v in op.ivs for v in inner.reads):
        return False
    for moved in inner.region("body"):
        graph.move(moved, node.region("body"), inner)
    graph.update(inner, with_fields(nested, ivs=(), lower=(), upper=(), steps=()))
    graph.erase(inner)
    names = ("ivs", "lower", "upper", "steps")
    graph.update(node, with_fields(op, **{name: (*getattr(op, name), *getattr(nested, name)) for name in names}))
    return True


SCF_LOOPS = Rules(
    rules={scf.For: (forwarded_arguments, trivial_loop), scf.Parallel: (trivial_dimensions, merge_nested)},
)
