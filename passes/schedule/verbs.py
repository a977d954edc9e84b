"""The verbs of a schedule: one row for each, which asks a primitive by the names of loops, sizes and arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Value
from affdsl.lang.indices import Index
from affdsl.lang.source import problem
from passes.affine_data_copy_generate import data_copy
from passes.affine_loop_coalescing import coalesce
from passes.affine_loop_invariant_code_motion import hoist
from passes.affine_loop_normalize import normalize
from passes.affine_loop_tile import tile
from passes.affine_loop_unroll import unroll, unroll_full
from passes.affine_loop_unroll_jam import unroll_jam
from passes.affine_parallelize import parallelize
from passes.affine_pipeline_data_transfer import pipeline_data_transfer
from passes.affine_scalrep.carried import scalar_replace
from passes.analysis.dependence import Dependences
from passes.distribute import distribute
from passes.expand import expand
from passes.index_set_split import index_set_split
from passes.interchange import interchange, permute
from passes.legality import Request, first_legal, refusal
from passes.peel import peel
from passes.privatize import privatize
from passes.reverse import reverse
from passes.schedule.loops import ScheduleError, loop_by
from passes.schedule.place import Place
from passes.schedule.spelling import literal, symbols_in
from passes.shift import shift
from passes.sink import make_perfect, sink
from passes.skew import skew
from passes.steps import Proposal, Step
from passes.strip_mine import strip_mine
from passes.unswitch import unswitch


@dataclass(frozen=True, eq=False)
class Call:
    """A step as the user wrote it: a verb, its arguments, and its options, all of which are nothing by default."""

    verb: str
    arguments: tuple[object, ...]
    options: tuple[tuple[str, object], ...] = ()

    @property
    def text(self) -> str:
        """The call, without the schedule before it."""
        options = (f"{key}={literal(value)}" for key, value in self.options if value)
        given = (*(literal(value) for value in self.arguments if value is not None), *options)
        return f"{self.verb}({', '.join(given)})"

    @property
    def symbols(self) -> tuple[str, ...]:
        """The names of the symbols that its arguments are written with."""
        return tuple(dict.fromkeys(name for value in self.arguments for name in symbols_in(value)))

    def given(self, **options: object) -> Call:
        """The same step with some options given in another way."""
        return replace(self, options=tuple({**dict(self.options), **options}.items()))


Row = Callable[..., Func]
"""What a verb does at a place, given what the user gave, each option by its name."""


def filled(place: Place, call: Call) -> Call:
    """A step with names for the loops over tiles and strips, and for the arrays, that it makes."""
    match call.verb:
        case "tile":
            loops = [place.names[iv] for iv in place.loops(call.arguments[0])]
            return call.given(names=place.new(dict(call.options)["names"], loops, "_tile"))
        case "strip_mine":
            loop = place.names[place.loop(call.arguments[0])]
            return call.given(name=place.new(dict(call.options)["name"], [loop], "_strip")[0])
        case "copy":
            return call.given(name=place.new_array(dict(call.options)["name"], call.arguments[0], "_fast"))
    return call


def taken(place: Place, call: Call) -> Func:
    """The function after a step.

    Raises IllegalTransform as the primitive does, and ScheduleError for what is no loop, size or number.
    """
    return VERBS[call.verb](place, *call.arguments, **dict(call.options))


# --- The rows


def _tile(at: Place, loops: object, sizes: object, *, separate: bool, names: Sequence[str]) -> Func:
    ivs = at.loops(loops)
    given = (sizes,) * len(ivs) if isinstance(sizes, int | str | Index) else sizes
    if not isinstance(given, Sequence) or len(given) != len(ivs):
        raise problem(ScheduleError, f"cannot {at.call}: each of {len(ivs)} loops has one size, got {literal(sizes)}")
    wanted = tuple(at.size(size) for size in given)

    def tiled(function: Func) -> Func:
        known = Dependences(function, at.module)
        return tile(function, ivs, wanted, separate=separate, names=names, dependences=known)

    _require_perfect(at, ivs, f"tile loops {', '.join(at.names[iv] for iv in ivs)}", tiled)
    return tiled(at.function)


def _require_perfect(at: Place, ivs: Sequence[Value], what: str, again: Request) -> None:
    """Refuse loops that hold more than the next one, with what makes them perfectly nested if that is legal."""
    for outer, inner in pairwise(loop_by(at.function, iv) for iv in ivs):
        if not isinstance(outer, affine.For) or not isinstance(inner, affine.For) or outer.body == (inner,):
            continue
        perfect = Proposal((Step("make_perfect", (outer.iv, inner.iv)),))
        apart = Proposal((Step("distribute", (outer.iv,)),), asks_again=False)
        proposal = first_legal(at.function, at.module, (perfect,), again) or first_legal(
            at.function, at.module, (apart,), lambda function: function
        )
        reason = f"the loop {at.names[outer.iv]} does not hold the loop {at.names[inner.iv]} and nothing else"
        raise refusal(outer, what, reason, proposal or "")


def _copy(
    at: Place, array: object, loop: object, *, space: object, layout: object, panels: object, dma: bool, name: str
) -> Func:
    buffer, iv = at.array(array), at.loop(loop)
    if not isinstance(layout, tuple) or not isinstance(panels, Mapping | None):
        raise problem(
            ScheduleError,
            f"cannot {at.call}: layout is the order of the dimensions, as (1, 0), and panels say how wide each is, "
            "as {0: 8}",
        )
    return data_copy(
        at.function,
        buffer,
        iv,
        space=at.number(space, "space", 0),
        layout=[at.number(axis, "a dimension", 0) for axis in layout],
        panels={
            at.number(axis, "a dimension", 0): at.number(width, "a width", 1) for axis, width in (panels or {}).items()
        },
        dma=dma,
        name=name,
        module=at.module,
    )


def _peel(at: Place, loop: object, *, first: object, last: object) -> Func:
    iv = at.loop(loop)
    begin, end = at.number(first, "first", 0), at.number(last, "last", 0)
    if begin == end == 0:
        raise problem(ScheduleError, f"cannot {at.call}: it takes a number of first or last iterations, as first=1")
    return peel(at.function, iv, first=begin, last=end)


def _unroll(at: Place, loop: object, factor: object) -> Func:
    iv = at.loop(loop)
    if factor is None:
        return unroll_full(at.function, iv)
    return unroll(at.function, iv, at.number(factor, "a factor", 2))


VERBS: Mapping[str, Row] = {
    "tile": _tile,
    "strip_mine": lambda at, loop, size, *, name: strip_mine(
        at.function, at.loop(loop), at.number(size, "a size", 1), name=name
    ),
    "permute": lambda at, loops, *, reassociate: permute(
        at.function, at.loops(loops), reassociate=reassociate, module=at.module
    ),
    "interchange": lambda at, outer, inner, *, reassociate: interchange(
        at.function, at.loop(outer), at.loop(inner), reassociate=reassociate, module=at.module
    ),
    "skew": lambda at, outer, inner, factor: skew(
        at.function, at.loop(outer), at.loop(inner), at.number(factor, "a factor")
    ),
    "shift": lambda at, loop, by: shift(at.function, at.loop(loop), at.number(by, "a distance")),
    "reverse": lambda at, loop, *, reassociate: reverse(
        at.function, at.loop(loop), reassociate=reassociate, module=at.module
    ),
    "distribute": lambda at, loop: distribute(at.function, at.loop(loop), module=at.module),
    "split": lambda at, loop, place: index_set_split(at.function, at.loop(loop), at.expr(place)),
    "peel": _peel,
    "unroll": _unroll,
    "unroll_jam": lambda at, loop, factor, *, reassociate: unroll_jam(
        at.function,
        at.loop(loop),
        at.number(factor, "a factor", 2),
        reassociate=reassociate,
        dependences=at.dependences,
    ),
    "coalesce": lambda at, loops: coalesce(at.function, at.loops(loops)),
    "normalize": lambda at, loop: normalize(at.function, at.loop(loop)),
    "make_perfect": lambda at, outer, inner: make_perfect(
        at.function, at.loop(outer), at.loop(inner), module=at.module
    ),
    "sink": lambda at, loop: sink(at.function, at.loop(loop), module=at.module),
    "copy": _copy,
    "pipeline": lambda at, loop: pipeline_data_transfer(at.function, at.loop(loop), module=at.module),
    "unswitch": lambda at, loop: unswitch(at.function, at.loop(loop)),
    "hoist": lambda at, loop: hoist(at.function, at.loop(loop), at.module),
    "scalar_replace": lambda at, loop: scalar_replace(at.function, at.loop(loop), at.module),
    "privatize": lambda at, array, loop: privatize(at.function, at.array(array), at.loop(loop), module=at.module),
    "expand": lambda at, array, loop: expand(at.function, at.array(array), at.loop(loop), module=at.module),
    "parallel": lambda at, loop, *, reassociate: parallelize(
        at.function, at.loop(loop), reassociate=reassociate, module=at.module
    ),
}

OF_PRIMITIVE: Mapping[str, str] = {
    "parallelize": "parallel",
    "index_set_split": "split",
    "data_copy": "copy",
    "pipeline_data_transfer": "pipeline",
    "unroll_full": "unroll",
}
"""The verbs that are not called as the primitive is."""
