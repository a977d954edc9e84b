"""Rules for scf.if, scf.index_switch and scf.execute_region."""

from __future__ import annotations

from affdsl.ir.dialects import arith, scf
from affdsl.ir.expr import Value
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import I1
from affdsl.passes.cleanup.canonicalize.affine_loops import empty_else, only_block
from affdsl.passes.cleanup.canonicalize.graph import Body, Graph, OpNode
from affdsl.passes.cleanup.canonicalize.numbers import integer
from affdsl.passes.cleanup.canonicalize.rules import Rules


def yielded(body: Body) -> tuple[Value, ...]:
    """The values that a block yields."""
    last = body.terminator
    return () if last is None else last.reads


def hand_on(graph: Graph, body: Body, values: tuple[Value, ...]) -> None:
    """Let a block yield other values."""
    last = body.terminator
    if last is not None:
        graph.erase(last)
    if values:
        graph.append(scf.Yield(values, location=body.owner.op.location), body)


def _negated(graph: Graph, value: Value) -> Value | None:
    """What an i1 is the opposite of."""
    match graph.definition(value):
        case arith.Binary(kind="xori", left=left, right=right) if integer(graph, right) == 1:
            return left
    return None


def _is_inside(graph: Graph, value: Value, body: Body) -> bool:
    """Whether a value is defined in a block itself."""
    node = graph.node(value)
    return node is not None and node.body is body


def swap_branches(graph: Graph, node: OpNode, op: scf.If) -> bool:
    """`if !c A else B` as `if c B else A`."""
    source = _negated(graph, op.condition)
    if source is None or node.region("orelse").first is None:
        return False
    node.regions["then"], node.regions["orelse"] = node.region("orelse"), node.region("then")
    if node.region("orelse").is_empty and not op.results and node.region("orelse").first is None:
        graph.append(scf.Yield((), location=op.location), node.region("orelse"))
    graph.set(node, condition=source)
    return True


def combine_with_previous(graph: Graph, node: OpNode, op: scf.If) -> bool:
    """Two conditions in sequence that look at one value are one."""
    before = node.before
    if before is None or not isinstance(before.op, scf.If):
        return False
    first = before.op
    then, orelse = node.region("then"), node.region("orelse")
    if op.condition is first.condition:
        in_then, in_else = then, orelse
    elif _negated(graph, op.condition) is first.condition or _negated(graph, first.condition) is op.condition:
        in_then, in_else = orelse, then
    else:
        return False
    for yields, body in ((yielded(before.region("then")), in_then), (yielded(before.region("orelse")), in_else)):
        for old, new in zip(first.results, yields, strict=True) if first.results else ():
            rename_inside(graph, old, new, body)
    for name, more in (("then", in_then), ("orelse", in_else)):
        body = before.region(name)
        values = (*yielded(body), *yielded(more))
        had = body.first is not None
        hand_on(graph, body, ())
        last = more.terminator
        if last is not None:
            graph.erase(last)
        for inner in more:
            graph.move(inner, body, None)
            graph.push(inner)
        hand_on(graph, body, values)
        if name == "orelse" and had and body.first is None:
            graph.append(scf.Yield((), location=op.location), body)
    results = op.results
    graph.update(node, with_fields(op, results=()))
    graph.erase(node)
    graph.update(before, with_fields(first, results=(*first.results, *results)))
    if node.after is not None:
        graph.push(node.after)
    return True


def rename_inside(graph: Graph, old: Value, new: Value, body: Body) -> bool:
    """Let new be read instead of old, in the nodes of a block and all inside them."""
    inside = [user for user in graph.users(old) if _lies_in(user, body)]
    for user in inside:
        graph.rename_in(user, old, new)
    return bool(inside)


def _lies_in(node: OpNode, body: Body) -> bool:
    current: OpNode | None = node
    while current is not None and current.body is not None:
        if current.body is body:
            return True
        current = current.body.owner
    return False


def combine_with_nested(graph: Graph, node: OpNode, op: scf.If) -> bool:
    """`if c { if d A }` as `if c & d A`."""
    then, orelse = node.region("then"), node.region("orelse")
    inner = then.first
    if inner is None or not isinstance(inner.op, scf.If) or not orelse.is_empty:
        return False
    if inner.after is not then.terminator and inner.after is not None:
        return False
    if not inner.region("orelse").is_empty:
        return False
    in_then, in_else = list(yielded(then)), yielded(orelse)
    inner_then, inner_else = yielded(inner.region("then")), yielded(inner.region("orelse"))
    chosen: list[int] = []
    for k, value in enumerate(in_then):
        if value in inner.op.results:
            source = inner.op.results.index(value)
            if inner_else[source] is not in_else[k]:
                return False
            in_then[k] = inner_then[source]
        elif _is_inside(graph, value, then):
            return False
        else:
            chosen.append(k)
    both = Value(I1, "", op.location)
    graph.insert(arith.Binary(both, "andi", op.condition, inner.op.condition, location=op.location), node)
    for k in chosen:
        result = op.results[k]
        made = Value(result.type, result.hint, op.location)
        graph.insert(arith.Select(made, op.condition, in_then[k], in_else[k], location=op.location), node)
        graph.rename(result, made)
    hand_on(graph, then, ())
    last = inner.region("then").terminator
    if last is not None:
        graph.erase(last)
    for moved in inner.region("then"):
        graph.move(moved, then, inner)
    graph.erase(inner)
    hand_on(graph, then, tuple(in_then))
    graph.set(node, condition=both)
    return True


