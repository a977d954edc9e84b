"""What the graph says of the values in affine maps: constants, loops, and what may stand as a symbol or dimension."""

from __future__ import annotations

from collections.abc import Container, Sequence

from affdsl.ir.applied import Applied
from affdsl.ir.dialects import affine, arith, func, memref, scf, ub
from affdsl.ir.expr import Value
from affdsl.ir.types import INDEX
from affdsl.ir.verifier.positions import MAY_FAIL, OF_DIMS, OF_SYMBOLS, known_size
from affdsl.passes.cleanup.canonicalize.graph import Graph, OpNode
from affdsl.passes.cleanup.canonicalize.numbers import index_number

_SCOPES = (func.Func, func.Module, scf.ExecuteRegion)


class GraphFacts:
    """`affdsl.passes.affine.maps.Facts` of a graph, as it is while nobody changes it."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._symbols: dict[Value, bool] = {}
        self._dims: dict[Value, bool] = {}

    def apply_of(self, value: Value) -> Applied | None:
        """The map of the affine.apply that defines a value."""
        node = self.graph.node(value)
        return node.maps["expr"] if node is not None and isinstance(node.op, affine.Apply) else None

    def number_of(self, value: Value) -> int | None:
        """The number that a value is."""
        return index_number(self.graph, value)

    def loop_of(self, value: Value) -> tuple[Applied, Applied, int] | None:
        """The bounds and step of the affine.for whose counter a value is."""
        node = self.graph.binder(value)
        if node is None or not isinstance(node.op, affine.For) or node.op.iv is not value:
            return None
        return node.maps["lower"], node.maps["upper"], node.op.step

    def is_symbol(self, value: Value) -> bool:
        """Whether a value does not change while the function runs its loops, as far as MLIR knows."""
        for each in self._chain(value, OF_SYMBOLS, self._symbols):
            self._is_symbol(each, self._symbols)
        return self._is_symbol(value, self._symbols)

    def _chain(self, value: Value, through: tuple[type, ...], known: Container[Value]) -> Sequence[Value]:
        """The values that one is computed from by such operations, the deepest first: there may be thousands."""
        found: dict[Value, None] = {}
        left = [value]
        while left:
            each = left.pop()
            if each not in found and each not in known and isinstance(self.graph.definition(each), through):
                found[each] = None
                left += self._reads(each)
        return [*reversed(found)]

    def _is_symbol(self, value: Value, known: dict[Value, bool]) -> bool:
        if value not in known:
            known[value] = value.type == INDEX and (self._is_top(value) or self._is_symbol_inside(value, known))
        return known[value]

    def _is_symbol_inside(self, value: Value, known: dict[Value, bool]) -> bool:
        op = self.graph.definition(value)
        match op:
            case arith.Constant() | ub.Poison():
                return True
            case memref.Dim():
                return self._is_symbolic_size(op, known)
            case arith.Binary(kind=kind) if kind in MAY_FAIL:
                return False
            case _ if isinstance(op, OF_SYMBOLS):
                return all(self._is_symbol(v, known) for v in self._reads(value))
        return False

    def _reads(self, value: Value) -> tuple[Value, ...]:
        node = self.graph.node(value)
        return () if node is None else node.reads

    def _is_top(self, value: Value) -> bool:
        node = self.graph.node(value)
        if node is None:
            binder = self.graph.binder(value)
            return binder is not None and isinstance(binder.op, _SCOPES)
        return node.body is not None and isinstance(node.body.owner.op, _SCOPES)

    def _is_symbolic_size(self, op: memref.Dim, known: dict[Value, bool]) -> bool:
        if self._is_top(op.memref):
            return True
        size = known_size(op, self.graph.definition, index_number(self.graph, op.index))
        return size if isinstance(size, bool) else self._is_symbol(size, known)

    def is_dim(self, value: Value) -> bool:
        """Whether a value may stand as a dimension: it is a symbol, a loop counter, or computed from those."""
        self.is_symbol(value)  # what the chain of its definition needs of this is known then
        for each in self._chain(value, OF_DIMS, self._dims):
            self._is_dim(each)
        return self._is_dim(value)

    def _is_dim(self, value: Value) -> bool:
        if value not in self._dims:
            self._dims[value] = value.type == INDEX and (self.is_symbol(value) or self._is_dim_inside(value))
        return self._dims[value]

    def _is_dim_inside(self, value: Value) -> bool:
        node = self.graph.node(value)
        if node is None:
            return self._is_counter(self.graph.binder(value), value)
        if isinstance(node.op, OF_DIMS):
            return all(self._is_dim(v) for v in node.reads)
        return isinstance(node.op, memref.Dim) and self._is_top(node.op.memref)

    def _is_counter(self, node: OpNode | None, value: Value) -> bool:
        match None if node is None else node.op:
            case affine.For(iv=iv):
                return iv is value
            case affine.Parallel(ivs=ivs):
                return value in ivs
        return False
