"""What one access of a function that is called is in its caller: its elements and when, with the arguments in place."""

from __future__ import annotations

from affdsl.frozen import Frozen
from affdsl.ir.dialects import func
from affdsl.ir.expr import Affine, Term, Value
from affdsl.ir.types import MemRefType
from affdsl.passes.analysis.domain import Domain
from affdsl.passes.analysis.relations import Alternatives
from affdsl.passes.analysis.scope import Scope
from affdsl.passes.analysis.views import Index

MOST_TOUCHES = 100
"""How many different accesses of a function a call has at most; of one with more it touches whole buffers."""


class Touch(Frozen):
    """One access of a function to a buffer that its caller knows, too.

    Attributes
    ----------
    kind
        "read" or "write".
    of
        The argument, by its position, or the name of the global buffer: `@g`.
    domain, index
        As those of the access.
    """

    kind: str
    of: int | str
    domain: Domain
    index: Index | None


class Callee(Frozen):
    """A function that is called, with all that it does to buffers of its caller."""

    function: func.Func
    scope: Scope
    touches: tuple[Touch, ...]

    def placed(self, touch: Touch, call: func.Call, scope: Scope, domain: Domain) -> tuple[Index, Domain]:
        """The elements of a touch, of its argument, and when a call in some domain of the caller touches them.

        The loops of the function become locals. What it promises of its arguments, it is for the call to keep.
        """
        assert touch.index is not None
        promised = len(self.scope.start.clauses)
        clauses = touch.domain.clauses[promised:]
        own = {*touch.domain.ivs, *touch.domain.locals}
        read = (c.values() for clause in clauses for part in clause for c in part)
        new: dict[Value, Term] = {}
        for value in dict.fromkeys((*(v for vs in read for v in vs), *(v for e in touch.index for v in e.values()))):
            given = None if value in own else self._given(value, call, scope)
            if given is not None:
                new[value], domain = scope.expr(given, domain)
                continue
            new[value], domain = domain.some(value.hint or "inside")
            if value not in own:
                domain = domain.lacking(f"{value.hint or 'a number'} is known only in {call.callee}")
        for reason in touch.domain.unknown:
            domain = domain.lacking(reason)
        domain = domain.where(*(_with(new, clause) for clause in clauses))
        return scope.exprs(tuple(e.substitute(new) for e in touch.index), domain)

    def _given(self, value: Value, call: func.Call, scope: Scope) -> Affine | None:
        """What a call gives for an index argument, or for the size of an array; None where it does not say."""
        if value in self.function.args:
            return Affine.of(call.args[self.function.args.index(value)])
        for (buffer, axis), size in self.scope.sizes.items():
            if size is value and buffer in self.function.args:
                array = call.args[self.function.args.index(buffer)]
                return scope.size_of(array, axis) if isinstance(array.type, MemRefType) else None
        return None


def _with(new: dict[Value, Term], clause: Alternatives) -> Alternatives:
    return tuple(tuple(c.substitute(new) for c in part) for part in clause)
