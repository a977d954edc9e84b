"""How much C a function becomes, by which too long straight code is not chosen: compilers take longer than it gains."""

from __future__ import annotations

from functools import lru_cache

from affdsl.ir.core import Lanewise, Op
from affdsl.ir.dialects import affine, arith, math, memref, vector
from affdsl.ir.dialects.func import Func
from affdsl.ir.traverse import walk
from affdsl.ir.types import FloatType, MemRefType, Type
from affdsl.optimize.machine import element_of, lanes_of
from affdsl.optimize.unfit import UnfitError
from affdsl.schedule.schedule import Schedule

MOST_MORE = 2048
"""By how many operations the recipe for one innermost loop may make a function longer."""
MOST = 4096
"""By how many any recipe may: gcc 12 takes some seconds for so many."""
FAR_TOO_LONG = 2 * MOST
"""So many operations of copies are not even made."""
CONVERSION = {"bf16": 4, "f16": 12}
"""How many operations of C round a float to a narrower one, or make one of its bits, or its bits of it."""


def is_long(made: Schedule, before: Schedule, most: int = MOST_MORE) -> bool:
    """Whether a schedule makes a function longer by more than so many operations than another one does."""
    return made.function is not before.function and size_of(made) - size_of(before) > most


def require_short(made: Schedule, before: Schedule) -> Schedule:
    """The first schedule. Raises UnfitError where it makes a function far longer than the other one does."""
    if is_long(made, before, MOST):
        raise UnfitError(TOO_LONG)
    return made


def require_room(loop: Op, copies: int) -> None:
    """Raise UnfitError where so many copies of what a loop does are far too long, though they may have parts in common.

    It is asked before they are made: to make them, and to prove that they may run at once, takes long.
    """
    if copies * sum(1 for _ in walk(loop)) > FAR_TOO_LONG:
        raise UnfitError(TOO_LONG)


TOO_LONG = f"its code would be longer by more than {MOST} operations"


def size_of(s: Schedule) -> int:
    """How many operations the C of a function has: those of the function, and what converts narrow floats."""
    return _size(s.function)


@lru_cache(maxsize=16)
def _size(function: Func) -> int:
    return sum(1 + _conversions(op) for op in walk(function))


def _conversions(op: Op) -> int:
    """How many operations convert what an operation loads, stores or computes."""
    if isinstance(op, _ACCESSES):
        return max((_conversion(v.type) for v in op.reads() if isinstance(v.type, MemRefType)), default=0)
    if not isinstance(op, Lanewise) or isinstance(op, _EXACT):
        return 0
    in_turn = isinstance(op, math.Unary | math.Binary | math.Fma)  # a function is called for each lane
    return sum(_conversion(v.type) * (lanes_of(v.type) if in_turn else 1) for v in op.defines())


_ACCESSES = (affine.Access, memref.Load, memref.Store, vector.Load, vector.Store, vector.MaskedLoad, vector.MaskedStore)
_EXACT = (arith.Constant, arith.Select, arith.Negate)


def _conversion(type: Type) -> int:
    element = element_of(type)
    return CONVERSION.get(element.name, 0) if isinstance(element, FloatType) else 0
