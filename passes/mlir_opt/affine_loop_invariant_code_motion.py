"""mlir-opt's choice of what to hoist: everything, out of all loops, inner ones first."""

from __future__ import annotations

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func
from affdsl.ir.traverse import map_blocks, rewrite, walk
from affdsl.passes.transforms.hoist import Motion


def affine_loop_invariant_code_motion(module: func.Module, *, context: func.Module | None = None) -> func.Module:
    """The same program with what no iteration of an affine loop changes done once before it, inner loops first.

        affine.for %i { %0 = affine.load %B[0]; S(%0, %i) }   ->   %0 = affine.load %B[0]; affine.for %i { S(%0, %i) }

    An operation moves, with its blocks, if it stands right in the body of the loop, reads nothing that the loop
    defines, and touches no element that something else in the loop writes, or that it writes itself and something else
    reads. What writes, or may fail, moves only out of a loop that certainly runs; a load also where it is in bounds
    outside of the loop, or accesses that certainly run there are not in bounds themselves, of a buffer that certainly
    has content. Buffers are not made earlier, and of accesses only those of the affine dialect move. It never refuses:
    what is not proved stays.

    Parameters
    ----------
    context
        What the module is a part of: it shows which arguments may be one buffer, and what calls do. By default nothing
        stands around it.

    References
    ----------
    Aho, Lam, Sethi, Ullman, "Compilers", 9.5.

    >>> from affdsl.mlir.readers import parse
    >>> print(affine_loop_invariant_code_motion(parse('''func.func @f(%A: memref<9xf32>, %B: memref<9xf32>, %n: index) {
    ...     affine.for %i = 0 to %n {
    ...       %b = affine.load %B[0] : memref<9xf32>
    ...       affine.store %b, %A[%i] : memref<9xf32>
    ...     }
    ...     return
    ... }''')).functions[0])
    func.func @f(%A: memref<9xf32>, %B: memref<9xf32>, %n: index) {
      %b = affine.load %B[0] : memref<9xf32>
      affine.for %i = 0 to %n {
        affine.store %b, %A[%i] : memref<9xf32>
      }
      return
    }
    """

    around = module if context is None else context

    def on_function(op: Op) -> Op | None:
        if not isinstance(op, func.Func) or not any(isinstance(inner, affine.For) for inner in walk(op)):
            return None
        return map_blocks(op, Motion(op, around).block)

    return rewrite(module, on_function)
