"""Chains of operations that turn a value into another by combining it with others: what reductions are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set

from affdsl.frozen import FrozenValue
from affdsl.ir.blocks import yielded
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, math, scf, vector
from affdsl.ir.expr import Value
from affdsl.ir.traverse import users
from affdsl.passes.analysis.access import Accesses

COMBINERS = {
    "addf": ("addf", "both"), "subf": ("addf", "left"), "mulf": ("mulf", "both"),
    "maximumf": ("maximumf", "both"), "minimumf": ("minimumf", "both"),
    "maxnumf": ("maxnumf", "both"), "minnumf": ("minnumf", "both"),
    "addi": ("addi", "both"), "subi": ("addi", "left"), "muli": ("muli", "both"),
    "andi": ("andi", "both"), "ori": ("ori", "both"), "xori": ("xori", "both"),
    "maxsi": ("maxsi", "both"), "minsi": ("minsi", "both"), "maxui": ("maxui", "both"), "minui": ("minui", "both"),
}  # fmt: skip
"""The kind of reduction that each kind of arith is, and on which side the reduced number stands. s - x is s + (-x)."""

EXTREMES = {"sgt": "maxsi", "sge": "maxsi", "slt": "minsi", "sle": "minsi",
            "ugt": "maxui", "uge": "maxui", "ult": "minui", "ule": "minui"}  # fmt: skip
"""What `select(a <predicate> b, a, b)` is for integers. For floats it is none of them where a number is NaN."""

OPPOSITE = {"maxsi": "minsi", "minsi": "maxsi", "maxui": "minui", "minui": "maxui"}

MOST_STEPS = 200
"""A longer chain of operations is not followed."""


class Chain(FrozenValue):
    """How a value comes from another one: by steps, and by uses of the values between, each at a place of its own."""

    kinds: frozenset[str] = frozenset()
    steps: frozenset[Op] = frozenset()
    uses: frozenset[tuple[Value, Op, str]] = frozenset()

    @property
    def kind(self) -> str | None:
        """The kind of all steps; None if there is no step."""
        return next(iter(self.kinds), None)

    def also(self, *uses: tuple[Value, Op, str], kind: str | None = None, step: Op | None = None) -> Chain:
        kinds = self.kinds if kind is None else self.kinds | {kind}
        steps = self.steps if step is None else self.steps | {step}
        return Chain(kinds, steps, self.uses.union(uses))

    def __or__(self, other: Chain) -> Chain:
        return Chain(self.kinds | other.kinds, self.steps | other.steps, self.uses | other.uses)


class Chains:
    """Which values of a function are others combined with something that does not depend on them."""

    def __init__(self, of: Accesses) -> None:
        self.users = users(of.function)
        self.makers = of.scope.makers
        self.order = of.order

    def between(
        self, start: Value, end: Value, after: int, last: tuple[Op, str], within: Set[Op] | None = None
    ) -> Chain | None:
        """How end is start, combined by steps of one kind with what does not depend on start.

        Nothing but the chain, and the last operation at one place, uses start or what lies between; where `within` is
        given, none of these operations does. Everything between comes `after` a place in the text.
        """
        if within is None and self._leads_elsewhere(start, last[0]):
            return None
        found = _Search(self, start, after).to(end, 0)
        if found is None or len(found.kinds) > 1:
            return None
        found = found.also((end, *last))
        for value, uses in _counted(found).items():
            if Counter(op for op in self.users[value] if within is None or op in within) != uses:
                return None
        return found

    def may_start(self, end: Value) -> Set[Value]:
        """The values that `end` may come from: there is no chain to it from any other."""
        seen: set[Value] = set()
        waiting = [end]
        while waiting:
            value = waiting.pop()
            if value not in seen:
                seen.add(value)
                waiting += _made_of(self.makers.get(value), value)
        return seen

    def _leads_elsewhere(self, start: Value, last: Op) -> bool:
        """Whether a value is used, at first or as what it alone becomes, by what no chain has: of most, at once."""
        value, kinds = start, set[str]()
        while (used := self.users.get(value)) and used != [last]:
            if not all(map(_may_be_in_chain, used)):
                return True
            if len(used) > 1 or not isinstance(used[0], arith.Binary):
                return False
            combined, side = COMBINERS[used[0].kind]
            kinds.add(combined)
            if len(kinds) > 1 or (side == "left" and used[0].left is not value):
                return True
            value = used[0].result
        return not used


_LINKS = (math.Fma, vector.Fma, arith.Select, arith.Compare, affine.For, scf.For, affine.Yield, scf.Yield)
"""What a chain may go through, besides operations on two numbers."""


def _may_be_in_chain(op: Op) -> bool:
    return isinstance(op, _LINKS) or (isinstance(op, arith.Binary) and op.kind in COMBINERS)


def _made_of(op: Op | None, end: Value) -> tuple[Value, ...]:
    """What a chain may go through just before a result of an operation."""
    match op:
        case arith.Binary(kind=kind, left=left, right=right) if kind in COMBINERS:
            return left, right
        case math.Fma(c=c) | vector.Fma(c=c):
            return (c,)
        case arith.Select(if_true=first, if_false=second):
            return first, second
        case affine.If(then=then, orelse=orelse) | scf.If(then=then, orelse=orelse):
            return tuple(yielded(block)[op.results.index(end)] for block in (then, orelse))
        case affine.For() | scf.For():
            return (op.inits[op.results.index(end)],)
    return ()


def _counted(chain: Chain) -> dict[Value, Counter[Op]]:
    found: dict[Value, Counter[Op]] = {}
    for value, op, _ in chain.uses:
        found.setdefault(value, Counter())[op] += 1
    return found


class _Search:
    """Looks for one value in what another one is made of."""

    def __init__(self, chains: Chains, start: Value, after: int) -> None:
        self.chains = chains
        self.start = start
        self.after = after
        self.seen: dict[Value, Chain | None] = {}

    def to(self, end: Value, depth: int) -> Chain | None:
        """How a value comes from the start; None if it does not, or not so that it is a reduction."""
        if end is self.start:
            return Chain()
        if end not in self.seen:
            maker = self.chains.makers.get(end)
            known = maker is not None and self.chains.order[maker] > self.after and depth < MOST_STEPS
            self.seen[end] = self._made(maker, end, depth + 1) if known and maker is not None else None
        return self.seen[end]

    def _made(self, op: Op, end: Value, depth: int) -> Chain | None:
        match op:
            case arith.Binary(kind=kind, left=left, right=right) if kind in COMBINERS:
                combined, side = COMBINERS[kind]
                from_left, from_right = self.to(left, depth), self.to(right, depth)
                if from_left is not None and from_right is None:
                    return from_left.also((left, op, "left"), kind=combined, step=op)
                if from_right is not None and from_left is None and side == "both":
                    return from_right.also((right, op, "right"), kind=combined, step=op)
            case math.Fma(a=a, b=b, c=c) | vector.Fma(a=a, b=b, c=c):
                found = self.to(c, depth)
                if found is not None and self.to(a, depth) is None and self.to(b, depth) is None:
                    return found.also((c, op, "c"), kind="addf", step=op)
            case arith.Select():
                return self._extreme(op, depth) or self._either(op, depth)
            case (
                affine.If(results=results, then=then, orelse=orelse) | scf.If(results=results, then=then, orelse=orelse)
            ):
                return self._branches(results.index(end), (then, orelse), depth)
            case affine.For() | scf.For():
                return self._loop(op, op.results.index(end), depth)
        return None

    def _either(self, op: arith.Select, depth: int) -> Chain | None:
        """The start is combined with something, or with something else, or left as it is."""
        first, second = self.to(op.if_true, depth), self.to(op.if_false, depth)
        if first is None or second is None:
            return None
        return (first | second).also((op.if_true, op, "true"), (op.if_false, op, "false"))

    def _extreme(self, op: arith.Select, depth: int) -> Chain | None:
        """The larger or the smaller of two integers, written as a comparison and a choice."""
        compare = self.chains.makers.get(op.condition)
        if not isinstance(compare, arith.Compare) or compare.kind != "cmpi":
            return None
        kind = EXTREMES.get(compare.predicate)
        sides = (compare.left, compare.right)
        if kind is None or sides[0] is sides[1] or sides not in (
            (op.if_true, op.if_false), (op.if_false, op.if_true)
        ):  # fmt: skip
            return None
        if sides[0] is op.if_false:
            kind = OPPOSITE[kind]
        chains = [self.to(side, depth) for side in sides]
        if (chains[0] is None) == (chains[1] is None):
            return None
        value, found = next((v, c) for v, c in zip(sides, chains, strict=True) if c is not None)
        uses = ((value, compare, "compared"), (value, op, "chosen"), (op.condition, op, "condition"))
        return found.also(*uses, kind=kind, step=op)

    def _branches(self, position: int, blocks: tuple[Block, Block], depth: int) -> Chain | None:
        found = Chain()
        for block in blocks:
            last = block[-1]
            assert isinstance(last, affine.Yield | scf.Yield)
            value = last.values[position]
            branch = self.to(value, depth)
            if branch is None:
                return None
            found = (found | branch).also((value, last, f"{position}"))
        return found

    def _loop(self, op: affine.For | scf.For, position: int, depth: int) -> Chain | None:
        """An inner loop that begins with the start, or what it has become, and goes on with the reduction."""
        first, last = op.inits[position], op.body[-1]
        assert isinstance(last, affine.Yield | scf.Yield)
        before = self.to(first, depth)
        inner = _Search(self.chains, op.carried[position], self.chains.order[op])
        inside = inner.to(last.values[position], depth)
        if before is None or inside is None:
            return None
        return (before | inside).also((first, op, f"init {position}"), (last.values[position], last, f"{position}"))
