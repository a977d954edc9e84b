"""Which reads of a local buffer see what a loop writes to it, and from which iteration of the loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from affdsl.frozen import Frozen
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func, memref
from affdsl.ir.expr import Value
from affdsl.ir.messages import op_name
from affdsl.ir.traverse import walk
from affdsl.ir.types import MemRefType, UnrankedMemRefType
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.dependence import Dependence, Dependences, Distance, Witness
from affdsl.passes.analysis.effects import effects
from affdsl.passes.analysis.flow import Flow
from affdsl.passes.analysis.polyhedral import Dim, Map, Set, UnknownError, name_of, spending
from affdsl.passes.analysis.relations import BUDGET, at_depth, distances, domain_of, some_point
from affdsl.passes.legality.proposals import Proposal
from affdsl.passes.legality.refusal import IllegalTransform, Reason, refusal
from affdsl.passes.legality.words import access_name, iteration_name, name


class Seen(Frozen):
    """What one read sees of a buffer.

    Attributes
    ----------
    distance
        By how much larger the induction variable is in a read of the loop than in the iteration that wrote what it
        sees; None if it sees nothing that the same run of the loop wrote, and for a read that is not in the loop.
    writer
        A write that it sees, of the loop if there is one.
    sees_loop
        Whether it may see something that the loop wrote: a read in the loop, that the same run of it wrote.
    sees_others
        Whether it may see something else, also what nobody wrote.
    others_first_only
        Whether it may see something else only in the first iteration of the loop.
    loop_last_only
        Whether of what the loop wrote it sees only what the last iteration wrote.
    earlier_not_run
        Whether it sees what was there before the loop only where that does not run; asked of a read that stands behind
        the loop, in the same block or further inside.
    """

    read: Access
    distance: Distance | None = None
    writer: Access | None = None
    sees_loop: bool = False
    sees_others: bool = False
    others_first_only: bool = True
    loop_last_only: bool = True
    earlier_not_run: bool = True


class BufferFlow:
    """The flow through one buffer that a function makes, as one loop has it.

    Parameters
    ----------
    buffer
        The memref that memref.alloc or memref.alloca gives.
    what
        What is asked for, as refusals say it: "privatize t in loop i".

    Raises
    ------
    IllegalTransform
        If the function does not make the buffer, makes it in the loop, returns it, or hands it to what is not known.
    """

    def __init__(
        self, function: func.Func, buffer: Value, loop: affine.For, what: str, module: func.Module | None
    ) -> None:
        self.function = function
        self.loop = loop
        self.what = what
        self.dependences = Dependences(function, module)
        accesses = self.dependences.accesses
        found = next((op for op in walk(function) if isinstance(op, memref.Allocation) and op.result is buffer), None)
        if found is None:
            raise refusal(function, what, self._not_made(buffer))
        self.made: memref.Allocation = found
        self.buffer = accesses.storage.buffer(buffer)
        self.level = len(accesses.domains[loop].ivs) + 1
        self.inside = frozenset(walk(loop))
        if self.buffer.is_returned:
            raise refusal(found, what, f"@{function.symbol} returns {name(buffer)}, so that its caller sees it")
        if self.buffer.escapes:
            raise refusal(found, what, f"{self._holder()} gets hold of {name(buffer)}: what it does to it is not known")
        if found in self.inside:
            raise refusal(found, what, f"each iteration of {name(loop.iv)} makes its own {name(buffer)} already")
        self.users = tuple(op for op in walk(function) if op is not found and self._uses(op))
        self.accesses = [a for a in accesses.all if a.buffer is self.buffer and not isinstance(a.op, memref.Dealloc)]
        freed = next((op for op in self.users if isinstance(op, memref.Dealloc) and op in self.inside), None)
        if freed is not None:
            raise refusal(freed, what, f"the loop {name(loop.iv)} gives {name(buffer)} back")
        self._flow = Flow(self.dependences)

    def seen_inside(self) -> Iterator[Seen]:
        """What each read in the loop sees."""
        return (self._known(a, self._seen_inside) for a in self.accesses if a.kind == "read" and a.op in self.inside)

    def seen_outside(self) -> Iterator[Seen]:
        """What each read sees that is not in the loop."""
        return (
            self._known(a, self._seen_outside) for a in self.accesses if a.kind == "read" and a.op not in self.inside
        )

    def refusal(self, seen: Seen, reason: str, candidates: Sequence[Proposal] = ()) -> IllegalTransform:
        """The error that says what a read sees, with two iterations that show it where they are known."""

        def shown() -> Reason:
            found = self._example(seen)
            if found is None:
                return Reason(reason)
            return Reason(f"{reason},\n{_said(*found)}" if found[1].source else reason, *found)

        return refusal(seen.read.op, self.what, shown, candidates=candidates)

    def _example(self, seen: Seen) -> tuple[Dependence, Witness] | None:
        """A write whose value a read sees, not in the same iteration of the loop, and the two iterations."""
        read = seen.read
        last = next((each for each in self._flow.writers(read) if each.write is seen.writer and each.is_exact), None)
        if last is None or last.map is None:
            return None
        try:
            with spending(BUDGET):
                pairs = last.map
                if last.write.op in self.inside and read.op in self.inside:
                    run = pairs
                    for k in range(self.level - 1):
                        run = run.equate(Dim.in_, k, Dim.out, k)
                    same = run.equate(Dim.in_, self.level - 1, Dim.out, self.level - 1)
                    others = run.subtract(same)
                    pairs = pairs.subtract(same) if others.is_empty() else others
                found = some_point(pairs.wrap())
        except UnknownError:
            return None
        if found is None:
            return None
        params, point = found
        written, common = len(last.write.ivs), self.dependences.common(last.write, read)
        sink, source = point[: len(read.ivs)], point[len(point) - written :]
        depth = next((k for k in range(common) if source[k] != sink[k]), common) + 1
        dependence = self.dependences.at(last.write, read, depth)
        if dependence is None:
            return None
        every = {v for access in self.dependences.compared for v in access.relation.params}
        names = {name_of(v): v.hint or name_of(v) for v in every}
        element = self.dependences.accesses.by_dimensions(read).element(
            point[len(read.ivs) : len(point) - written], {v: params.get(name_of(v), 0) for v in every}
        )
        return dependence, Witness({names[each]: n for each, n in params.items()}, source, sink, element)

    def _known(self, read: Access, find: Callable[[Access], Seen]) -> Seen:
        try:
            return find(read)
        except UnknownError as error:
            raise refusal(read.op, self.what, f"what {access_name(read)} sees is not known: {error}") from error

    def _seen_inside(self, read: Access) -> Seen:
        others, writer = self._nobody(read), None
        by_loop: Map | None = None
        for last in self._flow.writers(read):
            if last.map is None:
                raise UnknownError("; ".join(last.unknown))
            rest = last.map.domain()
            with spending(BUDGET):
                if last.write.op in self.inside:
                    same_run = last.map
                    for k in range(self.level - 1):
                        same_run = same_run.equate(Dim.in_, k, Dim.out, k)
                    rest = last.map.subtract(same_run).domain()
                    if not same_run.is_empty():
                        pairs = self._in_loop(same_run.domain_factor_domain().reverse())
                        by_loop = pairs if by_loop is None else by_loop.union(pairs)
                        writer = last.write
                if not rest.is_empty():
                    others = rest if others is None else others.union(rest)
                    writer = writer or last.write
        with spending(BUDGET):
            distance = None if by_loop is None else Distance(*distances(by_loop, self.level)[-1])
            first_only = others is None or self._iterations(others.unwrap().domain()).is_subset(self._firsts())
        return Seen(read, distance, writer, by_loop is not None, others is not None, others_first_only=bool(first_only))

    def _seen_outside(self, read: Access) -> Seen:
        accesses, order = self.dependences.accesses, self.dependences.accesses.order
        earlier, writer = self._nobody(read), None
        sees_loop, sees_others, last_only, not_run = False, earlier is not None, True, True
        for last in self._flow.writers(read):
            if last.map is None:
                raise UnknownError("; ".join(last.unknown))
            if last.write.op in self.inside:
                sees_loop, writer = True, last.write
                with spending(BUDGET):
                    last_only = last_only and bool(self._iterations(last.map.range()).is_subset(self._lasts()))
                continue
            sees_others = True
            if order[last.write.op] < order[self.loop]:
                with spending(BUDGET):
                    earlier = last.map.domain() if earlier is None else earlier.union(last.map.domain())
        around = accesses.domains[self.loop].ivs
        if earlier is not None and (order[read.op] < order[self.loop] or read.ivs[: len(around)] != around):
            not_run = False
        elif earlier is not None:
            with spending(BUDGET):
                every, _ = self._pairs
                runs = every.project_out(Dim.set, self.level - 1, 1)
                reads = earlier.unwrap().domain()
                reads = reads.project_out(Dim.set, self.level - 1, reads.dim(Dim.set) - self.level + 1)
                not_run = bool(reads.is_disjoint(runs))
        return Seen(read, None, writer, sees_loop, sees_others, loop_last_only=last_only, earlier_not_run=not_run)

    def _nobody(self, read: Access) -> Set | None:
        """The iterations of a read, with elements, in which it sees what nobody wrote; None if there are none."""
        found = self._flow.live_in(read)
        if found is None:
            raise UnknownError("isl needs too long")
        return None if found.is_empty() else found

    def _in_loop(self, pairs: Map) -> Map:
        """From iterations of the loop to later ones, instead of those of statements in it."""
        pairs = pairs.project_out(Dim.out, self.level, pairs.dim(Dim.out) - self.level)
        return pairs.project_out(Dim.in_, self.level, pairs.dim(Dim.in_) - self.level)

    def _iterations(self, points: Set) -> Set:
        """The iterations of the loop of which some iterations of a statement in it are a part."""
        return points.project_out(Dim.set, self.level, points.dim(Dim.set) - self.level)

    def _firsts(self) -> Set:
        """The iterations of the loop that are the first one of a run of it."""
        every, pairs = self._pairs
        return every.subtract(pairs.range())

    def _lasts(self) -> Set:
        """The iterations of the loop that are the last one of a run of it."""
        every, pairs = self._pairs
        return every.subtract(pairs.domain())

    @cached_property
    def _pairs(self) -> tuple[Set, Map]:
        """The iterations of the loop, and from each to those that come after it in the same run."""
        accesses = self.dependences.accesses
        ((domain, _),) = accesses.scope.blocks(self.loop, accesses.domains[self.loop])
        if not domain.is_exact:
            raise UnknownError("; ".join(domain.unknown))
        every = domain_of(domain.relation(()))
        return every, at_depth(Map.from_domain_and_range(every, every), self.level, self.level)

    def _uses(self, op: Op) -> bool:
        return any(
            isinstance(v.type, MemRefType | UnrankedMemRefType)
            and self.dependences.accesses.storage.buffer(v) is self.buffer
            for v in op.reads()
        )

    def _not_made(self, buffer: Value) -> str:
        if buffer in self.function.args:
            return f"{name(buffer)} is an argument: the caller sees what is in it"
        made = [name(op.result) for op in walk(self.function) if isinstance(op, memref.Allocation)]
        known = f"the buffers that it makes are {', '.join(made)}" if made else "it makes none"
        return f"@{self.function.symbol} has no allocation of {name(buffer)}; {known}"

    def _holder(self) -> str:
        """What hands the buffer on."""
        users = [op for op in walk(self.function) if self._uses(op)]
        calls = [f"a call of @{op.callee}" for op in users if isinstance(op, func.Call)]
        others = [op_name(op) for op in users if effects(op).unknown]
        return next(iter((*calls, *others)), "an operation")


def _said(dependence: Dependence, witness: Witness) -> str:
    """Two iterations in words: "e.g. i = 0 writes t[3], which i = 3 reads (for n = 4)"."""
    element = f"{dependence.source.buffer.name}[{', '.join(map(str, witness.element))}]"
    first = iteration_name(dependence.source.ivs, witness.source)
    second = f", which {iteration_name(dependence.sink.ivs, witness.sink)} reads" if witness.sink else ""
    sizes = ", ".join(f"{each} = {number}" for each, number in witness.params.items())
    return f"e.g. {first} writes {element}{second}{f' (for {sizes})' if sizes else ''}"
