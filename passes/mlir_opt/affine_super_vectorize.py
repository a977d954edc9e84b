"""mlir-opt's choice of what to vectorize: the innermost loops that may be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, vector
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.traverse import walk, with_fields
from passes.legality.refusal import IllegalTransform
from passes.mlir_opt.options import OptionError
from passes.transforms.vectorize import vectorize

_WIDE = (
    affine.VectorLoad, affine.VectorStore, vector.Load, vector.Store, vector.MaskedLoad, vector.MaskedStore,
)  # fmt: skip


def affine_super_vectorize(
    module: Module,
    *,
    virtual_vector_size: Sequence[int | str] = (),
    test_fastest_varying: Sequence[int | str] = (),
    vectorize_reductions: bool = False,
    context: Module | None = None,
) -> Module:
    """The same program with loops that run so many iterations at once, as lanes of vectors.

    Of loops inside of each other the innermost is taken that may be vectorized and then loads or stores vectors.
    Iterations that are left over run one by one. No sum of floats is made in another order: the products of
    a sum are made in all lanes, and added from lane to lane.

    Parameters
    ----------
    virtual_vector_size
        The number of lanes; none: nothing is vectorized.
    test_fastest_varying
        Which dimension of the arrays the loop must run along, the last one being 0; any, if it is not given or -1.
    vectorize_reductions
        Whether loops that carry values are vectorized too.
    context
        What the module is a part of: it shows which arguments may be one buffer, and what calls do. By default nothing
        stands around it.

    Raises
    ------
    OptionError
        For a size below 2, or several of them.
    """
    if not virtual_vector_size:
        return module
    sizes, dimensions = map(_numbers, (virtual_vector_size, test_fastest_varying))
    if len(sizes) > 1 or sizes[0] < 2:
        raise OptionError(
            "affine-super-vectorize: option virtual-vector-size is one number of at least 2, "
            f"got {','.join(map(str, sizes))}"
        )
    (width,) = sizes
    along = next(iter(dimensions), -1)

    def vectorized(function: Func) -> Func:
        done: set[object] = set()
        for loop in list(_innermost_first(function)):
            inside = {op.iv for op in walk(loop) if isinstance(op, affine.For)}
            if inside & done or (loop.results and not vectorize_reductions) or not _runs_along(loop, along):
                continue
            try:
                made = vectorize(function, loop.iv, width, module=module if context is None else context)
            except IllegalTransform:
                continue
            if sum(isinstance(op, _WIDE) for op in walk(made)) > sum(isinstance(op, _WIDE) for op in walk(function)):
                function = made
                done.add(loop.iv)
        return function

    body = tuple(vectorized(op) if isinstance(op, Func) and not op.external else op for op in module.body)
    return module if all(a is b for a, b in zip(body, module.body, strict=True)) else with_fields(module, body=body)


def _numbers(given: Sequence[int | str]) -> tuple[int, ...]:
    try:
        return tuple(map(int, given))
    except ValueError:
        raise OptionError(f"affine-super-vectorize: sizes are numbers, got {','.join(map(str, given))}") from None


def _innermost_first(op: Op) -> Iterator[affine.For]:
    for block in op.blocks():
        for inner in block:
            yield from _innermost_first(inner)
    if isinstance(op, affine.For):
        yield op


def _runs_along(loop: affine.For, along: int) -> bool:
    """Whether subscripts with the counter of a loop are those of one dimension, counted from the last."""
    return along < 0 or all(
        position == len(op.index) - 1 - along
        for op in walk(loop)
        if isinstance(op, affine.Load | affine.Store)
        for position, expr in enumerate(op.index)
        if loop.iv in expr.values()
    )