def condition_inside(graph: Graph, node: OpNode, op: scf.If) -> bool:
    """The condition is true in the first block and false in the second."""
    if graph.payload(op.condition) is not None:
        return False
    changed = False
    for name, truth in (("orelse", False), ("then", True)):
        body = node.region(name)
        if any(_lies_in(user, body) for user in graph.users(op.condition)):
            rename_inside(graph, op.condition, graph.constant(truth, I1, node), body)
            changed = True
    return changed


def hoist_as_select(graph: Graph, node: OpNode, op: scf.If) -> bool:
    """Results that are chosen between values from outside are arith.select."""
    then, orelse = node.region("then"), node.region("orelse")
    pairs = list(zip(op.results, yielded(then), yielded(orelse), strict=True)) if op.results else []
    kept = [p for p in pairs if _is_inside(graph, p[1], then) or _is_inside(graph, p[2], orelse)]
    if len(kept) == len(pairs):
        return False
    for result, a, b in pairs:
        if (result, a, b) in kept:
            continue
        if a is b:
            graph.rename(result, a)
            continue
        made = Value(result.type, result.hint, op.location)
        graph.insert(arith.Select(made, op.condition, a, b, location=op.location), node)
        graph.rename(result, made)
    keep_results(graph, node, [k for k, p in enumerate(pairs) if p in kept])
    return True


def keep_results(graph: Graph, node: OpNode, kept: list[int]) -> None:
    """Let a condition have only some of its results."""
    op = node.op
    assert isinstance(op, scf.If)
    for name in ("then", "orelse"):
        body = node.region(name)
        values = yielded(body)
        hand_on(graph, body, tuple([values[k] for k in kept]))
        if name == "orelse" and not kept and body.first is None:
            continue
    graph.update(node, with_fields(op, results=tuple([op.results[k] for k in kept])))


def static_condition(graph: Graph, node: OpNode, op: scf.If) -> bool:
    """A condition that is known leaves one block."""
    truth = integer(graph, op.condition)
    if truth is None:
        return False
    only_block(graph, node, node.region("then" if truth else "orelse"))
    return True


def unused_results(graph: Graph, node: OpNode, op: scf.If) -> bool:
    """Results that nobody reads are left out."""
    kept = [k for k, result in enumerate(op.results) if graph.uses(result)]
    if len(kept) == len(op.results):
        return False
    keep_results(graph, node, kept)
    return True


def results_of_condition(graph: Graph, node: OpNode, op: scf.If) -> bool:
    """Results that are the same in both blocks, or true in one and false in the other."""
    if not op.results:
        return False
    changed = False
    pairs = zip(op.results, yielded(node.region("then")), yielded(node.region("orelse")), strict=True)
    for result, a, b in list(pairs):
        if not graph.uses(result):
            continue
        if a is b:
            graph.rename(result, a)
            changed = True
            continue
        match graph.payload(a), graph.payload(b):
            case False, True:
                true = graph.constant(True, I1, node)
                made = Value(I1, result.hint, op.location)
                graph.insert(arith.Binary(made, "xori", op.condition, true, location=op.location), node)
                graph.rename(result, made)
                changed = True
            case True, False:
                graph.rename(result, op.condition)
                changed = True
    return changed


def known_case(graph: Graph, node: OpNode, op: scf.IndexSwitch) -> bool:
    """A switch on a known number leaves one block."""
    number = integer(graph, op.argument)
    if number is None:
        return False
    for case in node.region("cases"):
        if isinstance(case.op, scf.Case) and case.op.number == number:
            only_block(graph, node, case.region("body"))
            return True
    only_block(graph, node, node.region("default"))
    return True


def inline_region(graph: Graph, node: OpNode, op: scf.ExecuteRegion) -> bool:
    """A block that runs once is part of the block around."""
    if op.no_inline:
        return False
    only_block(graph, node, node.region("body"))
    return True


CONDITIONS = Rules(
    rules={
        scf.If: (
            swap_branches, combine_with_previous, combine_with_nested, condition_inside, hoist_as_select, empty_else,
            static_condition, unused_results, results_of_condition,
        ),
        scf.IndexSwitch: (known_case,),
        scf.ExecuteRegion: (inline_region,),
    },
)  # fmt: skip
