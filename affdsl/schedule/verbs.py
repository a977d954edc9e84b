"""The verbs of a schedule: one row for each, which asks a primitive by the names of loops, sizes and arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func
from affdsl.ir.traverse import walk
from affdsl.ir.types import MemRefType
from affdsl.lang.indices import Index
from affdsl.lang.source import problem
from affdsl.schedule.bands import require_band
from affdsl.schedule.loops import ScheduleError, loop_by
from affdsl.schedule.place import Place
from affdsl.schedule.spelling import literal, symbols_in
from passes.analysis.dependence import Dependences
from passes.legality.magnitude import require_small
from passes.legality.require import IllegalTransform, first_legal, refusal
from passes.legality.running import so_that_it_runs
from passes.legality.steps import Proposal
from passes.transforms.coalesce import coalesce
from passes.transforms.data_copy import data_copy
from passes.transforms.demote import demote
from passes.transforms.distribute import distribute
from passes.transforms.expand import expand
from passes.transforms.hoist import hoist
from passes.transforms.index_set_split import index_set_split
from passes.transforms.interchange import interchange, permute
from passes.transforms.normalize import normalize
from passes.transforms.parallelize import parallelize
from passes.transforms.peel import peel
from passes.transforms.pipeline_data_transfer import pipeline_data_transfer
from passes.transforms.privatize import privatize
from passes.transforms.reverse import reverse
from passes.transforms.scalar_replace.carried import scalar_replace
from passes.transforms.settle import Settled, settled
from passes.transforms.shift import shift
from passes.transforms.sink import make_perfect, sink
from passes.transforms.skew import skew
from passes.transforms.strip_mine import strip_mine
from passes.transforms.tile import tile
from passes.transforms.unroll import unroll, unroll_full
from passes.transforms.unroll_jam import unroll_jam
from passes.transforms.unswitch import unswitch


@dataclass(frozen=True, eq=False)
class Call:
    """A step as the user wrote it: a verb, its arguments, and its options, all of which are nothing by default."""

    verb: str
    arguments: tuple[object, ...]
    options: tuple[tuple[str, object], ...] = ()

    @property
    def text(self) -> str:
        """The call, without the schedule before it."""
        plain = (bool, int, str, tuple, dict, type(None))
        shown = ((key, value) for key, value in self.options if not isinstance(value, plain) or value)
        options = (f"{key}={literal(value)}" for key, value in shown)
        given = (*map(literal, self.arguments), *options)
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
            loop = place.names[place.loop(call.arguments[0], data=True)]
            return call.given(name=place.new(dict(call.options)["name"], [loop], "_strip")[0])
        case "copy":
            return call.given(name=place.new_array(dict(call.options)["name"], call.arguments[0], "_fast"))
    return call


SETTLES = frozenset(("tile", "strip_mine", "split", "peel", "skew", "unroll", "unroll_jam", "permute", "interchange"))
"""The verbs that make bounds, which may say more than their place needs."""


def taken(place: Place, call: Call) -> Settled:
    """The function after a step, and what became of loops that it leaves out.

    Raises IllegalTransform as the primitive does, and for numbers that become too large, and ScheduleError for what is
    no loop, size or number.
    """
    made = VERBS[call.verb](place, *call.arguments, **dict(call.options))
    require_small(place.function, made, place.call)
    return settled(made, place.function) if call.verb in SETTLES else Settled(made)


# --- The rows


def _tile(
    at: Place, loops: object, sizes: object, *, separate: bool, reassociate: bool, names: Sequence[str], grid: bool
) -> Func:
    ivs = at.loops(loops)
    given = (sizes,) * len(ivs) if isinstance(sizes, int | str | Index) else sizes
    if not isinstance(given, Sequence) or len(given) != len(ivs):
        raise problem(ScheduleError, f"cannot {at.call}: each of {len(ivs)} loops has one size, got {literal(sizes)}")
    wanted = tuple(at.size(size) for size in given)

    def tiled(function: Func, reassociate: bool = reassociate) -> Func:
        known = Dependences(function, at.module)
        return tile(
            function, ivs, wanted, separate=separate, reassociate=reassociate, names=names, grid=grid, dependences=known
        )

    require_band(at, ivs, f"tile loops {at.listed(ivs)}", tiled)
    return tiled(at.function)


def _permute(at: Place, loops: object, *, reassociate: bool) -> Func:
    ivs = at.loops(loops)

    def permuted(function: Func, reassociate: bool = reassociate) -> Func:
        return permute(function, ivs, reassociate=reassociate, module=at.module)

    require_band(at, ivs, f"bring loops into the order {at.listed(ivs)}", permuted, ordered=False)
    return permuted(at.function)


def _interchange(at: Place, outer: object, inner: object, *, reassociate: bool) -> Func:
    first, second = at.loops((outer, inner), data=True)

    def interchanged(function: Func, reassociate: bool = reassociate) -> Func:
        return interchange(function, first, second, reassociate=reassociate, module=at.module)

    what = f"interchange loops {at.names[first]} and {at.names[second]}"
    require_band(at, (second, first), what, interchanged, ordered=False)
    return interchanged(at.function)


def _coalesce(at: Place, loops: object) -> Func:
    ivs = at.loops(loops)
    require_band(at, ivs, f"coalesce loops {at.listed(ivs)}", lambda function: coalesce(function, ivs))
    return coalesce(at.function, ivs)


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


def _unroll(at: Place, loop: object, *factor: object) -> Func:
    iv = at.loop(loop, data=bool(factor))
    if not factor:
        return unroll_full(at.function, iv)
    return unroll(at.function, iv, at.number(factor[0], "a factor", 2))


def _pipeline(at: Place, loop: object) -> Func:
    iv = at.loop(loop)
    try:
        return pipeline_data_transfer(at.function, iv, module=at.module)
    except IllegalTransform:
        starts = [op for op in walk(loop_by(at.function, iv)) if isinstance(op, affine.DmaStart)]
        spaces = {op.source.type.space for op in starts if isinstance(op.source.type, MemRefType)}
        if len(spaces) == 1 and all(getattr(op.target.type, "space", None) in spaces for op in starts):
            (space,) = spaces
            raise refusal(
                starts[0], f"pipeline the DMAs of loop {at.names[iv]}",
                f"they copy within the memory space {space}: only those to a space of a higher number start early; "
                "undo the copy, and take it with space=1",
            ) from None  # fmt: skip
        raise


def _scalar_replace(at: Place, loop: object) -> Func:
    iv = at.loop(loop, data=True)

    def replaced(function: Func) -> Func:
        return scalar_replace(function, iv, at.module)

    try:
        return replaced(at.function)
    except IllegalTransform as error:
        counted = loop_by(at.function, iv)
        facts = so_that_it_runs(at.function, counted) if isinstance(counted, affine.For) else ()
        proposals = [Proposal(assumes=facts)] if facts else []
        found = first_legal(at.function, at.module, proposals, replaced)
        if found is None:
            raise
        message = f"{error}\n    legal: {found}"
        raise IllegalTransform(message, dependence=error.dependence, witness=error.witness, alternative=found) from None


def _parallel(at: Place, loop: object, *, reassociate: bool) -> Func:
    iv = at.loop(loop, parallel="there is nothing left to do", data=True)
    return parallelize(at.function, iv, reassociate=reassociate, module=at.module)


VERBS: Mapping[str, Row] = {
    "tile": _tile,
    "strip_mine": lambda at, loop, size, *, name: strip_mine(
        at.function, at.loop(loop, data=True), at.number(size, "a size", 1), name=name
    ),
    "permute": _permute,
    "interchange": _interchange,
    "skew": lambda at, outer, inner, factor: skew(
        at.function, at.loop(outer), at.loop(inner), at.number(factor, "a factor")
    ),
    "shift": lambda at, loop, by: shift(at.function, at.loop(loop), at.number(by, "a distance")),
    "reverse": lambda at, loop, *, reassociate: reverse(
        at.function, at.loop(loop), reassociate=reassociate, module=at.module
    ),
    "distribute": lambda at, loop: distribute(at.function, at.loop(loop, data=True), module=at.module),
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
    "coalesce": _coalesce,
    "normalize": lambda at, loop: normalize(at.function, at.loop(loop)),
    "make_perfect": lambda at, outer, inner: make_perfect(
        at.function, at.loop(outer), at.loop(inner), module=at.module
    ),
    "sink": lambda at, loop: sink(at.function, at.loop(loop), module=at.module),
    "copy": _copy,
    "pipeline": _pipeline,
    "unswitch": lambda at, loop: unswitch(at.function, at.loop(loop)),
    "hoist": lambda at, loop: hoist(at.function, at.loop(loop, data=True), at.module),
    "scalar_replace": _scalar_replace,
    "demote": lambda at, loop: demote(at.function, at.loop(loop, data=True), module=at.module),
    "privatize": lambda at, array, loop: privatize(at.function, at.array(array), at.loop(loop), module=at.module),
    "expand": lambda at, array, loop: expand(at.function, at.array(array), at.loop(loop), module=at.module),
    "parallel": _parallel,
}

OF_PRIMITIVE: Mapping[str, str] = {
    "parallelize": "parallel",
    "index_set_split": "split",
    "data_copy": "copy",
    "pipeline_data_transfer": "pipeline",
    "unroll_full": "unroll",
}
"""The verbs that are not called as the primitive is."""
