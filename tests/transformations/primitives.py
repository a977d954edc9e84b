"""Every primitive with arguments chosen at random, and forced where it refuses a dependence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from random import Random
from unittest.mock import patch

import affdsl.passes.transforms.distribute as distributing
import affdsl.passes.transforms.fuse.loops as fusing
import affdsl.passes.transforms.interchange as interchanging
import affdsl.passes.transforms.pipeline_data_transfer.transfers as transferring
import affdsl.passes.transforms.reverse as reversing
import affdsl.passes.transforms.tile as tiling
import affdsl.passes.transforms.unroll_jam as jamming
import affdsl.passes.transforms.vectorize as vectorizing
from affdsl.ir.dialects import affine, arith, func, memref
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.traverse import walk, with_fields
from affdsl.ir.types import INDEX, MemRefType
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.cleanup.affine_scalrep import affine_scalrep
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.mlir_opt.affine_loop_normalize import affine_loop_normalize
from affdsl.passes.transforms.buffer_flow import BufferFlow
from affdsl.passes.transforms.coalesce import coalesce
from affdsl.passes.transforms.data_copy import data_copy
from affdsl.passes.transforms.demote import demote
from affdsl.passes.transforms.expand import expand
from affdsl.passes.transforms.hoist import hoist
from affdsl.passes.transforms.if_convert import if_convert
from affdsl.passes.transforms.index_set_split import index_set_split
from affdsl.passes.transforms.locate import locate
from affdsl.passes.transforms.map_gpu import map_gpu
from affdsl.passes.transforms.normalize import normalize
from affdsl.passes.transforms.parallelize import parallelize
from affdsl.passes.transforms.peel import peel
from affdsl.passes.transforms.pipeline_data_transfer import pipeline_data_transfer
from affdsl.passes.transforms.precompute import precompute
from affdsl.passes.transforms.privatize import privatize
from affdsl.passes.transforms.reroll import reroll
from affdsl.passes.transforms.scalar_replace.carried import scalar_replace
from affdsl.passes.transforms.shift import shift
from affdsl.passes.transforms.sink import make_perfect, sink
from affdsl.passes.transforms.skew import skew
from affdsl.passes.transforms.specialize import specialize
from affdsl.passes.transforms.strip_mine import strip_mine
from affdsl.passes.transforms.unroll import unroll, unroll_full
from affdsl.passes.transforms.unswitch import unswitch

Chosen = tuple[tuple[int, ...], tuple[int, ...]]
"""Loops, by their numbers in the text, and other numbers."""


@dataclass(frozen=True, eq=False)
class Setting:
    """What a primitive is applied to: a function, the module around, and what its floats allow."""

    function: func.Func
    module: func.Module
    reassociate: bool = False

    @cached_property
    def loops(self) -> list[affine.For]:
        """The loops, in the order of the text."""
        return [op for op in walk(self.function) if isinstance(op, affine.For)]

    @cached_property
    def buffers(self) -> list[Value]:
        """The arrays: arguments, and those that are made in the function."""
        made = [
            op.result for op in walk(self.function) if isinstance(op, memref.Alloc | memref.Alloca | memref.GetGlobal)
        ]
        return [*(a for a in self.function.args if isinstance(a.type, MemRefType)), *made]

    def ivs(self, numbers: Sequence[int]) -> list[Value]:
        """The induction variables of some loops."""
        loops = self.loops
        return [loops[k].iv for k in numbers]

    @cached_property
    def dependences(self) -> Dependences:
        """The dependences of the function, as its module shows them."""
        return Dependences(self.function, self.module)


@dataclass(frozen=True, eq=False)
class Primitive:
    """A transformation: how its arguments are chosen among the loops of a function, and how it is applied.

    Attributes
    ----------
    choose
        None where the function has no place for it.
    force
        What it makes if nothing asks whether that is legal; None where it never refuses a dependence.
    also
        Other arguments that are refused for the same reason: where the primitive does not know the numbers.
    """

    choose: Callable[[Setting, Random], Chosen | None]
    apply: Callable[[Setting, Sequence[int], Sequence[int]], func.Func]
    force: Callable[[Setting, Sequence[int], Sequence[int]], func.Func] | None = None
    also: Callable[[Chosen], Sequence[Chosen]] = lambda chosen: ()


def band_from(root: affine.For) -> list[affine.For]:
    """The largest perfect band of a loop."""
    found = [root]
    while len(found[-1].body) == 1 and isinstance(found[-1].body[0], affine.For):
        found.append(found[-1].body[0])
    return found


def one(*ranges: Sequence[int]) -> Callable[[Setting, Random], Chosen | None]:
    """Any loop, and a number of each range."""

    def choose(at: Setting, random: Random) -> Chosen | None:
        loops = at.loops
        if not loops:
            return None
        return (random.randrange(len(loops)),), tuple(random.choice(r) for r in ranges)

    return choose


def outer(*ranges: Sequence[int]) -> Callable[[Setting, Random], Chosen | None]:
    """A loop that mostly has loops inside, and a number of each range."""

    def choose(at: Setting, random: Random) -> Chosen | None:
        loops = at.loops
        holding = [k for k, loop in enumerate(loops) if any(isinstance(op, affine.For) for op in loop.body)]
        if not loops:
            return None
        chosen = random.choice(holding) if holding and random.random() < 0.8 else random.randrange(len(loops))
        return (chosen,), tuple(random.choice(r) for r in ranges)

    return choose


def band(at: Setting, random: Random, least: int) -> tuple[int, ...] | None:
    """Loops of a perfect band, outermost first, if there is one of so many."""
    loops = at.loops
    number = {loop: k for k, loop in enumerate(loops)}
    bands = [band_from(loop) for loop in loops]
    long = [b for b in bands if len(b) >= max(least, 2)]
    if not long and least > 1:
        return None
    chosen = random.choice(long if long and random.random() < 0.9 else bands) if bands else None
    if chosen is None or len(chosen) < least:
        return None
    return tuple(number[loop] for loop in chosen[: random.randint(max(least, min(2, len(chosen))), len(chosen))])


def tiles(at: Setting, random: Random) -> Chosen | None:
    """A band, a number for how (full tiles apart, tiles counted by a grid), and a size for each loop."""
    found = band(at, random, 1)
    if found is None:
        return None
    return found, (random.randrange(4), *(random.choice((1, 2, 2, 3, 4, 5)) for _ in found))


def two(at: Setting, random: Random) -> Chosen | None:
    """Two neighbours of a perfect band, or mostly any two loops inside of each other if there is none."""
    found = band(at, random, 2)
    if found is not None:
        k = random.randrange(len(found) - 1)
        return found[k : k + 2], ()
    return nested()(at, random)


def nested(*ranges: Sequence[int]) -> Callable[[Setting, Random], Chosen | None]:
    """A loop, one inside of it, and a number of each range."""

    def choose(at: Setting, random: Random) -> Chosen | None:
        loops = at.loops
        number = {loop: k for k, loop in enumerate(loops)}
        pairs = [(a, b) for a in loops for b in walk(a) if isinstance(b, affine.For) and b is not a]
        if not pairs:
            return None
        pair = random.choice(pairs)
        return tuple(number[loop] for loop in pair), tuple(random.choice(r) for r in ranges)

    return choose


def shuffled(at: Setting, random: Random) -> Chosen | None:
    """A perfect band in another order."""
    found = band(at, random, 2)
    if found is None:
        return None
    mixed = random.sample(found, len(found))
    return tuple(mixed if tuple(mixed) != found else reversed(mixed)), ()


def whole_band(at: Setting, random: Random) -> Chosen | None:
    """A perfect band."""
    found = band(at, random, 2)
    return None if found is None else (found, ())


def buffer_in(*ranges: Sequence[int]) -> Callable[[Setting, Random], Chosen | None]:
    """A loop, mostly one that holds loops, a buffer, local ones more often, and a number of each range."""

    def choose(at: Setting, random: Random) -> Chosen | None:
        found = outer()(at, random)
        if found is None or not at.buffers:
            return None
        local = [k for k, b in enumerate(at.buffers) if b not in at.function.args]
        buffer = random.choice(local) if local and random.random() < 0.6 else random.randrange(len(at.buffers))
        return found[0], (buffer, *(random.choice(r) for r in ranges))

    return choose


def buffer_of_pair(at: Setting, random: Random) -> Chosen | None:
    """Two loops, one inside of the other, and a buffer."""
    found = nested()(at, random)
    return (found[0], (random.randrange(len(at.buffers)),)) if found is not None and at.buffers else None


def nothing(at: Setting, random: Random) -> Chosen | None:
    """The whole function."""
    return (), ()


def carrying(at: Setting, random: Random) -> Chosen | None:
    """A loop that carries a value; and one of the steps that may be legal when that lies in memory."""
    loops = [k for k, loop in enumerate(at.loops) if loop.results]
    return ((random.choice(loops),), (random.randrange(len(AFTER_DEMOTION)),)) if loops else None


def tiled(at: Setting, loops: Sequence[int], numbers: Sequence[int]) -> func.Func:
    how, *sizes = numbers
    return tiling.tile(at.function, at.ivs(loops), sizes, **_form(how), module=at.module)


def _form(how: int) -> dict[str, bool]:
    return {"separate": how % 2 == 1, "grid": how >= 2}


def tiled_by_symbols(at: Setting, loops: Sequence[int], numbers: Sequence[int]) -> func.Func:
    """Tiles whose sizes are known only at run time, as far as the primitive can tell."""
    how, *sizes = numbers
    symbols = [Value(INDEX, f"T{k}") for k, _ in enumerate(sizes)]
    made = [arith.Constant(symbol, size) for symbol, size in zip(symbols, sizes, strict=True)]
    ready = with_fields(at.function, body=(*made, *at.function.body))
    return tiling.tile(ready, at.ivs(loops), symbols, **_form(how), module=_around(at, ready))


def _around(at: Setting, made: func.Func) -> func.Module:
    """The module with another version of the function."""
    module: func.Module = with_fields(at.module, body=tuple(made if op is at.function else op for op in at.module.body))
    return module


def demoted_first(at: Setting, loops: Sequence[int], numbers: Sequence[int]) -> func.Func:
    """As a schedule does by itself: a value is kept in memory, then comes a step on the loop, if it is legal."""
    (iv,) = at.ivs(loops)
    made = demote(at.function, iv, module=at.module)
    now = Setting(made, _around(at, made), at.reassociate)
    number = next(k for k, loop in enumerate(now.loops) if loop.iv is iv)
    pair = next(
        ((k, number) for k, loop in enumerate(now.loops) if now.loops[number] in loop.body), (number, number + 1)
    )
    name, given = AFTER_DEMOTION[numbers[0]]
    loops = pair if name in ("interchange", "make_perfect", "skew") else (number,)
    if loops[-1] == len(now.loops):
        return made
    try:
        return PRIMITIVES[name].apply(now, loops, given)
    except IllegalTransform:
        return made


AFTER_DEMOTION: Sequence[tuple[str, Sequence[int]]] = (
    ("tile", (0, 2)), ("interchange", ()), ("make_perfect", ()), ("skew", (1,)), ("unroll_jam", (2,)), ("reverse", ()),
    ("distribute", ()),
)  # fmt: skip


def other_sizes(chosen: Chosen) -> list[Chosen]:
    """The same band in tiles of other sizes, of which the first loop has more than one iteration and others may not."""
    loops, (how, *sizes) = chosen
    found = [[big if k == which else small for k in range(len(sizes))]
             for which in range(len(sizes)) for small in (1, 2) for big in (2, 3, 5)]  # fmt: skip
    return [(loops, (how, *each)) for each in found]


def split(at: Setting, loops: Sequence[int], numbers: Sequence[int]) -> func.Func:
    """At a number, or at one and an index argument."""
    which, number = numbers
    indices = [a for a in at.function.args if a.type == INDEX]
    place = indices[which % len(indices)] + number if indices and which else Affine.of(number)
    return index_set_split(at.function, *at.ivs(loops), place)


def specialized(at: Setting, loops: Sequence[int], numbers: Sequence[int]) -> func.Func:
    """By an index argument and a number."""
    which, number = numbers
    indices = [a for a in at.function.args if a.type == INDEX]
    sizes = [indices[which % len(indices)] - number] if indices else []
    return specialize(at.function, *at.ivs(loops), [Constraint(size) for size in sizes])


def normalized(at: Setting, loops: Sequence[int], numbers: Sequence[int]) -> func.Func:
    return _pass(at, affine_loop_normalize(at.module, promote_single_iter=bool(numbers[0])))


def pipelined(at: Setting, loops: Sequence[int], numbers: Sequence[int]) -> func.Func:
    """The inner loop works on a copy that DMAs make, and they start one iteration of the outer one early."""
    around, iv = at.ivs(loops)
    copied = data_copy(at.function, at.buffers[numbers[0]], iv, dma=True, space=1, module=at.module)
    return pipeline_data_transfer(copied, around, module=_around(at, copied))


def with_fewer_accesses(at: Setting, loops: Sequence[int], numbers: Sequence[int]) -> func.Func:
    return _pass(at, affine_scalrep(at.module))


def _pass(at: Setting, made: func.Module) -> func.Func:
    """The function of a module that a pass made."""
    return next(f for f in made.functions if f.symbol == at.function.symbol)


@contextmanager
def unasked(*patches: tuple[object, str, object]) -> Iterator[None]:
    """Primitives that ask for nothing."""
    with ExitStack() as stack:
        for module, attribute, instead in patches:
            stack.enter_context(patch.object(module, attribute, instead))
        yield


def _yes(*_: object, **__: object) -> None:
    """Stands for a check that everything passes."""


def siblings(at: Setting, random: Random) -> Chosen | None:
    """Two loops of one block, mostly, a shift, and whether one loop is to be made."""
    loops = at.loops
    number = {loop: k for k, loop in enumerate(loops)}
    blocks = [block for op in walk(at.function) for block in op.blocks()]
    pairs = [p for b in blocks for p in combinations([op for op in b if isinstance(op, affine.For)], 2)]
    if not pairs:
        return None
    return tuple(number[loop] for loop in random.choice(pairs)), (random.choice((0, 0, 1, -1, 2)), random.randrange(2))


def fused(at: Setting, loops: Sequence[int], numbers: Sequence[int]) -> func.Func:
    """Two loops made one, at a shift."""
    shift, guarded = numbers
    return fusing.fuse(at.function, *at.ivs(loops), shift=shift, guarded=bool(guarded), module=at.module)


def _no_edges(dependences: object, loop: object, pieces: Sequence[object]) -> list[set[int]]:
    """No statement must stay behind another one."""
    return [set() for _ in pieces]


def forced(
    apply: Callable[[Setting, Sequence[int], Sequence[int]], func.Func], *patches: tuple[object, str, object]
) -> Callable[[Setting, Sequence[int], Sequence[int]], func.Func]:
    """A primitive that asks for nothing."""

    def force(at: Setting, loops: Sequence[int], numbers: Sequence[int]) -> func.Func:
        with unasked(*patches):
            return apply(at, loops, numbers)

    return force


def _primitive(choose, apply, *patches) -> Primitive:  # type: ignore[no-untyped-def]
    return Primitive(choose, apply, forced(apply, *patches) if patches else None)


def _reversed(at: Setting, loops: Sequence[int], numbers: Sequence[int]) -> func.Func:
    (iv,) = at.ivs(loops)
    return reversing.reverse(at.function, iv, module=at.module, reassociate=at.reassociate)


def _mapped(at: Setting, loops: Sequence[int], numbers: Sequence[int]) -> func.Func:
    return map_gpu(at.function, *at.ivs(loops), blocks=numbers[0], threads=numbers[1], module=at.module)


def _mapped_backwards(at: Setting, loops: Sequence[int], numbers: Sequence[int]) -> func.Func:
    return _mapped(at, loops, numbers) if max(numbers) == 1 else _reversed(at, loops[:1], numbers)


def _nothing_carried(*_: object, **__: object) -> tuple[()]:
    """Stands for what is combined: a loop that hands values on in other ways does so backwards."""
    return ()


def _nothing_seen(flow: object) -> tuple[()]:
    """No read sees anything that its own iteration did not write."""
    return ()


OWN_ONLY = (BufferFlow, "seen_inside", _nothing_seen), (BufferFlow, "seen_outside", _nothing_seen)
REVERSE = (reversing, "require_order", _yes), (reversing, "carried_reductions", _nothing_carried)

PRIMITIVES: dict[str, Primitive] = {
    "tile": _primitive(tiles, tiled, (tiling, "_check", _yes)),
    "tile by symbols": Primitive(
        tiles, tiled_by_symbols, forced(tiled_by_symbols, (tiling, "_check", _yes)), other_sizes
    ),
    "strip_mine": _primitive(one((1, 2, 3, 4, 7)), lambda at, loops, n: strip_mine(at.function, *at.ivs(loops), *n)),
    "interchange": _primitive(
        two,
        lambda at, loops, n: interchanging.interchange(
            at.function, *at.ivs(loops), module=at.module, reassociate=at.reassociate
        ),
        (interchanging, "require_order", _yes),
    ),
    "permute": _primitive(
        shuffled,
        lambda at, loops, n: interchanging.permute(
            at.function, at.ivs(loops), module=at.module, reassociate=at.reassociate
        ),
        (interchanging, "require_order", _yes),
    ),
    "skew": _primitive(nested((-2, -1, 1, 2, 3)), lambda at, loops, n: skew(at.function, *at.ivs(loops), *n)),
    "shift": _primitive(one((-3, -1, 1, 2, 5)), lambda at, loops, n: shift(at.function, *at.ivs(loops), *n)),
    "reverse": _primitive(one(), _reversed, *REVERSE),
    "distribute": _primitive(
        one(),
        lambda at, loops, n: distributing.distribute(at.function, *at.ivs(loops), module=at.module),
        (distributing, "require_order", _yes), (distributing, "_edges", _no_edges),
    ),
    "fuse": _primitive(siblings, fused, (fusing, "require_order", _yes)),
    "index_set_split": _primitive(one((0, 0, 1, 2), range(-1, 8)), split),
    "peel": _primitive(
        one((0, 1, 2, 3), (0, 1, 2)), lambda at, loops, n: peel(at.function, *at.ivs(loops), first=n[0], last=n[1])
    ),
    "unroll": _primitive(one((2, 3, 4, 5)), lambda at, loops, n: unroll(at.function, *at.ivs(loops), *n)),
    "unroll_full": _primitive(one(), lambda at, loops, n: unroll_full(at.function, *at.ivs(loops))),
    "unroll_jam": _primitive(
        outer((2, 2, 3, 4)),
        lambda at, loops, n: jamming.unroll_jam(
            at.function, *at.ivs(loops), *n, module=at.module, reassociate=at.reassociate
        ),
        (jamming, "_check", _yes),
    ),
    "vectorize": _primitive(
        one((2, 3, 4, 8), (0, 1)),
        lambda at, loops, n: vectorizing.vectorize(
            at.function, *at.ivs(loops), n[0], tail=("scalar", "masked")[n[1]], module=at.module,
            reassociate=at.reassociate,
        ),
        (vectorizing, "_require_order", _yes),
    ),
    "coalesce": _primitive(whole_band, lambda at, loops, n: coalesce(at.function, at.ivs(loops))),
    "normalize": _primitive(one(), lambda at, loops, n: normalize(at.function, *at.ivs(loops))),
    "normalize all": _primitive(one((0, 1)), normalized),
    "locate": _primitive(
        one((2, 3, 7)), lambda at, loops, n: locate(at.function, *at.ivs(loops), *n, module=at.module)
    ),
    "reroll": _primitive(one(), lambda at, loops, n: reroll(at.function, *at.ivs(loops))),
    # Iterations that may run in any order may run backwards.
    "parallelize": Primitive(
        one(),
        lambda at, loops, n: parallelize(at.function, *at.ivs(loops), module=at.module, reassociate=at.reassociate),
        forced(_reversed, *REVERSE),
    ),
    # Blocks and threads may run backwards, if there are several.
    "map_gpu": Primitive(nested((1, 2, 5), (1, 3)), _mapped, forced(_mapped_backwards, *REVERSE)),
    "hoist": _primitive(one(), lambda at, loops, n: hoist(at.function, *at.ivs(loops), module=at.module)),
    "if_convert": _primitive(
        one(), lambda at, loops, n: if_convert(at.function, *at.ivs(loops), module=at.module)
    ),
    "sink": _primitive(one(), lambda at, loops, n: sink(at.function, *at.ivs(loops), module=at.module)),
    "make_perfect": _primitive(
        nested(), lambda at, loops, n: make_perfect(at.function, *at.ivs(loops), module=at.module)
    ),
    "precompute": _primitive(
        buffer_in(),
        lambda at, loops, n: precompute(at.function, at.buffers[n[0]], *at.ivs(loops), module=at.module),
    ),
    "privatize": _primitive(
        buffer_in(),
        lambda at, loops, n: privatize(at.function, at.buffers[n[0]], *at.ivs(loops), module=at.module),
        *OWN_ONLY,
    ),
    "expand": _primitive(
        buffer_in(),
        lambda at, loops, n: expand(at.function, at.buffers[n[0]], *at.ivs(loops), module=at.module),
        *OWN_ONLY,
    ),
    "data_copy": _primitive(
        buffer_in((0, 1, 2), range(4)),
        lambda at, loops, n: data_copy(
            at.function, at.buffers[n[0]], *at.ivs(loops), dma=n[1] == 1, space=n[1] % 2, private=n[1] == 2,
            still=None if n[2] else at.ivs(loops)[0], module=at.module,
        ),
    ),
    "pipeline": _primitive(buffer_of_pair, pipelined, (transferring, "require_order", _yes)),
    "scalar_replace": _primitive(
        one(), lambda at, loops, n: scalar_replace(at.function, *at.ivs(loops), module=at.module)
    ),
    "demote": _primitive(one(), lambda at, loops, n: demote(at.function, *at.ivs(loops), module=at.module)),
    "demote first": _primitive(carrying, demoted_first),
    "scalrep": _primitive(nothing, with_fewer_accesses),
    "specialize": _primitive(one(range(4), range(8)), specialized),
    "unswitch": _primitive(one(), lambda at, loops, n: unswitch(at.function, *at.ivs(loops))),
}  # fmt: skip
"""All primitives by name."""
