"""Computes elements of an array where they are read, and does away with the array."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.messages import op_name
from affdsl.ir.renaming import renamed
from affdsl.ir.traverse import clone, rewrite, walk, way_to
from affdsl.passes.analysis.dependence import Dependences, unwarned
from affdsl.passes.analysis.effects import is_pure, is_removable
from affdsl.passes.analysis.graph import MemRefDependenceGraph
from affdsl.passes.analysis.polyhedral import UnknownError
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.legality.words import name
from affdsl.passes.proof.polyhedral import Reference
from affdsl.passes.transforms.fuse.compute_at import why
from affdsl.passes.transforms.fuse.window import Window
from affdsl.passes.transforms.loops.nests import instead
from affdsl.passes.transforms.settle import settled


def inline(function: Func, buffer: Value, *, module: Module | None = None) -> Func:
    """Compute each element of a local buffer where it is read, instead of storing it.

        for i: t[i] = P(i); for j: C(t[j], t[j + 1])      ->      for j: C(P(j), P(j + 1))

    One store makes all that is read, and is gone with the buffer. What is read in several blocks, or by several
    subscripts, is computed several times.

    Parameters
    ----------
    buffer
        The memref that memref.alloc or memref.alloca gives.
    module
        What the function stands in: it shows what calls do, and which arguments are one buffer.

    Raises
    ------
    IllegalTransform
        If the buffer is no local one, is used otherwise than by one affine store and by affine loads, if what is stored
        is made by a loop or under a condition, if the store's subscripts do not say its iteration, or if it is not
        proved that every value stays as it was: with what is another, for sizes for which it is.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<10xf32>, %B: memref<9xf32>) {
    ...   %t = memref.alloc() : memref<10xf32>
    ...   affine.for %i = 0 to 10 {
    ...     %a = affine.load %A[%i] : memref<10xf32>
    ...     %b = arith.mulf %a, %a : f32
    ...     affine.store %b, %t[%i] : memref<10xf32>
    ...   }
    ...   affine.for %j = 0 to 9 {
    ...     %b = affine.load %t[%j + 1] : memref<10xf32>
    ...     affine.store %b, %B[%j] : memref<9xf32>
    ...   }
    ...   return
    ... }''').functions[0]
    >>> print(inline(f, f.body[0].result))
    func.func @f(%A: memref<10xf32>, %B: memref<9xf32>) {
      affine.for %j = 0 to 9 {
        %a = affine.load %A[%j + 1] : memref<10xf32>
        %b = arith.mulf %a, %a : f32
        affine.store %b, %B[%j] : memref<9xf32>
      }
      return
    }
    """
    what = f"inline {name(buffer)}"
    made = next((op for op in walk(function) if isinstance(op, memref.Allocation) and op.result is buffer), None)
    if made is None:
        raise refusal(function, what, f"@{function.symbol} does not make {name(buffer)}: others may need it")
    store = _store_of(function, made, what)
    source = _Source(function, store, what)
    around = Module((function,)) if module is None else module
    after = _inlined(function, store, source)
    if not _is_proved_nearby(function, store, source, around):
        with unwarned():
            answer = Reference(function, around).compared(after, instead(around, function, after))
        if answer.verdict != "proved":
            raise refusal(store, what, why([answer]))
    return settled(after, function).function


def _inlined(function: Func, store: affine.Store, source: _Source) -> Func:
    """The function without the buffer of a store."""
    buffer = store.memref
    replaced: dict[Value, Value] = {}
    block_of = {inner: block for op in walk(function) for block in op.blocks() for inner in block}
    elements: dict[tuple[int, tuple[Affine, ...]], Value] = {}

    def rule(op: Op) -> tuple[Op, ...] | None:
        if op is store or buffer in op.defines() or (isinstance(op, memref.Dealloc) and op.memref is buffer):
            return ()
        if isinstance(op, affine.Load) and op.memref is buffer:
            element = id(block_of[op]), op.index
            ops: tuple[Op, ...] = ()
            if element not in elements:
                ops, elements[element] = source.at(op)
            replaced[op.result] = elements[element]
            return ops
        return None

    after = rewrite(function, rule)
    while any(v in replaced for v in replaced.values()):
        replaced = {old: replaced.get(new, new) for old, new in replaced.items()}
    return _without_idle(renamed(after, replaced), source.inside)


def _is_proved_nearby(function: Func, store: affine.Store, source: _Source, module: Module) -> bool:
    """Whether it is proved of the nest that stores and of the one that reads, with what stands between them."""
    nest = next((op for op in function.body if any(inner is store for inner in walk(op))), None)
    with unwarned():
        graph = MemRefDependenceGraph(Dependences(function, module))
        readers = [node for node in graph.readers(store.memref) if node.op is not nest]
        if nest is None or len(readers) != 1:
            return False
        window = Window(graph, graph.node(nest), readers[0], module)
        try:
            if not window.is_private(graph.buffer(store.memref)):
                return False
            return window.compared_with(_inlined(window.before, store, source)).verdict == "proved"
        except UnknownError:
            return False


def _store_of(function: Func, made: memref.Allocation, what: str) -> affine.Store:
    """The one store to a buffer, which is otherwise only loaded from."""
    buffer, stores = made.result, list[affine.Store]()
    for op in walk(function):
        match op:
            case affine.Store() if op.memref is buffer:
                stores.append(op)
            case affine.Load() | memref.Dealloc() if op.memref is buffer:
                pass
            case _ if op is not made and buffer in op.mentions():
                raise refusal(op, what, f"{op_name(op)} uses {name(buffer)} otherwise than by affine loads and stores")
    if len(stores) != 1:
        raise refusal(stores[-1] if stores else made, what, f"{len(stores)} stores make {name(buffer)}: one has to")
    return stores[0]


class _Source:
    """How an element is made: the operations behind a store, and which iteration stores which element."""

    def __init__(self, function: Func, store: affine.Store, what: str) -> None:
        self.store = store
        self.what = what
        path = way_to(function, store)
        self._own = [op for op in path if isinstance(op, affine.For | affine.Parallel)]
        odd = next((op for op in path[1:-1] if op not in self._own), None)
        if odd is not None:
            raise refusal(odd, what, f"it is stored in {op_name(odd)}: not everywhere, or nobody knows where")
        self.ivs = [iv for op in self._own for iv in (op.ivs if isinstance(op, affine.Parallel) else (op.iv,))]
        self.inside = {iv for op in self._own for iv in op.binds()}
        self.ops = self._made()

    def _made(self) -> tuple[Op, ...]:
        """The operations in the loops around the store that make what it stores, in order."""
        makers = {v: op for op in walk(self._own[0]) for v in op.defines()} if self._own else {}
        found: dict[Op, None] = {}
        waiting = [self.store.value]
        while waiting:
            op = makers.get(waiting.pop())
            if op is None or op in found:
                continue
            if any(True for _ in op.blocks()) or not (is_pure(op) or isinstance(op, affine.Load)):
                raise refusal(
                    op, self.what, f"{op_name(op)} takes part in what is stored: compute it at a loop instead"
                )
            found[op] = None
            waiting += op.mentions()
        carried = {v for op in self._own if isinstance(op, affine.For) for v in op.carried}
        if carried & {v for op in (*found, self.store) for v in op.mentions()}:
            raise refusal(self.store, self.what, "a value that a loop carries takes part in what is stored")
        order = {op: k for k, op in enumerate(walk(self._own[0]))} if self._own else {}
        return tuple(sorted(found, key=order.__getitem__))

    def at(self, load: affine.Load) -> tuple[tuple[Op, ...], Value]:
        """Copies of the operations for the element that a load reads, and what they make."""
        iteration = {iv: self._iteration(iv, load) for iv in self.ivs}
        try:
            return self._copied(iteration)
        except ValueError:  # an operation takes a counter as a number, not in a subscript
            applied = [affine.Apply(Value(iv.type, iv.hint), e, location=load.location) for iv, e in iteration.items()]
            copies, value = self._copied(dict(zip(self.ivs, (op.result for op in applied), strict=True)))
            return (*applied, *copies), value

    def _copied(self, iteration: Mapping[Value, Term]) -> tuple[tuple[Op, ...], Value]:
        new: dict[Value, Term] = {**iteration}
        copies = tuple(clone(op, new) for op in self.ops)
        value = new.get(self.store.value, self.store.value)
        if not isinstance(value, Value):
            raise ValueError("what is stored is a counter")
        return copies, value

    def _iteration(self, iv: Value, load: affine.Load) -> Affine:
        """In which iteration of a loop the store makes what a load reads."""
        for stored, read in zip(self.store.index, load.index, strict=True):
            factor = dict(stored.terms).get(iv, 0)
            rest = stored - iv * factor
            if abs(factor) == 1 and not set(rest.values()) & set(self.ivs):
                return (read - rest) * factor
        raise refusal(self.store, self.what, f"no subscript alone says the iteration of {name(iv)}")


def _without_idle(function: Func, inside: Collection[Value]) -> Func:
    """function without what nothing needs any more in some loops, and without those that do nothing."""
    while True:  # once for each loop around another that does nothing: a chain of values goes in one round
        idle: dict[Op, tuple[Op, ...]] = {}
        used = Counter(v for op in walk(function) for v in op.mentions())
        for op in reversed([*_inside(function, inside, is_inside=False)]):
            if is_removable(op) and not any(used[v] for v in op.defines()):
                idle[op] = ()
                used.subtract(v for inner in walk(op) if inner is op or inner not in idle for v in inner.mentions())
        if not idle:
            return function
        function = rewrite(function, idle.get)


def _inside(root: Op, ivs: Collection[Value], *, is_inside: bool) -> Iterator[Op]:
    """The operations that bind some values, and all that stands in them."""
    for op in (op for block in root.blocks() for op in block):
        here = is_inside or any(v in ivs for v in op.binds())
        if here:
            yield op
        yield from _inside(op, ivs, is_inside=here)
