"""The `cse` pass: what has been computed before is not computed again."""

from __future__ import annotations

from collections.abc import Hashable

from affdsl.frozen import fields
from affdsl.ir.core import roles
from affdsl.ir.dialects import arith
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Value
from affdsl.passes.analysis.effects import effects
from affdsl.passes.cleanup.canonicalize.graph import Body, Graph, OpNode

_COMMUTATIVE = frozenset({
    "addi", "muli", "andi", "ori", "xori", "maxsi", "maxui", "minsi", "minui",
    "addf", "mulf", "maximumf", "maxnumf", "minimumf", "minnumf", "addui_extended", "mulsi_extended", "mului_extended",
})  # fmt: skip
_NOT_COMPARED = frozenset({"location", "attributes", "written"})
Key = tuple[Hashable, ...]


def cse(module: Module) -> Module:
    """Let one operation do for all equal ones that follow it in its block or inside the operations after it.

        %a = arith.addi %x, %y         ->      %a = arith.addi %x, %y
        %b = arith.addi %x, %y                 (uses of %b become %a)

    Operations are equal that compute the same from the same values, loops and conditions included. An operation that
    reads memory equals one before it in the same block if nothing between them writes. What nobody uses and nobody
    would miss is left out. It never refuses: what it does not know it takes for something that writes everywhere.

    References
    ----------
    Cocke, "Global common subexpression elimination", 1970; the rules for memory are those of mlir-opt --cse.

    >>> from affdsl.mlir.readers import parse
    >>> print(cse(parse("func.func @f(%x: i32) -> i32 { %a = arith.addi %x, %x : i32 %b = arith.addi %x, %x : i32 "
    ...     "%c = arith.muli %a, %b : i32 return %c : i32 }")).functions[0])
    func.func @f(%x: i32) -> i32 {
      %a = arith.addi %x, %x : i32
      %c = arith.muli %a, %a : i32
      return %c : i32
    }
    """
    graph = Graph(module)
    for body in graph.root.regions.values():
        _visit(graph, body, None)
    _sweep(graph)
    result = graph.result()
    assert isinstance(result, Module)
    return result


class _Scope:
    """The operations of a block so far, by what they compute; what is around the block counts too."""

    def __init__(self, outer: _Scope | None) -> None:
        self.outer = outer
        self.pure: dict[Key, OpNode] = {}
        self.reading: dict[Key, tuple[OpNode, int]] = {}
        self.writes = 0

    def find(self, key: Key, *, reads: bool) -> OpNode | None:
        """An equal operation that has the same results."""
        if reads:
            node, writes = self.reading.get(key, (None, 0))
            return node if writes == self.writes else None
        scope: _Scope | None = self
        while scope is not None:
            if key in scope.pure:
                return scope.pure[key]
            scope = scope.outer
        return None

    def note(self, key: Key, node: OpNode, *, reads: bool) -> None:
        """Remember an operation."""
        if reads:
            self.reading[key] = (node, self.writes)
        else:
            self.pure[key] = node


def _visit(graph: Graph, body: Body, outer: _Scope | None) -> tuple[bool, bool]:
    """Work through a block; the answer is whether it may read memory, and whether it may do anything else to it."""
    scope = _Scope(outer)
    block_reads = block_writes = False
    for node in body:
        found = effects(node.op)
        reads, writes = bool(found.reads), found.unknown or bool(found.writes or found.frees or found.allocates)
        around = None if isinstance(node.op, Func | Module | Opaque) else scope
        for inner in node.regions.values():
            inner_reads, inner_writes = _visit(graph, inner, around)
            reads, writes = reads or inner_reads, writes or inner_writes
        block_reads, block_writes = block_reads or reads, block_writes or writes
        if writes:
            # A new buffer changes no other one.
            scope.writes += not (found.allocates and not node.regions)
            continue
        results = tuple(node.op.defines())
        if node.op.is_terminator or not results:
            continue
        key = _key(node, {})
        known = scope.find(key, reads=reads)
        if known is None:
            scope.note(key, node, reads=reads)
        else:
            graph.replace(node, tuple(known.op.defines()))
    return block_reads, block_writes


def _sweep(graph: Graph) -> None:
    """Leave out what nobody needs, and then what that alone has used."""
    graph.start()
    while (node := graph.pop()) is not None:
        if node is not graph.root and graph.is_dead(node):
            graph.erase(node)


def _key(node: OpNode, inside: dict[Value, int]) -> Key:
    """What operations have in common that compute the same; values of their blocks count by their numbers in inside."""
    op, role = node.op, roles(type(node.op))
    bound, results = tuple(op.binds()), tuple(op.defines())
    parts: list[Hashable] = [
        type(op).__qualname__,
        type(op).__module__,
        op.attributes,
        tuple([v.type for v in (*results, *bound)]),
    ]
    for value in bound:
        inside[value] = len(inside)
    for name in (f.name for f in fields(op)):
        if name in _NOT_COMPARED or name in role.results or name in role.arguments:
            continue
        if name in role.regions:
            parts.append(tuple([_key(inner, inside) for inner in node.regions[name]]))
        elif name in node.maps:
            m = node.maps[name]
            parts.append((m.trees, len(m.dims), m.equalities, _values(m.operands, inside)))
        elif name in role.operands:
            part = getattr(op, name)
            parts.append(_values(part if isinstance(part, tuple) else (part,), inside))
        else:
            parts.append(_attribute(getattr(op, name)))
    for value in results if inside else ():
        inside[value] = len(inside)
    match op:
        case arith.Binary() | arith.Extended() if op.kind in _COMMUTATIVE:
            operands = _values((op.left, op.right), inside)
            return (*parts[:4], op.kind, tuple(sorted(operands, key=_order)))
    return tuple(parts)


def _values(values: tuple[Value, ...], inside: dict[Value, int]) -> tuple[Value | int, ...]:
    return tuple([inside.get(v, v) for v in values])


def _order(operand: Value | int) -> tuple[int, int]:
    return (1, operand.id) if isinstance(operand, Value) else (0, operand)


_NUMBERS = (int, float, complex)


def _attribute(part: object) -> Hashable:
    """A field that is no operand; numbers with their type and sign, since 0.0 == -0.0 and 1 == True."""
    if isinstance(part, _NUMBERS) or (isinstance(part, tuple) and part and isinstance(part[0], _NUMBERS)):
        return repr(part)
    assert isinstance(part, Hashable)
    return part
