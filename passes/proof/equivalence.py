"""Whether two functions leave the same values: their dataflow is compared, instance by instance, for all sizes.

The method is that of Verdoolaege, Janssens and Bruynooghe, "Equivalence checking of static affine programs using
widening to handle recurrences" (ACM TOPLAS 34(3), 2012). A *claim* says that two nodes have equal values in some pairs
of instances. It holds if the operations that compute them are the same and claims about their operands hold. A claim
may be used while it is being proved, since what it rests on was computed earlier. Where that would never end, as in a
recurrence, the claim is made wider, to all pairs in the affine hull, and proved as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import process_time

from affdsl.ir.core import Op
from affdsl.ir.dialects import arith, memref
from affdsl.ir.expr import Value
from affdsl.passes.analysis.polyhedral import Map, Set, UnknownError, spending
from affdsl.passes.analysis.relations import some_point
from affdsl.passes.analysis.storage import Buffer
from affdsl.passes.proof.claims import Answer, DiffersError, Equality, parts_of, require_among, simpler, wider
from affdsl.passes.proof.dataflow import BUDGET, Dataflow
from affdsl.passes.proof.nodes import Cases, Cell, Computed, Final, FlowNode, Meaning, Number, Undefined
from affdsl.passes.proof.sums import Sum, matched, sum_of

PATIENCE = 20
"""For so many seconds of the processor claims are proved: most functions need less than one."""
FEW = 50
"""A claim of more pieces may take longer than that."""
MOST_WIDENINGS = 4
"""So many times the claim about two nodes is made wider."""
COMMUTATIVE = frozenset(
    ("addf", "mulf", "addi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui", "maximumf", "minimumf")
)
DIVISIONS = frozenset(("divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi"))
"""They fail where the divisor is zero."""


@dataclass(eq=False)
class Equivalence:
    """The claims that were made of two functions."""

    before: Dataflow
    after: Dataflow
    reassociated: bool = False
    assumed: dict[tuple[FlowNode, FlowNode], Map] = field(default_factory=dict)
    divided: dict[Value, Set] = field(default_factory=dict)
    _left: list[Equality] = field(default_factory=list)
    _end: float = 0.0
    _widened: dict[tuple[FlowNode, FlowNode], int] = field(default_factory=dict)

    def answer(self) -> Answer:
        """Whether all that the functions leave is the same."""
        doubts: list[Answer] = []
        try:
            self._left = self._goals()
        except UnknownError as error:
            return Answer("unknown", str(error))
        except DiffersError as error:
            return Answer("differs", str(error))
        self._end = process_time() + PATIENCE
        while self._left:
            claim = self._left.pop()
            try:
                self._require_time()
                self._prove(claim)
            except UnknownError as error:
                doubts.append(Answer("unknown", str(error)))
                break
            except DiffersError as error:
                sizes = self._sizes(error.pairs)
                doubts.append(Answer("differs" if claim.is_exact else "unknown", str(error), sizes))
                if claim.is_exact or len(doubts) > 3:
                    break
        if not doubts:
            return self._divisions()
        first = min(doubts, key=lambda doubt: doubt.verdict)  # "differs" comes first
        return Answer(first.verdict, first.why, tuple(sizes for doubt in doubts for sizes in doubt.sizes))

    def _goals(self) -> list[Equality]:
        """What must be equal in the end."""
        found: list[Equality] = []
        old, new = self.before.outputs, self.after.outputs
        if _shared(old) != _shared(new):
            raise UnknownError("two results are one buffer in one of the functions only")
        for key in dict.fromkeys((*old, *new)):
            ours, theirs = old.get(key), new.get(key)
            if key.startswith("result"):
                if ours is None or theirs is None:
                    raise UnknownError(f"{key} is a buffer in one of the functions only")
                position = int(key.removeprefix("result"))
                if not self._is_whole_or_same(self.before.results[position], self.after.results[position]):
                    raise UnknownError("which part of a buffer is returned is not followed")
                if "local" not in (ours.kind, theirs.kind) and self.before.key(ours) == self.after.key(theirs):
                    continue
                if ours.kind != "local" or theirs.kind != "local" or ours.loops or theirs.loops:
                    raise UnknownError("which buffer is returned is not followed")
                if ours.type != theirs.type or None in getattr(ours.type, "shape", (None,)):
                    raise UnknownError("the sizes of a returned buffer are not followed")
                if isinstance(self.after.maker(theirs.root), memref.Alloca):
                    raise UnknownError("a returned buffer does not outlive the function")
            elif not (self.before.is_written(ours) or self.after.is_written(theirs)):
                continue
            elif ours is None or theirs is None:
                raise UnknownError(f"{key} is used by one of the functions only")
            x, y = Final(ours), Final(theirs)
            with spending(BUDGET):
                found.append(Equality(x, y, self.before.elements(ours).identity()))
        pairs = zip(self.before.results, self.after.results, strict=True)
        for a, b in ((a, b) for a, b in pairs if f"result{self.before.results.index(a)}" not in old):
            with spending(BUDGET):
                once = self.before.points(self.before.scope.start).identity()
            found.append(Equality(a, b, once))
        return found

    def _is_whole_or_same(self, x: Value, y: Value) -> bool:
        """Whether two returned memrefs are whole buffers, or made of the same by the very same operations."""
        if self.before.storage.buffer(x).root is x and self.after.storage.buffer(y).root is y:
            return True
        waiting = [x]
        while waiting:
            value = waiting.pop()
            maker = self.before.maker(value)
            if maker is not self.after.maker(value) or (maker is None and value not in self.after.function.args):
                return False
            waiting += () if maker is None or isinstance(maker, memref.Allocation) else maker.mentions()
        return x is y

    def _prove(self, claim: Equality) -> None:
        """Make the claims on which a claim rests. Raises DiffersError, UnknownError."""
        if isinstance(claim.x, Undefined):
            return
        sums = self._sums(claim.x, claim.y)
        if sums is not None:
            if (new := self._not_yet_claimed(claim)) is not None:
                self._compare_sums(new, *sums)
            return
        ours, theirs = self.before.step(claim.x), self.after.step(claim.y)
        if _rests_on_others(ours) or _rests_on_others(theirs):
            new = self._not_yet_claimed(claim)
        else:
            new = claim
        if new is not None:
            with spending(BUDGET):
                self._compare(new, ours, theirs)

    def _not_yet_claimed(self, claim: Equality) -> Equality | None:
        """The part of a claim that nobody has made, from now on claimed; wider where it rests on itself."""
        x, y, is_exact = claim.x, claim.y, claim.is_exact
        known = self.assumed.get((x, y))
        if known is None:
            with spending(BUDGET):
                self.assumed[x, y] = simpler(claim.pairs)
            return claim
        domains = self.before.domain(x), self.after.domain(y)
        with spending(BUDGET):
            rest = claim.pairs.subtract(known)
            if rest.is_empty():
                return None
            if claim.rests_on_itself():
                is_exact = False
                times = self._widened[x, y] = self._widened.get((x, y), 0) + 1
                if times > MOST_WIDENINGS:
                    raise UnknownError("a recurrence is not followed")
                rest = wider(known.union(rest), *domains).subtract(known)
            rest = simpler(rest)
            self.assumed[x, y] = simpler(known.union(rest))
        return Equality(x, y, rest, is_exact, claim.around)

    def _compare(self, claim: Equality, ours: Meaning, theirs: Meaning) -> None:
        rest = claim.pairs
        if isinstance(ours, Undefined):
            return
        if isinstance(ours, Cases) or isinstance(theirs, Cases):
            # Both go on at once where both can, so that what was copied as often before as after is compared in step.
            before, after = parts_of(claim.x, ours, rest), parts_of(claim.y, theirs, rest.reverse())
            for old, x in before:
                part = rest.apply_domain(old)
                for new, y in after if not part.is_empty() else ():
                    self._push(claim, x, y, part.apply_range(new))
            return
        match ours, theirs:
            case Number(a), Number(b):
                same = a.apply_range(b.reverse())
                require_among(rest, same, "a number is another one")
            case Cell(key), Cell() if ours == theirs:
                require_among(
                    rest, Map.identity(rest.get_space()), f"another element of {self.after.called(key)} is read"
                )
            case Computed(), Computed() if ours.signature == theirs.signature:
                self._note_division(claim.y, theirs, rest)
                for (old, x), (new, y) in zip(ours.operands, self._in_order(ours, theirs), strict=True):
                    self._push(claim, x, y, rest.apply_domain(old).apply_range(new))
            case _:
                why = f"{_described(theirs, self.after)} stands for {_described(ours, self.before)}"
                raise DiffersError(why, rest)

    def _push(self, claim: Equality, x: FlowNode, y: FlowNode, pairs: Map) -> None:
        if not self._is_empty(pairs):
            self._left.append(Equality(x, y, pairs, claim.is_exact, claim))

    def _is_empty(self, pairs: Map) -> bool:
        """Whether there are no pairs. Many pieces are asked one by one: isl may think about hundreds for minutes."""
        if pairs.n_basic_map() <= FEW:
            return pairs.is_empty()
        for piece in pairs.get_basic_maps():
            self._require_time()
            if not piece.is_empty():
                return False
        return True

    def _require_time(self) -> None:
        if process_time() > self._end:
            raise UnknownError(f"it takes more than {PATIENCE} seconds")

    def _sums(self, x: FlowNode, y: FlowNode) -> tuple[Sum, Sum] | None:
        """Two values as sums, if the order of one is open and may be so; None if they are compared as they are made."""
        if not (self.before.has_open_sums or self.after.has_open_sums):
            return None
        if not isinstance(x, Value) or not isinstance(y, Value):
            return None
        ours, theirs = (sum_of(of, v, reassociated=self.reassociated) for of, v in ((self.before, x), (self.after, y)))
        if ours is None or theirs is None or ours.kind != theirs.kind or not (ours.is_open or theirs.is_open):
            return None
        return (ours, theirs) if self.reassociated or ours.is_open or not ours.rounds else None

    def _compare_sums(self, claim: Equality, ours: Sum, theirs: Sum) -> None:
        """Claim that two sums have equal terms. Which stand for which is a guess: what differs may be only that."""
        if len(ours.terms) != len(theirs.terms):
            raise UnknownError("a sum has other terms")
        for a, b in zip(ours.terms, theirs.terms, strict=True):
            with spending(BUDGET):
                pairs = matched(claim.pairs, a, b)
                pairs = self.after.prefix(self.before.prefix(pairs.reverse(), a.value).reverse(), b.value)
            if not pairs.is_empty():
                self._left.append(Equality(a.value, b.value, pairs, is_exact=False, around=claim))

    def _in_order(self, ours: Computed, theirs: Computed) -> tuple[tuple[Map, FlowNode], ...]:
        """The operands after, in the order of those before where it makes no difference."""
        match ours.op, theirs.op:
            case arith.Binary(kind=kind), arith.Binary() if kind in COMMUTATIVE:
                (_, a), (_, b) = ours.operands
                (_, c), (_, d) = theirs.operands
                forms = self.before.form(a), self.before.form(b), self.after.form(c), self.after.form(d)
                if forms[0] != forms[2] and forms[0] == forms[3] and forms[1] == forms[2]:
                    return theirs.operands[::-1]
        return theirs.operands

    def _note_division(self, y: FlowNode, theirs: Computed, pairs: Map) -> None:
        """Take down in which instances a division after is one before too, which does not fail."""
        if isinstance(y, Value) and _may_fail(theirs.op):
            done = pairs.range()
            self.divided[y] = self.divided[y].union(done) if y in self.divided else done

    def _divisions(self) -> Answer:
        """Whether all divisions after are such that were made before."""
        try:
            for op in self.after.accesses.domains:
                if not _may_fail(op):
                    continue
                (y,) = op.defines()
                all_of_them = self.after.domain(y)
                with spending(BUDGET):
                    if y not in self.divided or all_of_them is None or not all_of_them.is_subset(self.divided[y]):
                        return Answer("unknown", "a division is made that may not have been made before")
        except UnknownError as error:
            return Answer("unknown", str(error))
        return Answer("proved")

    def _sizes(self, pairs: Map | None) -> tuple[Mapping[str, int], ...]:
        """Numbers for the symbols with which there are some pairs."""
        if pairs is None:
            return ()
        try:
            with spending(BUDGET):
                point = some_point(pairs.wrap())
        except UnknownError:
            return ()
        return () if point is None else (point[0],)


def _shared(outputs: Mapping[str, Buffer]) -> dict[str, str]:
    """For each result that is a buffer, the first of them that is the same one."""
    results = {key: buffer for key, buffer in outputs.items() if key.startswith("result")}
    return {key: next(k for k, other in results.items() if other is buffer) for key, buffer in results.items()}


def _rests_on_others(step: Meaning) -> bool:
    """Whether a value is compared by comparing others."""
    return isinstance(step, Cases) or (isinstance(step, Computed) and bool(step.operands))


def _may_fail(op: Op | None) -> bool:
    return isinstance(op, arith.Binary) and op.kind in DIVISIONS


def _described(step: Meaning, of: Dataflow) -> str:
    match step:
        case Cell(key):
            return f"what was in {of.called(key)}"
        case Undefined():
            return "what nobody wrote"
        case Computed(op=Op() as op):
            return f"a result of {getattr(op, 'kind', '') or op.name}"
        case Computed(signature=("constant", _, number)):
            return f"the constant {number}"
        case Computed():
            return "an argument"
        case Number():
            return "an index"
    return "a value"
