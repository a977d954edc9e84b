"""Where each value of a function comes from, instance by instance: through memory, loops and conditions."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, memref, scf
from affdsl.ir.dialects.func import Func, Module, Return
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import IndexType, MemRefType
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependences, unwarned
from affdsl.passes.analysis.domain import Domain
from affdsl.passes.analysis.effects import effects, is_pure
from affdsl.passes.analysis.flow import Flow
from affdsl.passes.analysis.linearized import Chain
from affdsl.passes.analysis.polyhedral import Dim, Map, Set, UnknownError, space_of, spending
from affdsl.passes.analysis.relations import domain_of, iterator, last_of, map_from
from affdsl.passes.analysis.storage import Buffer
from affdsl.passes.proof.nodes import Cases, Cell, Computed, Final, FlowNode, Meaning, Number, Undefined
from affdsl.passes.proof.symbols import Symbols, signature

BUDGET = 3_000_000
"""How many operations isl may spend on one step, and on the writers of one read: up to half a second."""


class Dataflow:
    """The nodes of one function."""

    def __init__(self, function: Func, module: Module, mark: str, like: Dataflow | None = None) -> None:
        """Those of a function; its arrays are divided by the sizes by which they are in another one, if that is right.

        That is one with the same arguments.
        """
        self.function = function
        self.module = module
        hidden = {} if like is None else like.hidden(function)
        self.dependences = Dependences(function, module, hidden=hidden)
        self.accesses = self.dependences.accesses
        self.scope, self.storage = self.accesses.scope, self.accesses.storage
        self.flow = Flow(self.dependences, BUDGET)
        self.symbols = Symbols(function, self.scope, mark)
        self._accesses: dict[tuple[Op, str], list[Access]] = {}
        self.by_dimensions = tuple(map(self.accesses.by_dimensions, self.accesses.all))
        """The accesses, by the dimensions that their subscripts hide."""
        for access in self.by_dimensions:
            self._accesses.setdefault((access.op, access.kind), []).append(access)
            self.symbols.add(access.relation.params)
        self._binders = {v: op for op in self.accesses.domains for v in op.binds()}
        self.has_open_sums = any(isinstance(op, affine.Parallel) and op.results for op in self.accesses.domains)
        """Whether something is combined in an order that is left open."""
        self._steps: dict[FlowNode, Meaning | UnknownError] = {}

    @property
    def outputs(self) -> dict[str, Buffer]:
        """The buffers that are seen when the function has returned, by what they are called in any function."""
        found = {self.key(b): b for b in self.storage.buffers if b.kind in ("argument", "global")}
        for k, value in enumerate(self.results):
            if isinstance(value.type, MemRefType):
                found[f"result{k}"] = self.storage.buffer(value)
        return found

    @property
    def results(self) -> tuple[Value, ...]:
        """What the function returns."""
        return next((op.values for op in self.function.body if isinstance(op, Return)), ())

    def key(self, buffer: Buffer) -> str:
        """What a buffer is called in any function."""
        if buffer.kind == "argument":
            return f"argument {self.function.args.index(buffer.root)}"
        return f"global {buffer.name}"

    def called(self, key: str) -> str:
        """What messages call the buffer of a key: by its name here, if it has one."""
        kind, _, number = key.partition(" ")
        return (kind == "argument" and self.function.args[int(number)].hint) or key

    def is_written(self, buffer: Buffer | None) -> bool:
        """Whether a function may write a buffer."""
        return any(
            a.kind == "write" and buffer is not None and self.storage.may_alias(a.buffer, buffer)
            for a in self.accesses.all
        )

    def elements(self, buffer: Buffer | None) -> Set:
        """All points of as many dimensions as a buffer has; without one, the only point of none."""
        rank = 0 if buffer is None else self.accesses.dimensions(buffer).rank
        return Set.universe(space_of([iterator(k) for k in range(rank)]))

    def form(self, node: FlowNode, depth: int = 3) -> object:
        """How a value is computed, as far as its operations show it."""
        match self.maker(node) if isinstance(node, Value) else None:
            case affine.Load(memref=source) | memref.Load(memref=source):
                buffer = self.storage.buffer(source)
                return buffer.kind if buffer.kind == "local" else self.key(buffer)
            case Op() as op if depth and not any(True for _ in op.blocks()):
                return type(op), getattr(op, "kind", ""), *(self.form(v, depth - 1) for v in op.reads())
        return ""

    def unknown(self) -> str:
        """Why nothing can be said of the function; empty if it consists of what is known here."""
        for op in walk(self.function):
            if op is self.function or isinstance(op, Return | memref.Dealloc | affine.Prefetch | memref.Prefetch):
                continue
            if effects(op).unknown:
                return f"what {op.name or 'an operation'} does is not known"
        lacking = (r for domain in self.accesses.domains.values() for r in domain.unknown)
        return next(lacking, next((r for access in self.by_dimensions for r in access.unknown), ""))

    def sizes(self, buffer: Buffer) -> object:
        """The sizes that subscripts of a buffer hide, by what symbols are called in any function."""
        chains = self.accesses.dimensions(buffer).chains
        return [[self.symbols.spelled(size) for size in chain] for chain in chains]

    def hidden(self, other: Func) -> dict[Value, tuple[Chain, ...]]:
        """The sizes that subscripts of its arguments hide, in the arguments of another function."""
        if len(other.args) != len(self.function.args):
            return {}
        new: dict[Value, Term] = dict(zip(self.function.args, other.args, strict=True))
        found: dict[Value, tuple[Chain, ...]] = {}
        for position, argument in enumerate(self.function.args):
            buffer = self.storage.buffer(argument) if isinstance(argument.type, MemRefType) else None
            if buffer is None or not self.accesses.dimensions(buffer).are_hidden:
                continue
            chains = self.accesses.dimensions(buffer).chains
            if all(value in new for chain in chains for size in chain for value in size.values()):
                renamed = (tuple(size.substitute(new) for size in chain) for chain in chains)
                found[other.args[position]] = tuple(renamed)
        return found

    def domain(self, node: FlowNode) -> Set | None:
        """The instances of a node, if they are limited: it may have fewer. Raises UnknownError."""
        match node:
            case Value():
                return self.points(self.around(node))
        return None

    def step(self, node: FlowNode) -> Meaning:
        """Where the value of a node comes from. Raises UnknownError, where it cannot be said."""
        found = self._steps.get(node)
        if found is None:
            try:
                found = self._step(node)
            except UnknownError as error:
                found = error
            self._steps[node] = found
        if isinstance(found, UnknownError):
            raise found.with_traceback(None)
        return found

    def _step(self, node: FlowNode) -> Meaning:
        match node:
            case Cell() | Undefined():
                return node
            case Final(buffer):
                return self._final(buffer)
            case Value():
                return self._value(node)

    def _read(self, read: Access) -> Cases:
        """What stored the element that is read in each iteration."""
        with unwarned():
            writers, live_in = self.flow.writers(read), self.flow.live_in(read)
        doubts = (*read.unknown, *(reason for w in writers for reason in w.unknown))
        if doubts or live_in is None:
            raise UnknownError(doubts[0] if doubts else "what a read sees is not known")
        with spending(BUDGET):
            # Each iteration reads one element, so that the iteration alone says which write it was.
            parts = [self._written(w.write, w.map.domain_factor_domain()) for w in writers if w.map is not None]
            if not live_in.is_empty():
                untouched = map_from(read.relation).range_map().intersect_domain(live_in)
                parts.append(self._before(read.buffer, untouched.domain_factor_domain()))
            return Cases(tuple((self.symbols.renamed(pairs), node) for pairs, node in parts))

    def _final(self, buffer: Buffer) -> Cases:
        writes = self.flow.final_writes(buffer)
        doubts = [r for write, _ in writes for r in self.accesses.by_dimensions(write).unknown]
        if doubts or any(write.buffer is not buffer for write, _ in writes):
            raise UnknownError(doubts[0] if doubts else f"{buffer.name} may be another buffer")
        with spending(BUDGET):
            parts = [self._written(write, pairs) for write, pairs in writes]
            untouched = self.elements(buffer)
            for _, pairs in writes:
                untouched = untouched.subtract(pairs.domain())
            parts.append(self._before(buffer, untouched.identity()))
            return Cases(tuple((self.symbols.renamed(pairs), node) for pairs, node in parts))

    def _before(self, buffer: Buffer, pairs: Map) -> tuple[Map, FlowNode]:
        """What was in a buffer before."""
        if buffer.kind == "local":
            return pairs, Undefined()
        return pairs, Cell(self.key(buffer))

    def _written(self, write: Access, pairs: Map) -> tuple[Map, FlowNode]:
        """What a write stores: pairs are from whatever to its iterations."""
        match write.op:
            case affine.Store(value=value) | memref.Store(value=value):
                return self.prefix(pairs, value), value
        raise UnknownError(f"what {write.op.name} writes is not followed")

    def _value(self, value: Value) -> Meaning:
        if value in self.function.args:
            if isinstance(value.type, IndexType):
                return self._number(value)
            return Computed(("argument", self.function.args.index(value)))
        if isinstance(value.type, IndexType) and (known := self._known_number(value)) is not None:
            return known
        match self.maker(value):
            case arith.Constant(value=number):
                return Computed(("constant", str(value.type), repr(number)))
            case affine.Load() | memref.Load() as op:
                (access,) = self._accesses[op, "read"]
                return self._read(access)
            case affine.For() | scf.For() as op if value in op.carried:
                return self._carried(op, op.carried.index(value))
            case affine.For() | scf.For() as op:
                return self._left(op, op.results.index(value))
            case affine.If() as op:
                return self._chosen(op, op.results.index(value))
            case None:
                raise UnknownError("a value is not followed")
            case op if is_pure(op) and not any(True for _ in op.blocks()):
                with spending(BUDGET):
                    return self._computed(op, value)
            case op:
                raise UnknownError(f"the result of {op.name} is not followed")

    def _computed(self, op: Op, value: Value) -> Computed:
        here = self._all(self.around(value))
        operands = tuple((self.prefix(here, v), v) for v in op.reads())
        return Computed((*signature(op), [*op.defines()].index(value)), operands, op)

    def _carried(self, op: affine.For | scf.For, k: int) -> Cases:
        """The value at the start in the first iteration; in others what the one before yielded."""
        inside = self.body(op)
        step = self._step_of(op, inside)
        with spending(BUDGET):
            points = self.points(inside)
            iv = Affine.of(inside.ivs[-1])
            moved = inside.relation((*map(Affine.of, inside.ivs[:-1]), iv - step))
            self.symbols.add(moved.params)
            before = self.symbols.renamed(map_from(moved)).intersect_range(points)
            first = points.subtract(before.domain()).identity()
            last = self._yielded(op.body)[k]
            return Cases(((self.prefix(first, op.inits[k]), op.inits[k]), (self.prefix(before, last), last)))

    def _left(self, op: affine.For | scf.For, k: int) -> Cases:
        """What the last iteration yielded; the value at the start where there is none."""
        inside = self.body(op)
        self._step_of(op, inside)
        with spending(BUDGET):
            outer = len(inside.ivs) - 1
            iterations = Map.from_range(self.points(inside)).move_dims(Dim.in_, 0, Dim.out, 0, outer)
            last = last_of(iterations)
            around = self.points(self.accesses.domains[op])
            none = around.subtract(last.domain()).identity()
            final = last.domain().identity().flat_range_product(last)
            value = self._yielded(op.body)[k]
            return Cases(((self.prefix(none, op.inits[k]), op.inits[k]), (self.prefix(final, value), value)))

    def _chosen(self, op: affine.If, k: int) -> Cases:
        parts = []
        for inside, block in self.scope.blocks(op, self.accesses.domains[op]):
            if inside.unknown:
                raise UnknownError(inside.unknown[0])
            value = self._yielded(block)[k]
            with spending(BUDGET):
                parts.append((self.prefix(self.points(inside).identity(), value), value))
        return Cases(tuple(parts))

    def _yielded(self, block: Block) -> tuple[Value, ...]:
        match block[-1] if block else None:
            case affine.Yield(values=values) | scf.Yield(values=values):
                return values
        raise UnknownError("a block does not yield what is asked for")

    def body(self, op: Op) -> Domain:
        ((inside, _),) = self.scope.blocks(op, self.accesses.domains[op])
        if inside.unknown:
            raise UnknownError(inside.unknown[0])
        return inside

    def _step_of(self, op: affine.For | scf.For, inside: Domain) -> int:
        if isinstance(op, affine.For):
            return op.step
        step, _ = self.scope.expr(Affine.of(op.step), inside)
        if not step.is_constant or op.iv.type != op.lower.type or not isinstance(op.iv.type, IndexType):
            raise UnknownError("the step of a loop is known only at run time")
        return step.constant

    def _known_number(self, value: Value) -> Number | None:
        """An index as an expression over the loops around and symbols; None where it is not one."""
        around = self.around(value)
        expr, domain = self.scope.value(value, around)
        return self._map(domain, expr) if domain.unknown == around.unknown else None

    def _number(self, value: Value) -> Number:
        return self._map(self.around(value), Affine.of(value))

    def _map(self, domain: Domain, expr: Affine) -> Number:
        with spending(BUDGET):
            return Number(self.number_map(domain, (expr,)))

    def number_map(self, domain: Domain, exprs: Sequence[Affine]) -> Map:
        """From the iterations of a domain to numbers."""
        relation = domain.relation(exprs)
        self.symbols.add(relation.params)
        return self.symbols.renamed(map_from(relation))

    def around(self, value: Value) -> Domain:
        """The iterations in which a value is defined."""
        if value in self.function.args:
            return self.scope.start
        maker = self.maker(value)
        if maker is None:
            raise UnknownError("where a value is defined is not known")
        return self.accesses.domains[maker] if value in maker.defines() else self.body(maker)

    def maker(self, value: Value) -> Op | None:
        """The operation that defines a value, for those after it or inside of it."""
        return self.scope.makers.get(value) or self._binders.get(value)

    def points(self, domain: Domain) -> Set:
        relation = domain.relation(())
        self.symbols.add(relation.params)
        return self.symbols.renamed(domain_of(relation))

    def _all(self, domain: Domain) -> Map:
        """From all points of as many dimensions as a domain has to themselves."""
        return Set.universe(self.points(domain).get_space()).identity()

    def prefix(self, pairs: Map, value: Value) -> Map:
        """Pairs with iterations that lead to the instances of a value that is known in them."""
        depth = len(self.around(value).ivs)
        return pairs.project_out(Dim.out, depth, pairs.dim(Dim.out) - depth)
