"""mlir-opt's choice of what to vectorize: the innermost loops that may be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import starmap

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, vector
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.traverse import walk, with_fields
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.mlir_opt.options import OptionError
from affdsl.passes.transforms.loops.alone import each_nest_alone, together
from affdsl.passes.transforms.vectorize import vectorize

_WIDE = (
    affine.VectorLoad, affine.VectorStore, vector.Load, vector.Store, vector.MaskedLoad, vector.MaskedStore,
    vector.TransferRead, vector.TransferWrite,
)  # fmt: skip

MOST_DIMENSIONS = 3
"""As many as mlir-opt has patterns for."""


def affine_super_vectorize(
    module: Module,
    *,
    virtual_vector_size: Sequence[int | str] = (),
    test_fastest_varying: Sequence[int | str] = (),
    vectorize_reductions: bool = False,
    context: Module | None = None,
) -> Module:
    """The same program with loops that run so many iterations at once, as lanes of vectors.

    Of loops inside of each other the innermost is taken that may be vectorized and then loads or stores vectors; with
    several sizes, the innermost so many that are perfectly nested. Iterations of one loop that are left over run one by
    one, those of several as lanes of which not all run. No sum of floats is made in another order: the products of
    a sum are made in all lanes, and added from lane to lane.

    Parameters
    ----------
    virtual_vector_size
        The number of lanes; none: nothing is vectorized. Up to three of them are for as many loops, outermost first.
    test_fastest_varying
        Which dimension of the arrays each loop must run along, the last one being 0; any, if it is not given or -1.
    vectorize_reductions
        Whether loops that carry values are vectorized too; several of them together are not.
    context
        What the module is a part of: it shows which arguments may be one buffer, and what calls do. By default nothing
        stands around it.

    Raises
    ------
    OptionError
        For a size below 2, or more than three of them.
    """
    if not virtual_vector_size:
        return module
    sizes, dimensions = map(_numbers, (virtual_vector_size, test_fastest_varying))
    if len(sizes) > MOST_DIMENSIONS or min(sizes) < 2:
        raise OptionError(
            f"affine-super-vectorize: option virtual-vector-size is at most {MOST_DIMENSIONS} numbers of at least 2, "
            f"got {','.join(map(str, sizes))}"
        )

    around = module if context is None else context

    def vectorized(function: Func) -> Func:
        apart = each_nest_alone(function, around)
        if apart is None:
            return in_one(function, around)
        made = [(nest, alone, in_one(alone, Module((alone,)))) for nest, alone in apart]
        changed = [each for each in made if each[1] is not each[2]]
        return together(function, changed) if changed else function

    def in_one(function: Func, module: Module) -> Func:
        done: set[object] = set()
        for loops in list(_innermost_first(function, len(sizes))):
            inside = {op.iv for op in walk(loops[0]) if isinstance(op, affine.For)}
            carries = any(loop.results for loop in loops) and not vectorize_reductions
            if inside & done or carries or not all(starmap(_runs_along, zip(loops, dimensions, strict=False))):
                continue
            try:
                made = _vectorized(function, loops, sizes, module)
            except IllegalTransform:
                continue
            if sum(isinstance(op, _WIDE) for op in walk(made)) > sum(isinstance(op, _WIDE) for op in walk(function)):
                function = made
                done.update(loop.iv for loop in loops)
        return function

    body = tuple(vectorized(op) if isinstance(op, Func) and not op.external else op for op in module.body)
    return module if all(a is b for a, b in zip(body, module.body, strict=True)) else with_fields(module, body=body)


def _numbers(given: Sequence[int | str]) -> tuple[int, ...]:
    try:
        return tuple(map(int, given))
    except ValueError:
        raise OptionError(f"affine-super-vectorize: sizes are numbers, got {','.join(map(str, given))}") from None


def _vectorized(function: Func, loops: Sequence[affine.For], sizes: Sequence[int], module: Module) -> Func:
    if len(loops) == 1:
        return vectorize(function, loops[0].iv, sizes[0], module=module)
    return vectorize(function, tuple(loop.iv for loop in loops), tuple(sizes), tail="masked", module=module)


def _innermost_first(op: Op, count: int, around: tuple[affine.For, ...] = ()) -> Iterator[tuple[affine.For, ...]]:
    """So many loops of which each holds the next one and nothing else, for all of them; `around` are those here."""
    nest = (*around, op)[-count:] if isinstance(op, affine.For) else ()
    for block in op.blocks():
        for inner in block:
            is_alone = all(other is inner or other.is_terminator for other in block)
            yield from _innermost_first(inner, count, nest if is_alone else ())
    if isinstance(op, affine.For) and len(nest) == count:
        yield nest


def _runs_along(loop: affine.For, along: int) -> bool:
    """Whether subscripts with the counter of a loop are those of one dimension, counted from the last."""
    return along < 0 or all(
        position == len(op.index) - 1 - along
        for op in walk(loop)
        if isinstance(op, affine.Load | affine.Store)
        for position, expr in enumerate(op.index)
        if loop.iv in expr.values()
    )
