"""The nodes and edges of a MemRefDependenceGraph: the operations of a block, and why one must stay behind another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations, product
from typing import Literal

from affdsl.frozen import Frozen
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func, memref, scf
from affdsl.ir.expr import Value
from affdsl.ir.messages import op_name
from affdsl.ir.traverse import walk
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependence, Dependences, Distance
from affdsl.passes.analysis.effects import effects
from affdsl.passes.analysis.polyhedral import UnknownError, spending
from affdsl.passes.analysis.relations import BUDGET, distances
from affdsl.passes.analysis.storage import Buffer
from affdsl.passes.analysis.summary import Summaries

EdgeKind = Literal["flow", "anti", "output", "free", "value", "order"]
"""Three kinds of dependence; that a buffer is freed after its last use; that a node uses a value that another computes;
and that two nodes of which nothing is known stay in order."""


class Node(Frozen):
    """One operation of a block, with all that happens inside of it.

    Attributes
    ----------
    id
        Nodes that come first in the block have the lower number.
    position
        Where it stands in its block.
    loads, stores, frees
        What it, and what is inside of it, reads, writes and frees.
    allocates
        The buffers that it makes itself and that those after it may use.
    barrier
        Why it may do anything; empty if all that it does is known.
    """

    id: int
    op: Op
    position: int
    loads: tuple[Access, ...] = ()
    stores: tuple[Access, ...] = ()
    frees: tuple[Access, ...] = ()
    allocates: tuple[Buffer, ...] = ()
    barrier: str = ""

    @property
    def accesses(self) -> tuple[Access, ...]:
        """Everything that it does to memory."""
        return (*self.loads, *self.stores, *self.frees)

    @property
    def reads(self) -> tuple[Buffer, ...]:
        """The buffers that it loads from."""
        return tuple(dict.fromkeys(access.buffer for access in self.loads))

    @property
    def writes(self) -> tuple[Buffer, ...]:
        """The buffers that it stores to."""
        return tuple(dict.fromkeys(access.buffer for access in self.stores))

    @property
    def is_nest(self) -> bool:
        """Whether it is a loop."""
        return isinstance(self.op, affine.For | affine.Parallel | scf.For | scf.Parallel | scf.While)

    @property
    def ivs(self) -> tuple[Value, ...]:
        """The induction variables of the loop that it is."""
        return ivs_of(self.op)

    def __repr__(self) -> str:
        return f"<node {self.id}: {op_name(self.op) or type(self.op).__name__}>"


class Edge(Frozen):
    """That the sink must stay behind the source, and why.

    Attributes
    ----------
    buffer
        The buffer of the sink, where memory is why; it may be another name for that of the source.
    value
        What the source computes and the sink uses, where that is why.
    dependences
        Those behind a flow, anti, output or free edge, from an access of the source to one of the sink.
    loop
        The induction variable of the loop around the block that carries it; None within one iteration.
    reason
        Why two nodes stay in order though nothing is known that connects them.
    """

    source: Node
    sink: Node
    kind: EdgeKind
    buffer: Buffer | None = None
    value: Value | None = None
    dependences: tuple[Dependence, ...] = ()
    loop: Value | None = None
    reason: str = ""

    @property
    def is_carried(self) -> bool:
        """Whether a loop around the block carries it: the sink is in a later iteration than the source."""
        return self.loop is not None

    @property
    def unknown(self) -> tuple[str, ...]:
        """Why it may not be there; empty if it certainly is."""
        if self.kind == "free" and all(d.source.buffer is d.sink.buffer for d in self.dependences):
            return ()
        if self.dependences and all(d.unknown for d in self.dependences):
            return tuple(dict.fromkeys(reason for d in self.dependences for reason in d.unknown))
        return (self.reason,) if self.reason else ()

    @property
    def is_exact(self) -> bool:
        """Whether it certainly is there."""
        return not self.unknown

    def touches(self, buffer: Buffer) -> bool:
        """Whether it is about a buffer, under whatever name."""
        return any(buffer in (d.source.buffer, d.sink.buffer) for d in self.dependences)

    @cached_property
    def distances(self) -> tuple[Distance, ...]:
        """How much larger each loop around both is in the sink, and, below these, how far apart loops are that stand
        at the same depth in both: what a fusion of the nests would make of it. Outermost first."""
        every = [_aligned(d) for d in self.dependences]
        return tuple(_hull(column) for column in zip(*every, strict=False))

    def __str__(self) -> str:
        what = self.buffer.name if self.buffer is not None else f"%{self.value.hint}" if self.value is not None else ""
        carried = f", carried by {self.loop.hint or 'the loop around'}" if self.loop is not None else ""
        unknown = " (unknown)" if self.unknown else ""
        return f"{self.source.id} -> {self.sink.id}: {' '.join(filter(None, (self.kind, what)))}{carried}{unknown}"


def ivs_of(op: Op) -> tuple[Value, ...]:
    """The induction variables of a loop, outermost first; none for anything else."""
    match op:
        case affine.For(iv=iv) | scf.For(iv=iv):
            return (iv,)
        case affine.Parallel(ivs=ivs) | scf.Parallel(ivs=ivs):
            return ivs
    return ()


def nodes_of(dependences: Dependences, block: Block) -> tuple[Node, ...]:
    """A node for each operation of a block but its terminator."""
    summaries = Summaries(dependences.accesses.module)
    by_op: dict[Op, list[Access]] = {}
    for access in dependences.compared:
        by_op.setdefault(access.op, []).append(access)
    found: list[Node] = []
    for position, op in enumerate(block):
        if op.is_terminator:
            continue
        inside = [access for inner in walk(op) for access in by_op.get(inner, ())]
        freed = [a for a in inside if isinstance(a.op, memref.Dealloc)]
        written = [a for a in inside if a.kind == "write" and not isinstance(a.op, memref.Dealloc)]
        read = [a for a in inside if a.kind == "read"]
        made = tuple(dependences.accesses.storage.buffer(v) for v in effects(op).allocates)
        barrier = _barrier(op, summaries)
        found.append(Node(len(found), op, position, tuple(read), tuple(written), tuple(freed), made, barrier))
    return tuple(found)


def edges_of(dependences: Dependences, nodes: Sequence[Node]) -> tuple[Edge, ...]:
    """Why each of the nodes of one block must stay behind another, in the order of sources, then sinks."""
    found = [*_by_memory(dependences, nodes), *_by_value(nodes), *_by_ignorance(nodes)]
    return tuple(sorted(found, key=lambda edge: (edge.source.id, edge.sink.id)))


def _by_memory(dependences: Dependences, nodes: Sequence[Node]) -> Iterator[Edge]:
    """The edges of the dependences between accesses to one buffer."""
    if not nodes:
        return
    around = dependences.accesses.domains[nodes[0].op].ivs
    storage = dependences.accesses.storage
    users: dict[Buffer, dict[Node, list[Access]]] = {}
    for node in nodes:
        for access in node.accesses:
            users.setdefault(access.buffer, {}).setdefault(node, []).append(access)
    found: dict[tuple[Node, Node, EdgeKind, Buffer, Buffer, int], list[Dependence]] = {}
    for first, sources in users.items():
        for second in (b for b in users if storage.may_alias(first, b)):
            for node, other in product(sources, users[second]):
                # Within one iteration if one stands before the other; carried by a loop around in any case.
                depths = range(1, len(around) + 1 + (node.id < other.id))
                for dependence in dependences.at_depths(sources[node], users[second][other], depths):
                    kind: EdgeKind = "free" if dependence.sink in other.frees else dependence.kind  # type: ignore[assignment]
                    found.setdefault((node, other, kind, first, second, dependence.depth), []).append(dependence)
    for (node, other, kind, _, second, depth), some in found.items():
        loop = around[depth - 1] if depth <= len(around) else None
        yield Edge(node, other, kind, second, dependences=tuple(some), loop=loop)


def _by_value(nodes: Sequence[Node]) -> Iterator[Edge]:
    """An edge for each value that a node computes and another uses, even only in how a map was written."""
    makers = {value: node for node in nodes for value in node.op.defines()}
    for node in nodes:
        for value in dict.fromkeys(v for inner in walk(node.op) for v in inner.mentions()):
            maker = makers.get(value)
            if maker is not None:
                yield Edge(maker, node, "value", value=value)


def _by_ignorance(nodes: Sequence[Node]) -> Iterator[Edge]:
    """What may do anything may do what no buffer shows, such as print: two such nodes stay in order."""
    for first, second in combinations([node for node in nodes if node.barrier], 2):
        yield Edge(first, second, "order", reason=f"{first.barrier}; {second.barrier}")


def _barrier(op: Op, summaries: Summaries) -> str:
    for inner in walk(op):
        match inner:
            case func.Call(callee=callee):
                if summaries.of(callee).anything:
                    return f"what @{callee} does is not known"
            case affine.DmaStart() | affine.DmaWait() | memref.DmaStart() | memref.DmaWait():
                continue  # what they touch is known
            case affine.Prefetch() | memref.Prefetch():
                continue
            case _ if effects(inner).unknown and not inner.is_terminator:
                return f"what {op_name(inner) or 'an operation'} does is not known"
    return ""


def _aligned(dependence: Dependence) -> tuple[Distance, ...]:
    """The distances of as many loops as both accesses have around them."""
    count = min(len(dependence.source.ivs), len(dependence.sink.ivs))
    known = dependence.distances[:count]
    if count == len(known) or dependence.source.buffer is not dependence.sink.buffer:
        return (*known, *[Distance(None, None)] * (count - len(known)))
    try:
        pairs = dependence.map()
        with spending(BUDGET):
            return tuple(Distance(*ends) for ends in distances(pairs, count))
    except UnknownError:
        return (*known, *[Distance(None, None)] * (count - len(known)))


def _hull(some: Sequence[Distance]) -> Distance:
    """The closest ends that all distances lie between."""
    lows, highs = [d.low for d in some], [d.high for d in some]
    return Distance(
        None if None in lows else min(low for low in lows if low is not None),
        None if None in highs else max(high for high in highs if high is not None),
    )
