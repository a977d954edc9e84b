"""Random steps of schedules: what is refused leaves no trace, and what is taken must be right."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable

import affdsl as af
from affdsl.passes.transforms.vectorize import TAILS

SIZES = (1, 2, 3, 4, 7, 8)


def random_schedule(
    kernel: af.Kernel,
    seed: int,
    steps: int = 6,
    tries: int = 30,
    counts: Counter[str] | None = None,
    *,
    is_read: bool = False,
) -> af.Schedule:
    """A schedule of some random steps; `counts` gets how often each verb was taken and refused.

    If `is_read`, so is what refusals say.
    """
    rng = random.Random(f"{kernel.name} {seed}")
    schedule = af.Schedule(kernel)
    for _ in range(tries):
        if len(schedule.steps) == steps or not 0 < len(schedule.loops()) <= 24:
            break
        verb = rng.choice(list(VERBS))
        before, text = len(schedule.steps), str(schedule)
        try:
            VERBS[verb](schedule, rng)
        except (af.IllegalTransform, af.ScheduleError) as error:
            assert str(schedule) == text
            if is_read:
                _require_words(error)
            if counts is not None:
                counts[f"{verb} refused"] += 1
        else:
            taken = [step.call.verb for step in schedule.steps[before:]]
            assert taken == ["demote"] * (len(taken) - 1) + [verb]
            if counts is not None:
                counts[verb] += 1
    return schedule


def _require_words(error: af.AffdslError) -> None:
    if re.search(r"\bv\.\d", str(error)):
        raise AssertionError("what the user gave no name is called by a number") from error


def _loop(schedule: af.Schedule, rng: random.Random) -> str:
    return rng.choice([name for row in schedule.loops() for name in row.names])


def _array(schedule: af.Schedule, rng: random.Random) -> str:
    names = re.findall(r"\baffine\.(?:vector_)?(?:load|store) (?:%\w+, )?%(\w+)\[", str(schedule.kernel()))
    return rng.choice(sorted(set(names)) or ["A"])


def _copy(schedule: af.Schedule, rng: random.Random) -> None:
    panels = {0: rng.choice((2, 3))} if rng.random() < 0.3 else None
    space, layout = rng.choice((0, 1)), rng.choice(((), (), (1, 0)))
    dma, private = rng.random() < 0.3, rng.random() < 0.3
    still = _loop(schedule, rng) if rng.random() < 0.3 else ""
    schedule.copy(
        _array(schedule, rng), _loop(schedule, rng), space=space, panels=panels, layout=layout, dma=dma,
        private=private, still=still,
    )  # fmt: skip


def _band(schedule: af.Schedule, rng: random.Random) -> tuple[str, ...]:
    """Loops inside of each other, outermost first, perfectly nested or not."""
    rows = list(schedule.loops())
    start = rng.randrange(len(rows))
    band = [rows[start]]
    for row in rows[start + 1 :]:
        if row.depth == band[-1].depth + 1 and len(band) < 3:
            band.append(row)
        elif row.depth <= rows[start].depth:
            break
    return tuple(row.names[0] for row in band[: rng.randint(1, 3)])


def _permute(schedule: af.Schedule, rng: random.Random) -> None:
    band = list(_band(schedule, rng))
    rng.shuffle(band)
    schedule.permute(band)


def _two(schedule: af.Schedule, rng: random.Random) -> tuple[str, str]:
    band = _band(schedule, rng)
    return (band[0], band[1]) if len(band) > 1 else (band[0], _loop(schedule, rng))


VERBS: dict[str, Callable[[af.Schedule, random.Random], object]] = {
    "tile": lambda s, r: s.tile(_band(s, r), r.choice(SIZES), separate=r.random() < 0.3, grid=r.random() < 0.3),
    "strip_mine": lambda s, r: s.strip_mine(_loop(s, r), r.choice(SIZES)),
    "permute": _permute,
    "interchange": lambda s, r: s.interchange(*_two(s, r)),
    "skew": lambda s, r: s.skew(*_two(s, r), r.choice((-1, 1, 2))),
    "shift": lambda s, r: s.shift(_loop(s, r), r.choice((-2, 1, 5))),
    "reverse": lambda s, r: s.reverse(_loop(s, r)),
    "fuse": lambda s, r: s.fuse(_loop(s, r), _loop(s, r), shift=r.choice((0, 0, 1, 2)), guarded=r.random() < 0.5),
    "distribute": lambda s, r: s.distribute(_loop(s, r)),
    "split": lambda s, r: s.split(_loop(s, r), r.choice((0, 2, 5, af.symbols("N") // 2 + 1))),
    "peel": lambda s, r: s.peel(_loop(s, r), first=r.choice((0, 1)), last=r.choice((0, 1, 2))),
    "unroll": lambda s, r: s.unroll(_loop(s, r), r.choice((None, 2, 3))),
    "unroll_jam": lambda s, r: s.unroll_jam(_loop(s, r), r.choice((2, 3))),
    "vectorize": lambda s, r: s.vectorize(_loop(s, r), r.choice((2, 4)), tail=r.choice(TAILS)),
    "coalesce": lambda s, r: s.coalesce(_band(s, r)),
    "parallel": lambda s, r: s.parallel(_loop(s, r)),
    "map_gpu": lambda s, r: s.map_gpu(
        *_two(s, r)[: r.choice((1, 2))], blocks=r.choice((1, 3)), threads=r.choice((1, 4))
    ),
    "hoist": lambda s, r: s.hoist(_loop(s, r)),
    "if_convert": lambda s, r: s.if_convert(_loop(s, r)),
    "scalar_replace": lambda s, r: s.scalar_replace(_loop(s, r)),
    "splice": lambda s, r: s.splice(_loop(s, r), ahead=r.random() < 0.5, more_loads=r.choice((0, 0, 1))),
    "slp": lambda s, r: s.slp(_loop(s, r), r.choice((2, 4))),
    "demote": lambda s, r: s.demote(_loop(s, r)),
    "normalize": lambda s, r: s.normalize(_loop(s, r)),
    "locate": lambda s, r: s.locate(_loop(s, r), r.choice((2, 3, 8))),
    "reroll": lambda s, r: s.reroll(_loop(s, r)),
    "make_perfect": lambda s, r: s.make_perfect(*_two(s, r)),
    "sink": lambda s, r: s.sink(_loop(s, r)),
    "compute_at": lambda s, r: s.compute_at(_array(s, r), _loop(s, r)),
    "precompute": lambda s, r: s.precompute(_array(s, r), _loop(s, r)),
    "privatize": lambda s, r: s.privatize(_array(s, r), _loop(s, r)),
    "expand": lambda s, r: s.expand(_array(s, r), _loop(s, r)),
    "merge": lambda s, r: s.merge(_array(s, r)),
    "fold": lambda s, r: s.fold(_array(s, r), r.randint(0, 1), r.choice((1, 2, 3, 8))),
    "pad": lambda s, r: s.pad(_array(s, r), r.randint(0, 1), r.choice((2, 16)), r.randint(0, 1)),
    "skew_array": lambda s, r: s.skew_array(_array(s, r), *r.sample((0, 1), 2), r.randint(1, 3)),
    "displace": lambda s, r: s.displace(_array(s, r), _array(s, r)),
    "inline": lambda s, r: s.inline(_array(s, r)),
    "copy": _copy,
    "pipeline": lambda s, r: s.pipeline(_loop(s, r)),
    "prefetch": lambda s, r: s.prefetch(_array(s, r), *_two(s, r), distance=r.choice((None, 1, 8))),
    "load_ahead": lambda s, r: s.load_ahead(_array(s, r), _loop(s, r)),
    "align": lambda s, r: s.align(_array(s, r), _loop(s, r), r.choice((2, 4, 16))),
    "stream": lambda s, r: s.stream(_array(s, r), _loop(s, r), r.choice((0, 64, 4096))),
    "unswitch": lambda s, r: s.unswitch(_loop(s, r)),
    "specialize": lambda s, r: s.specialize(_loop(s, r), af.symbols("N") >= r.choice((0, 3, 6))),
}
"""Each verb with random arguments."""
