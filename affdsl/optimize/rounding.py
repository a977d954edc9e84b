"""What rounds in another way, where that is allowed and pays: the last steps on an outermost loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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


def as_allowed(s: Schedule, root: str, options: Options) -> Schedule:
    """The schedule with what an outermost loop computes rounded in other ways, where that is allowed and pays."""
    for verb, kind in _rounding(options):
        for name in _rounded_in(verb, s, root):
            s = _rounded(s, verb, name, kind, options)
    return s


def _rounding(options: Options) -> Iterator[tuple[str, str]]:
    """The steps that round in another way, of those that are allowed and that pay, with what they need in a loop."""
    if options.reciprocal:
        yield "reciprocal", "divf"
    if options.contract and options.target.has_fma:
        yield "contract", "mulf"
    if options.no_signed_zeros:
        yield from (("extremes", kind) for kind in ("maximumf", "minimumf", "maxnumf", "minnumf"))


def _rounded_in(verb: str, s: Schedule, root: str) -> Sequence[str]:
    """The loops, inside of an outermost one, that a step which rounds in another way is taken for."""
    match verb:
        case "reciprocal":
            return names_in(s, root)
        case "contract":
            return _fused_in(s, root)
    return (root,)


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


def _rounded(s: Schedule, verb: str, name: str, kind: str, options: Options) -> Schedule:
    """The schedule where what a loop computes rounds in another way, if it has operations of a kind for that."""
    iv = next((row.iv for row in s.loops() if row.names[0] == name), None)
    loops = [op for op in holders(s.function) if iv is not None and iv in op.binds()]
    if not any(op.kind == kind and _pays(verb, op) for loop in loops for op in gathered(loop, _binary)):
        return s
    for steps in _ways_to_round(verb, options):
        made = copy(s)
        with suppress(IllegalTransform, ScheduleError):  # there may be no such operation that can be another
            for step, keywords in steps:
                getattr(made, step)(name, **keywords)
            return made
    return s


def _binary(op: Op) -> Iterator[arith.Binary]:
    if isinstance(op, arith.Binary):
        yield op


def _pays(verb: str, op: arith.Binary) -> bool:
    """Whether an operation is quicker in another way: no machine rounds a * b + c once to a narrow float."""
    type = op.result.type.element if isinstance(op.result.type, VectorType) else op.result.type
    return verb != "contract" or not isinstance(type, FloatType) or type.width == bits_in_register(type)


def _ways_to_round(verb: str, options: Options) -> Iterator[Sequence[tuple[str, Mapping[str, bool]]]]:
    """The steps to take, or others where one of these is refused: what is divided by may be loaded before the loop."""
    if verb == "contract" and options.reassociate:
        yield [(verb, {"reassociate": True})]
    elif verb == "extremes":
        yield [(verb, {"no_nans": options.no_nans, "no_signed_zeros": True})]
    else:
        yield [(verb, {})]
    if verb == "reciprocal":
        yield [("hoist", {}), (verb, {})]
