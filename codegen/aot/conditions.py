"""What the sizes of a call must satisfy, in words and as constraints against it."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.codegen.aot.shipped import ShippedKernel
from affdsl.codegen.jit import limited
from affdsl.errors import UnsupportedError
from affdsl.frozen import FrozenValue
from affdsl.ir.expr import Constraint, Value
from affdsl.ir.spelling import spell_constraint
from affdsl.passes.analysis.bounds import Finding
from affdsl.passes.analysis.relations import Alternatives


class Condition(FrozenValue):
    """What must hold, in words; it does not where all constraints of one of `against` hold."""

    shown: str
    against: Alternatives

    @property
    def values(self) -> tuple[Value, ...]:
        """The sizes that it is about."""
        return tuple(dict.fromkeys(v for constraints in self.against for c in constraints for v in c.values()))


def conditions(kernel: ShippedKernel) -> Iterator[Condition]:
    """What the kernel assumes, sizes with which accesses stay in their arrays, and numbers that are not too large."""
    for constraint in kernel.program.func.assumes:
        yield Condition(f"it assumes {spell_constraint(constraint)}", _broken(constraint))
    for finding in kernel.bounds.conditions:
        yield Condition(f"{finding.access}{place(finding)} {finding.rule}", finding.against)
    limit, arguments = limited(kernel.program)
    for argument in arguments:
        above, below = Constraint(argument - limit - 1), Constraint(-argument - limit - 1)
        yield Condition(f"argument {argument.hint} must lie between {-limit} and {limit}", ((above,), (below,)))


def require_decided(kernel: ShippedKernel, shipped: str) -> None:
    """Refuse a kernel of which only affdsl, with the numbers of a call, can decide whether it may run."""
    if kernel.bounds.needs_numbers and not kernel.program.checked:
        first = kernel.bounds.by_numbers[0]
        raise UnsupportedError(
            f"{kernel.name}: whether {first.access}{place(first)} stays inside of its array, only the numbers of each "
            f"call decide, and a {shipped} has no affdsl that could: make the kernel with boundscheck=True, or declare "
            "the array with dimensions of its own"
        )


def place(finding: Finding) -> str:
    """Where an access was written, without the folder of its file: it says nothing to those who get the library."""
    at = finding.location
    return "" if at is None else f" ({at.brief})"


def _broken(constraint: Constraint) -> Alternatives:
    """What holds where a constraint does not."""
    below = (Constraint(-constraint.expr - 1),)
    return ((Constraint(constraint.expr - 1),), below) if constraint.equality else (below,)
