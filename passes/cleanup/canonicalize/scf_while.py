"""Rules for scf.while: values that its blocks hand around for nothing."""

from __future__ import annotations

from affdsl.ir.dialects import scf
from affdsl.ir.expr import Value
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import I1
from affdsl.passes.cleanup.canonicalize.conditions import hand_on, yielded
from affdsl.passes.cleanup.canonicalize.graph import Graph, OpNode
from affdsl.passes.cleanup.canonicalize.rules import Rules


def _condition(node: OpNode) -> tuple[OpNode, scf.Condition]:
    last = node.region("before").terminator
    assert last is not None
    assert isinstance(last.op, scf.Condition)
    return last, last.op


def _keep_arguments(graph: Graph, node: OpNode, kept: list[int]) -> None:
    """Let the before block take only some of its arguments."""
    op = node.op
    assert isinstance(op, scf.While)
    after = node.region("after")
    values = yielded(after)
    hand_on(graph, after, tuple([values[k] for k in kept]))
    fields = {name: tuple([getattr(op, name)[k] for k in kept]) for name in ("inits", "before_args")}
    graph.update(node, with_fields(op, **fields))


def _keep_results(graph: Graph, node: OpNode, kept: list[int]) -> None:
    """Let the condition yield only some of its values."""
    op = node.op
    assert isinstance(op, scf.While)
    last, condition = _condition(node)
    graph.update(last, with_fields(condition, values=tuple([condition.values[k] for k in kept])))
    fields = {name: tuple([getattr(op, name)[k] for k in kept]) for name in ("after_args", "results")}
    graph.update(node, with_fields(op, **fields))


def unchanged_arguments(graph: Graph, node: OpNode, op: scf.While) -> bool:
    """An argument of the before block that is always what it was first."""
    _, condition = _condition(node)
    kept: list[int] = []
    for k, (argument, init, value) in enumerate(
        zip(op.before_args, op.inits, yielded(node.region("after")), strict=True)
    ):
        comes_back = value in op.after_args and condition.values[op.after_args.index(value)] is argument
        if not (value is init or comes_back):
            kept.append(k)
    if len(kept) == len(op.before_args):
        return False
    for k, (argument, init) in enumerate(zip(op.before_args, op.inits, strict=True)):
        if k not in kept:
            graph.rename(argument, init)
    _keep_arguments(graph, node, kept)
    return True


def values_from_outside(graph: Graph, node: OpNode, op: scf.While) -> bool:
    """What the condition yields of what is known around the loop is read there."""
    _, condition = _condition(node)
    before = node.region("before")

    def is_outside(value: Value) -> bool:
        made = graph.node(value)
        return value not in op.before_args and (made is None or made.body is not before)

    kept = [k for k, value in enumerate(condition.values) if not is_outside(value)]
    if len(kept) == len(condition.values):
        return False
    for k, value in enumerate(condition.values):
        if k not in kept:
            graph.rename(op.after_args[k], value)
            graph.rename(op.results[k], value)
    _keep_results(graph, node, kept)
    return True


def condition_holds(graph: Graph, node: OpNode, op: scf.While) -> bool:
    """In the after block the condition is true."""
    _, condition = _condition(node)
    changed = False
    for value, argument in zip(condition.values, op.after_args, strict=True):
        if value is condition.condition and graph.uses(argument):
            graph.rename(argument, graph.constant(True, I1, node))
            changed = True
    return changed


def repeated_or_unread_results(graph: Graph, node: OpNode, op: scf.While) -> bool:
    """Each value is yielded once, and only if somebody reads it."""
    _, condition = _condition(node)
    kept: list[int] = []
    for k, value in enumerate(condition.values):
        first = condition.values.index(value)
        if first < k:
            graph.rename(op.after_args[k], op.after_args[first])
            graph.rename(op.results[k], op.results[first])
        elif graph.uses(op.after_args[k]) or graph.uses(op.results[k]) or value in condition.values[k + 1 :]:
            kept.append(k)
    if len(kept) == len(condition.values):
        return False
    _keep_results(graph, node, kept)
    return True


def unread_arguments(graph: Graph, node: OpNode, op: scf.While) -> bool:
    """Arguments of the before block that nobody reads."""
    kept = [k for k, argument in enumerate(op.before_args) if graph.uses(argument)]
    if len(kept) == len(op.before_args):
        return False
    _keep_arguments(graph, node, kept)
    return True


SCF_WHILE = Rules(
    rules={
        scf.While: (
            unchanged_arguments, values_from_outside, condition_holds, repeated_or_unread_results, unread_arguments,
        ),
    },
)  # fmt: skip
