"""mlir-opt's choice of what to unswitch: the first condition of a function that can be asked before a loop."""

from __future__ import annotations

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.traverse import rewrite
from affdsl.passes.cleanup.canonicalize import folded, rewritten
from affdsl.passes.transforms.unswitch import CROSSED, Path, conditions_in, obstacle, unswitched

ON_CONDITIONS = ("compose_condition", "empty_else", "known_condition")
"""The rules of canonicalize for affine.if, which mlir-opt applies before and after."""


def affine_loop_unswitch(module: Module) -> Module:
    """The same program where the first condition that can be asked before the loops around is asked there.

    It is moved out of all operations around that it does not depend on, as far as these are affine loops and
    conditions. The rest of the conditions stay for further runs of the pass.

    >>> from affdsl.mlir.readers import parse
    >>> print(affine_loop_unswitch(parse('''func.func @f(%A: memref<?xf32>, %x: f32, %n: index) {
    ...     affine.for %i = 0 to %n {
    ...       affine.if affine_set<()[s0] : (s0 - 8 >= 0)>()[%n] { affine.store %x, %A[%i] : memref<?xf32> }
    ...     }
    ...     return
    ... }''')).functions[0])
    func.func @f(%A: memref<?xf32>, %x: f32, %n: index) {
      affine.if affine_set<()[s0] : (s0 - 8 >= 0)>()[%n] {
        affine.for %i = 0 to %n {
          affine.store %x, %A[%i] : memref<?xf32>
        }
      }
      return
    }
    """
    done = False

    def rule(op: Op) -> Func | None:
        nonlocal done
        if done or not isinstance(op, Func) or op.external:
            return None
        simple = rewritten(op, affine.If)
        for path in conditions_in(simple.body, ()):
            above = _movable(simple, path)
            if above is not None:
                done = True
                return folded(unswitched(simple, path[above:]), ON_CONDITIONS)
        return None if simple is op else simple

    return rewrite(module, rule)


def _movable(func: Func, path: Path) -> int | None:
    """How many operations of a path stay around its condition; None if all do."""
    found = None
    for above in reversed(range(len(path) - 1)):
        if not isinstance(path[above], CROSSED) or obstacle(func, path, path[above]):
            break
        found = above
    return found
