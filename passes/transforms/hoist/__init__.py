"""Moves what is the same in every iteration of an affine loop to a place before the loop."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.frozen import Frozen
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, func, scf, vector
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Constraint, Value
from affdsl.ir.messages import op_name, shown
from affdsl.ir.traverse import holders, kept, map_blocks, rewrite, walk, with_fields
from affdsl.ir.types import FloatType, IndexType, IntegerType
from affdsl.passes.analysis.access import Access, Accesses, accesses_of, met
from affdsl.passes.analysis.effects import NONE, effects
from affdsl.passes.analysis.polyhedral import Dim, UnknownError, name_of, spending
from affdsl.passes.analysis.relations import (
    BUDGET,
    elements,
    outer_distances,
    remembered,
    same_element,
    some_point,
    together,
)
from affdsl.passes.analysis.summary import Summaries
from affdsl.passes.analysis.trip_count import trip_count
from affdsl.passes.legality.refusal import Reason, refusal
from affdsl.passes.legality.words import iteration_name, name
from affdsl.passes.transforms.hoist.faults import Faults


def hoist(function: func.Func, iv: Value, *, module: func.Module | None = None) -> func.Func:
    """The function with what is the same in every iteration of one loop done once before it.

        for i: { x = S; T(i, x) }      ->      x = S; for i: T(i, x)

    The rules are those of `affine_loop_invariant_code_motion`; what moves is what stands right in the body of the loop.
    A load that may lie outside of its array where the loop does not run is done under the condition that it runs.

    Raises
    ------
    ValueError
        If no affine.for or scf.for of the function has this induction variable.
    IllegalTransform
        If nothing can be moved: with the reason for each operation of the body.
    """
    loop = next((op for op in holders(function) if isinstance(op, affine.For | scf.For) and op.iv is iv), None)
    if loop is None:
        raise ValueError(f"{shown(iv)} is no induction variable of an affine.for or scf.for of @{function.symbol}")

    def out(*, explains: bool) -> tuple[list[_Part], _Part, list[str]]:
        motion = Motion(function, module, explains=explains, guards=True)
        return motion.out_of(loop, motion.parts_as_they_are(loop.body))

    before, after, _ = out(explains=False)
    if not before:

        def why() -> Reason:
            return Reason("\n".join(out(explains=True)[2]) or "its body is empty")

        raise refusal(loop, f"hoist anything out of loop {name(iv)}", why)
    new = (*(part.op for part in before), after.op)
    return rewrite(function, lambda op: new if op is loop or getattr(op, "iv", None) is iv else None)


class _Part(Frozen):
    """An operation, with everything that it and its blocks access."""

    op: Op
    accesses: tuple[Access, ...] = ()


class Motion:
    """Moves code in one function, of which it knows the accesses as they were before anything moved.

    It `explains` why something stays by two iterations, where somebody reads that; it `guards` loads by whether the
    loop runs.
    """

    def __init__(
        self, function: func.Func, module: func.Module | None, *, explains: bool = False, guards: bool = False
    ) -> None:
        self.accesses = accesses_of(function, module)
        self._faults = Faults(self.accesses, module)
        self._summaries = Summaries(module)
        self._at: dict[Op, tuple[Access, ...]] = {}
        self._explains, self._guards = explains, guards
        for access in self.accesses.all:
            self._at[access.op] = (*self._at.get(access.op, ()), access)

    def block(self, block: Block) -> Block:
        """A block with what can be moved within it before the loops of which it was a part."""
        return kept(block, (part.op for part in self._parts(block)))

    def parts_as_they_are(self, block: Block) -> list[_Part]:
        """The operations of a block, where nothing moves inside of them."""
        return [_Part(op, tuple(a for inner in walk(op) for a in self._at.get(inner, ()))) for op in block]

    def _parts(self, block: Block) -> list[_Part]:
        found: list[_Part] = []
        for op in block:
            inside: list[_Part] = []

            def on_block(inner: Block, inside: list[_Part] = inside) -> Block:
                parts = self._parts(inner)
                inside += parts
                return tuple(part.op for part in parts)

            if isinstance(op, affine.For):
                before, after, _ = self.out_of(op, self._parts(op.body))
                found += [*before, after]
            else:
                new = map_blocks(op, on_block)
                found.append(_Part(new, (*self._at.get(op, ()), *(a for part in inside for a in part.accesses))))
        return found

    def out_of(self, loop: affine.For | scf.For, body: Sequence[_Part]) -> tuple[list[_Part], _Part, list[str]]:
        """What comes out of a loop, the loop that stays, and why each operation that stays does so."""
        varying: set[Value] = {loop.iv, *loop.carried}
        everything = [access for part in body for access in part.accesses]
        runs: bool | None = None
        moved: list[_Part] = []
        kept: list[_Part] = []
        reasons: list[str] = []
        stops = ""
        for part in body:
            reason = self._why_not(part, loop, varying, everything)
            if not reason and not self._faults.are_impossible(part.op, loop):
                if runs is None:
                    runs = self._runs(loop)
                guarded = _guarded(part.op, loop) if self._guards and not runs else None
                if guarded is not None:
                    part = _Part(guarded, part.accesses)
                elif not runs:
                    reason = "the loop may not run, and what it does may show or fail"
                elif stops:
                    reason = f"{stops}, which comes first, may not return"
            if reason:
                kept.append(part)
                varying.update(part.op.defines())
                if not part.op.is_terminator:
                    reasons.append(f"{_named(part.op)} stays: {reason}")
            else:
                moved.append(part)
            stops = stops or self._stopping(part.op)
        if not moved:
            return [], _Part(self._with_body(loop, kept), tuple(everything)), reasons
        rest = tuple(access for part in kept for access in part.accesses)
        return moved, _Part(self._with_body(loop, kept), rest), reasons

    def _with_body(self, loop: affine.For | scf.For, parts: Sequence[_Part]) -> affine.For | scf.For:
        return map_blocks(loop, lambda _: tuple(part.op for part in parts))

    def _runs(self, loop: affine.For | scf.For) -> bool:
        """Whether a loop certainly runs wherever it is reached."""
        if isinstance(loop, scf.For):
            return False
        if all(e.is_constant for e in (*loop.lower, *loop.upper)):
            return max(e.constant for e in loop.lower) < min(e.constant for e in loop.upper)
        return trip_count(loop, loop.iv, self.accesses).runs

    def _stopping(self, op: Op) -> str:
        """What inside of an operation may go on for ever, or end the program; empty if nothing does."""
        for inner in walk(op):
            if isinstance(inner, func.Call) and self._summaries.of(inner.callee).anything:
                return f"the call of {inner.callee}"
            if isinstance(inner, Opaque | scf.While) and not inner.is_terminator:
                return op_name(inner)
        return ""

    def _why_not(
        self, part: _Part, loop: affine.For | scf.For, varying: set[Value], everything: Sequence[Access]
    ) -> str:
        """Why an operation is not the same in each iteration, or is in the way of another; empty if it may move."""
        if part.op.is_terminator:
            return "it ends the body"
        for inner in walk(part.op):
            if effects(inner) != NONE and not isinstance(inner, affine.Access | vector.MaskedLoad):
                return f"{op_name(inner)} is not moved"
            used = next((v for v in inner.mentions() if v in varying), None)
            if used is not None:
                return f"it uses {shown(used)}, which the loop defines"
        around = len(self.accesses.domains[loop].ivs)
        own = set(part.accesses)
        for mine in part.accesses:
            for other in everything:
                if "write" not in (mine.kind, other.kind) or (other in own and mine.kind == other.kind):
                    continue
                if may_meet(self.accesses, mine, other, around):
                    of_what = mine.buffer.name
                    said = f"it {mine.kind}s elements of {of_what} that {_named(other.op)} {other.kind}s"
                    return f"{said}, {self._meeting(mine, other, around) or 'or may'}"
        return ""

    def _meeting(self, a: Access, b: Access, around: int) -> str:
        """Two iterations in which two accesses touch one element; empty where none are known, or nobody reads it."""
        a, b = met(a, b)
        if not self._explains or a.buffer is not b.buffer or not (a.is_exact and b.is_exact):
            return ""
        try:
            with spending(BUDGET):
                pairs = same_element(a.relation, b.relation)
                for k in range(around):
                    pairs = pairs.equate(Dim.in_, k, Dim.out, k)
                found = some_point(elements(a.relation, b.relation, pairs).wrap())
        except UnknownError:
            return ""
        if found is None:
            return ""
        params, point = found
        first, both = len(a.ivs), len(a.ivs) + len(b.ivs)
        symbols = {name_of(v): v for access in (a, b) for v in access.relation.params}
        numbers = {symbols[each]: number for each, number in params.items()}
        element = f"{a.buffer.name}[{', '.join(map(str, a.element(point[both:], numbers)))}]"
        sizes = ", ".join(f"{name(v)} = {number}" for v, number in numbers.items())
        at = dict.fromkeys((iteration_name(a.ivs, point[:first]), iteration_name(b.ivs, point[first:both])))
        where = " and ".join(at)
        return f"e.g. {element} in {where}{f' (for {sizes})' if sizes else ''}"


def _guarded(load: Op, loop: affine.For | scf.For) -> affine.If | None:
    """The load of a number that is done where a loop runs; elsewhere nobody needs it. None for other operations."""
    if not isinstance(load, affine.Load) or not isinstance(loop, affine.For):
        return None
    if not isinstance(type := load.result.type, FloatType | IntegerType | IndexType):
        return None
    runs = tuple(Constraint(upper - lower - 1) for upper in loop.upper for lower in loop.lower)
    again = with_fields(load, result=Value(type))
    none = arith.Constant(Value(type), 0.0 if isinstance(type, FloatType) else 0)
    then, otherwise = ((op, affine.Yield((op.result,))) for op in (again, none))
    return affine.If(runs, then, otherwise, (load.result,), location=load.location)


def may_meet(of: Accesses, a: Access, b: Access, around: int) -> bool:
    """Whether two accesses may touch one element in the same iteration of the outermost `around` loops around both."""
    if a.buffer is not b.buffer:
        return of.storage.may_alias(a.buffer, b.buffer)
    a, b = met(a, b)

    first, second = together(a.relation, b.relation)

    def find() -> bool:
        if around and not outer_distances(first, second, around + 1, around):
            return False
        with spending(BUDGET):
            return not same_element(first, second, around).is_empty()

    try:
        return remembered(("meet", first, second, around), find)
    except UnknownError:
        return True


def _named(op: Op) -> str:
    """What messages call an operation: what it is, of which buffer, and where."""
    buffer = getattr(op, "memref", None)
    of = f" of {shown(buffer)}" if isinstance(buffer, Value) else ""
    return f"{op_name(op)}{of}{f' at {op.location}' if op.location is not None else ''}"
