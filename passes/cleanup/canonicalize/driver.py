"""Applies rules until none applies: constants to the front, then a worklist, again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import arith, func, ub
from affdsl.ir.dialects.opaque import OpaqueBlock
from affdsl.ir.expr import Value
from affdsl.ir.types import element_of
from affdsl.mlir.literals import literal
from affdsl.passes.cleanup.canonicalize.graph import Body, Graph, OpNode
from affdsl.passes.cleanup.canonicalize.rules import Known, Rule, Rules

MOST_ROUNDS = 10
"""After as many rounds the driver stops if nothing else is said, as that of MLIR does."""
NO_LIMIT = -1
VISITS = 200
"""So often each operation is looked at in a round, on average, before the round ends: rules may turn in a circle."""


class Limits(FrozenValue):
    """How far the driver goes: `rounds` over all operations, and changes in each, both without a limit where negative;
    from the first operation down or from the last up; and whether what is dead goes when no change is left."""

    rounds: int = MOST_ROUNDS
    rewrites: int = NO_LIMIT
    top_down: bool = True
    clean: bool = True


DEFAULT = Limits()


def drive(graph: Graph, tables: Iterable[Rules], limits: Limits = DEFAULT) -> bool:
    """Apply all rules to all nodes until none applies any more: whether that came before the limits."""
    folds: dict[type[Op], Callable[..., Value | Known | None]] = {}
    rules: dict[type[Op], Sequence[Rule]] = {}
    for table in tables:
        folds |= table.folds
        for cls, more in table.rules.items():
            rules[cls] = (*rules.get(cls, ()), *more)
    rounds = limits.rounds
    while rounds != 0:
        hoist_constants(graph)
        graph.start(top_down=limits.top_down)
        changed, visits, rewrites = False, VISITS * (len(graph.queue) + 100), limits.rewrites
        while visits and (node := graph.pop()) is not None:
            if rewrites != 0:
                done = _visit(graph, node, folds, rules)
            elif done := limits.clean and graph.is_dead(node):
                graph.erase(node)
            changed |= done
            rewrites -= done and rewrites > 0
            visits -= 1
        if not changed:
            return True
        rounds -= 1
    return False


def _visit(
    graph: Graph,
    node: OpNode,
    folds: dict[type[Op], Callable[..., Value | Known | None]],
    rules: dict[type[Op], Sequence[Rule]],
) -> bool:
    if graph.is_dead(node):
        graph.erase(node)
        return True
    cls = type(node.op)
    fold = folds.get(cls)
    if fold is not None and (found := fold(graph, node.op)) is not None:
        (old,) = node.op.defines()
        new = graph.constant(found.payload, old.type, node) if isinstance(found, Known) else found
        graph.replace(node, (new,))
        return True
    return any(rule(graph, node, node.op) for rule in rules.get(cls, ()))


def hoist_constants(graph: Graph) -> None:
    """Move every constant to the front of what encloses it - a function, or what is opaque - and leave one of equals.

    Those that stand at the front already stay in order; each of the others goes before them all.
    """
    unique: dict[Body, dict[object, OpNode]] = {}
    at_front: set[OpNode] = set()
    for node in list(graph.walk()):
        key = _key(node.op)
        if key is None:
            continue
        target = _front(node)
        known = unique.setdefault(target, {})
        first = known.get(key)
        if first is not None:
            graph.replace(node, (next(iter(first.op.defines())),))
            continue
        if not (node.body is target and (node.before is None or node.before in at_front)):
            graph.move(node, target, target.first)
        known[key] = node
        at_front.add(node)


def _front(node: OpNode) -> Body:
    """The block at whose front a constant stands."""
    body = node.body
    assert body is not None
    while not isinstance(body.owner.op, func.Func | func.Module | OpaqueBlock):
        outer = body.owner.body
        if outer is None:
            return body
        body = outer
    region = body.owner.body
    if isinstance(body.owner.op, OpaqueBlock) and region is not None and region.first is not None:
        (first,) = region.first.regions.values()
        return first
    return body


def _key(op: Op) -> object:
    """What constants have in common that are the same; None for anything else."""
    match op:
        case arith.Constant(result=result, value=value):
            type = result.type
            element = element_of(type)
            if isinstance(value, tuple):
                texts = [literal(v, element) for v in value]
                return (type, texts[0] if len(set(texts)) == 1 else tuple(texts))
            return (type, literal(value, element))
        case ub.Poison(result=result):
            return (result.type, None)
    return None
