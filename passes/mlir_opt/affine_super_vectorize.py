"""mlir-opt's vectorizer: the innermost loops that it knows a form for, where that is legal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from affdsl.errors import AffdslError
from affdsl.frozen import FrozenValue
from affdsl.ir.dialects import affine, vector
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk, with_fields
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.parallelism import of_loops
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.mlir_opt.options import OptionError
from affdsl.passes.mlir_opt.super_vectors.choice import ANY, buckets, is_known
from affdsl.passes.mlir_opt.super_vectors.emit import UnfitError, Vectors, placed, vectors
from affdsl.passes.mlir_opt.super_vectors.lanes import are_right
from affdsl.passes.transforms.loops.alone import each_nest_alone, together
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
    lies outside of its array, and is left out; otherwise they run one by one, or masked where several loops are
    vectorized together.

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
        apart = each_nest_alone(function, around)
        if apart is None:
            return asked.vectorized(function, around)
        made = [(nest, alone, asked.vectorized(alone, Module((alone,)))) for nest, alone in apart]
        changed = [each for each in made if each[1] is not each[2]]
        return together(function, changed) if changed else function

    body = tuple(vectorized(op) if isinstance(op, Func) and not op.external else op for op in module.body)
    return module if all(a is b for a, b in zip(body, module.body, strict=True)) else with_fields(module, body=body)


def outermost_as_lanes(function: Func, lanes: int, module: Module) -> Func:
    """A function whose only outermost loop has so many iterations at once, as lanes, if it can have that form."""
    loops = [op for op in function.body if isinstance(op, affine.For)]
    dependences = Dependences(function, module)
    if len(loops) != 1 or not any(each.iv is loops[0].iv and each.is_parallel for each in of_loops(dependences)):
        return function
    dims = {loops[0].iv: 0}
    if not is_known(loops[0]) or not are_right(loops[0], dims, (lanes,), dependences.accesses):
        return function
    try:
        return placed(function, {loops[0].iv: vectors(loops[0], dims, (lanes,), (), function)})
    except UnfitError:
        return function


class _Request(FrozenValue):
    """How loops are to be vectorized."""

    sizes: tuple[int, ...]
    along: tuple[int, ...]
    reductions: bool

    def vectorized(self, function: Func, module: Module) -> Func:
        """A function with loops as lanes."""
        if not any(isinstance(op, affine.For) for op in walk(function)):
            return function
        dependences = Dependences(function, module)
        can = {each.iv: each for each in of_loops(dependences) if obstacle(each) is None}
        found = buckets(
            function, self.along, lambda loop: loop.iv in can and (self.reductions or not can[loop.iv].reductions)
        )
        made: dict[Value, Vectors] = {}
        others: list[tuple[affine.For, ...]] = []
        for bucket in found:
            for match in bucket:
                try:
                    new = vectors(match.loop, match.dims(), self.sizes, can[match.loop.iv].reductions, function)
                except UnfitError:
                    continue
                if are_right(match.loop, match.dims(), self.sizes, dependences.accesses):
                    made[match.loop.iv] = new
                elif match.alone is not None:
                    others.append(match.alone)
                else:
                    continue
                break
        if made:
            function = placed(function, made)
        for loops in others:
            function = self._with_rest(function, loops, module)
        return function

    def _with_rest(self, function: Func, loops: Sequence[affine.For], module: Module) -> Func:
        """A function with loops vectorized so that what is left over is not lanes of whole vectors."""
        ivs = tuple(loop.iv for loop in loops)
        try:
            if len(ivs) == 1:
                made = vectorize(function, ivs[0], self.sizes[0], module=module)
            else:
                made = vectorize(function, ivs, self.sizes, tail="masked", module=module)
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
