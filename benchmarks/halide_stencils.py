"""The kernels of `benchmarks.fusion` in Halide, scheduled by its autoschedulers and by hand.

Sums are made in the order in which the kernels make them, and rounded as they are (`strict_float`), unless they may be
rounded in another way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import halide as hl
import numpy as np

x, y, xo, xi, yi = (hl.Var(name) for name in ("x", "y", "xo", "xi", "yi"))
LANES = 16
AUTOSCHEDULERS = {"Mullapudi2016": {"last_level_cache_size": str(1 << 20)}, "Adams2019": {}}
"""The autoschedulers for processors, each with its parameters."""
FAST = hl.get_host_target().with_feature(hl.TargetFeature.NoAsserts)
STRICT = FAST.with_feature(hl.TargetFeature.StrictFloat)


@dataclass(frozen=True)
class Pipeline:
    """A kernel in Halide.

    Attributes
    ----------
    stages
        What is computed of an image, the last one last, by name.
    by_hand
        What schedules the stages.
    margin
        How many rows and columns at each edge are not computed.
    """

    stages: Callable[[hl.ImageParam], dict[str, hl.Func]]
    by_hand: Callable[..., None]
    margin: int


def stage(name: str, value: hl.Expr) -> hl.Func:
    """A function of x and y."""
    made = hl.Func(name)
    made[x, y] = value
    return made


def blur(image: hl.ImageParam) -> dict[str, hl.Func]:
    """The mean of nine pixels."""
    third = hl.f32(1 / 3)
    rows = stage("rows", (image[x - 1, y] + image[x, y] + image[x + 1, y]) * third)
    return {"rows": rows, "out": stage("out", (rows[x, y - 1] + rows[x, y] + rows[x, y + 1]) * third)}


def blur_by_hand(rows: hl.Func, out: hl.Func) -> None:
    """Three rows in each turn, each vector of which is computed where it is read."""
    out.tile(x, y, xi, yi, LANES, 3).vectorize(xi).unroll(yi)
    rows.compute_at(out, x).vectorize(x, LANES).unroll(y)


def unsharp(image: hl.ImageParam) -> dict[str, hl.Func]:
    """An image less its blur, where they differ by much."""

    def blurred(*taps: hl.Expr) -> hl.Expr:
        first, second, middle, fourth, last = taps
        four, six = hl.f32(4), hl.f32(6)
        return (first + second * four + middle * six + fourth * four + last) * hl.f32(0.0625)

    rows = stage("rows", blurred(*(image[x, y + d] for d in range(-2, 3))))
    both = stage("both", blurred(*(rows[x + d, y] for d in range(-2, 3))))
    sharp = stage("sharp", image[x, y] * hl.f32(4) - both[x, y] * hl.f32(3))
    near = hl.abs(image[x, y] - both[x, y]) < hl.f32(0.01)
    return {"rows": rows, "both": both, "sharp": sharp, "out": stage("out", hl.select(near, image[x, y], sharp[x, y]))}


def unsharp_by_hand(rows: hl.Func, both: hl.Func, out: hl.Func, **others: hl.Func) -> None:
    """Four rows in each turn: what they share of the image is loaded once."""
    out.split(y, y, yi, 4).split(x, x, xi, LANES).reorder(xi, yi, x, y).vectorize(xi).unroll(yi)
    together(rows.compute_at(out, y))
    both.compute_at(out, x).vectorize(x, LANES).unroll(y)


def harris(image: hl.ImageParam) -> dict[str, hl.Func]:
    """How much a pixel looks like a corner."""
    two, twelfth = hl.f32(2), hl.f32(1 / 12)

    def slope(a: hl.Expr, b: hl.Expr, c: hl.Expr) -> hl.Expr:
        return (a + b * two + c) * twelfth

    def total(a: hl.Func) -> hl.Expr:
        first, middle, last = (a[x - 1, y + d] + a[x, y + d] + a[x + 1, y + d] for d in (-1, 0, 1))
        return first + middle + last

    ix = stage("ix", slope(*(image[x + 1, y + d] - image[x - 1, y + d] for d in (-1, 0, 1))))
    iy = stage("iy", slope(*(image[x + d, y + 1] - image[x + d, y - 1] for d in (-1, 0, 1))))
    ixx, iyy = stage("ixx", ix[x, y] * ix[x, y]), stage("iyy", iy[x, y] * iy[x, y])
    ixy = stage("ixy", ix[x, y] * iy[x, y])
    sxx, syy, sxy = (stage(name, total(a)) for name, a in (("sxx", ixx), ("syy", iyy), ("sxy", ixy)))
    det = stage("det", sxx[x, y] * syy[x, y] - sxy[x, y] * sxy[x, y])
    trace = stage("trace", sxx[x, y] + syy[x, y])
    out = stage("out", det[x, y] - trace[x, y] * trace[x, y] * hl.f32(0.04))
    return {
        "ix": ix, "iy": iy, "ixx": ixx, "iyy": iyy, "ixy": ixy, "sxx": sxx, "syy": syy, "sxy": sxy, "det": det,
        "trace": trace, "out": out,
    }  # fmt: skip


def harris_by_hand(
    ix: hl.Func, iy: hl.Func, sxx: hl.Func, syy: hl.Func, sxy: hl.Func, out: hl.Func, **_: hl.Func
) -> None:
    """Tiles of four rows, in which the slopes stay in the first cache."""
    out.tile(x, y, xo, yi, 256, 4).split(xo, xo, xi, LANES).reorder(xi, yi, xo, x, y).vectorize(xi).unroll(yi)
    for slope in (ix, iy):
        together(slope.compute_at(out, x))
    iy.compute_with(ix, x)
    for total in (sxx, syy, sxy):
        total.compute_at(out, xo).vectorize(x, LANES).unroll(y)


def together(rows: hl.Func) -> None:
    """Compute a vector of each row before the next one."""
    rows.split(x, x, xi, LANES, hl.TailStrategy.RoundUp).reorder(xi, y, x).vectorize(xi).unroll(y)


PIPELINES: Mapping[str, Pipeline] = {
    "blur": Pipeline(blur, blur_by_hand, 1),
    "unsharp": Pipeline(unsharp, unsharp_by_hand, 2),
    "harris": Pipeline(harris, harris_by_hand, 2),
}


def compiled(
    name: str, size: int, threads: int = 1, target: hl.Target = STRICT
) -> Iterator[tuple[str, Callable[[np.ndarray, np.ndarray], None]]]:
    """A kernel by each of the autoschedulers, and by hand."""
    folder = Path(hl.__file__).parent
    for scheduler, parameters in AUTOSCHEDULERS.items():
        hl.load_plugin(str(next(folder.glob(f"lib*/*{scheduler.lower()}*"))))
        image, stages = _made(name)
        margin = PIPELINES[name].margin
        image.set_estimates([hl.Range(0, size)] * 2)
        stages["out"].set_estimates([hl.Range(margin, size - 2 * margin)] * 2)
        pipeline = hl.Pipeline(stages["out"])
        pipeline.apply_autoscheduler(
            target, hl.AutoschedulerParams(scheduler, {**parameters, "parallelism": str(threads)})
        )
        yield f"Halide, {scheduler}", _callable(pipeline.compile_to_callable([image], target), margin)
    image, stages = _made(name)
    PIPELINES[name].by_hand(**stages)
    if threads > 1:
        stages["out"].parallel(y)
    yield "Halide, by hand", _callable(stages["out"].compile_to_callable([image], target), PIPELINES[name].margin)


def _made(name: str) -> tuple[hl.ImageParam, dict[str, hl.Func]]:
    image = hl.ImageParam(hl.Float(32), 2)
    return image, PIPELINES[name].stages(image)


def _callable(pipeline: Callable[..., object], margin: int) -> Callable[[np.ndarray, np.ndarray], None]:
    def call(image: np.ndarray, out: np.ndarray) -> None:
        target = hl.Buffer(out[margin:-margin, margin:-margin])
        target.set_min([margin, margin])
        pipeline(hl.Buffer(image), target)

    return call
