"""Chooses which nests run as one: rows that roll instead of arrays, nothing computed twice, inner loops as vectors.

The choice is made of steps, each of which is legal or is not taken: `inline` where an element is read in one place,
`fuse` of loops over the same numbers, `fuse` at the least shift that is legal, and `fold` of what is left in between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice, product

from affdsl.frozen import Frozen
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, math, memref
from affdsl.ir.dialects import complex as complex_
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import MemRefType
from affdsl.passes.analysis.dependence import unwarned
from affdsl.passes.analysis.graph import MemRefDependenceGraph
from affdsl.passes.legality.proposals import Proposal, Step
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.optimize.figures import Goal, figures_of
from affdsl.passes.optimize.program import Loop, Program, is_innermost, iv_of

MOST_CANDIDATES = 4
"""How many of the ways that a refusal names are tried."""
SLOW = 8
"""How many additions a quotient, or a function such as exp, takes the time of."""


class Decision(Frozen):
    """What came of two nests, or of one buffer.

    Attributes
    ----------
    what
        The loops, or the buffer.
    owner
        The loop in whose body the loops stand; None for the body of the function.
    before
        The program that it was asked of.
    taken
        What was done, each step with the program after it; nothing if it was refused or did not pay.
    reason
        Why not, then.
    """

    what: tuple[Value, ...]
    before: Program
    taken: tuple[tuple[Step, Program], ...] = ()
    reason: str = ""
    owner: Value | None = None


class Fusion(Frozen):
    """A function with nests that run as one.

    Attributes
    ----------
    start
        The program before all steps.
    program
        The program after them.
    decisions
        What came of each two nests and of each buffer, in order.
    steps
        The steps, each with the program before it.
    buffers
        What the program makes, with what is left of it in the end: None where that is nothing.
    """

    start: Program
    program: Program
    decisions: tuple[Decision, ...]
    steps: tuple[tuple[Step, Program], ...]
    buffers: Mapping[Value, Value | None]
    goal: Goal


def fusion(function: Func, module: Module | None = None, goal: Goal | None = None) -> Fusion:
    """The nests of a function run as one where that is legal and pays, in all of its blocks.

        for i: for j: b[i, j] = P(i, j)                    for i: { if ..: for j: b[i mod 3, j] = P(i, j)
        for k: for m: C(b[k - 1, m], .., b[k + 1, m])  ->           if ..: for m: C(b[(i - 2) mod 3, m], ..) }

    Parameters
    ----------
    module
        What the function stands in: it shows what calls do, and which arguments are one buffer.
    goal
        The sizes and the machine that it is done for.

    >>> from affdsl.mlir.readers import parse
    >>> f = parse('''func.func @f(%A: memref<900x900xf32>, %B: memref<900x900xf32>) {
    ...   %t = memref.alloc() : memref<900x900xf32>
    ...   affine.for %i = 0 to 900 { affine.for %j = 0 to 900 {
    ...     %a = affine.load %A[%i, %j] : memref<900x900xf32>
    ...     %b = arith.mulf %a, %a : f32
    ...     affine.store %b, %t[%i, %j] : memref<900x900xf32>
    ...   } }
    ...   affine.for %k = 1 to 900 { affine.for %m = 0 to 900 {
    ...     %a = affine.load %t[%k - 1, %m] : memref<900x900xf32>
    ...     %b = affine.load %t[%k, %m] : memref<900x900xf32>
    ...     %c = arith.addf %a, %b : f32
    ...     affine.store %c, %B[%k, %m] : memref<900x900xf32>
    ...   } }
    ...   return
    ... }''').functions[0]
    >>> [str(step) for step, _ in fusion(f).steps]
    ['fuse(func, i, k, shift=0, guarded=True)', 'fold(func, t, 0, 2)']
    """
    start = Program(function, Module((function,)) if module is None else module)
    choice = _Choice(start, Goal() if goal is None else goal)
    with unwarned():  # what the analysis gives up on stays as it is
        choice.inline()
        for owner in [*_owners(start), None]:
            choice.fuse_in(owner)
        choice.fold()
    return Fusion(start, choice.program, tuple(choice.decisions), tuple(choice.steps), choice.buffers, choice.goal)


Rule = Callable[[Loop, Loop], Decision]
"""What comes of two loops of a block."""


@dataclass(eq=False)
class _Choice:
    """The program as it is after the steps that were chosen so far."""

    program: Program
    goal: Goal
    decisions: list[Decision] = field(default_factory=list)
    steps: list[tuple[Step, Program]] = field(default_factory=list)
    buffers: dict[Value, Value | None] = field(default_factory=dict)
    _tried: set[tuple[object, ...]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.buffers = {made.result: made.result for made in self.program.buffers}

    def _take(self, decision: Decision) -> bool:
        """Keep a decision, and do what it says; whether that is something."""
        self.decisions.append(decision)
        for step, after in decision.taken:
            self.steps.append((step, self.program))
            self.buffers = {old: _left(now, self.program, after) for old, now in self.buffers.items()}
            self.program = after
        return bool(decision.taken)

    def inline(self) -> None:
        """Compute in place what is read in one place only, or costs less than to store it and to load it."""
        for made in self.program.buffers[::-1]:
            self._take(self._inlined(made))

    def _is_new(self, what: str, *ops: Op) -> bool:
        key = (what, *ops)
        is_new = key not in self._tried
        self._tried.add(key)
        return is_new

    def _inlined(self, made: memref.Allocation) -> Decision:
        buffer = made.result
        accesses = self.program.accesses(buffer)
        reads = [a for a in accesses if a.kind == "read" and isinstance(a.op, affine.Load)]
        places = {(a.domain.loops[-1:], tuple(map(str, a.op.index))) for a in reads if isinstance(a.op, affine.Load)}
        written = Counter(a.domain.loops[-1] for a in accesses if a.kind == "write" and a.domain.loops)
        cost = sum(_operations(loop) * count for loop, count in written.items())
        near = len(places) > len({loops for loops, _ in places})
        if not places or near or len(places) * cost > cost + 1 + len(places):
            reason = f"it is read in {len(places)} places, and {cost} operations make an element"
            return Decision((buffer,), self.program, reason=reason)
        for read in reads:
            if not {v for e in getattr(read.op, "index", ()) for v in e.values()}.issuperset(read.ivs):
                return Decision((buffer,), self.program, reason="the same element is read again and again")
        return self._step((buffer,), Step("inline", (buffer,)))

    def _step(self, what: tuple[Value, ...], *steps: Step) -> Decision:
        """The decision to do some steps, if they are legal."""
        try:
            return Decision(what, self.program, self._done(*steps))
        except IllegalTransform as refusal:
            return Decision(what, self.program, reason=refusal.reason.text)

    def _done(self, *steps: Step) -> tuple[tuple[Step, Program], ...]:
        """Some steps, each with the program after it. Raises IllegalTransform."""
        programs = accumulate(steps, Program.after, initial=self.program)
        return tuple(zip(steps, islice(programs, 1, None), strict=True))

    def fuse_in(self, owner: Value | None) -> None:
        """Fuse the loops of a block: first those over the same numbers, as deep as they are alike, then at a shift."""
        self._fuse_alike(owner)
        self.inline()
        self._fuse_pairs(owner, self._rolled, siblings=False)
        self._fuse_pairs(owner, self._computed, siblings=False)

    def _fuse_alike(self, owner: Value | None) -> None:
        for iv in self._fuse_pairs(owner, self._alike, siblings=True):
            self._fuse_alike(iv)

    def _fuse_pairs(self, owner: Value | None, rule: Rule, *, siblings: bool) -> tuple[Value, ...]:
        """Fuse the loops of a block two by two, and give those that run what others did before."""
        found: dict[Value, None] = {}
        while (pair := self._fused_pair(owner, rule, siblings=siblings)) is not None:
            first, second = pair
            found.pop(second, None)
            found[first] = None
        return tuple(found)

    def _fused_pair(self, owner: Value | None, rule: Rule, *, siblings: bool) -> tuple[Value, Value] | None:
        """Two loops of a block that were made one; None if there are no more."""
        if sum(isinstance(op, Loop) for op in self.program.block(owner)) < 2:
            return None
        graph = self.program.graph(owner)
        for first, second in _related(graph, siblings=siblings):
            if not self._is_new(rule.__name__, first, second):
                continue
            if self._take(replace(rule(first, second), owner=owner)):
                return iv_of(first), iv_of(second)
        return None

    def _alike(self, first: Loop, second: Loop) -> Decision:
        """Two loops over the same numbers become one, if both, or none of them, can run as vectors."""
        what = (iv_of(first), iv_of(second))
        if type(first) is not type(second):
            return Decision(what, self.program, reason="only one of them runs its iterations in any order")
        if _points(first) != _points(second):
            return Decision(what, self.program, reason="they do not run over the same numbers")
        found = self._step(what, Step("fuse", what))
        return self._unless_slower(found, first, second) if found.taken else found

    def _unless_slower(self, found: Decision, first: Loop, second: Loop) -> Decision:
        """The decision, unless a loop that ran in any order would not do so any more."""
        parallel = [self.program.is_parallel(iv_of(loop)) for loop in (first, second)]
        if not any(parallel) or not (all(parallel) or is_innermost(first) or is_innermost(second)):
            return found
        if found.taken[-1][1].is_parallel(iv_of(first)):
            return found
        lost = first if parallel[0] else second
        return Decision(found.what, self.program, reason=f"{iv_of(lost).hint} would no longer run in any order")

    def _rolled(self, first: Loop, second: Loop) -> Decision:
        """Two loops become one, the second one late by as little as is legal."""
        what = (iv_of(first), iv_of(second))
        if isinstance(first, affine.Parallel) or isinstance(second, affine.Parallel):
            return Decision(what, self.program, reason="rows cannot roll where iterations run in any order")
        if is_innermost(first) or is_innermost(second):
            return Decision(what, self.program, reason="a loop that runs as vectors would carry rows from turn to turn")
        if set(first.upper) & set(second.lower) or set(second.upper) & set(first.lower):
            return Decision(what, self.program, reason="they have no iteration in common")
        step = Step("fuse", what, (("shift", 0), ("guarded", True)))
        try:
            return self._unless_small(Decision(what, self.program, self._done(step)), first, second)
        except IllegalTransform as refusal:
            tried = (_proposed(step, proposal) for proposal in islice(refusal.candidates, MOST_CANDIDATES))
            decisions = (self._step(what, *steps) for steps in (*tried, _swapped(first, step)) if steps)
            unfused = Decision(what, self.program, reason=refusal.reason.text)
            found = next((each for each in decisions if each.taken and self._keeps_strides(each)), unfused)
            return self._unless_small(found, first, second) if found.taken else found

    def _keeps_strides(self, found: Decision) -> bool:
        """Whether as many accesses go along rows as before."""
        return found.taken[-1][1].contiguous >= self.program.contiguous

    def _unless_small(self, found: Decision, first: Loop, second: Loop) -> Decision:
        """The decision, unless loops would no longer run in any order to save what costs nothing."""
        if not all(self.program.is_parallel(iv_of(loop)) for loop in (first, second)):
            return found
        if found.taken[-1][1].is_parallel(iv_of(first)):
            return found
        graph = self.program.graph(self.program.owner(first))
        figures = figures_of(self.program, graph, graph.node(first), graph.node(second), self.goal)
        if figures.apart > self.goal.caches[0]:
            return found
        reason = (
            f"the {figures.apart} bytes that both touch stay in the nearest cache, "
            f"and {iv_of(first).hint} would no longer run in any order"
        )
        return Decision(found.what, self.program, reason=reason)

    def _computed(self, first: Loop, second: Loop) -> Decision:
        """What the second loop reads is computed in one of its iterations, or in an inner loop, where that is cheap."""
        what = (iv_of(first), iv_of(second))
        graph = self.program.graph(self.program.owner(first))
        source, sink = graph.node(first), graph.node(second)
        shared = [b for b in source.writes if b in sink.reads and b.kind == "local"]
        if len(shared) != 1 or len(source.writes) != 1:
            return Decision(what, self.program, reason=self._last_reason(what))
        figures = figures_of(self.program, graph, source, sink, self.goal)
        for evaluation in reversed(figures.evaluations):
            loop = figures.pair.loops[evaluation.depth - 1]
            if not isinstance(loop, affine.For) or is_innermost(loop) or evaluation.storage_reduction <= 1:
                continue
            if evaluation.additional_compute > self.goal.tolerance:
                break
            found = self._step(what, Step("compute_at", (shared[0].root, loop.iv)))
            if found.taken:
                return found
        return Decision(what, self.program, reason=self._last_reason(what))

    def _last_reason(self, what: tuple[Value, ...]) -> str:
        """Why two loops were not fused before."""
        return next((each.reason for each in reversed(self.decisions) if each.what == what), "")

    def fold(self) -> None:
        """Keep of each buffer only what is still needed, along the dimensions that vectors do not run along."""
        for buffer in [made.result for made in self.program.buffers]:
            for axis in self._foldable(buffer):
                self._take(self._folded(buffer, axis))

    def _foldable(self, buffer: Value) -> Iterator[int]:
        """The dimensions of a buffer that one nest uses, along which no innermost loop runs."""
        type = buffer.type
        accesses = self.program.accesses(buffer)
        if not isinstance(type, MemRefType) or not accesses:
            return
        loops = {a.domain.loops[a.buffer.loops] if len(a.domain.loops) > a.buffer.loops else None for a in accesses}
        if len(loops) != 1 or None in loops or not all(isinstance(a.op, affine.Access) for a in accesses):
            return
        inner = {iv for loop in self.program.loops if is_innermost(loop) for iv in loop.binds()}
        for axis in range(type.rank):
            used = {v for a in accesses if isinstance(a.op, affine.Access) for v in a.op.index[axis].values()}
            if not used & inner and used:
                yield axis

    def _folded(self, buffer: Value, axis: int) -> Decision:
        """The fewest elements along a dimension."""
        step = Step("fold", (buffer, axis, 1))
        try:
            return Decision((buffer,), self.program, self._done(step))
        except IllegalTransform as refusal:
            least = next((each.steps for each in refusal.candidates), ())
            found = self._step((buffer,), *least)
            return found if found.taken else Decision((buffer,), self.program, reason=refusal.reason.text)


def _operations(loop: Op) -> int:
    """What an iteration of an innermost loop computes, in additions."""
    computed = (op for op in walk(loop) if op is not loop and not op.is_terminator)
    return sum(
        SLOW if _is_slow(op) else 1
        for op in computed
        if not isinstance(op, arith.Constant | complex_.Constant | affine.Store)
    )


def _is_slow(op: Op) -> bool:
    is_function = isinstance(op, math.Unary) or (isinstance(op, complex_.Unary) and op.kind not in ("neg", "conj"))
    return is_function or (isinstance(op, arith.Binary | complex_.Binary) and op.kind in ("divf", "remf", "div", "pow"))


def _left(buffer: Value | None, before: Program, after: Program) -> Value | None:
    """What is left of a buffer after a step: itself, or a new one of its name; None if that is nothing."""
    values = [made.result for made in after.buffers]
    if buffer is None or buffer in values:
        return buffer
    old = {made.result for made in before.buffers}
    return next((each for each in values if each not in old and each.hint == buffer.hint), None)


def _points(loop: Loop) -> tuple[object, ...]:
    """What a loop runs over: equal for loops over the same numbers."""
    return loop.lower, loop.upper, loop.step if isinstance(loop, affine.For) else loop.steps


def _related(graph: MemRefDependenceGraph, *, siblings: bool) -> Iterator[tuple[Loop, Loop]]:
    """The loops of a block of which one reads what the other stores, or both the same; near ones first."""
    nodes = [node for node in graph.nodes if isinstance(node.op, Loop)]
    pairs = [(a, b) for a, b in product(nodes, nodes) if a.id < b.id]
    for source, sink in sorted(pairs, key=lambda pair: (pair[1].id - pair[0].id, pair[0].id)):
        if source in graph.producers(sink) or (siblings and source in graph.siblings(sink)):
            assert isinstance(source.op, Loop)
            assert isinstance(sink.op, Loop)
            yield source.op, sink.op


def _swapped(first: affine.For, step: Step) -> tuple[Step, ...]:
    """The steps that fuse with the inner loop of the first one, where that is perfectly nested."""
    match first.body:
        case (affine.For(iv=inner),):
            return Step("interchange", (first.iv, inner)), Step("fuse", (inner, *step.arguments[1:]), step.options)
    return ()


def _proposed(step: Step, proposal: Proposal) -> tuple[Step, ...]:
    """The steps of a proposal, and the step that was refused after them if it is asked again."""
    if proposal.assumes:
        return ()
    again = Step(step.verb, step.arguments, tuple({**dict(step.options), **dict(proposal.options)}.items()))
    return (*proposal.steps, again) if proposal.asks_again else proposal.steps


def _owners(program: Program) -> list[Value]:
    """The induction variables of the loops with several loops in their bodies, inner ones first."""
    several = [iv_of(op) for op in program.loops if sum(isinstance(each, Loop) for each in op.body) > 1]
    return several[::-1]
