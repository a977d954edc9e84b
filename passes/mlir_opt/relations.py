"""What dependence checks and loop fusion look at, as the texts about MLIR show it: relations, tableaus and slices."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from affdsl.frozen import Frozen
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.messages import op_name
from affdsl.ir.traverse import walk
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependence, Dependences
from affdsl.passes.analysis.graph import MemRefDependenceGraph
from affdsl.passes.analysis.polyhedral import UnknownError
from affdsl.passes.analysis.tableau import (
    Tableau,
    composition_tableau,
    dependence_tableau,
    distance_tableau,
    domain_tableau,
    inverse_tableau,
    relation_tableau,
)
from affdsl.passes.mlir_opt.remarks import Remarks
from affdsl.passes.transforms.fuse.producers import Loop, Pair
from affdsl.passes.transforms.fuse.slices import Slice
from affdsl.shown import ShownAsText


class AccessRelation(Frozen, ShownAsText):
    """From the iterations of an access to the elements that it touches. Printed: for isl, and as a tableau.

    A tableau of more than 1000 systems raises UnknownError.
    """

    access: Access

    @property
    def relation(self) -> Tableau:
        """The counters of the loops, then the elements: what MLIR's texts call `srcRel` and `dstRel`."""
        return relation_tableau(self.access)

    @property
    def inverse(self) -> Tableau:
        """From elements to iterations: the same rows, with the elements first."""
        return inverse_tableau(self.access)

    @property
    def domain(self) -> Tableau:
        """The iterations; the elements are locals."""
        return domain_tableau(self.access)

    def __str__(self) -> str:
        try:
            shown = str(self.relation)
        except UnknownError as error:
            shown = str(error)
        return "\n".join((self.line(), *_unknown(self.access.unknown), shown))

    def line(self) -> str:
        """What it is, and the relation for isl."""
        try:
            return f"{_called(self.access)}: {self.access}"
        except UnknownError as error:
            return f"{_called(self.access)}: {error}"


class DependenceRelation(Frozen, ShownAsText):
    """From the iterations of a source to those of a sink that depend on it. Printed: for isl, and its tableaus.

    They raise ValueError where source and sink are two buffers that may be one, and UnknownError where isl needs too
    long, or where there are more than 1000 systems.
    """

    dependence: Dependence

    @property
    def composition(self) -> Tableau:
        """All iterations of both that touch a common element: the relation of the source, and the inverse of the
        sink's."""
        return composition_tableau(self.dependence.source, self.dependence.sink)

    @property
    def ordered(self) -> Tableau:
        """Those of them of which that of the sink runs later, at the depth of the dependence."""
        return dependence_tableau(self.dependence)

    @property
    def distances(self) -> Tableau:
        """By how much the counters of the sink are larger: what MLIR's texts call the dependence polyhedron."""
        return distance_tableau(self.dependence)

    def __str__(self) -> str:
        of = self.dependence
        try:
            shown = [str(of.map()), "composition:", str(self.composition), "in order:", str(self.ordered)]
            shown += ["distances:", str(self.distances)] if of.distances else []
        except (UnknownError, ValueError) as error:
            shown = [str(error)]
        return "\n".join((self.line(), *_unknown(of.unknown), *shown))

    def line(self) -> str:
        """What it is."""
        of = self.dependence
        return f"from {_called(of.source)} to {_called(of.sink)}: {of}"


class FusionSlice(Frozen, ShownAsText):
    """Which iterations of a producer's loops run in each iteration of a loop of its consumer.

    Attributes
    ----------
    source, sink
        The first loops of the two nests, by name.
    depth
        Below how many loops of the consumer, counted in its nest.
    slice
        The bounds of each loop of the producer over the loops of the consumer; None where they are not known.
    unknown
        Why not.
    """

    source: str
    sink: str
    depth: int
    slice: Slice | None
    unknown: str = ""

    def __str__(self) -> str:
        return f"slice of {self.source} for {self.sink} at depth {self.depth}:\n{self.slice or self.unknown}"


class Relations(ShownAsText):
    """The access relations of a function, its dependences as relations, and the slices of its producers.

    Printed, there is a line for each access and dependence, whose tableaus are printed by itself, and each slice.
    """

    def __init__(self, function: Func, module: Module | None = None) -> None:
        self._of = Dependences(function, module)
        self._module = Module((function,)) if module is None else module

    @cached_property
    def accesses(self) -> tuple[AccessRelation, ...]:
        """The relation of each access, in the order of the text."""
        return tuple(AccessRelation(access) for access in self._of.compared)

    @cached_property
    def dependences(self) -> tuple[DependenceRelation, ...]:
        """Each dependence, but those between two reads, in the order of `Dependences.all()`."""
        return tuple(DependenceRelation(each) for each in self._of.all())

    @cached_property
    def slices(self) -> tuple[FusionSlice, ...]:
        """Of each two nests of a block, of which the one stores what the other loads, the slice for each depth."""
        function = self._of.accesses.function
        blocks = (b for op in walk(function) for b in op.blocks() if sum(isinstance(o, Loop) for o in b) > 1)
        return tuple(each for b in blocks for each in self._slices(MemRefDependenceGraph(self._of, b)))

    def _slices(self, graph: MemRefDependenceGraph) -> Iterator[FusionSlice]:
        loops = [node for node in graph.nodes if isinstance(node.op, Loop)]
        for sink in loops:
            for source in graph.producers(sink):
                pair = Pair(graph, source, sink, self._module)
                if pair.obstacle or source not in loops:
                    continue
                names = source.ivs[0].hint, sink.ivs[0].hint
                for depth in range(1, len(pair.loops) + 1):
                    try:
                        yield FusionSlice(*names, depth, pair.slice(depth))
                    except UnknownError as error:
                        yield FusionSlice(*names, depth, None, str(error))

    def __str__(self) -> str:
        lines = [*(each.line() for each in self.accesses), *(each.line() for each in self.dependences)]
        return "\n".join((*lines, *map(str, self.slices)))


def relations_of(module: Module, context: Module | None = None) -> Iterator[Remarks]:
    """A remark for each access with its relation, and for each dependence that leads from it, as `Relations` has them.

    >>> from affdsl.mlir.readers import parse
    >>> module = parse('''func.func @f(%A: memref<?xf32>, %n: index) {
    ...     affine.for %i = 0 to %n { %a = affine.load %A[%i + 1] : memref<?xf32> }
    ...     return
    ... }''')
    >>> for remark in relations_of(module):
    ...     print(*remark.messages)
    affine.load of A in line 2: [n] -> { [i] -> [m0 = 1 + i] : 0 <= i < n }
     i  m0  n  const
     1  -1  0      1  = 0
     1   0  0      0  >= 0
    -1   0  1     -1  >= 0
    """
    for function in module.functions:
        if not function.external:
            found = Relations(function, context)
            from_each: dict[Access, list[str]] = {each.access: [str(each)] for each in found.accesses}
            for each in found.dependences:
                from_each[each.dependence.source].append(str(each))
            yield from (Remarks(access.op, "remark", tuple(said)) for access, said in from_each.items())


def _called(access: Access) -> str:
    where = "" if access.location is None else f" in line {access.location.line}"
    return f"{op_name(access.op)} of {access.buffer.name}{where}"


def _unknown(reasons: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"if any: {reason}" for reason in reasons)
