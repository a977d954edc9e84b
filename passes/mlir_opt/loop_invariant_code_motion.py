"""mlir-opt's choice of what leaves loops of every dialect: what touches no memory and always has a result."""

from __future__ import annotations

from collections.abc import Iterable

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, scf
from affdsl.ir.dialects.func import Module
from affdsl.ir.traverse import map_blocks, rewrite, walk
from affdsl.passes.transforms.hoist.faults import never_fails

LOOPS = (affine.For, affine.Parallel, scf.For, scf.Parallel, scf.While)


def loop_invariant_code_motion(module: Module) -> Module:
    """The same program with what no iteration of a loop changes computed once before it, inner loops first.

        scf.for %i { %0 = arith.muli %n, %n; S(%0, %i) }    ->    %0 = arith.muli %n, %n; scf.for %i { S(%0, %i) }

    An operation moves, with its blocks, if it stands right in the body of the loop and reads nothing that the loop
    defines. It touches no memory and has a result for all operands, since the loop may not run; what reads memory is
    moved by `affine_loop_invariant_code_motion`. It never refuses.

    >>> from affdsl.mlir.readers import parse
    >>> print(loop_invariant_code_motion(parse('''func.func @f(%n: index, %s: index, %A: memref<?xindex>) {
    ...     scf.for %i = %n to %n step %s {
    ...       %0 = arith.muli %n, %n : index
    ...       memref.store %0, %A[%i] : memref<?xindex>
    ...     }
    ...     return
    ... }''')).functions[0])
    func.func @f(%n: index, %s: index, %A: memref<?xindex>) {
      %0 = arith.muli %n, %n : index
      scf.for %i = %n to %n step %s {
        memref.store %0, %A[%i] : memref<?xindex>
      }
      return
    }
    """
    constants = {op.result: op.value for op in walk(module) if isinstance(op, arith.Constant)}

    def rule(op: Op) -> Iterable[Op] | None:
        if not isinstance(op, LOOPS):
            return None
        varying = {value for inner in walk(op) for value in (*inner.binds(), *inner.defines())}
        moved: list[Op] = []
        for block in op.blocks():
            for inner in block:
                own = {value for o in walk(inner) for value in (*o.binds(), *o.defines())}
                read = {value for o in walk(inner) for value in o.mentions()} - own
                if not inner.is_terminator and never_fails(inner, constants) and not read & varying:
                    moved.append(inner)
                    varying -= own
        gone = set(moved)
        return (*moved, map_blocks(op, lambda block: tuple(o for o in block if o not in gone))) if moved else None

    return rewrite(module, rule)
