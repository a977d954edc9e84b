"""mlir-opt's choice of what to tile, and by how much: the outermost perfect bands."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.nesting import is_too_deep
from affdsl.ir.traverse import map_blocks, with_fields
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.mlir_opt.options import OptionError
from affdsl.passes.mlir_opt.tile_sizes import sizes_of
from affdsl.passes.transforms.tile import tiled_band, trips_of


def affine_loop_tile(
    module: Module,
    *,
    cache_size: int = 512,
    separate: bool = False,
    tile_size: int = 0,
    tile_sizes: Sequence[str] = (),
    context: Module | None = None,
) -> Module:
    """The same program with the outermost perfect bands of each function tiled where that is legal.

        for i = 0 to n { S(i) }   ->   for ii = 0 to n step 4 { for i = ii to min(ii + 4, n) { S(i) } }

    Bands stay whose bounds depend on loops of the band, and bands that carry values; so does a function that would get
    too many loops inside each other.

    Parameters
    ----------
    cache_size
        In KiB: sizes are chosen by how many times the data of a band are larger. 0 makes all tiles of size 1.
    separate
        Make loops without min for full tiles, where the steps of the band are 1.
    tile_size
        The size for all loops; 0 is none.
    tile_sizes
        The sizes of the loops of each band, outermost first; 4 for those that follow. `tile_size` goes before.
    context
        What the module is a part of: it shows which arguments may be one buffer, and what calls do. By default nothing
        stands around it.
    """
    wanted = tuple(map(_size, tile_sizes))

    def tiled(function: Func) -> Func:
        dependences = Dependences(function, module if context is None else context)
        body: list[Op] = []
        for op in function.body:
            band = _band(op)
            if not band or not _is_box(band) or any(loop.carried for loop in band):
                body.append(op)
                continue
            trips = trips_of(dependences)
            sizes = sizes_of(band, dependences.accesses, trips, cache_size, tile_size, wanted)
            split = separate and all(loop.step == 1 for loop in band)
            try:
                body.append(tiled_band(band, sizes, dependences, trips, split, ()))
            except IllegalTransform:
                body.append(op)
        if all(a is b for a, b in zip(body, function.body, strict=True)):
            return function
        made = with_fields(function, body=tuple(body))
        return function if is_too_deep(made) else made

    body = tuple(tiled(op) if isinstance(op, Func) else op for op in module.body)
    return map_blocks(module, lambda _: body)


def _size(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise OptionError(f"affine-loop-tile: option tile-sizes takes positive integers, got {text!r}")
    return int(text)


def _band(op: Op) -> tuple[affine.For, ...]:
    """The largest perfect band of which an operation is the outermost loop."""
    found: list[affine.For] = []
    block: Block = (op,)
    while len(block) == 1 and isinstance(block[0], affine.For):
        found.append(block[0])
        block = block[0].body
    return tuple(found)


def _is_box(band: Sequence[affine.For]) -> bool:
    """Whether no bound depends on a loop of the band."""
    ivs = {loop.iv for loop in band}
    return not any(v in ivs for loop in band for bound in (*loop.lower, *loop.upper) for v in bound.values())
