"""Whether every access lies inside of its array for all sizes: proved, refuted by an example, or bound to some sizes.

Of each operation that touches elements (and of each view, copy and call) it is asked whether it leaves an array in some
iteration, for some sizes that the function's contract allows; and of each that divides by what is no number, whether it
divides by one below 1. There are five answers:

    proved        never
    violated      whenever it runs at all, or for all but finitely many sizes: the program is wrong
    conditional   for some sizes and not for others: the condition on the sizes is exact
    by numbers    a product or quotient of sizes stands in the way of a condition; each call decides, with its numbers
    unknown       what it touches, or whether it runs, is known only at run time; or isl needs too long
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from affdsl.frozen import Frozen, field, replace
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func, memref
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.location import Location
from affdsl.ir.types import IndexType
from affdsl.passes.analysis.bounds.claims import Claim, Demand, Key, Need
from affdsl.passes.analysis.bounds.demands import Demands
from affdsl.passes.analysis.bounds.numbers import ByNumbers
from affdsl.passes.analysis.bounds.obvious import facts_of, is_obvious
from affdsl.passes.analysis.bounds.outside import BrokenClaims, Example
from affdsl.passes.analysis.bounds.size_conditions import (
    alternatives,
    assumption,
    comparison,
    holds,
    in_python,
    involved,
    is_finite,
    opposite,
    sizes_where,
    written,
)
from affdsl.passes.analysis.dependence import AnalysisWarning
from affdsl.passes.analysis.polyhedral import Set, UnknownError, spending
from affdsl.passes.analysis.relations import BUDGET, Alternatives, remembered
from affdsl.shown import ShownAsText, html_table

Verdict = Literal["proved", "violated", "conditional", "by numbers", "unknown"]

INSTEAD = "an array that is written may not overlap another one of the call: copy one to an array of affdsl.alloc first"
MOST_CASES = 8
"""How many alternatives there are at most of what each call checks."""
MOST_DECIDED = 1000
"""Of how many calls with different numbers it is remembered what was found."""


class Finding(Frozen):
    """What is known of one operation.

    Attributes
    ----------
    demand
        The operation, and what it must keep to.
    verdict
        "proved", "violated", "conditional", "by numbers" or "unknown".
    against, safe
        Of a conditional one the sizes with which it leaves its array, and those with which it does not.
    condition
        The latter in words.
    example
        Of a violated or conditional one: sizes and an iteration with which it leaves its array, checked by evaluating.
    unknown
        Why nothing more is known, for all sizes.
    """

    demand: Demand
    verdict: Verdict
    against: Alternatives = ()
    safe: Alternatives = ()
    condition: str = ""
    example: Example | None = None
    unknown: tuple[str, ...] = ()
    outside: BrokenClaims | None = field(default=None, repr=False)

    @property
    def location(self) -> Location | None:
        """Where the operation was written."""
        return self.demand.op.location

    @property
    def access(self) -> str:
        """The access as a person writes it: `A[i + 1]`."""
        return _shown(self.demand)

    def explained(self) -> tuple[str, ...]:
        """What is wrong, an example with numbers, and what to do: a line each. Empty if there is no example."""
        if self.example is None or self.outside is None:
            return ()
        try:
            with spending(BUDGET):
                words = self.outside.words(self.access, self.example)
        except UnknownError:
            words = (f"{self.access} is out of bounds", f"for example it {self.example.said()}")
        lines = [*words, _remedy(self.demand, self.example)]
        if self.verdict == "violated" and self.safe:
            remedy, lines[-1] = lines[-1], f"it {_rule(self.demand)} {self.condition}"
            if assumption(self.safe):
                lines[-1] += f"; write {assumption(self.safe)} if the kernel is for such sizes only"
            lines += [remedy] if self.demand.is_apart else []
        return tuple(lines)

    def doubted(self) -> tuple[str, ...]:
        """That nobody knows whether two parts of an array overlap, why, and what to do: a line each."""
        first, second = self.demand.names
        return (
            f"{self.access} is given two parts of {_array(self.demand)}, {first} and {second}, and writes to one",
            f"whether they overlap is not known: {'; '.join(self.unknown)}",
            INSTEAD,
        )

    @property
    def rule(self) -> str:
        """What a conditional one says of the sizes: `is in bounds only where N >= 2`."""
        return f"{_rule(self.demand)} {self.condition}"

    def refusal(self, sizes: Mapping[Value, int]) -> str:
        """Why the function must not run with these sizes; "" if this operation allows them."""
        if self.verdict != "conditional" or not holds(self.against, sizes):
            return ""
        given = ", ".join(f"{v.hint} = {sizes[v]}" for v in _values(self.against))
        text = f"{_placed(self.demand)} {self.rule}, but {given}"
        try:
            example = None
            if self.outside is not None:
                with spending(BUDGET):
                    found = (self.outside.example(claim, sizes) for claim in self.outside.claims)
                    example = next((e for e in found if e is not None), None)
        except UnknownError:
            example = None
        if example is None:
            return text
        return f"{text}: it would {example.said(imperative=True)}{_advice(self.demand, example)}"

    @property
    def said(self) -> tuple[str, str, str]:
        """The access, with whether it reads or writes; the verdict; and why."""
        match self.verdict:
            case "proved":
                why = ""
            case "conditional" if self.demand.is_apart:
                why = f"apart where {self.condition}"
            case "conditional":
                why = f"{'defined' if self.demand.verb == 'divides' else 'inside'} where {self.condition}"
            case "violated":
                why = self.explained()[0]
            case "by numbers" | "unknown":
                why = "; ".join(self.unknown)
        verb = f"{self.demand.verb} " if self.demand.verb in ("reads", "writes") else ""
        return f"{verb}{self.access}", self.verdict, why

    def __str__(self) -> str:
        access, verdict, why = self.said
        return f"{access}: {verdict}" + (f": {why}" if why else "")


class Bounds(ShownAsText):
    """What is known of every access of one function."""

    def __init__(
        self,
        function: func.Func,
        module: func.Module | None = None,
        budget: int = BUDGET,
        needs: Mapping[str, Need] | None = None,
        downward: Mapping[Value, Affine] | None = None,
        *,
        kind: type[Demands] = Demands,
    ) -> None:
        self.function = function
        self.budget = budget
        self._decided: dict[tuple[int, ...], str] = {}
        if needs is None:
            needs = _needs(function, module, budget, kind)
        self._demands = kind(function, module, needs)
        sizes_of = self._demands.scope.sizes.items()
        self.extents = {(buffer, axis): s for (buffer, axis), s in sizes_of if buffer in function.args}
        """The sizes of array arguments of which the function says nothing, by argument and dimension."""
        self.sizes = (*(v for v in function.args if isinstance(v.type, IndexType)), *self.extents.values())
        """What a call decides: index arguments and such sizes."""
        demands = (replace(d, downward=downward) if downward else d for d in self._demands.demands)
        self.findings = tuple(map(self._judged, demands))
        indices = [v for v in function.args if isinstance(v.type, IndexType)]
        self._numbers = ByNumbers(function, module, needs, indices, budget)
        self._keys = self._by_numbers()

    def _by_numbers(self) -> frozenset[Key]:
        """Find out which of the unknown findings the numbers of a call decide."""
        hidden = [f for f in self.findings if f.verdict == "unknown" and f.demand.domain.has_semi_affine]
        keys = self._numbers.decidable({f.demand.key for f in hidden}) if hidden else frozenset()
        decided = [f for f in hidden if f.demand.key in keys]
        if decided:
            self.findings = tuple(replace(f, verdict="by numbers") if f in decided else f for f in self.findings)
        return frozenset(f.demand.key for f in decided)

    @property
    def violations(self) -> tuple[Finding, ...]:
        """The accesses that are wrong."""
        return tuple(f for f in self.findings if f.verdict == "violated")

    @property
    def maybe_overlapping(self) -> tuple[Finding, ...]:
        """The calls of which nobody knows whether arrays of theirs overlap."""
        return tuple(f for f in self.unknown if f.demand.is_apart)

    @property
    def conditions(self) -> tuple[Finding, ...]:
        """The accesses that need some sizes."""
        return tuple(f for f in self.findings if f.verdict == "conditional")

    @property
    def needs_numbers(self) -> bool:
        """Whether a call must ask `refusal_by_numbers`."""
        return bool(self._keys)

    @property
    def by_numbers(self) -> tuple[Finding, ...]:
        """The accesses that a call decides with its numbers."""
        return tuple(f for f in self.findings if f.verdict == "by numbers")

    @property
    def unknown(self) -> tuple[Finding, ...]:
        """The accesses that are not proved and that no call checks."""
        return tuple(f for f in self.findings if f.verdict == "unknown")

    @property
    def are_proved(self) -> bool:
        """Whether all accesses lie inside of their arrays, for all sizes."""
        return all(f.verdict == "proved" for f in self.findings)

    @property
    def accepted(self) -> Alternatives:
        """What holds of the index arguments in every call that these conditions let pass, beside the contract.

        Where there are more than MOST_CASES alternatives, not all that is known.
        """
        known = {v for v in self.function.args if isinstance(v.type, IndexType)}
        cases: Alternatives = ((),)
        for safe in dict.fromkeys(f.safe for f in self.conditions):
            more = [tuple(c for c in case if known.issuperset(c.values())) for case in safe]
            if more and all(more) and len(cases) * len(more) <= MOST_CASES:
                cases = tuple(dict.fromkeys(tuple(dict.fromkeys((*one, *other))) for one in cases for other in more))
        return cases

    def against(self) -> Alternatives:
        """The sizes with which the function must not run: those of all conditional accesses together."""
        return _distinct(f.against for f in self.conditions)

    def need(self) -> Need:
        """What a call of the function must keep to."""
        text = " and ".join(dict.fromkeys(f.condition for f in self.conditions))
        against = _distinct(f.against for f in (*self.conditions, *self.violations))
        unknown = next((f"{f.demand.verb} {f.access}" for f in self.unknown), "")
        return Need(against, text, self._keys, unknown)

    def refusals(self, sizes: Mapping[Value, int]) -> Iterator[str]:
        """Why the function must not run with these sizes: a reason for each access that would leave its array.

        That which only the numbers decide is asked where no condition is against them, and has one reason.
        """
        found = [*self.refusals_by_conditions(sizes)]
        yield from found or filter(None, [self.refusal_by_numbers(sizes)])

    def refusals_by_conditions(self, sizes: Mapping[Value, int]) -> Iterator[str]:
        """The reasons that are conditions on the sizes."""
        yield from filter(None, (finding.refusal(sizes) for finding in self.conditions))

    def refusal_by_numbers(self, sizes: Mapping[Value, int]) -> str:
        """Why the function must not run with these sizes, of which those that all conditions allow; "" if it may.

        What is found is remembered.
        """
        if not self._keys:
            return ""
        numbers = {v: sizes[v] for v in self.function.args if isinstance(v.type, IndexType)}
        key = tuple(numbers.values())
        found = self._decided.get(key)
        if found is None:
            wrong = self._numbers.wrong(self._keys, numbers)
            found = next((_refused(demand, example, numbers) for demand, example in wrong), "")
            if len(self._decided) >= MOST_DECIDED:
                self._decided.clear()
            self._decided[key] = found
        return found

    def _title(self) -> str:
        counts = ((len([f for f in self.findings if f.verdict == v]), text) for v, text in _WORDS.items())
        title = ", ".join(f"{n} {text}" for n, text in counts if n)
        return f"{self.function.symbol}: {title or 'no accesses'}"

    def _repr_html_(self) -> str:
        rows = [(str(f.location or ""), *f.said) for f in self.findings]
        return html_table(("line", "access", "verdict", "why"), rows, title=self._title(), code=(1,))

    def __str__(self) -> str:
        rows = [(str(f.location or ""), str(f)) for f in self.findings]
        width = max((len(at) for at, _ in rows), default=0)
        return "\n".join([self._title(), *(f"    {at:<{width}}  {text}" for at, text in rows)])

    def _judged(self, demand: Demand) -> Finding:
        facts = facts_of(demand.domain)
        claims = tuple(c for c in demand.claims if not is_obvious(c.expr, facts))
        if not claims:
            return Finding(demand, "unknown" if demand.unknown else "proved", unknown=demand.unknown)
        outside = BrokenClaims(demand, claims, self._demands.function, self.sizes, self.extents)
        try:
            with spending(self.budget):
                return self._found(demand, outside)
        except UnknownError as error:
            where = f" at {demand.op.location}" if demand.op.location is not None else ""
            reason = f"{error}, for what {demand.verb} {_shown(demand)}{where}"
            warnings.warn(reason, AnalysisWarning, stacklevel=2)
            return Finding(demand, "unknown", unknown=(reason,))

    def _found(self, demand: Demand, outside: BrokenClaims) -> Finding:
        wrong = [claim for claim in outside.claims if outside.fails(claim)]
        if not wrong:
            return Finding(demand, "unknown" if demand.unknown else "proved", unknown=demand.unknown)
        unknown = demand.from_data or outside.from_data(wrong)
        if unknown:
            return Finding(demand, "unknown", unknown=unknown)
        contract, reached = self._contract(), outside.reached()
        against = outside.against(wrong[0])
        for claim in wrong[1:]:
            against = against.union(outside.against(claim))
        hopeless = next((c for c in wrong if _is_hopeless(c, reached, outside.against(c), self.sizes)), None)
        if hopeless is None and reached.is_subset(against):
            hopeless = wrong[0]
        if hopeless is None and demand.unknown:
            return Finding(demand, "unknown", unknown=demand.unknown)
        example = outside.example(hopeless or wrong[0])
        if example is None:  # an assumption that is not affine may exclude these sizes: each call looks at its own
            hopeless = None
        if hopeless is None:
            safe = opposite(against, contract, self.sizes)
            running = written(alternatives(reached.subtract(against).gist(reached), self.sizes))
            condition = min(written(safe), f"{running}, or where it does not run", key=len)
        else:
            safe = alternatives(reached.subtract(against).gist(contract), self.sizes)
            condition = written(safe)
        return Finding(
            demand,
            "conditional" if hopeless is None else "violated",
            alternatives(against.gist(contract), self.sizes),
            safe,
            condition,
            example,
            demand.unknown,
            outside,
        )

    def _contract(self) -> Set:
        """The sizes that the function allows."""
        natural = (Constraint(Affine.of(v)) for v in self.sizes if v not in self.function.args)
        facts = (*(c for clause in self._demands.scope.start.clauses for c in clause[0]), *natural)
        return remembered(("sizes", facts, self.sizes), lambda: sizes_where(facts, self.sizes))


def bounds(function: func.Func, module: func.Module | None = None) -> Bounds:
    """What is known of the accesses of a function; `module` shows what its calls need.

    >>> from affdsl.mlir.readers import parse
    >>> module = parse('''
    ... func.func @f(%N: index, %A: memref<?xf32> {affdsl.shape = affine_map<()[s0] -> (s0)>}) {
    ...   affine.for %i = 0 to %N { %a = affine.load %A[%i + 1] : memref<?xf32> }
    ...   return
    ... }''')
    >>> print("; ".join(bounds(module.functions[0]).violations[0].explained()))
    A[i + 1] reads A[N] when i = N - 1; ...
    """
    return Bounds(function, module)


_WORDS = {
    "proved": "proved",
    "conditional": "inside for some sizes, which each call checks",
    "by numbers": "decided by the numbers of each call",
    "violated": "wrong",
    "unknown": "not proved",
}


def _needs(function: func.Func, module: func.Module | None, budget: int, kind: type[Demands]) -> dict[str, Need]:
    """What the functions need that a function may call: those before it in the module, callees first."""
    found: dict[str, Need] = {}
    called = _called(function, module)
    for symbol, callee in called.items():
        found[symbol] = Bounds(callee, module, budget, found, kind=kind).need()
    return found


def _called(function: func.Func, module: func.Module | None) -> dict[str, func.Func]:
    """The functions with a body that a function calls, and those that these call, callees first."""
    functions = {f.symbol: f for f in module.functions if not f.external} if module is not None else {}
    order: dict[str, func.Func] = {}
    entered: set[str] = {function.symbol}

    def enter(op: Op) -> None:
        for block in op.blocks():
            for inner in block:
                if isinstance(inner, func.Call) and inner.callee in functions and inner.callee not in entered:
                    entered.add(inner.callee)
                    enter(functions[inner.callee])
                    order[inner.callee] = functions[inner.callee]
                enter(inner)

    enter(function)
    return order


def _distinct(conditions: Iterator[Alternatives]) -> Alternatives:
    """At least one of some conditions."""
    return tuple(dict.fromkeys(constraints for condition in conditions for constraints in condition))


def _is_hopeless(claim: Claim, reached: Set, against: Set, sizes: Sequence[Value]) -> bool:
    """Whether an access is wrong for all sizes with which it runs, but for finitely many.

    An array of a size that is a number sets a limit by its nature, so do a view, a copy and a call: a condition.
    """
    safe = reached.subtract(against)
    if safe.is_empty():
        return True
    if claim.is_fixed or claim.end in ("size", "call", "divisor"):
        return False
    about = involved(against.gist(reached), sizes)
    return is_finite(safe, about) and not is_finite(reached, about)


def _values(condition: Alternatives) -> tuple[Value, ...]:
    return tuple(dict.fromkeys(v for constraints in condition for c in constraints for v in c.values()))


def _shown(demand: Demand) -> str:
    op = demand.op
    name = demand.memref.hint or "the array" if demand.memref is not None else "an array"
    if demand.divisions:
        exprs = {d.whole: None for d in demand.divisions}
        return ", ".join(in_python(e) for e in exprs if all(v.hint for v in e.values())) or "a division"
    match op:
        case func.Call(callee=callee):
            return f"the call of {callee}"
        case memref.Copy(source=source, target=target):
            if source.hint or target.hint:
                return f"the copy of {source.hint or 'an array'} to {target.hint or 'an array'}"
            return "the copy"
        case memref.SubView():
            return f"the view {op.result.hint or ''} of {name}".replace("  ", " ")
        case affine.DmaStart() | memref.DmaStart() if demand.verb != "views" and len(demand.claims) == 1:
            return f"the copy from {op.source.hint} to {op.target.hint}"
    index: tuple[Affine, ...] | None = getattr(op, "index", None)
    if index is None:
        values: tuple[Value, ...] | None = getattr(op, "indices", None)
        index = tuple(map(Affine.of, values)) if values is not None else None
    if index is None:
        return name
    if any(not v.hint for e in index for v in e.values()) and demand.index is not None and not demand.from_data:
        index = demand.index
    index = tuple(map(demand.written, index))
    return f"{name}[{', '.join(in_python(e) if all(v.hint for v in e.values()) else '...' for e in index)}]"


def _placed(demand: Demand) -> str:
    return f"{_shown(demand)} ({demand.op.location})" if demand.op.location is not None else _shown(demand)


def _array(demand: Demand) -> str:
    return (demand.memref.hint if demand.memref is not None else "") or "an array"


def _rule(demand: Demand) -> str:
    """What is said before a condition."""
    if demand.is_apart:
        return f"is given parts of {_array(demand)} that do not overlap only where"
    if demand.verb != "divides":
        return "is in bounds only where"
    divisors = " and ".join(in_python(d.divisor) for d in demand.divisions)
    return f"divides by {divisors}, which must be at least 1: it needs"


def _advice(demand: Demand, example: Example) -> str:
    """What to do about a division; for an access out of bounds it is plain what."""
    if demand.verb != "divides":
        return ""
    positive = comparison(Constraint(demand.divisions[example.claim.axis].divisor - 1))
    return f"; write affdsl.assume({positive}), or put it into affdsl.if_({positive})"


def _refused(demand: Demand, example: Example | None, numbers: Mapping[Value, int]) -> str:
    """Why a function must not run with some numbers."""
    given = ", ".join(f"{v.hint} = {n}" for v, n in numbers.items())
    if example is None:
        return (
            f"{_placed(demand)} cannot be decided within the budget for {given}; say more about the sizes with "
            f"affdsl.assume(...), or use smaller ones"
        )
    said = f"it would {example.said(imperative=True)}{_advice(demand, example)}"
    if demand.verb != "divides":
        return f"{_placed(demand)} is out of bounds with {given}: {said}"
    divisor = demand.divisions[example.claim.axis].divisor
    return f"{_placed(demand)} divides by {in_python(divisor)}, which must be at least 1, but with {given} {said}"


def _remedy(demand: Demand, example: Example) -> str:
    claim = example.claim
    values = demand.index[claim.axis].values() if demand.index else ()
    down = any(v in demand.downward for v in values)
    match claim.end:
        case "divisor":
            return _advice(demand, example).removeprefix("; ")
        case "lower":
            change = "end the loop earlier" if down else "begin the loop later"
            return f"{change}, or put the access into affdsl.if_(...)"
        case "upper":
            change = "begin the loop lower" if down else "end the loop earlier"
            return f"{change}, make the array larger, or put the access into affdsl.if_(...)"
        case "size":
            return "give it sizes that fit"
        case "call":
            return f"it needs {demand.needed}"
        case "apart":
            return INSTEAD
