"""What stands behind loop fusion, loop by loop: mlir-opt's --test-loop-fusion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from affdsl.frozen import Frozen
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Constraint
from affdsl.ir.traverse import rewrite, way_to
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.graph import MemRefDependenceGraph
from affdsl.passes.analysis.polyhedral import UnknownError
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.mlir_opt.remarks import Remarks
from affdsl.passes.simplify.places import domain_of
from affdsl.passes.transforms.fuse.loops import fuse
from affdsl.passes.transforms.fuse.producers import Fused, Pair, Variant
from affdsl.passes.transforms.fuse.slices import Slice, needed_slice
from affdsl.passes.transforms.settle import settled


def loop_fusion(
    module: Module,
    *,
    test_loop_fusion_dependence_check: bool = False,
    test_loop_fusion_slice_computation: bool = False,
    test_loop_fusion_utilities: bool = False,
    context: Module | None = None,
) -> Module:
    """The same program, with `test_loop_fusion_utilities` with loops fused as long as that is legal for two of them.

    Each time that is the first two, outermost loops first: an iteration of the second one computes what it reads, as
    far out as that is legal, or runs with one of the first. mlir-opt fuses here without a proof.
    """
    if not test_loop_fusion_utilities:
        return module
    around = module if context is None else context

    def rule(op: Op) -> Op | None:
        if not isinstance(op, Func) or op.external:
            return None
        function = op
        while (made := _fused_once(function, around)) is not None:
            function = settled(made, function).function
        return None if function is op else function

    return rewrite(module, rule)


def remarks_on_fusion(
    module: Module,
    context: Module | None = None,
    *,
    test_loop_fusion_dependence_check: bool = False,
    test_loop_fusion_slice_computation: bool = False,
    test_loop_fusion_utilities: bool = False,
) -> Iterator[Remarks]:
    """What keeps each two loops of a block apart, and the slice of the one for each loop of the other.

    Loops are numbered among those as deep as they are. A slice has the maps of the lower and upper bounds of each loop
    of the source, over the loops of the target down to a depth, and the place where it would stand: how many loops are
    around, and how many operations before it. It is called incorrect where it names iterations that the source does
    not have: then fusion has to leave these out (`slice_of`).

    >>> from affdsl.mlir.readers import parse
    >>> module = parse('''func.func @f(%A: memref<9xf32>, %x: f32) {
    ...     affine.for %i = 0 to 9 { affine.store %x, %A[%i] : memref<9xf32> }
    ...     affine.for %k = 0 to 5 { %a = affine.load %A[%k + 1] : memref<9xf32> }
    ...     return
    ... }''')
    >>> for remark in remarks_on_fusion(module, test_loop_fusion_slice_computation=True):
    ...     print(*remark.messages[0].split(" : "), sep="\\n ")
    slice ( src loop: 0, dst loop: 1, depth: 1
     insert point: (1, 0) loop bounds: [(d0) -> (d0 + 1), (d0) -> (d0 + 2)] )
    Incorrect slice ( src loop: 1, dst loop: 0, depth: 1
     insert point: (1, 1) loop bounds: [(d0) -> (d0 - 1), (d0) -> (d0)] )
    """
    for function in module.functions:
        if function.external:
            continue
        of = _Loops(function, module if context is None else context)
        for two in of.pairs():
            if test_loop_fusion_dependence_check and of.are_kept_apart(two):
                where = f"loop nest {two.source_number} into loop nest {two.target_number} at depth {two.around}"
                yield Remarks(two.source, "remark", (f"block-level dependence preventing fusion of {where}",))
        for two in of.pairs():
            if test_loop_fusion_slice_computation and not of.are_kept_apart(two):
                yield from of.slices(two)


class _Two(Frozen):
    """Two loops of one block, their numbers among all loops as deep as they are, and how many loops are around."""

    block: Block
    source: affine.For
    target: affine.For
    source_number: int
    target_number: int
    around: int

    @property
    def is_forward(self) -> bool:
        """Whether the source runs after the target."""
        return self.source_number > self.target_number


class _Loops:
    """The loops of a function, and what is asked of two of them."""

    def __init__(self, function: Func, module: Module) -> None:
        self.function = function
        self.dependences = Dependences(function, module)
        self._levels: list[list[tuple[affine.For, Block]]] = []
        self._graphs: dict[int, MemRefDependenceGraph] = {}
        self._gather(function.body, 0)

    def _gather(self, block: Block, depth: int) -> None:
        for op in block:
            is_loop = isinstance(op, affine.For)
            if isinstance(op, affine.For):
                self._levels += [[]] if len(self._levels) == depth else []
                self._levels[depth].append((op, block))
            for inner in op.blocks():
                self._gather(inner, depth + is_loop)

    def pairs(self) -> Iterator[_Two]:
        """Every two loops of one block, in either order, those of the outermost blocks first."""
        for around, level in enumerate(self._levels):
            for (i, (source, block)), (k, (target, other)) in permutations(enumerate(level), 2):
                if block is other:
                    yield _Two(block, source, target, i, k, around)

    def graph(self, block: Block) -> MemRefDependenceGraph:
        """The graph of a block."""
        if id(block) not in self._graphs:
            self._graphs[id(block)] = MemRefDependenceGraph(self.dependences, block)
        return self._graphs[id(block)]

    def are_kept_apart(self, two: _Two) -> bool:
        """Whether the two loops can meet nowhere in their block."""
        graph = self.graph(two.block)
        return graph.insertion_point(graph.node(two.source.iv), graph.node(two.target.iv)) is None

    def slices(self, two: _Two) -> Iterator[Remarks]:
        """The slices of the source for each depth of the target."""
        links = tuple(self._links(two))
        around = self._around(two)
        loops = _loops_around([target for _, target in links], around) if links else []
        for depth, loop in enumerate(loops, two.around + 1):
            inner = loop.body[-1] if two.is_forward and loop.body[-1].is_terminator else loop.body[0]
            path = way_to(self.function, inner)
            said = f" src loop: {two.source_number}, dst loop: {two.target_number}, depth: {depth} : "
            try:
                slice = needed_slice(self.dependences.accesses, two.source, links, depth - two.around + around, path)
            except UnknownError as error:
                yield Remarks(two.target, "warning", (f"no slice ({said}{error})",))
                continue
            before = len([op for op in loop.body if not op.is_terminator]) if two.is_forward else 0
            bounds = "".join(f"[{lower}, {upper}] " for lower, upper in slice.maps())
            kind = "slice" if _is_within(slice, path) else "Incorrect slice"
            text = f"{kind} ({said}insert point: ({depth}, {before}) loop bounds: {bounds})"
            yield Remarks(two.target, "remark", (text,))

    def _around(self, two: _Two) -> int:
        """How many loops of all kinds are around the two."""
        return len(self.dependences.accesses.domains[two.source].ivs)

    def _links(self, two: _Two) -> Iterator[tuple[Access, Access]]:
        """The accesses of the two that touch a common element."""
        of, depth = self.dependences, self._around(two) + 1
        for a in of.accesses.inside(two.source):
            for b in of.accesses.inside(two.target):
                first, second = (b, a) if two.is_forward else (a, b)
                is_read = a.kind == b.kind == "read"
                if a.buffer is b.buffer and (is_read or of.at(first, second, depth) is not None):
                    yield a, b


def _loops_around(accesses: Sequence[Access], around: int) -> list[affine.For]:
    """The affine.for loops around all of some accesses, outermost first, inside of so many others."""
    found: list[affine.For] = []
    for level in zip(*(a.domain.loops[around:] for a in accesses), strict=False):
        if any(loop is not level[0] for loop in level) or not isinstance(level[0], affine.For):
            break
        found.append(level[0])
    return found


def _is_within(slice: Slice, path: Sequence[Op]) -> bool:
    """Whether all iterations of a slice that would stand at the end of a path are iterations of its loops."""
    context = domain_of(path)
    return all(
        any(context.proves(Constraint(low - own)) for low in each.lower)
        and any(context.proves(Constraint(own_end - high)) for high in each.upper)
        for each in slice.loops
        for own in each.loop.lower
        for own_end in each.loop.upper
    )


def _fused_once(function: Func, module: Module) -> Func | None:
    """A function where the first two loops are fused for which that is legal; None if there are none."""
    of = _Loops(function, module)
    for two in of.pairs():
        if two.is_forward or of.are_kept_apart(two):
            continue
        graph = of.graph(two.block)
        pair = Pair(graph, graph.node(two.source.iv), graph.node(two.target.iv), module)
        if not pair.obstacle:
            for depth in range(1, len(pair.loops) + 1):
                try:
                    made = pair.fused(pair.candidate(depth), Variant(is_removed=True, is_private=False))
                except UnknownError:
                    continue
                if isinstance(made, Fused):
                    return made.function
        try:
            return fuse(function, two.source.iv, two.target.iv, module=module)
        except IllegalTransform:
            continue
    return None
