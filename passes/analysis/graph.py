"""Which operations of a block must stay behind which: the graph that fusion and vectorization ask."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Self

from affdsl.errors import AffdslError, public
from affdsl.frozen import FrozenValue
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import func
from affdsl.ir.expr import Value
from affdsl.ir.messages import nearest
from affdsl.ir.traverse import walk
from affdsl.later import Later
from affdsl.mlir.naming import loop_names, names_of
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.nodes import Edge, EdgeKind, Node, edges_of, ivs_of, nodes_of
from affdsl.passes.analysis.storage import Buffer

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = Later("networkx")

__all__ = ["Edge", "EdgeKind", "GraphError", "InsertionPoints", "MemRefDependenceGraph", "Node", "dependence_graph"]


@public
class GraphError(AffdslError):
    """A question about a node, a buffer or a block that the graph does not have, or a removal that leaves a gap.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def chain(x: af.f64[N]):
    ...     with af.for_(1, N) as i:
    ...         x[i] = x[i - 1]
    >>> try:
    ...     chain.graph().node(7)
    ... except af.GraphError as error:
    ...     print(error)
    the block has no node 7: it has 1, from 0 on
    """


class InsertionPoints(FrozenValue):
    """Where in its block something may be inserted: before the operation at any position from first to last."""

    first: int
    last: int


class MemRefDependenceGraph:
    """The operations of one block, and for each pair why the one must stay behind the other.

    Its nodes are the operations but the terminator, with the loads and stores inside of them. An edge has a buffer, a
    kind (flow, anti, output, free) and the dependences behind it; or a value that one node computes and another uses;
    or it says that nothing is known of both nodes. Edges between iterations of the loops around the block are there
    too: `Edge.loop` says which loop carries them.

    Nothing is patched: a changed function gets a graph of its own from `recomputed`.

    >>> from affdsl.mlir.readers import parse
    >>> module = parse('''
    ... func.func @f(%A: memref<100xf32>, %B: memref<100xf32>, %x: f32) {
    ...   affine.for %i = 0 to 100 { affine.store %x, %A[%i] : memref<100xf32> }
    ...   affine.for %j = 0 to 100 {
    ...     %a = affine.load %A[99 - %j] : memref<100xf32>
    ...     affine.store %a, %B[%j] : memref<100xf32>
    ...   }
    ...   affine.for %k = 0 to 100 { affine.store %x, %A[%k] : memref<100xf32> }
    ...   return
    ... }''')
    >>> graph = dependence_graph(module.functions[0], module)
    >>> for edge in graph.edges: print(edge)
    0 -> 1: flow A
    0 -> 2: output A
    1 -> 2: anti A
    >>> first, second, third = graph.nodes
    >>> graph.producers(second), graph.consumers(second), graph.has_path(first, third)
    ((<node 0: affine.for>,), (), True)
    """

    def __init__(self, dependences: Dependences, block: Block | None = None) -> None:
        """The graph of a block of the function of dependences: its body, unless another is given.

        Raises GraphError for a block that the function does not have.
        """
        self.dependences = dependences
        self.function = dependences.accesses.function
        self.block: Block = self.function.body if block is None else block
        self.owner, self._number = _owner(self.function, self.block)
        self.nodes: tuple[Node, ...] = nodes_of(dependences, self.block)
        self.edges: tuple[Edge, ...] = edges_of(dependences, self.nodes)

    @property
    def loops(self) -> tuple[Value, ...]:
        """The induction variables around the block, outermost first."""
        return self.dependences.accesses.domains[self.nodes[0].op].ivs if self.nodes else ()

    def node(self, op: Op | Value | int) -> Node:
        """The node of an operation (or of what it stands in), of a loop by its induction variable, or by its number.

        Raises GraphError where there is none.
        """
        for node in self.nodes:
            if node.id == op or (isinstance(op, Value) and op in node.ivs):
                return node
        if isinstance(op, Op):
            for node in self.nodes:
                if any(inner is op for inner in walk(node.op)):
                    return node
        raise GraphError(f"the block has no node {op!r}: it has {len(self.nodes)}, from 0 on")

    def buffer(self, of: Buffer | Value | str) -> Buffer:
        """A buffer by its name or a memref that is one, or a part of one. Raises GraphError where there is none."""
        if isinstance(of, Buffer):
            return of
        if isinstance(of, Value):
            return self.dependences.accesses.storage.buffer(of)
        buffers = self.dependences.accesses.storage.buffers
        found = [b for b in buffers if b.name == of]
        if len(found) == 1:
            return found[0]
        names = [b.name for b in buffers]
        what = "several buffers" if found else "no buffer"
        raise GraphError(f"the function has {what} called {of}{nearest(of, names)}: it has {', '.join(names)}")

    def users(self, buffer: Buffer | Value | str) -> tuple[Node, ...]:
        """The nodes that load from a buffer, store to it or free it, also by what may be another name for it."""
        return tuple(n for n in self.nodes if self._touches(n.accesses, buffer))

    def readers(self, buffer: Buffer | Value | str) -> tuple[Node, ...]:
        """The nodes that load from a buffer, also by what may be another name for it."""
        return tuple(n for n in self.nodes if self._touches(n.loads, buffer))

    def writers(self, buffer: Buffer | Value | str) -> tuple[Node, ...]:
        """The nodes that store to a buffer, also by what may be another name for it."""
        return tuple(n for n in self.nodes if self._touches(n.stores, buffer))

    def out_edges(self, node: Node, buffer: Buffer | Value | str | None = None) -> tuple[Edge, ...]:
        """The edges from a node, all of them or those about a buffer."""
        return self._about(buffer, (data["edge"] for _, _, data in self._graph.out_edges(self._own(node), data=True)))

    def in_edges(self, node: Node, buffer: Buffer | Value | str | None = None) -> tuple[Edge, ...]:
        """The edges to a node, all of them or those about a buffer."""
        return self._about(buffer, (data["edge"] for _, _, data in self._graph.in_edges(self._own(node), data=True)))

    def between(self, source: Node, sink: Node) -> tuple[Edge, ...]:
        """The edges from one node to another."""
        return tuple(edge for edge in self.out_edges(source) if edge.sink is self._own(sink))

    def memref_edge_count(self, buffer: Buffer | Value | str) -> int:
        """How many edges are about a buffer."""
        return len(self._about(buffer, iter(self.edges)))

    def producers(self, node: Node, buffer: Buffer | Value | str | None = None) -> tuple[Node, ...]:
        """The nodes before it that store what it loads, in the same iteration of the loops around."""
        return _sorted(e.source for e in self.in_edges(node, buffer) if e.kind == "flow" and not e.is_carried)

    def consumers(self, node: Node, buffer: Buffer | Value | str | None = None) -> tuple[Node, ...]:
        """The nodes after it that load what it stores, in the same iteration of the loops around."""
        return _sorted(e.sink for e in self.out_edges(node, buffer) if e.kind == "flow" and not e.is_carried)

    def predecessors(self, node: Node) -> tuple[Node, ...]:
        """The nodes that it must stay behind, in the same iteration of the loops around, for whatever reason."""
        return _sorted(self._ordered.predecessors(self._own(node)))

    def successors(self, node: Node) -> tuple[Node, ...]:
        """The nodes that must stay behind it, in the same iteration of the loops around, for whatever reason."""
        return _sorted(self._ordered.successors(self._own(node)))

    def siblings(self, node: Node) -> tuple[Node, ...]:
        """The nodes that load from a buffer that it loads from, and that may run before it as well as after it."""
        found = self._siblings.get(self._own(node))
        if found is None:
            read, bound = (
                set(node.reads),
                {node, *nx.ancestors(self._ordered, node), *nx.descendants(self._ordered, node)},
            )
            found = tuple(n for n in self.nodes if n not in bound and read.intersection(n.reads))
            self._siblings[node] = found
        return found

    def has_path(self, source: Node, sink: Node) -> bool:
        """Whether the sink must stay behind the source, because of edges between them or by way of other nodes."""
        return source is not sink and bool(nx.has_path(self._ordered, self._own(source), self._own(sink)))

    def has_cycle(self, loop: Value | None = None) -> bool:
        """Whether several nodes depend on each other in a circle, from one iteration of a loop to the next.

        Then the loop cannot be distributed over each of them. The loop is the innermost one around the block, unless
        another is given; outer loops are taken to stay in one iteration. In the body of a function there is none.
        """
        return any(len(component) > 1 for component in self.components(loop))

    def components(self, loop: Value | None = None) -> tuple[tuple[Node, ...], ...]:
        """The nodes that depend on each other in a circle as `has_cycle` has it, each node in one group, in an order
        in which a loop could be distributed over the groups.

        Raises GraphError for a loop that does not stand around the block.
        """
        loop = (self.loops[-1] if self.loops else None) if loop is None else loop
        if loop is not None and loop not in self.loops:
            around = ", ".join(map(repr, self.loops)) or "none"
            raise GraphError(f"the loop of {loop!r} does not stand around the block: {around} does")
        graph: nx.DiGraph[Node] = nx.DiGraph(self._ordered)
        graph.add_edges_from((e.source, e.sink) for e in self.edges if e.loop is not None and e.loop is loop)
        groups = [_sorted(members) for members in nx.strongly_connected_components(graph)]
        return _in_order(groups, graph.edges)

    def topological_orders(self) -> Iterator[tuple[Node, ...]]:
        """Every order in which the nodes of one iteration may run; the order of the text is one of them."""
        return (tuple(order) for order in nx.all_topological_sorts(self._ordered))

    def is_order(self, nodes: Iterable[Node]) -> bool:
        """Whether the nodes, all of them, may run in this order within one iteration of the loops around."""
        place = {node: k for k, node in enumerate(nodes)}
        return set(place) == set(self.nodes) and all(place[a] < place[b] for a, b in self._ordered.edges)

    def insertion_point(self, source: Node, sink: Node) -> InsertionPoints | None:
        """Where in the block two nodes could meet while all others stay where they are; None if nowhere.

        Both move to one place between them: what must stay behind the source remains behind that place, and what the
        sink must stay behind remains before it.
        """
        source, sink = sorted((self._own(source), self._own(sink)), key=lambda node: node.id)
        between = [n for n in self.nodes if source.id < n.id < sink.id]
        before = [n.position for n in between if self._ordered.has_edge(n, sink)]
        behind = [n.position for n in between if self._ordered.has_edge(source, n)]
        first = max(before, default=source.position) + 1
        last = min(behind, default=sink.position)
        return InsertionPoints(first, last) if first <= last else None

    def together(self, source: Node, sink: Node) -> tuple[Node, ...] | None:
        """An order of all nodes in which the sink stands right behind the source; None if there is none.

        It is the one that is closest to the order of the text: others move only where they must.
        """
        source, sink = self._own(source), self._own(sink)
        if source is sink or self.has_path(sink, source):
            return None
        if any(self.has_path(source, n) and self.has_path(n, sink) for n in self.nodes if n not in (source, sink)):
            return None
        groups = [(source, sink), *((n,) for n in self.nodes if n not in (source, sink))]
        return tuple(node for group in _in_order(groups, self._ordered.edges) for node in group)

    def live_out(self, node: Node) -> tuple[Buffer, ...]:
        """The buffers that a node stores to, or frees, and that somebody may see when the block has ended.

        Those are all but the ones that the block allocates and does not yield.
        """
        touched = (*self._own(node).writes, *(access.buffer for access in node.frees))
        return tuple(b for b in dict.fromkeys(touched) if b.escapes or b.is_returned or b.root not in self._made)

    def writes_live_out(self, node: Node) -> bool:
        """Whether somebody may see what a node stores when the block has ended."""
        return bool(self.live_out(node))

    def removable(self, node: Node) -> bool:
        """Whether nobody needs what a node does: it only stores to buffers that no other loads from, and that nobody
        sees when the block has ended; nobody uses its values; and all that it does is known."""
        own = self._own(node)
        if own.barrier or own.frees or self.live_out(own):
            return False
        used = {v for op in self.block if op.is_terminator for v in op.mentions()}
        if used.intersection(own.op.defines()):
            return False
        return not any(e.kind in ("flow", "value") and e.sink is not own for e in self.out_edges(own))

    def without(self, node: Node) -> MemRefDependenceGraph:
        """The graph of the other nodes, which keep their numbers and their order.

        Raises GraphError where another node uses a value that this one computes.
        """
        own = self._own(node)
        for edge in self.out_edges(own):
            if edge.kind == "value":
                assert edge.value is not None
                raise GraphError(
                    f"node {own.id} cannot be left out: node {edge.sink.id} uses {edge.value!r}, which it computes; "
                    f"leave out node {edge.sink.id} first"
                )
        found = copy.copy(self)
        for name in ("_graph", "_ordered", "_siblings", "_made"):
            found.__dict__.pop(name, None)
        found.block = tuple(op for op in self.block if op is not own.op)
        found.nodes = tuple(n for n in self.nodes if n is not own)
        found.edges = tuple(e for e in self.edges if own not in (e.source, e.sink))
        return found

    def recomputed(self, function: func.Func, module: func.Module | None = None) -> Self:
        """The graph of the same block in a function that has changed: its body, or the body of the loop with the same
        induction variable. Raises GraphError where the function has no such loop."""
        dependences = Dependences(function, module, self.dependences.budget)
        if self.owner is self.function:
            return type(self)(dependences)
        binds = tuple(self.owner.binds())
        for op in walk(function):
            if binds and op is not function and binds[0] in op.binds():
                return type(self)(dependences, list(op.blocks())[self._number])
        if binds:
            raise GraphError(f"@{function.symbol} has no loop of {binds[0]!r} any more: was it tiled, or fused away?")
        raise GraphError(
            "only the bodies of functions and loops are found again: use MemRefDependenceGraph(new, block)"
        )

    def to_networkx(self) -> nx.MultiDiGraph[int]:
        """A networkx graph of its own: nodes are numbers with the attribute `node`, edges have `edge`, `kind`,
        `buffer` (a name, or empty) and `carried`."""
        graph: nx.MultiDiGraph[int] = nx.MultiDiGraph()
        for node in self.nodes:
            graph.add_node(node.id, node=node)
        for edge in self.edges:
            name = edge.buffer.name if edge.buffer is not None else ""
            graph.add_edge(
                edge.source.id, edge.sink.id, edge=edge, kind=edge.kind, buffer=name, carried=edge.is_carried
            )
        return graph

    def __repr__(self) -> str:
        return f"<dependences of @{self.function.symbol}: {len(self.nodes)} nodes, {len(self.edges)} edges>"

    @cached_property
    def _graph(self) -> nx.MultiDiGraph[Node]:
        graph: nx.MultiDiGraph[Node] = nx.MultiDiGraph()
        graph.add_nodes_from(self.nodes)
        for edge in self.edges:
            graph.add_edge(edge.source, edge.sink, edge=edge)
        return graph

    @cached_property
    def _ordered(self) -> nx.DiGraph[Node]:
        """Which node must stay behind which within one iteration of the loops around."""
        graph: nx.DiGraph[Node] = nx.DiGraph()
        graph.add_nodes_from(self.nodes)
        graph.add_edges_from((edge.source, edge.sink) for edge in self.edges if not edge.is_carried)
        return graph

    @cached_property
    def _siblings(self) -> dict[Node, tuple[Node, ...]]:
        """What `siblings` has found."""
        return {}

    @cached_property
    def _made(self) -> frozenset[Value]:
        """What the operations of the block define, and those inside of them."""
        return frozenset(v for op in self.block for inner in walk(op) for v in inner.defines())

    def _own(self, node: Node) -> Node:
        if node not in self._graph:
            raise GraphError(f"{node!r} is no node of this graph: it may be of one made before")
        return node

    def _touches(self, accesses: Iterable[Access], buffer: Buffer | Value | str) -> bool:
        of, storage = self.buffer(buffer), self.dependences.accesses.storage
        return any(storage.may_alias(of, access.buffer) for access in accesses)

    def _about(self, buffer: Buffer | Value | str | None, edges: Iterable[Edge]) -> tuple[Edge, ...]:
        if buffer is None:
            return tuple(edges)
        of = self.buffer(buffer)
        return tuple(edge for edge in edges if edge.touches(of))


def dependence_graph(
    function: func.Func, module: func.Module | None = None, loop: Value | str | None = None
) -> MemRefDependenceGraph:
    """The graph of the body of a function, or of the body of a loop in it, by its induction variable or the name of it.

    `module` is what the function stands in: it shows what its calls do. Raises GraphError where there is no such loop,
    and where several are called so.
    """
    return MemRefDependenceGraph(Dependences(function, module), block_of(function, loop))


def block_of(function: func.Func, loop: Value | str | None) -> Block:
    """The body of a function, or of a loop in it, by its induction variable or the name of it. Raises GraphError."""
    return function.body if loop is None else next(_loop(function, loop).blocks())


def _owner(function: func.Func, block: Block) -> tuple[Op, int]:
    """The operation that holds a block, and the index of the block in it."""
    for op in walk(function):
        for number, inner in enumerate(op.blocks()):
            if inner is block:
                return op, number
    raise GraphError(f"@{function.symbol} has no such block: take it from the function that the dependences are of")


def _loop(function: func.Func, loop: Value | str) -> Op:
    """The loop of an induction variable."""
    loops = [(iv, op) for op in walk(function) for iv in ivs_of(op)]
    names, numbered = names_of(function), loop_names(function, [iv for iv, _ in loops])
    found = [op for iv, op in loops if iv is loop or loop in (names[iv], numbered[iv])]
    if len(found) == 1:
        return found[0]
    called = names.get(loop, repr(loop)) if isinstance(loop, Value) else loop
    if found:
        several = " or ".join(f'"{numbered[iv]}"' for iv, op in loops if op in found)
        raise GraphError(f"@{function.symbol} has {len(found)} loops called {called}: write {several}")
    known = list(dict.fromkeys(numbered.values()))
    hint = f"{nearest(called, known)}; it has {', '.join(known)}" if known else ""
    raise GraphError(f"@{function.symbol} has no loop called {called}{hint}")


def _in_order(groups: Iterable[tuple[Node, ...]], edges: Iterable[tuple[Node, Node]]) -> tuple[tuple[Node, ...], ...]:
    """Groups of nodes so that edges between them lead forward, else by the number of their first node."""
    group_of = {node: group for group in groups for node in group}
    graph: nx.DiGraph[tuple[Node, ...]] = nx.DiGraph()
    graph.add_nodes_from(group_of.values())
    graph.add_edges_from((group_of[a], group_of[b]) for a, b in edges if group_of[a] != group_of[b])
    return tuple(nx.lexicographical_topological_sort(graph, key=lambda group: group[0].id))


def circles_in_order(edges: Sequence[Iterable[int]]) -> list[list[int]]:
    """Numbers with edges from each to others: those in a circle together, so that edges lead forward, else in order.

    >>> circles_in_order([{2}, {0}, set(), {1, 2}, {0}])
    [[3], [1], [4], [0], [2]]
    >>> circles_in_order([{2}, {3}, {0}, set()])
    [[0, 2], [1], [3]]
    """
    count = len(edges)
    reached = [sum(1 << b for b in {a, *some}) for a, some in enumerate(edges)]  # the bits of a number say which
    for k in range(count):
        reached = [bits | reached[k] if bits >> k & 1 else bits for bits in reached]
    circles: dict[int, list[int]] = {}
    for k in range(count):
        first = next(j for j in range(k + 1) if reached[j] >> k & reached[k] >> j & 1)
        circles.setdefault(first, []).append(k)
    before = {k: sum(1 << j for j in circles if j != k and reached[j] >> k & 1) for k in circles}
    left, found = sum(1 << k for k in circles), list[list[int]]()
    while left:
        first = next(k for k in circles if left >> k & 1 and not before[k] & left)
        left -= 1 << first
        found.append(circles[first])
    return found


def _sorted(nodes: Iterable[Node]) -> tuple[Node, ...]:
    return tuple(sorted(set(nodes), key=lambda node: node.id))
