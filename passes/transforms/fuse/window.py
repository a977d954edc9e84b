"""The part of a block that a fusion changes, as a function of its own: what is proved of it holds in the whole one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref, scf
from affdsl.ir.dialects.func import Func, Module, Return
from affdsl.ir.expr import Constraint, Value
from affdsl.ir.traverse import rewrite, users, walk, with_fields
from affdsl.ir.types import MemRefType, UnrankedMemRefType
from affdsl.passes.analysis.dependence import Dependences, unwarned
from affdsl.passes.analysis.effects import is_pure
from affdsl.passes.analysis.flow import Flow
from affdsl.passes.analysis.graph import MemRefDependenceGraph, Node
from affdsl.passes.analysis.polyhedral import UnknownError
from affdsl.passes.analysis.storage import Buffer
from affdsl.passes.legality.words import name
from affdsl.passes.proof.claims import Answer
from affdsl.passes.proof.polyhedral import Reference

BUFFERS = (MemRefType, UnrankedMemRefType)
Changes = Mapping[Op, tuple[Op, ...]]
"""What stands in the place of some operations of a block."""


class Window:
    """Two nodes of a block, and those between them that depend on one of them, as a function of its own.

    Other nodes may as well run before or after all of these. Buffers are arguments, also those that are made between
    the two, so that all that the nodes leave in them counts, but for those that only the two nodes use.
    """

    def __init__(self, graph: MemRefDependenceGraph, source: Node, sink: Node, module: Module) -> None:
        self.graph = graph
        self.module = module
        self._ends = tuple(sorted((source, sink), key=lambda node: node.id))

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes, in order."""
        first, last = self._ends
        edges = [e for end in self._ends for e in (*self.graph.in_edges(end), *self.graph.out_edges(end))]
        tied = {node for e in edges for node in (e.source, e.sink)}
        between = [n for n in self.graph.nodes if first.id < n.id < last.id and (n.barrier or n in tied)]
        return (first, *(n for n in between if not isinstance(n.op, memref.Allocation)), last)

    def is_private(self, buffer: Buffer) -> bool:
        """Whether nobody but the first and the last node uses a buffer, and nothing in it outlives the two."""
        return buffer.root in self._private

    @cached_property
    def _private(self) -> frozenset[Value]:
        used = dict.fromkeys(b for node in self.nodes for b in (*node.reads, *node.writes))
        own = [b.root for b in used if b.kind == "local" and not b.escapes and not b.is_returned]
        if not own:
            return frozenset()
        made = {op.result: op for op in walk(self.graph.function) if isinstance(op, memref.Allocation)}
        using = users(self.graph.function)
        inside = {op for node in (self.nodes[0], self.nodes[-1]) for op in walk(node.op)}
        found = {
            root
            for root in own
            if root in made and all(op in inside or isinstance(op, memref.Dealloc) for op in using[root])
        }
        shared = {root for root in found if made[root] not in self.graph.block}
        if any(not isinstance(op, affine.For | scf.For) for op in self._loops):
            found -= shared  # iterations that run side by side share it
            shared = set()
        if shared and not shared.isdisjoint(_read_first(Dependences(self._function(frozenset(found)), self.module))):
            found -= shared  # an iteration of the loops around may read what one before stored
        return frozenset(found)

    @cached_property
    def before(self) -> Func:
        """The function. Raises UnknownError where the nodes use a buffer that may be a part of another."""
        return self._function(self._private)

    def _function(self, private: frozenset[Value]) -> Func:
        """The nodes as a function that makes some buffers itself."""
        function = self.graph.function
        makers = {v: op for op in walk(function) for v in op.defines()}
        inside: dict[Op, None] = dict.fromkeys(op for node in self.nodes for op in walk(node.op))
        bound = {v for op in inside for v in (*op.defines(), *op.binds())}
        kept: set[Op] = {node.op for node in self.nodes}
        args: dict[Value, None] = dict.fromkeys(function.args)
        waiting = [v for op in inside for v in op.mentions() if v not in bound]
        while waiting:
            value = waiting.pop()
            maker = makers.get(value)
            if maker is not None and _is_repeated(maker, private):
                if maker not in kept:
                    kept.add(maker)
                    waiting += maker.mentions()
            elif value not in args:
                if isinstance(value.type, BUFFERS) and not isinstance(maker, memref.Allocation):
                    self._require_apart(value)
                args[value] = None
        body = tuple(op for op in _in_order(function, kept))
        added = tuple(v for v in args if v not in function.args)
        shapes = (*function.shapes, *[None for _ in added]) if function.shapes else ()
        facts = (*function.assumes, *(c for c in self._around() if all(v in args for v in c.values())))
        left = tuple(v for node in self.nodes for v in node.op.defines() if not isinstance(v.type, BUFFERS))
        return with_fields(
            function, args=(*function.args, *added), body=(*body, Return(left)), shapes=shapes,
            result_types=tuple(v.type for v in left),
            assumes=facts, argument_attributes=(), result_attributes=(), private=False,
        )  # fmt: skip

    def _require_apart(self, memref: Value) -> None:
        """Raises UnknownError for a memref that may have elements in common with what the nodes store to."""
        storage = self.graph.dependences.accesses.storage
        buffer = storage.buffer(memref)
        stored = {b for node in self.nodes for b in node.writes}
        knows_all = buffer.root is memref and not any(node.barrier for node in self.nodes)
        if not knows_all or any(storage.may_alias(buffer, other) for other in stored):
            raise UnknownError(f"{name(memref)} may be a part of another buffer")

    def changed(self, new: Changes) -> Func:
        """The function with other operations in it."""
        return rewrite(self.before, lambda op: new.get(op))

    def compared(self, new: Changes, made: Collection[Value] = ()) -> Answer:
        """Whether the function with other operations leaves what it left before.

        That is not known where something is read of the buffers that are `made` for it, or of others that the whole
        function makes, that was not stored there, even if nobody needs it.
        """
        return self.compared_with(self.changed(new), made)

    def compared_with(self, after: Func, made: Collection[Value] = ()) -> Answer:
        """The same of another function in its place."""
        with unwarned():
            answer = self._reference.compared(after, self.module)
            if answer.verdict != "proved":
                return answer
            read_first = _read_first(Dependences(after, self.module))
            if read_first.isdisjoint(made) and not (read_first & self._local) - self._read_first:
                return answer
            return Answer("unknown", "something would be read that was not stored before")

    @cached_property
    def _local(self) -> set[Value]:
        """The buffers that the whole function makes."""
        return {op.result for op in walk(self.graph.function) if isinstance(op, memref.Allocation)}

    @cached_property
    def _read_first(self) -> set[Value]:
        return _read_first(Dependences(self.before, self.module))

    @cached_property
    def _reference(self) -> Reference:
        return Reference(self.before, self.module)

    @property
    def _loops(self) -> tuple[Op, ...]:
        """The loops around the block."""
        return self.graph.dependences.accesses.domains[self.nodes[0].op].loops

    def _around(self) -> Iterator[Constraint]:
        """What the loops around the block say of their induction variables."""
        for op in self._loops:
            if isinstance(op, affine.For):
                yield from (Constraint(op.iv - e) for e in op.lower)
                yield from (Constraint(e - 1 - op.iv) for e in op.upper)


def _is_repeated(op: Op, private: frozenset[Value]) -> bool:
    """Whether an operation before the nodes gives the same when it is a part of the function."""
    if isinstance(op, memref.Allocation):
        return op.result in private
    return isinstance(op, memref.GetGlobal) or (is_pure(op) and not any(True for _ in op.blocks()))


def _read_first(dependences: Dependences) -> set[Value]:
    """The buffers of which something may be read that was not stored there before."""
    flow = Flow(dependences)
    found: set[Value] = set()
    with unwarned():
        for read in dependences.compared:
            if read.kind == "read" and read.buffer.root not in found:
                left = flow.live_in(read)
                if left is None or not left.is_empty():
                    found.add(read.buffer.root)
    return found


def _in_order(function: Func, kept: Collection[Op]) -> Iterator[Op]:
    """Operations in the order of the text, which stand in blocks around each other."""
    return (op for op in walk(function) if op in kept)
