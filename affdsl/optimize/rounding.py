"""What rounds in another way, where that is allowed and pays: the last steps on an outermost loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from copy import copy

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith
from affdsl.ir.traverse import gathered, holders
from affdsl.ir.types import FloatType, VectorType
from affdsl.optimize.nests import bits_in_register, names_in, nests_in
from affdsl.optimize.options import Options
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

FEW_OPERATIONS = 12
"""An addition that waits for the one before takes longer than so many others that do not."""
EXTREMES = ("maximumf", "minimumf", "maxnumf", "minnumf")
"""What a step may make simpler where it does not matter which zero comes out."""


def as_allowed(s: Schedule, root: str, options: Options) -> Schedule:
    """The schedule with what an outermost loop computes rounded in other ways, where that is allowed and pays."""

    def contracted(made: Schedule, name: str) -> Schedule:
        return made.contract(name, reassociate=options.reassociate)

    def with_extremes(made: Schedule, name: str) -> Schedule:
        return made.extremes(name, no_nans=options.no_nans, no_signed_zeros=True)

    if options.reciprocal:
        for name in names_in(s, root):  # what is divided by may be loaded before the loop
            s = _rounded(s, name, ("divf",), Schedule.reciprocal, lambda made, name: made.hoist(name).reciprocal(name))
    if options.contract and options.target.has_fma:
        for name in _fused_in(s, root):
            s = _rounded(s, name, ("mulf",), contracted)
    return _rounded(s, root, EXTREMES, with_extremes) if options.no_signed_zeros else s


def _fused_in(s: Schedule, root: str) -> list[str]:
    """The loops in which products and sums become one operation, with all that is inside of them.

    Not those where each sum waits for the one before: a fused one takes longer than an addition does.
    """
    waiting = {nest.name(nest.innermost) for nest in nests_in(s, root) if _waits(nest.innermost)}
    if not waiting:
        return [root]
    return [name for nest in nests_in(s, root) if (name := nest.name(nest.innermost)) not in waiting]


def _waits(loop: affine.For) -> bool:
    """Whether a loop carries floats, one by one, and computes little beside."""
    carried = any(isinstance(v.type, FloatType) for v in loop.carried)
    return carried and sum(isinstance(op, arith.Binary) for op in loop.body) < FEW_OPERATIONS


def _rounded(s: Schedule, name: str, kinds: Sequence[str], *ways: Callable[[Schedule, str], Schedule]) -> Schedule:
    """The schedule after the first of some steps on a loop that is legal, if it has operations of such kinds."""
    iv = next((row.iv for row in s.loops() if row.names[0] == name), None)
    loops = [op for op in holders(s.function) if iv is not None and iv in op.binds()]
    if any(op.kind in kinds and _pays(op) for loop in loops for op in gathered(loop, _binary)):
        for way in ways:
            with suppress(IllegalTransform, ScheduleError):  # there may be no such operation that can be another
                return way(copy(s), name)
    return s


def _binary(op: Op) -> Iterator[arith.Binary]:
    if isinstance(op, arith.Binary):
        yield op


def _pays(op: arith.Binary) -> bool:
    """Whether an operation is quicker in another way: no machine rounds a * b + c once to a narrow float."""
    type = op.result.type.element if isinstance(op.result.type, VectorType) else op.result.type
    return op.kind != "mulf" or not isinstance(type, FloatType) or type.width == bits_in_register(type)
