"""Two nests and what bears on their fusion, as a small function: what is found there holds in the whole one.

A nest that has taken in many others is as long as all of them, while a fusion with one more changes only what happens
to the few buffers that this one uses. Of the nest that it is fused into, the small function has the loops, and the
accesses to these buffers. All else is left out: it runs in the same order before and after, on memory of its own, and
depends on the rest only by what is loaded there. So each such load is shown to an observer, an array with an element
for each iteration; and what is stored there, but comes from elsewhere, is read from an array that may hold anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from affdsl.frozen import Frozen, FrozenValue
from affdsl.ir.core import UNTOUCHED, Block, Op
from affdsl.ir.dialects import affine, arith, memref
from affdsl.ir.dialects.func import Func, Module, Return
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import map_blocks, walk, with_fields
from affdsl.ir.types import INDEX, MemRefType, NumberType, UnrankedMemRefType
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.effects import effects, is_pure
from affdsl.passes.analysis.graph import MemRefDependenceGraph
from affdsl.passes.analysis.storage import storage_of
from affdsl.passes.proof.claims import Answer
from affdsl.passes.transforms.fuse.alike import Form, Memory, form_of
from affdsl.passes.transforms.fuse.private import PrivateBuffer
from affdsl.passes.transforms.fuse.slices import Slice

BUFFERS = (MemRefType, UnrankedMemRefType)
PLAIN = (
    affine.Load, affine.Store, affine.VectorLoad, affine.VectorStore, memref.Load, memref.Store, memref.Dim,
    memref.Dealloc, Return,
)  # fmt: skip
"""What may be done to a buffer here: nothing that gives it another name."""
MOST_NESTS = 8
"""Of more nests a function of their own is not made."""


class Focus(Frozen):
    """Two operations of the body of a function, and what bears on their fusion, as a function of its own.

    Attributes
    ----------
    graph
        Of the small function.
    source, sink
        The two operations there.
    function
        The whole function.
    whole
        The sink there.
    found, answers
        The slices and buffers that were found of small functions before, and whether fusions in them were legal.
    """

    graph: MemRefDependenceGraph
    source: Op
    sink: Op
    function: Func
    whole: Op
    found: Memory[tuple[Slice, tuple[PrivateBuffer, ...]]]
    answers: Memory[Answer]
    with_reasons: bool

    @cached_property
    def form(self) -> Form:
        """What the small function is, whatever its values are called."""
        return form_of(self.graph.function)

    def keep(self, question: object, answer: Answer) -> None:
        """Keep an answer for functions like the small one, if it is as good for them."""
        if answer.verdict == "proved" or not self.with_reasons:
            self.answers.keep(question, self.form, answer)

    def id(self, op: Op) -> int:
        """The number that the node of an operation of the small function has in a graph of the whole one."""
        return self.function.body.index(self.whole if op is self.sink else op)


class Touched(FrozenValue):
    """What an operation, with all inside of it, has to do with the buffers and values around it."""

    reads: frozenset[Value]
    writes: frozenset[Value]
    mentions: frozenset[Value]
    defines: frozenset[Value]

    @cached_property
    def buffers(self) -> frozenset[Value]:
        """Those that it reads, writes or frees."""
        return self.reads | self.writes

    def is_tied(self, other: Touched) -> bool:
        """Whether the two may have to stay in order."""
        return bool(
            self.writes & other.buffers
            or other.writes & self.buffers
            or self.defines & other.mentions
            or other.defines & self.mentions
        )


class Outline:
    """What each operation of the body of a function touches, kept while the others change."""

    def __init__(self, module: Module, *, with_reasons: bool = False) -> None:
        """`with_reasons` is whether each refusal is to say in its own words why."""
        self.module = module
        self.with_reasons = with_reasons
        self._touched: dict[Op, Touched] = {}
        self._current: Func | None = None
        self._places: dict[Op, int] = {}
        self._seen: set[Op] = set()
        self._makers: dict[Value, Op] = {}
        self._mentioning: dict[Value, list[Op]] = {}
        self._focuses: dict[tuple[Op, Op], Focus | None] = {}
        self._slices: Memory[tuple[Slice, tuple[PrivateBuffer, ...]]] = Memory()
        self._answers: Memory[Answer] = Memory()

    def touched(self, op: Op) -> Touched:
        """What an operation touches."""
        found = self._touched.get(op)
        if found is None:
            found = self._touched[op] = self._found(op)
        return found

    def _found(self, op: Op) -> Touched:
        own = effects(op)
        reads, writes, mentions = {*own.reads}, {*own.writes, *own.frees}, {*op.mentions()}
        if not op.block_fields:
            return Touched(frozenset(reads), frozenset(writes), frozenset(mentions), frozenset(op.defines()))
        made = {*op.binds()}
        for block in op.blocks():
            for inner in block:
                touched = self.touched(inner)
                reads |= touched.reads
                writes |= touched.writes
                mentions |= touched.mentions
                made |= touched.defines
        around = mentions - made
        return Touched(
            frozenset(reads & around), frozenset(writes & around), frozenset(around), frozenset(op.defines())
        )

    def _enter(self, function: Func) -> None:
        """Make a function the one that is looked at; of one like the last one only the operations that are new."""
        if function is self._current:
            return
        self._current, self._focuses = function, {}
        self._places = {op: place for place, op in enumerate(function.body)}
        for op in function.body:
            if op in self._seen:
                continue
            self._seen.add(op)
            touched = self.touched(op)
            self._makers.update(dict.fromkeys(touched.defines, op))
            for v in touched.mentions:
                self._mentioning.setdefault(v, []).append(op)

    def _with(self, values: Iterable[Value]) -> list[Op]:
        """The operations of the body that mention some values, in order."""
        found = {op for v in values for op in self._mentioning.get(v, ()) if op in self._places}
        return sorted(found, key=self._places.__getitem__)

    def sources(self, function: Func, sink: Op) -> list[Op]:
        """The operations before one that may store what it loads, the last ones first."""
        self._enter(function)
        loaded, last = self.touched(sink).reads, self._places[sink]
        before = [op for op in self._with(loaded) if self._places[op] < last]
        return [op for op in reversed(before) if self.touched(op).writes & loaded]

    def siblings(self, function: Func, sink: Op) -> list[Op]:
        """The loops that load from a buffer that one loads from, the last ones first."""
        self._enter(function)
        loaded = self.touched(sink).reads
        loops = [op for op in reversed(self._with(loaded)) if isinstance(op, affine.For | affine.Parallel)]
        return [op for op in loops if op is not sink and self.touched(op).reads & loaded]

    def focus(self, function: Func, source: Op, sink: Op) -> Focus | None:
        """Two operations, those between them that may have to stay behind one of them, and those that use what the
        first one stores; None where these are many, so that one graph of the whole function serves better."""
        self._enter(function)
        if (source, sink) not in self._focuses:
            self._focuses[source, sink] = self._new(function, source, sink)
        return self._focuses[source, sink]

    def _new(self, function: Func, source: Op, sink: Op) -> Focus | None:
        using = self._with(self.touched(source).writes)
        if _nests(using) > MOST_NESTS:
            return None
        nodes = self._nodes(function, source, sink, using)
        if _nests(nodes) > MOST_NESTS:
            return None
        shared = frozenset[Value]().union(*(self.touched(op).buffers for op in nodes if op is not sink))
        made = frozenset(v for op in nodes for v in self.touched(op).defines)
        shown = _shown(sink, shared, self.touched(sink).mentions & made, self) or _Shown(sink)
        small = self._function(function, nodes, {sink: shown.nest}, shown.arrays)
        graph = MemRefDependenceGraph(Dependences(small, self.module))
        return Focus(graph, source, shown.nest, function, sink, self._slices, self._answers, self.with_reasons)

    def _nodes(self, function: Func, source: Op, sink: Op, using: Sequence[Op]) -> list[Op]:
        """The operations that bear on what becomes of two, of which some use what the first one stores."""
        body = function.body
        first, last = sorted((self._places[source], self._places[sink]))
        between = body[first + 1 : last]
        kept = {source, sink, *self._reached(between, source), *self._reached(between[::-1], sink)}
        kept.update(op for op in using if not op.is_terminator)
        return sorted(kept, key=self._places.__getitem__)

    def _reached(self, ops: Block, start: Op) -> list[Op]:
        """The operations that are tied to one, or to one that is."""
        found = [start]
        for op in ops:
            if any(self.touched(op).is_tied(self.touched(each)) for each in found):
                found.append(op)
        return found

    def _function(self, function: Func, nodes: list[Op], small: dict[Op, Op], arrays: tuple[Value, ...]) -> Func:
        """Some operations as a function, with those that make what they need.

        What others of the whole function have to do with is returned, or given, so that all that is left in it counts.
        """
        kept, given = set(nodes), dict[Value, None]()
        waiting = [v for op in nodes for v in self.touched(small.get(op, op)).mentions]
        while waiting:
            value = waiting.pop()
            maker = self._makers.get(value)
            if maker not in self._places:
                maker = None
            if maker in kept or value in arrays:
                continue
            if maker is not None and (isinstance(maker, memref.Allocation) or is_pure(maker)):
                kept.add(maker)
                waiting += self.touched(maker).mentions
            else:
                given[value] = None
        made = {op.result for op in kept if isinstance(op, memref.Allocation)}
        makers = sorted(kept, key=self._places.__getitem__)
        left = tuple([v for op in makers for v in op.defines() if v in made and not kept.issuperset(self._with((v,)))])
        body = tuple([small.get(op, op) for op in makers])
        args, shapes = self._arguments(function, given)
        return with_fields(
            function, args=(*args, *arrays), body=(*body, Return(left)),
            shapes=(*shapes, *[None for _ in arrays]) if function.shapes else (),
            result_types=tuple([v.type for v in left]), argument_attributes=(), result_attributes=(), private=False,
            unsigned=frozenset(), unsigned_results=frozenset(),
        )  # fmt: skip

    def _arguments(
        self, function: Func, given: Mapping[Value, None]
    ) -> tuple[list[Value], list[tuple[Affine, ...] | None]]:
        """The arguments of a function that are needed, or of which something is known, with the other values that are
        given; and their shapes."""
        shape_of = dict(zip(function.args, function.shapes, strict=True)) if function.shapes else {}
        known = {v for c in function.assumes for v in c.values()}
        known.update(v for shape in shape_of.values() for e in shape or () for v in e.values())
        args = [v for v in function.args if v in given or v in known]
        args += [v for v in given if v not in function.args]
        return args, [shape_of.get(v) for v in args]


def _nests(ops: Iterable[Op]) -> int:
    return sum(bool(op.block_fields) for op in ops)


def outline_of(function: Func, module: Module, *, with_reasons: bool = False) -> Outline | None:
    """The outline of a function; None where its buffers have several names, or something may do anything to them."""
    for op in walk(function):
        if op is function or op.is_terminator:
            continue
        named = [v for v in op.defines() if isinstance(v.type, BUFFERS)]
        if named and not isinstance(op, memref.Allocation):
            return None
        if not isinstance(op, PLAIN) and any(isinstance(v.type, BUFFERS) for v in op.mentions()):
            return None
        if effects(op).unknown:
            return None
    storage = storage_of(function, module)
    arguments = [b for b in storage.buffers if b.kind != "local"]
    return None if any(storage.others(b) for b in arguments) else Outline(module, with_reasons=with_reasons)


class _Shown(Frozen):
    """A nest with what it does to some buffers alone, and the arrays that stand for all else."""

    nest: Op
    arrays: tuple[Value, ...] = ()


def _shown(nest: Op, shared: frozenset[Value], used: frozenset[Value], outline: Outline) -> _Shown | None:
    """What a nest does to some buffers, and that it uses some values around it.

    None where nothing can be left out, or not all of it is followed here.
    """
    try:
        within = _Within(shared)
        left = within.block((nest,), ())
        if not within.left_out or not left:
            return None
        (small,) = left
        lost = used - outline.touched(small).mentions
        small = within.using(small, sorted(lost, key=lambda v: v.id))
    except _NotFollowedError:
        return None
    return _Shown(small, tuple(within.arrays))


class _NotFollowedError(Exception):
    """A nest does something of which it is not known what to leave out."""


class _Within:
    """Blocks with what they do to some buffers alone."""

    def __init__(self, shared: frozenset[Value]) -> None:
        self.shared = shared
        self.arrays: list[Value] = []
        self.left_out = False
        self._needed: set[Value] = set()

    def block(self, block: Block, around: tuple[Affine, ...]) -> Block:
        """A block: `around` counts the iterations of the loops around it."""
        found: list[Op] = []
        for op in reversed(block):  # who uses a value comes before who makes it
            kept = self._kept(op, around)
            found += reversed(kept)
            self._needed.update(v for each in kept for v in each.mentions())
        return tuple(reversed(found))

    def using(self, nest: Op, values: Sequence[Value]) -> Op:
        """A nest that does something with some values around it, too."""
        around = _counted(nest)
        shown: list[Op] = []
        for v in values:
            if isinstance(v.type, BUFFERS):
                axis = arith.Constant(Value(INDEX), 0)
                shown += [axis, memref.Dim(Value(INDEX), v, axis.result)]
            else:
                shown.append(affine.Store(v, self._array(v, around), around))
        return map_blocks(nest, lambda block: (*shown, *block)) if shown else nest

    def _kept(self, op: Op, around: tuple[Affine, ...]) -> Block:
        if op.memory is UNTOUCHED and not op.block_fields:
            return () if self._needed.isdisjoint(op.defines()) else (op,)
        match op:
            case affine.For(results=()) | affine.Parallel(results=()) | affine.If(results=()):
                return self._nested(op, (*around, *_counted(op)))
            case affine.Load(memref=array) if array in self.shared:
                return op, affine.Store(op.result, self._array(op.result, around), around)
            case affine.Store(memref=array) if array in self.shared:
                return (op,)
            case affine.Load() | memref.Load() if op.memref not in self.shared:
                self.left_out = True
                if op.result not in self._needed:
                    return ()
                return (affine.Load(op.result, self._array(op.result, around), around),)
            case affine.Store() | memref.Store() | memref.Allocation() | memref.Dealloc():
                if not self.shared.isdisjoint(op.mentions()):
                    raise _NotFollowedError
                self.left_out = True
                return ()
        raise _NotFollowedError

    def _nested(self, op: Op, around: tuple[Affine, ...]) -> Block:
        found = map_blocks(op, lambda block: self.block(block, around))
        return (found,) if any(any(block) for block in found.blocks()) else ()

    def _array(self, like: Value, around: tuple[Affine, ...]) -> Value:
        """An array with an element for each iteration."""
        if not isinstance(like.type, NumberType):
            raise _NotFollowedError
        self.arrays.append(Value(MemRefType((None,) * len(around), like.type), like.hint))
        return self.arrays[-1]


def _counted(op: Op) -> tuple[Affine, ...]:
    """The induction variables of a loop from its lower bounds on, which never are negative."""
    match op:
        case affine.For():
            bounds = [(op.iv, op.lower)]
        case affine.Parallel():
            bounds = [*zip(op.ivs, op.lower, strict=True)]
        case _:
            return ()
    if any(len(lower) != 1 for _, lower in bounds):
        raise _NotFollowedError
    return tuple([iv - low for iv, (low,) in bounds])
