"""Sums in the order of the text in the lanes of vectors: of rows, which are turned in registers, or of neighbours."""

from __future__ import annotations

from copy import copy

from affdsl.ir.dialects import affine
from affdsl.ir.types import FloatType
from affdsl.optimize.attempts import AllOrNone
from affdsl.optimize.nests import Nest, bits_in_register, is_lane_by_lane, require_loop, unfit_where_refused
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.schedule.schedule import Schedule

WIDTH = 256
"""How many bits the vectors have at most: of eight doubles, two vectors do not wait for each other's additions. Longer
ones were not measured."""
PAIR = 2
LEAST = 4
"""How many lanes pay for the shuffles."""


def lanes_of_sums(nest: Nest, around: affine.For, options: Options) -> int:
    """How many sums of iterations of a loop around a nest a vector has, where they may be its lanes; 0 elsewhere.

    All that moves with the loop around is a row then, along which the sums go.
    """
    types = {a.buffer.type.element for a in nest.accesses}
    bits = {bits_in_register(type) for type in types if isinstance(type, FloatType)}
    if len(bits) != 1 or len(types) != 1 or any(True for op in nest.innermost.body for _ in op.blocks()):
        return 0
    (width,) = bits
    lanes = min(options.target.lanes(width), WIDTH // width)
    rows = [a for a in nest.accesses if a.kind == "read" and nest.stride(a, around).motion != "invariant"]
    rows = [a for a in rows if nest.stride(a, nest.innermost).motion != "invariant"]
    is_along = all(nest.stride(a, nest.innermost).motion == "contiguous" for a in rows)
    return lanes if rows and is_along and lanes >= LEAST else 0


def in_lanes(s: Schedule, name: str, lanes: int) -> bool:
    """Put sums that a loop carries side by side in so many lanes, and say if they are; 0 lanes are none.

    The schedule given is changed.

    References
    ----------
    Larsen and Amarasinghe, "Exploiting superword level parallelism with multimedia instruction sets", PLDI 2000.
    """
    before = len(s.steps)
    with AllOrNone(s):
        if not lanes:
            raise UnfitError
        s.unroll(name, lanes).slp(name, lanes)
        if is_lane_by_lane(s, name):
            raise UnfitError
    return len(s.steps) > before


def side_by_side(s: Schedule, name: str, options: Options) -> tuple[Schedule, str]:
    """The schedule with all that a loop carries in the lanes of vectors, as sums of neighbouring elements are.

        for i: { a += x[2 * i]; b += x[2 * i + 1] }   ->   for i: v += x[2 * i :+ 2]

    Raises UnfitError.
    """
    loop = require_loop(s, name)
    types = {v.type for v in loop.carried}
    if len(types) != 1 or not isinstance(type := types.pop(), FloatType):
        raise UnfitError("")
    count = len(loop.carried)
    lanes = min(options.target.lanes(bits_in_register(type)), count & -count)
    if lanes < PAIR:
        raise UnfitError("")
    made = copy(s)
    with unfit_where_refused():
        made.slp(name, lanes)
    if is_lane_by_lane(made, name):
        raise UnfitError("")
    return made, f"what it sums up side by side in vectors of {lanes}"
