"""Lets loads take values that are at hand, and leaves out stores and buffers that nobody reads."""

from __future__ import annotations

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func, memref
from affdsl.ir.renaming import renamed
from affdsl.ir.traverse import rewrite, walk
from affdsl.passes.analysis.dependence import Dependences, unwarned
from affdsl.passes.cleanup.affine_scalrep.dead import dead_stores, write_only_buffers
from affdsl.passes.cleanup.affine_scalrep.forward import forwarded


def affine_scalrep(module: func.Module, *, context: func.Module | None = None) -> func.Module:
    """The same program with fewer accesses to memory: of stored and loaded values, those at hand are used again.

        affine.store %x, %A[%i]; %0 = affine.load %A[%i]; S(%0)   ->   affine.store %x, %A[%i]; S(%x)

    A load takes the value of an earlier store or load of the same elements if nothing can write to them in between, or
    of any stores that are certainly the last ones before it, if all of them store one value that is known where the
    load stands. A store goes if each of its elements is written again before anything can read it. A buffer that the
    function makes goes, with what writes to it, if nothing reads it. Elements are those of the whole vector. It never
    refuses: what is not proved stays.

    Parameters
    ----------
    context
        What the module is a part of: it shows which arguments may be one buffer, and what calls do. By default nothing
        stands around it.

    References
    ----------
    Callahan, Carr, Kennedy, "Improving register allocation for subscripted variables", PLDI 1990.

    >>> from affdsl.mlir.readers import parse
    >>> print(affine_scalrep(parse('''func.func @f(%A: memref<9xf32>, %x: f32) {
    ...     affine.for %i = 0 to 9 {
    ...       affine.store %x, %A[%i] : memref<9xf32>
    ...       %a = affine.load %A[%i] : memref<9xf32>
    ...       %b = arith.addf %a, %a : f32
    ...       affine.store %b, %A[%i] : memref<9xf32>
    ...     }
    ...     return
    ... }''')).functions[0])
    func.func @f(%A: memref<9xf32>, %x: f32) {
      affine.for %i = 0 to 9 {
        %b = arith.addf %x, %x : f32
        affine.store %b, %A[%i] : memref<9xf32>
      }
      return
    }
    """
    around = module if context is None else context
    return rewrite(module, lambda op: _without_loads_and_stores(op, around) if _has_accesses(op) else None)


def _has_accesses(op: Op) -> bool:
    return isinstance(op, func.Func) and any(isinstance(inner, affine.Access | memref.Alloc) for inner in walk(op))


def _without_loads_and_stores(op: Op, module: func.Module) -> Op:
    assert isinstance(op, func.Func)
    with unwarned():  # what the analysis gives up on stays as it is: nobody need hear of it
        found = Dependences(op, module)
        values = forwarded(found)
        loads = {access.op for access in found.compared if values and any(v in values for v in access.op.defines())}
        dead = dead_stores(found, loads)
        op = renamed(_without(op, loads | dead), values)
        return _without(op, write_only_buffers(op, found.accesses.storage))


def _without(function: func.Func, dead: set[Op]) -> func.Func:
    return rewrite(function, lambda op: () if op in dead else None) if dead else function
