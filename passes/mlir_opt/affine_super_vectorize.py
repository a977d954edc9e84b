"""mlir-opt's vectorizer: the innermost loops that it knows a form for, where that is legal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from affdsl.errors import AffdslError
from affdsl.frozen import FrozenValue
from affdsl.ir.dialects import affine, vector
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.traverse import map_blocks, walk
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.parallelism import of_loop, of_loops
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.mlir_opt.options import OptionError
from affdsl.passes.mlir_opt.super_vectors.choice import ANY, Makers, Match, buckets, is_known
from affdsl.passes.mlir_opt.super_vectors.emit import UnfitError, Vectors, placed, vectors
from affdsl.passes.mlir_opt.super_vectors.lanes import to_be_masked
from affdsl.passes.transforms.loops.alone import each_nest_alone, together
from affdsl.passes.transforms.loops.unrolling import constant_trips
from affdsl.passes.transforms.parallelize import obstacle
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

        affine.for %i = 0 to 64 { %a = load A[%i]; store %a, B[%i] }
        ->   affine.for %i = 0 to 64 step 8 { %a = vector.transfer_read A[%i]; vector.transfer_write %a, B[%i] }

    The loops are those that mlir-opt takes: without conditions, the innermost first whose accesses all run along one
    dimension of their arrays or stay where they are, and none around or inside of it. They are left as they are if
    iterations depend on each other. Iterations that are left over are lanes of the last vector where what these store
    lies outside of its array, and is left out; otherwise they run one by one where one loop is vectorized and all
    its accesses are to neighbours, or by a mask.

    Parameters
    ----------
    virtual_vector_size
        The number of lanes; none: nothing is vectorized. Up to three of them are for as many loops, outermost first.
    test_fastest_varying
        Which dimension of the arrays each loop must run along, the last one being 0; any, if it is not given or -1.
    vectorize_reductions
        Whether loops that carry sums, products, minima and the like are vectorized, too, with one size. Sums and
        products of floats are then rounded in another order.
    context
        What the module is a part of: it shows which arguments may be one buffer, and what calls do. By default nothing
        stands around it.

    Raises
    ------
    OptionError
        For more than three sizes, or another number of dimensions than of sizes.
    AffdslError
        For a size below 1, or more than one where loops that carry values are asked for; at the line of the function.

    >>> from affdsl.mlir.readers import parse
    >>> print(affine_super_vectorize(parse('''func.func @f(%A: memref<64xf32>, %x: f32) {
    ...     affine.for %i = 0 to 64 { affine.store %x, %A[%i] : memref<64xf32> }
    ...     return
    ... }'''), virtual_vector_size=(8,)).functions[0])
    func.func @f(%A: memref<64xf32>, %x: f32) {
      %x_0 = vector.broadcast %x : f32 to vector<8xf32>
      affine.for %i = 0 to 64 step 8 {
        vector.transfer_write %x_0, %A[%i] : vector<8xf32>, memref<64xf32>
      }
      return
    }
    """
    if not virtual_vector_size:
        return module
    sizes, along = map(_numbers, (virtual_vector_size, test_fastest_varying))
    if len(sizes) > MOST_DIMENSIONS:
        raise OptionError(
            f"affine-super-vectorize: option virtual-vector-size is at most {MOST_DIMENSIONS} numbers, got {len(sizes)}"
        )
    if along and len(along) != len(sizes):
        raise OptionError(
            f"affine-super-vectorize: test-fastest-varying has {len(along)} numbers, virtual-vector-size {len(sizes)}"
        )
    around = module if context is None else context
    asked = _Request(sizes, along or (ANY,) * len(sizes), vectorize_reductions)

    def vectorized(function: Func) -> Func:
        if min(sizes) < 1:
            _fail(function, f"Vectorization factor must be greater than zero, got {min(sizes)}")
        if vectorize_reductions and len(sizes) > 1:
            _fail(function, "Vectorizing reductions is supported only for 1-D vectors: give one virtual-vector-size")
        made: dict[Value, Vectors] = {}
        apart = each_nest_alone(function, around)
        if apart is None:
            function = asked.vectorized(function, around, made)
        else:
            parts = [(nest, alone, asked.vectorized(alone, Module((alone,)), made)) for nest, alone in apart]
            changed = [part for part in parts if part[1] is not part[2]]
            function = together(function, changed) if changed else function
        return placed(function, made) if made else function

    body = tuple(vectorized(op) if isinstance(op, Func) and not op.external else op for op in module.body)
    return map_blocks(module, lambda _: body)


