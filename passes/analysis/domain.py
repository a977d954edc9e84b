"""The iterations in which a statement runs: the loops and conditions around it, and what is known of its values.

Values that are not affine, but of which something is known (the result of affine.min, a digit, a lane of a vector),
become *locals*: existentially quantified numbers, with some constraints. A value of which nothing
is known is a local without constraints; then the domain may be larger than what runs, and `unknown` says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from affdsl.frozen import Frozen, field
from affdsl.ir.core import Op
from affdsl.ir.expr import Affine, Atom, Constraint, Value
from affdsl.ir.types import INDEX
from affdsl.passes.analysis.relations import Alternatives, Clauses, Relation, iterator, local, relation

_Position: TypeAlias = "tuple[dict[Value, Value], tuple[Alternatives, ...], tuple[Value, ...]]"
_BESIDE = frozenset(("unknown", "resolved"))
"""The fields of a domain that say nothing of where its points are."""


class Domain(Frozen):
    """The iterations of the loops around a statement in which it runs.

    Attributes
    ----------
    ivs
        The induction variables around, outermost first. What repeats a block without one (scf.while, an operation that
        is not known) counts as a loop with a variable of its own.
    loops
        The operation to which each induction variable belongs.
    clauses
        What holds there: of each clause at least one alternative.
    locals
        The values in the clauses that are existentially quantified.
    unknown
        Why the domain may be larger than what runs; empty if it is exact.
    """

    ivs: tuple[Value, ...] = ()
    loops: tuple[Op, ...] = ()
    clauses: tuple[Alternatives, ...] = ()
    locals: tuple[Value, ...] = ()
    unknown: tuple[str, ...] = ()
    resolved: Mapping[Value | Atom, Affine] = field(default_factory=dict, repr=False)
    """What stands for values met before."""
    _position: list[_Position] = field(default_factory=list, repr=False)
    """What `_at_position` found, for all domains of the same points: one access after another asks for it."""
    _around: Domain | None = field(default=None, repr=False)
    """The domain in which the innermost loop runs."""

    @property
    def is_exact(self) -> bool:
        """Whether the statement certainly runs in every iteration of the domain."""
        return not self.unknown

    @property
    def has_semi_affine(self) -> bool:
        """Whether something stands for a product or quotient that only the numbers of a call make affine."""
        return any(not isinstance(atom, Value) for atom in self.resolved)

    def relation(self, index: Sequence[Affine]) -> Relation:
        """From these iterations to the elements at index, by position."""
        new, clauses, params = self._position[0] if self._position else self._at_position()
        exprs = tuple([e.substitute(new) for e in index])
        stand_ins = set(new.values())
        found = dict.fromkeys((*params, *(v for e in exprs for v in e.values() if v not in stand_ins)))
        return relation(len(self.ivs), len(self.locals), tuple(found), clauses, exprs)

    def _at_position(self) -> _Position:
        """What stands for the loops and locals in relations, the clauses with that in place, and their parameters."""
        new: dict[Value, Value] = {iv: iterator(k) for k, iv in enumerate(self.ivs)}
        new |= {q: local(k) for k, q in enumerate(self.locals)}
        before, params = self._placed_around(new)
        own = self.clauses[len(before) :]
        clauses = tuple([tuple([tuple([_placed(c, new) for c in part]) for part in clause]) for clause in own])
        stand_ins = set(new.values())
        read = [v for clause in clauses for part in clause for c in part for v in c.values() if v not in stand_ins]
        self._position.append((new, Clauses((*before, *clauses)), tuple(dict.fromkeys((*params, *read)))))
        return self._position[0]

    def _placed_around(self, new: Mapping[Value, Value]) -> tuple[tuple[Alternatives, ...], tuple[Value, ...]]:
        """The first clauses, those of the domain around, with their stand-ins in place, and their parameters."""
        around = self._around
        if around is None or any(
            mine[: len(its)] != its
            for mine, its in (
                (self.ivs, around.ivs),
                (self.locals, around.locals),
                (self.clauses, around.clauses),
            )
        ):
            return (), ()
        _, clauses, params = around._position[0] if around._position else around._at_position()
        return (clauses, params) if new.keys().isdisjoint(params) else ((), ())

    def lacking(self, reason: str) -> Domain:
        """This domain, where something is not known."""
        return self if reason in self.unknown else self.changed(unknown=(*self.unknown, reason))

    def where(self, *clauses: Alternatives) -> Domain:
        """The part of this domain where the clauses hold too, whose values must be those of the domain."""
        return self.changed(clauses=(*self.clauses, *(c for c in clauses if c != ((),)))) if clauses else self

    def some(self, hint: str) -> tuple[Value, Domain]:
        """A new local, and the domain that has it."""
        value = Value(INDEX, hint)
        return value, self.changed(locals=(*self.locals, value))

    def changed(self, **new: object) -> Domain:
        """This domain with other fields. Much cheaper than `dataclasses.replace`, which runs the constructor."""
        copy = object.__new__(Domain)
        copy.__dict__.update(self.__dict__)
        if not new.keys() <= _BESIDE:
            copy.__dict__["_position"] = []
        if "loops" in new:
            copy.__dict__["_around"] = self
        copy.__dict__.update(new)
        return copy


def _placed(constraint: Constraint, new: Mapping[Value, Value]) -> Constraint:
    """A constraint with other values, of which all domains inside of one have the same for most constraints."""
    return _with_values(constraint, tuple([new.get(v, v) for v in constraint.values()]))


@lru_cache(maxsize=10_000)
def _with_values(constraint: Constraint, values: tuple[Value, ...]) -> Constraint:
    return constraint.substitute(dict(zip(constraint.values(), values, strict=True)))
