"""The verbs of a schedule: one row for each, which reads the names of loops, sizes and arrays as a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from affdsl.frozen import Frozen, FrozenValue
from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.ir.types import MemRefType
from affdsl.lang.indices import Index
from affdsl.lang.source import problem
from affdsl.passes.legality.proposals import Argument, Request, Step
from affdsl.passes.legality.refusal import refusal
from affdsl.schedule.bands import require_band
from affdsl.schedule.loops import ScheduleError, loop_by
from affdsl.schedule.place import Place
from affdsl.schedule.spelling import literal, symbols_in


class VerbCall(Frozen):
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
        """The names of the symbols that its arguments and options are written with."""
        given = (*self.arguments, *(value for _, value in self.options))
        return tuple(dict.fromkeys(symbol.hint for value in given for symbol in symbols_in(value)))

    @property
    def texts(self) -> frozenset[str]:
        """All texts among its arguments: the names of loops and arrays, and places."""
        return frozenset(_texts(self.arguments))

    def given(self, **options: object) -> VerbCall:
        """The same step with some options given in another way."""
        return replace(self, options=tuple({**dict(self.options), **options}.items()))


def _texts(argument: object) -> Iterator[str]:
    if isinstance(argument, str):
        yield argument
    elif isinstance(argument, tuple):
        for each in argument:
            yield from _texts(each)


Reader = Callable[..., Step]
"""What a step asks for at a place, given what the user gave, each option by its name."""


class Verb(FrozenValue):
    """How a step of a schedule is a step of a function.

    Attributes
    ----------
    band
        What is asked for, where it takes a band of loops: with places for their names, or one for all of them.
    ordered
        Whether the loops of the band are named outermost first.
    """

    read: Reader
    band: str = ""
    ordered: bool = False


def filled(place: Place, call: VerbCall) -> VerbCall:
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


def read(place: Place, call: VerbCall) -> Step:
    """The step that a call asks for.

    Raises ScheduleError for what is no loop, size or number, and IllegalTransform for loops that are no band.
    """
    verb = VERBS[call.verb]
    step = verb.read(place, *call.arguments, **dict(call.options))
    if verb.band:
        require_band(place, Request(step, place.function, place.module), verb.band, ordered=verb.ordered)
    return step


Kind = Callable[[Place, Any], Any]
"""What one argument of a step is at a place."""


def _of(primitive: str, *kinds: Kind) -> Reader:
    """A step whose arguments are of some kinds, one after the other, and which is given options as they are."""

    def read(at: Place, *given: object, **options: Argument) -> Step:
        found = tuple(kind(at, each) for kind, each in zip(kinds, given, strict=True))
        return Step(primitive, found, tuple(options.items()))

    return read


def _number(what: str, least: int | None = None) -> Kind:
    return lambda at, given: at.number(given, what, least)


_loop, _loops, _array = Place.loop, Place.loops, Place.array
_data: Kind = partial(Place.loop, data=True)
"""A loop, whose bounds may come from data."""
_any: Kind = partial(Place.loop, any=True)
"""A loop of any kind."""


def _tile(at: Place, loops: object, sizes: object, **options: Argument) -> Step:
    ivs = at.loops(loops)
    given = (sizes,) * len(ivs) if isinstance(sizes, int | str | Index) else sizes
    if not isinstance(given, Sequence) or len(given) != len(ivs):
        raise problem(ScheduleError, f"cannot {at.call}: each of {len(ivs)} loops has one size, got {literal(sizes)}")
    return Step("tile", (ivs, tuple(at.size(size) for size in given)), tuple(options.items()))


def _copy(
    at: Place, array: object, loop: object, *, space: object, layout: object, panels: object, dma: bool, name: str,
    private: bool, still: object,
) -> Step:  # fmt: skip
    buffer, iv = at.array(array), at.loop(loop)
    if not isinstance(layout, tuple) or not isinstance(panels, Mapping | None):
        raise problem(
            ScheduleError,
            f"cannot {at.call}: layout is the order of the dimensions, as (1, 0), and panels say how wide each is, "
            "as {0: 8}",
        )
    widths = ((at.number(k, "a dimension", 0), at.number(w, "a width", 1)) for k, w in (panels or {}).items())
    options: dict[str, Argument] = {
        "space": at.number(space, "space", 0),
        "layout": tuple(at.number(axis, "a dimension", 0) for axis in layout),
        "panels": dict(widths),
        "dma": dma,
        "name": name,
        "private": private,
    }
    if still != "":
        options["still"] = at.loop(still)
    return Step("data_copy", (buffer, iv), tuple(options.items()))


def _peel(at: Place, loop: object, *, first: object, last: object) -> Step:
    iv = at.loop(loop)
    begin, end = at.number(first, "first", 0), at.number(last, "last", 0)
    if begin == end == 0:
        raise problem(ScheduleError, f"cannot {at.call}: it takes a number of first or last iterations, as first=1")
    return Step("peel", (iv,), (("first", begin), ("last", end)))


def _unroll(at: Place, loop: object, *factor: object) -> Step:
    iv = at.loop(loop, data=bool(factor))
    return Step("unroll", (iv, at.number(factor[0], "a factor", 2))) if factor else Step("unroll_full", (iv,))


def _pipeline(at: Place, loop: object) -> Step:
    iv = at.loop(loop)
    starts = [op for op in walk(loop_by(at.function, iv)) if isinstance(op, affine.DmaStart)]
    spaces = {op.source.type.space for op in starts if isinstance(op.source.type, MemRefType)}
    if len(spaces) == 1 and all(getattr(op.target.type, "space", None) in spaces for op in starts):
        (space,) = spaces
        raise refusal(
            starts[0], f"pipeline the DMAs of loop {at.names[iv]}",
            f"they copy within the memory space {space}: only those to a space of a higher number start early; "
            "undo the copy, and take it with space=1",
        )  # fmt: skip
    return Step("pipeline_data_transfer", (iv,))


def _parallel(at: Place, loop: object, *, reassociate: bool, copies: object = 0) -> Step:
    iv = at.loop(loop, parallel="there is nothing left to do", data=True)
    options = (("copies", at.number(copies, "copies", 1)),) if copies != 0 else ()
    return Step("parallelize", (iv,), (("reassociate", reassociate), *options))


def _prefetch(at: Place, array: object, loop: object, of: object, *, distance: object = None) -> Step:
    made = (at.array(array), at.loop(loop), at.loop(of))
    later = (("distance", at.number(distance, "how many iterations", 1)),) if distance is not None else ()
    return Step("prefetch", made, later)


def _align(at: Place, array: object, loop: object, lanes: object, *, least: object = None) -> Step:
    made = (at.array(array), at.loop(loop), at.number(lanes, "how many elements a line has", 2))
    return Step(
        "align", made, (("least", at.number(least, "how many lines are worth it", 1)),) if least is not None else ()
    )


def _splice(at: Place, loop: object, *, more_loads: object = 0, **options: Argument) -> Step:
    more = at.number(more_loads, "how many more vectors are loaded", 0)
    return Step("splice", (at.loop(loop),), tuple((options | {"more_loads": more} if more else options).items()))


def _pad(at: Place, array: object, dim: object, factor: object, offset: object = 0) -> Step:
    numbers = at.number(dim, "a dimension", 0), at.number(factor, "a factor", 1), at.number(offset, "an offset", 0)
    return Step("pad", (at.array(array), *numbers))


def _skew_array(at: Place, array: object, dim: object, along: object, factor: object) -> Step:
    dims = at.number(dim, "a dimension", 0), at.number(along, "a dimension", 0)
    return Step("skew_array", (at.array(array), *dims, at.number(factor, "a factor", 1)))


def _vectorize(at: Place, loop: object, width: object, **options: Argument) -> Step:
    if isinstance(loop, str):
        return _of("vectorize", _loop, _number("a width", 2))(at, loop, width, **options)
    ivs = at.loops(loop)
    if not isinstance(width, Sequence) or len(width) != len(ivs):
        raise problem(ScheduleError, f"cannot {at.call}: each of {len(ivs)} loops has one width, got {literal(width)}")
    return Step("vectorize", (ivs, tuple(at.number(each, "a width", 2) for each in width)), tuple(options.items()))


def _interchange(at: Place, outer: object, inner: object, *, reassociate: bool) -> Step:
    return Step("interchange", at.loops((outer, inner), data=True), (("reassociate", reassociate),))


def _map_gpu(at: Place, outer: object, inner: object, *, blocks: object, threads: object) -> Step:
    loops = (at.loop(outer, parallel=None), *((at.loop(inner, parallel=None),) if inner != "" else ()))
    sizes = ("blocks", at.number(blocks, "the number of blocks", 1)), ("threads", at.number(threads, "of threads", 1))
    return Step("map_gpu", loops, sizes)


def _fuse(at: Place, first: object, second: object, *, shift: object, guarded: bool) -> Step:
    by = at.expr(shift, "a shift")
    options = ("shift", by.constant if by.is_constant else by), ("guarded", guarded)
    return Step("fuse", (at.loop(first, parallel=None), at.loop(second, parallel=None)), options)


VERBS: Mapping[str, Verb] = {
    "tile": Verb(_tile, band="tile loops {}", ordered=True),
    "strip_mine": Verb(_of("strip_mine", _data, _number("a size", 1))),
    "permute": Verb(_of("permute", _loops), band="bring loops into the order {}"),
    "interchange": Verb(_interchange, band="interchange loops {} and {}"),
    "skew": Verb(_of("skew", _loop, _loop, _number("a factor"))),
    "shift": Verb(_of("shift", _loop, _number("a distance"))),
    "reverse": Verb(_of("reverse", _loop)),
    "fuse": Verb(_fuse),
    "distribute": Verb(_of("distribute", _data)),
    "split": Verb(_of("index_set_split", _loop, Place.expr)),
    "peel": Verb(_peel),
    "unroll": Verb(_unroll),
    "unroll_jam": Verb(_of("unroll_jam", _loop, _number("a factor", 2))),
    "vectorize": Verb(_vectorize),
    "coalesce": Verb(_of("coalesce", _loops), band="coalesce loops {}", ordered=True),
    "contract": Verb(_of("contract", _any)),
    "approximate": Verb(_of("approximate", _any)),
    "reciprocal": Verb(_of("reciprocal", _any)),
    "extremes": Verb(_of("extremes", _any)),
    "normalize": Verb(_of("normalize", _loop)),
    "reroll": Verb(_of("reroll", _loop)),
    "locate": Verb(_of("locate", _loop, _number("how many iterations a strip has", 2))),
    "make_perfect": Verb(_of("make_perfect", _loop, _loop)),
    "sink": Verb(_of("sink", _loop)),
    "copy": Verb(_copy),
    "pipeline": Verb(_pipeline),
    "prefetch": Verb(_prefetch),
    "load_ahead": Verb(_of("load_ahead", _array, _loop)),
    "align": Verb(_align),
    "stream": Verb(_of("stream", _array, _loop, _number("how many bytes the array has", 0))),
    "unswitch": Verb(_of("unswitch", _loop)),
    "specialize": Verb(_of("specialize", _loop, Place.condition)),
    "hoist": Verb(_of("hoist", _data)),
    "if_convert": Verb(_of("if_convert", _loop)),
    "scalar_replace": Verb(_of("scalar_replace", _data)),
    "splice": Verb(_splice),
    "slp": Verb(_of("slp", _loop, _number("how many lanes a vector has", 2))),
    "demote": Verb(_of("demote", _data)),
    "compute_at": Verb(_of("compute_at", _array, _loop)),
    "precompute": Verb(_of("precompute", _array, _loop)),
    "privatize": Verb(_of("privatize", _array, _loop)),
    "expand": Verb(_of("expand", _array, _loop)),
    "fold": Verb(_of("fold", _array, _number("a dimension", 0), _number("a size", 1))),
    "pad": Verb(_pad),
    "skew_array": Verb(_skew_array),
    "displace": Verb(_of("displace", _array, _array)),
    "inline": Verb(_of("inline", _array)),
    "merge": Verb(_of("merge", _array)),
    "parallel": Verb(_parallel),
    "map_gpu": Verb(_map_gpu),
}

OF_PRIMITIVE: Mapping[str, str] = {
    "parallelize": "parallel",
    "index_set_split": "split",
    "data_copy": "copy",
    "pipeline_data_transfer": "pipeline",
    "unroll_full": "unroll",
}
"""The verbs that are not called as the transformation is."""
