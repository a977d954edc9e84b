"""What the vectorizer of mlir-opt is made of, one by one, in the words of its test pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce

from affdsl.errors import AffdslError
from affdsl.ir.applied import Applied
from affdsl.ir.attributes import MapAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.maps import AffineMap, dim, symbol
from affdsl.ir.spelling import tree_of
from affdsl.ir.traverse import rewrite, walk
from affdsl.ir.types import VectorType
from affdsl.ir.written import replace
from affdsl.passes.affine.maps import flattened, shifted
from affdsl.passes.analysis.slices import around, backward, forward
from affdsl.passes.mlir_opt.affine_super_vectorize import outermost_as_lanes, outermost_is_parallel
from affdsl.passes.mlir_opt.options import OptionError
from affdsl.passes.mlir_opt.remarks import Remarks


def affine_super_vectorizer_test(
    module: Module,
    context: Module | None = None,
    *,
    backward_slicing: bool = False,
    compose_maps: bool = False,
    forward_slicing: bool = False,
    slicing: bool = False,
    vector_shape_ratio: Sequence[int | str] = (),
    vectorize_affine_loop_nest: bool = False,
) -> Iterator[Remarks]:
    """A remark for each function with what an option asks for.

    Parameters
    ----------
    context
        Not used: all that is said of a function is in it.
    backward_slicing, forward_slicing, slicing
        For each operation called "slicing-test-op": what it is computed from, what is computed from it, or both of all
        of these. What blocks read from outside of their operation counts, which mlir-opt leaves out.
    compose_maps
        The maps of the operations called "test_affine_map", each applied to what the one before gives.
    vector_shape_ratio
        A shape: how often it fits into the vector that each operation makes, dimension by dimension, if it does.
    vectorize_affine_loop_nest
        Why the outermost loop is not vectorized, if iterations depend on each other: see `vectorized_nest`.

    >>> from affdsl.mlir.readers import parse
    >>> module = parse('''func.func @f() {
    ...   "test_affine_map"() { affine_map = affine_map<(d0) -> (d0 + 5)> } : () -> ()
    ...   "test_affine_map"() { affine_map = affine_map<(d0) -> (d0 * 2)> } : () -> ()
    ...   return
    ... }''')
    >>> [remarks.messages for remarks in affine_super_vectorizer_test(module, compose_maps=True)]
    [('\\nComposed map: (d0) -> (d0 * 2 + 10)',)]
    """
    shape = tuple(map(_size, vector_shape_ratio))
    for function in walk(module):
        if not isinstance(function, Func) or function.external:
            continue
        if vectorize_affine_loop_nest and not outermost_is_parallel(function, module):
            yield Remarks(function, "remark", ("Outermost loop cannot be parallel",))
        if compose_maps:
            yield from _composed(function)
        if shape:
            yield from _ratios(function, shape)
        for title, of in ((" backward", backward), (" forward", forward), ("", around)):
            if {" backward": backward_slicing, " forward": forward_slicing, "": slicing}[title]:
                yield _slices(function, title, of)


def vectorized_nest(
    module: Module,
    *,
    backward_slicing: bool = False,
    compose_maps: bool = False,
    forward_slicing: bool = False,
    slicing: bool = False,
    vector_shape_ratio: Sequence[int | str] = (),
    vectorize_affine_loop_nest: bool = False,
) -> Module:
    """The module, where asked for with the outermost loop of each function run 4 iterations at once, if there is one.

    Whatever it holds becomes vectors, so loads and stores may be strided over dimensions of their arrays, not in them.
    It stays where that is not right. The other options change nothing.
    """
    del backward_slicing, compose_maps, forward_slicing, slicing, vector_shape_ratio  # which only say something
    if not vectorize_affine_loop_nest:
        return module

    def vectorized(op: Op) -> Op | None:
        return outermost_as_lanes(op, 4, module) if isinstance(op, Func) and not op.external else None

    return rewrite(module, vectorized)


def _size(text: int | str) -> int:
    if not str(text).isdecimal() or not int(text):
        raise OptionError(f"affine-super-vectorizer-test: option vector-shape-ratio takes sizes, got {text!r}")
    return int(text)


def _composed(function: Func) -> Iterator[Remarks]:
    maps = [
        applied(value.map)
        for op in walk(function)
        if isinstance(op, Opaque) and op.kind == "test_affine_map"
        for name, value in (*op.properties, *op.attributes)
        if name == "affine_map" and isinstance(value, MapAttr) and isinstance(value.map, AffineMap)
    ]
    if maps:
        text = flattened(reduce(composition, maps)).text
        yield Remarks(function, "remark", (f"\nComposed map: {text.removeprefix('affine_map<').removesuffix('>')}",))


def applied(map: AffineMap) -> Applied:
    """A map whose positions stand for themselves."""
    dims, symbols = [tuple(map_(k) for k in range(n)) for map_, n in ((dim, map.dims), (symbol, map.symbols))]
    names = {v: f"d{k}" for k, v in enumerate(dims)} | {v: f"s{k}" for k, v in enumerate(symbols)}
    return Applied(map.written or tuple(tree_of(e, names.__getitem__) for e in map.results), dims, symbols)


def composition(inner: Applied, outer: Applied) -> Applied:
    """The map that gives what `outer` gives of the results of `inner`; the symbols of `outer` come first."""
    if len(outer.dims) != len(inner.trees):
        raise AffdslError(f"{outer.text} takes {len(outer.dims)} dims, but {inner.text} gives {len(inner.trees)}")
    values = shifted(inner, 0, len(outer.symbols))
    trees = tuple([replace(t, lambda p: values[int(p[1:])] if p[0] == "d" else p) for t in outer.trees])
    symbols = tuple(symbol(k) for k in range(len(outer.symbols) + len(inner.symbols)))
    return Applied(trees, inner.dims, symbols)


def _ratios(function: Func, part: tuple[int, ...]) -> Iterator[Remarks]:
    found = {
        op: ratio
        for op in walk(function)
        if len(results := tuple(op.defines())) == 1
        and isinstance(type := results[0].type, VectorType)
        and (ratio := shape_ratio(type.shape, part)) is not None
    }
    if found:
        lines = [f"\nmatched: {{}} with shape ratio: {', '.join(map(str, ratio))}" for ratio in found.values()]
        yield Remarks(function, "remark", ("".join(lines),), tuple(found))


def shape_ratio(shape: Sequence[int], part: Sequence[int]) -> tuple[int, ...] | None:
    """How often a shape fits into another one along each dimension, the last ones together; None if it does not.

    >>> shape_ratio((3, 8, 256), (4, 8)), shape_ratio((6, 8), (4, 8)), shape_ratio((8,), (4, 8))
    ((3, 2, 32), None, None)
    """
    more = len(shape) - len(part)
    sizes = (*(1,) * more, *part)
    if more < 0 or any(whole % size for whole, size in zip(shape, sizes, strict=True)):
        return None
    return tuple(whole // size for whole, size in zip(shape, sizes, strict=True))


def _slices(function: Func, title: str, of: Callable[[Func, Op], Sequence[Op]]) -> Remarks:
    text, shown = f"\n{function.symbol}", list[Op]()
    for op in walk(function):
        if isinstance(op, Opaque) and op.kind == "slicing-test-op":
            found = of(function, op)
            text += f"\nmatched: {{}}{title} static slice: " + "\n{}" * len(found)
            shown += [op, *found]
    return Remarks(function, "remark", (text,), tuple(shown))