def outermost_is_parallel(function: Func, module: Module) -> bool:
    """Whether the only outermost loop of a function runs its iterations in any order, if there is just one."""
    loop = _only_outermost(function)
    return loop is None or _is_parallel(loop, Dependences(function, module))


def outermost_as_lanes(function: Func, lanes: int, module: Module) -> Func:
    """A function whose only outermost loop runs so many iterations at once, as lanes, where that is right."""
    loop = _only_outermost(function)
    dependences = Dependences(function, module)
    if loop is None or not is_known(loop) or not _is_parallel(loop, dependences):
        return function
    dims = {loop.iv: 0}
    makers = Makers(function)
    masked = to_be_masked(loop, dims, (lanes,), dependences.accesses, makers)
    if masked is None:
        return function
    try:
        return placed(function, {loop.iv: vectors(loop, dims, (lanes,), (), masked, makers)})
    except UnfitError:
        return function


def _only_outermost(function: Func) -> affine.For | None:
    loops = [op for op in function.body if isinstance(op, affine.For)]
    return loops[0] if len(loops) == 1 else None


def _is_parallel(loop: affine.For, dependences: Dependences) -> bool:
    verdict = of_loop(dependences, loop.iv)
    return verdict is not None and verdict.is_parallel


class _Request(FrozenValue):
    """How loops are to be vectorized."""

    sizes: tuple[int, ...]
    along: tuple[int, ...]
    reductions: bool

    def vectorized(self, function: Func, module: Module, made: dict[Value, Vectors]) -> Func:
        """A function with loops as lanes where iterations that are left over run one by one; `made` gets all others."""
        if not any(isinstance(op, affine.For) for op in walk(function)):
            return function
        dependences = Dependences(function, module)
        can = {each.iv: each for each in of_loops(dependences) if obstacle(each) is None}
        makers = Makers(function)

        def may_be(loop: affine.For) -> bool:
            return loop.iv in can and (self.reductions or not can[loop.iv].reductions)

        for bucket in buckets(function, self.along, may_be, makers):
            for match in filter(self._gains, bucket):
                masked = to_be_masked(match.loop, match.dims(), self.sizes, dependences.accesses, makers)
                reductions = can[match.loop.iv].reductions
                try:
                    new = vectors(match.loop, match.dims(), self.sizes, reductions, masked or (), makers)
                except UnfitError:
                    continue
                one_by_one = self._with_rest(function, match, module) if masked is None or masked else function
                if one_by_one is not function:
                    function = one_by_one
                elif masked is not None:
                    made[match.loop.iv] = new
                else:
                    continue
                break
        return function

    def _gains(self, match: Match) -> bool:
        """Whether there is something to do at once: operations, in a loop that may run as often as there are lanes."""
        trips = constant_trips(match.loop)
        return (trips is None or trips >= self.sizes[0]) and any(
            not isinstance(op, affine.For | affine.Yield) for op in walk(match.loop)
        )

    def _with_rest(self, function: Func, match: Match, module: Module) -> Func:
        """A function with a loop as lanes, what is left over one by one; the function itself if that cannot be."""
        if match.inner:
            return function
        try:
            made = vectorize(function, match.loop.iv, self.sizes[0], module=module)
        except IllegalTransform:
            return function
        return made if _wide(made) > _wide(function) else function


def _wide(function: Func) -> int:
    return sum(isinstance(op, _WIDE) for op in walk(function))


def _fail(function: Func, problem: str) -> NoReturn:
    at = function.location
    where = f"{at.file}:{at.line}:{at.column}: " if at is not None else ""
    raise AffdslError(f"{where}{problem}")


def _numbers(given: Sequence[int | str]) -> tuple[int, ...]:
    try:
        return tuple(map(int, given))
    except ValueError:
        raise OptionError(f"affine-super-vectorize: sizes are numbers, got {','.join(map(str, given))}") from None
